// Reads one JSON object into the columns: the core that every format of JSON objects shares. Keys are matched as
// bytes against the order last met, so that a record like its predecessor costs no string.

import { copyBytes } from '../lib/bytes.ts'
import type { ColumnBuilder } from '../codec/column-builder.ts'
import type { RecordErrorKind } from '../model/errors.ts'
import { foldAscii } from '../model/names.ts'
import { type ColumnPlan, reservedName, unknownName, valueCode } from './column-plan.ts'
import type { FaultLog, RecordPlace } from './fault-log.ts'
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  JsonChecker,
  literalEnd,
  openBrace,
  openBracket,
  pointerSegment,
  quote,
  Scratch,
  scanString,
  skipSpace,
  StringScan,
  stringText,
  unescapeString,
} from './json-text.ts'
import { NumberScan, scanNumber } from './number-scan.ts'
import type { ReaderOptions } from './reader.ts'
import type { TypedColumns } from './typed-columns.ts'
import { unknownFieldMessage } from './unknown-field.ts'

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
  /** True after a fault that the rest of the record cannot be read beyond. */
  private stopped = false
  private readonly columns: TypedColumns
  private readonly faults: FaultLog
  private readonly place: RecordPlace
  private readonly ignoreUnknown: boolean
  private readonly valueless: ReadonlySet<string>
  private readonly checker: JsonChecker
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly scratch = new Scratch()
  /** Per column, the number of the last record (from 1) that had it. */
  private readonly seen: Uint32Array
  private unknown: Set<string> | undefined = undefined
  private record = 0
  private faultsHere = 0
  private bytes: Uint8Array = new Uint8Array(0)
  private end = 0
  /** Where reading stands. */
  private at = 0
  /** The key of the member being read, between its quotes. */
  private keyStart = 0
  private keyEnd = 0
  /** Pointer below the member, inside of a list. */
  private below = ''

  constructor(options: JsonRecordOptions) {
    this.columns = options.columns
    this.faults = options.faults
    this.place = options.place
    this.ignoreUnknown = options.unknownFields === 'ignore'
    this.valueless = new Set(options.valueless?.map(foldAscii))
    this.checker = new JsonChecker(options.jsonDepth)
    this.seen = new Uint32Array(options.columns.plan.columns.length)
  }

  /**
   * Reads the object at `start` as record number `record` (0-based): index after it, or -1 when it could not be read
   * to its end. Faults go to the log; a row is added to the columns, complete unless there was a fault.
   */
  read(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.bytes = bytes
    this.end = end
    this.record = record
    this.broken = false
    this.stopped = false
    this.faultsHere = 0
    this.unknown = undefined
    this.at = skipSpace(bytes, start, end)
    if (this.at >= end || bytes[this.at] !== openBrace) return this.noObject()
    this.at = skipSpace(bytes, this.at + 1, end)
    let found = 0
    if (this.at < end && bytes[this.at] === closeBrace) this.at += 1
    else {
      found = this.members()
      if (found < 0) return -1
    }
    if (found < this.seen.length) this.fillMissing(start)
    return this.at
  }

  /** Reads members up to the closing brace: how many columns were met, or -1. */
  private members(): number {
    const { bytes, end, seen } = this
    const stamp = this.record + 1
    let found = 0
    for (let index = 0; ; index++) {
      const keyAt = this.at
      const column = this.key(index)
      if (this.stopped) return -1
      let at = skipSpace(bytes, this.at, end)
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
        if (plan !== undefined && builder !== undefined && !this.value(plan, builder, 2)) return -1
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

  /** Reads the key at `at`: its column, or why it has none. */
  private key(index: number): number {
    const { bytes, at, end } = this
    const { keyBytes, keyColumns } = this.columns.plan
    if (at >= end || bytes[at] !== quote) return this.expected(at, 'a member name in quotes')
    const hint = keyBytes[index]
    if (hint !== undefined) {
      const { length } = hint
      if (at + length + 1 < end && bytes[at + length + 1] === quote) {
        let i = 0
        while (i < length && hint[i] === bytes[at + 1 + i]) i += 1
        if (i === length) {
          this.keyStart = at + 1
          this.keyEnd = at + 1 + length
          this.at = at + length + 2
          return keyColumns[index] ?? unknownName
        }
      }
    }
    return this.lookUp(index)
  }

  private lookUp(index: number): number {
    const { bytes, at, end, string, scratch } = this
    const after = scanString(string, bytes, at, end)
    if (after < 0) return this.checkerFault(this.checker.badString(bytes, at, -1 - after, end))
    this.keyStart = string.start
    this.keyEnd = string.end
    this.at = after
    if (string.escaped) {
      const fault = unescapeString(scratch, bytes, string.start, string.end)
      if (fault !== undefined) {
        // The name is no text, so no pointer can say it.
        const { checker } = this
        this.stopped = checker.badEscape(fault, at, after) < 0
        this.broken = checker.kind === 'MalformedRecord'
        this.addFault(checker.kind, checker.message, at, after)
        return unknownName
      }
    }
    const column = this.columns.plan.byName.get(foldAscii(this.keyText())) ?? unknownName
    if (column >= 0 && !string.escaped) {
      const { keyBytes, keyColumns } = this.columns.plan
      // Hints stay dense and few; a key far out of order finds its place a record later.
      if (index <= keyBytes.length && index < this.seen.length) {
        keyBytes[index] = copyBytes(bytes, string.start, string.end)
        keyColumns[index] = column
      }
    }
    return column
  }

  private keyText(): string {
    return stringText(this.scratch, this.bytes, this.keyStart, this.keyEnd)
  }

  /** A member that is no column: judged, then passed over. */
  private otherMember(column: number, keyAt: number): boolean {
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
    const isNull = this.bytes[this.at] === 0x6e
    if (!this.pass()) return false
    if (column === reservedName) {
      this.note('ReservedColumn', `'${name}' is a system column; the node fills it.`, keyAt, keyEnd)
    } else if (!this.ignoreUnknown && !isNull) {
      this.note('UnknownField', unknownFieldMessage(name, this.valueless.has(folded)), keyAt, keyEnd)
    }
    return true
  }

  private duplicate(keyAt: number): boolean {
    this.note('DuplicateField', `The name '${this.keyText()}' stands twice in one record.`, keyAt, this.keyEnd + 1)
    return this.pass()
  }

  /** Passes over the value at `at` after checking it. */
  private pass(): boolean {
    const after = this.checker.check(this.bytes, this.at, this.end, 2)
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
    if (fault !== undefined) this.noteValue(fault, plan, at, this.at)
    return true
  }

  private escapedText(plan: ColumnPlan, builder: ColumnBuilder, at: number): boolean {
    const { string, scratch, bytes } = this
    const bad = unescapeString(scratch, bytes, string.start, string.end)
    if (bad !== undefined) return this.stop(this.checker.badEscape(bad, at, this.at))
    const fault = this.columns.putText(plan, builder, scratch.bytes, 0, scratch.length)
    if (fault !== undefined) this.noteValue(fault, plan, at, this.at)
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
      this.noteValue(fault, plan, at, after)
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
      if (fault !== undefined) this.addFault(fault, columns.reason, start, this.at, { column: plan.name })
    }
  }

  /** What stands here is JSON, but no object; or it is no JSON. */
  private noObject(): -1 {
    const { bytes, at, end, checker } = this
    const after = checker.check(bytes, at, end, 1)
    if (after < 0) return this.checkerFault(-1)
    this.addFault('MalformedRecord', 'A record must be a JSON object.', at, after)
    this.at = after
    return -1
  }

  private expected(at: number, what: string): -1 {
    return this.checkerFault(this.checker.malformed(this.bytes, at, this.end, what))
  }

  /** Notes what the checker found; the record ends here. */
  private checkerFault(result: -1): -1 {
    const { kind, message, at, end, pointer } = this.checker
    this.stopped = true
    this.broken = kind === 'MalformedRecord'
    if (this.broken) this.addFault(kind, message, at, end)
    else this.note(kind, message, at, end, pointer)
    return result
  }

  private stop(result: -1): false {
    this.checkerFault(result)
    return false
  }

  private noteValue(kind: RecordErrorKind, plan: ColumnPlan, at: number, end: number): void {
    const pointer = pointerSegment(this.keyText()) + this.below
    this.addFault(kind, this.columns.reason, at, end, { column: plan.name, pointer })
  }

  private note(kind: RecordErrorKind, message: string, at: number, end: number, below = ''): void {
    this.addFault(kind, message, at, end, { pointer: pointerSegment(this.keyText()) + this.below + below })
  }

  private addFault(
    kind: RecordErrorKind,
    message: string,
    at: number,
    end: number,
    names: { readonly column?: string; readonly pointer?: string } = {},
  ): void {
    this.columns.fail()
    this.faultsHere += 1
    this.faults.add({ kind, message, bytes: this.bytes, at, end, ...names }, this.record, this.place)
  }
}
