// Merged files: the rows of many slices in one Parquet file, in offset order, for the job `merge`. Nothing is taken on
// trust: bytes are held against their hashes before they are read, and the file is read back, and the rows of each slice in
// it hashed against what the chain says of them (docs/decisions/packs.md#merged-files).

import { sliceBatch } from '../../../libraries/columnar/arrow/columns.ts'
import { nullColumn } from '../../../libraries/columnar/arrow/null-column.ts'
import { createLogicalHash, type LogicalHash } from '../../../libraries/columnar/arrow/logical-hash.ts'
import { type Hash, sha3Hash } from '../../../libraries/base/ids/identifiers.ts'
import { sha256 } from '../../../libraries/base/ids/native-crypto.ts'
import { must } from '../../../libraries/base/assert.ts'
import { concatBytes, toHex } from '../../../libraries/base/bytes.ts'
import { DecodeError } from '../../../libraries/base/errors.ts'
import { type Field, type RecordBatch, sameType } from '../../../libraries/model/schema.ts'
import { openSlice } from '../../../libraries/columnar/parquet/read-slice.ts'
import { SliceWriter } from '../../../libraries/columnar/parquet/write-slice.ts'
import { compressPage, inflatePage } from './zstd-page.ts'

/** What is to be merged; schemas are named by their place in `schemas`. */
export interface MergeOrder {
  /** What the bytes are, one after the other in offset order: slices, or files that were merged of them. */
  readonly parts: readonly {
    readonly sizeBytes: number
    /** Physical hash of a slice; undefined for a merged file: its rows are checked as all are. */
    readonly hash: Hash | undefined
    readonly schema: number
  }[]
  /** The slices that the file has the rows of. */
  readonly slices: readonly { readonly rows: number; readonly logicalHash: Hash; readonly schema: number }[]
  /** Each holds all columns of those before it; the file has those of the last. */
  readonly schemas: readonly (readonly Field[])[]
}

export interface MergedBytes {
  readonly file: Uint8Array
  /** SHA-256, 64 hex digits. */
  readonly hash: string
}

const what = 'merged file'
/** Merges and checks. Throws DecodeError for bytes, columns or rows that are not what the order says. */
export async function mergeSlices(bytes: Uint8Array, order: MergeOrder): Promise<MergedBytes> {
  const fields = must(order.schemas.at(-1), 'slices have a schema')
  const writer = new SliceWriter({ fields, compress: compressPage })
  const made: Uint8Array[] = []
  let end = 0
  for (const { sizeBytes, hash, schema } of order.parts) {
    const part = bytes.subarray(end, end + sizeBytes)
    end += sizeBytes
    if (hash !== undefined && sha3Hash(part) !== hash) throw new DecodeError(what, `slice ${hash} has other bytes`)
    const content = openSlice(part, { decompress: inflatePage })
    checkColumns(content.fields, order.schemas[schema] ?? [])
    for await (const batch of content.batches) {
      for (const _ of writer.add(aligned(batch, fields)));
      made.push(...writer.take())
    }
  }
  const last = writer.finish()
  for (let step = last.next(); ; step = last.next()) {
    if (step.done !== true) continue
    made.push(...step.value)
    break
  }
  const file = concatBytes(made)
  await checkRows(file, order)
  return { file, hash: toHex(sha256(file)) }
}

/** Throws DecodeError for other columns. */
function checkColumns(found: readonly Field[], expected: readonly Field[]): void {
  const isSame = found.length === expected.length && found.every((field, at) => isField(field, expected[at]))
  if (!isSame) throw new DecodeError(what, 'a slice has other columns than the schema of its block')
}

function isField({ name, type }: Field, other: Field | undefined): boolean {
  return other !== undefined && name === other.name && sameType(type, other.type)
}

/** The columns of `fields`; those that the rows lack are null. */
function aligned({ rows, columns }: RecordBatch, fields: readonly Field[]): RecordBatch {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return { rows, columns: fields.map((field) => byName.get(field.name) ?? nullColumn(field, rows)) }
}

/** The rows of one slice as they come. */
interface Under {
  left: number
  readonly hash: LogicalHash
  readonly logicalHash: Hash
  /** Places of its columns among those of the file, and of those that it lacks. */
  readonly own: readonly number[]
  readonly absent: readonly number[]
}

/** The file, read again, has the rows of each slice, in order, and none beside them. */
async function checkRows(file: Uint8Array, { slices, schemas }: MergeOrder): Promise<void> {
  const { fields, batches } = openSlice(file, { decompress: inflatePage })
  checkColumns(fields, must(schemas.at(-1), 'slices have a schema'))
  const begin = slices.values()
  let under: Under | undefined
  for await (const batch of batches) {
    for (let at = 0; at < batch.rows;) {
      under ??= startOf(begin.next().value, fields, schemas)
      const to = Math.min(batch.rows, at + under.left)
      take(under, batch, at, to)
      under.left -= to - at
      at = to
      if (under.left > 0) continue
      // mutant: a merged file with two rows swapped
      if (under.hash.digest() !== under.logicalHash) throw otherRows(under)
      under = undefined
    }
  }
  if (under !== undefined || begin.next().done !== true) throw new DecodeError(what, 'has fewer rows than its slices')
}

function startOf(
  slice: MergeOrder['slices'][number] | undefined,
  fields: readonly Field[],
  schemas: MergeOrder['schemas'],
): Under {
  if (slice === undefined) throw new DecodeError(what, 'has more rows than its slices')
  const schema = must(schemas[slice.schema], 'a slice has a schema')
  const own = schema.map((field) => fields.findIndex((one) => isField(one, field)))
  if (own.includes(-1)) throw new DecodeError(what, 'lacks a column of a slice, or has it with another type')
  const absent = fields.map((_, place) => place).filter((place) => !own.includes(place))
  return { left: slice.rows, hash: createLogicalHash(schema), logicalHash: slice.logicalHash, own, absent }
}

function take({ hash, own, absent }: Under, { rows, columns }: RecordBatch, from: number, to: number): void {
  const those = (places: readonly number[]): RecordBatch => ({
    rows,
    columns: places.map((place) => must(columns[place], 'a column')),
  })
  hash.update(sliceBatch(those(own), from, to))
  const isNull = sliceBatch(those(absent), from, to).columns.every(({ nullCount }) => nullCount === to - from)
  if (!isNull) throw new DecodeError(what, 'has values in a column that their slice lacks')
}

function otherRows({ logicalHash }: Under): DecodeError {
  return new DecodeError(what, `has other rows than the slice with the logical hash ${logicalHash}`)
}
