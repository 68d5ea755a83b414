// Takes one record of CSV or TSV apart into cells. Source: RFC 4180, with LF as a line end too, and with tabs for commas in TSV.

import { grown, grownWords } from '../../base/bytes.ts'
import type { Dialect, LineRange } from '../dialect/dialect.ts'
import { excerptOf } from '../fault-log.ts'
import type { SkippedLines } from '../format.ts'
import { comma, Scratch } from '../json/text.ts'
import { isPadding, trimEnd } from '../inference.ts'
import type { Framer } from '../record-feed.ts'

const carriageReturn = 0x0d
const tab = 0x09

/** What stands between two cells. */
export interface Separator {
  readonly byte: number
  /** With its article. */
  readonly name: string
}

export const commas: Separator = { byte: comma, name: 'a comma' }
export const tabs: Separator = { byte: tab, name: 'a tab' }

/** A format of cells. */
export type CellFormat = Readonly<{ separator: Separator; mediaType: string }>

/** What stands between and around the cells of a body. */
export interface CellSigns {
  readonly separator: Separator
  /** Byte of the quote; -1: none. */
  readonly quote: number
  /** Byte that begins a line which is no record; -1: none. */
  readonly comment: number
  /** White space around bare cells and quotes is not of the cell. */
  readonly trim: boolean
  readonly skipped: Dialect['skipped']
}

/** The signs of a format, as a dialect changes them. */
export function cellSigns(
  { separator }: CellFormat,
  { delimiter, quote = '"', comment, ...more }: Dialect = {},
): CellSigns {
  return {
    separator: delimiter === undefined ? separator : separatorOf(delimiter),
    quote: byteOf(quote),
    comment: byteOf(comment),
    trim: more.trim === true,
    skipped: more.skipped,
  }
}

/** What stands between cells. */
export function separatorOf(sign: string): Separator {
  const byte = byteOf(sign)
  return [commas, tabs].find((one) => one.byte === byte) ?? { byte, name: `'${sign}'` }
}

function byteOf(sign: string | undefined): number {
  return sign === undefined || sign === '' ? -1 : sign.charCodeAt(0)
}

/** Why a record's cells cannot be told apart. */
export type CellFault = 'after-quote' | 'padded-quote' | 'too-many' | undefined

/** Most cells of a record. */
const maxCells = 16_384

/** A fault as a sentence. */
export function splitFault(fault: NonNullable<CellFault>, { name }: Separator): string {
  switch (fault) {
    case 'after-quote':
      return `Only ${name} or the end of the line may follow a closing quote.`
    case 'padded-quote':
      return 'White space stands before the quote of this cell: say trim=true, or write the cell without it.'
    case 'too-many':
      return `A record has at most ${maxCells} cells.`
  }
}

/** The cells of the record last split: cell i is `source(i)[starts[i], ends[i])`. */
export class CsvCells {
  count = 0
  /** Index of the byte that a fault is about. */
  faultAt = 0
  starts: Int32Array = new Int32Array(64)
  ends: Int32Array = new Int32Array(64)
  /** Where the cell stands in the record, quotes included. */
  rawStarts: Int32Array = new Int32Array(64)
  /** 1 for a quoted cell, 2 for one with doubled quotes, whose text is in `scratch`. */
  quoted: Uint8Array = new Uint8Array(64)
  private bytes: Uint8Array = new Uint8Array(0)
  private readonly scratch = new Scratch()
  private separator: number
  private readonly quote: number
  private readonly trim: boolean

  constructor({ separator, quote, trim }: CellSigns) {
    this.separator = separator.byte
    this.quote = quote
    this.trim = trim
  }

  /** From now on this stands between cells. */
  use({ byte }: Separator): void {
    this.separator = byte
  }

  /** The bytes that cell `cell` lies in. */
  source(cell: number): Uint8Array {
    return this.quoted[cell] === 2 ? this.scratch.bytes : this.bytes
  }

  /** Splits `bytes[start, end)`, a record without its line end (a carriage return before it is dropped). */
  split(bytes: Uint8Array, start: number, end: number): CellFault {
    const { separator, quote, trim } = this
    this.bytes = bytes
    this.count = 0
    this.scratch.reset(0)
    const stop = contentEnd(bytes, start, end)
    let at = start
    while (true) {
      if (this.count === maxCells) {
        this.faultAt = at
        return 'too-many'
      }
      if (this.count === this.starts.length) this.grow()
      const cell = this.count
      this.count += 1
      this.rawStarts[cell] = at
      if (trim) at = this.afterPadding(at, stop)
      if (at < stop && bytes[at] === quote) {
        at = this.quotedCell(cell, at, stop)
        if (at < 0) return 'after-quote'
      } else {
        this.starts[cell] = at
        // A quote is text where the cell does not begin with one.
        while (at < stop && bytes[at] !== separator) at += 1
        if (this.isPaddedQuote(this.starts[cell] ?? 0, at)) return 'padded-quote'
        this.ends[cell] = trim ? trimEnd(bytes, this.starts[cell] ?? at, at) : at
        this.quoted[cell] = 0
      }
      if (at >= stop) return undefined
      at += 1
    }
  }

  /** Whether a bare cell is white space and then a quote, which others read as a quoted one. */
  private isPaddedQuote(start: number, end: number): boolean {
    if (start === end || !isPadding(this.bytes[start] ?? 0)) return false
    this.faultAt = this.afterPadding(start, end)
    return this.faultAt < end && this.bytes[this.faultAt] === this.quote
  }

  /** Index of the first byte from `at` on that is no white space; a separator is none. */
  private afterPadding(from: number, stop: number): number {
    let at = from
    while (at < stop && isPadding(this.bytes[at] ?? 0) && this.bytes[at] !== this.separator) at += 1
    return at
  }

  /** Index of the first NUL outside of quotes, or -1: text has none, where nobody quoted it on purpose. */
  bareNul(): number {
    for (let cell = 0; cell < this.count; cell++) {
      if (this.quoted[cell] !== 0) continue
      const start = this.starts[cell] ?? 0
      const found = this.bytes.subarray(start, this.ends[cell]).indexOf(0)
      if (found >= 0) return start + found
    }
    return -1
  }

  /** Reads the quoted cell that opens at `open`: index after its closing quote, or -1 when something follows it. */
  private quotedCell(cell: number, open: number, stop: number): number {
    const { bytes, quote } = this
    let at = open + 1
    let doubled = false
    while (at < stop) {
      if (bytes[at] === quote) {
        if (at + 1 < stop && bytes[at + 1] === quote) {
          doubled = true
          at += 1
        } else break
      }
      at += 1
    }
    this.starts[cell] = open + 1
    this.ends[cell] = at
    this.quoted[cell] = 1
    if (doubled) this.undouble(cell, open + 1, at)
    const after = this.trim ? this.afterPadding(at + 1, stop) : at + 1
    if (after < stop && bytes[after] !== this.separator) {
      this.faultAt = after
      return -1
    }
    return after
  }

  private undouble(cell: number, start: number, end: number): void {
    const { bytes, scratch } = this
    const first = scratch.length
    const needed = first + end - start
    if (scratch.bytes.length < needed) scratch.bytes = grown(scratch.bytes, 2 * needed)
    for (let at = start; at < end; at++) {
      scratch.bytes[scratch.length++] = bytes[at] ?? 0
      if (bytes[at] === this.quote) at += 1
    }
    this.quoted[cell] = 2
    this.starts[cell] = first
    this.ends[cell] = scratch.length
  }

  private grow(): void {
    const length = 2 * this.starts.length
    this.starts = grownWords(this.starts, length)
    this.ends = grownWords(this.ends, length)
    this.rawStarts = grownWords(this.rawStarts, length)
    this.quoted = grown(this.quoted, length)
  }
}

/** Where the record `bytes[start, end)` ends without the carriage return of its line end. */
export function contentEnd(bytes: Uint8Array, start: number, end: number): number {
  return end > start && bytes[end - 1] === carriageReturn ? end - 1 : end
}

/** True for a record that is no record: nothing between its line ends. */
export function isBlankLine(bytes: Uint8Array, start: number, end: number): boolean {
  return start === end || (end - start === 1 && bytes[start] === carriageReturn)
}

const newline = 0x0a

/** Where in a cell the last byte read stands. */
type CellState = 'start' | 'plain' | 'quoted' | 'after-quote'

export class CsvFramer implements Framer {
  line = 1
  stopped = 0
  readonly terminatorBytes = 1
  /** Line of the quote that opened the last quoted cell, and its distance from the start of the record. */
  quoteLine = 0
  quoteDistance = 0
  private separator: number
  private readonly signs: CellSigns
  private state: CellState = 'start'
  private recordLength = 0
  /** Index of the next quote in the bytes at hand, at or after the last place it was needed; -1: not looked for. */
  private nextQuote = -1
  /** Index of the lines to be skipped that were next when it was last asked. */
  private range = 0
  /** In a line that is no record. */
  private isPassing = false
  private readonly left = { rows: 0, comments: 0 }
  private readonly firstLeft: { rows?: string; comments?: string } = {}

  constructor(signs: CellSigns) {
    this.separator = signs.separator.byte
    this.signs = signs
  }

  /** From now on this stands between cells. */
  use({ byte }: Separator): void {
    this.separator = byte
  }

  /** Whether a line that is no record may come. */
  get mayPass(): boolean {
    return this.isPassing || this.signs.comment >= 0 || this.skippedNext !== undefined
  }

  /** True when the bytes so far end inside of quotes. */
  get inQuotes(): boolean {
    return this.state === 'quoted'
  }

  begin(bytes: Uint8Array, from: number): number {
    if (from === 0) this.nextQuote = -1
    let at = from
    while (at < bytes.length && (this.isPassing || this.beginsOther(bytes[at] ?? 0))) {
      const end = bytes.indexOf(newline, at)
      if (!this.isPassing) this.count(bytes, at, end < 0 ? bytes.length : end)
      this.isPassing = end < 0
      if (end < 0) return -1
      this.line += 1
      at = end + 1
    }
    if (at >= bytes.length) return -1
    this.state = 'start'
    this.recordLength = 0
    return at
  }

  /** The lines that were no records; undefined where there were none. */
  get skipped(): SkippedLines | undefined {
    const { rows, comments } = this.left
    return rows + comments === 0 ? undefined : { rows, comments, first: this.firstLeft }
  }

  private count(bytes: Uint8Array, at: number, end: number): void {
    const kind = (this.skippedNext?.[0] ?? Number.POSITIVE_INFINITY) <= this.line ? 'rows' : 'comments'
    this.left[kind] += 1
    this.firstLeft[kind] ??= excerptOf(bytes, at, bytes[end - 1] === carriageReturn ? end - 1 : end)
  }

  /** The lines to be skipped at or after the place reached. */
  private get skippedNext(): LineRange | undefined {
    const { skipped = [] } = this.signs
    while ((skipped[this.range]?.[1] ?? Number.POSITIVE_INFINITY) < this.line) this.range += 1
    return skipped[this.range]
  }

  /** Whether a line that begins with `first` is no record. */
  private beginsOther(first: number): boolean {
    return first === this.signs.comment || (this.skippedNext?.[0] ?? Number.POSITIVE_INFINITY) <= this.line
  }

  /** Records of one line each were read, from `at` on, without asking for their ends. */
  passedLines(lines: number, at: number): void {
    if (at === 0) this.nextQuote = -1
    this.line += lines
  }

  end(bytes: Uint8Array, at: number): number {
    if (at === 0) this.nextQuote = -1
    const lineEnd = bytes.indexOf(newline, at)
    const stop = lineEnd < 0 ? bytes.length : lineEnd
    if (this.state === 'quoted' || this.quoteBefore(bytes, at, stop)) return this.endQuoted(bytes, at)
    if (lineEnd >= 0) return lineEnd
    for (let last = stop - 1; last >= at; last--) {
      const byte = bytes[last] ?? 0
      if (this.signs.trim && byte !== this.separator && isPadding(byte)) continue
      this.state = byte === this.separator ? 'start' : 'plain'
      break
    }
    this.recordLength += stop - at
    return -1
  }

  private quoteBefore(bytes: Uint8Array, at: number, stop: number): boolean {
    const { quote } = this.signs
    if (quote < 0) return false
    if (this.nextQuote < at) {
      const found = bytes.indexOf(quote, at)
      this.nextQuote = found < 0 ? bytes.length : found
    }
    return this.nextQuote < stop
  }

  private endQuoted(bytes: Uint8Array, from: number): number {
    const { length } = bytes
    const { separator } = this
    const { quote, trim } = this.signs
    let state = this.state
    let at = from
    for (; at < length; at++) {
      const byte = bytes[at] ?? 0
      if (state === 'quoted') {
        if (byte === quote) state = 'after-quote'
        else if (byte === newline) this.line += 1
      } else if (byte === quote && state !== 'plain') {
        if (state === 'start') {
          this.quoteLine = this.line
          this.quoteDistance = this.recordLength + at - from
        }
        state = 'quoted'
      } else if (byte === newline) break
      else if (byte === separator) state = 'start'
      else if (!(trim && state === 'start' && isPadding(byte))) state = 'plain'
    }
    this.state = state
    this.recordLength += at - from
    return at < length ? at : -1
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The cells of the record last split, as text. */
export function cellTexts(cells: CsvCells): string[] {
  const out: string[] = []
  for (let i = 0; i < cells.count; i++) {
    out.push(decoder.decode(cells.source(i).subarray(cells.starts[i], cells.ends[i])))
  }
  return out
}
