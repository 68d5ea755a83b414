// What is offered for tables that are refused or taken as text, and that each offer reads what it was made of.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { csv } from '../../../../src/libraries/formats/csv/format.ts'
import { defined } from '../../../../src/libraries/base/collections.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { defaultVocabulary } from '../../../../src/libraries/model/schema.ts'
import { datePatternsOf } from '../../../../src/libraries/formats/dialect/date-patterns.ts'
import { type Offer, offersOf } from '../../../../src/libraries/formats/dialect/offers.ts'
import type { Field } from '../../../../src/libraries/model/schema.ts'
import { readControls } from '../../../../src/node/gateway/controls.ts'
import { infer, optionalField, readBytes, readerOptions } from '../reading.ts'

type Params = Readonly<Record<string, string>>
type Read = Readonly<{ rows: number; kinds: string[] }>

const folder = join(import.meta.dirname, '../../../fixtures/as-people-have-them')
const limits = { recordBytes: 1024 * 1024, columns: 2000 }
const headBytes = 256 * 1024

interface Case {
  readonly file: string
  readonly format: 'csv' | 'tsv'
  readonly query: string | readonly string[]
}
const cases = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as readonly Case[]

function offers(body: string | Uint8Array, given: Params = {}, more: Partial<Parameters<typeof offersOf>[1]> = {}) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return offersOf(bytes, { vocabulary: defaultVocabulary, format: 'csv', given, isWhole: true, limits, ...more })
}
const queries = (...given: Parameters<typeof offers>): string[] => offers(...given).map(({ query }) => query)

/** A body as a request with these parameters reads it; undefined where it is refused. */
function read(body: Uint8Array, params: Params, format = 'csv'): Read | undefined {
  try {
    const type = format === 'csv' ? 'text/csv' : 'text/tab-separated-values'
    const { dialect, charset, timeZone, header: csvHeader } = readControls({ 'content-type': type }, params)
    const options = defined({ dialect, charset, timeZone, csvHeader })
    const { fields, eventTimeType, valueless, ...inferred } = infer(format, Buffer.from(body), options)
    const settled = { ...options, ...defined({ csvHeader: inferred.csvHeader }), eventTimeType, valueless }
    const { records: rows } = readBytes(format, body, readerOptions(fields, settled))
    return { rows, kinds: fields.map(({ type: of }) => (of.kind === 'Option' ? of.inner.kind : of.kind)) }
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}

const typed = (found: Read | undefined): number => found?.kinds.filter((kind) => kind !== 'String').length ?? -1
const paramsOf = (query: string): Params => Object.fromEntries(new URLSearchParams(query))

describe('files as people have them', () => {
  test.each(cases)('$file', ({ file, format, query }) => {
    const bytes = readFileSync(join(folder, file))
    const found = offers(bytes, {}, { format })
    expect(found.map((one) => one.query)).toEqual([query].flat())
    for (const { query: followed, parameters } of found) {
      expect(paramsOf(followed)).toEqual(parameters)
      const before = read(bytes, {}, format)
      const after = read(bytes, paramsOf(followed), format)
      expect(after?.rows).toBeGreaterThan(1)
      expect(before === undefined || typed(after) > typed(before)).toBe(true)
    }
  })

  test('show the first record as it is read, and what a charset changes', () => {
    const first = (file: string): Offer | undefined => offers(readFileSync(join(folder, file)))[0]
    const german = { Datum: '2025-01-02', Artikel: 'Schrauben M8', Menge: 1200, Preis: 0.12, Umsatz: 144 }
    expect(first('excel-german.csv')).toMatchObject({ first: german, changed: 'Müllbeutel' })
    const dwd = { STATIONS_ID: 1048, MESS_DATUM: '2024-01-01', FX: 13.2, eor: 'eor' }
    expect(first('dwd-daily-climate.txt')?.first).toMatchObject(dwd)
    expect(first('dwd-daily-climate.txt')?.changed).toBeUndefined()
    expect(first('pandas-with-na.csv')?.first).toMatchObject({ time: '2024-01-01T00:00:00Z', country: 'NA', flag: 1 })
    const twice = ['2024-06-01T00:00:00Z', 1.5, 'ok', 7.25, 'ok'].map((cell, at) => [`column_${at + 1}`, cell])
    expect(first('title-and-twice.csv')?.first).toEqual(Object.fromEntries(twice))
  })

  test('have nothing to offer where they are read well', () => {
    expect(offers('a,b,c\n1,x,2024-01-01\n2,y,2024-01-02\n')).toEqual([])
    expect(offers('a;b\n1;x\n2;y\n', { delimiter: ';' })).toEqual([])
    expect(offers('name,note\nAnna,"a; b"\nBen,"c; d"\n')).toEqual([])
    for (const body of ['', '\n', 'a', 'a\n', 'a;b', 'a;b\n', '\ufeff', 'sep=;\n']) expect(offers(body)).toEqual([])
  })
})

describe('numbers', () => {
  const column = (...cells: string[]): string[] => queries(`id;v\n${cells.map((cell) => `x;${cell}\n`).join('')}`)

  test('have a group only where some number proves it, and a decimal comma too', () => {
    expect(column('1.234,5', '7')).toEqual(['delimiter=%3B&decimal=%2C&group=.'])
    expect(column('1.234.567', '1.000')).toEqual(['delimiter=%3B&decimal=%2C&group=.'])
    expect(column('1,234,567', '1.5')).toEqual(['delimiter=%3B&group=%2C'])
    expect(column('12 345,6', '1,5')).toEqual(['delimiter=%3B&decimal=%2C&group=%20'])
    expect(column("1'234.50", '3')).toEqual(['delimiter=%3B&group=%27'])
    // Thousands, or thousandths.
    expect(column('1,234', '2,345')).toEqual(['delimiter=%3B'])
    expect(column('1.234', '2.345')).toEqual(['delimiter=%3B'])
    expect(column('1,234', '0,345')).toEqual(['delimiter=%3B&decimal=%2C'])
    expect(column('1,234', '12,34')).toEqual(['delimiter=%3B&decimal=%2C'])
    // Groups of other lengths, and codes.
    expect(column('12.34,5', '1,5')).toEqual(['delimiter=%3B'])
    expect(column('01,5', '1,5')).toEqual(['delimiter=%3B'])
  })

  test('have words for no value where all others are values', () => {
    expect(queries('a,b\n1,x\nNA,y\n3,n/a\n')).toEqual(['nulls=NA'])
    expect(queries('a,b\n1,x\nNA,y\n-,z\n3,NA\n')).toEqual(['nulls.a=NA%2C-'])
    expect(queries('a\n1\nNA\nunknown\n')).toEqual([])
    expect(queries('phone,n\n+49 123 456 789,1\n+49 123 456 780,2\n')).toEqual([])
    // A quoted cell is never null.
    expect(queries('a,b\n1,x\n"NA",y\n3,z\n')).toEqual([])
  })
})

describe('days, times and booleans', () => {
  test('are told apart by a value above 12, else both are offered', () => {
    expect(queries('d\n01/02/2024\n12/12/2024\n')).toEqual(['dateFormat=dd%2FMM%2Fyyyy', 'dateFormat=MM%2Fdd%2Fyyyy'])
    expect(queries('d\n01/02/2024\n13/12/2024\n')).toEqual(['dateFormat=dd%2FMM%2Fyyyy'])
    expect(queries('d\n01/02/2024\n12/13/2024\n')).toEqual(['dateFormat=MM%2Fdd%2Fyyyy'])
    // One column tells it of another.
    expect(queries('d,e\n01/02/2024,13/01/2024\n')).toEqual(['dateFormat=dd%2FMM%2Fyyyy'])
    expect(queries('d\n31.02.2024\n')).toEqual([])
  })

  test('are of single columns where others have times of RFC 3339', () => {
    expect(queries('d,t\n31.12.2024,2024-12-31T00:00:00Z\n')).toEqual(['dateFormat.d=dd.MM.yyyy'])
    expect(queries('Datum,n\n20241231,1\n20250101,2\n')).toEqual([])
    expect(queries('Datum;n\n20241231;1\n20250101;2\n')).toEqual(['delimiter=%3B&dateFormat.Datum=yyyyMMdd'])
  })

  test('leave out columns of RFC 3339 where a zone is said', () => {
    const body = 'd,t\n31.12.2024 10:00,2024-12-31 10:00:00\n'
    expect(queries(body, { timeZone: 'UTC' })).toEqual(['dateFormat.d=dd.MM.yyyy%20HH%3Amm'])
  })

  test('never have a zone: hours need one that was said', () => {
    const body = 'd,n\n31.12.2024 14:05,1\n01.01.2025 09:30,2\n'
    expect(offers(body)).toEqual([])
    const [offer, ...others] = offers(body, { timeZone: 'Europe/Berlin' })
    expect(offer).toMatchObject({
      query: 'dateFormat=dd.MM.yyyy%20HH%3Amm',
      first: { d: '2024-12-31T13:05:00Z', n: 1 },
    })
    expect(others).toEqual([])
  })

  test('have patterns in order of likelihood', () => {
    expect(datePatternsOf(['31.12.2025', '01.02.2024'])).toEqual(['dd.MM.yyyy'])
    expect(datePatternsOf(['31.12.2025', '1.2.2024'])).toEqual(['d.M.yyyy'])
    expect(datePatternsOf(['01/02/2025'])).toEqual(['dd/MM/yyyy', 'MM/dd/yyyy'])
    expect(datePatternsOf(['1/2/2025 9:05 PM'])).toEqual(['d/M/yyyy h:mm a', 'M/d/yyyy h:mm a'])
    expect(datePatternsOf(['31-Dec-2025', '01-Jan-2026'])).toEqual(['dd-MMM-yyyy'])
    for (const none of [[], [''], ['x'], ['31.13.2025'], ['31.12.2025', 'x'], ['2025-12-31'], ['1'.repeat(1000)]])
      expect(datePatternsOf(none)).toEqual([])
  })

  test('have words for true and false where both come', () => {
    expect(queries('a,b\n1,ja\n2,Nein\n')).toEqual(['trueFalse=ja%2Cnein'])
    expect(queries('a,b\n1,no\n2,no\n')).toEqual([])
    expect(queries('a,b,c\n1,yes,true\n2,no,false\n')).toEqual([])
  })
})

describe('where the table lies', () => {
  test('a header that names a column twice is left out, with what stands before it', () => {
    expect(queries('a,A,b\n1,2,x\n')).toEqual(['header=absent&skipRows=1'])
    expect(queries('Title of it\n\na;a;b\n1;2;x\n3;4;y\n')).toEqual(['delimiter=%3B&header=absent&skipRows=3'])
    expect(queries('a,a\n1,2\n', { header: 'present' })).toEqual(['header=absent&skipRows=1'])
  })

  test('a first row of values is no header; years may be one', () => {
    expect(queries('1,2.5,x\n2,3.5,y\n')).toEqual(['header=absent'])
    expect(queries('01.02.2024;1,5\n14.02.2024;2,5\n')).toEqual([
      'delimiter=%3B&header=absent&decimal=%2C&dateFormat=dd.MM.yyyy',
    ])
    expect(queries('land,2020,2021\nA,5,6\nB,7,8\n')).toEqual(['header=absent', 'header=present'])
    expect(queries('land,1.5.2020,2021\nA,5,6\nB,7,8\n')).toEqual([])
  })

  test('what may be read in two ways is offered in both, or not at all', () => {
    const prices = 'Artikel;Preis;Umsatz\nA;12,50;1.250\nB;9,90;12.400\n'
    expect(queries(prices)).toEqual(['delimiter=%3B', 'delimiter=%3B&decimal=%2C'])
    expect(queries(prices, { delimiter: ';' })).toEqual(['decimal=%2C'])
    expect(queries(prices, { delimiter: ';', decimal: ',' })).toEqual([])
    expect(queries('a;b\n1,5%;x\n2,5%;y\n')).toEqual(['delimiter=%3B'])
    expect(queries('host-a;399499\n10.0.0.1;586104\nx;7\n')).toEqual([])
    expect(queries('v,w\nmissing,unknown\n1,2\n3,4\n')).toEqual(['nulls=missing'])
    expect(queries(Buffer.from('name,v\nK\x94ln,1\n', 'latin1'))).toEqual([])
    expect(queries('a;b;d\n1,5;x;31.12.2025\n2,5;y;30.12.2025\n', { decimal: ',' })).toEqual([
      'delimiter=%3B&dateFormat=dd.MM.yyyy',
    ])
  })

  test('titles, units, comments and notes are left out; a row that is cut off is not', () => {
    expect(queries('Report\nof May\na;b\n1;2\n3;4\n')).toEqual(['delimiter=%3B&skipRows=2'])
    expect(queries('a;b\n°C;mm\n1;2\n3;4\n')).toEqual(['delimiter=%3B&skipRows=2-2'])
    expect(queries('n;a\nRome;error\nBern;2\nKyiv;4\n')).toEqual(['delimiter=%3B'])
    expect(queries('# by us\na,b\n1,2\n# checked\n3,4\n')).toEqual(['comment=%23'])
    expect(queries('a;b\n1;2\n3;4\n\nSource: us\n')).toEqual(['delimiter=%3B&skipRows=5-5'])
    expect(queries('a;b\n1;2\n3;4\n___\nSource: us\n', {}, { isWhole: false })).toEqual([])
    expect(queries('a;b\nx;2\ny;4\nz\n')).toEqual([])
    // However long the table is.
    expect(queries(`Report\na;b\n${'1;2\n'.repeat(9000)}___\nSource: us\n`)).toEqual([
      'delimiter=%3B&skipRows=1-1%2C9003-9004',
    ])
    expect(queries(`a;b\n${'1;2\n'.repeat(9000)}Source: us\n${'1;2\n'.repeat(9)}`)).toEqual([])
    expect(queries('id, name\n1, "x, y"\n2, "z"\n')).toEqual(['trim=true'])
  })

  test('a sign of the file or of the request stays', () => {
    expect(queries('sep=;\na;b\n1;2,5\n')).toEqual(['decimal=%2C'])
    expect(queries('a;b\n1;2,5\n', { delimiter: ';' })).toEqual(['decimal=%2C'])
    expect(queries('a;b\n1;2,5\n2;3\n', { delimiter: '|' })).toEqual(['delimiter=%3B&decimal=%2C'])
    expect(queries('sep=;\na;b\n1;2,5\n', { delimiter: '|' })).toEqual([])
    expect(queries('a\tb\n1\t2,5\n', {}, { format: 'tsv' })).toEqual(['decimal=%2C'])
    expect(queries('a,b\n1,2.5\n2,3.5\n', {}, { format: 'tsv' })).toEqual(['delimiter=%2C'])
  })

  test('what may go on after the head is not read', () => {
    expect(queries('a;b\n1;2\n3;4\n5', {}, { isWhole: false })).toEqual(['delimiter=%3B'])
    expect(queries('a;b\n1;2\n3;4\n5;"x', {}, { isWhole: false })).toEqual(['delimiter=%3B'])
    expect(queries('a;b\n1;2\n3;4\n5')).toEqual([])
  })
})

describe('character sets', () => {
  const encoded = (text: string, charset: string): Buffer =>
    execFileSync('python3', ['-c', `import sys; sys.stdout.buffer.write(sys.argv[1].encode('${charset}'))`, text])

  test.each([
    ['windows-1252', 'Müller zahlt 5 € für „Café“'],
    ['iso-8859-15', 'Müller zahlt 5 € an Café'],
    ['windows-1250', 'Święto w Łodzi i źrebię'],
    ['windows-1251', 'Москва и Киев'],
    ['koi8-r', 'Москва и Киев'],
    ['utf-16le', 'plain'],
    ['utf-16be', 'plain'],
  ])('%s', (charset, cell) => {
    const python = charset.startsWith('utf-16') ? charset.replace('utf-16', 'utf-16-') : charset
    const bytes = encoded(`a,b\n1,${cell}\n2,x\n`, python)
    expect(offers(bytes)).toMatchObject([{ query: `charset=${charset}`, first: { a: 1, b: cell } }])
    expect(offers(bytes)[0]?.changed).toBe(charset.startsWith('utf-16') ? 'a' : cell)
  })

  test('none is offered of bytes that are no text, nor twice what a mark says', () => {
    expect(offers(Buffer.from('a,b\n1,x\x98x\x81x\n', 'latin1'))).toEqual([])
    expect(offers(Buffer.from('a,b\n1,Zoë\n'), { charset: 'windows-1252' })).toMatchObject([{ query: 'charset=utf-8' }])
  })
})

describe('a dataset that is there', () => {
  const columns: readonly Field[] = [
    optionalField('Tag', { kind: 'Date' }),
    optionalField('Wert', { kind: 'Float64' }),
    optionalField('Ort', { kind: 'String' }),
  ]

  test('gets offers under which its columns take the records', () => {
    expect(queries('Tag;Wert;Ort\n31.12.2024;1,5;x\n', {}, { columns })).toEqual([
      'delimiter=%3B&decimal=%2C&dateFormat=dd.MM.yyyy',
    ])
    expect(queries('Tag;Wert;Ort\n31.12.2024;viel;x\n', {}, { columns })).toEqual([])
    expect(queries('Tag,Wert,Ort\n2024-12-31,1.5,x\n', {}, { columns })).toEqual([])
    // Columns of text stay what they are.
    expect(queries('Tag;Wert;Ort\n2024-12-31;1.5;1,5\n2024-12-30;NA;NA\n', {}, { columns })).toEqual([
      'delimiter=%3B&nulls.Wert=NA',
    ])
    expect(offers('31.12.2024;1,5;x\n30.12.2024;2;y\n', { header: 'absent' }, { columns })).toMatchObject([
      { query: 'delimiter=%3B&decimal=%2C&dateFormat=dd.MM.yyyy', first: { Tag: '2024-12-31', Wert: 1.5, Ort: 'x' } },
    ])
    expect(queries('Tag;Neu\n2024-12-31;1,5\n', {}, { columns })).toEqual([])
    expect(queries('Tag;Neu\n2024-12-31;1,5\n', { unknownFields: 'add' }, { columns })).toHaveLength(1)
  })
})

describe('work', () => {
  afterEach(() => void vi.restoreAllMocks())
  const filled = (head: string, line: string): Buffer => Buffer.from(head + line.repeat(headBytes / line.length))
  const wide = (cell: string): string => `${Array.from({ length: 2000 }, (_, at) => cell + at).join(';')}\n`

  test.each([
    ['one line', filled('', 'x')],
    ['digits', filled('', '1')],
    ['line ends', filled('', '\n')],
    ['quotes', filled('', '"')],
    ['a quote that stays open', filled('a;b\n"', '1;2\n')],
    ['NULs', filled('', '\0')],
    ['NULs in cells', filled('a;b\n', '1;\0\n')],
    ['delimiters', filled('', ',;\t|')],
    ['delimiters in lines', filled('', '1,;\t|\n')],
    ['comments', filled('', '#\n')],
    ['2,000 columns', filled(wide('c'), wide('1,'))],
    ['2,000 columns of days', filled(wide('c'), wide('1.1.2').replaceAll(/\d+;/g, '024;'))],
    ['days of either order', filled('a,b,c\n', '01/02/2024,1,NA\n')],
    ['bytes of no set', Buffer.alloc(headBytes, 0x81)],
    ['letters of many sets', filled('a,b\n', '\u00e9,b\n').subarray(0, headBytes)],
    ['long numbers', filled('a;b\n', `${'1.234'.repeat(100)};2\n`)],
  ])('is bounded: %s', (_, body) => {
    const readers = vi.spyOn(csv, 'createReader')
    const inferrers = vi.spyOn(csv, 'createInferrer')
    offers(body, {}, { isWhole: false })
    // Once as it was sent, and at most two offers.
    expect(readers.mock.calls.length).toBeLessThanOrEqual(3)
    expect(inferrers.mock.calls.length).toBeLessThanOrEqual(3)
  })

  test('ends with 256 KiB', () => {
    const body = Buffer.concat([filled('a;b\n', '1;2\n').subarray(0, headBytes), Buffer.from('z;y;x\n'.repeat(9))])
    expect(queries(body)).toEqual(['delimiter=%3B'])
    expect(queries(body.subarray(4096))).toEqual([])
  })

  test('never throws', () => {
    const sign = fc.constantFrom(
      ',',
      ';',
      '\t',
      '|',
      '"',
      '\n',
      '\r\n',
      '#',
      '1',
      '1,5',
      '1.234,5',
      'x',
      'é',
      'NA',
      '01/02/2024',
      ' ',
      '=',
    )
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(sign, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
    )
    const given = fc.dictionary(
      fc.constantFrom('delimiter', 'quote', 'comment', 'charset', 'skipRows', 'header', 'nulls', 'timeZone', 'group'),
      sign,
    )
    fc.assert(
      fc.property(body, given, fc.boolean(), (bytes, params, isWhole) => {
        for (const { query } of offers(bytes, params, { isWhole })) expect(query).not.toBe('')
      }),
    )
  })
})

test('tables of Python in random dialects are read under what is offered', () => {
  const script = join(import.meta.dirname, '../../../judges/python/tables.py')
  const text = execFileSync('python3', [script, process.env['SEED'] ?? '46', '80'], { encoding: 'utf8' })
  let offered = 0
  for (const line of text.trim().split('\n')) {
    const { params, bytes } = JSON.parse(line) as { readonly params: Params; readonly bytes: string }
    const body = Buffer.from(bytes, 'base64')
    const { timeZone, pivotYear, quote, charset } = params
    for (const given of [{}, defined({ timeZone, pivotYear, quote, charset })]) {
      const before = read(body, given)
      for (const { parameters, query } of offers(body, given)) {
        offered += 1
        const after = read(body, { ...given, ...paramsOf(query) })
        const isBetter =
          after !== undefined && (before === undefined || typed(after) > typed(before) || before.kinds.length === 1)
        expect({ params, parameters, isBetter }).toEqual({ params, parameters, isBetter: true })
      }
    }
  }
  expect(offered).toBeGreaterThan(60)
})
