// Reads one JSON object into the columns: the core that every format of JSON objects shares, GeoJSON too, whose
// properties are one object of several members. Keys are matched as bytes against the order last met, so that a record
// like its predecessor costs no string.

import type { ColumnBuilder } from '../../columnar/arrow/column-builder.ts'
import { copyBytes } from '../../base/bytes.ts'
import { foldAscii } from '../../model/names.ts'
import { maxNameBytes } from '../../model/schema.ts'
import type { RecordCore } from '../body-reader.ts'
import {
  columnNameOf,
  type ColumnPlan,
  firstInner,
  hasNameWith,
  type MemberPlan,
  memberPlan,
  reservedName,
  type TablePlan,
  unknownName,
} from '../column-plan.ts'
import { unknownFieldMessage } from '../fault-log.ts'
import type { ReaderOptions } from '../format.ts'
import { backslash, closeBrace, colon, comma, openBrace, pointerSegment, skipSpace, quote, stringText } from './text.ts'
import { type JsonValueOptions, JsonValueReader, letterN, maxFaults } from './value.ts'

/** Most members of a record that are no columns. */
const maxUnknown = 16_384
/** Most objects of an object that are remembered. */
const maxInner = 256
/** Before the names of members: with a longer one none of them is a column. */
const maxPrefixChars = maxNameBytes + 1
/** Result of `key` after a fault. */
const noKey = -3

export interface JsonRecordOptions extends JsonValueOptions {
  readonly options: ReaderOptions
}

/** Also the core of features, which are not a class beneath it: one shape of object keeps its loops fast. */
export class JsonRecordReader extends JsonValueReader implements RecordCore {
  metOther = false
  readonly table: TablePlan
  private readonly ignoreUnknown: boolean
  private readonly valueless: ReadonlySet<string> | undefined
  /** Per column, the number of the last record (from 1) that had it. */
  private readonly seen: Uint32Array
  private unknown: Set<string> | undefined = undefined
  /** Columns of this record that have their value. */
  private found = 0
  /** Where the event time is, unless it is a member with a name of its own. */
  private readonly eventTimePath: readonly string[] | undefined
  /** True where objects inside are no values, but more members. */
  private readonly flatten: boolean
  /** The members being read, of the record or of an object inside. */
  private plan: MemberPlan
  /** By their prefix, the number of the last record (from 1) that had the object. */
  private readonly entered = new Map<string, number>()
  /** Where the outermost object begins, and the pointer to it. */
  private root = 0
  private rootPath = ''

  constructor({ options, ...own }: JsonRecordOptions) {
    super(own, options.jsonDepth)
    const { columns } = own
    this.table = columns.plan
    this.ignoreUnknown = options.unknownFields === 'ignore'
    this.valueless = options.valueless && new Set(options.valueless.map(foldAscii))
    this.flatten = options.flatten === true
    this.plan = columns.plan.root
    this.eventTimePath = options.eventTime?.kind === 'path' ? options.eventTime.path : undefined
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
    this.entered.clear()
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
    if (this.entered.size > maxUnknown) this.entered.clear()
  }

  /** Reads the members of the object at `start`, of nesting level `level` and pointer `path`: index after it, or -1. */
  object(start: number, level: number, path: string): number {
    const open = skipSpace(this.bytes, start, this.end)
    this.level = level
    this.path = path
    this.rootPath = path
    this.root = open
    this.plan = this.table.root
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
        if (!this.otherMember(column, keyAt, index)) return -1
      } else if (seen[column] === stamp) {
        if (!this.duplicate(keyAt)) return -1
      } else {
        seen[column] = stamp
        found += 1
        const plan = plans[column]
        if (plan !== undefined && !this.value(plan, columns.builder(column), this.level + 1)) return -1
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
    const { bytes, plan } = this
    const hint = plan.keyBytes[index]
    if (hint !== undefined && bytes[at] === quote) {
      const { length } = hint
      if (at + length + 1 < this.end && bytes[at + length + 1] === quote) {
        let i = 0
        while (i < length && hint[i] === bytes[at + 1 + i]) i += 1
        if (i === length) {
          this.keyStart = at + 1
          this.keyEnd = at + 1 + length
          return plan.keyColumns[index] ?? unknownName
        }
      }
    }
    return this.unhintedKey(at, index)
  }

  private unhintedKey(at: number, index: number): number {
    const { bytes, scanner, plan } = this
    const { string } = scanner
    if (scanner.name(bytes, at, this.end) < 0) return noKey
    this.keyStart = string.start
    this.keyEnd = string.end
    const column = this.table.byName.get(foldAscii(plan.prefix + this.keyText())) ?? unknownName
    if (column >= 0 && !string.escaped) this.hint(index, column)
    return column
  }

  /** Remembers the key last read, which has no escapes, at its place. */
  private hint(index: number, column: number): void {
    const { keyBytes, keyColumns } = this.plan
    // Hints stay dense and few; a key far out of order finds its place a record later.
    if (index > keyBytes.length || index >= this.table.columns.length) return
    keyBytes[index] = copyBytes(this.bytes, this.keyStart, this.keyEnd)
    keyColumns[index] = column
  }

  /** A member that is no column: judged, then passed over. */
  private otherMember(column: number, keyAt: number, index: number): boolean {
    const isInner = this.flatten && this.bytes[this.at] === openBrace
    return isInner ? this.innerMembers(column, keyAt, index) : this.noColumn(column, keyAt)
  }

  private noColumn(column: number, keyAt: number): boolean {
    this.metOther = true
    const name = this.plan.prefix + this.keyText()
    const folded = foldAscii(name)
    const keyEnd = this.keyEnd + 1
    this.unknown ??= new Set()
    const isObject = this.flatten && this.entered.get(`${folded}_`) === this.record + 1
    if (isObject || this.unknown.has(folded)) return this.duplicate(keyAt)
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
    this.note('UnknownField', unknownFieldMessage(name, this.valueless), at, end)
  }

  /**
   * The members of an object that is flattened: those of columns with its name before theirs. Where that is longer than the
   * name of a column, the object is one member that is none: a long name is not said again for each of many.
   */
  private innerMembers(hint: number, keyAt: number, index: number): boolean {
    const { plan: outer, level, path } = this
    const inner = outer.inner[firstInner - hint] ?? this.innerPlan(index)
    if (inner.prefix.length > maxPrefixChars) return this.noColumn(unknownName, keyAt)
    const stamp = this.record + 1
    const folded = foldAscii(inner.prefix)
    if (this.entered.get(folded) === stamp || this.unknown?.has(folded.slice(0, -1)) === true)
      return this.duplicate(keyAt)
    this.entered.set(folded, stamp)
    if (this.entered.size > 2 * maxUnknown) {
      this.note('TooManyFields', `The record has more than ${maxUnknown} objects inside.`, keyAt, this.keyEnd + 1)
      return false
    }
    // What is nested too deep is told as elsewhere.
    if (level >= this.scanner.maxDepth) return this.pass()
    this.plan = inner
    this.level = level + 1
    this.path = path + pointerSegment(this.keyText())
    const after = this.members(this.at)
    this.plan = outer
    this.level = level
    this.path = path
    return after >= 0
  }

  /** The plan of the object whose key, number `index`, was read last; kept where columns begin with its name. */
  private innerPlan(index: number): MemberPlan {
    const { plan, table, bytes, keyStart, keyEnd } = this
    const prefix = `${plan.prefix}${this.keyText()}_`
    const held = plan.inner.findIndex((one) => one.prefix === prefix)
    const inner = plan.inner[held] ?? memberPlan(prefix)
    if (held < 0 && !(plan.inner.length < maxInner && hasNameWith(foldAscii(prefix), table))) return inner
    const place = held < 0 ? plan.inner.push(inner) - 1 : held
    if (!bytes.subarray(keyStart, keyEnd).includes(backslash)) this.hint(index, firstInner - place)
    return inner
  }

  /** An object that is flattened leaves the column of its own name without a value. */
  protected override nested(column: ColumnPlan, builder: ColumnBuilder, depth: number): boolean {
    const isMember = this.below === '' && this.pointed === undefined
    if (!this.flatten || !isMember || this.bytes[this.at] !== openBrace) return super.nested(column, builder, depth)
    const { at, keyStart } = this
    const fault = this.columns.putNull(column, builder)
    if (fault !== undefined) this.misfit(fault, column, at)
    return this.innerMembers(unknownName, keyStart - 1, this.table.columns.length)
  }

  private duplicate(keyAt: number): boolean {
    const pointer = this.flatten
      ? this.firstOf(this.plan.prefix + this.keyText(), this.root, '', this.rootPath)
      : undefined
    const other = pointer === undefined || pointer === this.pointer() ? undefined : pointer
    const message =
      other === undefined
        ? `The name '${this.keyText()}' occurs twice in one record; letter case does not count.`
        : `'${other}' and '${this.pointer()}' have one name, '${this.plan.prefix}${this.keyText()}'.`
    this.note('DuplicateField', message, keyAt, this.keyEnd + 1)
    return this.pass()
  }

  /** Pointer to the first member, object or not, whose flattened name is `name`, at or below the object at `open`. */
  private firstOf(name: string, open: number, prefix: string, path: string): string | undefined {
    const { scanner, bytes, end } = this
    let at = scanner.first(bytes, open, end, closeBrace)
    while (at > 0) {
      const nameEnd = scanner.name(bytes, at, end)
      const key = stringText(scanner.scratch, bytes, at + 1, nameEnd - 1)
      const pointer = path + pointerSegment(key)
      at = scanner.colon(bytes, nameEnd, end)
      const isInner = bytes[at] === openBrace
      if (foldAscii(prefix + key) === foldAscii(name)) return pointer
      const found = isInner ? this.firstOf(name, at, `${prefix}${key}_`, pointer) : undefined
      if (found !== undefined) return found
      at = scanner.next(bytes, scanner.check(bytes, at, end, 1), end, closeBrace)
    }
    return undefined
  }

  /** Ends a row that was read from `start` to `end`: required columns have a value. */
  complete(start: number, end: number): void {
    const { columns, seen } = this
    if (this.found === seen.length) return
    if (this.eventTimePath !== undefined) this.readEventTime(start, end, this.eventTimePath)
    const stamp = this.record + 1
    for (const column of columns.plan.required) {
      const plan = columns.plan.columns[column]
      if (seen[column] === stamp || plan === undefined) continue
      this.fault(columns.missing(plan), columns.reason, start, end, { column: plan.name })
    }
  }

  /** Reads the event time from inside of the row's text. */
  private readEventTime(start: number, end: number, path: readonly string[]): void {
    const [plan] = this.table.columns
    const at = this.scanner.find(this.bytes, start, end, path)
    if (at < 0 || plan === undefined) return
    this.claim(0)
    this.at = at
    this.pointed = path.map(pointerSegment).join('')
    this.value(plan, this.columns.builder(0), path.length)
    this.pointed = undefined
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
}
