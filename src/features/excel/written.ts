// A workbook as a format of answers: the rows in a sheet that leaves while it is written, and where they are from in a second one,
// Proof. What a cell holds is a number, a day or a time, all else is text. Characters that XML lacks are `_x0001_`, and what reads
// like one is escaped. Source: ISO/IEC 29500-1 §12.2, §18.2, §18.3, §18.8, §22.9.2.19 (ST_Xstring)

import { must } from '../../libraries/base/assert.ts'
import { ByteBuffer } from '../../libraries/base/byte-buffer.ts'
import { decodeUtf8, utf8 } from '../../libraries/base/bytes.ts'
import { longsOf, numbersOf } from '../../libraries/columnar/arrow/numbers.ts'
import { isPresent } from '../../libraries/columnar/arrow/columns.ts'
import { type CellWriter, cellWriter } from '../../libraries/columnar/outputs/cells.ts'
import { styleOf } from '../../libraries/columnar/outputs/csv/format.ts'
import type { FileColumn, FileFormat, FileSource, FileWriter } from '../../libraries/columnar/outputs/file-format.ts'
import { tooLarge, tooManyRows } from '../../libraries/columnar/outputs/file-format.ts'
import { signedAddress } from '../../libraries/columnar/outputs/signed-rows.ts'
import { type Column, unitNanos } from '../../libraries/model/schema.ts'
import { xlsxFacts } from './facts.ts'
import { ZipWriter } from './zip-writer.ts'

/** Bytes that are deflated at once. */
const pieceBytes = 256 * 1024
const mostChars = 32_767
/** Of numbers that every program keeps as they are. */
const mostDigits = 15
const [dayMs, msNanos] = [86_400_000, 1_000_000n]
/** 1 January 1970 as a number of a workbook; 1 March 1900, from which on all programs agree; the day after the last one. */
const [day1970, firstDay, endDay] = [25_569, 61, 2_958_466]
const style = styleOf((out, bytes, start, end) => out.raw(bytes, start, end))
// XML reads CR as LF.
const [escaped, control] = [/[&<>]|_x|(?![\t\n])[\p{Cc}\ufffe\uffff]/u, /(?![\t\n])[\p{Cc}\ufffe\uffff]/gu]
const signs: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const [formats, package_] = ['http://schemas.openxmlformats.org', 'application/vnd.openxmlformats-package']
const [main, office] = [`${formats}/spreadsheetml/2006/main`, `${formats}/officeDocument/2006/relationships`]
const media = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const override = (name: string, kind: string): string =>
  `<Override PartName="/xl/${name}.xml" ContentType="${media}.${kind}+xml"/>`
const relation = (id: number, kind: string, target: string): string =>
  `<Relationship Id="rId${id}" Type="${office}/${kind}" Target="${target}"/>`
const relations = (...all: readonly string[]): string =>
  `<Relationships xmlns="${formats}/package/2006/relationships">${all.join('')}</Relationships>`
const xf = (format: number): string =>
  `<xf numFmtId="${format}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`

/** What stands before the sheets. Styles: cells, days, times. */
const parts: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${formats}/package/2006/content-types"><Default Extension="rels" ContentType="${package_}.relationships+xml"/>${override('workbook', 'sheet.main')}${override('styles', 'styles')}${override('worksheets/sheet1', 'worksheet')}${override('worksheets/sheet2', 'worksheet')}</Types>`,
  '_rels/.rels': relations(relation(1, 'officeDocument', 'xl/workbook.xml')),
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><bookViews><workbookView/></bookViews><sheets><sheet name="Rows" sheetId="1" r:id="rId1"/><sheet name="Proof" sheetId="2" r:id="rId2"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations(
    relation(1, 'worksheet', 'worksheets/sheet1.xml'),
    relation(2, 'worksheet', 'worksheets/sheet2.xml'),
    relation(3, 'styles', 'styles.xml'),
  ),
  'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3">${xf(0)}${xf(164)}${xf(165)}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
}
/** The header stays in sight. */
const frozen = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
/** Columns are wide enough for times, which else are shown as `###`. */
const sheetStart = (view: string): string =>
  `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">${view}</sheetView></sheetViews><sheetFormatPr defaultColWidth="24" defaultRowHeight="15"/><sheetData>`
const sheetEnd = '</sheetData></worksheet>'

function beginWorkbook(columns: readonly FileColumn[], source: FileSource): FileWriter {
  const [cells, zip] = [new SheetCells(), new ZipWriter()]
  const { out } = cells
  const letters = columns.map((_, at) => lettersOf(at))
  let rows = 0
  // Leaves with the first rows: a fault among them is an answer of its own.
  const begun: Uint8Array[] = Object.entries(parts).flatMap(([name, xml]) => fileOf(zip, name, utf8(head + xml)))
  begun.push(zip.begin('xl/worksheets/sheet1.xml'))
  out.ascii(`${sheetStart(frozen)}<row r="1">`)
  for (const [at, { name }] of columns.entries()) cells.text(`${letters[at]}1`, name)
  out.ascii('</row>')
  return {
    *rows(batch) {
      const writers = columns.map((facts, at) => {
        const place = { letters: letters[at] ?? '', first: rows + 2 }
        return cells.writer(must(batch.columns[at], 'a column of the batch'), facts, place)
      })
      for (let row = 0; row < batch.rows; row++) {
        if (rows++ === xlsxFacts.mostRows) throw tooManyRows(xlsxFacts)
        out.ascii(`<row r="${rows + 1}">`)
        for (const write of writers) write(row)
        out.ascii('</row>')
        if (out.at < pieceBytes) continue
        yield* [...begun.splice(0), zip.add(out.take())]
      }
    },
    *end() {
      out.ascii(sheetEnd)
      yield* [...begun, zip.add(out.take()), zip.finish()]
      out.ascii(sheetStart(''))
      for (const [at, [name, value]] of aboutOf(rows, source, cells.rounded).entries()) {
        out.ascii(`<row r="${at + 1}">`)
        cells.text(`A${at + 1}`, name)
        cells.text(`B${at + 1}`, value)
        out.ascii('</row>')
      }
      out.ascii(sheetEnd)
      yield* fileOf(zip, 'xl/worksheets/sheet2.xml', out.take())
      yield zip.end()
    },
  }
}

function fileOf(zip: ZipWriter, name: string, bytes: Uint8Array): Uint8Array[] {
  return [zip.begin(name), zip.add(bytes), zip.finish()]
}

/** What the second sheet says. */
function aboutOf(rows: number, source: FileSource, rounded: number): (readonly [string, string])[] {
  const { heads, address, mostRows, reason } = source
  const why = address === undefined ? reason : `A signed answer has at most ${mostRows} rows.`
  const isSigned = address !== undefined && rows <= mostRows
  return [
    ...heads.flatMap(({ alias, block }) => [['Dataset', alias] as const, ['Block', block] as const]),
    ['Rows', String(rows)],
    isSigned ? ['The same rows, signed', signedAddress(address, rows)] : ['Not signed', why],
    ...(rounded === 0 ? [] : [['Times rounded to the millisecond', String(rounded)] as const]),
  ]
}

class SheetCells {
  readonly out = new ByteBuffer(1024)
  /** Times that were rounded to the millisecond. */
  rounded = 0
  readonly #value = new ByteBuffer(1024)

  /** Writes a text at a place such as `A1`. Throws NodeError `ResultTooLarge`. */
  text(place: string, text: string): void {
    const bytes = utf8(text)
    this.out.ascii(`<c r="${place}"`)
    this.#text(bytes)
  }

  /** The writer of the cells of a column, at its letters, from the row `first` on. Throws as `text`. */
  writer(column: Column, facts: FileColumn, { letters, first }: { letters: string; first: number }): CellWriter {
    const { out } = this
    const value = this.#value
    const write = cellWriter(column, facts, value, style)
    const serial = this.#serials(column, facts)
    const { kind } = facts.type
    const isNumber = /^(?:U?Int|Float|Decimal)/.test(kind)
    const number = (attributes: string, text: string): void => out.ascii(`${attributes}><v>${text}</v></c>`)
    return (row) => {
      // A null has no cell, an empty text has one.
      if (!isPresent(column, row)) return
      out.ascii(`<c r="${letters}${first + row}"`)
      const day = serial?.(row)
      if (day !== undefined) return number(kind === 'Date' ? ' s="1"' : ' s="2"', String(day))
      value.at = 0
      write(row)
      const bytes = value.bytes.subarray(0, value.at)
      if (kind === 'Bool') number(' t="b"', bytes.length === 4 ? '1' : '0')
      else if (isNumber && isHeld(bytes, kind.startsWith('Float'))) number('', decodeUtf8(bytes))
      else this.#text(bytes)
    }
  }

  #text(bytes: Uint8Array): void {
    const text = decodeUtf8(bytes)
    if (text.length > mostChars)
      throw tooLarge(`A text has ${text.length} characters: a cell of Xlsx has ${mostChars} at most.`)
    this.out.ascii(' t="inlineStr"><is><t xml:space="preserve">')
    this.out.raw(escaped.test(text) ? utf8(escapedText(text)) : bytes)
    this.out.ascii('</t></is></c>')
  }

  /** Days and times as numbers of days; undefined for one that a sheet has no number for. */
  #serials(column: Column, { type }: FileColumn): ((row: number) => number | undefined) | undefined {
    if (type.kind === 'Date') {
      const days = must(numbersOf(column), 'days are numbers')
      return (row) => within((days[row] ?? 0) + day1970)
    }
    if (type.kind !== 'Timestamp') return undefined
    const [values, nanos] = [longsOf(column), unitNanos(type.unit)]
    const shift = BigInt(day1970 * dayMs) * msNanos
    return (row) => {
      const since1900 = (values[row] ?? 0n) * nanos + shift
      const day = within(Number((since1900 + msNanos / 2n) / msNanos) / dayMs)
      if (day !== undefined && since1900 % msNanos !== 0n) this.rounded++
      return day
    }
  }
}

function within(day: number): number | undefined {
  return day >= firstDay && day < endDay ? day : undefined
}

/** Whether a cell holds all digits of a number; false for what is none. */
function isHeld(bytes: Uint8Array, isFloat: boolean): boolean {
  const last = bytes.at(-1) ?? 0
  if (last < 0x30 || last > 0x39) return false
  if (isFloat || bytes.length <= mostDigits) return true
  const [whole = '', fraction = ''] = decodeUtf8(bytes).replace('-', '').split('.')
  return `${whole}${fraction.replace(/0+$/, '')}`.replace(/^0+/, '').length <= mostDigits
}

function escapedText(text: string): string {
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replace(control, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(/[&<>]/g, (sign) => signs[sign] ?? sign)
}

/** `A`, `Z`, `AA`, … */
function lettersOf(at: number): string {
  return (at < 26 ? '' : lettersOf(Math.floor(at / 26) - 1)) + String.fromCharCode(65 + (at % 26))
}

export const xlsx: FileFormat = {
  ...xlsxFacts,
  begin: (columns, _options, { source }) => beginWorkbook(columns, must(source, 'it tells the source')),
}
