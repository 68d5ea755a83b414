// OGC API Features over every dataset that has geometries (docs/spec/http.md §10): landing page, conformance, collections,
// pages of features of one block, single features. Sources: OGC 17-069r4 (Part 1, Core), 19-079r2 (Part 3, Filtering).

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { type DatasetView, viewOf } from '../../catalog/dataset-chain.ts'
import { hashOf } from '../../catalog/objects.ts'
import { isTile } from '../../geo/tile.ts'
import { utf8 } from '../../lib/bytes.ts'
import { NodeError } from '../../model/errors.ts'
import { type Field, innerType } from '../../model/schema.ts'
import {
  type FeatureDeps,
  type FeatureRequest,
  featurePage,
  featureTile,
  geometryColumn,
  oneFeature,
  propertyFields,
} from '../../replica/features.ts'
import { Reader, viewAt } from '../../replica/pin.ts'
import { answerTag } from '../../replica/query.ts'
import { SpatialRows } from '../../replica/spatial-rows.ts'
import { mayRead } from '../access.ts'
import { callerOf, isUnchanged } from '../answer.ts'
import { BoxAndTime, readBoxAndTime } from '../box-and-time.ts'
import type { ReplicaContext } from '../context.ts'

import { DecimalText } from '../request-target.ts'
import { listable } from './datasets.ts'
import { ogcDescription } from './ogc-description.ts'

const crs84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const geoJson = 'application/geo+json'
const defaultItems = 10
const mostItems = 10_000

/** Conformance classes that hold here. */
const conformsTo = [
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30',
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson',
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter',
  'http://www.opengis.net/spec/cql2/1.0/conf/cql2-text',
]

const Format = Type.Optional(Type.String({ maxLength: 20, description: 'json.' }))
const CollectionParams = Type.Object({
  collection: Type.String({ maxLength: 210, description: 'account:dataset.' }),
})
const FormatQuery = Type.Object({ f: Format }, { additionalProperties: false })
const ItemsQuery = Type.Object(
  {
    f: Format,
    limit: Type.Optional(DecimalText('Features of one page, 1 to 10,000; 10 by default.')),
    offset: Type.Optional(DecimalText('Features left out at the start.')),
    ...BoxAndTime,
    filter: Type.Optional(Type.String({ maxLength: 8000, description: 'CQL2 text.' })),
    'filter-lang': Type.Optional(Type.String({ maxLength: 20, description: 'cql2-text.' })),
    'filter-crs': Type.Optional(Type.String({ maxLength: 200, description: 'CRS84.' })),
    sortby: Type.Optional(Type.String({ maxLength: 1000, description: 'Columns, - before one to sort down.' })),
    at: Type.Optional(Type.String({ maxLength: 120, description: 'Hash of a block; default: the head.' })),
  },
  { additionalProperties: false },
)

interface LinkText {
  readonly href: string
  readonly rel: string
  readonly type: string
  readonly title?: string
  /** The address has variables in braces. */
  readonly templated?: true
}

export function registerOgc(app: FastifyInstance, context: ReplicaContext): void {
  const deps = { ...context.replica, spatial: new SpatialRows(context) }
  registerLanding(app, context)
  registerCollections(app, context, deps)
  registerItems(app, context, deps)
  registerTiles(app, context, deps)
}

/** What the routes say of themselves. */
function registerLanding(app: FastifyInstance, { facts }: ReplicaContext): void {
  const schema = { querystring: FormatQuery }
  app.get('/ogc', { config: { right: 'read' }, schema }, async (request, reply) => {
    const base = baseOf(request)
    const links: LinkText[] = [
      { href: `${base}/ogc`, rel: 'self', type: 'application/json', title: 'This page' },
      { href: `${base}/ogc/api`, rel: 'service-desc', type: openApiType, title: 'The OpenAPI description' },
      { href: `${base}/swagger`, rel: 'service-doc', type: 'text/html', title: 'Documentation' },
      { href: `${base}/ogc/conformance`, rel: 'conformance', type: 'application/json', title: 'Conformance classes' },
      { href: `${base}/ogc/collections`, rel: 'data', type: 'application/json', title: 'Datasets with geometries' },
    ]
    const description = 'Datasets of this node that have geometries, as features; each page names the block it is of.'
    return reply.send({ title: 'Proofstream', description, links })
  })
  app.get('/ogc/conformance', { config: { right: 'read' }, schema }, async (_request, reply) =>
    reply.send({ conformsTo }),
  )
  app.get('/ogc/api', { config: { right: 'read' }, schema }, async (request, reply) =>
    reply.type(openApiType).send(utf8(JSON.stringify(ogcDescription(baseOf(request), facts.version)))),
  )
}

const openApiType = 'application/vnd.oai.openapi+json;version=3.0'

function registerCollections(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  app.get(
    '/ogc/collections',
    { config: { right: 'read' }, schema: { querystring: FormatQuery } },
    async (request, reply) => {
      const base = baseOf(request)
      const names = (await context.catalog.names()).filter((name) => mayRead(request)(name))
      const collections: object[] = []
      for (const { alias } of names) {
        const chain = await listable(context, alias)
        if (chain === undefined) continue
        const view = viewOf(chain)
        if (geometryColumn(view) !== undefined) collections.push(collectionOf(base, view))
      }
      const links = [{ href: `${base}/ogc/collections`, rel: 'self', type: 'application/json' }]
      return reply.header('cache-control', 'no-cache').send({ links, collections })
    },
  )
  const schema = { params: CollectionParams, querystring: FormatQuery }
  app.get('/ogc/collections/:collection', { config: { right: 'read', runs: true }, schema }, async (request, reply) => {
    const view = await collectionView(context, request)
    const column = geometryColumn(view)?.name ?? ''
    const bounds = await deps.spatial.extent(view, column, callerOf(context, request, reply).signal)
    const extent = bounds === undefined ? {} : { extent: { spatial: { bbox: [bounds], crs: crs84 } } }
    return reply.header('cache-control', 'no-cache').send({ ...collectionOf(baseOf(request), view), ...extent })
  })
  app.get('/ogc/collections/:collection/queryables', { config: { right: 'read' }, schema }, async (request, reply) => {
    const view = await collectionView(context, request)
    const properties = Object.fromEntries(propertyFields(view).map((field) => [field.name, jsonSchemaOf(field)]))
    return reply.type('application/schema+json').send(
      JSON.stringify({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: `${baseOf(request)}/ogc/collections/${idOf(view)}/queryables`,
        type: 'object',
        title: view.alias,
        properties: { geometry: { 'x-ogc-role': 'primary-geometry', format: 'geometry-any' }, ...properties },
        additionalProperties: false,
      }),
    )
  })
}

function registerItems(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  app.get(
    '/ogc/collections/:collection/items',
    { config: { right: 'read', runs: true }, schema: { params: CollectionParams, querystring: ItemsQuery } },
    async (request, reply) => {
      const asked = request.query as Static<typeof ItemsQuery> // ItemsQuery validated it
      const view = await collectionView(context, request, asked.at)
      const wanted = requestOf(view, asked)
      noteBlock(reply, view)
      if (isUnchanged(request, reply, answerTag(baseOf(request), { items: view.block.hash, ...asked })))
        return reply.code(304).send()
      const { features, hasMore, matched } = await featurePage(deps, wanted, callerOf(context, request, reply))
      const self = itemsUrl(baseOf(request), view, asked, wanted.skip)
      const links: LinkText[] = [{ href: self, rel: 'self', type: geoJson }]
      if (hasMore) {
        const href = itemsUrl(baseOf(request), view, asked, wanted.skip + features.length)
        links.push({ href, rel: 'next', type: geoJson })
      }
      links.push({
        href: `${baseOf(request)}/ogc/collections/${idOf(view)}`,
        rel: 'collection',
        type: 'application/json',
      })
      const members = {
        ...(matched === undefined ? {} : { numberMatched: matched }),
        numberReturned: features.length,
        timeStamp: view.block.systemTime,
        links,
      }
      const text = `{"type":"FeatureCollection","features":[${features.join(',')}],${JSON.stringify(members).slice(1)}`
      return reply.type(geoJson).send(utf8(text))
    },
  )
  const params = Type.Object({
    ...CollectionParams.properties,
    feature: Type.String({ maxLength: 20, description: 'Offset of the row.' }),
  })
  app.get(
    '/ogc/collections/:collection/items/:feature',
    { config: { right: 'read', runs: true }, schema: { params, querystring: FormatQuery } },
    async (request, reply) => {
      const { feature } = request.params as Static<typeof params> // validated
      const view = await collectionView(context, request)
      noteBlock(reply, view)
      const caller = callerOf(context, request, reply)
      const offset = /^\d{1,15}$/.test(feature) ? Number(feature) : Number.POSITIVE_INFINITY
      const text = await oneFeature(deps, view, { offset, caller })
      if (text === undefined) throw new NodeError('ObjectNotFound', `There is no feature ${feature} in ${view.alias}.`)
      const collection = `${baseOf(request)}/ogc/collections/${idOf(view)}`
      const links: LinkText[] = [
        { href: `${collection}/items/${feature}`, rel: 'self', type: geoJson },
        { href: collection, rel: 'collection', type: 'application/json' },
      ]
      return reply.type(geoJson).send(utf8(`${text.slice(0, -1)},"links":${JSON.stringify(links)}}`))
    },
  )
}

function registerTiles(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  const number = (description: string) => Type.String({ pattern: '^[0-9]{1,8}$', description })
  const params = Type.Object({
    ...CollectionParams.properties,
    z: number('Zoom, 0 to 24.'),
    x: number('Column.'),
    y: number('Row, from the north.'),
  })
  const query = Type.Object({ at: ItemsQuery.properties.at }, { additionalProperties: false })
  app.get(
    '/ogc/collections/:collection/tiles/:z/:x/:y.mvt',
    { config: { right: 'read', runs: true }, schema: { params, querystring: query } },
    async (request, reply) => {
      const { z, x, y } = request.params as Static<typeof params> // validated
      const { at } = request.query as Static<typeof query> // validated
      const tile = { z: Number(z), x: Number(x), y: Number(y) }
      if (!isTile(tile)) throw new NodeError('ObjectNotFound', `There is no tile ${z}/${x}/${y}.`)
      const view = await collectionView(context, request, at)
      noteBlock(reply, view)
      if (isUnchanged(request, reply, `${view.block.hash}.${z}.${x}.${y}`)) return reply.code(304).send()
      const bytes = await featureTile(deps, view, { tile, caller: callerOf(context, request, reply) })
      return bytes.length === 0 ? reply.code(204).send() : reply.type('application/vnd.mapbox-vector-tile').send(bytes)
    },
  )
}

function noteBlock(reply: FastifyReply, { alias, block }: DatasetView): void {
  void reply.header('dataset-head', `${alias};block="${block.hash}"`).header('cache-control', 'no-cache')
}

/** Scheme, host and port as the client wrote them; a proxy that ends TLS says the scheme. */
function baseOf({ protocol, host, headers }: FastifyRequest): string {
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : protocol}://${host}`
}

function idOf({ alias }: DatasetView): string {
  return alias.replace('/', ':')
}

/** The dataset behind a collection's id. Throws NodeErrors `DatasetNotFound`, `BlockNotFound`. */
async function collectionView(context: ReplicaContext, request: FastifyRequest, at?: string): Promise<DatasetView> {
  const { collection } = request.params as Static<typeof CollectionParams> // validated
  const chain = await new Reader(context.catalog, mayRead(request)).need(collection.replace(':', '/'))
  const view = at === undefined ? viewOf(chain) : await viewAt(context.catalog, chain, hashOf(at))
  if (geometryColumn(view) !== undefined) return view
  throw new NodeError(
    'DatasetNotFound',
    `The dataset '${view.alias}' has no column 'geometry', so it is no collection.`,
    {
      hint: 'GET /ogc/collections lists the datasets with geometries.',
    },
  )
}

function collectionOf(base: string, view: DatasetView): object {
  const url = `${base}/ogc/collections/${idOf(view)}`
  const links: LinkText[] = [
    { href: url, rel: 'self', type: 'application/json' },
    { href: `${url}/items`, rel: 'items', type: geoJson, title: 'Features' },
    {
      href: `${url}/queryables`,
      rel: 'http://www.opengis.net/def/rel/ogc/1.0/queryables',
      type: 'application/schema+json',
    },
    { href: `${base}/${view.alias}`, rel: 'describedby', type: 'application/json', title: 'The dataset' },
  ]
  const description = view.info?.description
  return {
    id: idOf(view),
    title: view.alias,
    ...(description === undefined ? {} : { description }),
    itemType: 'feature',
    crs: [crs84],
    links,
  }
}

/** The type of a property as JSON Schema has it. */
function jsonSchemaOf({ name, type }: Field): object {
  const { kind } = innerType(type)
  if (kind === 'Bool') return { title: name, type: 'boolean' }
  if (/^U?Int/.test(kind)) return { title: name, type: 'integer' }
  if (kind.startsWith('Float')) return { title: name, type: 'number' }
  if (kind === 'Timestamp') return { title: name, type: 'string', format: 'date-time' }
  return kind === 'Date' ? { title: name, type: 'string', format: 'date' } : { title: name, type: 'string' }
}

/** The URL of a page on the block of `view`. */
function itemsUrl(base: string, view: DatasetView, asked: Static<typeof ItemsQuery>, skip: number): string {
  const query = new URLSearchParams({ ...asked, at: view.block.hash })
  if (skip > 0) query.set('offset', String(skip))
  return `${base}/ogc/collections/${idOf(view)}/items?${query.toString()}`
}

function invalid(message: string, hint?: string): NodeError {
  return new NodeError('InvalidParameter', message, hint === undefined ? {} : { hint })
}

function requestOf(view: DatasetView, asked: Static<typeof ItemsQuery>): FeatureRequest {
  const limit = Number(asked.limit ?? defaultItems)
  if (limit < 1) throw invalid('limit is 0; pages hold 1 to 10,000 features.')
  const language = asked['filter-lang'] ?? 'cql2-text'
  if (language !== 'cql2-text') throw invalid(`filter-lang is '${language}'; only cql2-text is known here.`)
  const filterCrs = asked['filter-crs'] ?? crs84
  if (filterCrs !== crs84) throw invalid('filter-crs: filters are in CRS84.')
  return {
    view,
    limit: Math.min(limit, mostItems),
    skip: Number(asked.offset ?? 0),
    ...readBoxAndTime(asked),
    filter: asked.filter,
    sortBy: (asked.sortby ?? '')
      .split(',')
      .filter((key) => key !== '')
      .map((key) => ({ column: key.replace(/^[+-]/, '').trim(), isDescending: key.startsWith('-') })),
  }
}
