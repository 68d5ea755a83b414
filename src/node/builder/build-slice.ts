// The slice of one block: rows, as they were kept or are read again, are put under the schema of the block, numbered,
// and streamed into the file and its logical hash; then the file is checked. At most a few thousand rows are held beside
// what the slice writer holds, and a large file goes to the store while it is made.

import { freeColumn, sliceBatch } from '../../libraries/columnar/arrow/columns.ts'
import { createLogicalHash, logicalHashOf } from '../../libraries/columnar/arrow/logical-hash.ts'
import { type DatasetId, type Hash, hashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { assert, must } from '../../libraries/base/assert.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { type DataSchema, type Field, type RecordBatch, sameType } from '../../libraries/model/schema.ts'
import { openSlice, type SliceContent } from '../../libraries/columnar/parquet/read-slice.ts'
import { SliceFile } from '../../libraries/columnar/parquet/write-slice.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import { AlignedRows, pieceBytes } from '../../libraries/columnar/parquet/aligned-rows.ts'
import { columnWork } from './shared-columns.ts'
import { addedColumns, type DataPlan, type RowSource } from './dataset-state.ts'
import {
  CompletedGroups,
  type EncodedGroup,
  type EncodedRows,
  RowGroups,
  systemColumns,
} from '../../libraries/columnar/parquet/row-groups.ts'

export interface SliceDeps {
  /** The rows of the messages at these positions, whose payloads are one Arrow stream. */
  readonly readBatches: (positions: readonly number[]) => AsyncIterable<RecordBatch>
  /** The rows of the plan, where they are encoded already. */
  readonly early?: (plan: DataPlan) => Promise<EncodedRows | undefined>
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

/** Builds the slice of `plan`, which has rows. Throws DecodeError for bytes that are not what the fold saw. */
export async function buildSlice(plan: DataPlan, deps: SliceDeps): Promise<BuiltSlice> {
  const schema = must(plan.schema, 'a block with rows has a schema')
  const early = await deps.early?.(plan)
  const out = new SliceStream(plan, schema, deps, early)
  try {
    return await writeSlice({ ...plan, sources: early === undefined ? plan.sources : [] }, schema, { out, deps })
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
  const aligned = new AlignedRows(schema.fields.slice(addedColumns))
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

/** Feeds rows, or row groups that are encoded, with the system columns into file and logical hash alike. */
class SliceStream {
  readonly #plan: DataPlan
  readonly #fields: readonly Field[]
  readonly #rowGroups: RowGroups | CompletedGroups
  readonly #file: SliceFile
  readonly #hash = createSha3256()
  #sizeBytes = 0
  /** Parts that are hashed, but not taken. */
  #parts: Uint8Array[] = []
  #facts: BuiltSlice | undefined
  /** The end of the file, by which it is read. */
  footer: readonly Uint8Array[] = []

  constructor(plan: DataPlan, { fields }: DataSchema, deps: SliceDeps, early: EncodedRows | undefined) {
    this.#plan = plan
    this.#fields = fields
    this.#file = new SliceFile({ fields })
    const { firstOffset, timeMs, payloadBytes } = plan
    const { compressor, threads } = deps
    const by = { compress: (bytes: Uint8Array): Uint8Array => compressor.compress(bytes), threads }
    const into = {
      systemOf: (before: number, rows: number) =>
        systemColumns(fields, { firstOffset: firstOffset + before, timeMs, rows }),
      take: async ({ rows, chunks }: EncodedGroup): Promise<void> => {
        this.#file.add(rows, chunks)
        await this.#keep(this.#file.take())
      },
    }
    const system = fields.slice(0, addedColumns)
    this.#rowGroups =
      early === undefined
        ? new RowGroups({ columns: columnWork(fields, plan, by), ...into })
        : new CompletedGroups(early, { columns: columnWork(system, { rows: plan.rows, payloadBytes }, by), ...into })
  }

  /** Gives threads back. */
  close(): void {
    this.#rowGroups.end()
  }

  /** Lets the event loop turn after whatever takes its time. */
  add(batch: RecordBatch): Promise<void> | undefined {
    assert(this.#rowGroups instanceof RowGroups, 'rows that are encoded are not added')
    return this.#rowGroups.add(batch)
  }

  /** What of the file has been made since the last call. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  async finish(): Promise<void> {
    const { rows, digests, latestEventMs } = await this.#rowGroups.finish()
    assert(rows === this.#plan.rows, 'the slice has the rows that the fold counted')
    const last = this.#file.finish()
    this.footer = last.slice(-footerParts)
    await this.#keep(last)
    this.#facts = {
      sizeBytes: this.#sizeBytes,
      rows,
      physicalHash: hashText(this.#hash.digest()),
      logicalHash: logicalHashOf(this.#fields, digests),
      latestEventMs,
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
    for (const column of batch.columns) freeColumn(column)
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
