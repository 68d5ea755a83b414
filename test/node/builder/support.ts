// What the builder's tests share: messages as a gateway would write them, a store that can be dumped or made to fail,
// and ways to let a builder run over a log until it has nothing left to do.

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import { encodeArrowStream } from '../../../src/libraries/columnar/arrow/ipc.ts'
import { type Builder, type BuilderDeps, startBuilder } from '../../../src/node/builder/builder.ts'
import { loadDataset } from '../../../src/node/builder/load-dataset.ts'
import { datasetIdFromKey, sha2HashText } from '../../../src/libraries/base/ids/identifiers.ts'
import { sha256, sha3256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { type Announcements, openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type {
  BatchEntry,
  ChangeHeader,
  CommitAnnouncement,
  CreateHeader,
  DeleteHeader,
  Producer,
  RowsHeader,
} from '../../../src/node/log/messages.gen.ts'
import { encodeMessage } from '../../../src/node/log/messages.ts'
import type { MetadataBlock } from '../../../src/libraries/model/events.ts'
import {
  type DataSchema,
  defaultVocabulary,
  type Field,
  optional,
  type RecordBatch,
  systemFields,
  timestampMs,
} from '../../../src/libraries/model/schema.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { loadBlock } from '../../../src/node/store/load-block.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { appendText } from '../../helpers/slices.ts'
import { until } from '../../helpers/until.ts'

export const compressor = {
  name: `zstd ${process.versions['zstd'] ?? ''}`,
  compress: (bytes: Uint8Array): Uint8Array =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  decompress: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes),
}

/** Time runs `factor` times as fast as it does. */
export function fastClock(factor: number): Clock {
  const startMs = Date.now()
  const startedMs = performance.now()
  const passedMs = (): number => (performance.now() - startedMs) * factor
  return {
    nowMs: () => startMs + passedMs(),
    monotonicMs: passedMs,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  }
}

export const userFields: readonly Field[] = [
  { name: 'city', type: optional({ kind: 'String' }) },
  { name: 'n', type: optional({ kind: 'Int64' }) },
]
const eventTime: Field = { name: 'event_time', type: timestampMs }

export function schemaOf(fields: readonly Field[] = userFields): DataSchema {
  return { fields: [...systemFields(defaultVocabulary), ...fields] }
}

/** The dataset whose key is the hash of `seed`: not a real key, but a well-formed id. */
export function datasetId(seed: string): string {
  return datasetIdFromKey(sha3256(utf8(seed)))
}

export const baseMs = Date.parse('2026-03-01T00:00:00Z')

export function timeText(ms: number): string {
  return new Date(baseMs + ms).toISOString()
}

const batchRows = 65_536

/** `rows` rows whose values count up from `first`; each third city is null, and of devices there are a thousand. */
export function rowsPayload(rows: number, first: number, fields: readonly Field[] = userFields): Uint8Array {
  const batches = Array.from({ length: Math.ceil(rows / batchRows) }, (_, i) =>
    rowsBatch(Math.min(batchRows, rows - i * batchRows), first + i * batchRows, fields),
  )
  return encodeArrowStream([eventTime, ...fields], batches)
}

function rowsBatch(rows: number, first: number, fields: readonly Field[]): RecordBatch {
  const columns = [eventTime, ...fields].map((field) => {
    const builder = createColumnBuilder(field)
    for (let i = first; i < first + rows; i++) {
      if (field.name === 'event_time') builder.appendInt64(baseMs + i)
      else if (field.name === 'city' && i % 3 === 0) builder.appendNull()
      else if (field.name === 'device') builder.appendInt64((i * 7919) % 1000)
      else if (field.type.kind === 'Option' && field.type.inner.kind === 'String')
        appendText(builder, `${field.name} ${i % 17}`)
      else builder.appendInt64(i)
    }
    return builder.finish()
  })
  return { rows, columns }
}

export function batchId(seed: string): string {
  return Buffer.from(sha3256(utf8(seed))).toString('base64url')
}

let counter = 0

export interface BatchSpec {
  readonly rows?: number
  readonly key?: string
  readonly body?: string
  readonly after?: number
  readonly wait?: boolean
  readonly producer?: Producer
}

export function batchOf(spec: BatchSpec, dataset: string): BatchEntry {
  const { key, producer, rows = 1, after, wait = false } = spec
  const seed = key === undefined ? `random ${++counter}` : `${dataset} ${key}`
  return {
    id: batchId(seed),
    ...(key === undefined ? {} : { key, token: 'token-1' }),
    ...(producer === undefined ? {} : { producer, token: 'token-1' }),
    rows,
    bodyHash: sha2HashText(sha256(utf8(spec.body ?? `body of ${seed}`))),
    mediaType: 'application/json',
    receivedAt: timeText(0),
    wait,
    ...(after === undefined ? {} : { after }),
  }
}

export interface LargeBatch {
  /** Known once the first part is made. */
  readonly attempt: { readonly writer: string; readonly n: number }
  part(index: number): Uint8Array
}

/** Makes messages as one process would: one writer, numbered. */
export class TestWriter {
  readonly writer: string
  n = 0
  atMs = 0
  #row = 0

  constructor(seed: string) {
    this.writer = Buffer.from(sha3256(utf8(seed)).subarray(0, 16)).toString('base64url')
  }

  #common(): { writer: string; n: number; at: string } {
    this.atMs += 10
    return { writer: this.writer, n: ++this.n, at: timeText(this.atMs) }
  }

  create(dataset: string, alias: string, more: Partial<CreateHeader> = {}): Uint8Array {
    const common = this.#common()
    const header: CreateHeader = {
      kind: 'create',
      ...common,
      dataset,
      alias,
      visibility: 'public',
      time: common.at,
      schema: schemaOf(),
      ...more,
    }
    return encodeMessage(header)
  }

  /** A message with these batches; their rows count on from earlier ones. */
  rows(
    dataset: string,
    specs: readonly BatchSpec[],
    more: Partial<RowsHeader> & { fields?: readonly Field[] } = {},
  ): Uint8Array {
    const { fields, ...header } = more
    const batches = specs.map((spec) => batchOf(spec, dataset))
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
    const payload = rowsPayload(rows, this.#row, fields)
    this.#row += rows
    return encodeMessage({ kind: 'rows', ...this.#common(), dataset, schemaSequence: 1, batches, ...header }, payload)
  }

  /** Value of the next row's columns. */
  get nextRow(): number {
    return this.#row
  }

  /** One large batch as `count` parts, numbered one after the other. */
  parts(dataset: string, spec: BatchSpec, count: number): Uint8Array[] {
    const large = this.large(dataset, spec, count)
    return Array.from({ length: count }, (_, i) => large.part(i))
  }

  /** One large batch whose parts are made when asked for, first one first, among other messages of the writer. */
  large(dataset: string, spec: BatchSpec, count: number): LargeBatch {
    const batch = batchOf(spec, dataset)
    const payload = rowsPayload(batch.rows, this.#row)
    this.#row += batch.rows
    const size = Math.ceil(payload.length / count)
    const attempt = { writer: this.writer, n: -1 }
    return {
      attempt,
      part: (i) => {
        const common = this.#common()
        if (i === 0) attempt.n = common.n
        const isLast = i === count - 1
        const telling = isLast ? { batches: [batch] } : {}
        const part = { attempt, number: i + 1, ...(isLast ? { count } : {}) }
        const header: RowsHeader = { kind: 'rows', ...common, dataset, schemaSequence: 1, part, ...telling }
        return encodeMessage(header, payload.subarray(i * size, (i + 1) * size))
      },
    }
  }

  abort(dataset: string, attempt: { writer: string; n: number }): Uint8Array {
    return encodeMessage({ kind: 'abort', ...this.#common(), dataset, attempt })
  }

  change(dataset: string, change: Partial<ChangeHeader>): Uint8Array {
    return encodeMessage({ kind: 'change', ...this.#common(), dataset, id: batchId(`change ${++counter}`), ...change })
  }

  delete(dataset: string, more: Partial<DeleteHeader> = {}): Uint8Array {
    const id = batchId(`change ${++counter}`)
    return encodeMessage({ kind: 'delete', ...this.#common(), dataset, id, graceMs: 60_000, ...more })
  }

  restore(dataset: string, alias: string): Uint8Array {
    return encodeMessage({ kind: 'restore', ...this.#common(), dataset, id: batchId(`change ${++counter}`), alias })
  }

  cut(entries: readonly { dataset: string; sequence: number }[], timeMs = this.atMs): Uint8Array {
    const common = this.#common()
    return encodeMessage({ kind: 'cut', ...common, time: timeText(timeMs), entries })
  }
}

/** Options under which a builder writes no cut of its own. */
export const noCuts = { openAgeMs: 1e12, waitAgeMs: 1e12 }
/** Options under which a builder cuts at once. */
export const quickCuts = { openAgeMs: 5, waitAgeMs: 1, burstBlocks: 1e6, blocksPerSecond: 1e6 }

export interface Running {
  readonly builder: Builder
  readonly announced: CommitAnnouncement[]
}

export async function start(log: EventLog, store: ObjectStore, more: Partial<BuilderDeps> = {}): Promise<Running> {
  const announced: CommitAnnouncement[] = []
  const announcements: Announcements = more.announcements ?? openLocalAnnouncements(silentLogger)
  announcements.subscribe((message) => announced.push(message))
  const builder = await startBuilder({
    log,
    store,
    announcements,
    clock: systemClock,
    logger: silentLogger,
    compressor,
    options: noCuts,
    ...more,
  })
  return { builder, announced }
}

/** Lets the builder read and commit all that the log holds, then stops it. */
export async function buildAll(log: EventLog, store: ObjectStore, more: Partial<BuilderDeps> = {}): Promise<Running> {
  const running = await start(log, store, more)
  await drained(log, running)
  await running.builder.stop()
  return running
}

/** Waits until everything in the log has been read and what it ends is committed. */
export async function drained(log: EventLog, { builder }: Running): Promise<void> {
  for (let partition = 0; partition < log.partitions; partition++) {
    await until('the log is read to its end', async () => {
      const status = builder.status()
      const { end } = await log.range(partition)
      const isHalted = status.halted.some((halt) => halt.dataset === undefined && halt.partition === partition)
      return isHalted || ((status.partitions[partition]?.position ?? 0) >= end && status.ready)
    })
  }
  await until('every plan is committed', () =>
    builder.status().partitions.every(({ waitingPlans }) => waitingPlans === 0),
  )
}

/** Every object of the store by key. */
export async function dump(store: ObjectStore, prefix: string): Promise<Map<string, Uint8Array>> {
  const objects = new Map<string, Uint8Array>()
  const walk = async (key: string): Promise<void> => {
    const bytes = await store.get(key)
    if (bytes !== undefined) objects.set(key, bytes)
    for (const name of await store.list(key)) await walk(`${key}/${name}`)
  }
  await walk(prefix)
  return objects
}

/** Rows of a dataset that are in blocks; undefined while there is no chain. */
export async function rowCount(store: ObjectStore, id: string): Promise<number | undefined> {
  return (await loadDataset(store, id))?.state.nextOffset
}

export interface ChainBlock {
  readonly hash: string
  readonly block: MetadataBlock
}

/** The blocks of a chain, oldest first; their bytes are what their hashes say. */
export async function chainOf(store: ObjectStore, id: string): Promise<ChainBlock[]> {
  const blocks: ChainBlock[] = []
  for (let hash = (await readHead(store, id))?.hash; hash !== undefined; hash = blocks[0]?.block.prevBlockHash) {
    blocks.unshift({ hash, block: await loadBlock(store, { id }, hash) })
  }
  return blocks
}
