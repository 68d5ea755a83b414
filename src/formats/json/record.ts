// Reads one JSON object into the columns: the core that every format of JSON objects shares, GeoJSON too, whose
// properties are one object of several members. Keys are matched as bytes against the order last met, so that a record
// like its predecessor costs no string.

import type { ColumnBuilder } from '../../arrow/column-builder.ts'
import type { RecordErrorKind } from '../../model/errors.ts'
import { foldAscii } from '../../model/names.ts'
import { columnNameOf, type ColumnPlan, reservedName, valueCode } from '../column-plan.ts'
import { type FaultLog, type RecordPlace, unknownFieldMessage } from '../fault-log.ts'
import type { ReaderOptions } from '../format.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import type { TypedColumns } from '../typed-columns.ts'
import { JsonChecker } from './checker.ts'
import { KeyReader, noKey } from './keys.ts'
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
  scanString,
  Scratch,
  skipSpace,
  StringScan,
  unescapeString,
} from './text.ts'

interface FaultNames {
  readonly column?: string
  readonly pointer?: string
}

/** A record with so many faults is not read further. */
const maxFaults = 100
/** Most members of a record that are no columns. */
const maxUnknown = 16_384

export interface JsonRecordOptions extends Pick<ReaderOptions, 'unknownFields' | 'valueless' | 'jsonDepth'> {
  readonly columns: TypedColumns
  readonly faults: FaultLog
  readonly place: RecordPlace
}

export class JsonRecordReader {
  /** True after a fault of syntax: where the object ends is not known. */
  broken = false
  /** True once there was a name that is no column. */
  metOther = false
  /** Judges what no column takes apart; a fault that it finds goes to `stop`. */
  readonly checker: JsonChecker
  private readonly columns: TypedColumns
  private readonly faults: FaultLog
  private readonly place: RecordPlace
  private readonly ignoreUnknown: boolean
  private readonly valueless: ReadonlySet<string>
  private readonly keys: KeyReader
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly scratch = new Scratch()
  /** Per column, the number of the last record (from 1) that had it. */
  private readonly seen: Uint32Array
  private unknown: Set<string> | undefined = undefined
  private record = 0
  private faultsHere = 0
  /** True while faults are not noted, but end the reading. */
  tentative = false
  /** Columns of this record that have their value. */
  private found = 0
  /** Nesting level of the object being read, and its pointer in the record. */
  private level = 1
  private path = ''
  private bytes: Uint8Array = new Uint8Array(0)
  private end = 0
  /** Where reading stands. */
  private at = 0
  /** Pointer below the member, inside of a list. */
  private below = ''

  constructor(options: JsonRecordOptions) {
    this.columns = options.columns
    this.faults = options.faults
    this.place = options.place
    this.ignoreUnknown = options.unknownFields === 'ignore'
    this.valueless = new Set(options.valueless?.map(foldAscii))
    this.checker = new JsonChecker(options.jsonDepth)
    this.keys = new KeyReader(options.columns.plan, this.checker)
    this.seen = new Uint32Array(options.columns.plan.columns.length)
  }

  /**
   * Reads the object at `start` as record number `record` (0-based): index after it, or -1 when it could not be read
   * to its end. Faults go to the log; a row is added to the columns, complete unless there was a fault.
   */
  read(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.begin(bytes, end, record)
    const after = this.object(start, 1, '')
    if (after >= 0) this.complete(start, after)
    return after
  }

  /** See ObjectCore. */
  attempt(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.tentative = true
    return this.settle(this.read(bytes, start, end, record))
  }

  /** Ends an attempt, which came to `after`: the same, or -1 if there was a fault. */
  settle(after: number): number {
    this.tentative = false
    return this.faultsHere === 0 ? after : -1
  }

  /** See ObjectCore. */
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
    const { bytes, end } = this
    this.level = level
    this.path = path
    this.at = skipSpace(bytes, start, end)
    if (this.at >= end || bytes[this.at] !== openBrace) return this.noObject()
    this.at = skipSpace(bytes, this.at + 1, end)
    if (this.at < end && bytes[this.at] === closeBrace) return this.at + 1
    const found = this.members()
    if (found < 0) return -1
    this.found += found
    return this.at
  }

  /** Ends a row that was read from `start` to `end`: columns without a value are null. */
  complete(start: number, end: number): void {
    this.at = end
    if (this.found < this.seen.length) this.fillMissing(start)
  }

  /** Marks a column as having its value, which the caller puts there. */
  claim(column: number): void {
    this.seen[column] = this.record + 1
    this.found += 1
  }

  /** True when the record has so many faults that it is not read further. */
  get full(): boolean {
    return this.faultsHere >= maxFaults
  }

  /** Reads members up to the closing brace: how many columns were met, or -1. */
  private members(): number {
    const { bytes, end, seen, keys } = this
    const stamp = this.record + 1
    let found = 0
    for (let index = 0; ; index++) {
      const keyAt = this.at
      const column = keys.read(bytes, keyAt, end, index)
      if (column === noKey) {
        this.halt()
        return -1
      }
      let at = skipSpace(bytes, keys.end + 1, end)
      if (at >= end || bytes[at] !== colon) return this.expected(at, 'a colon')
      this.at = skipSpace(bytes, at + 1, end)
      if (column < 0) {
        if (!this.otherMember(column, keyAt)) return -1
      } else if (seen[column] === stamp) {
        if (!this.duplicate(keyAt)) return -1
      } else {
        seen[column] = stamp
        found += 1
        const plan = this.columns.plan.columns[column]
        const builder = this.columns.builders[column]
        if (plan !== undefined && builder !== undefined && !this.value(plan, builder, this.level + 1)) return -1
      }
      if (this.faultsHere >= maxFaults) return -1
      at = skipSpace(bytes, this.at, end)
      const next = at < end ? bytes[at] : 0
      if (next === closeBrace) {
        this.at = at + 1
        return found
      }
      if (next !== comma) return this.expected(at, 'a comma or the end of the object')
      this.at = skipSpace(bytes, at + 1, end)
    }
  }

  /** A member that is no column: judged, then passed over. */
  private otherMember(column: number, keyAt: number): boolean {
    this.metOther = true
    const name = this.keys.text(this.bytes)
    const folded = foldAscii(name)
    const keyEnd = this.keys.end + 1
    this.unknown ??= new Set()
    if (this.unknown.has(folded)) return this.duplicate(keyAt)
    this.unknown.add(folded)
    if (this.unknown.size > maxUnknown) {
      this.note('TooManyFields', `The record has more than ${maxUnknown} members that are no columns.`, keyAt, keyEnd)
      return false
    }
    const isNull = this.bytes[this.at] === 0x6e
    if (!this.pass()) return false
    if (column === reservedName) {
      this.note('ReservedColumn', `'${name}' is a system column; the node fills it.`, keyAt, keyEnd)
    } else if (!isNull) this.unknownField(columnNameOf(this.columns.plan, name), keyAt, keyEnd, this.pointer())
    return true
  }

  /** What there is to say about a value that no column of that name takes: `bytes[at, end)`. */
  unknownField(name: string, at: number, end: number, pointer: string): void {
    if (this.ignoreUnknown) return
    const message = unknownFieldMessage(name, this.valueless.has(foldAscii(name)))
    this.fault('UnknownField', message, at, end, { pointer })
  }

  private duplicate(keyAt: number): boolean {
    const message = `The name '${this.keys.text(this.bytes)}' stands twice in one record.`
    this.note('DuplicateField', message, keyAt, this.keys.end + 1)
    return this.pass()
  }

  /** Passes over the value at `at` after checking it. */
  private pass(): boolean {
    const after = this.checker.check(this.bytes, this.at, this.end, this.level + 1)
    if (after < 0) return this.stop(-1)
    this.at = after
    return true
  }

  /** Reads the value at `at` into the column; false when the record cannot be read on. */
  private value(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, at, end, columns } = this
    const byte = at < end ? (bytes[at] ?? 0) : 0
    let fault: RecordErrorKind | undefined
    if (byte === quote) {
      const { string } = this
      const after = scanString(string, bytes, at, end)
      if (after < 0) return this.stop(this.checker.badString(bytes, at, -1 - after, end))
      this.at = after
      if (string.escaped) return this.escapedText(plan, builder, at)
      fault = columns.putText(plan, builder, bytes, string.start, string.end)
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const { number } = this
      if (!scanNumber(number, bytes, at, end, false))
        return this.stop(this.checker.malformed(bytes, at, end, 'a JSON value'))
      this.at = number.end
      fault = columns.putNumber(plan, builder, number, bytes)
    } else if (byte === openBrace || byte === openBracket) {
      return this.nested(plan, builder, depth)
    } else {
      const after = byte === 0x74 || byte === 0x66 || byte === 0x6e ? literalEnd(bytes, at, end) : -1
      if (after < 0) return this.stop(this.checker.malformed(bytes, at, end, 'a JSON value'))
      this.at = after
      if (byte === 0x6e) fault = columns.putNull(plan, builder)
      else if (plan.code === valueCode.string) builder.appendBytes(bytes, at, after)
      else fault = columns.putBool(plan, builder, byte === 0x74)
    }
    if (fault !== undefined) this.misfit(fault, plan, at, this.at)
    return true
  }

  private escapedText(plan: ColumnPlan, builder: ColumnBuilder, at: number): boolean {
    const { string, scratch, bytes } = this
    const bad = unescapeString(scratch, bytes, string.start, string.end)
    if (bad !== undefined) return this.stop(this.checker.badEscape(bad, at, this.at))
    const fault = this.columns.putText(plan, builder, scratch.bytes, 0, scratch.length)
    if (fault !== undefined) this.misfit(fault, plan, at, this.at)
    return true
  }

  /** An object or array: JSON text in a String column, items in a List column, a fault in any other. */
  private nested(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, at, end } = this
    if (plan.code === valueCode.list && bytes[at] === openBracket) return this.list(plan, builder, depth)
    const after = this.checker.check(bytes, at, end, depth)
    if (after < 0) return this.stop(-1)
    this.at = after
    if (plan.code === valueCode.string) builder.appendBytes(bytes, at, after)
    else {
      const fault = this.columns.wrongType(plan, bytes[at] === openBrace ? 'an object' : 'an array')
      this.misfit(fault, plan, at, after)
    }
    return true
  }

  private list(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, end } = this
    const { item } = plan
    const items = builder.items
    if (item === undefined || items === undefined) return false
    const outer = this.below
    this.at = skipSpace(bytes, this.at + 1, end)
    if (this.at < end && bytes[this.at] === closeBracket) this.at += 1
    else {
      for (let index = 0; ; index++) {
        this.below = `${outer}/${index}`
        if (!this.value(item, items, depth + 1) || this.faultsHere >= maxFaults) return false
        const at = skipSpace(bytes, this.at, end)
        const next = at < end ? bytes[at] : 0
        this.at = at + 1
        if (next === closeBracket) break
        if (next !== comma) return this.stop(this.checker.malformed(bytes, at, end, 'a comma or the end of the array'))
        this.at = skipSpace(bytes, at + 1, end)
      }
    }
    this.below = outer
    builder.endList()
    return true
  }

  /** Nulls for the columns that the record did not have. */
  private fillMissing(start: number): void {
    const { columns, seen } = this
    const stamp = this.record + 1
    for (let column = 0; column < seen.length; column++) {
      if (seen[column] === stamp) continue
      const plan = columns.plan.columns[column]
      const builder = columns.builders[column]
      if (plan === undefined || builder === undefined) continue
      const fault = columns.putNull(plan, builder)
      if (fault !== undefined) this.fault(fault, columns.reason, start, this.at, { column: plan.name })
    }
  }

  /** What stands here is JSON, but no object; or it is no JSON. */
  private noObject(): -1 {
    const { bytes, at, end, checker } = this
    const after = checker.check(bytes, at, end, this.level)
    if (after < 0) return this.checkerFault()
    this.fault('MalformedRecord', 'A record must be a JSON object.', at, after)
    this.at = after
    return -1
  }

  private expected(at: number, what: string): -1 {
    this.checker.malformed(this.bytes, at, this.end, what)
    return this.checkerFault()
  }

  private checkerFault(): -1 {
    this.halt(this.pointer())
    return -1
  }

  private stop(_fault: -1): false {
    this.halt(this.pointer())
    return false
  }

  /** Notes what the checker found in the value that `pointer` points to; the record cannot be read on. */
  halt(pointer?: string): void {
    const { kind, message, at, end } = this.checker
    this.broken = kind === 'MalformedRecord'
    const pointed = !this.broken && pointer !== undefined
    this.fault(kind, message, at, end, pointed ? { pointer: pointer + this.checker.pointer } : {})
  }

  /** Pointer of the value being read. */
  private pointer(): string {
    return this.path + pointerSegment(this.keys.text(this.bytes)) + this.below
  }

  private misfit(kind: RecordErrorKind, plan: ColumnPlan, at: number, end: number): void {
    this.fault(kind, this.columns.reason, at, end, { column: plan.name, pointer: this.pointer() })
  }

  private note(kind: RecordErrorKind, message: string, at: number, end: number): void {
    this.fault(kind, message, at, end, { pointer: this.pointer() })
  }

  /** Notes a fault of this record: `bytes[at, end)` is what is wrong. */
  fault(kind: RecordErrorKind, message: string, at: number, end: number, names: FaultNames = {}): void {
    if (this.tentative) {
      this.faultsHere = maxFaults
      return
    }
    this.columns.fail()
    this.faultsHere += 1
    this.faults.add({ kind, message, bytes: this.bytes, at, end, ...names }, this.record, this.place)
  }
}
