// What each route may answer beside the body that its schema describes: name, statuses, headers, error kinds. The
// OpenAPI document is completed from this table, and the tests hold every answer they see against the document.

import type { ErrorKind } from '../model/error-table.ts'

export const responseHeaders = {
  'request-id': 'Names this request; the same as in `instance` of an error, and in the log of the node.',
  'x-content-type-options': 'Always `nosniff`.',
  vary: 'Request headers that the answer depends on.',
  'content-encoding': 'How the body is compressed, where the caller takes that.',
  'access-control-allow-origin': 'The page that asks, where it may read.',
  'access-control-expose-headers': 'Headers that such a page may see.',
  'cache-control': 'How long the answer may be kept.',
  etag: 'Strong tag of these bytes, for If-None-Match and If-Match.',
  'dataset-head': 'Alias of the dataset and hash of the block that was read: `acme/goods;block="f1620…"`.',
  'result-truncated': '`true`: there are more rows than `limit`.',
  'answer-stability':
    '`exact`: the rows alone decide the answer of this statement; `pinned`: how they lie in blocks may show too.',
  'idempotent-replayed': '`true`: a batch with this key was stored before; this is its receipt.',
  'preference-applied': 'What was done about Prefer: `wait=10`, `respond-async`.',
  location: 'Path of the receipt or of the new dataset.',
  link: 'The next page, `rel="next"`.',
  'accept-ranges': 'Always `bytes`.',
  'content-range': 'Which bytes of how many: `bytes 0-99/1234`.',
  'retry-after': 'Seconds to wait before the next try.',
  'www-authenticate': 'How to authenticate: `Bearer`.',
  connection: '`close` where the rest of a refused body was not read.',
} as const

export type ResponseHeader = keyof typeof responseHeaders

export const requestHeaders = {
  accept: '`text/html` for a page, `application/json` for JSON.',
  'if-none-match': 'ETag that the caller holds; 304 when it is still the one.',
  range: 'One range of bytes.',
  'if-range': 'ETag that the range is of; the whole object when it is another.',
  'content-encoding': 'gzip, deflate, br or zstd.',
} as const

export interface AnswerRow {
  readonly about: string
  readonly headers?: readonly ResponseHeader[]
  /** Media types; `application/json` by default, none for an answer without a body. */
  readonly media?: readonly string[]
}

export interface Operation {
  readonly id: string
  /** More than the summary says. */
  readonly about?: string
  readonly asks?: readonly (keyof typeof requestHeaders)[]
  readonly answers: Readonly<Record<string, AnswerRow>>
  /** Beside those of every route. */
  readonly errors: readonly ErrorKind[]
}

/** Any route may give these. */
export const errorsOfAll = [
  'InvalidParameter',
  'BadAuthorization',
  'Unauthenticated',
  'MisdirectedRequest',
  'RequestTimeout',
  'Internal',
] as const satisfies readonly ErrorKind[]

const ofDataset = ['InvalidName', 'ReservedName', 'Forbidden', 'DatasetNotFound'] as const
const ofJsonBody = [
  'MalformedJson',
  'MalformedBody',
  'BodyTooLarge',
  'UnsupportedMediaType',
  'UnsupportedEncoding',
  'InvalidRequest',
  'QuotaExceeded',
  'Saturated',
  'Draining',
] as const
const ofStatement = ['SqlSyntax', 'SqlUnknownName', 'SqlValue', 'QueryNotAllowed', 'DuplicateColumn'] as const
const ofEngine = ['BodyTooLarge', 'ResultTooLarge', 'Saturated', 'Draining', 'QueryTimeout'] as const
const ofQuery = [
  ...ofStatement,
  ...ofEngine,
  'UnsupportedDialect',
  'EngineUnavailable',
  'Forbidden',
  'DatasetNotFound',
  'BlockNotFound',
  'NotReproducible',
] as const
const ofLog = ['OutcomeUnknown', 'Saturated', 'Draining', 'LogUnavailable', 'StorageFull'] as const

const notModified = (...headers: ResponseHeader[]): AnswerRow => ({
  about: 'The caller holds these very bytes.',
  headers: ['etag', 'cache-control', ...headers],
  media: [],
})
const node = (id: string, about: string, media?: readonly string[]): Operation => ({
  id,
  answers: { 200: { about, ...(media === undefined ? {} : { media }) } },
  errors: [],
})
const pageOrJson = { asks: ['accept'], media: ['application/json', 'text/html'] } as const
const ready = (id: string): Operation => ({
  id,
  answers: {
    200: { about: 'Ready.', headers: ['cache-control'] },
    503: { about: 'Not ready, and why.', headers: ['cache-control'] },
  },
  errors: [],
})
const metrics = (id: string): Operation => ({
  ...node(id, 'Prometheus text; every name begins with `proofstream_`.', ['text/plain']),
  errors: ['Forbidden'],
})
const query = (id: string): Operation => ({
  id,
  about:
    'One SELECT over any datasets the caller may read, each pinned to its head before planning. With `Proof` the answer is canonical JSON, so the bytes of a member hash to what the commitment says.',
  answers: { 200: { about: 'The rows.', headers: ['cache-control', 'result-truncated', 'answer-stability'] } },
  errors: ofQuery,
})
const storedObject = (id: string, media: readonly string[]): Operation => ({
  id,
  about: 'Immutable: the same bytes for ever.',
  asks: ['if-none-match', 'range', 'if-range', ...(media.includes('application/json') ? (['accept'] as const) : [])],
  answers: {
    200: { about: 'The bytes as stored.', headers: ['etag', 'cache-control', 'accept-ranges'], media },
    206: {
      about: 'The range asked for.',
      headers: ['etag', 'cache-control', 'accept-ranges', 'content-range'],
      media: media.slice(0, 1),
    },
    304: notModified('accept-ranges'),
  },
  errors: [...ofDataset, id === 'getBlock' ? 'BlockNotFound' : 'ObjectNotFound'],
})

/** By method and path as the document writes them. */
export const operations: Readonly<Record<string, Operation>> = {
  'get /': {
    ...node('getLinks', 'Where everything is.', pageOrJson.media),
    asks: pageOrJson.asks,
  },
  'get /info': node('getInfo', 'Version, key, log, engine and formats of the node.'),
  'get /limits': node('getLimits', 'Limits in force, with unit and option.'),
  'get /.well-known/did.json': node('getDidDocument', 'The keys of the node.'),
  'get /healthz': node('getHealth', 'The process runs.'),
  'get /readyz': ready('getReadiness'),
  'get /system/health': ready('getSystemHealth'),
  'get /metrics': metrics('getMetrics'),
  'get /system/metrics': metrics('getSystemMetrics'),
  'get /errors': {
    ...node('listErrors', 'Status, meaning, remedy and an example of every kind.', pageOrJson.media),
    asks: pageOrJson.asks,
  },
  'get /errors/{kind}': {
    ...node('getError', 'Status, meaning, remedy and an example.', pageOrJson.media),
    asks: pageOrJson.asks,
    errors: ['RouteNotFound', 'InvalidName'],
  },
  'put /{account}/{dataset}': {
    id: 'createDataset',
    asks: ['content-encoding'],
    answers: {
      200: { about: 'It was there already, just as asked for.', headers: ['location'] },
      201: { about: 'It is made; its first blocks are committed.', headers: ['location'] },
    },
    errors: [...ofDataset, ...ofJsonBody, ...ofLog, 'DatasetExists', 'InvalidColumnName'],
  },
  'get /datasets': {
    id: 'listDatasets',
    answers: { 200: { about: 'One page, ordered by alias.', headers: ['cache-control', 'link'] } },
    errors: ['Forbidden'],
  },
  'get /datasets/{id}': {
    id: 'getDataset',
    answers: { 200: { about: 'The dataset.' } },
    errors: ['Forbidden', 'InvalidName', 'DatasetNotFound'],
  },
  'get /{account}/{dataset}/metadata': {
    id: 'getMetadata',
    asks: ['if-none-match'],
    answers: {
      200: { about: 'The aspects asked for that exist.', headers: ['dataset-head', 'etag', 'cache-control'] },
      304: notModified('dataset-head'),
    },
    errors: [...ofDataset, 'BlockNotFound'],
  },
  'get /{account}/{dataset}/tail': {
    id: 'getTail',
    asks: ['if-none-match'],
    answers: {
      200: {
        about: 'Rows, system columns included.',
        headers: ['dataset-head', 'etag', 'cache-control', 'result-truncated'],
      },
      304: notModified('dataset-head'),
    },
    errors: [...ofDataset, ...ofEngine, 'BlockNotFound'],
  },
  'post /{account}/{dataset}/ingest': {
    id: 'ingest',
    answers: {
      200: {
        about: 'In a block (or `dryRun`: valid). Nothing more can happen to it.',
        headers: ['idempotent-replayed', 'preference-applied'],
      },
      202: {
        about: 'Durable in the log, not yet in a block.',
        headers: ['location', 'idempotent-replayed', 'preference-applied'],
      },
    },
    errors: [
      ...ofDataset,
      ...ofJsonBody,
      ...ofLog,
      'RecordsDoNotFit',
      'InvalidColumnName',
      'UnsupportedCrs',
      'NothingToInfer',
      'DatasetExists',
      'IdempotencyKeyReused',
      'SchemaConflict',
      'OtherLog',
      'HeadMoved',
    ],
  },
  'post /query': { ...query('runQuery'), asks: ['content-encoding'], errors: [...ofQuery, ...ofJsonBody] },
  'get /query': {
    ...query('runQueryByGet'),
    asks: ['if-none-match'],
    answers: {
      200: {
        about: 'The rows. Tagged, unless the statement gives other rows each time.',
        headers: ['etag', 'cache-control', 'result-truncated', 'answer-stability'],
      },
      304: notModified(),
    },
  },
  'post /verify': {
    id: 'verify',
    asks: ['content-encoding'],
    answers: { 200: { about: 'Hashes and signature are good, and the query gives the same output again.' } },
    errors: [
      ...ofJsonBody,
      ...ofEngine,
      ...ofStatement,
      'Forbidden',
      'UnsupportedDialect',
      'UnsupportedProofType',
      'InvalidRequest::InputHash',
      'InvalidRequest::SubQueriesHash',
      'InvalidRequest::BadSignature',
      'InvalidRequest::OutputHash',
      'InvalidRequest::UnpinnedDataset',
      'VerificationFailed::OutputMismatch',
      'VerificationFailed::DatasetNotFound',
      'VerificationFailed::DatasetBlockNotFound',
      'VerificationFailed::NotReproducible',
      'VerificationInconclusive::EngineUnavailable',
    ],
  },
  'get /{account}/{dataset}/refs/head': {
    id: 'getHead',
    asks: ['if-none-match'],
    answers: {
      200: { about: 'The hash, no newline.', headers: ['etag', 'cache-control'], media: ['text/plain'] },
      304: notModified(),
    },
    errors: ofDataset,
  },
  'get /{account}/{dataset}/blocks': {
    id: 'listBlocks',
    answers: { 200: { about: 'One page.', headers: ['cache-control'] } },
    errors: [...ofDataset, 'BlockNotFound'],
  },
  'get /{account}/{dataset}/blocks/{hash}': storedObject('getBlock', ['application/octet-stream', 'application/json']),
  'get /{account}/{dataset}/data/{hash}': storedObject('getSlice', ['application/vnd.apache.parquet']),
  'get /{account}/{dataset}/checkpoints/{hash}': storedObject('getCheckpoint', ['application/octet-stream']),
  'get /receipts/{id}': {
    id: 'getReceipt',
    answers: { 200: { about: 'The receipt as of now.', headers: ['cache-control'] } },
    errors: ['Forbidden', 'InvalidName', 'ReceiptNotFound'],
  },
  'post /tokens': {
    id: 'createToken',
    asks: ['content-encoding'],
    answers: { 201: { about: 'The only time that the text of the token is shown.', headers: ['cache-control'] } },
    errors: ['Forbidden', ...ofJsonBody, 'StorageFull'],
  },
  'get /tokens': {
    id: 'listTokens',
    answers: { 200: { about: 'All tokens, without their texts.', headers: ['cache-control'] } },
    errors: ['Forbidden'],
  },
  'delete /tokens/{id}': {
    id: 'revokeToken',
    answers: { 204: { about: 'Revoked; every process refuses it within 5 s.', media: [] } },
    errors: ['Forbidden', 'InvalidName', 'TokenNotFound'],
  },
}
