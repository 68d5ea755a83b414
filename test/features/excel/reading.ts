// What the tests of workbooks share: workbooks made part by part, and what is read of them.

import { excel } from '../../../src/features/excel/format.ts'
import type { FileOptions, InferOptions } from '../../../src/libraries/formats/format.ts'
import type { RecordError } from '../../../src/libraries/base/errors.ts'
import { innerType } from '../../../src/libraries/model/schema.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { base, bodyFile, collected, failureOf, readerOptions, rowsOf } from '../../libraries/formats/reading.ts'
import { type Entry, zipOf } from '../shapefile/zips.ts'

export interface Book {
  /** Rows of XML, or the whole of the sheet. */
  readonly rows?: string
  readonly sheet?: string
  readonly strings?: string
  readonly workbook?: string
  readonly more?: readonly Entry[]
}

const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]d. mmm yyyy;@"/>
<numFmt numFmtId="165" formatCode="&quot;d&quot; 0.00E+00"/><numFmt numFmtId="166" formatCode="yyyy/mm/dd hh:mm"/></numFmts>
<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>
<xf numFmtId="20"/><xf numFmtId="46"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>`

/** Styles of the cells of workbooks made here. */
export const style = { day: 1, time: 2, clock: 3, elapsed: 4, longDay: 5, science: 6, longTime: 7 } as const

export function file(name: string, text: string): Entry {
  return { name, content: Buffer.from(text) }
}

export function bookOf({ rows = '', strings = '', more = [], ...given }: Book): Buffer {
  const sheets = '<sheet name="Sales" sheetId="1" r:id="rId1"/>'
  const { workbook = sheets, sheet = `<worksheet><sheetData>${rows}</sheetData></worksheet>` } = given
  const links = ['worksheets/sheet1.xml worksheet', 'styles.xml styles', '/xl/strings.xml sharedStrings']
    .map((link) => link.split(' '))
    .map(([target, kind], at) => `<Relationship Id="rId${at + 1}" Type="${relations}/${kind}" Target="${target}"/>`)
  return zipOf([
    file('[Content_Types].xml', '<Types/>'),
    file('xl/workbook.xml', `<workbook xmlns:r="${relations}"><sheets>${workbook}</sheets></workbook>`),
    file('xl/_rels/workbook.xml.rels', `<Relationships>${links.join('')}</Relationships>`),
    file('xl/styles.xml', styles),
    file('xl/strings.xml', `<sst>${strings}</sst>`),
    file('xl/worksheets/sheet1.xml', sheet),
    ...more,
  ])
}

/** A row of cells of inline text, numbers, or XML. */
export function row(number: number, cells: readonly (string | number)[]): string {
  const xml = cells.map((cell) => {
    if (typeof cell === 'number') return `<c><v>${cell}</v></c>`
    return cell.startsWith('<') ? cell : `<c t="inlineStr"><is><t>${cell}</t></is></c>`
  })
  return `<row r="${number}">${xml.join('')}</row>`
}

/** A table of one column, `a`. */
export function columnOf(...cells: readonly (string | number)[]): Buffer {
  return bookOf({ rows: [row(1, ['a']), ...cells.map((cell, at) => row(at + 2, [cell]))].join('') })
}

/** A text of so many letters, in so many rows. */
export function sharedTexts([length, count]: readonly [number, number]): Uint8Array {
  const rows = row(1, ['s0']) + `<row>${'<c t="s"><v>0</v></c>'}</row>`.repeat(count)
  return bookOf({ rows, strings: `<si><t>${'a'.repeat(length)}</t></si>` })
}

export function numbersBook([width, count]: readonly [number, number]): Uint8Array {
  const names = Array.from({ length: width }, (_, i) => `f${i}`)
  return bookOf({ rows: row(1, names) + `<row>${'<c><v>1</v></c>'.repeat(width)}</row>`.repeat(count) })
}

type Options = Partial<InferOptions> & Pick<FileOptions, 'sheet'>

/** The columns as `name Type`, the rows without event time, and warnings. */
export async function readBook(
  bytes: Uint8Array,
  { sheet, ...more }: Options = {},
): Promise<{ readonly columns: string[]; readonly rows: unknown[][]; readonly warnings: readonly string[] }> {
  const limits = defaultLimits()
  const open = await excel.openFile(bodyFile(bytes), { limits, ...(sheet === undefined ? {} : { sheet }) })
  const inferred = await open.infer({ ...base, columns: limits.columns, ...more })
  const { fields, eventTimeType, valueless, csvHeader, eventTime } = inferred
  const options = { ...more, eventTimeType, valueless, ...(csvHeader === undefined ? {} : { csvHeader }) }
  const named = eventTime === undefined ? {} : { eventTime: { kind: 'name', name: eventTime } as const }
  const batches = await collected(open.read(readerOptions(fields, { ...options, ...named })))
  return {
    columns: fields.map(({ name, type }) => `${name} ${innerType(type).kind}`),
    rows: rowsOf({ records: 0, batches }).map(([, ...cells]) => cells),
    warnings: [...(inferred.warnings ?? []), ...(open.warnings ?? [])],
  }
}

/** Kind, and message of the first fault or of all. */
export async function refusalOf(bytes: Uint8Array, options: Options = {}): Promise<[string, string, RecordError?]> {
  const { kind, message, details } = await failureOf(readBook(bytes, options))
  return [kind, message, ...(details.errors ?? [])].slice(0, 3) as [string, string, RecordError?]
}
