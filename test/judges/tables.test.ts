// Tables that Python's csv writes in random dialects are read back the same, whatever the chunks: the oracle is not ours.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readControls } from '../../src/node/gateway/controls.ts'
import type { FormatOptions } from '../../src/libraries/formats/format.ts'
import { defined } from '../../src/libraries/base/collections.ts'
import { infer, readBytes, readerOptions, rowsOf } from '../libraries/formats/reading.ts'

interface Table {
  readonly params: Readonly<Record<string, string>>
  readonly bytes: string
  readonly rows: readonly (readonly unknown[])[]
}

const count = Number(process.env['DIALECTS'] ?? 200)
const seed = process.env['SEED'] ?? '46'

function tables(): Table[] {
  const script = join(import.meta.dirname, 'python/tables.py')
  const text = execFileSync('python3', [script, seed, String(count)], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Table)
}

/** What a request with these parameters reads a body with. */
function optionsOf(params: Table['params']): Pick<FormatOptions, 'dialect' | 'charset' | 'timeZone'> {
  const { dialect, charset, timeZone } = readControls({ 'content-type': 'text/csv' }, params)
  return defined({ dialect, charset, timeZone })
}

const day = (value: unknown): unknown =>
  typeof value === 'number' ? new Date(value * 864e5).toISOString().slice(0, 10) : value

test('tables in random dialects', () => {
  const all = tables()
  expect(all).toHaveLength(count)
  for (const { params, bytes, rows } of all) {
    const body = Buffer.from(bytes, 'base64')
    const options = optionsOf(params)
    const inferred = infer('csv', body, options)
    const kinds = inferred.fields.map(({ type }) => (type.kind === 'Option' ? type.inner.kind : type.kind))
    const about = JSON.stringify(params)
    const some = (column: number): boolean => rows.some((row) => row[column] !== null)
    const expected = ['Int64', 'String', 'Int64', 'Float64', 'Bool', 'Date', 'Timestamp'].filter((_, at) => some(at))
    expect({ about, kinds }).toEqual({ about, kinds: expected })
    const { fields, eventTimeType, valueless } = inferred
    for (const chunkBytes of [undefined, 5]) {
      const read = readBytes('csv', body, readerOptions(fields, { ...options, eventTimeType, valueless }), chunkBytes)
      const got = rowsOf(read).map(([, ...cells]) => cells)
      const columns = fields.map(({ name }) => ['n', 'text', 'int', 'real', 'flag', 'day', 'time'].indexOf(name))
      const wanted = rows.map((row) => columns.map((at) => row[at]))
      const shown = got.map((cells) =>
        cells.map((cell, at) => (columns[at] === 5 ? day(cell) : typeof cell === 'bigint' ? Number(cell) : cell)),
      )
      expect({ about, shown }).toEqual({ about, shown: wanted })
    }
  }
})
