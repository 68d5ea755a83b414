// The cells of a .dbf as JSON values: numbers with their digits as they stand, dates and logicals as such, and null where
// nothing was written. What a cell cannot mean is a fault, never another value.

import { utf8 } from '../../libraries/base/bytes.ts'
import { noSuchDay, notADate, readDate } from '../../libraries/base/calendar.ts'
import { excerptOf } from '../../libraries/formats/fault-log.ts'
import type { CodePage } from './code-page.ts'
import type { DbfField } from './dbf.ts'
import { malformed, type RecordFault } from './faults.ts'
import { shown } from '../../libraries/formats/zip.ts'
import type { JsonText } from '../../libraries/base/json/json-text.ts'

/** Why a cell has no value, or that it has not all of it. */
type CellFault = Pick<RecordFault, 'kind' | 'message' | 'hint'> | 'cut' | undefined
/** Writes the cell `bytes[start, end)`. */
type CellWriter = (out: JsonText, bytes: Uint8Array, start: number, end: number) => CellFault

const nullText = utf8('null')
const trueText = utf8('true')
const falseText = utf8('false')
const space = 0x20
const zero = 0x30
const nine = 0x39
const dash = 0x2d
const point = 0x2e

/** Writes the rows of one table. */
export class RowWriter {
  /** Columns of the row last written whose texts end in the middle of a character, which is left out. */
  cut: string[] = []
  readonly #columns: readonly { readonly field: DbfField; readonly key: Uint8Array; readonly write: CellWriter }[]

  /** Throws NodeError `MalformedBody` for a column whose type is not read; `file` is the name of the .dbf. */
  constructor(fields: readonly DbfField[], page: CodePage, file: string) {
    this.#columns = fields.map((field, index) => {
      const key = utf8(`${index === 0 ? '' : ','}${JSON.stringify(field.name)}:`)
      return { field, key, write: writerOf(field, page, file) }
    })
  }

  /** Adds the row at `row` as a JSON object; the first fault, where a cell has no value. */
  write(out: JsonText, bytes: Uint8Array, row: number): RecordFault | undefined {
    let first: RecordFault | undefined
    this.cut = []
    out.byte(0x7b)
    for (const { field, key, write } of this.#columns) {
      out.raw(key)
      const start = row + field.at
      const end = start + field.bytes
      const fault = write(out, bytes, start, end)
      if (fault === 'cut') this.cut.push(field.name)
      if (fault === undefined || fault === 'cut' || first !== undefined) continue
      first = { ...fault, column: field.name, excerpt: excerptOf(bytes, start, end) }
    }
    out.byte(0x7d)
    return first
  }
}

function writerOf({ type, bytes, name }: DbfField, page: CodePage, file: string): CellWriter {
  const binary = binaryWriters.get(type)
  if (binary !== undefined && bytes === binary.bytes) return binary.write
  switch (type) {
    case 'C':
      return textWriter(page)
    case 'N':
    case 'F':
      return number
    case 'D':
      if (bytes === 8) return date
      break
    case 'L':
      if (bytes === 1) return logical
      break
    case 'M':
    case 'G':
    case 'P':
      return memo
    case 'B':
      // Ten digits in dBASE: the number of a block in a file that shapefiles have not.
      if (bytes === 10) return memo
      break
    default:
  }
  const what = `its column '${shown(name)}' has the type '${shown(type)}' of ${bytes} bytes, which is not read.`
  throw malformed(file, what, 'Leave it out, or write it as text: ogr2ogr -select a,b out.shp in.shp.')
}

/** Text up to a zero byte, without the spaces around it; one of spaces alone is null, as nothing tells it from none. */
function textWriter(page: CodePage): CellWriter {
  return (out, bytes, start, end) => {
    let from = start
    let to = end
    while (from < to && bytes[from] === space) from += 1
    while (to > from && (bytes[to - 1] === space || bytes[to - 1] === 0)) to -= 1
    if (from === to) return addNull(out)
    if (out.plainString(bytes, from, to)) return undefined
    const cell = bytes.subarray(from, to)
    const nul = cell.indexOf(0)
    const whole = page.decode(nul < 0 ? cell : cell.subarray(0, nul))
    // Writers cut texts to the bytes of the cell.
    const text = whole ?? (nul < 0 && to === end ? page.decodeCut(cell) : undefined)
    if (text === undefined) {
      addNull(out)
      const hint = 'Say the character set with charset=, windows-1252 for instance, or put it into the .cpg.'
      return { kind: 'InvalidUtf8', message: `The text is no ${page.name}.`, hint }
    }
    const trimmed = nul < 0 ? text : text.replace(/ +$/, '')
    if (trimmed === '') addNull(out)
    else out.string(trimmed)
    return whole === undefined ? 'cut' : undefined
  }
}

function addNull(out: JsonText): undefined {
  out.raw(nullText)
}

/** Whether a byte is none of a value: spaces, and the zero bytes that some programs fill with. */
function isFiller(byte: number): boolean {
  return byte === space || byte === 0 || byte === 0x09
}

const emptyHint = 'Leave a cell without a number empty, which is null, or write the column as text (type C).'

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

/** A number in digits, as it stands; what JSON does not allow of it (`+1`, `.5`, `5.`, leading zeros) is put right. */
function number(out: JsonText, bytes: Uint8Array, start: number, end: number): CellFault {
  let at = start
  let to = end
  while (at < to && isFiller(bytes[at] ?? 0)) at += 1
  while (to > at && isFiller(bytes[to - 1] ?? 0)) to -= 1
  // Stars fill a cell whose number was too long for it, or is missing.
  if (at === to || bytes[at] === 0x2a) return addNull(out)
  const before = out.at
  if (bytes[at] === dash) out.byte(dash)
  if (bytes[at] === dash || bytes[at] === 0x2b) at += 1
  const first = at
  while (at < to && isDigit(bytes[at] ?? 0)) at += 1
  const whole = at - first
  let from = first
  while (from < at - 1 && bytes[from] === zero) from += 1
  if (whole === 0) out.byte(zero)
  else out.raw(bytes, from, at)
  let decimals = 0
  if (at < to && bytes[at] === point) {
    const afterPoint = at + 1
    at = afterPoint
    while (at < to && isDigit(bytes[at] ?? 0)) at += 1
    decimals = at - afterPoint
    if (decimals > 0) out.raw(bytes, afterPoint - 1, at)
  }
  const isRead = whole + decimals > 0 && (at === to || exponent(out, bytes, at, to))
  if (isRead) return undefined
  out.at = before
  addNull(out)
  return { kind: 'WrongType', message: 'The cell is not a number.', hint: emptyHint }
}

/** Adds the exponent that is `bytes[start, end)`; false where it is none. */
function exponent(out: JsonText, bytes: Uint8Array, start: number, end: number): boolean {
  if (((bytes[start] ?? 0) | 0x20) !== 0x65) return false
  const sign = bytes[start + 1]
  const first = sign === dash || sign === 0x2b ? start + 2 : start + 1
  if (first >= end) return false
  for (let at = first; at < end; at++) if (!isDigit(bytes[at] ?? 0)) return false
  out.raw(bytes, start, end)
  return true
}

/** `YYYYMMDD`; spaces or zeros alone are null. */
function date(out: JsonText, bytes: Uint8Array, start: number, end: number): CellFault {
  let digits = ''
  for (let at = start; at < end; at++) digits += String.fromCharCode(bytes[at] ?? 0)
  if (/^(?:[ \0]*|0{8})$/.test(digits)) return addNull(out)
  const text = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`
  const days = readDate(utf8(text), 0, 10)
  if (days === notADate || days === noSuchDay) {
    addNull(out)
    return { kind: 'BadDate', message: `The cell is not a date: eight digits, YYYYMMDD, of an existing day.` }
  }
  out.byte(0x22)
  out.ascii(text)
  out.byte(0x22)
  return undefined
}

function logical(out: JsonText, bytes: Uint8Array, start: number): CellFault {
  const letter = String.fromCharCode(bytes[start] ?? 0)
  if ('? \0'.includes(letter)) return addNull(out)
  const isTrue = 'TtYy'.includes(letter)
  out.raw(isTrue ? trueText : falseText)
  return isTrue || 'FfNn'.includes(letter)
    ? undefined
    : { kind: 'WrongType', message: 'The cell is not a logical: T, F, Y, N or ?.' }
}

/** A reference to a text in another file, which no shapefile brings: only a blank one is read. */
function memo(out: JsonText, bytes: Uint8Array, start: number, end: number): CellFault {
  addNull(out)
  for (let at = start; at < end; at++) {
    if (isFiller(bytes[at] ?? 0)) continue
    const hint = 'Leave the column out, or copy its texts into one of type C: ogr2ogr -select a,b out.shp in.shp.'
    return { kind: 'WrongType', message: 'The cell refers to a memo file, which shapefiles do not have.', hint }
  }
  return undefined
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

function int32(out: JsonText, bytes: Uint8Array, start: number): undefined {
  out.ascii(String(viewOf(bytes).getInt32(start, true)))
}

function double(out: JsonText, bytes: Uint8Array, start: number): CellFault {
  const value = viewOf(bytes).getFloat64(start, true)
  if (Number.isFinite(value)) out.number(value)
  else addNull(out)
  return Number.isFinite(value)
    ? undefined
    : { kind: 'OutOfRange', message: `The cell holds ${value}, which is not a number of JSON.`, hint: emptyHint }
}

/** A whole number of ten-thousandths. */
function currency(out: JsonText, bytes: Uint8Array, start: number): undefined {
  const value = viewOf(bytes).getBigInt64(start, true)
  const digits = String(value < 0n ? -value : value).padStart(5, '0')
  out.ascii(`${value < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`)
}

/** Julian day of 1970-01-01. */
const julianEpoch = 2_440_588
const dayMs = 86_400_000

/** Julian day and milliseconds since midnight, of no zone; zeros or spaces alone are null. */
function dateTime(out: JsonText, bytes: Uint8Array, start: number, end: number): CellFault {
  const cell = bytes.subarray(start, end)
  if (cell.every((byte) => byte === 0) || cell.every((byte) => byte === space)) return addNull(out)
  const day = viewOf(bytes).getInt32(start, true)
  const ms = viewOf(bytes).getInt32(start + 4, true)
  const time = new Date((day - julianEpoch) * dayMs + ms)
  const isTime = ms >= 0 && ms < dayMs && time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999
  if (isTime) out.ascii(JSON.stringify(time.toISOString().slice(0, -1)))
  else addNull(out)
  return isTime
    ? undefined
    : { kind: 'BadTimestamp', message: 'The cell is not a time: a Julian day and milliseconds of it.' }
}

/** Types whose cells are no text, little-endian as FoxPro writes them. */
const binaryWriters: ReadonlyMap<string, { readonly bytes: number; readonly write: CellWriter }> = new Map([
  ['I', { bytes: 4, write: int32 }],
  ['+', { bytes: 4, write: int32 }],
  ['O', { bytes: 8, write: double }],
  ['B', { bytes: 8, write: double }],
  ['Y', { bytes: 8, write: currency }],
  ['T', { bytes: 8, write: dateTime }],
  ['@', { bytes: 8, write: dateTime }],
])
