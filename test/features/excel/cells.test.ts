// What the cells of a workbook become, each kind of them, and which are refused with their place.

import { describe, expect, test } from 'vitest'
import { kindOfCode } from '../../../src/features/excel/number-format.ts'
import { dialectOf } from '../../../src/libraries/formats/dialect/dialect.ts'
import { bookOf, columnOf, readBook, refusalOf, row, style } from './reading.ts'

const styled = (kind: keyof typeof style, value: number): string => `<c s="${style[kind]}"><v>${value}</v></c>`
const zoned = { timeZone: 'Europe/Berlin' }
const at = (text: string): bigint => BigInt(Date.parse(text)) * 1000n

test.each<[string, (string | number)[], string, unknown[]]>([
  ['integers', [1, -20, 0], 'Int64', [1n, -20n, 0n]],
  ['numbers', [1, 2.5, '<c><v>0.10000000000000001</v></c>', '<c><v>1E-3</v></c>'], 'Float64', [1, 2.5, 0.1, 0.001]],
  ['large integers', ['<c><v>9007199254740993</v></c>'], 'Int64', [9007199254740993n]],
  ['numbers in text', ['007', '12', '1,5'], 'String', ['007', '12', '1,5']],
  [
    'numbers among text',
    ['x', '<c><v>0.30000000000000004</v></c>', '<c><v>1E-3</v></c>'],
    'String',
    ['x', '0.30000000000000004', '0.001'],
  ],
  ['truth', ['<c t="b"><v>1</v></c>', '<c t="b"><v>0</v></c>'], 'Bool', [true, false]],
  ['truth among text', ['<c t="b"><v>1</v></c>', 'x'], 'String', ['true', 'x']],
  ['days', [styled('day', 46023), styled('longDay', 61), styled('day', 59)], 'Date', [20454, -25508, -25509]],
  ['days in text', ['2026-01-01'], 'Date', [20454]],
  [
    'times',
    [styled('time', 46023.5), styled('longTime', 46204)],
    'Timestamp',
    [at('2026-01-01T11:00Z'), at('2026-06-30T22:00Z')],
  ],
  ['days with hours', [styled('day', 46023.25)], 'Timestamp', [at('2026-01-01T05:00Z')]],
  ['times of day', [styled('clock', 0.75), styled('elapsed', 1.5)], 'String', ['18:00:00', '36:00:00']],
  ['science', [styled('science', 2)], 'Int64', [2n]],
  ['times by ISO 8601', ['<c t="d"><v>2026-01-01T12:00:00</v></c>'], 'Timestamp', [at('2026-01-01T11:00Z')]],
  ['formulas', ['<c><f>1+1</f><v>2</v></c>', '<c t="str"><f>""</f><v></v></c>', 3], 'Int64', [2n, 3n]],
  [
    'escapes',
    ['a_x000D_b_x005F_', 'A&amp;&#66;&#x43;', '<c t="inlineStr"><is><t><![CDATA[<1>]]></t></is></c>'],
    'String',
    ['a\rb_', 'A&BC', '<1>'],
  ],
])('%s', async (_, cells, type, values) => {
  const { columns, rows } = await readBook(columnOf(...cells), zoned)
  expect([columns, rows.map(([value]) => value)]).toEqual([[`a ${type}`], values])
})

test('shared strings are those of their runs, without how they are spoken', async () => {
  const strings =
    '<si><t>a</t></si><si><r><t>To</t></r><r><t xml:space="preserve">kyo </t></r><rPh><t>x</t></rPh></si><si/>'
  const cells = [0, 1, 2].map((index) => row(index + 1, [`<c t="s"><v>${index}</v></c>`])).join('')
  expect((await readBook(bookOf({ rows: cells, strings }))).rows).toEqual([['Tokyo ']])
  const message = expect.stringContaining('that the workbook does not have')
  const other = bookOf({ rows: cells.replace('<v>2<', '<v>3<'), strings })
  expect(await refusalOf(other)).toEqual(['MalformedBody', message])
})

test.each([
  ['<c><f>A1</f></c>', 'MalformedRecord', 'its formula has no value'],
  ['<c><f>A1</f><v/></c>', 'MalformedRecord', 'its formula has no value'],
  ['<c t="e"><v>#N/A</v></c>', 'WrongType', 'nulls=%23N%2FA'],
  [styled('day', 0), 'MalformedRecord', 'day 0'],
  [styled('time', 60.5), 'MalformedRecord', '29 February 1900'],
  [styled('day', -1), 'MalformedRecord', 'no day'],
  [styled('day', 2_958_466), 'MalformedRecord', 'no day'],
  ['<c><v>NaN</v></c>', 'MalformedRecord', 'no number'],
  ['<c><v>1E400</v></c>', 'MalformedRecord', 'no number'],
  ['12', 'WrongType', 'a text'],
  ['<c/><c><v>1</v></c>', 'TooManyFields', 'beside the table'],
])('%s is refused with its cell', async (cell, kind, why) => {
  const known = { known: [{ name: 'a', type: { kind: 'Int64' } as const }] }
  const fault = { kind, record: 1, message: expect.stringMatching(/^Sales!(?:A|B)3: /) }
  const [, message, found] = await refusalOf(columnOf(1, cell), known)
  expect([message, found]).toEqual([expect.stringContaining(why), expect.objectContaining(fault)])
})

test('1904 has other days, and zero is one', async () => {
  const book = '<sheet name="S" sheetId="1" r:id="rId1"/></sheets><workbookPr date1904="1"/><sheets>'
  const rows = row(1, ['a']) + row(2, [styled('day', 0)]) + row(3, [styled('day', 44_561)])
  expect((await readBook(bookOf({ rows, workbook: book }))).rows).toEqual([[-24_107], [20_454]])
})

test('a new column of times needs a zone', async () => {
  const [kind, message] = await refusalOf(columnOf(styled('time', 46023.5)))
  expect([kind, message]).toEqual(['RecordsDoNotFit', expect.stringContaining('timeZone=Europe/Berlin')])
})

describe('the table', () => {
  test('may have rows above it, a margin and rows without a value', async () => {
    const rows = `${row(1, ['Report'])}<row r="4"><c r="C4" t="str"><v>a</v></c><c r="D4" t="str"><v>b</v></c></row>
      <row r="5"><c r="C5"><v>1</v></c><c r="D5" s="1"/></row><row r="6"><c r="C6" s="1"/></row>
      <row r="9"><c r="D9"><v>2</v></c></row>`
    const dialect = dialectOf({ skipRows: '1' })
    const read = await readBook(bookOf({ rows }), { ...(dialect && { dialect }) })
    expect([read.columns, read.rows]).toEqual([
      ['a Int64', 'b Int64'],
      [
        [1n, null],
        [null, 2n],
      ],
    ])
  })

  test('has no header where the media type says so, and is refused where nobody can know', async () => {
    const rows = row(1, ['x', 1]) + row(2, ['y', 2])
    expect(await refusalOf(bookOf({ rows }))).toEqual([
      'RecordsDoNotFit',
      expect.stringContaining('Sales!B1: The first line'),
      expect.anything(),
    ])
    const read = await readBook(bookOf({ rows }), { csvHeader: 'absent' })
    expect([read.columns, read.rows]).toEqual([
      ['column_1 String', 'column_2 Int64'],
      [
        ['x', 1n],
        ['y', 2n],
      ],
    ])
    const twice = bookOf({ rows: row(1, ['a', 'A']) + row(2, [1, 2]) })
    expect((await refusalOf(twice, { csvHeader: 'present' }))[2]).toMatchObject({ kind: 'DuplicateField', column: 'A' })
  })

  test('takes nulls and patterns of days in texts', async () => {
    const rows =
      row(1, ['day', 'n']) +
      row(2, ['31.12.2025', '-']) +
      row(3, ['<c t="e"><v>#N/A</v></c>', -999]) +
      row(4, ['01.01.2026', 5])
    const dialect = dialectOf({ dateFormat: 'dd.MM.yyyy', nulls: ['-', '#N/A', '-999'] })
    const read = await readBook(bookOf({ rows }), { ...(dialect && { dialect }) })
    expect([read.columns, read.rows]).toEqual([
      ['day Date', 'n Int64'],
      [
        [20_453, null],
        [null, null],
        [20_454, 5n],
      ],
    ])
  })

  test('says of cells without a value that no column has why they have none', async () => {
    const error = '<c t="e"><v>#N/A</v></c>'
    const formulas = bookOf({ rows: row(1, ['n', 'f']) + row(2, [1, '<c><f>1+1</f></c>']) })
    const errors = bookOf({ rows: row(1, ['n', 'e']) + row(2, [1, error]) })
    expect((await refusalOf(formulas))[1]).toMatch(/Sales!B2: .* formula has no value/)
    expect((await refusalOf(errors))[1]).toMatch(/Sales!B2: .* error #N\/A/)
    const dialect = dialectOf({ nulls: '#N/A' })
    expect((await readBook(errors, { ...(dialect && { dialect }) })).rows).toEqual([[1n]])
  })

  test('warns of what it does not show as it is', async () => {
    const data = `<sheetData>${row(1, ['a'])}<row r="2" hidden="1"><c><f>1</f><v>1</v></c></row></sheetData>`
    const sheet = `<worksheet><cols><col min="1" max="1" hidden="1"/></cols>${data}<mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>`
    const workbook = '<sheet name="Sales" r:id="rId1"/><sheet name="Old" state="veryHidden" r:id="rId1"/>'
    const { warnings } = await readBook(bookOf({ sheet, workbook }))
    for (const word of ['formulas', 'Hidden rows', 'Hidden columns', 'merged', 'Old'])
      expect(warnings.join('\n')).toContain(word)
  })
})

test.each([
  ['General', 'number'],
  ['0.00E+00', 'number'],
  ['"day" 0', 'number'],
  ['[Red]0;[h]', 'number'],
  ['mmm-yy', 'day'],
  ['[$-F800]dddd', 'day'],
  ['m/d/yy h:mm AM/PM', 'time'],
  ['mm:ss.0', 'clock'],
  ['[hh]:mm', 'elapsed'],
  [String.raw`yyyy\-mm\-dd`, 'day'],
])('the format %s is of a %s', (code, kind) => expect(kindOfCode(code)).toBe(kind))
