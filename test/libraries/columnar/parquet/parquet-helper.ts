// Files of test/fixtures/parquet read by our reader, with values as make.py writes them: integers, decimals (without
// point) and times (in their unit) as text, floats as the bits of a double, bytes as hexadecimal digits.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ColumnarFile } from '../../../../src/libraries/formats/columnar.ts'
import type { BodyFile } from '../../../../src/libraries/columnar/body-file.ts'
import { openParquet } from '../../../../src/libraries/formats/parquet/format.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { type Column, type Field, innerType, isOptional, typeText } from '../../../../src/libraries/model/schema.ts'
import { columnValues } from '../arrow/columns-helper.ts'

export const limits = { columns: 2000, recordBytes: 16 * 1024 * 1024, inflatedRatio: 200 }

export interface ReadColumn {
  readonly name: string
  readonly type: string
  readonly values: readonly (string | boolean | null)[]
}

export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(fileURLToPath(new URL(`../../../fixtures/parquet/${name}`, import.meta.url))))
}

/** A body that lies in memory; what is read of it is a copy, so that places in it are not aligned by chance. */
export function bodyOf(bytes: Uint8Array): BodyFile {
  return { bytes: bytes.length, at: async (start, end) => bytes.slice(start, end), demandCaller: () => {} }
}

export function open(bytes: Uint8Array): Promise<ColumnarFile> {
  return openParquet(bodyOf(bytes), { limits })
}

/** All columns of a file. */
export async function readAll(bytes: Uint8Array): Promise<ReadColumn[]> {
  const file = await open(bytes)
  for (const error of file.refused.values()) throw error
  const values: (string | boolean | null)[][] = file.fields.map(() => [])
  for await (const batch of file.batches(file.fields.map((_, i) => i))) {
    for (const [i, column] of batch.columns.entries()) {
      if (column.rows !== batch.rows) throw new Error(`${column.name} has ${column.rows} rows of ${batch.rows}`)
      values[i]?.push(...columnTexts(column))
    }
  }
  return file.fields.map((field, i) => ({ name: field.name, type: fieldText(field), values: values[i] ?? [] }))
}

/** Why a file is refused. */
export async function refusal(bytes: Uint8Array): Promise<NodeError> {
  try {
    await readAll(bytes)
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new Error('The file was read.')
}

/** The type as make.py writes it: `Int32?`; a Timestamp without zone says so. */
function fieldText({ type }: Field): string {
  const inner = innerType(type)
  const mark = isOptional(type) ? '?' : ''
  if (inner.kind !== 'Timestamp') return `${typeText(inner)}${mark}`
  return `Timestamp(${inner.unit})${inner.timezone === 'UTC' ? '' : ' zoneless'}${mark}`
}

export function columnTexts(column: Column): (string | boolean | null)[] {
  const isFloat = column.type.kind.startsWith('Float')
  return columnValues(column).map((value) => {
    if (value === null || typeof value === 'boolean') return value
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
    return isFloat ? doubleBits(Number(value)) : String(value)
  })
}

function doubleBits(value: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  return view.getBigUint64(0).toString(16).padStart(16, '0')
}
