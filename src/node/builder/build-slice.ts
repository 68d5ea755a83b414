// The slice of one block: rows, as they were kept or are read again, are put under the schema of the block, numbered,
// and streamed into the file and its logical hash; then the file is checked. At most a few thousand rows are held beside
// what the slice writer holds, and a large file goes to the store while it is made.

import {
  batchBytes,
  concatBatches,
  constantColumn,
  int64RangeColumn,
  sliceBatch,
} from '../../libraries/columnar/arrow/columns.ts'
import { createLogicalHash, logicalHashOf } from '../../libraries/columnar/arrow/logical-hash.ts'
import { type DatasetId, type Hash, hashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { assert, must } from '../../libraries/base/assert.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { type Column, type DataSchema, type Field, type RecordBatch, sameType } from '../../libraries/model/schema.ts'
import { openSlice, type SliceContent } from '../../libraries/columnar/parquet/read-slice.ts'
import {
  type ColumnChunk,
  type PiecedRows,
  RowGroupCut,
  rowGroupRows,
  SliceFile,
} from '../../libraries/columnar/parquet/write-slice.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import { AlignedRows, pieceBytes, pieceRows } from './aligned-rows.ts'
import { type ColumnWork, columnWork } from './column-work.ts'
import type { DataPlan, RowSource } from './dataset-state.ts'

export interface SliceDeps {
  /** The rows of the messages at these positions, whose payloads are one Arrow stream. */
  readonly readBatches: (positions: readonly number[]) => AsyncIterable<RecordBatch>
  readonly compressor: Compressor
  /** Threads that share the columns of large slices, which they compress as `compressor` does. */
  readonly threads?: TaskThreads | undefined
  /** Stores a slice whose hash is known when `chunks` have ended. Throws what the store and `chunks` throw. */
  readonly storeSlice: (dataset: DatasetId, chunks: AsyncIterable<Uint8Array>, hashOf: () => Hash) => Promise<unknown>
}

/** Named in every checkpoint: slices are byte-identical between builders that share both names. */
export const sliceWriterName = 'slice-1'

/** How slices are compressed (Zstandard); `name` says what decides the bytes (`zstd 1.5.7`). */
export interface Compressor {
  readonly name: string
  compress(bytes: Uint8Array): Uint8Array
  /** The `length` bytes that were compressed. */
  decompress(bytes: Uint8Array, length: number): Uint8Array
}

export interface BuiltSlice {
  /** The file; absent where it was so large that the store has it already. */
  readonly chunks?: readonly Uint8Array[]
  readonly sizeBytes: number
  readonly rows: number
  readonly physicalHash: Hash
  readonly logicalHash: Hash
  /** Latest event time, milliseconds since 1970 UTC; undefined when none lies in the years 0000 to 9999. */
  readonly latestEventMs: number | undefined
}

const what = 'slice to commit'
const magic = utf8('PAR1')
/** Footer, its length and the closing magic. */
const footerParts = 3
/** Up to this size the rows are read back and hashed again; above it the footer alone is. */
const rehashedRows = 4096
/** A file up to this size is held until its block is stored. */
const heldBytesMost = 8 * 1024 * 1024
/** Messages read before the event loop turns, however small they are. */
const sourcesPerTurn = 64
const pieceBatches = 1024
/** So many batches are joined once, with their row group; more would be small ones, which cost more than their rows. */
const keptPiecesMost = 16
const dayMs = 86_400_000
const earliestMs = Date.parse('0000-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')

/** Builds the slice of `plan`, which has rows. Throws DecodeError for bytes that are not what the fold saw. */
export async function buildSlice(plan: DataPlan, deps: SliceDeps): Promise<BuiltSlice> {
  const schema = must(plan.schema, 'a block with rows has a schema')
  const out = new SliceStream(plan, schema, deps)
  try {
    return await writeSlice(plan, schema, { out, deps })
  } finally {
    out.close()
  }
}

async function writeSlice(
  plan: DataPlan,
  schema: DataSchema,
  { out, deps }: { readonly out: SliceStream; readonly deps: SliceDeps },
): Promise<BuiltSlice> {
  const parts = sliceParts(plan, schema, { out, deps })
  const held: Uint8Array[] = []
  let heldBytes = 0
  while (heldBytes <= heldBytesMost) {
    const part = await parts.next()
    if (part.done === true) {
      const slice = { ...out.facts(), chunks: held }
      await checkSlice(slice, schema, deps.compressor)
      return slice
    }
    held.push(part.value)
    heldBytes += part.value.length
  }
  await deps.storeSlice(plan.dataset, checkedParts(held, parts, { out, schema }), () => out.facts().physicalHash)
  return out.facts()
}

/** The parts of the file, in order, as they are made. */
async function* sliceParts(
  plan: DataPlan,
  schema: DataSchema,
  { out, deps }: { readonly out: SliceStream; readonly deps: SliceDeps },
): AsyncGenerator<Uint8Array> {
  const aligned = new AlignedRows(schema.fields)
  for (const [index, source] of plan.sources.entries()) {
    if (index % sourcesPerTurn === sourcesPerTurn - 1) await nextTurn()
    for await (const batch of acceptedRows(deps.readBatches(source.positions), source)) {
      for (const piece of aligned.pieces(batch)) {
        await out.add(piece)
        yield* out.take()
      }
    }
  }
  await out.finish()
  yield* out.take()
}

/** Those `held` and the others; a file whose footer is wrong does not come to its end. */
async function* checkedParts(
  held: Uint8Array[],
  parts: AsyncIterable<Uint8Array>,
  { out, schema }: { readonly out: SliceStream; readonly schema: DataSchema },
): AsyncGenerator<Uint8Array> {
  for (let part = held.shift(); part !== undefined; part = held.shift()) yield part
  yield* parts
  checkFooter(out.footer, out.facts(), schema)
}

/** The rows of the stream that the block takes, in order. */
async function* acceptedRows(batches: AsyncIterable<RecordBatch>, { ranges }: RowSource): AsyncGenerator<RecordBatch> {
  let first = 0
  for await (const batch of batches) {
    const end = first + batch.rows
    for (let i = 0; i < ranges.length; i += 2) {
      const from = Math.max(ranges[i] ?? 0, first)
      const to = Math.min(ranges[i + 1] ?? 0, end)
      if (from < to) yield sliceBatch(batch, from - first, to - first)
    }
    first = end
  }
}

/** Gathers small batches, adds the system columns and feeds file and logical hash alike. */
class SliceStream {
  readonly #plan: DataPlan
  readonly #fields: readonly Field[]
  readonly #cut = new RowGroupCut()
  readonly #columns: ColumnWork
  readonly #file: SliceFile
  /** The row group that is being encoded, while the rows of the next are read. */
  #underWay: { readonly rows: number; readonly chunks: Promise<ColumnChunk[]> } | undefined
  #waiting: RecordBatch[] = []
  #waitingRows = 0
  #waitingBytes = 0
  #rows = 0
  #latestEventMs: number | undefined
  readonly #hash = createSha3256()
  #sizeBytes = 0
  /** Parts that are hashed, but not taken. */
  #parts: Uint8Array[] = []
  #facts: BuiltSlice | undefined
  /** The end of the file, by which it is read. */
  footer: readonly Uint8Array[] = []

  constructor(plan: DataPlan, { fields }: DataSchema, { compressor, threads }: SliceDeps) {
    this.#plan = plan
    this.#fields = fields
    this.#file = new SliceFile({ fields })
    const compress = (bytes: Uint8Array): Uint8Array => compressor.compress(bytes)
    this.#columns = columnWork(fields, plan, { compress, threads })
  }

  /** Gives threads back. */
  close(): void {
    this.#columns.end()
  }

  /** Lets the event loop turn after whatever takes its time. */
  async add(batch: RecordBatch): Promise<void> {
    this.#waiting.push(batch)
    this.#waitingRows += batch.rows
    this.#waitingBytes += batchBytes(batch)
    const isFull =
      this.#waitingRows >= pieceRows || this.#waitingBytes >= pieceBytes || this.#waiting.length >= pieceBatches
    if (isFull) await this.#flush()
  }

  /** What of the file has been made since the last call. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  async finish(): Promise<void> {
    await this.#flush()
    assert(this.#rows === this.#plan.rows, 'the slice has the rows that the fold counted')
    for (const group of this.#cut.rest()) await this.#encode(group)
    await this.#settle()
    const last = this.#file.finish()
    this.footer = last.slice(-footerParts)
    await this.#keep(last)
    this.#facts = {
      sizeBytes: this.#sizeBytes,
      rows: this.#rows,
      physicalHash: hashText(this.#hash.digest()),
      logicalHash: logicalHashOf(this.#fields, await this.#columns.digests()),
      latestEventMs: this.#latestEventMs,
    }
  }

  /** What there is to say of the finished file. */
  facts(): BuiltSlice {
    return must(this.#facts, 'the slice is finished')
  }

  /** Hashes parts of the file, with a turn of the event loop after each piece. */
  async #keep(parts: readonly Uint8Array[]): Promise<void> {
    let waiting = 0
    for (const part of parts) {
      this.#parts.push(part)
      this.#sizeBytes += part.length
      for (let at = 0; at < part.length; at += pieceBytes) {
        const piece = part.subarray(at, at + pieceBytes)
        this.#hash.update(piece)
        waiting += piece.length
        if (waiting < pieceBytes) continue
        waiting = 0
        await nextTurn()
      }
    }
  }

  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    // So many bytes took their time to be decoded.
    if (this.#waitingBytes >= pieceBytes) await nextTurn()
    const batches = this.#waiting.length > keptPiecesMost ? [concatBatches(this.#waiting)] : this.#waiting
    const rows = this.#waitingRows
    this.#waiting = []
    this.#waitingRows = 0
    this.#waitingBytes = 0
    const [offset, operation, systemTime, ...others] = this.#fields
    const full: PiecedRows = {
      rows,
      columns: [
        [int64RangeColumn(must(offset, 'an offset column').name, this.#plan.firstOffset + this.#rows, rows)],
        [constantColumn(must(operation, 'an operation column'), 0, rows)],
        [constantColumn(must(systemTime, 'a system-time column'), this.#plan.timeMs, rows)],
        ...others.map((_, i) => batches.map(({ columns }) => must(columns[i], 'a column'))),
      ],
    }
    this.#columns.see(full)
    this.#rows += rows
    for (const { columns } of batches) {
      const latest = latestTime(must(columns[0], 'an event-time column'))
      if (latest !== undefined) this.#latestEventMs = Math.max(latest, this.#latestEventMs ?? latest)
    }
    await nextTurn()
    for (const group of this.#cut.add(full)) await this.#encode(group)
  }

  async #encode(group: PiecedRows): Promise<void> {
    await this.#settle()
    const chunks = this.#columns.encode(group)
    // Its failure is met when it is waited for.
    chunks.catch(() => {})
    this.#underWay = { rows: group.rows, chunks }
    // A group that its bytes have ended is large: it is not held beside the next one.
    if (group.rows < rowGroupRows) await this.#settle()
  }

  async #settle(): Promise<void> {
    if (this.#underWay === undefined) return
    const { rows, chunks } = this.#underWay
    this.#underWay = undefined
    this.#file.add(rows, await chunks)
    await this.#keep(this.#file.take())
  }
}

/** The latest value of a Timestamp (ms) or Date column within the years that metadata can name. */
function latestTime(column: Column): number | undefined {
  const view = new DataView(column.values.buffer, column.values.byteOffset, column.values.byteLength)
  const isDate = column.type.kind === 'Date'
  let latest: number | undefined
  for (let row = 0; row < column.rows; row++) {
    const value = isDate
      ? view.getInt32(4 * row, true) * dayMs
      : view.getInt32(8 * row + 4, true) * 2 ** 32 + view.getUint32(8 * row, true)
    if (value >= earliestMs && value <= latestMs && (latest === undefined || value > latest)) latest = value
  }
  return latest
}

/**
 * Reads a slice back before it is committed: nothing later in an ODF network checks row count, columns and logical hash
 * of a file, so what is wrong with it would stay wrong forever. Throws DecodeError when the file does not hold what the
 * block will say of it.
 */
async function checkSlice(
  slice: BuiltSlice & { readonly chunks: readonly Uint8Array[] },
  schema: DataSchema,
  compressor: Compressor,
): Promise<void> {
  await nextTurn()
  if (slice.rows > rehashedRows) return checkFooter(slice.chunks.slice(-footerParts), slice, schema)
  const decompress = (bytes: Uint8Array, length: number): Uint8Array => compressor.decompress(bytes, length)
  const content = openSlice(concatBytes(slice.chunks), { decompress })
  checkContent(content, slice, schema)
  const hash = createLogicalHash(schema.fields)
  for await (const batch of content.batches) {
    await nextTurn()
    hash.update(batch)
  }
  await nextTurn()
  if (hash.digest() !== slice.logicalHash) throw new DecodeError(what, 'has other rows than those that were hashed')
}

/** The same for rows and columns alone, by the last parts of the file. */
function checkFooter(footer: readonly Uint8Array[], slice: BuiltSlice, schema: DataSchema): void {
  checkContent(openSlice(concatBytes([magic, ...footer])), slice, schema)
}

function checkContent(content: SliceContent, slice: BuiltSlice, schema: DataSchema): void {
  if (content.rows !== slice.rows) throw new DecodeError(what, `has ${content.rows} rows, expected ${slice.rows}`)
  const isSame =
    content.fields.length === schema.fields.length &&
    content.fields.every((field, index) => {
      const expected = schema.fields[index]
      return expected !== undefined && field.name === expected.name && sameType(field.type, expected.type)
    })
  if (!isSame) throw new DecodeError(what, 'has other columns than the schema')
}
