// Reads the values of JSON records into columns, and notes what is wrong with them: what readers of members share.

import type { ColumnBuilder } from '../../columnar/arrow/column-builder.ts'
import type { RecordErrorKind } from '../../base/errors.ts'
import { type ColumnPlan, valueCode } from '../column-plan.ts'
import { valuesAsText } from '../column-warnings.ts'
import type { Fault, FaultLog, RecordPlace } from '../fault-log.ts'
import { scanNumber } from '../number-scan.ts'
import type { TypedColumns } from '../typed-columns.ts'
import { JsonScanner } from './scanner.ts'
import { closeBracket, literalEnd, openBrace, openBracket, pointerSegment, quote, stringText } from './text.ts'

/** A record with so many faults is not read further. */
export const maxFaults = 100
export const letterN = 0x6e

export interface JsonValueOptions {
  readonly columns: TypedColumns
  readonly faults: FaultLog
  readonly place: RecordPlace
}

/** One value after the other, from `at` on. */
export abstract class JsonValueReader {
  broken = false
  /** A fault that it finds goes to `halt`. */
  readonly scanner: JsonScanner
  readonly columns: TypedColumns
  readonly faults: FaultLog
  private readonly place: RecordPlace
  record = 0
  /** From `maxFaults` on the record is not read further. */
  faultsHere = 0
  /** Whether it is told where a value that is no text becomes one, as in properties of features, which leave as values. */
  tellsText = false
  /** Names of columns that hold the JSON text of such a value in this record; absent: they are warned of. */
  jsonTexts: Set<string> | undefined = undefined
  /** True while faults are not noted, but end the reading. */
  tentative = false
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
  protected below = ''
  /** Pointer to a value that was not come to by members. */
  protected pointed: string | undefined = undefined

  constructor({ columns, faults, place }: JsonValueOptions, maxDepth: number) {
    this.columns = columns
    this.faults = faults
    this.place = place
    this.scanner = new JsonScanner(maxDepth)
  }

  /** The text of the key last read. */
  keyText(): string {
    return stringText(this.scanner.scratch, this.bytes, this.keyStart, this.keyEnd)
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
      this.noteText(plan)
    } else if (byte === openBrace || byte === openBracket) {
      return this.nested(plan, builder, depth)
    } else {
      const after = byte === 0x74 || byte === 0x66 || byte === letterN ? literalEnd(bytes, at, end) : -1
      if (after < 0) return this.expected(at, 'a JSON value') > 0
      this.at = after
      if (byte === letterN) fault = columns.putNull(plan, builder)
      else if (plan.code === valueCode.string) {
        builder.appendBytes(bytes, at, after)
        this.noteText(plan)
      } else fault = columns.putBool(plan, builder, byte === 0x74)
    }
    if (fault !== undefined) this.misfit(fault, plan, at)
    return true
  }

  private noteText(column: ColumnPlan): void {
    if (!this.tellsText || column.code !== valueCode.string) return
    if (this.jsonTexts !== undefined && this.below === '') this.jsonTexts.add(column.name)
    else this.columns.warn(valuesAsText(column))
  }

  /** An object or array: JSON text in a String column, items in a List column, a fault in any other. */
  protected nested(plan: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const { bytes, at, end } = this
    if (plan.code === valueCode.list && bytes[at] === openBracket) return this.list(plan, builder, depth)
    const after = this.scanner.check(bytes, at, end, depth)
    if (after < 0) return this.stop()
    this.at = after
    if (plan.code === valueCode.string) {
      builder.appendBytes(bytes, at, after)
      this.noteText(plan)
    } else this.misfit(this.columns.wrongType(plan, bytes[at] === openBrace ? 'an object' : 'an array'), plan, at)
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

  protected expected(at: number, what: string): -1 {
    this.scanner.malformed(this.bytes, at, this.end, what)
    return this.halt()
  }

  protected stop(): false {
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
    return this.pointed ?? this.path + pointerSegment(this.keyText()) + this.below
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
