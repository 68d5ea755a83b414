// Makes a small store as a node fills it: a log, names, chains of data blocks with slices, checkpoints and commits, a
// floor. A test may let the writer lie in one place; everything after it (hashes, links) is made to fit.

import { zstdCompressSync } from 'node:zlib'
import { constantColumn, int64RangeColumn } from '../../../src/libraries/columnar/arrow/columns.ts'
import { createLogicalHash } from '../../../src/libraries/columnar/arrow/logical-hash.ts'
import {
  type BatchOutcome,
  type CheckpointContent,
  encodeCheckpoint,
} from '../../../src/libraries/odf/chain/checkpoint.ts'
import { logPositionKind, logPositionText } from '../../../src/libraries/odf/chain/records.ts'
import type { ProblemKind, StoreReport } from '../../../src/node/upkeep/report.ts'
import { type DatasetId, type Hash, datasetIdFromKey, sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import type { AddData, MetadataEvent } from '../../../src/libraries/model/events.ts'
import { instantFromMs } from '../../../src/libraries/model/instant.ts'
import {
  type DataSchema,
  defaultVocabulary,
  type RecordBatch,
  systemFields,
} from '../../../src/libraries/model/schema.ts'
import { encodeBlock } from '../../../src/libraries/odf/block.ts'
import { encodeSlice } from '../../../src/libraries/columnar/parquet/write-slice.ts'
import { writeHead } from '../../../src/node/store/heads.ts'
import { blockKey, checkpointKey, dataKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { putName } from '../../../src/node/store/names.ts'
import { putCommit, putLog, putLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

export const log = 'log-1'
const startMs = Date.UTC(2026, 0, 1)
const schema: DataSchema = {
  fields: [...systemFields(defaultVocabulary), { name: 'v', type: { kind: 'Option', inner: { kind: 'Int64' } } }],
}

export interface Lies {
  /** Applied to data block number `block` (0-based among data blocks). */
  readonly block?: number
  readonly event?: (event: AddData) => AddData
  readonly checkpoint?: (content: CheckpointContent) => CheckpointContent
  readonly rows?: (batch: RecordBatch) => RecordBatch
  readonly fileSchema?: DataSchema
}

export interface MadeChain {
  readonly id: DatasetId
  readonly hashes: readonly Hash[]
  /** Keys of everything immutable. */
  readonly keys: readonly string[]
}

/** Dataset number `n`, with three data blocks of `rows` rows. */
export async function makeChain(store: ObjectStore, n: number, lies: Lies = {}, rows = 5): Promise<MadeChain> {
  const id = datasetIdFromKey(new Uint8Array(32).fill(n))
  const keys: string[] = []
  const hashes: Hash[] = []
  const put = async (key: string, bytes: Uint8Array): Promise<void> => {
    keys.push(key)
    await store.put(key, bytes)
  }
  const addBlock = async (event: MetadataEvent, timeMs: number): Promise<void> => {
    const previous = hashes.at(-1)
    const bytes = encodeBlock({
      systemTime: instantFromMs(timeMs),
      ...(previous === undefined ? {} : { prevBlockHash: previous }),
      sequenceNumber: hashes.length,
      event,
    })
    const hash = sha3Hash(bytes)
    hashes.push(hash)
    await put(blockKey(id, hash), bytes)
  }
  const commit = async (sequence: number, next: number): Promise<void> => {
    keys.push(`${blockKey(id, hashes[0] ?? '').split('/blocks/')[0]}/commits/${sequence}`)
    await putCommit(store, { id, sequence }, { blocks: hashes.slice(sequence), log, partition: 0, next })
  }
  await addBlock({ kind: 'Seed', datasetId: id, datasetKind: 'Root' }, startMs)
  await addBlock({ kind: 'SetDataSchema', schema }, startMs)
  await commit(0, 1)
  let previous: Hash | undefined
  for (let block = 0; block < 3; block++) {
    const lie = lies.block === block ? lies : {}
    const timeMs = startMs + 1_000 * (block + 1)
    const next = 2 + 3 * block
    const slice = makeSlice(block * rows, { rows, timeMs, lie })
    const plain = checkpointContent(block, { next, rows, ...(previous === undefined ? {} : { previous }) })
    const checkpoint = encodeCheckpoint(lie.checkpoint?.(plain) ?? plain)
    const checkpointHash = sha3Hash(checkpoint)
    const event: AddData = {
      kind: 'AddData',
      ...(previous === undefined ? {} : { prevCheckpoint: previous, prevOffset: block * rows - 1 }),
      newData: {
        logicalHash: slice.logicalHash,
        physicalHash: sha3Hash(slice.bytes),
        offsetInterval: { start: block * rows, end: (block + 1) * rows - 1 },
        size: slice.bytes.length,
      },
      newCheckpoint: { physicalHash: checkpointHash, size: checkpoint.length },
      newWatermark: instantFromMs(startMs),
      newSourceState: { sourceName: 'default', kind: logPositionKind, value: positionText(next) },
    }
    await put(dataKey(id, sha3Hash(slice.bytes)), slice.bytes)
    await put(checkpointKey(id, checkpointHash), checkpoint)
    await addBlock(lie.event?.(event) ?? event, timeMs)
    await commit(hashes.length - 1, next)
    previous = checkpointHash
  }
  await writeHead(store, id, { sequence: hashes.length - 1, hash: hashes.at(-1) ?? '' })
  return { id, hashes, keys }
}

/** Text of the log position that reads up to `next`. */
export function positionText(next: number): string {
  return logPositionText({ log, partition: 0, next, anchor: anchorAt(next) })
}

/** Hash of the message before `next`. */
export function anchorAt(next: number): Hash {
  return sha3Hash(utf8(`message ${next - 1}`))
}

/** Declares log and name, and puts the floor at the end of the chains. */
export async function makeRecords(store: ObjectStore, chains: readonly MadeChain[]): Promise<void> {
  await putLog(store, { id: log, kind: 'file', partitions: 1 })
  for (const [n, { id }] of chains.entries()) {
    await putName(store, { id, alias: `Acme/set-${n}`, log, partition: 0, visibility: 'public' })
  }
  await putLowWaterMark(store, { log, partition: 0, position: 8, anchor: anchorAt(8), halted: [] })
}

function makeSlice(first: number, { rows, timeMs, lie }: { rows: number; timeMs: number; lie: Lies }) {
  const { fields } = lie.fileSchema ?? schema
  const honest: RecordBatch = {
    rows,
    columns: [
      int64RangeColumn('offset', first, rows),
      constantColumn({ name: 'op', type: { kind: 'Int32' } }, 0, rows),
      ...fields.slice(2, 4).map((field) => constantColumn(field, timeMs, rows)),
      ...fields.slice(4).map((field) => ({ ...int64RangeColumn(field.name, 100 + first, rows), nullable: true })),
    ],
  }
  const batch = lie.rows?.(honest) ?? honest
  const hash = createLogicalHash(fields)
  hash.update(batch)
  return {
    bytes: concatBytes(encodeSlice({ fields, compress: zstdCompressSync }, [batch])),
    logicalHash: hash.digest(),
  }
}

function checkpointContent(block: number, at: { next: number; rows: number; previous?: Hash }): CheckpointContent {
  const { next, rows, previous } = at
  const start = block * rows
  const id = (name: string): string => Buffer.from(name.padEnd(32)).toString('base64url')
  const outcomes: BatchOutcome[] = [
    { id: id('a'), position: next - 2, index: 0, status: { kind: 'committed', start, end: start } },
    { id: id('b'), position: next - 2, index: 1, status: { kind: 'rejected', error: 'SchemaConflict', message: 'no' } },
    {
      id: id('c'),
      position: next - 1,
      index: 0,
      status: { kind: 'committed', start: start + 1, end: start + rows - 1 },
    },
  ]
  return {
    number: block,
    log,
    partition: 0,
    next,
    moved: 2 + block,
    outcomes,
    attempts: [],
    writers: [],
    ids: [],
    earlier: previous === undefined ? {} : { previous },
    sliceWriter: 'slice-1, zstd',
  }
}

export interface Made {
  readonly store: ObjectStore
  readonly good: MadeChain
  readonly other: MadeChain
}

/** Two chains; `lies` go into the first. */
export async function made(lies: Lies = {}): Promise<Made> {
  const store = openMemoryStore()
  const good = await makeChain(store, 1, lies)
  const other = await makeChain(store, 2)
  await makeRecords(store, [good, other])
  return { store, good, other }
}

export function kinds(report: StoreReport): ProblemKind[] {
  return [...report.problems, ...report.datasets.flatMap((dataset) => dataset.problems)].map(({ kind }) => kind)
}
