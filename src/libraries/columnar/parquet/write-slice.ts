// Writes slices: the Parquet file of a block's rows, straight from column buffers. Equal rows, cut into equal batches,
// give equal bytes (with the same `compress`); nothing of the machine or the time goes in. A column chunk is one leaf of
// one row group: a dictionary page (where it pays) and one data page of version 1.
// Source: Apache Parquet, parquet.thrift; file properties as in docs of Open Data Fabric, "Data slices".

import { concatColumns, freeColumn, joinedBytes, slicePieces } from '../arrow/columns.ts'
import { joinedPieces } from '../arrow/null-column.ts'
import { assert, must } from '../../base/assert.ts'
import { concatBytes, freeBytes, utf8 } from '../../base/bytes.ts'
import { type Column, type Field, innerType, type RecordBatch } from '../../model/schema.ts'
import { type ColumnGroup, groupLeaves, type ParquetLeaf, parquetLeaf, writeParquetSchema } from './file-schema.ts'
import type { Bounds } from './footer.ts'
import { leafValues } from './leaf.ts'
import { encodings, pageTypes } from './page-header.ts'
import { leafBounds } from './statistics.ts'
import { ThriftWriter } from './thrift.ts'
import { levelBytes } from './write-levels.ts'
import { dictionaryIndices, dictionaryOf, pageOfValues, plainValues } from './write-values.ts'

/** Rows of a row group, except the last one's. */
export const rowGroupRows = 131_072
/** A row group also ends after the batch with which it holds this much. */
export const rowGroupBytes = 64 * 1024 * 1024

/** So many columns are many. */
export const wideColumns = 128
const joinedAtOnce = 8

/** Columns of fewer rows, and of less than `stepBytes`, are written without a step between them. */
const stepRows = 4096

const magic = utf8('PAR1')
// Names the form of the file, not the release: equal rows make equal bytes, whichever process writes them.
const createdBy = 'proofstream version 1'

export interface SliceOptions {
  /** Of types that a column can hold, times not in seconds. */
  readonly fields: readonly Field[]
  /** Zstandard; without it pages are stored as they are. */
  readonly compress?: Compress
  /** Columns behind those of `fields`, for files that are no slices. */
  readonly group?: ColumnGroup
}

/** All of a file at once, in parts; a large one is better written in steps. */
export function encodeSlice(options: SliceOptions, batches: readonly RecordBatch[]): Uint8Array[] {
  const writer = new SliceWriter(options)
  for (const batch of batches) for (const _ of writer.add(batch));
  const steps = writer.finish()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Rows in pieces: for each column its own, in order. The caller that joins those of a row group takes them out: it is large. */
export interface PiecedRows {
  readonly rows: number
  readonly columns: Column[][]
}

/** Cuts rows that come in order into row groups; where batches end matters only where bytes end a group. */
export class RowGroupCut {
  private readonly besideBytes: number
  private pending: PiecedRows[] = []
  private rows = 0
  private bytes = 0
  /** Those of the pending ones that are not joined. */
  private loose = 0

  /** `besideBytes`: of each row in columns that are not among those that are added. */
  constructor(besideBytes = 0) {
    this.besideBytes = besideBytes
  }

  /** The groups that end in this batch. */
  *add(batch: PiecedRows): Generator<PiecedRows, void> {
    let from = 0
    while (from < batch.rows) {
      const to = Math.min(batch.rows, from + rowGroupRows - this.rows)
      const columns = batch.columns.map((pieces) => slicePieces(pieces, from, to))
      this.keep({ rows: to - from, columns })
      this.rows += to - from
      this.bytes += this.besideBytes * (to - from)
      for (const pieces of columns) this.bytes += joinedBytes(pieces)
      if (this.rows === rowGroupRows || this.bytes >= rowGroupBytes) yield* this.rest()
      from = to
    }
  }

  /** Of many columns pieces are joined soon: each costs more than the few rows that it has. */
  private keep(batch: PiecedRows): void {
    const { pending } = this
    pending.push(batch)
    if (batch.columns.length < wideColumns || ++this.loose < joinedAtOnce) return
    const loose = pending.splice(-joinedAtOnce)
    pending.push(joinedRows(loose))
    for (const { columns } of loose) for (const pieces of columns) for (const piece of pieces) freeColumn(piece)
    this.loose = 0
  }

  /** What is left, if anything, as a group. */
  *rest(): Generator<PiecedRows, void> {
    const { pending, rows } = this
    const [first] = pending
    if (first === undefined) return
    this.pending = []
    this.rows = 0
    this.bytes = 0
    this.loose = 0
    yield { rows, columns: first.columns.map((_, i) => pending.flatMap((batch) => must(batch.columns[i], 'a column'))) }
  }
}

function joinedRows(batches: readonly PiecedRows[]): PiecedRows {
  const columns = must(batches[0], 'rows').columns.map((_, i) => {
    return [joinedPieces(batches.flatMap((batch) => must(batch.columns[i], 'a column')))]
  })
  return { rows: batches.reduce((sum, { rows }) => sum + rows, 0), columns }
}

/** What the footer says of a row group. */
interface RowGroup {
  readonly rows: number
  readonly chunks: readonly { readonly chunk: ColumnChunk; readonly start: number }[]
  readonly start: number
  readonly end: number
}

/** The file of row groups whose columns are encoded: joins what it is handed, and writes the footer. */
export class SliceFile {
  readonly leaves: readonly ParquetLeaf[]
  private readonly group: ColumnGroup | undefined
  private parts: Uint8Array[] = [magic]
  private position = magic.length
  private readonly groups: RowGroup[] = []

  constructor({ fields, group }: Pick<SliceOptions, 'fields' | 'group'>) {
    this.leaves = [...fields.map(parquetLeaf), ...(group === undefined ? [] : groupLeaves(group))]
    this.group = group
  }

  /** What of the file has been made since the last call; a caller that takes it need not hold all of the file at once. */
  take(): Uint8Array[] {
    const { parts } = this
    this.parts = []
    return parts
  }

  /** The next row group: a chunk for each leaf. */
  add(rows: number, chunks: readonly ColumnChunk[]): void {
    assert(chunks.length === this.leaves.length, 'a row group has a chunk for each leaf')
    const start = this.position
    const placed = chunks.map((chunk) => {
      const at = this.position
      this.parts.push(...chunk.parts)
      this.position += chunk.compressedBytes
      // The footer needs no pages: they would be held twice.
      return { chunk: { ...chunk, parts: [] }, start: at }
    })
    this.groups.push({ rows, chunks: placed, start, end: this.position })
  }

  /**
   * The rest of the file, in parts to be written one after the other; the last three are its footer, with `metadata` by its
   * keys (slices have none).
   */
  finish(metadata: Readonly<Record<string, string>> = {}): Uint8Array[] {
    const footer = this.footer(Object.entries(metadata))
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, footer.length, true)
    return [...this.take(), footer, length, magic]
  }

  private footer(metadata: readonly (readonly [key: string, value: string])[]): Uint8Array {
    const thrift = new ThriftWriter()
    let rows = 0
    for (const group of this.groups) rows += group.rows
    thrift.i32(1, 1)
    writeParquetSchema(thrift, this.leaves, this.group)
    thrift.i64(3, rows)
    thrift.structs(4, this.groups, (group) => writeRowGroupMeta(thrift, group, this.leaves))
    if (metadata.length > 0) {
      thrift.structs(5, metadata, ([key, value]) => {
        thrift.text(1, key)
        thrift.text(2, value)
      })
    }
    thrift.text(6, createdBy)
    thrift.structs(7, this.leaves, () => thrift.struct(1, () => undefined))
    return thrift.finish()
  }
}

/**
 * Takes rows in order. Between calls it holds at most one row group of rows, beside the bytes already made. `add` and
 * `finish` yield after each column of a large row group that they write, so that others may have their turn.
 */
export class SliceWriter {
  private readonly file: SliceFile
  private readonly cut = new RowGroupCut()
  private readonly compress: Compress | undefined

  constructor(options: SliceOptions) {
    this.file = new SliceFile(options)
    this.compress = options.compress
  }

  /** As `SliceFile.take`. */
  take(): Uint8Array[] {
    return this.file.take()
  }

  /** Columns have the types of the fields, in their order. The batch must not change until the slice is written. */
  *add(batch: RecordBatch): Generator<void, void> {
    assert(batch.columns.length === this.file.leaves.length, 'a batch has a column for each field')
    const pieced = { rows: batch.rows, columns: batch.columns.map((column) => [column]) }
    for (const group of this.cut.add(pieced)) yield* this.writeRowGroup(group)
  }

  /** As `SliceFile.finish`. Ends the writer. */
  *finish(metadata: Readonly<Record<string, string>> = {}): Generator<void, Uint8Array[]> {
    for (const group of this.cut.rest()) yield* this.writeRowGroup(group)
    return this.file.finish(metadata)
  }

  private *writeRowGroup({ rows, columns }: PiecedRows): Generator<void, void> {
    const chunks: ColumnChunk[] = []
    for (const leaf of this.file.leaves) {
      const column = concatColumns(columns.shift() ?? [])
      chunks.push(yield* encodeColumn(leaf, column, this.compress))
    }
    this.file.add(rows, chunks)
  }
}

function writeRowGroupMeta(thrift: ThriftWriter, group: RowGroup, leaves: readonly ParquetLeaf[]): void {
  let uncompressedBytes = 0
  for (const { chunk } of group.chunks) uncompressedBytes += chunk.uncompressedBytes
  const chunks = group.chunks.map((placed, i) => ({ ...placed, leaf: must(leaves[i], 'a leaf') }))
  thrift.structs(1, chunks, ({ chunk, start, leaf }) => {
    thrift.i64(2, 0)
    thrift.struct(3, () => writeChunkMeta(thrift, leaf, { chunk, start }))
  })
  thrift.i64(2, uncompressedBytes)
  thrift.i64(3, group.rows)
  thrift.i64(5, group.start)
  thrift.i64(6, group.end - group.start)
}

function writeChunkMeta(
  thrift: ThriftWriter,
  leaf: ParquetLeaf,
  { chunk, start }: { readonly chunk: ColumnChunk; readonly start: number },
): void {
  thrift.i32(1, leaf.form.physical)
  thrift.i32s(2, chunk.encodings)
  thrift.texts(3, leaf.path)
  thrift.i32(4, chunk.codec)
  thrift.i64(5, chunk.entries)
  thrift.i64(6, chunk.uncompressedBytes)
  thrift.i64(7, chunk.compressedBytes)
  thrift.i64(9, start + chunk.dictionaryBytes)
  if (chunk.dictionaryBytes > 0) thrift.i64(11, start)
  const { nullCount, bounds } = chunk
  if (nullCount === undefined) return
  thrift.struct(12, () => {
    thrift.i64(3, nullCount)
    if (bounds !== undefined) {
      thrift.binary(5, bounds.max)
      thrift.binary(6, bounds.min)
    }
  })
}

/** Zstandard. */
type Compress = (bytes: Uint8Array) => Uint8Array

export const codecs = { uncompressed: 0, zstd: 6 } as const

/** A written chunk: its bytes, and what the footer says of it. Sizes include page headers. */
export interface ColumnChunk {
  readonly parts: readonly Uint8Array[]
  readonly codec: number
  readonly encodings: readonly number[]
  /** Levels of a list, else rows. */
  readonly entries: number
  readonly uncompressedBytes: number
  readonly compressedBytes: number
  /** Bytes of the dictionary page at its start; 0 without one. */
  readonly dictionaryBytes: number
  /** Undefined for lists, whose nulls have no one meaning. */
  readonly nullCount: number | undefined
  readonly bounds: Bounds | undefined
}

// A compressed page has its own frame; below this much the frame outweighs what is saved.
const leastCompressedBytes = 256

/** Values of so many bytes are encoded in steps. */
const stepBytes = 2 * 1024 * 1024

/** Encodes one leaf of a row group, a long one in several steps. The column has the type of the leaf's field. */
export function* encodeColumn(
  leaf: ParquetLeaf,
  column: Column,
  compress: Compress | undefined,
): Generator<void, ColumnChunk> {
  assert(column.type.kind === innerType(leaf.field.type).kind, 'columns have the types of the fields')
  const values = leafValues(leaf, column)
  const isLong = values.values.length >= stepBytes
  const dictionary = dictionaryOf(values)
  const bounds = values.levels === undefined ? leafBounds(dictionary?.entries ?? values) : undefined
  if (isLong) yield
  const levels = levelBytes(leaf, values)
  const body = dictionary === undefined ? pageOfValues(values, levels) : [levels, dictionaryIndices(dictionary)]
  if (isLong) yield
  const dictionaryValues = dictionary === undefined ? [] : [plainValues(dictionary.entries)]
  const isSmall = totalBytes(dictionaryValues) + totalBytes(body) < leastCompressedBytes
  const used = isSmall ? undefined : compress
  const entries = values.levels?.definition.length ?? values.rows
  const pages: Page[] = []
  if (dictionary !== undefined) {
    pages.push(
      page(pageTypes.dictionary, dictionaryValues, used, (thrift) => {
        thrift.i32(1, dictionary.entries.rows)
        thrift.i32(2, encodings.plain)
      }),
    )
  }
  pages.push(
    page(pageTypes.data, body, used, (thrift) => {
      thrift.i32(1, entries)
      thrift.i32(2, dictionary === undefined ? encodings.plain : encodings.rleDictionary)
      thrift.i32(3, encodings.rle)
      thrift.i32(4, encodings.rle)
    }),
  )
  const parts = pages.flatMap((one) => one.parts)
  // A page of texts is a copy of them.
  if (used !== undefined && values.offsets !== undefined) for (const bytes of body) freeBytes(bytes)
  if (isLong || column.rows >= stepRows) yield
  return {
    parts,
    codec: used === undefined ? codecs.uncompressed : codecs.zstd,
    encodings: [encodings.plain, encodings.rle, ...(dictionary === undefined ? [] : [encodings.rleDictionary])],
    entries,
    uncompressedBytes: pages.reduce((sum, one) => sum + one.uncompressedBytes, 0),
    compressedBytes: totalBytes(parts),
    dictionaryBytes: dictionary === undefined ? 0 : totalBytes(pages[0]?.parts ?? []),
    nullCount: values.levels === undefined ? values.nullCount : undefined,
    bounds,
  }
}

interface Page {
  /** Header and content. */
  readonly parts: readonly Uint8Array[]
  readonly uncompressedBytes: number
}

/** A page with its header; `kind` writes what the header says of a page of its type. */
function page(
  type: (typeof pageTypes)[keyof typeof pageTypes],
  body: readonly Uint8Array[],
  compress: Compress | undefined,
  kind: (thrift: ThriftWriter) => void,
): Page {
  const rawBytes = totalBytes(body)
  const [only] = body
  const joined = body.length === 1 && only !== undefined ? only : undefined
  const stored = compress === undefined ? body : [compress(joined ?? concatBytes(body))]
  const thrift = new ThriftWriter()
  thrift.i32(1, type)
  thrift.i32(2, rawBytes)
  thrift.i32(3, totalBytes(stored))
  thrift.struct(type === pageTypes.data ? 5 : 7, () => kind(thrift))
  const header = thrift.finish()
  return { parts: [header, ...stored], uncompressedBytes: header.length + rawBytes }
}

function totalBytes(parts: readonly Uint8Array[]): number {
  let total = 0
  for (const part of parts) total += part.length
  return total
}
