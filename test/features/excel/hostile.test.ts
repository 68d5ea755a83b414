// Workbooks that are none, or mean harm: each is refused, and reading them takes no memory that they ask for.

import { expect, test } from 'vitest'
import { bookOf, columnOf, file, readBook, refusalOf, row } from './reading.ts'
import { entriesOf, zipOf } from '../shapefile/zips.ts'

const plain = columnOf(1)
const MiB = 1024 * 1024

/** Text that no zip makes small. */
const noise = (length: number): string =>
  Array.from({ length }, (_, at) => (Math.imul(at, 2654435761) >>> 0).toString(36)).join('')

function withSheet(sheet: string | Buffer): Buffer {
  const content = Buffer.from(sheet)
  return zipOf(entriesOf(plain).map((entry) => (entry.name.endsWith('sheet1.xml') ? { ...entry, content } : entry)))
}

const manyAttributes = Array.from({ length: 300 }, (_, at) => `a${at}="" `)

test.each<[string, Uint8Array, string]>([
  ['an old or encrypted workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'encrypted'],
  ['no zip', Buffer.from('a,b\n1,2\n'), 'not a zip'],
  ['another zip', zipOf([file('a.txt', 'x')]), 'holds no workbook'],
  ['a binary workbook', zipOf([file('xl/workbook.bin', 'x')]), 'binary form'],
  ['a document type', withSheet('<!DOCTYPE a [<!ENTITY b "c">]><worksheet/>'), 'document type'],
  ['an entity', withSheet(`<worksheet><sheetData>${row(1, ['&b;'])}</sheetData></worksheet>`), 'no XML'],
  ['depth', withSheet('<a>'.repeat(65)), 'deeper than 64'],
  ['a sheet that is cut', withSheet('<worksheet><sheetData>'), 'no XML'],
  ['UTF-16', withSheet(Buffer.from('<a/>', 'utf16le')), 'no XML'],
  ['bytes that are not UTF-8', withSheet(Buffer.from('<a>\xff</a>', 'latin1')), 'not UTF-8'],
  ['a long tag', withSheet(`<worksheet a="${noise(200_000)}"/>`), 'no XML'],
  ['a tag of many attributes', withSheet(`<a ${manyAttributes.join('')}/>`), '256 attributes'],
  ['a long text', columnOf(noise(200_000)), 'too long'],
  [
    'a long text that cells share',
    bookOf({ strings: `<si>${`<r><t>${noise(20_000)}</t></r>`.repeat(10)}</si>` }),
    'too long',
  ],
  ['a file that is there twice', zipOf([...entriesOf(plain), file('XL/styles.xml', '<a/>')]), 'twice'],
  ['rows out of order', bookOf({ rows: row(2, ['a']) + row(1, ['b']) }), 'out of order'],
  ['a row beyond the last', bookOf({ rows: row(1_048_577, ['a']) }), 'out of order'],
  ['cells out of order', bookOf({ rows: '<row><c r="B1"/><c r="A1"/></row>' }), 'out of order'],
  ['a cell of another row', bookOf({ rows: '<row r="1"><c r="A2"/></row>' }), 'another'],
  ['a column beyond the last', bookOf({ rows: '<row r="1"><c r="XFE1"/></row>' }), 'out of order'],
  ['a style that is none', bookOf({ rows: row(1, ['a']) + row(2, ['<c s="99"><v>1</v></c>']) }), 'style'],
])('%s is refused', async (_, bytes, why) => {
  expect(await refusalOf(bytes)).toEqual(['MalformedBody', expect.stringContaining(why)])
})

test('the last row and the last column are read', async () => {
  const rows =
    '<row r="1048575"><c r="XFD1048575" t="str"><v>a</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
  expect((await readBook(bookOf({ rows }))).rows).toEqual([[1n]])
})

test('a bomb is refused before it is inflated', async () => {
  const bomb = bookOf({ rows: '<row><c/></row>'.repeat(2 * MiB) })
  expect(bomb.length).toBeLessThan(256 * 1024)
  expect((await refusalOf(bomb))[0]).toBe('BodyTooLarge')
})

test('a long text that each cell refers to makes a record too large, not a body', async () => {
  const strings = `<si><t>${Array.from({ length: 60_000 }, (_, at) => at.toString(36)).join(' ')}</t></si>`
  const cell = '<c t="s"><v>0</v></c>'
  const names = Array.from({ length: 500 }, (_, at) => `n${at}`)
  const rows =
    row(1, names) +
    Array.from({ length: 40 }, (_, at) =>
      row(
        at + 2,
        names.map(() => cell),
      ),
    ).join('')
  const header = row(
    1,
    Array.from({ length: 500 }, () => cell),
  )
  expect((await refusalOf(bookOf({ rows: header, strings })))[1]).toContain('the first row is longer')
  const before = process.memoryUsage().rss
  const [kind, , fault] = await refusalOf(bookOf({ rows, strings }))
  expect([kind, fault?.kind, fault?.record]).toEqual(['RecordsDoNotFit', 'RecordTooLarge', 0])
  // Written out they would take 6 GB. Other files of the same process take memory meanwhile.
  expect(process.memoryUsage().rss - before).toBeLessThan(512 * MiB)
})

test('millions of empty cells and texts take little memory', async () => {
  const rows =
    row(1, ['a']) + `<row r="2">${'<c s="1"/>'.repeat(16_000)}</row>`.replaceAll('<row r="2">', '<row>').repeat(20)
  const bytes = bookOf({ rows, strings: '<si/>'.repeat(MiB), more: [file('xl/noise.txt', noise(100_000))] })
  const before = process.memoryUsage().rss
  expect((await readBook(bytes)).rows).toEqual([])
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * MiB)
})
