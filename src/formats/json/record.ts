// Reads one JSON object into the columns: the core that every format of JSON objects shares, GeoJSON too, whose
// properties are one object of several members. Keys are matched as bytes against the order last met, so that a record
// like its predecessor costs no string.

import type { ColumnBuilder } from '../../arrow/column-builder.ts'
import { copyBytes } from '../../lib/bytes.ts'
import type { RecordErrorKind } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import type { RecordCore } from '../body-reader.ts'
import { columnNameOf, type ColumnPlan, reservedName, type TablePlan, unknownName, valueCode } from '../column-plan.ts'
import { type Fault, type FaultLog, type RecordPlace, unknownFieldMessage } from '../fault-log.ts'
import type { ReaderOptions } from '../format.ts'
import { scanNumber } from '../number-scan.ts'
import type { TypedColumns } from '../typed-columns.ts'
import { JsonScanner } from './scanner.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  literalEnd,
  openBrace,
  openBracket,
  pointerSegment,
  quote,
  skipSpace,
  stringText,
} from './text.ts'

/** A record with so many faults is not read further. */
export const maxFaults = 100
/** Most members of a record that are no columns. */
const maxUnknown = 16_384
/** Result of `key` after a fault. */
const noKey = -3
export const letterN = 0x6e

export interface JsonRecordOptions {
  readonly options: ReaderOptions
  readonly columns: TypedColumns
  readonly faults: FaultLog
  readonly place: RecordPlace
}

/** Also the core of features, which are not a class beneath it: one shape of object keeps its loops fast. */
export class JsonRecordReader implements RecordCore {
  broken = false
  metOther = false
  /** A fault that it finds goes to `halt`. */
  readonly scanner: JsonScanner
  readonly columns: TypedColumns
  readonly faults: FaultLog
  readonly table: TablePlan
  private readonly place: RecordPlace
  private readonly ignoreUnknown: boolean
  private readonly valueless: ReadonlySet<string>
  /** Per column, the number of the last record (from 1) that had it. */
  private readonly seen: Uint32Array
  private unknown: Set<string> | undefined = undefined
  record = 0
  /** From `maxFaults` on the record is not read further. */
  faultsHere = 0
  /** True while faults are not noted, but end the reading. */
  tentative = false
  /** Columns of this record that have their value. */
  private found = 0
  /** Nesting level of the object being read, and its pointer in the record. */
  level = 1
  path = ''
  bytes: Uint8Array = new Uint8Array(0)
  end = 0
  /** Where reading stands. */
  at = 0
  /** The key last read, between its quotes. */
  keyStart = 0
  keyEnd = 0
  /** Pointer below the member, inside of a list. */
  private below = ''

  constructor({ options, columns, faults, place }: JsonRecordOptions) {
    this.columns = columns
    this.table = columns.plan
    this.faults = faults
    this.place = place
    this.ignoreUnknown = options.unknownFields === 'ignore'
    this.valueless = new Set(options.valueless?.map(foldAscii))
    this.scanner = new JsonScanner(options.jsonDepth)
    this.seen = new Uint32Array(columns.plan.columns.length)
  }

  read(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.begin(bytes, end, record)
    const after = this.object(start, 1, '')
    if (after >= 0) this.complete(start, after)
    return after
  }

  attempt(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.tentative = true
    return this.settle(this.read(bytes, start, end, record))
  }

  /** Ends an attempt, which came to `after`: the same, or -1 if there was a fault. */
  settle(after: number): number {
    this.tentative = false
    return this.faultsHere === 0 ? after : -1
  }

  undo(): void {
    this.seen.fill(0)
  }

  /** Begins the row of record number `record`, which ends before `end`. */
  begin(bytes: Uint8Array, end: number, record: number): void {
    this.bytes = bytes
    this.end = end
    this.record = record
    this.broken = false
    this.faultsHere = 0
    this.found = 0
    this.below = ''
    this.unknown = undefined
  }

  /** Reads the members of the object at `start`, of nesting level `level` and pointer `path`: index after it, or -1. */
  object(start: number, level: number, path: string): number {
    const open = skipSpace(this.bytes, start, this.end)
    this.level = level
    this.path = path
    this.at = open
    return open < this.end && this.bytes[open] === openBrace ? this.members(open) : this.noObject()
  }

  /** Marks a column as having its value, which the caller puts there. */
  claim(column: number): void {
    this.seen[column] = this.record + 1
    this.found += 1
  }

  /**
   * Reads the members of the object that opens at `open`: index after it, or -1. Steps from member to member without the
   * scanner's methods: calls would cost NDJSON 5 % of its speed.
   */
  private members(open: number): number {
    const { bytes, end, seen, scanner, columns } = this
    const plans = this.table.columns
    const stamp = this.record + 1
    let found = 0
    let keyAt = scanner.first(bytes, open, end, closeBrace)
    for (let index = 0; keyAt > 0; index++) {
      const column = this.key(keyAt, index)
      if (column === noKey) return this.halt()
      let at = skipSpace(bytes, this.keyEnd + 1, end)
      if (at >= end || bytes[at] !== colon) return this.expected(at, 'a colon')
      this.at = skipSpace(bytes, at + 1, end)
      if (column < 0) {
        if (!this.otherMember(column, keyAt)) return -1
      } else if (seen[column] === stamp) {
        if (!this.duplicate(keyAt)) return -1
      } else {
        seen[column] = stamp
        found += 1
        const plan = plans[column]
        const builder = columns.builders[column]
        if (plan !== undefined && builder !== undefined && !this.value(plan, builder, this.level + 1)) return -1
      }
      if (this.faultsHere >= maxFaults) return -1
      at = skipSpace(bytes, this.at, end)
      const next = at < end ? bytes[at] : 0
      if (next === closeBrace) {
        this.at = at + 1
        this.found += found
        return this.at
      }
      if (next !== comma) return this.expected(at, 'a comma or the end of the object')
      keyAt = skipSpace(bytes, at + 1, end)
    }
    this.at = scanner.after
    return this.at
  }

  /** Reads the key that opens at `at`, number `index` of its object: its column, `reservedName`, `unknownName`, or `noKey`. */
  private key(at: number, index: number): number {
    const { bytes, table } = this
    const hint = table.keyBytes[index]
    if (hint !== undefined && bytes[at] === quote) {
      const { length } = hint
      if (at + length + 1 < this.end && bytes[at + length + 1] === quote) {
        let i = 0
        while (i < length && hint[i] === bytes[at + 1 + i]) i += 1
        if (i === length) {
          this.keyStart = at + 1
          this.keyEnd = at + 1 + length
          return table.keyColumns[index] ?? unknownName
        }
      }
    }
    return this.unhintedKey(at, index)
  }

  private unhintedKey(at: number, index: number): number {
    const { bytes, scanner, table } = this
    const { string } = scanner
    if (scanner.name(bytes, at, this.end) < 0) return noKey
    this.keyStart = string.start
    this.keyEnd = string.end
    const column = table.byName.get(foldAscii(this.keyText())) ?? unknownName
    // Hints stay dense and few; a key far out of order finds its place a record later.
    if (column >= 0 && !string.escaped && index <= table.keyBytes.length && index < table.columns.length) {
      table.keyBytes[index] = copyBytes(bytes, string.start, string.end)
      table.keyColumns[index] = column
    }
    return column
  }

  /** The text of the key last read. */
  keyText(): string {
    return stringText(this.scanner.scratch, this.bytes, this.keyStart, this.keyEnd)
  }

  /** A member that is no column: judged, then passed over. */
  private otherMember(column: number, keyAt: number): boolean {
    this.metOther = true
    const name = this.keyText()
    const folded = foldAscii(name)
    const keyEnd = this.keyEnd + 1
    this.unknown ??= new Set()
    if (this.unknown.has(folded)) return this.duplicate(keyAt)
    this.unknown.add(folded)
    if (this.unknown.size > maxUnknown) {
      this.note('TooManyFields', `The record has more than ${maxUnknown} members that are no columns.`, keyAt, keyEnd)
      return false
    }
    const isNull = this.bytes[this.at] === letterN
    if (!this.pass()) return false
    if (column === reservedName) {
      this.note('ReservedColumn', `'${name}' is a system column; the node fills it.`, keyAt, keyEnd)
    } else if (!isNull) this.unknownField(columnNameOf(this.table, name), keyAt, keyEnd)
    return true
  }

  /** What there is to say about the member last read, whose column would be `name`: `bytes[at, end)`. */
  unknownField(name: string, at: number, end: number): void {
    if (this.ignoreUnknown) return
    this.note('UnknownField', unknownFieldMessage(name, this.valueless.has(foldAscii(name))), at, end)
  }

  private duplicate(keyAt: number): boolean {
    const message = `The name '${this.keyText()}' stands twice in one record.`
    this.note('DuplicateField', message, keyAt, this.keyEnd + 1)
    return this.pass()
  }

  /** Passes over the value at `at` after checking it. */
  pass(): boolean {
    const after = this.scanner.check(this.bytes, this.at, this.end, this.level + 1)
    if (after < 0) return this.stop()
    this.at = after
    return true
  }

  /** Reads the value at `at` into the column; false when the record cannot be read on. */
  value(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, at, end, columns, scanner } = this
    const byte = at < end ? (bytes[at] ?? 0) : 0
    let fault: RecordErrorKind | undefined
    if (byte === quote) {
      const after = scanner.text(bytes, at, end)
      if (after < 0) return this.stop()
      this.at = after
      const { string, scratch } = scanner
      fault = string.escaped
        ? columns.putText(plan, builder, scratch.bytes, 0, scratch.length)
        : columns.putText(plan, builder, bytes, string.start, string.end)
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const { number } = scanner
      if (!scanNumber(number, bytes, at, end, false)) return this.expected(at, 'a JSON value') > 0
      this.at = number.end
      fault = columns.putNumber(plan, builder, number, bytes)
    } else if (byte === openBrace || byte === openBracket) {
      return this.nested(plan, builder, depth)
    } else {
      const after = byte === 0x74 || byte === 0x66 || byte === letterN ? literalEnd(bytes, at, end) : -1
      if (after < 0) return this.expected(at, 'a JSON value') > 0
      this.at = after
      if (byte === letterN) fault = columns.putNull(plan, builder)
      else if (plan.code === valueCode.string) builder.appendBytes(bytes, at, after)
      else fault = columns.putBool(plan, builder, byte === 0x74)
    }
    if (fault !== undefined) this.misfit(fault, plan, at)
    return true
  }

  /** An object or array: JSON text in a String column, items in a List column, a fault in any other. */
  private nested(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, at, end } = this
    if (plan.code === valueCode.list && bytes[at] === openBracket) return this.list(plan, builder, depth)
    const after = this.scanner.check(bytes, at, end, depth)
    if (after < 0) return this.stop()
    this.at = after
    if (plan.code === valueCode.string) builder.appendBytes(bytes, at, after)
    else this.misfit(this.columns.wrongType(plan, bytes[at] === openBrace ? 'an object' : 'an array'), plan, at)
    return true
  }

  private list(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, end, scanner } = this
    const { item } = plan
    const items = builder.items
    if (item === undefined || items === undefined) return false
    const outer = this.below
    this.at = scanner.first(bytes, this.at, end, closeBracket)
    for (let index = 0; this.at > 0; index++) {
      this.below = `${outer}/${index}`
      if (!this.value(item, items, depth + 1) || this.faultsHere >= maxFaults) return false
      this.at = scanner.next(bytes, this.at, end, closeBracket)
    }
    if (this.at < 0) return this.stop()
    this.at = scanner.after
    this.below = outer
    builder.endList()
    return true
  }

  /** Ends a row that was read from `start` to `end`: columns without a value are null. */
  complete(start: number, end: number): void {
    const { columns, seen } = this
    if (this.found === seen.length) return
    const stamp = this.record + 1
    for (let column = 0; column < seen.length; column++) {
      if (seen[column] === stamp) continue
      const plan = columns.plan.columns[column]
      const builder = columns.builders[column]
      if (plan === undefined || builder === undefined) continue
      const fault = columns.putNull(plan, builder)
      if (fault !== undefined) this.fault(fault, columns.reason, start, end, { column: plan.name })
    }
  }

  /** What stands here is JSON, but no object; or it is no JSON. */
  private noObject(): -1 {
    const { bytes, at, end } = this
    const after = this.scanner.check(bytes, at, end, this.level)
    if (after < 0) return this.halt('')
    this.fault('MalformedRecord', 'A record must be a JSON object.', at, after)
    this.at = after
    return -1
  }

  private expected(at: number, what: string): -1 {
    this.scanner.malformed(this.bytes, at, this.end, what)
    return this.halt()
  }

  private stop(): false {
    this.halt(this.pointer())
    return false
  }

  /** Notes what the scanner found in the value that `pointer` points to; the record cannot be read on. */
  halt(pointer?: string): -1 {
    const { kind, message, at, end } = this.scanner
    this.broken = kind === 'MalformedRecord'
    const pointed = !this.broken && pointer !== undefined
    this.fault(kind, message, at, end, pointed ? { pointer: pointer + this.scanner.pointer } : {})
    return -1
  }

  /** Pointer of the value being read. */
  pointer(): string {
    return this.path + pointerSegment(this.keyText()) + this.below
  }

  /** The value `bytes[at, this.at)` does not fit its column. */
  misfit(kind: RecordErrorKind, plan: ColumnPlan, at: number): void {
    this.fault(kind, this.columns.reason, at, this.at, { column: plan.name, pointer: this.pointer() })
  }

  /** Notes a fault of the member being read. */
  note(kind: RecordErrorKind, message: string, at: number, end: number): void {
    this.fault(kind, message, at, end, { pointer: this.pointer() })
  }

  /** Notes a fault of this record: `bytes[at, end)` is what is wrong. */
  fault(
    kind: RecordErrorKind,
    message: string,
    at: number,
    end: number,
    names: Pick<Fault, 'column' | 'pointer'> = {},
  ): void {
    if (this.tentative) {
      this.faultsHere = maxFaults
      return
    }
    this.columns.fail()
    this.faultsHere += 1
    this.faults.add({ kind, message, bytes: this.bytes, at, end, ...names }, this.record, this.place)
  }
}
