// The OpenAPI 3.0 description of the routes of OGC API Features, which its clients read (Part 1, requirement /req/oas30).

type Json = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const link: Json = {
  type: 'object',
  required: ['href', 'rel'],
  properties: { href: text, rel: text, type: text, title: text },
}
const links: Json = { type: 'array', items: link }
const collection: Json = {
  type: 'object',
  required: ['id', 'links'],
  properties: {
    id: text,
    title: text,
    description: text,
    itemType: text,
    crs: { type: 'array', items: text },
    extent: { type: 'object' },
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
    timeStamp: { type: 'string', format: 'date-time' },
    numberMatched: { type: 'integer', minimum: 0 },
    numberReturned: { type: 'integer', minimum: 0 },
  },
}

function query(name: string, description: string, schema: Json, more: Json = {}): Json {
  return { name, in: 'query', required: false, description, schema, ...more }
}

function path(name: string, description: string): Json {
  return { name, in: 'path', required: true, description, schema: text }
}

const collectionId = path('collectionId', 'account:dataset')
const format = query('f', 'json', { type: 'string', maxLength: 20 })

const itemParameters: readonly Json[] = [
  collectionId,
  query('limit', 'Features of one page.', { type: 'integer', minimum: 1, maximum: 10_000, default: 10 }),
  query('offset', 'Features left out at the start.', { type: 'integer', minimum: 0 }),
  query(
    'bbox',
    'west,south,east,north in degrees; west is greater than east across the antimeridian.',
    { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
    { style: 'form', explode: false },
  ),
  query('datetime', 'An event time, or an interval: from/to, ../to, from/..', text, { style: 'form', explode: false }),
  query('filter', 'CQL2 text over the properties.', { type: 'string', maxLength: 8000 }),
  query('filter-lang', 'The language of filter.', { type: 'string', enum: ['cql2-text'] }),
  query('filter-crs', 'The coordinate system of filter.', text),
  query('sortby', 'Properties, - before one to sort down.', text),
  query('at', 'Hash of a block; the head by default.', text),
  format,
]

function operation(
  operationId: string,
  summary: string,
  answer: { readonly type: string; readonly schema: Json },
  parameters: readonly Json[] = [format],
): Json {
  const problem = {
    description: 'What is wrong (RFC 9457).',
    content: { 'application/problem+json': { schema: { type: 'object' } } },
  }
  const ok = { description: summary, content: { [answer.type]: { schema: answer.schema } } }
  return {
    get: {
      operationId,
      summary,
      tags: ['features'],
      parameters,
      responses: { 200: ok, '4XX': problem, '5XX': problem },
    },
  }
}

/** The document for a node that answers at `server`. */
export function ogcDescription(server: string, version: string): Json {
  const json = (schema: Json) => ({ type: 'application/json', schema })
  const geo = (schema: Json) => ({ type: 'application/geo+json', schema })
  const object = (properties: Json): Json => ({ type: 'object', properties })
  const featureId = path('featureId', 'Offset of the row.')
  return {
    openapi: '3.0.3',
    info: { title: 'Proofstream: features', version, description: 'OGC API Features over datasets with geometries.' },
    servers: [{ url: server }],
    tags: [{ name: 'features' }],
    paths: {
      '/ogc': operation('getLandingPage', 'What there is', json(object({ title: text, description: text, links }))),
      '/ogc/conformance': operation(
        'getConformance',
        'Conformance classes',
        json(object({ conformsTo: { type: 'array', items: text } })),
      ),
      '/ogc/collections': operation(
        'getCollections',
        'Datasets with geometries',
        json(object({ links, collections: { type: 'array', items: collection } })),
      ),
      '/ogc/collections/{collectionId}': operation('describeCollection', 'One dataset', json(collection), [
        collectionId,
        format,
      ]),
      '/ogc/collections/{collectionId}/queryables': operation(
        'getQueryables',
        'Properties that a filter may name',
        { type: 'application/schema+json', schema: { type: 'object' } },
        [collectionId, format],
      ),
      '/ogc/collections/{collectionId}/items': operation(
        'getFeatures',
        'A page of features of one block',
        geo(featureCollection),
        itemParameters,
      ),
      '/ogc/collections/{collectionId}/items/{featureId}': operation('getFeature', 'One feature', geo(feature), [
        collectionId,
        featureId,
        format,
      ]),
    },
  }
}
