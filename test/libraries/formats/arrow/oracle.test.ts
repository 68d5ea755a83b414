// Arrow streams and files of pyarrow, polars, DuckDB and nanoarrow, each with what its writer says is in it
// (test/fixtures/arrow/make.py): every type × null pattern × compression × stream or file × dictionary.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { columnLayout } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { arrow, openArrow } from '../../../../src/libraries/formats/arrow/format.ts'
import type { ColumnarFile } from '../../../../src/libraries/formats/columnar.ts'
import { type Column, type DataType, innerType } from '../../../../src/libraries/model/schema.ts'
import { defaultLimits } from '../../../helpers/default-limits.ts'
import { decodeArrowBatches } from '../../../helpers/slices.ts'
import { bodyFile, collected, failureOf, readFileBody, valueAt } from '../reading.ts'

const folder = join(import.meta.dirname, '../../../fixtures/arrow')

interface ColumnSays {
  readonly name: string
  readonly type: string
  readonly values: readonly unknown[]
}

function typeName(type: DataType): string {
  switch (type.kind) {
    case 'Decimal':
      return `Decimal(${type.precision},${type.scale})`
    case 'Time':
      return `Time(${type.unit})`
    case 'Timestamp':
      return `Timestamp(${type.unit}${type.timezone === undefined ? '' : `, ${type.timezone}`})`
    default:
      return type.kind
  }
}

/** A value as the files of the oracle have it. */
function said(column: Column, row: number): unknown {
  if (column.type.kind === 'Null') return null
  const value = valueAt(column, row)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number') return value
  if (!column.type.kind.startsWith('Float')) return String(value)
  const bits = Buffer.alloc(8)
  bits.writeDoubleBE(value)
  return bits.toString('hex')
}

async function read(bytes: Uint8Array): Promise<ColumnSays[]> {
  const file = await openArrow(bodyFile(bytes), defaultLimits())
  return readColumns(file, [...file.fields.keys()])
}

async function readColumns(file: ColumnarFile, places: readonly number[]): Promise<ColumnSays[]> {
  const batches = await collected(file.batches(places))
  expect(batches.reduce((sum, { rows }) => sum + rows, 0)).toBe(file.rows)
  return places.map((place, i) => {
    const { name, type } = file.fields[place]!
    const columns = batches.map(({ columns }) => columns[i]!)
    const values = columns.flatMap((column) => Array.from({ length: column.rows }, (_, row) => said(column, row)))
    for (const column of columns) expect(column.validity === undefined).toBe(column.nullCount === 0)
    return { name, type: typeName(innerType(type)), values }
  })
}

/** `grown.json` is what is in `grown.arrow` and `grown.arrows`, `types.json` what is in `types-zstd.arrow`. */
const samples = readdirSync(folder).filter((name) => /\.arrows?$/.test(name) && !/^(?:refused|hostile|geo)-/.test(name))
const aliases: Readonly<Record<string, string>> = { replaced: 'grown' }

describe('Arrow of other writers', () => {
  test('has fixtures', () => expect(samples.length).toBeGreaterThan(15))

  test.each(samples)('is read as its writer says: %s', async (name) => {
    const base = name.replace(/(?:-\w+)?\.\w+$/, '')
    const expected = JSON.parse(readFileSync(join(folder, `${aliases[base] ?? base}.json`), 'utf8'))
    expect(await read(readFileSync(join(folder, name)))).toEqual(expected)
  })

  test.each(samples)('is, as columns, what the reader of the log takes: %s', async (name) => {
    const file = await openArrow(bodyFile(readFileSync(join(folder, name))), defaultLimits())
    const places = [...file.fields.keys()].filter((i) => columnLayout(innerType(file.fields[i]!.type)) !== undefined)
    const batches = await collected(file.batches(places))
    const fields = places.map((i) => file.fields[i]!)
    const back = decodeArrowBatches(encodeArrowStream(fields, batches)).batches
    expect(back.map(({ rows }) => rows)).toEqual(batches.map(({ rows }) => rows))
  })

  test.each(['duration', 'interval', 'union', 'decimal256'])('is refused by its column: %s', async (kind) => {
    const bytes = readFileSync(join(folder, `refused-${kind}.arrows`))
    const file = await openArrow(bodyFile(bytes), defaultLimits())
    expect([...file.refused]).toMatchObject([
      [1, { kind: 'UnsupportedEncoding', message: expect.stringContaining(`column "${kind}"`) }],
    ])
    expect(await failureOf(collected(file.batches([1])))).toMatchObject({ kind: 'UnsupportedEncoding' })
    const error = await failureOf(readFileBody(arrow, bytes))
    expect(error.message).toContain(`column "${kind}"`)
  })

  test.each(['refused-many.arrows', 'refused-many-v4.arrows', 'refused-many-file.arrow'])(
    'is read around columns that are refused, of every layout: %s',
    async (name) => {
      const file = await openArrow(bodyFile(readFileSync(join(folder, name))), defaultLimits())
      const places = ['first', 'middle', 'last'].map((column) =>
        file.fields.findIndex((field) => field.name === column),
      )
      expect([...file.fields.keys()].filter((place) => !file.refused.has(place))).toEqual(places)
      const said = JSON.parse(readFileSync(join(folder, 'refused-many.json'), 'utf8')) as ColumnSays[]
      const columns = await readColumns(file, places)
      const rows = columns[0]?.values.length
      expect(columns).toEqual(said.map((column) => ({ ...column, values: column.values.slice(0, rows) })))
      expect(rows).toBe(name.endsWith('.arrow') ? 5 : 17)
    },
  )

  test('columns that nobody asks for are not looked at', async () => {
    for (const name of ['types-zstd.arrow', 'types-lz4.arrows', 'grown.arrows']) {
      const file = await openArrow(bodyFile(readFileSync(join(folder, name))), defaultLimits())
      const all = await collected(file.batches([...file.fields.keys()]))
      for (const i of file.fields.keys()) {
        const alone = await collected(file.batches([i]))
        const values = (column: Column): unknown[] => Array.from({ length: column.rows }, (_, row) => said(column, row))
        expect(alone.flatMap(({ columns }) => values(columns[0]!))).toEqual(
          all.flatMap(({ columns }) => values(columns[i]!)),
        )
      }
      const none = await collected(file.batches([]))
      expect(none.map(({ rows, columns }) => [rows, columns])).toEqual(all.map(({ rows }) => [rows, []]))
    }
  })
})
