// OGC API Features over every dataset that has geometries (docs/spec/http.md §10): landing page, conformance, collections,
// pages of features of one block, single features, as JSON and as pages for browsers. Sources: OGC 17-069r4 (Part 1, Core),
// 19-079r2 (Part 3, Filtering).

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { defined } from '../../libraries/base/collections.ts'
import { type DatasetView, viewOf } from '../../node/catalog/dataset-chain.ts'
import { hashOf } from '../../node/catalog/objects.ts'
import { featureColumns } from '../../libraries/geo/feature-columns.ts'
import type { Place } from '../../libraries/geo/place.ts'
import { isTile } from '../../libraries/geo/tile.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type FeatureDeps, featurePage, featureTile, oneFeature, propertyFields, tileFields } from './feature-page.ts'
import { Reader, viewAt } from '../../node/answers/pin.ts'
import { answerTag } from '../../node/answers/query.ts'
import { placeOf } from '../../node/answers/conditions.ts'
import { type Extent, SpatialRows } from './spatial-rows.ts'
import { mayRead } from '../../node/http/access.ts'
import { callerOf, isUnchanged } from '../../node/http/answer.ts'
import { hostOf, type ReplicaContext } from '../../node/http/context.ts'
import type { Html } from '../../libraries/base/html.ts'
import { listable } from '../../node/http/routes/datasets.ts'
import {
  baseOf,
  collectionOf,
  formOf,
  formsOf,
  geoJson,
  json,
  jsonSchema,
  jsonSchemaOf,
  selfLinks,
  sendDocument,
  urlOf,
} from './documents.ts'
import { ogcDescription } from './description.ts'
import {
  type Collection,
  collectionPage,
  collectionsPage,
  conformancePage,
  itemPage,
  itemsPage,
  type LinkText,
  landingPage,
  queryablesPage,
} from './pages.ts'
import {
  type AskedItems,
  CollectionParams,
  CollectionsQuery,
  FeatureQuery,
  FormatQuery,
  featureRequest,
  ItemsQuery,
  limitOf,
  mostCollections,
  needCrs84,
  TileQuery,
} from './request.ts'

const openApi = 'application/vnd.oai.openapi+json;version=3.0'

/** Conformance classes that hold beside the one of pages. */
const conformsTo = [
  ...['core', 'oas30', 'geojson'].map((name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`),
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  ...['queryables', 'queryables-query-parameters', 'filter', 'features-filter'].map(
    (name) => `http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/${name}`,
  ),
  ...['cql2-text', 'basic-cql2', 'advanced-comparison-operators', 'basic-spatial-functions'].map(
    (name) => `http://www.opengis.net/spec/cql2/1.0/conf/${name}`,
  ),
]

const pagesClass = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html'

/** Rows that one list of collections reads to find extents; a larger dataset has its own once it was asked for. */
const mostReadRows = 200_000
/** Features of one page for a browser. */
const mostShownItems = 200
export function registerOgc(app: FastifyInstance, context: ReplicaContext): void {
  const shared = { ...context.replica, work: context.work }
  const deps = { ...shared, spatial: new SpatialRows(shared) }
  registerLanding(app, context)
  registerCollections(app, context, deps)
  registerCollection(app, context, deps)
  registerItems(app, context, deps)
  registerItem(app, context, deps)
  registerTiles(app, context, deps)
}

/** What the routes say of themselves. */
function registerLanding(app: FastifyInstance, context: ReplicaContext): void {
  const { facts } = context
  const config = { right: 'read' } as const
  const landing = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { f } = request.query as Static<typeof FormatQuery> // validated
    const base = baseOf(context, request)
    const form = formOf(request, reply, f)
    const links: LinkText[] = [
      ...selfLinks(request, base, { form, type: json }),
      { href: `${base}/api`, rel: 'service-desc', type: openApi, title: 'The OpenAPI description' },
      { href: `${hostOf(context, request)}/swagger`, rel: 'service-doc', type: 'text/html', title: 'Documentation' },
      { href: `${base}/conformance`, rel: 'conformance', type: json, title: 'Conformance classes' },
      { href: `${base}/collections`, rel: 'data', type: json, title: 'Datasets with places' },
    ]
    const title = 'Proofstream'
    const description =
      'Datasets of this node that have geometries or coordinates, as features; each page names the block it is of.'
    const text = (): string => JSON.stringify({ title, description, links })
    const page = (): Html => landingPage(title, description, links)
    return sendDocument(reply, { form, links, type: json, json: text, title, page })
  }
  app.get('/ogc', { config, schema: { querystring: FormatQuery } }, landing)
  // The root of the paths of the description.
  app.get('/ogc/', { config, schema: { querystring: FormatQuery, hide: true } }, landing)
  app.get('/ogc/conformance', { config, schema: { querystring: FormatQuery } }, (request, reply) => {
    const { f } = request.query as Static<typeof FormatQuery> // validated
    const form = formOf(request, reply, f)
    const links = selfLinks(request, `${baseOf(context, request)}/conformance`, { form, type: json })
    const classes = [...(formsOf(request).includes('html') ? [pagesClass] : []), ...conformsTo]
    const text = (): string => JSON.stringify({ conformsTo: classes, links })
    const page = (): Html => conformancePage(classes, links)
    return sendDocument(reply, { form, links, type: json, json: text, title: 'Conformance', page })
  })
  app.get('/ogc/api', { config, schema: { querystring: FormatQuery } }, (request, reply) => {
    const { f = 'json' } = request.query as Static<typeof FormatQuery> // validated
    if (f === 'json')
      return reply.type(openApi).send(utf8(JSON.stringify(ogcDescription(baseOf(context, request), facts.version))))
    throw new NodeError('InvalidParameter', 'The description is JSON; f may be json.', {
      hint: 'Its page is /swagger.',
    })
  })
}

function registerCollections(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  const schema = { querystring: CollectionsQuery }
  app.get('/ogc/collections', { config: { right: 'read', runs: true }, schema }, async (request, reply) => {
    const { f, after, limit: most } = request.query as Static<typeof CollectionsQuery> // validated
    const form = formOf(request, reply, f)
    const limit = limitOf(most, { usual: mostCollections, most: mostCollections })
    const { signal } = callerOf(context, request, reply)
    const last = after === undefined ? '' : foldAscii(after.replace(':', '/'))
    const names = (await context.catalog.names()).filter(
      (name) => mayRead(request)(name) && foldAscii(name.alias) > last,
    )
    const collections: Collection[] = []
    let [next, readable]: [string | undefined, number] = [undefined, mostReadRows]
    for (const { alias } of names) {
      const chain = await listable(context, alias)
      if (chain === undefined) continue
      const view = viewOf(chain)
      const place = placeOf(view)
      if (place === undefined) continue
      if (collections.length === limit) {
        next = collections.at(-1)?.id
        break
      }
      const unread = deps.spatial.unreadRows(view, place)
      const extent =
        unread <= readable ? await listedExtent({ ...context, ...deps }, view, { place, signal }) : undefined
      if (unread <= readable) readable -= unread
      collections.push(collectionOf(request, baseOf(context, request), view, { extent, form: 'json' }))
    }
    const url = `${baseOf(context, request)}/collections`
    const asked = most === undefined ? {} : { limit: most }
    const self = new URLSearchParams({ ...asked, ...defined({ after }) }).toString()
    const links: LinkText[] = selfLinks(request, self === '' ? url : `${url}?${self}`, { form, type: json })
    if (next !== undefined) {
      const query = new URLSearchParams({ ...asked, after: next, ...defined({ f }) }).toString()
      links.push({
        href: `${url}?${query}`,
        rel: 'next',
        type: form === 'html' ? 'text/html' : json,
        title: 'Next page',
      })
    }
    const text = (): string => JSON.stringify({ links, collections })
    const page = (): Html => collectionsPage(collections, links)
    void reply.header('cache-control', 'no-cache')
    return sendDocument(reply, { form, links, type: json, json: text, title: 'Collections', page })
  })
}

/** The extent of a dataset in a list: one that is damaged hides no other. */
async function listedExtent(
  deps: FeatureDeps & Pick<ReplicaContext, 'logger'>,
  view: DatasetView,
  asked: { readonly place: Place; readonly signal: AbortSignal },
): Promise<Extent | undefined> {
  try {
    return await extentOf(deps, view, asked)
  } catch (cause) {
    if (!(cause instanceof HaltError)) throw cause
    deps.logger.error({ dataset: view.alias, cause: cause.message }, 'A dataset is listed without its extent')
    return undefined
  }
}

/** None where the column holds other texts than geometries. */
async function extentOf(
  { spatial }: FeatureDeps,
  view: DatasetView,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<Extent | undefined> {
  try {
    return await spatial.extent(view, place, signal)
  } catch (cause) {
    if (cause instanceof NodeError && cause.kind === 'SqlValue') return undefined
    throw cause
  }
}

function registerCollection(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  const schema = { params: CollectionParams, querystring: FormatQuery }
  app.get('/ogc/collections/:collection', { config: { right: 'read', runs: true }, schema }, async (request, reply) => {
    const { f } = request.query as Static<typeof FormatQuery> // validated
    const form = formOf(request, reply, f)
    const { view, place } = await collectionView(context, request)
    const { signal } = callerOf(context, request, reply)
    const extent = await extentOf(deps, view, { place, signal })
    const collection = collectionOf(request, baseOf(context, request), view, { extent, form })
    const text = (): string => JSON.stringify(collection)
    const page = (): Html => collectionPage(collection)
    void reply.header('cache-control', 'no-cache')
    return sendDocument(reply, { form, links: collection.links, type: json, json: text, title: view.alias, page })
  })
  app.get('/ogc/collections/:collection/queryables', { config: { right: 'read' }, schema }, async (request, reply) => {
    const { f } = request.query as Static<typeof FormatQuery> // validated
    const form = formOf(request, reply, f)
    const { view, place } = await collectionView(context, request)
    const $id = `${urlOf(baseOf(context, request), view)}/queryables`
    const links = selfLinks(request, $id, { form, type: jsonSchema })
    const [$ref, format] = 'geometry' in place ? ['Geometry', 'geometry-any'] : ['Point', 'geometry-point']
    const geometry = { $ref: `https://geojson.org/schema/${$ref}.json`, format, 'x-ogc-role': 'primary-geometry' }
    const name = 'geometry' in place ? place.geometry : featureColumns.geometry
    const scalars = propertyFields(view).map((field) => [field.name, jsonSchemaOf(field)] as const)
    const properties = { [name]: geometry, ...Object.fromEntries(scalars) }
    const text = (): string => {
      const $schema = 'https://json-schema.org/draft/2020-12/schema'
      return JSON.stringify({
        $schema,
        $id,
        type: 'object',
        title: view.alias,
        properties,
        additionalProperties: false,
      })
    }
    const page = (): Html => queryablesPage(view.alias, properties, links)
    return sendDocument(reply, { form, links, type: jsonSchema, json: text, title: view.alias, page })
  })
}

function registerItems(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  app.get(
    '/ogc/collections/:collection/items',
    { config: { right: 'read', runs: true }, schema: { params: CollectionParams, querystring: ItemsQuery } },
    async (request, reply) => {
      const asked = request.query as AskedItems // ItemsQuery validated it
      const form = formOf(request, reply, asked.f)
      const base = baseOf(context, request)
      const { view } = await collectionView(context, request, asked.at)
      const wanted = featureRequest(view, asked)
      const limit = form === 'html' ? Math.min(wanted.limit, mostShownItems) : wanted.limit
      noteBlock(reply, view)
      const { alias, block } = view
      const named = { base, alias, items: block.hash, ...asked, f: form }
      if (isUnchanged(request, reply, answerTag(deps.engine.dialect, named))) return reply.code(304).send()
      const caller = callerOf(context, request, reply)
      const { features, hasMore, matched } = await featurePage(deps, { ...wanted, limit }, caller)
      const links: LinkText[] = selfLinks(request, itemsUrl(base, view, asked, { skip: wanted.skip }), {
        form,
        type: geoJson,
      })
      if (hasMore) {
        const href = itemsUrl(base, view, asked, { skip: wanted.skip + features.length, f: asked.f })
        links.push({ href, rel: 'next', type: form === 'html' ? 'text/html' : geoJson, title: 'Next page' })
      }
      const url = urlOf(base, view)
      links.push({ href: url, rel: 'collection', type: json, title: view.alias })
      const text = (): string => {
        const counts = { ...defined({ numberMatched: matched }), numberReturned: features.length }
        const members = JSON.stringify({ ...counts, links }).slice(1)
        return `{"type":"FeatureCollection","features":[${features.join(',')}],${members}`
      }
      const names = propertyFields(view).map(({ name }) => name)
      const page = (): Html => itemsPage({ title: view.alias, url: `${url}/items`, names }, features, links)
      return sendDocument(reply, { form, links, type: geoJson, json: text, title: view.alias, page })
    },
  )
}

function registerItem(app: FastifyInstance, context: ReplicaContext, deps: FeatureDeps): void {
  const params = Type.Object({
    ...CollectionParams.properties,
    feature: Type.String({ maxLength: 20, description: 'Offset of the row.' }),
  })
  app.get(
    '/ogc/collections/:collection/items/:feature',
    { config: { right: 'read', runs: true }, schema: { params, querystring: FeatureQuery } },
    async (request, reply) => {
      const { feature } = request.params as Static<typeof params> // validated
      const asked = request.query as Static<typeof FeatureQuery> // validated
      const form = formOf(request, reply, asked.f)
      needCrs84(asked)
      const { view } = await collectionView(context, request)
      noteBlock(reply, view)
      const caller = callerOf(context, request, reply)
      const offset = /^\d{1,15}$/.test(feature) ? Number(feature) : Number.POSITIVE_INFINITY
      const found = await oneFeature(deps, view, { offset, caller })
      if (found === undefined) throw new NodeError('ObjectNotFound', `There is no feature ${feature} in ${view.alias}.`)
      const url = urlOf(baseOf(context, request), view)
      const links: LinkText[] = [
        ...selfLinks(request, `${url}/items/${offset}`, { form, type: geoJson }),
        { href: url, rel: 'collection', type: json, title: view.alias },
      ]
      const text = (): string => `${found.slice(0, -1)},"links":${JSON.stringify(links)}}`
      const page = (): Html => itemPage(view.alias, found, links)
      return sendDocument(reply, { form, links, type: geoJson, json: text, title: `${view.alias} ${feature}`, page })
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
  app.get(
    '/ogc/collections/:collection/tiles/:z/:x/:y.mvt',
    { config: { right: 'read', runs: true }, schema: { params, querystring: TileQuery } },
    async (request, reply) => {
      const { z, x, y } = request.params as Static<typeof params> // validated
      const { at, properties } = request.query as Static<typeof TileQuery> // validated
      const tile = { z: Number(z), x: Number(x), y: Number(y) }
      if (!isTile(tile)) throw new NodeError('ObjectNotFound', `There is no tile ${z}/${x}/${y}.`)
      const { view } = await collectionView(context, request, at)
      noteBlock(reply, view)
      const fields = tileFields(view, properties)
      const columns = fields.map(({ name }) => name)
      const tag = answerTag(deps.engine.dialect, { tile: [view.block.hash, ...Object.values(tile)], columns })
      if (isUnchanged(request, reply, tag)) return reply.code(304).send()
      const { bytes, left } = await featureTile(deps, view, { tile, fields, caller: callerOf(context, request, reply) })
      if (left > 0) void reply.header('properties-left-out', left)
      return bytes.length === 0 ? reply.code(204).send() : reply.type('application/vnd.mapbox-vector-tile').send(bytes)
    },
  )
}

function noteBlock(reply: FastifyReply, { alias, block }: DatasetView): void {
  void reply.header('dataset-head', `${alias};block="${block.hash}"`).header('cache-control', 'no-cache')
}

interface PlacedView {
  readonly view: DatasetView
  readonly place: Place
}

/** The dataset behind a collection's id. Throws NodeErrors `DatasetNotFound`, `BlockNotFound`. */
async function collectionView(context: ReplicaContext, request: FastifyRequest, at?: string): Promise<PlacedView> {
  const { collection } = request.params as Static<typeof CollectionParams> // validated
  const chain = await new Reader(context.catalog, mayRead(request)).need(collection.replace(':', '/'))
  const view = at === undefined ? viewOf(chain) : await viewAt(context.catalog, chain, hashOf(at))
  const place = placeOf(view)
  if (place !== undefined) return { view, place }
  throw new NodeError(
    'DatasetNotFound',
    `The dataset '${view.alias}' has no column 'geometry', nor one pair of coordinates, so it is not a collection.`,
    {
      hint: 'GET /ogc/collections lists the datasets that are. A pair is two columns of numbers, such as longitude and latitude.',
    },
  )
}

/** The URL of a page on the block of `view`. */
function itemsUrl(
  base: string,
  view: DatasetView,
  asked: AskedItems,
  { skip, f }: { readonly skip: number; readonly f?: string | undefined },
): string {
  const query = new URLSearchParams({ ...asked, at: view.block.hash })
  if (skip > 0) query.set('offset', String(skip))
  if (f === undefined) query.delete('f')
  return `${urlOf(base, view)}/items?${query.toString()}`
}
