// Checks the rows of a slice against the block that names it: number, logical hash, offsets, system columns. The slice's
// bytes are in memory whole, its rows one row group at a time. For fsck, and for a replica before it stores the slice.

import { createLogicalHash } from '../../columnar/arrow/logical-hash.ts'
import { DecodeError } from '../../base/errors.ts'
import type { DataSlice } from '../../model/events.ts'
import {
  type Column,
  type DataSchema,
  type Field,
  innerType,
  type RecordBatch,
  sameType,
  type Vocabulary,
} from '../../model/schema.ts'
import { type Decompress, openSlice, type SliceContent } from '../../columnar/parquet/read-slice.ts'

export interface ExpectedSlice {
  /** `block 12`, for messages. */
  readonly at: string
  readonly slice: DataSlice
  readonly vocabulary: Vocabulary
  /** Given for slices that Proofstream wrote: their columns are exactly those of the schema. */
  readonly own?: { readonly schema: DataSchema | undefined; readonly blockTimeMs: number }
}

export interface SliceFault {
  /** `HashMismatch`: the rows have another logical hash; `Malformed`: the file cannot be read. */
  readonly kind: 'SliceDisagrees' | 'HashMismatch' | 'Malformed'
  readonly message: string
}

export interface SliceCheck {
  readonly faults: readonly SliceFault[]
  /** Why the rows were not checked, if so: other software's slices may hold types that are not read here. */
  readonly unread?: string
}

type AddFault = (kind: SliceFault['kind'], message: string) => void

/** Operations of a row: append 0, retract 1, correct from 2, correct to 3. */
const lastOperation = 3

/** Everything that is wrong with `bytes`, which have the hash that the block names; `decompress` undoes their pages. */
export async function checkSliceRows(
  bytes: Uint8Array,
  expected: ExpectedSlice,
  decompress: Decompress,
): Promise<SliceCheck> {
  const { at } = expected
  const faults: SliceFault[] = []
  const add: AddFault = (kind, message) => void faults.push({ kind, message: `${at}: ${message}` })
  try {
    const content = openSlice(bytes, { decompress })
    for (const message of layoutFaults(content.fields, expected)) add('SliceDisagrees', message)
    await checkRows(content, expected, add)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (expected.own === undefined) return { faults, unread: `${at}: its rows were not checked: ${error.message}` }
    add('Malformed', `its slice cannot be read: ${error.message}`)
  }
  return { faults }
}

async function checkRows(content: SliceContent, expected: ExpectedSlice, add: AddFault): Promise<void> {
  const { slice } = expected
  const start = BigInt(slice.offsetInterval.start)
  const faults = new Set<string>()
  const hash = createLogicalHash(content.fields)
  let rows = 0n
  for await (const batch of content.batches) {
    hash.update(batch)
    for (const fault of valueFaults(batch, start + rows, expected)) faults.add(fault)
    rows += BigInt(batch.rows)
  }
  for (const fault of faults) add('SliceDisagrees', fault)
  const rowsSaid = BigInt(slice.offsetInterval.end) - start + 1n
  if (rows !== rowsSaid) add('SliceDisagrees', `its slice has ${rows} rows, not ${rowsSaid}`)
  const logical = hash.digest()
  if (logical !== slice.logicalHash) add('HashMismatch', `its rows hash to ${logical}, not to ${slice.logicalHash}`)
}

/** Which columns the file has. */
function* layoutFaults(fields: readonly Field[], { vocabulary, own }: ExpectedSlice): Generator<string> {
  const { offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn } = vocabulary
  for (const name of [offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn]) {
    if (!fields.some((field) => field.name === name)) yield `its slice has no column ${name}`
  }
  if (own === undefined) return
  const declared = own.schema?.fields ?? []
  if (fields.length !== declared.length) yield `its slice has ${fields.length} columns, the schema ${declared.length}`
  for (const [i, field] of declared.entries()) {
    const there = fields[i]
    if (there === undefined || there.name !== field.name || !sameType(there.type, field.type)) {
      yield `column ${i} of its slice is not ${field.name} as the schema declares it`
    }
  }
}

/** What the system columns of rows that begin at offset `first` hold. */
function* valueFaults(batch: RecordBatch, first: bigint, { vocabulary, own }: ExpectedSlice): Generator<string> {
  for (const column of batch.columns) {
    switch (column.name) {
      case vocabulary.offsetColumn:
        if (!isSequence(column, first)) yield 'the offsets in its slice are not those of its interval'
        break
      case vocabulary.operationTypeColumn:
        if (!allOperations(column)) yield 'its slice holds an operation that does not exist'
        break
      case vocabulary.systemTimeColumn:
        if (own !== undefined && !isConstant(column, BigInt(own.blockTimeMs))) {
          yield `${column.name} in its slice is not the time of the block`
        }
        break
      default:
    }
  }
}

/** True when the column counts up from `start` without nulls. */
function isSequence(column: Column, start: bigint): boolean {
  const { kind } = innerType(column.type)
  if (kind !== 'Int64' && kind !== 'UInt64') return false
  return everyLong(column, start, 1)
}

function isConstant(column: Column, value: bigint): boolean {
  return column.type.kind === 'Timestamp' && everyLong(column, value, 0)
}

/** True when the column has no nulls and row `i` is `first + i * step`. In halves: a BigInt for each row costs more than its hash. */
function everyLong(column: Column, first: bigint, step: 0 | 1): boolean {
  let low = Number(BigInt.asIntN(32, first))
  let high = Number(BigInt.asIntN(32, first >> 32n))
  return everyValue(column, (values, row) => {
    if (values.getInt32(8 * row, true) !== low || values.getInt32(8 * row + 4, true) !== high) return false
    low = (low + step) | 0
    if (step === 1 && low === 0) high = (high + 1) | 0
    return true
  })
}

function allOperations(column: Column): boolean {
  const { kind } = innerType(column.type)
  if (kind === 'UInt8' || kind === 'Int8')
    return everyValue(column, (values, row) => values.getUint8(row) <= lastOperation)
  if (kind !== 'Int32' && kind !== 'UInt32') return false
  return everyValue(column, (values, row) => values.getUint32(4 * row, true) <= lastOperation)
}

/** True when the column has no nulls and `holds` is true of each row. */
function everyValue(column: Column, holds: (values: DataView, row: number) => boolean): boolean {
  if (column.nullCount > 0) return false
  const values = new DataView(column.values.buffer, column.values.byteOffset, column.values.byteLength)
  for (let row = 0; row < column.rows; row++) if (!holds(values, row)) return false
  return true
}
