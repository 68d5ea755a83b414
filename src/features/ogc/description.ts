// The OpenAPI 3.0 description of the routes of OGC API Features, which its clients read (Part 1, requirement /req/oas30).
// QGIS and GDAL learn the sizes of pages from the component `limit`.

import { defaultItems, mostCollections, mostItems, propertiesText } from './request.ts'

type Json = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const link: Json = {
  type: 'object',
  required: ['href', 'rel'],
  properties: { href: text, rel: text, type: text, title: text },
}
const links: Json = { type: 'array', items: link }
const extent: Json = {
  type: 'object',
  properties: {
    spatial: {
      type: 'object',
      properties: { bbox: { type: 'array', items: { type: 'array', items: { type: 'number' } } }, crs: text },
    },
    temporal: {
      type: 'object',
      properties: {
        interval: { type: 'array', items: { type: 'array', items: { type: 'string', nullable: true } } },
        trs: text,
      },
    },
  },
}
const collection: Json = {
  type: 'object',
  required: ['id', 'links'],
  properties: {
    id: text,
    title: text,
    description: text,
    itemType: text,
    crs: { type: 'array', items: text },
    extent,
    links,
  },
}
const feature: Json = {
  type: 'object',
  required: ['type', 'geometry', 'properties'],
  properties: {
    type: { type: 'string', enum: ['Feature'] },
    id: { type: 'integer' },
    geometry: { type: 'object', nullable: true },
    properties: { type: 'object', nullable: true },
    links,
  },
}
const featureCollection: Json = {
  type: 'object',
  required: ['type', 'features'],
  properties: {
    type: { type: 'string', enum: ['FeatureCollection'] },
    features: { type: 'array', items: feature },
    links,
    numberMatched: { type: 'integer', minimum: 0 },
    numberReturned: { type: 'integer', minimum: 0 },
  },
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', required: false, description, schema, style: 'form', explode: false }
}

function path(name: string, description: string): Json {
  return { name, in: 'path', required: true, description, schema: text }
}

const crs: Json = { type: 'string', enum: ['http://www.opengis.net/def/crs/OGC/1.3/CRS84'] }

/** Parameters by the name of their component. */
const parameters = {
  collectionId: path('collectionId', 'account:dataset'),
  featureId: path('featureId', 'Offset of the row.'),
  f: query('f', 'The form of the answer, whatever Accept says.', { type: 'string', enum: ['json', 'html'] }),
  limit: query('limit', 'Features of one page; more than the most is cut to it.', {
    type: 'integer',
    minimum: 1,
    maximum: mostItems,
    default: defaultItems,
  }),
  offset: query('offset', 'Features left out at the start.', {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999_999_999,
  }),
  bbox: query('bbox', 'west,south,east,north in degrees; west is greater than east across the antimeridian.', {
    type: 'array',
    minItems: 4,
    maxItems: 6,
    oneOf: [
      { minItems: 4, maxItems: 4 },
      { minItems: 6, maxItems: 6 },
    ],
    items: { type: 'number' },
  }),
  'bbox-crs': query('bbox-crs', 'The coordinate system of bbox.', crs),
  crs: query('crs', 'The coordinate system of the answer.', crs),
  datetime: query('datetime', 'An event time, or an interval: from/to, ../to, from/..', text),
  filter: query('filter', 'CQL2 text over the properties.', { type: 'string', maxLength: 8000 }),
  'filter-lang': query('filter-lang', 'The language of filter.', { type: 'string', enum: ['cql2-text'] }),
  'filter-crs': query('filter-crs', 'The coordinate system of filter.', crs),
  sortby: query('sortby', 'Properties, separated by commas; - before one sorts down.', {
    type: 'string',
    maxLength: 1000,
  }),
  at: query('at', 'Hash of a block; the head by default.', { type: 'string', maxLength: 120 }),
  property: {
    name: 'property',
    in: 'query',
    required: false,
    description: 'The name of a property from queryables: only features with this value.',
    schema: { type: 'object', additionalProperties: { type: 'string', maxLength: 1000 } },
    style: 'form',
    explode: true,
  },
  collections: query('limit', 'Collections of one page.', {
    type: 'integer',
    minimum: 1,
    maximum: mostCollections,
    default: mostCollections,
  }),
  z: path('z', 'Zoom, 0 to 24, of WebMercatorQuad.'),
  x: path('x', 'Column.'),
  y: path('y', 'Row, from the north.'),
  properties: query('properties', propertiesText, { type: 'array', items: text }),
  after: query('after', 'Id of the last collection of the previous page.', { type: 'string', maxLength: 210 }),
} as const

function refs(...names: readonly (keyof typeof parameters)[]): readonly Json[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

interface Described {
  readonly summary: string
  readonly type?: string
  readonly schema: Json
  readonly asks?: readonly Json[]
  /** It has a page for browsers. */
  readonly isPage?: boolean
}

function operation(
  operationId: string,
  { summary, type = 'application/json', schema, asks, isPage = true }: Described,
): Json {
  const problem = {
    description: 'What is wrong (RFC 9457).',
    content: { 'application/problem+json': { schema: { type: 'object' } } },
  }
  const page = isPage ? { 'text/html': { schema: text } } : {}
  const ok = { description: summary, content: { [type]: { schema }, ...page } }
  return {
    get: {
      operationId,
      summary,
      tags: ['features'],
      parameters: asks ?? refs('f'),
      responses: { 200: ok, '4XX': problem, '5XX': problem },
    },
  }
}

function object(properties: Json): Json {
  return { type: 'object', required: Object.keys(properties), properties }
}

const conformance = object({ conformsTo: { type: 'array', items: text }, links })
const items = refs(
  ...(['collectionId', 'limit', 'offset', 'bbox', 'bbox-crs', 'crs', 'datetime', 'filter', 'filter-lang'] as const),
  ...(['filter-crs', 'sortby', 'at', 'f', 'property'] as const),
)

/** The document for a node whose features are at `root`. */
export function ogcDescription(root: string, version: string): Json {
  const geo = 'application/geo+json'
  const ofCollection = refs('collectionId', 'f')
  const queryables = { type: 'application/schema+json', schema: { type: 'object' }, asks: ofCollection }
  const collections = object({ links, collections: { type: 'array', items: collection } })
  return {
    openapi: '3.0.3',
    info: { title: 'Proofstream: features', version, description: 'OGC API Features over datasets with places.' },
    servers: [{ url: root }],
    tags: [{ name: 'features' }],
    paths: {
      '/': operation('getLandingPage', {
        summary: 'What there is',
        schema: object({ title: text, description: text, links }),
      }),
      '/api': operation('getDescription', {
        summary: 'This description',
        type: 'application/vnd.oai.openapi+json',
        schema: { type: 'object' },
        isPage: false,
        asks: [query('f', 'The form of the answer.', { type: 'string', enum: ['json'] })],
      }),
      '/conformance': operation('getConformance', { summary: 'Conformance classes', schema: conformance }),
      '/collections': operation('getCollections', {
        summary: 'Datasets with places',
        schema: collections,
        asks: refs('collections', 'after', 'f'),
      }),
      '/collections/{collectionId}': operation('describeCollection', {
        summary: 'One dataset',
        schema: collection,
        asks: ofCollection,
      }),
      '/collections/{collectionId}/queryables': operation('getQueryables', {
        summary: 'Properties that a filter may name',
        ...queryables,
      }),
      '/collections/{collectionId}/items': operation('getFeatures', {
        summary: 'A page of features of one block',
        type: geo,
        schema: featureCollection,
        asks: items,
      }),
      '/collections/{collectionId}/items/{featureId}': operation('getFeature', {
        summary: 'One feature',
        type: geo,
        schema: feature,
        asks: refs('collectionId', 'featureId', 'crs', 'f'),
      }),
      '/collections/{collectionId}/tiles/{z}/{x}/{y}.mvt': operation('getTile', {
        summary: 'A vector tile with one layer, features: id, offset and the properties',
        type: 'application/vnd.mapbox-vector-tile',
        schema: { type: 'string', format: 'binary' },
        isPage: false,
        asks: refs('collectionId', 'z', 'x', 'y', 'properties', 'at'),
      }),
    },
    components: { parameters },
  }
}
