// Parses runs of plain lines (JSON objects, cells, points) in WebAssembly, into the columns of a body. Anything unusual is left to the
// TypeScript reader beside it, which reports faults: here is none, and no warning but of times that are cut off.

import { Buffer } from 'node:buffer'
import { utf8 } from '../../base/bytes.ts'
import { type Zone, zoneNamed } from '../../base/zone.ts'
import { foldAscii } from '../../model/names.ts'
import type { ColumnRows } from '../column-rows.ts'
import { cutTimes } from '../column-warnings.ts'
import { type ColumnPlan, eventTimeNameOf, type TablePlan, valueCode } from '../column-plan.ts'
import type { ReaderOptions } from '../format.ts'
import { earlySeconds, epochExponent } from '../time-rules.ts'
import { endSecond } from '../../base/calendar.ts'
import { maxInt64, minInt64 } from '../../columnar/arrow/numbers.ts'
import * as layout from './layout.ts'
import { type CompiledMemory, compiledMemory, inputBytes } from './memory.ts'

/** Byte of the decimal sign of JSON. */
export const point = 0x2e
/** For fewer bytes it is not worth its while. */
export const leastCompiled = 1024
/** With more columns few records have them all. */
const mostColumns = 32
const mostKeys = 64
const mostKeyBytes = 260
const mostCells = 64
/** After fewer rows it pauses: for a record, for three, seven, … */
const fewRows = 16
const mostPaused = 1023

/** The names of a table as they are spelt in records, and the columns that they mean. */
interface Key {
  readonly text: Uint8Array
  readonly column: number
}

/** How a name is spelt in records: what begins and ends it, and what is in none that is spelt plainly. */
interface Spelling {
  readonly begin: string
  readonly end: string
  readonly others: RegExp
  readonly keysOf: WeakMap<TablePlan, Key[]>
}

const quotedNames: Spelling = { begin: '"', end: '"', others: /["\\]/, keysOf: new WeakMap() }
const pointNames: Spelling = { begin: '', end: '=', others: /[ "#,=\\\n\r\t]/, keysOf: new WeakMap() }

/** The cells of a record. */
export interface CellPlaces {
  /** The byte between two. */
  readonly separator: number
  /** The byte of decimal signs, another one. */
  readonly decimal: number
  /** Column of each cell; -1: it may hold anything, less: it must be empty. */
  readonly columns: readonly number[]
  /** By column: `patternRecord` of its days and times. */
  readonly patterns: readonly (Uint8Array | undefined)[]
}

/** What records are. */
type Records =
  | { readonly kind: 'objects' }
  | ({ readonly kind: 'cells' } & CellPlaces)
  /** `measurements`: index of their column. */
  | { readonly kind: 'points'; readonly measurements: number }

const kindCodes = {
  objects: layout.recordsOfObjects,
  cells: layout.recordsOfCells,
  points: layout.recordsOfPoints,
} as const

export class CompiledLines {
  /** Records that the last `read` took. */
  rows = 0
  private readonly memory: CompiledMemory
  private readonly plan: TablePlan
  private readonly keys: Key[]
  private readonly records: Records
  private readonly spelling: Spelling
  private readonly epoch: ReaderOptions['eventTimeUnit']
  /** That of times without one, where it alone says which instants they are. */
  private readonly zone: Zone | undefined
  private pause = 0
  private misses = 0

  /** For bodies of a table, of lines of cells; undefined where it would read none of them. */
  static ofCells(plan: TablePlan, options: ReaderOptions, cells: CellPlaces): CompiledLines | undefined {
    const met = cells.columns.flatMap((column) => plan.columns[column] ?? [])
    const isWhole = plan.required.every((index) => cells.columns.includes(index))
    const isRead = met.some((column) => ![layout.codeOfNone, layout.codeOfString].includes(codeOf(column)[0]))
    const isWorthIt = isWhole && isRead && cells.columns.length <= mostCells
    return isWorthIt ? CompiledLines.of(plan, options, { kind: 'cells', ...cells }) : undefined
  }

  /** For bodies of a table, of line protocol, whose measurements go into the column of this name. */
  static ofPoints(plan: TablePlan, options: ReaderOptions, name: string): CompiledLines | undefined {
    const measurements = plan.byName.get(name) ?? -1
    if (plan.columns[measurements]?.code !== valueCode.string) return undefined
    return CompiledLines.of(plan, options, { kind: 'points', measurements })
  }

  /** For bodies of a table; undefined where it would not read them as they are to be read. */
  static of(
    plan: TablePlan,
    options: ReaderOptions,
    records: Records = { kind: 'objects' },
  ): CompiledLines | undefined {
    const isPlain = options.flatten !== true && options.eventTime?.kind !== 'path' && options.recordBytes >= inputBytes
    if (!isPlain || plan.columns.length > mostColumns) return undefined
    const memory = compiledMemory()
    return memory && new CompiledLines(memory, plan, options, records)
  }

  private constructor(memory: CompiledMemory, plan: TablePlan, options: ReaderOptions, records: Records) {
    this.memory = memory
    this.plan = plan
    this.epoch = options.eventTimeUnit
    const { timeZone, ambiguous } = options
    const isKnown = timeZone !== undefined && (ambiguous !== 'ordered' || timeZone === 'UTC')
    this.zone = isKnown ? zoneNamed(timeZone) : undefined
    this.records = records
    this.spelling = records.kind === 'points' ? pointNames : quotedNames
    const { keysOf } = this.spelling
    this.keys = records.kind === 'cells' ? [] : (keysOf.get(plan) ?? firstKeys(plan, options, this.spelling))
    if (records.kind !== 'cells') keysOf.set(plan, this.keys)
  }

  /** Reads records from the one at `at` on into `columns`: the index after the last one's line end. */
  read(bytes: Uint8Array, from: number, columns: ColumnRows): number {
    this.rows = 0
    if (this.pause > 0) {
      this.pause -= 1
      return from
    }
    const { memory } = this
    let at = from
    while (at < bytes.length) {
      if (memory.owner !== this) this.prepare()
      this.beginTexts(columns)
      const { start, end } = memory.hold(bytes, at)
      const rows = memory.module.run(start, end, Math.min(layout.runRows, columns.roomRows), columns.roomBytes)
      const length = memory.module.stoppedAt() - start
      if (rows > 0) this.take(columns, rows, length - rows)
      at += length
      this.rows += rows
      const key = memory.module.unknownKey()
      if (key === 0 ? rows === 0 && !this.learnTime() : !this.learn(key, end)) break
    }
    this.misses = this.rows < fewRows ? Math.min(2 * this.misses + 1, mostPaused) : 0
    this.pause = this.misses
    return at
  }

  /** Lets texts go on where those of the columns end. */
  private beginTexts(columns: ColumnRows): void {
    const { memory, plan } = this
    const begin = (index: number, end: number): void => {
      const record = this.recordOf(index)
      const { values, offsets } = memory.place(index)
      memory.words[(record + layout.columnText) >> 2] = values
      memory.words[(record + layout.columnBase) >> 2] = end - values
      memory.words[offsets >> 2] = end
    }
    plan.columns.forEach(({ code }, index) => {
      if (code === valueCode.string) begin(index, columns.textEnd(index))
    })
    if (this.records.kind === 'cells') begin(plan.columns.length, 0)
  }

  /** Appends what a run has read from so many bytes. */
  private take(columns: ColumnRows, rows: number, length: number): void {
    const { memory, plan } = this
    const { bytes, words } = memory
    plan.columns.forEach(({ code }, index) => {
      const record = this.recordOf(index)
      // Of a type that the module does not read a column has nulls alone: it gets them where rows end.
      const isRead = words[(record + layout.columnCode) >> 2] !== layout.codeOfNone
      if (!isRead || words[(record + layout.columnRows) >> 2] === 0) return
      const { values, offsets, validity } = memory.place(index)
      const isText = code === valueCode.string
      const base = words[(record + layout.columnBase) >> 2] ?? 0
      const end = isText ? (words[(offsets >> 2) + rows] ?? 0) - base : values + layout.runRows * 8
      columns.builder(index).appendRows(rows, {
        values: bytes.subarray(values, end),
        ends: isText ? words.subarray((offsets >> 2) + 1, (offsets >> 2) + 1 + rows) : undefined,
        validity: (words[(record + layout.columnNulls) >> 2] ?? 0) > 0 ? bytes.subarray(validity) : undefined,
      })
    })
    this.tellCuts(columns)
    columns.endRows(rows, length)
  }

  /** Warns of times that were cut off, in the order in which they came. */
  private tellCuts(columns: ColumnRows): void {
    const { memory, plan } = this
    const told = plan.columns.flatMap((column, index) => {
      if (column.code !== valueCode.timestamp) return []
      const at = this.recordOf(index)
      const [count = 0, first = 0, order = 0] = [layout.columnCuts, layout.columnFirstCut, layout.columnCutOrder].map(
        (offset) => memory.words[(at + offset) >> 2],
      )
      return count > 0 ? { column, count, first, order } : []
    })
    told.sort((a, b) => a.order - b.order)
    for (const { column, count, first } of told) columns.warnOfRows(cutTimes(column), count, first)
  }

  /** Remembers the key at `at`, if it means a column. */
  private learn(at: number, end: number): boolean {
    const { memory, plan, keys, spelling } = this
    const limit = Math.min(end, at + mostKeyBytes)
    const text = Buffer.from(memory.bytes.subarray(at, limit))
    const from = spelling.begin.length
    const to = text.indexOf(spelling.end, from)
    if (to < 0 || !text.toString('latin1').startsWith(spelling.begin) || keys.length === mostKeys) return false
    const name = text.toString('utf8', from, to)
    const column = spelling.others.test(name) ? -1 : (plan.byName.get(foldAscii(name)) ?? -1)
    if (column < 0 || !this.isNameable(column)) return false
    keys.push({ text: Uint8Array.from(text.subarray(0, to + 1)), column })
    memory.owner = undefined
    return true
  }

  /** Finds which instants the local times around the unknown one are. */
  private learnTime(): boolean {
    if (this.zone?.find(this.memory.module.unknownTime()) !== true) return false
    this.prepareSpans()
    return true
  }

  private prepareSpans(): void {
    const { memory } = this
    const numbers = this.zone?.found ?? []
    memory.longs.set(numbers.map(BigInt), memory.spans >> 3)
    memory.module.prepareSpans(memory.spans, numbers.length / 3)
  }

  /** Of points, no tag or field is the event time. */
  private isNameable(column: number): boolean {
    return this.records.kind !== 'points' || column > 0
  }

  private recordOf(column: number): number {
    return this.memory.table + column * layout.columnBytes
  }

  /** Writes what the module is to know of the columns and their names. */
  private prepare(): void {
    const { memory, plan, keys, records } = this
    memory.place(plan.columns.length)
    memory.settle()
    plan.columns.forEach((column, index) => this.describe(column, index))
    const room = layout.keyHead + 16 + mostKeyBytes
    keys.forEach(({ text, column }, index) => {
      const at = memory.keys + index * room
      const next = index + 1 === keys.length ? memory.keys : at + room
      memory.bytes.fill(0, at, at + room)
      memory.words[(at + layout.keyColumn) >> 2] = this.recordOf(column)
      memory.words[(at + layout.keyLength) >> 2] = text.length
      memory.words[(at + layout.keyNext) >> 2] = next
      memory.words[(at + layout.keyLikely) >> 2] = next
      memory.bytes.fill(0xff, at + layout.keyMask, at + layout.keyMask + Math.min(16, text.length))
      memory.bytes.set(text, at + layout.keyHead)
    })
    const decimal = records.kind === 'cells' ? records.decimal : point
    memory.module.prepare(memory.table, plan.columns.length, kindCodes[records.kind], decimal)
    this.prepareSpans()
    if (records.kind === 'cells') this.prepareCells(records)
    else memory.module.prepareKeys(memory.keys)
    if (records.kind === 'points') {
      const fraction = Math.max(0, 10 ** epochExponent[this.epoch ?? 'ns'] / (plan.columns[0]?.perSecond ?? 1))
      const unitsInOne = fraction > 1 ? fraction : 0
      memory.module.preparePoints(this.recordOf(records.measurements), this.recordOf(0), unitsInOne)
    }
    memory.owner = this
  }

  /** What is ignored is read as the text of a column after the last, which nobody takes. */
  private prepareCells({ separator, columns }: CellPlaces): void {
    const { memory, plan } = this
    this.locate(plan.columns.length, layout.codeOfString)
    columns.forEach((column, cell) => {
      const index = column === -1 ? plan.columns.length : column
      memory.words[(memory.keys >> 2) + cell] = index < 0 ? 0 : this.recordOf(index)
    })
    memory.module.prepareCells(memory.keys, columns.length, separator)
  }

  /** Begins the record of the column at `index`: where that is. */
  private locate(index: number, code: number): number {
    const { words } = this.memory
    const at = this.recordOf(index)
    const { values, offsets, validity } = this.memory.place(index)
    words.fill(0, at >> 2, (at + layout.columnBytes) >> 2)
    words[(at + layout.columnCode) >> 2] = code
    words[(at + layout.columnValues) >> 2] = values
    words[(at + layout.columnOffsets) >> 2] = offsets
    words[(at + layout.columnValidity) >> 2] = validity
    return at
  }

  private describe(column: ColumnPlan, index: number): void {
    const { words, longs } = this.memory
    const [code, width] = codeOf(column)
    const at = this.locate(index, code)
    words[(at + layout.columnRequired) >> 2] = column.required ? 1 : 0
    words[(at + layout.columnWidth) >> 2] = width
    words[(at + layout.columnUnits) >> 2] = column.perSecond
    const pattern = this.records.kind === 'cells' ? this.records.patterns[index] : undefined
    if (pattern !== undefined) {
      const place = this.memory.patterns + index * layout.patternBytes
      this.memory.bytes.set(pattern, place)
      words[(at + layout.columnPattern) >> 2] = place
    }
    let [least, most] = rangeOf(column)
    if (code === layout.codeOfTimestamp && index === 0 && this.epoch !== undefined) {
      const perSecond = 10 ** epochExponent[this.epoch]
      const units = column.perSecond / perSecond
      words[(at + layout.columnEpoch) >> 2] = units >= 1 ? units : 0
      // Those in January 1970 are warned of.
      least = BigInt(earlySeconds * perSecond)
      const end = BigInt(endSecond) * BigInt(perSecond) - 1n
      most = end < maxInt64 ? end : maxInt64
    }
    longs[(at + layout.columnLeast) >> 3] = least
    longs[(at + layout.columnMost) >> 3] = most
  }
}

/** The names of the columns as the dataset spells them. */
function firstKeys(plan: TablePlan, options: ReaderOptions, { begin, end, others }: Spelling): Key[] {
  const time = begin === '' ? '' : (eventTimeNameOf(options) ?? '')
  const names = [time, ...plan.columns.slice(1).map(({ name }) => name)]
  return names.flatMap((name, column) =>
    plan.byName.get(foldAscii(name)) === column && !others.test(name)
      ? { text: utf8(`${begin}${name}${end}`), column }
      : [],
  )
}

function rangeOf({ code, min, max }: ColumnPlan): [least: bigint, most: bigint] {
  if (code === valueCode.small) return [BigInt(min), BigInt(max)]
  return [code === valueCode.uint64 ? 0n : minInt64, maxInt64]
}

/** What the module takes a column as, and bytes of a value. */
function codeOf({ code, min, max, isSingle, perSecond }: ColumnPlan): readonly [code: number, width: number] {
  switch (code) {
    case valueCode.bool:
      return [layout.codeOfBool, 0]
    case valueCode.small:
      return [layout.codeOfInteger, max - min > 65_535 ? 4 : max - min > 255 ? 2 : 1]
    case valueCode.int64:
    case valueCode.uint64:
      return [layout.codeOfInteger, 8]
    case valueCode.float:
      return [layout.codeOfFloat, isSingle ? 4 : 8]
    case valueCode.string:
      return [layout.codeOfString, 0]
    case valueCode.date:
      return [layout.codeOfDate, 4]
    case valueCode.timestamp:
      // Nanoseconds of some years are beyond 64 bits.
      return perSecond <= 1e6 ? [layout.codeOfTimestamp, 8] : [layout.codeOfNone, 8]
    default:
      return [layout.codeOfNone, 0]
  }
}
