// Examples in the OpenAPI document: one dataset of readings, as a node answered about it. The proof is a real one.

import { formats } from '../formats/registry.ts'

const id = 'did:odf:fed01b01390025986c67024b49446f43ffd2d124eae4a428dc857cbd53cd8d1a92fb2'
const signer = 'did:key:z6Mkg8KHUyht453mFgLkjBA1DR4rG9zzdeojqjPAKrJx4kmm'
const head = 'f1620e177e7623c349d889c1e31edd282ac124d59b4deb79b1d986c95f12ed9fd00f7'
const receiptId =
  'Ae0BsBOQAlmGxnAktJRG9D_9LRJOrkpCjchXy9U82NGpL7KDDVpiuR3GY20IDWPdF1HXsG-2LA6DxyEQebPwqrLmsBYguN65w-11pJOzc7SxS2otkRVD_7r8u9gOJbuZWo7FGoUAAAAAAQAAAAAAAQAAAAAAQwAAAAAAtn6M_6EBvH6M_6EBFGFwcGxpY2F0aW9uL3gtbmRqc29uEDkxNGI2M2ZjNTE0YzU5NTYJcmVhZGluZy0xm7NJyKvC_euLI9t7'
const token = { id: 'c8a0a746ce006abf', name: 'sensor s1', scopes: ['ingest'], datasets: ['acme/readings'] }
const createdAt = '2026-11-21T19:19:21.754Z'

const accepted = {
  receiptId,
  status: 'accepted',
  dataset: { id, alias: 'acme/readings' },
  records: { received: 1, committed: 0, duplicates: 0 },
  bodyHash: 'f1620b8deb9c3ed75a493b373b4b14b6a2d911543ffbafcbbd80e25bb995a8ec51a85',
  mediaType: 'application/x-ndjson',
  bytes: 67,
  log: { name: 'file', partition: 0, position: 1 },
  idempotencyKey: 'reading-1',
  times: { received: '2026-11-21T19:19:19.990Z', accepted: '2026-11-21T19:19:19.996Z' },
}
const committed = {
  ...accepted,
  status: 'committed',
  records: { received: 1, committed: 1, duplicates: 0 },
  block: { hash: 'f16205746c672148f43e2990228ce6de4d7cf217bf1480e9771994a807e3114b0afb2', sequence: 4 },
  offsets: { start: 0, end: 0 },
  times: { ...accepted.times, committed: '2026-11-21T19:19:20.098Z' },
}
const dataset = {
  id,
  alias: 'acme/readings',
  owner: { accountName: 'acme' },
  visibility: 'public',
  head,
  rows: 2,
  lastCommit: '2026-11-21T19:19:21.128Z',
}
const query = 'select sensor, max(celsius) as warmest from acme.readings group by sensor'

/** An answer of `/query` with its proof, as it was signed. */
export const provenAnswer = {
  commitment: {
    inputHash: 'f162009987e0808f10794e66aaf4288336b9ab1c0e45007763a20796c5580ee1c4174',
    outputHash: 'f162078a16a4d46430af50424de848494f708d93322e288ffce8b7d3624dd3272533e',
    subQueriesHash: 'f1620ca4510738395af1429224dd785675309c344b2b549632e20275c69b15ed1d210',
  },
  input: {
    dataFormat: 'JsonAoa',
    datasets: [{ alias: 'acme/readings', blockHash: head, id }],
    include: ['Input', 'Proof'],
    limit: 100,
    query,
    queryDialect: 'SqlDuckDb/1.5.6-2',
    schemaFormat: 'ArrowJson',
    skip: 0,
  },
  output: { data: [['s1', 21.5]], dataFormat: 'JsonAoa', schemaFormat: 'ArrowJson' },
  proof: {
    proofValue: 'uKGQb0rqDzi8ClwUEWZSxkA5Hy_rGPeoxsiqhjs4wofKisCusVgDDEn39PnMkCJrJYFhiCT4MLGbWQFkFog3SDA',
    type: 'Ed25519Signature2020',
    verificationMethod: signer,
  },
  subQueries: [],
}

/** By operation id and status. */
export const answerExamples: Readonly<Record<string, unknown>> = {
  'createDataset 201': {
    id,
    alias: 'acme/readings',
    blockHash: 'f162046a7a9ec603d9531a5a1ac3dd24f81a8d90ae1d2b4630cd8f5d31e7786a24dbb',
  },
  'listDatasets 200': { datasets: [dataset] },
  'getDataset 200': { ...dataset, datasetName: 'readings' },
  'getAbout 200': {
    id,
    alias: dataset.alias,
    visibility: 'public',
    columns: [{ name: 'temp', type: { kind: 'Option', inner: { kind: 'Float64' } } }],
    rows: 2,
    bytes: 1834,
    blocks: 5,
    head,
    createdAt: '2026-03-01T10:00:00.000Z',
    lastCommit: '2026-03-01T10:00:01.000Z',
    links: { tail: `/${dataset.alias}/tail` },
  },
  'getMetadata 200': {
    output: {
      info: { description: 'Readings of our sensors', keywords: ['weather'] },
      refs: [{ name: 'head', blockHash: head }],
      seed: { datasetId: id, datasetKind: 'Root' },
    },
  },
  'getTail 200': {
    data: [
      {
        offset: 1,
        op: 0,
        system_time: '2026-11-21T19:19:21.128Z',
        event_time: '2026-01-31T12:00:00Z',
        sensor: 's1',
        celsius: 21.5,
      },
    ],
    dataFormat: 'JsonAos',
  },
  'ingest 200': committed,
  'ingest 202': accepted,
  'getReceipt 200': committed,
  'runQuery 200': provenAnswer,
  'runQueryByGet 200': provenAnswer,
  'verify 200': {
    ok: true,
    signer: { did: signer, relation: 'self' },
    engine: { name: 'duckdb', version: '1.5.6', dialect: 'SqlDuckDb/1.5.6-2', stability: 'pinned' },
  },
  'getReadiness 200': { ok: true },
  'getReadiness 503': { ok: false, reasons: { log: 'The log cannot be written.' } },
  'getHealth 200': { ok: true },
  'createToken 201': { ...token, createdAt, token: `pst_${'0'.repeat(38)}` },
  'listTokens 200': { tokens: [{ ...token, createdAt, lastFour: '0000' }] },
}

/** Example bodies of an operation (method and path), by media type. */
export function requestExamples(operation: string): Readonly<Record<string, unknown>> | undefined {
  if (operation !== 'post /{account}/{dataset}/ingest') return examplesOfJson[operation]
  return Object.fromEntries(formats.map(({ mediaTypes, example }) => [mediaTypes[0], example]))
}

const examplesOfJson: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'put /{account}/{dataset}': {
    'application/json': {
      schema: {
        fields: [
          { name: 'sensor', type: 'String' },
          { name: 'celsius', type: 'Float64?' },
        ],
      },
      info: { description: 'Readings of our sensors', keywords: ['weather'] },
    },
  },
  'post /query': { 'application/json': { query, include: ['Proof'] } },
  'post /verify': { 'application/json': provenAnswer },
  'post /tokens': { 'application/json': { name: token.name, scopes: token.scopes, datasets: token.datasets } },
}
