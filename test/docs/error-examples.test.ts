// The example bodies of the error pages are what a node says: each kind that a request can bring about is brought about.

import { describe, expect, it } from 'vitest'
import { errorCatalogue } from '../../src/node/http/texts.ts'
import type { ErrorKind } from '../../src/libraries/base/error-table.ts'
import { type Call, liveNode } from '../helpers/live-node.ts'
import { provenAnswer } from './proven-answer.ts'

const live = await liveNode()
const ndjson = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
const post = (body: string): Call => ({ method: 'POST', body, headers: ndjson })
await live.call('/acme/goods', {
  method: 'PUT',
  json: {
    schema: {
      fields: [
        { name: 'size', type: 'Float64?' },
        { name: 'city', type: 'String?' },
      ],
    },
  },
})
await live.call('/acme/goods/ingest', { ...post('{"size":1}'), headers: { ...ndjson, 'idempotency-key': 'reading-1' } })
const made = await live.call('/tokens', { method: 'POST', json: { name: 'reader', scopes: ['read'] } })
const narrowToken = String(made.at('token'))

const sql = (query: string, more: object = {}): [string, Call] => [
  '/query',
  { method: 'POST', json: { query, ...more } },
]
const zeros = '0'.repeat(64)

const { output: _, ...signedAnswer } = provenAnswer
const proof = (changed: object): [string, Call] => [
  '/verify',
  { method: 'POST', json: { ...provenAnswer, ...changed } },
]

const requests: Partial<Record<ErrorKind, () => [string, Call?]>> = {
  InvalidName: () => ['/acme/my_data/tail'],
  ReservedName: () => ['/query/goods', { method: 'PUT', json: {} }],
  InvalidParameter: () => ['/acme/goods/tail?limmit=1'],
  BadAuthorization: () => ['/datasets', { headers: { authorization: 'Basic abc' } }],
  MalformedJson: () => [
    '/query',
    { method: 'POST', body: '{"query": "select 1", "query": ""}', headers: { 'content-type': 'application/json' } },
  ],
  MalformedBody: () => [
    '/acme/goods/ingest',
    { ...post('no gzip'), headers: { ...ndjson, 'content-encoding': 'gzip' } },
  ],
  DigestMismatch: () => [
    '/acme/goods/ingest',
    { ...post('{}'), headers: { ...ndjson, 'content-digest': `sha-256=:${'A'.repeat(43)}=:` } },
  ],
  SqlSyntax: () => sql('select * form acme.goods'),
  SqlUnknownName: () => sql('select citty from acme.goods'),
  SqlValue: () => sql("select cast('abc' as integer)"),
  QueryNotAllowed: () => sql("select * from read_csv('/etc/passwd')"),
  DuplicateColumn: () => sql('select 1 as id, 2 as id', { dataFormat: 'JsonAos' }),
  UnsupportedDialect: () => sql('select 1', { queryDialect: 'SqlSpark' }),
  EngineUnavailable: () => sql('select 1', { queryDialect: 'SqlDuckDb/1.0.0-1' }),
  Unauthenticated: () => ['/acme/goods/ingest', { ...post('{}'), token: null }],
  Forbidden: () => ['/acme/goods/ingest', { ...post('{}'), token: narrowToken }],
  DatasetNotFound: () => ['/acme/nothing/tail'],
  BlockNotFound: () => [`/acme/goods/blocks/f1620${zeros}`],
  ObjectNotFound: () => [`/acme/goods/data/f1620${zeros}`],
  ReceiptNotFound: () => ['/receipts/none'],
  SavedQueryNotFound: () => ['/q/warmest'],
  TokenNotFound: () => ['/tokens/none', { method: 'DELETE' }],
  RouteNotFound: () => ['/qurey'],
  MethodNotAllowed: () => ['/query', { method: 'DELETE' }],
  DatasetExists: () => ['/acme/goods', { method: 'PUT', json: {} }],
  IdempotencyKeyReused: () => [
    '/acme/goods/ingest',
    { ...post('{"size":2}'), headers: { ...ndjson, 'idempotency-key': 'reading-1' } },
  ],
  HeadMoved: () => [
    '/acme/goods/ingest',
    { ...post('{"size":2}'), headers: { ...ndjson, 'if-match': `"f1620${zeros}"` } },
  ],
  UnsupportedMediaType: () => [
    '/query',
    { method: 'POST', body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  ],
  UnsupportedEncoding: () => [
    '/acme/goods/ingest',
    { ...post('{}'), headers: { ...ndjson, 'content-encoding': 'lz4' } },
  ],
  UpgradeRequired: () => [
    '/acme/goods/stream',
    { headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '8' } },
  ],
  MisdirectedRequest: () => ['/info', { headers: { host: 'example.org' } }],
  InvalidRequest: () => sql('select 1', { querry: 1 }),
  RecordsDoNotFit: () => ['/acme/goods/ingest', post('{"size":"big"}')],
  InvalidColumnName: () => [
    '/acme/new',
    {
      method: 'PUT',
      json: {
        schema: {
          fields: [
            { name: 'city', type: 'String' },
            { name: 'City', type: 'String' },
          ],
        },
      },
    },
  ],
  NothingToInfer: () => ['/acme/new/ingest?create=true', post('')],
  'InvalidRequest::InputHash': () => proof({ input: { ...provenAnswer.input, limit: 99 } }),
  'InvalidRequest::SubQueriesHash': () => proof({ subQueries: [signedAnswer] }),
  'InvalidRequest::BadSignature': () => proof({ proof: { ...provenAnswer.proof, verificationMethod: live.node.did } }),
  'InvalidRequest::OutputHash': () => proof({ output: { ...provenAnswer.output, data: [['s1', 21]] } }),
  'VerificationFailed::DatasetNotFound': () => proof({}),
  UnsupportedProofType: () => proof({ proof: { ...provenAnswer.proof, type: 'RsaSignature2018' } }),
  NotReproducible: () => sql('select now()', { include: ['Proof'] }),
}

/** Hashes, request ids and engine versions are what they are. */
function withoutChance(text: string): string {
  return text
    .replace(/f1620[0-9a-f]{64}/g, '<hash>')
    .replace(/did:(?:odf|key):\w+/g, '<did>')
    .replace(/urn:uuid:[0-9a-f-]{36}/g, '<request>')
    .replace(/SqlDuckDb\/[0-9.-]+/g, '<dialect>')
}

describe('the example of', () => {
  // the keys of the table are kinds
  it.each(Object.keys(requests) as ErrorKind[])('%s is what a node says', async (kind) => {
    const [path, call] = requests[kind]?.() ?? ['']
    const { text } = await live.call(path, call)
    const { body } = errorCatalogue.find((entry) => entry.kind === kind)?.example ?? {}
    expect(JSON.parse(withoutChance(JSON.stringify(body)))).toEqual(JSON.parse(withoutChance(text)))
  })
})
