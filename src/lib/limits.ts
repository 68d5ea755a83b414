// Every limit of the outside, with its default and unit. `--limit-*` options, GET /limits and the code read this table.

interface LimitRow {
  readonly value: number
  readonly unit: string
  readonly text: string
}

const MiB = 1024 * 1024

export const limitTable = {
  bodyBytes: { value: 256 * MiB, unit: 'bytes', text: 'one request body as sent' },
  inflatedBytes: { value: 1024 * MiB, unit: 'bytes', text: 'one request body after decompression' },
  inflatedRatio: { value: 200, unit: 'times', text: 'inflated size of a body over its size as sent' },
  cellRatio: {
    value: 16,
    unit: 'times',
    text: 'cells that the rows of a body take in the columns that they bring, over its bytes, but for files; 524,288 always may be, of a batch of a stream 32,768',
  },
  zipEntries: { value: 1000, unit: 'files', text: 'files in a zip' },
  recordBytes: { value: 16 * MiB, unit: 'bytes', text: 'one record' },
  columns: { value: 2000, unit: 'columns', text: 'columns of a dataset, system columns not counted' },
  jsonDepth: { value: 64, unit: 'levels', text: 'nesting of JSON' },
  requestJsonBytes: { value: 4 * MiB, unit: 'bytes', text: 'a JSON request to /query, PUT or /tokens' },
  requestJsonValues: { value: 50_000, unit: 'values', text: 'values in a JSON request other than a proof' },
  verifyBytes: { value: 64 * MiB, unit: 'bytes', text: 'a proof sent to /verify' },
  jsonValues: { value: 1_000_000, unit: 'values', text: 'values in a proof sent to /verify' },
  openJsonBytes: {
    value: 128 * MiB,
    unit: 'bytes',
    text: 'inflated JSON requests and proofs being read at the same time, those of up to 64 KiB not counted',
  },
  openJsonRequests: {
    value: 64,
    unit: 'requests',
    text: 'JSON requests and proofs being read at the same time, those of up to 64 KiB not counted',
  },
  queryMs: { value: 30_000, unit: 'ms', text: 'one query' },
  resultBytes: { value: 256 * MiB, unit: 'bytes', text: 'the rows of one answer' },
  resultRows: { value: 100_000, unit: 'rows', text: 'rows of one answer' },
  sqlBytes: {
    value: 64 * 1024,
    unit: 'bytes',
    text: 'the text of one statement, and that of the values for its parameters',
  },
  listingRows: { value: 250_000, unit: 'rows', text: 'a table of information_schema, while a statement reads it' },
  queryMemoryBytes: { value: 1024 * MiB, unit: 'bytes', text: 'memory of one query process' },
  concurrentQueries: { value: 0, unit: 'queries', text: 'queries at the same time; 0 means one per core' },
  queuedQueries: { value: 64, unit: 'queries', text: 'queries that wait for a free process' },
  callerQueryShare: {
    value: 50,
    unit: 'percent',
    text: 'of what other callers leave free of queuedQueries, what one caller may take',
  },
  exportBytes: { value: 16 * 1024 * MiB, unit: 'bytes', text: 'one answer that is streamed as a file' },
  exportMs: { value: 30 * 60_000, unit: 'ms', text: 'one answer that is streamed as a file' },
  exportSlots: { value: 2, unit: 'answers', text: 'answers streamed as files at the same time' },
  answerFileBytes: {
    value: 4096 * MiB,
    unit: 'bytes',
    text: 'Parquet files kept in the cache for readers of parts; those not asked for longest go first',
  },
  mergedFileBytes: {
    value: 16 * 1024 * MiB,
    unit: 'bytes',
    text: 'merged files of small slices kept in the cache; those of datasets not asked for longest go first; 0 makes none',
  },
  sliceFileBytes: {
    value: 4096 * MiB,
    unit: 'bytes',
    text: 'slices taken out of packs, or out of a store elsewhere, for statements, kept in the cache; those not used for longest go first',
  },
  answerBytes: { value: 512 * MiB, unit: 'bytes', text: 'answers of queries on their way to those who asked' },
  callerAnswerShare: {
    value: 25,
    unit: 'percent',
    text: 'of answerBytes, what one caller may take with several answers',
  },
  keptAnswerBytes: {
    value: 64 * MiB,
    unit: 'bytes',
    text: 'answers kept for those who ask the same of the same blocks, beside answerBytes; 0 keeps none',
  },
  answerRate: { value: 512, unit: 'bytes/s', text: 'slowest reader of an answer, averaged over 30 s' },
  listeners: { value: 1_000, unit: 'listeners', text: 'requests that wait for blocks: event streams, tails with wait' },
  callerListenerShare: {
    value: 50,
    unit: 'percent',
    text: 'of what other callers leave free of listeners, what one caller may hold',
  },
  openIngestBytes: {
    value: 512 * MiB,
    unit: 'bytes',
    text: 'bodies being parsed and published at the same time, a cell as a byte at least, each counted up to 32 MiB; what streams gather, twice',
  },
  openIngestRequests: { value: 4096, unit: 'requests', text: 'batches being parsed and published at the same time' },
  callerIngestShare: {
    value: 50,
    unit: 'percent',
    text: 'of what other callers leave free of openIngestBytes, openIngestRequests, openJsonBytes and openJsonRequests, what one may hold',
  },
  callerRequestRate: {
    value: 0,
    unit: 'requests/s',
    text: 'batches that one token may send, averaged over 10 s; 0 means any number',
  },
  callerByteRate: {
    value: 0,
    unit: 'bytes/s',
    text: 'inflated bytes that one token may send, or cells where a body has more of them, averaged over 10 s; 0 means any number',
  },
  mqttInFlight: {
    value: 1_000,
    unit: 'messages',
    text: 'messages of an MQTT route that came and are not acknowledged; no more are read then',
  },
  mqttMessageBytes: {
    value: 1 * MiB,
    unit: 'bytes',
    text: 'payload of an MQTT message; of a larger one the beginning goes into quarantine',
  },
  catalogBytes: {
    value: 256 * MiB,
    unit: 'bytes',
    text: 'what is remembered of chains; those not asked for longest are read from the store again when they are',
  },
  keyMemoryBytes: {
    value: 128 * MiB,
    unit: 'bytes',
    text: 'what is remembered of idempotency keys; sets not asked for longest are read from the store again when they are',
  },
  requestHeaderMs: { value: 10_000, unit: 'ms', text: 'time for the header of a request' },
  bodyRate: { value: 512, unit: 'bytes/s', text: 'slowest body accepted, averaged over 30 s; streams may be slower' },
  bodyMs: { value: 15 * 60_000, unit: 'ms', text: 'time for a whole body, but for streams' },
  streamIdleMs: { value: 5 * 60_000, unit: 'ms', text: 'time without a byte that ends a stream of records' },
  streamsPerCaller: { value: 2_000, unit: 'streams', text: 'streams of records that one caller may have open' },
  storeAnswerMs: {
    value: 10_000,
    unit: 'ms',
    text: 'one request to a bucket, and two seconds more for each MiB that goes or comes',
  },
} as const satisfies Record<string, LimitRow>

export type LimitName = keyof typeof limitTable
export type Limits = Readonly<Record<LimitName, number>>

/** Constants of stream version 1 (docs/spec/protocol.md §2), listed by /limits but not options: two builders must never differ. */
export const fixedLimits = {
  blockRows: { value: 262_144, unit: 'rows', text: 'rows of one block (a larger batch is a block of its own)' },
  blockBytes: { value: 32 * MiB, unit: 'bytes', text: 'logged bytes of one block' },
  blockBatches: { value: 16_384, unit: 'batches', text: 'batches of one block' },
  keyedBatches: { value: 10_000, unit: 'batches', text: 'idempotency keys remembered per dataset at least' },
  keyedDays: { value: 7, unit: 'days', text: 'time an idempotency key is remembered at least' },
  keyedBatchesMost: { value: 1_000_000, unit: 'batches', text: 'idempotency keys remembered per dataset at most' },
  producers: { value: 10_000, unit: 'producers', text: 'producers of streams remembered per dataset at least' },
  producerDays: { value: 7, unit: 'days', text: 'time a producer of a stream is remembered at least' },
} as const satisfies Record<string, LimitRow>
