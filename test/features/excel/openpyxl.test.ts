// Random tables that openpyxl writes, read back: the same values, each of its type.

import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBook } from './reading.ts'

const hasOpenpyxl = spawnSync('python3', ['-c', 'import openpyxl']).status === 0

const script = `
import datetime, json, sys, openpyxl
read = {'day': datetime.date.fromisoformat, 'time': datetime.datetime.fromisoformat, 'clock': datetime.time.fromisoformat}
for at, columns in enumerate(json.load(sys.stdin)):
    book = openpyxl.Workbook(write_only=at % 2 == 0)
    sheet = book.create_sheet('T') if at % 2 == 0 else book.active
    sheet.append(['row', *(f'{c["kind"]} {i}' for i, c in enumerate(columns))])
    for n, row in enumerate(zip(*[c['values'] for c in columns])):
        sheet.append([n] + [v if v is None else read.get(c['kind'], lambda x: x)(v) for c, v in zip(columns, row)])
    book.save(f'{sys.argv[1]}/{at}.xlsx')
`

const rows = 12
const dates = fc.date({ min: new Date('1901-01-01T00:00Z'), max: new Date('9999-12-31T00:00Z'), noInvalidDate: true })
// Formulas and errors are no texts, and XML has no other control characters.
const texts = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => !/^[=#]|[\p{Cc}\p{Cs}\ufffe\uffff]|_x/u.test(text))
const values = {
  int: fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 }),
  double: fc.double({ noNaN: true, min: -1e300, max: 1e300 }).map((value) => Number(value.toPrecision(15))),
  bool: fc.boolean(),
  text: texts,
  day: dates.map((date) => date.toISOString().slice(0, 10)),
  time: dates.map((date) => date.toISOString().slice(0, 23)),
  clock: dates.map((date) => date.toISOString().slice(11, 19)),
} satisfies Record<string, fc.Arbitrary<unknown>>
type Kind = keyof typeof values

interface Column {
  readonly kind: Kind
  readonly values: readonly unknown[]
}

const column: fc.Arbitrary<Column> = fc.constantFrom(...(Object.keys(values) as Kind[])).chain((kind) =>
  // of the table
  fc
    .array(fc.option<unknown>(values[kind], { freq: 5 }), { minLength: rows, maxLength: rows })
    .map((cells) => ({ kind, values: [cells[0] ?? 'first', ...cells.slice(1)] }))
    .filter(({ values: [first] }) => first !== 'first'),
)

/** A value that was read, as the table has it. */
function asWritten(kind: Kind, value: unknown): unknown {
  if (value === null || kind === 'bool' || kind === 'text' || kind === 'clock') return value
  if (kind === 'day') return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10)
  return kind === 'time' ? new Date(Number((value as bigint) / 1000n)).toISOString().slice(0, 23) : Number(value)
}

test.runIf(hasOpenpyxl)('tables come back as they were written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-excel-'))
  const tables = fc.array(fc.array(column, { minLength: 1, maxLength: 8 }), { minLength: 20, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fc.noShrink(tables), async (written) => {
      const made = spawnSync('python3', ['-c', script, folder], { input: JSON.stringify(written), encoding: 'utf8' })
      expect([made.status, made.stderr]).toEqual([0, ''])
      for (const [at, columns] of written.entries()) {
        const read = await readBook(await readFile(join(folder, `${at}.xlsx`)), { timeZone: 'UTC' })
        const found = columns.map(({ kind }, place) => read.rows.map((row) => asWritten(kind, row[place + 1])))
        expect(found).toEqual(columns.map((one) => one.values))
      }
    }),
    { numRuns: 2 },
  )
  await rm(folder, { recursive: true })
})
