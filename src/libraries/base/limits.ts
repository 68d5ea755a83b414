// Every limit of the outside, with its value and unit. GET /limits and the code read this table. Those that an operator has
// a reason to change are `--limit-*` options; above the others stands why this figure.

interface LimitRow {
  readonly value: number
  readonly unit: string
  readonly text: string
  /** Whether `--limit-<name>` sets it; absent for what is constant, or a part of another. */
  readonly isOption?: true
  /** The limit that it is a part or a multiple of. */
  readonly from?: { readonly limit: string; readonly times: number; readonly over: number }
  /** By itself at most the memory beside the node over this: what is fine on a server must not end a small board. */
  readonly ofMemory?: number
  /** The same of bodyMemoryBytes. */
  readonly ofBodies?: number
}

const MiB = 1024 * 1024
/** Of the memory, this much is for the node itself. */
const ownBytes = 256 * MiB
/** And this much is there for each query, or answer that is a file. */
const memoryPerQuery = 512 * MiB

/** Memory of bodies of batches, from the first byte on until their rows are in a block. */
export const bodyMemory = {
  /** Of the memory, this much is not for bodies: the node itself, and a block that is built. */
  besideBytes: 384 * MiB,
  /** At the greediest stage; a cell counts as so many bytes: a row takes one in each column that its body brings. */
  perByte: 8,
  cellBytes: 2,
  /** What is larger goes through memory in pieces. */
  mostBytes: 512 * MiB,
  /** With so much memory every body has room. */
  wantedMiB: 896,
  of: (bytes: number): number => Math.min(bodyMemory.perByte * bytes, bodyMemory.mostBytes),
} as const

export const limitTable = {
  bodyBytes: {
    isOption: true,
    value: 256 * MiB,
    unit: 'bytes',
    text: 'one request body as sent, or four times as much after decompression, where bodyMemoryBytes has room for it',
  },
  inflatedBytes: {
    from: { limit: 'bodyBytes', times: 4, over: 1 },
    value: 1024 * MiB,
    unit: 'bytes',
    text: 'one request body after decompression: four times bodyBytes, where bodyMemoryBytes has room for it',
  },
  columnBytes: {
    from: { limit: 'bodyBytes', times: 4, over: 1 },
    value: 1024 * MiB,
    unit: 'bytes',
    text: 'the rows of one body as columns: four times bodyBytes',
  },
  // Records that repeat themselves inflate 100 times, gzip bombs 1,000 times.
  inflatedRatio: { value: 200, unit: 'times', text: 'decompressed size of a body, relative to its size as sent' },
  // Rows of data take some bytes a cell; only rows that leave out nearly all of many columns meet it.
  cellRatio: {
    value: 16,
    unit: 'times',
    text: 'cells of a body in the columns that it adds, relative to its bytes. Files are exempt, as are 524,288 cells of a body and 32,768 of a batch of a stream',
  },
  // A shapefile is some five files.
  zipEntries: { value: 1000, unit: 'files', text: 'files in a zip' },
  // The outline of a country in full detail is some MiB.
  recordBytes: { value: 16 * MiB, unit: 'bytes', text: 'one record' },
  // The widest tables of telemetry have some hundred.
  columns: { value: 2000, unit: 'columns', text: 'columns of a dataset, without system columns' },
  // Producers nest a few levels; each costs stack.
  jsonDepth: { value: 64, unit: 'levels', text: 'nesting of JSON' },
  // A statement and its values are some KiB; room for a schema of all columns.
  requestJsonBytes: { value: 4 * MiB, unit: 'bytes', text: 'a JSON request to /query, PUT or /tokens' },
  // A schema of 2,000 columns has a tenth.
  requestJsonValues: { value: 50_000, unit: 'values', text: 'values in a JSON request other than a proof' },
  // A proof with an answer of 100,000 rows of some columns.
  verifyBytes: { ofBodies: 16, value: 64 * MiB, unit: 'bytes', text: 'a proof sent to /verify' },
  // That proof again.
  jsonValues: { ofBodies: 1024, value: 1_000_000, unit: 'values', text: 'values in a proof sent to /verify' },
  // Two of the largest proofs.
  openJsonBytes: {
    from: { limit: 'verifyBytes', times: 2, over: 1 },
    value: 128 * MiB,
    unit: 'bytes',
    text: 'decompressed JSON requests and proofs being read at the same time, without those of up to 64 KiB',
  },
  // They wait for a thread for each core.
  openJsonRequests: {
    value: 64,
    unit: 'requests',
    text: 'JSON requests and proofs being read at the same time, without those of up to 64 KiB',
  },
  queryMs: { isOption: true, value: 30_000, unit: 'ms', text: 'one query' },
  // An answer is held whole until it is signed; what is larger is a file, by export.
  resultBytes: { ofMemory: 4, value: 256 * MiB, unit: 'bytes', text: 'the rows of one answer' },
  resultRows: { isOption: true, value: 100_000, unit: 'rows', text: 'rows of one answer' },
  // Statements that programs write are some KiB; what is judged and rewritten is the whole of it.
  sqlBytes: {
    value: 64 * 1024,
    unit: 'bytes',
    text: 'the text of one statement, and the text of its parameter values',
  },
  // A hundred columns of 2,500 datasets, in memory for one statement.
  listingRows: { value: 250_000, unit: 'rows', text: 'a table of information_schema, while a statement reads it' },
  queryMemoryBytes: {
    ofMemory: 2,
    value: 1024 * MiB,
    unit: 'bytes',
    text: 'memory of one query process: at most half of what the machine or its container has beyond 256 MiB',
  },
  // A node has as many as its cores and its memory allow.
  concurrentQueries: {
    value: 1,
    unit: 'queries',
    text: 'queries at the same time: one per core, and at most one per 512 MiB of memory beyond 256 MiB',
  },
  // With a second each on one core, the last one has waited a minute.
  queuedQueries: { value: 64, unit: 'queries', text: 'queries that wait for a free process' },
  // A dataset of a billion rows of some columns, at 10 MiB/s.
  exportBytes: { value: 16 * 1024 * MiB, unit: 'bytes', text: 'one answer streamed as a file' },
  exportMs: { value: 30 * 60_000, unit: 'ms', text: 'one answer streamed as a file' },
  exportSlots: {
    ofMemory: memoryPerQuery,
    value: 2,
    unit: 'answers',
    text: 'answers streamed as files at the same time: at most one per 512 MiB of memory beyond 256 MiB',
  },
  cacheBytes: {
    isOption: true,
    value: 24 * 1024 * MiB,
    unit: 'bytes',
    text: 'cached files in the data directory. Merged files of small slices get two thirds, slices that are not files of the store a sixth, and files for readers of parts of answers a sixth. With 0 there are none, and chains in packs cannot be queried',
  },
  answerFileBytes: {
    from: { limit: 'cacheBytes', times: 1, over: 6 },
    value: 4096 * MiB,
    unit: 'bytes',
    text: 'part of cacheBytes for Parquet files for readers of parts. Files unused the longest go first',
  },
  mergedFileBytes: {
    from: { limit: 'cacheBytes', times: 2, over: 3 },
    value: 16 * 1024 * MiB,
    unit: 'bytes',
    text: 'part of cacheBytes for merged files of small slices. Files of datasets unused the longest go first',
  },
  sliceFileBytes: {
    from: { limit: 'cacheBytes', times: 1, over: 6 },
    value: 4096 * MiB,
    unit: 'bytes',
    text: 'part of cacheBytes for slices from packs, or from a remote store. Slices unused the longest go first',
  },
  // Two of the largest answers.
  answerBytes: { ofMemory: 2, value: 512 * MiB, unit: 'bytes', text: 'answers of queries on their way to callers' },
  callerAnswerShare: {
    from: { limit: 'callerShare', times: 1, over: 2 },
    value: 25,
    unit: 'percent',
    text: 'part of answerBytes that one caller may take with several answers',
  },
  // The answers of some dashboards.
  keptAnswerBytes: {
    ofMemory: 8,
    value: 64 * MiB,
    unit: 'bytes',
    text: 'answers kept for repeated queries over the same blocks, beside answerBytes',
  },
  // The slowest links of devices are faster; a slower reader holds memory for hours.
  answerRate: { value: 512, unit: 'bytes/s', text: 'slowest reader of an answer, averaged over 30 s' },
  // A listener takes some KiB.
  listeners: {
    value: 1_000,
    unit: 'listeners',
    text: 'requests that wait for blocks (event streams, tails with wait)',
  },
  // Two of the largest bodies.
  openIngestBytes: {
    value: 512 * MiB,
    unit: 'bytes',
    text: 'bodies being parsed and logged at the same time. A cell counts as at least two bytes, a body as at most 32 MiB, and data gathered by streams twice',
  },
  // Twice what the bodies that openIngestBytes lets in can take.
  bodyMemoryBytes: {
    value: 8192 * MiB,
    unit: 'bytes',
    text: 'memory for bodies that are being read: eight times the bytes of a batch, at least 16 for a cell and at most 512 MiB; of JSON what its bytes and values may take. At most what the machine or its container has beyond 384 MiB',
  },
  // What a busy node logs in a second or two.
  logMemoryBytes: {
    ofBodies: 16,
    value: 32 * MiB,
    unit: 'bytes',
    text: 'newest messages of the log on file that are kept in memory, and once more rows that wait for their block',
  },
  // A batch in work takes some KiB beside its body.
  openIngestRequests: { value: 4096, unit: 'requests', text: 'batches being parsed and published at the same time' },
  // One caller who takes all it can leaves half of what is free to each next one.
  callerShare: {
    value: 50,
    unit: 'percent',
    text: 'share of the free part of these limits that one caller may take: openIngestBytes, openIngestRequests, openJsonBytes, openJsonRequests, queuedQueries, listeners, and half of it of answerBytes',
  },
  // What comes while a block is made, at 10,000 a second.
  mqttInFlight: {
    value: 1_000,
    unit: 'messages',
    text: 'messages of an MQTT route received but not acknowledged; at the limit no more are read',
  },
  // Devices send some KiB; larger bodies have HTTP.
  mqttMessageBytes: {
    value: 1 * MiB,
    unit: 'bytes',
    text: 'payload of an MQTT message. The beginning of a larger one goes into quarantine',
  },
  catalogBytes: {
    ofMemory: 4,
    value: 256 * MiB,
    unit: 'bytes',
    text: 'memory for chains. Chains unused the longest are dropped, and read from the store again when needed',
  },
  // Six datasets with a million keys each.
  keyMemoryBytes: {
    ofMemory: 8,
    value: 128 * MiB,
    unit: 'bytes',
    text: 'memory for idempotency keys. Sets unused the longest are dropped, and read from the store again when needed',
  },
  // A header is one packet; slow ones hold a connection.
  requestHeaderMs: { value: 10_000, unit: 'ms', text: 'time for the header of a request' },
  // As answerRate.
  bodyRate: { value: 512, unit: 'bytes/s', text: 'slowest body accepted, averaged over 30 s; streams may be slower' },
  // 256 MiB at 300 KiB/s.
  bodyMs: { value: 15 * 60_000, unit: 'ms', text: 'time for a whole body, except for streams' },
  // Proxies and address translators forget an idle connection by then.
  streamIdleMs: { value: 5 * 60_000, unit: 'ms', text: 'time without a byte that ends a stream of records' },
  // A gateway of devices that has one token; a stream takes some KiB while it is idle.
  streamsPerCaller: { value: 2_000, unit: 'streams', text: 'streams of records that one caller may have open' },
  // Stores answer within a second; a connection that is lost says nothing.
  storeAnswerMs: {
    value: 10_000,
    unit: 'ms',
    text: 'one request to a bucket, and two seconds more for each MiB sent or received',
  },
} as const satisfies Record<string, LimitRow>

export type LimitName = keyof typeof limitTable
export type Limits = Readonly<Record<LimitName, number>>

const rows: readonly (readonly [string, LimitRow])[] = Object.entries(limitTable)

/** The limits that are options. */
export const limitOptions = rows.filter(([, { isOption }]) => isOption === true)

/**
 * Every limit: as `given`, else what follows from the limit that it is a part of, else the value of the table, or what suits a
 * machine with `memoryBytes`. No body is larger than what the memory of bodies has room for.
 */
export function limitsOf(given: Partial<Limits> = {}, memoryBytes = Number.POSITIVE_INFINITY): Limits {
  const values: Record<string, number> = { ...given }
  const left = memoryBeside(memoryBytes, ownBytes)
  const bodies = Math.min(limitTable.bodyMemoryBytes.value, memoryBeside(memoryBytes, bodyMemory.besideBytes))
  values['bodyMemoryBytes'] ??= bodies
  for (const [name, { value, from, ofMemory = 0, ofBodies = 0 }] of rows) {
    const most = Math.max(1, Math.floor(Math.min(left / ofMemory, bodies / ofBodies)))
    if (from === undefined) values[name] ??= Math.min(value, most)
  }
  const { perByte, mostBytes } = bodyMemory
  const largest = bodies < mostBytes ? Math.floor(bodies / perByte) : Number.POSITIVE_INFINITY
  values['bodyBytes'] = Math.min(values['bodyBytes'] ?? 0, largest)
  for (const [name, { from }] of rows) {
    if (from !== undefined) values[name] ??= Math.floor(((values[from.limit] ?? 0) * from.times) / from.over)
  }
  values['inflatedBytes'] = Math.min(values['inflatedBytes'] ?? 0, largest)
  return values as Limits // a value for every row of the table
}

/** What is left beside what the node takes itself. */
function memoryBeside(memoryBytes: number, besideBytes: number): number {
  return Math.max(memoryBytes - besideBytes, memoryBytes / 4)
}

/** So many queries have room in the memory of the machine. */
export function queriesInMemory(memoryBytes: number): number {
  return Math.max(1, Math.floor(memoryBeside(memoryBytes, ownBytes) / memoryPerQuery))
}

/** The option, without dashes, that sets a limit or what it is a part of; undefined for constants. */
export function limitOption(name: string): string | undefined {
  const [key, row] = rows.find(([one]) => one === name) ?? []
  if (row?.from !== undefined) return limitOption(row.from.limit)
  if (row?.isOption !== true) return undefined
  return `limit-${key?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Constants of stream version 1 (docs/spec/protocol.md §2), listed by /limits but not options: two builders must never differ. */
export const fixedLimits = {
  blockRows: { value: 262_144, unit: 'rows', text: 'rows of one block (a larger batch is a separate block)' },
  blockBytes: { value: 32 * MiB, unit: 'bytes', text: 'logged bytes of one block' },
  blockBatches: { value: 16_384, unit: 'batches', text: 'batches of one block' },
  keyedBatches: { value: 10_000, unit: 'batches', text: 'idempotency keys remembered per dataset at least' },
  keyedDays: { value: 7, unit: 'days', text: 'time an idempotency key is remembered at least' },
  keyedBatchesMost: { value: 1_000_000, unit: 'batches', text: 'idempotency keys remembered per dataset at most' },
  producers: { value: 10_000, unit: 'producers', text: 'producers of streams remembered per dataset at least' },
  producerDays: { value: 7, unit: 'days', text: 'time a producer of a stream is remembered at least' },
} as const satisfies Record<string, LimitRow>
