// What parameters of a dialect take and refuse, and what cells are under them.

import { describe, expect, test } from 'vitest'
import type { NodeError } from '../../../../src/libraries/base/errors.ts'
import { DateReader, datePattern } from '../../../../src/libraries/formats/dialect/date-pattern.ts'
import { NumberSpeller } from '../../../../src/libraries/formats/dialect/numbers.ts'
import { defined } from '../../../../src/libraries/base/collections.ts'
import { parseJsonText } from '../../../../src/libraries/base/json/parser.ts'
import { cellSigns, commas } from '../../../../src/libraries/formats/csv/cells.ts'
import { cellEnds } from '../../../../src/libraries/formats/csv/ends.ts'
import { defaultVocabulary } from '../../../../src/libraries/model/schema.ts'
import type { IngestRules } from '../../../../src/libraries/odf/chain/records.ts'
import { ingestOf, shownRules } from '../../../../src/node/gateway/ingest-rules.ts'
import { readControls } from '../../../../src/node/gateway/controls.ts'
import { failure, infer, readBytes, readerOptions, rowsOf } from '../reading.ts'

type Params = Readonly<Record<string, string | readonly string[]>>
type Read = Readonly<{ types: unknown; rows: unknown[][] }>

const csv = { 'content-type': 'text/csv' }

const plain = (cell: unknown): unknown => (typeof cell === 'bigint' ? Number(cell) : cell)

/** Columns and rows of a body under parameters. */
function read(params: Params, body: string | Uint8Array, chunkBytes?: number, kept?: IngestRules): Read {
  const { dialect, charset, timeZone, ambiguous } = readControls(csv, params, { kept })
  const options = defined({ dialect, charset, timeZone, ambiguous: ambiguous === 'refuse' ? undefined : ambiguous })
  const bytes = Buffer.from(body)
  const { fields, eventTimeType, valueless } = infer('csv', bytes, options)
  const parsed = readBytes('csv', bytes, readerOptions(fields, { ...options, eventTimeType, valueless }), chunkBytes)
  const types = fields.map(({ type }) => (type.kind === 'Option' ? type.inner.kind : type.kind))
  return { types, rows: rowsOf(parsed).map(([, ...cells]) => cells.map(plain)) }
}

const ruleOf = (rules: unknown): IngestRules =>
  ingestOf(parseJsonText(JSON.stringify(rules), {}), defaultVocabulary, undefined)

const refusal = (params: Params, headers = csv): NodeError => failure(() => readControls(headers, params))

describe('parameters', () => {
  test.each([
    ['delimiter', ';;'],
    ['delimiter', 'x'],
    ['delimiter', '"'],
    ['delimiter', '-'],
    ['delimiter', '§'],
    ['decimal', '·'],
    ['group', 'x'],
    ['quote', 'ab'],
    ['comment', '1'],
    ['skipRows', '1-'],
    ['skipRows', '3,2'],
    ['skipRows', '4-2'],
    ['trueFalse', 'ja'],
    ['trueFalse', 'x,x'],
    ['trim', 'yes'],
    ['pivotYear', '9901'],
    ['nulls.', 'NA'],
    ['dateFormat', 'dd.MM'],
    ['dateFormat', 'dd.MM.yy'],
    ['dateFormat', 'hh:mm'],
    ['dateFormat', 'dd.MM.yyyy HH:mm'],
    ['dateFormat.t', 'dd.MM.yyyy HH:mm'],
    ['dateFormat', 'HH:mm:ss.SSS SSS'],
    ['charset', 'cp437'],
    ['charset', 'iso-2022-jp'],
    ['timeZone', 'Europe/Atlantis'],
    ['timeZone', '+25:00'],
    ['timeZone', '../../etc/passwd'],
    ['ambiguous', 'first'],
  ])('%s=%s is refused', (name, value) => {
    expect(refusal({ [name]: value })).toMatchObject({
      kind: 'InvalidParameter',
      message: expect.stringContaining(name),
    })
  })

  test.each([
    ['dd.mm.yyyy', 'dd.MM.yyyy'],
    ['DD.MM.YYYY', 'dd.MM.yyyy'],
    ['%d.%m.%Y', 'dd.MM.yyyy'],
    ['dd.mm.yyyy HH:mm', 'dd.MM.yyyy HH:mm'],
  ])('dateFormat=%s is refused with what was meant', (given, meant) => {
    expect(refusal({ dateFormat: given }).details.hint).toBe(`Write ${meant}.`)
  })

  test.each([
    { delimiter: ';', comment: ';' },
    { quote: "'", delimiter: "'" },
    { decimal: ',', group: ',' },
    { quote: "'", group: "'" },
  ])('one character for two things is refused: %j', (params) => {
    expect(refusal(params).message).toMatch(/already/)
  })

  test('count for their formats alone, and a misspelt one for none', () => {
    const json = { 'content-type': 'application/json' }
    expect(refusal({ delimiter: ';' }, json).message).toBe('The parameter delimiter counts in CSV, TSV.')
    expect(refusal({ 'nulls.x': 'NA' }, json).message).toBe('The parameter nulls.x counts in CSV, TSV.')
    expect(refusal({ delimter: ';' }).details.candidates).toEqual(['delimiter'])
  })

  test('charset and the media type agree, or are refused', () => {
    const said = { 'content-type': 'text/csv; charset=ISO-8859-1' }
    expect(readControls(said, {})).toMatchObject({ charset: 'windows-1252', contentType: 'text/csv' })
    expect(refusal({ charset: 'koi8-r' }, said).message).toMatch(/Content-Type says windows-1252/)
    expect(readControls(said, {}, { kept: { cells: [['charset', 'utf-8']] } }).charset).toBe('windows-1252')
  })

  test('a column that the body does not have is refused, unless a rule of the dataset names it', () => {
    const tag = { 'dateFormat.tag': 'dd.MM.yyyy' }
    expect(failure(() => read(tag, 'day\n01.02.2025\n')).message).toMatch(/dateFormat.tag/)
    const kept = { cells: [['dateFormat.tag', 'dd.MM.yyyy']] }
    expect(read({}, 'day\n01.02.2025\n', undefined, kept).rows).toEqual([['01.02.2025']])
    expect(refusal({ ...tag, 'dateFormat.TAG': 'iso' }).message).toMatch(/more than once/)
    expect(read({ 'dateFormat.TAG': 'yyyy/MM/dd' }, 'tag\n2025/02/01\n', undefined, kept).rows).toEqual([[20120]])
  })

  test('rules that are shown can be set, and those that no request could have are refused', () => {
    for (const rule of [{ header: 'bogus' }, { charset: ['utf-8', 'koi8-r'] }, { nulls: [] }])
      expect(failure(() => ruleOf(rule)).kind).toBe('InvalidRequest')
    const rules = ruleOf({ trim: true, 'nulls.x': ['NA', '-'], header: 'absent' })
    expect(ruleOf(shownRules(rules))).toEqual(rules)
  })
})

test.each([
  [
    { delimiter: ';', decimal: ',', group: '.' },
    'a;b\n1.234,5;x\n-0,5;1.2\n',
    ['Float64', 'String'],
    [
      [1234.5, 'x'],
      [-0.5, '1.2'],
    ],
  ],
  [{ decimal: ',' }, 'a,b\n"1,5",x\n', ['Float64', 'String'], [[1.5, 'x']]],
  [{ group: ',' }, 'a,b\n"1,234",1\n', ['Int64', 'Int64'], [[1234, 1]]],
  [{ group: ',' }, 'a\n"1,23"\n', ['String'], [['1,23']]],
  [{ group: '.', decimal: ',' }, 'a\n0.123\n', ['String'], [['0.123']]],
  [{ quote: 'none' }, 'a,b\n"x",1\n', ['String', 'Int64'], [['"x"', 1]]],
  [{}, 'a,b\n5" pipe,1\n', ['String', 'Int64'], [['5" pipe', 1]]],
  [{ trim: 'true' }, 'a, b ,c\n x , "y, z" ,1\n', ['String', 'String', 'Int64'], [['x', 'y, z', 1]]],
  [{ skipRows: '2' }, 'Title "\nof it\na,b\n1,2\n', ['Int64', 'Int64'], [[1, 2]]],
  [{ skipRows: '2-2' }, 'a,b\nm,s\n1,2\n', ['Int64', 'Int64'], [[1, 2]]],
  [{ comment: '#' }, '# a "\na,b\n#,"\n1,2\n# end', ['Int64', 'Int64'], [[1, 2]]],
  [{ nulls: 'NA,-' }, 'a\nNA\n"NA"\n-\n', ['String'], [[null], ['NA'], [null]]],
  [
    { 'nulls.b': '-1' },
    'a,b\n-1,-1\n2,3\n',
    ['Int64', 'Int64'],
    [
      [-1, null],
      [2, 3],
    ],
  ],
  [{ nulls: ['a,b', 'c'] }, 'x\n1\nc\n', ['Int64'], [[1], [null]]],
  [{ trueFalse: 'ja,nein' }, 'a\nJa\nNEIN\n', ['Bool'], [[true], [false]]],
  [{ trueFalse: 'Да,нет' }, 'a\nДа\nНЕТ\n', ['Bool'], [[true], [false]]],
  [{ nulls: 'NA', 'nulls.a': 'none' }, 'a\nNA\n', ['String'], [['NA']]],
  [{}, 'sep=a\n1\n', ['Int64'], [[1]]],
  [{ dateFormat: 'dd.MM.yyyy' }, 'a,b\n31.12.2025,2025-01-02\n', ['Date', 'String'], [[20453, '2025-01-02']]],
  [{ delimiter: 'tab' }, 'a\tb\n1\t2\n', ['Int64', 'Int64'], [[1, 2]]],
  [{}, 'sep=;\na;b\n1;2\n', ['Int64', 'Int64'], [[1, 2]]],
] as const)('%j reads %j', (params, body, types, rows) => {
  for (const chunkBytes of [undefined, 1, 3]) expect(read(params, body, chunkBytes)).toEqual({ types, rows })
})

test('what the first line says stands between cells means nothing else, and begins no stream', () => {
  expect(failure(() => read({ comment: ';' }, 'sep=;\na;b\n1;2\n')).message).toMatch(/already/)
  const signs = cellSigns({ separator: commas, mediaType: 'text/csv' })
  for (const mark of ['', '\ufeff']) {
    expect(failure(() => cellEnds(signs, Buffer.from(`${mark}sep=;\r\n`))).message).toMatch(/sep=/)
  }
})

test('white space before a quote is refused, and the refusal says how', () => {
  expect(failure(() => read({}, 'a,b\n1, "x, y"\n')).details.errors?.[0]?.message).toMatch(/trim=true/)
})

describe('numbers', () => {
  const spell = (text: string, decimal: '.' | ',', group?: string): string | undefined => {
    const speller = new NumberSpeller({ decimal, group })
    const bytes = Buffer.from(text)
    return speller.read(bytes, 0, bytes.length)
      ? Buffer.from(speller.bytes.subarray(0, speller.length)).toString()
      : undefined
  }

  test.each([
    ['1.234.567,89', ',', '.', '1234567.89'],
    ['-1 234', ',', ' ', '-1234'],
    ['1’234.5', '.', '’', '1234.5'],
    ['1,5e3', ',', undefined, '1.5e3'],
    ['1.5', ',', undefined, undefined],
    ['1.2345', ',', '.', undefined],
    ['1234.567', ',', '.', undefined],
    ['.123', ',', '.', undefined],
    ['1,234,5', ',', undefined, undefined],
  ] as const)('%s with %s and %s is %s', (text, decimal, group, expected) => {
    expect(spell(text, decimal, group)).toBe(expected)
  })
})

describe('days and times', () => {
  const spell = (pattern: string, text: string): string | undefined => {
    const found = datePattern(pattern, 1970)
    if (!('fields' in found)) throw new TypeError(found.message)
    const reader = new DateReader(found)
    const bytes = Buffer.from(text)
    return reader.read(bytes, 0, bytes.length)
      ? Buffer.from(reader.bytes.subarray(reader.start, reader.end)).toString()
      : undefined
  }

  test.each([
    ['d.M.yyyy', '1.2.2025', '2025-02-01'],
    ['dd.MM.yy', '01.02.69', '2069-02-01'],
    ['dd.MM.yy', '01.02.70', '1970-02-01'],
    ['MM/dd/yyyy hh:mm a', '01/02/2025 12:05 AM', '2025-01-02T00:05:00'],
    ['MM/dd/yyyy h:mm a', '01/02/2025 12:05 pm', '2025-01-02T12:05:00'],
    ['dd MMM yyyy HH:mm:ss.SSS', '03 mar 2025 04:05:06.789', '2025-03-03T04:05:06.789'],
    ["yyyy-MM-dd'T'HH:mmXXX", '2025-03-03T04:05+02:00', '2025-03-03T04:05:00+02:00'],
    ["H 'o''clock'", '7 o’clock', undefined],
    ["H 'o''clock'", "7 o'clock", '07:00:00'],
    ['dd.MM.yyyy', '1.02.2025', undefined],
    ['dd.MM.yyyy', '01.02.2025 ', undefined],
    ['MM/dd/yyyy hh:mm a', '01/02/2025 13:05 PM', undefined],
  ])('%s reads %j as %j', (pattern, text, expected) => {
    expect(spell(pattern, text)).toBe(expected)
  })

  test('local times are instants of the zone, or refused', () => {
    const params = { dateFormat: 'dd.MM.yyyy HH:mm', timeZone: 'Europe/Berlin' }
    const at = (text: string): number => Date.parse(text) * 1000
    const body = 't\n25.10.2025 12:00\n26.10.2025 02:30\n26.10.2025 02:30\n'
    const errors = failure(() => read(params, 't\n30.03.2025 02:30\n26.10.2025 02:30\n')).details.errors
    expect(errors?.map(({ record, kind }) => [record, kind])).toEqual([
      [0, 'BadTimestamp'],
      [1, 'BadTimestamp'],
    ])
    const rows = [[at('2025-10-25T10:00Z')], [at('2025-10-26T00:30Z')], [at('2025-10-26T01:30Z')]]
    expect(read({ ...params, ambiguous: 'ordered' }, body).rows).toEqual(rows)
    expect(
      failure(() => read({ ...params, ambiguous: 'ordered' }, `${body}26.10.2025 02:30\n`)).details.errorsTotal,
    ).toBe(1)
    expect(read({ ...params, ambiguous: 'later' }, body).rows.at(-1)).toEqual([at('2025-10-26T01:30Z')])
  })
})

describe('character sets', () => {
  test('a mark decides over what was said', () => {
    const utf16 = Buffer.from('\ufeffa,b\n1,ö\n', 'utf16le')
    for (const chunkBytes of [undefined, 1]) {
      expect(read({ charset: 'windows-1252' }, utf16, chunkBytes).rows).toEqual([[1, 'ö']])
      expect(read({ charset: 'koi8-r' }, '\ufeffa,b\n1,ö\n', chunkBytes).rows).toEqual([[1, 'ö']])
    }
  })

  test('what has no meaning is refused with its place', () => {
    const { message, details } = failure(() =>
      read({ charset: 'windows-1252' }, Buffer.from('a\nx\ny\x81\n', 'latin1')),
    )
    expect(message).toMatch(/^Line 3: Byte 81 is no character of windows-1252/)
    expect(details.errors).toMatchObject([{ line: 3, byteOffset: 5 }])
  })

  test.each([
    ['shift_jis', '610a31c40a8a0a31', 3, 5],
    ['gb18030', '610a0aff8a0a', 3, 3],
    ['utf-16be', '0061000a0062d83d0062', 2, 6],
    ['euc-kr', '610ab0', 2, 2],
    ['utf-16le', 'fffe61000a0062', 2, 6],
    ['euc-kr', 'fe', 1, 0],
  ])('in %s of %s the first bytes without a meaning are in line %i at %i', (charset, hex, line, byteOffset) => {
    for (const chunkBytes of [undefined, 1, 2, 3]) {
      const options = readerOptions([], { charset, csvHeader: 'absent' })
      const { details } = failure(() => readBytes('csv', Buffer.from(hex, 'hex'), options, chunkBytes))
      expect(details.errors).toMatchObject([{ line, byteOffset, kind: 'InvalidUtf8' }])
    }
  })

  test.each([
    ['big5', '9df7', '咗'],
    ['euc-kr', '94ee', '뷁'],
    ['macintosh', 'db', '€'],
  ])('%s has all characters of the standard: %s', (charset, hex, character) => {
    const body = Buffer.concat([Buffer.from('a,b\n'), Buffer.from(hex, 'hex'), Buffer.from(',1\n')])
    expect(read({ charset }, body).rows).toEqual([[character, 1]])
  })

  test('UTF-8 is refused where a single-byte set was said', () => {
    expect(failure(() => read({ charset: 'windows-1252' }, 'a\nö\n')).message).toMatch(/The body is UTF-8/)
  })

  test('places of faults are those of the bytes that were sent', () => {
    const body = Buffer.from('tön,b\nä,1\nöö,"x"y\n', 'latin1')
    const at = (bytes: Uint8Array, charset: string, text = 'y'): unknown => [
      failure(() => read({ charset }, bytes)).details.errors?.[0]?.byteOffset,
      Buffer.from(bytes).indexOf(text),
    ]
    const [found, expected] = at(body, 'iso-8859-15') as [number, number]
    expect(found).toBe(expected)
    expect(at(Buffer.from('8431953361620a22782279', 'hex'), 'gb18030')).toEqual([10, 10])
    for (const [charset, character] of [
      ['euc-jp', 'f9a1'],
      ['euc-jp', '8fb0a1'],
      ['euc-jp', '8eb1'],
      ['gbk', '81308433'],
    ] as const)
      expect(at(Buffer.from(`${character}2c620a${character}2c22782279`, 'hex'), charset)).toEqual([
        character.length + 7,
        character.length + 7,
      ])
    const wide = Buffer.from('tön,b\nä,1\n漢漢,"x"y\n', 'utf16le')
    expect(failure(() => read({ charset: 'utf-16le' }, wide)).details.errors?.[0]?.byteOffset).toBe(wide.length - 4)
  })
})
