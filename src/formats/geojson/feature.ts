// Reads one GeoJSON feature into the columns: properties by name, the geometry as its text, the id, and every other
// member as one object (contract.md §6, GeoJSON). Members in any order. Source: RFC 7946 §3.2.

import type { ColumnBuilder } from '../../arrow/column-builder.ts'
import type { RecordErrorKind } from '../../model/errors.ts'
import { type ColumnPlan, unknownName, valueCode } from '../column-plan.ts'
import type { FaultLog } from '../fault-log.ts'
import type { JsonChecker } from '../json/checker.ts'
import { type JsonRecordOptions, JsonRecordReader } from '../json/record.ts'
import {
  closeBrace,
  colon,
  comma,
  openBrace,
  pointerSegment,
  quote,
  scanString,
  Scratch,
  skipSpace,
  StringScan,
  stringText,
  unescapeString,
} from '../json/text.ts'
import { NumberScan, scanNumber } from '../number-scan.ts'
import type { TypedColumns } from '../typed-columns.ts'
import { WordView } from './fixed-text.ts'
import { GeometryChecker, reprojectHint, requireWgs84Text } from './geometry.ts'
import { featureColumns, type FeaturePlan, foreignToFeatures } from './names.ts'
import {
  featureText,
  headText,
  nameFrame,
  part,
  partAt,
  partNames,
  plainHead,
  plainMiddle,
  pointText,
} from './texts.ts'

const letterN = 0x6e
const noBytes = new Uint8Array(0)

/** Result of `plain` where a feature does not begin so. */
const unplain = -2

export class FeatureReader {
  /** Not kept account of: a feature has more than names. */
  readonly metOther = true
  /** True after a fault of syntax: where the feature ends is not known. */
  broken = false
  /** Text of the last object's `type` when it is not `Feature`; '' when it has none. */
  otherType: string | undefined = undefined
  private readonly plan: FeaturePlan
  private readonly row: JsonRecordReader
  private readonly columns: TypedColumns
  private readonly faults: FaultLog
  private readonly checker: JsonChecker
  private readonly geometries: GeometryChecker
  private readonly words = new WordView()
  private readonly string = new StringScan()
  private readonly number = new NumberScan()
  private readonly scratch = new Scratch()
  /** The members that are no part of a feature, as the beginning of an object. */
  private readonly extra = new Scratch()
  private hasUnknownExtra = false
  /** Bits of the parts met so far, and the names of other members. */
  private parts = 0
  private others: Set<string> | undefined = undefined
  private record = 0
  private bytes: Uint8Array = noBytes
  private end = 0

  constructor(plan: FeaturePlan, options: JsonRecordOptions) {
    this.plan = plan
    this.columns = options.columns
    this.faults = options.faults
    this.row = new JsonRecordReader(options)
    this.checker = this.row.checker
    this.geometries = new GeometryChecker(this.checker, options.jsonDepth, this.words)
  }

  /** Reads the feature at `start` as record number `record`: see JsonRecordReader. Throws NodeError `UnsupportedCrs`. */
  read(bytes: Uint8Array, start: number, end: number, record: number): number {
    const { row, extra } = this
    this.bytes = bytes
    this.words.look(bytes)
    this.end = end
    this.record = record
    this.parts = 0
    this.others = undefined
    this.hasUnknownExtra = false
    this.otherType = undefined
    extra.length = 0
    row.begin(bytes, end, record)
    const open = skipSpace(bytes, start, end)
    // The reader of objects says what else it is.
    let after = this.plain(open)
    if (after === unplain)
      after = open < end && bytes[open] === openBrace ? this.members(open) : row.object(open, 1, '')
    if (after >= 0) this.complete(open, after)
    this.broken = row.broken
    return after
  }

  /** See ObjectCore. */
  attempt(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.row.tentative = true
    return this.row.settle(this.read(bytes, start, end, record))
  }

  /** See ObjectCore. */
  undo(): void {
    this.row.undo()
  }

  /** Reads a feature that begins as nearly all points do: index after it, -1 after a fault, or `unplain`. */
  private plain(open: number): number {
    const { bytes, end, row } = this
    const { view } = this.words
    if (!plainHead.standsAt(view, open, end)) return unplain
    const { geometry } = this.plan
    const builder = this.columns.builders[geometry]
    if (builder === undefined || this.columns.plan.columns[geometry]?.code !== valueCode.string) return unplain
    const from = open + plainHead.length - pointText.length
    const to = this.geometries.check(bytes, from, end, 2)
    if (to < 0) return unplain
    row.claim(geometry)
    builder.appendView(view, from, to)
    this.parts = (1 << part.type) | (1 << part.geometry)
    if (!plainMiddle.standsAt(view, to, end)) return this.more(to)
    this.parts |= 1 << part.properties
    const after = row.object(to + plainMiddle.length - 1, 2, '/properties')
    return after < 0 || row.full ? -1 : this.more(after)
  }

  /** Reads members up to the closing brace: index after it, or -1. */
  private members(open: number): number {
    const { bytes, end } = this
    const isHead = headText.standsAt(this.words.view, open, end)
    if (isHead) this.parts = 1 << part.type
    let at = skipSpace(bytes, open + (isHead ? headText.length : 1), end)
    if (!isHead && at < end && bytes[at] === closeBrace) return at + 1
    at = this.member(at)
    return at < 0 || this.row.full ? -1 : this.more(at)
  }

  /** Reads what follows a member up to the closing brace: index after it, or -1. */
  private more(from: number): number {
    const { bytes, end, row } = this
    let at = from
    while (true) {
      at = skipSpace(bytes, at, end)
      const next = at < end ? bytes[at] : 0
      if (next === closeBrace) return at + 1
      if (next !== comma) return this.expected(at, 'a comma or the end of the object')
      at = this.member(skipSpace(bytes, at + 1, end))
      if (at < 0 || row.full) return -1
    }
  }

  /** Reads the member whose name opens at `keyAt`: index after it, or -1. */
  private member(keyAt: number): number {
    const { bytes, end } = this
    const which = partAt(this.words.view, keyAt, end)
    if (which !== part.other) {
      const nameEnd = keyAt + (partNames[which]?.length ?? 0) + nameFrame
      return this.memberValue(which, keyAt, skipSpace(bytes, nameEnd, end))
    }
    if (!this.otherName(keyAt)) return -1
    const at = skipSpace(bytes, this.string.end + 1, end)
    if (at >= end || bytes[at] !== colon) return this.expected(at, 'a colon')
    return this.memberValue(which, keyAt, skipSpace(bytes, at + 1, end))
  }

  private expected(at: number, what: string): -1 {
    this.checker.malformed(this.bytes, at, this.end, what)
    this.row.halt()
    return -1
  }

  /** Scans the name that opens at `at` and is none of the parts, at least as it is written; false after a fault. */
  private otherName(at: number): boolean {
    const { bytes, end, string, checker } = this
    if (at >= end || bytes[at] !== quote) {
      this.expected(at, 'a member name in quotes')
      return false
    }
    const after = scanString(string, bytes, at, end)
    if (after < 0) checker.badString(bytes, at, -1 - after, end)
    else {
      const fault = string.escaped ? unescapeString(this.scratch, bytes, string.start, string.end) : undefined
      if (fault === undefined) return true
      checker.badEscape(fault, at, after)
    }
    this.row.halt()
    return false
  }

  /** Reads the value at `at` of the member whose name opens at `keyAt`: index after it, or -1. */
  private memberValue(written: number, keyAt: number, at: number): number {
    let which = written
    if (which === part.other) {
      const name = stringText(this.scratch, this.bytes, this.string.start, this.string.end)
      which = partNames.findIndex((known) => known === name)
      if (which <= part.other) return this.otherMember(name, keyAt, at)
    }
    if ((this.parts & (1 << which)) !== 0) return this.repeated(partNames[which] ?? '', keyAt, at)
    this.parts |= 1 << which
    switch (which) {
      case part.type:
        return this.type(at)
      case part.geometry:
        return this.geometry(at)
      case part.properties:
        return this.properties(at)
      default:
        return this.id(at)
    }
  }

  private repeated(name: string, keyAt: number, at: number): number {
    const message = `The name '${name}' stands twice in one feature.`
    this.fault('DuplicateField', message, keyAt, at, pointerSegment(name))
    return this.pass(at, pointerSegment(name))
  }

  private type(at: number): number {
    const { bytes, string } = this
    if (featureText.standsAt(this.words.view, at, this.end)) return at + featureText.length
    const after = this.pass(at, '/type')
    if (after < 0) return -1
    const isText = bytes[at] === quote && scanString(string, bytes, at, after) === after
    this.otherType = isText ? stringText(this.scratch, bytes, string.start, string.end) : ''
    let advice = ''
    if (this.otherType === 'FeatureCollection') advice = ' Send a FeatureCollection as application/geo+json.'
    else if (isText) advice = ' Put a geometry into the member geometry of a feature.'
    this.fault('MalformedRecord', `The type of a feature is 'Feature'.${advice}`, at, after, '/type')
    return after
  }

  private geometry(at: number): number {
    const { bytes, geometries, plan } = this
    const byte = at < this.end ? bytes[at] : 0
    if (byte !== openBrace) {
      const after = this.pass(at, '/geometry')
      if (after < 0) return -1
      if (byte === letterN) this.putNull(plan.geometry, at, after, '/geometry')
      else this.fault('InvalidGeometry', 'A geometry is an object or null.', at, after, '/geometry')
      return after
    }
    const after = geometries.check(bytes, at, this.end, 2)
    if (after < 0) return this.badGeometry(at, '/geometry')
    const column = this.columns.plan.columns[plan.geometry]
    const builder = this.columns.builders[plan.geometry]
    if (column === undefined || builder === undefined) {
      this.row.unknownField(featureColumns.geometry, at, after, '/geometry')
      return after
    }
    this.row.claim(plan.geometry)
    if (column.code === valueCode.string) builder.appendView(this.words.view, at, after)
    else this.misfit(this.columns.wrongType(column, 'an object'), column, at, after, '/geometry')
    return after
  }

  /** What is wrong with the geometry or bbox at `at`: it is no JSON, or what its checker said. */
  private badGeometry(at: number, pointer: string): number {
    const { kind, message, at: from, end, pointer: below, outOfRange } = this.geometries
    const after = this.pass(at, pointer)
    if (after < 0) return -1
    if (outOfRange) this.faults.hint = reprojectHint
    this.row.fault(kind, message, from, end, { pointer: pointer + below })
    return after
  }

  private properties(at: number): number {
    const { bytes } = this
    const byte = at < this.end ? bytes[at] : 0
    if (byte === openBrace) return this.row.object(at, 2, '/properties')
    const after = this.pass(at, '/properties')
    if (after < 0) return -1
    if (byte !== letterN) {
      this.fault('WrongType', 'The properties of a feature are an object or null.', at, after, '/properties')
    }
    return after
  }

  private id(at: number): number {
    const { bytes, string, number, scratch, columns } = this
    const isNumber = bytes[at] !== quote && scanNumber(number, bytes, at, this.end, false)
    const after = isNumber ? number.end : this.pass(at, '/id')
    if (after < 0) return -1
    if (bytes[at] === letterN) return after
    if (bytes[at] !== quote && !isNumber) {
      this.fault('WrongType', 'The id of a feature is a text or a number.', at, after, '/id')
      return after
    }
    const target = this.target(this.plan.id)
    if (target === undefined) {
      this.row.unknownField(featureColumns.id, at, after, '/id')
      return after
    }
    const { column, builder } = target
    let fault: RecordErrorKind | undefined
    if (isNumber) fault = columns.putNumber(column, builder, number, bytes)
    else {
      scanString(string, bytes, at, after)
      unescapeString(scratch, bytes, string.start, string.end)
      fault = columns.putText(column, builder, scratch.bytes, 0, scratch.length)
    }
    if (fault !== undefined) this.misfit(fault, column, at, after, '/id')
    return after
  }

  /** A bbox, a coordinate system, or a member of which RFC 7946 knows nothing. */
  private otherMember(name: string, keyAt: number, at: number): number {
    const { bytes, end, extra } = this
    this.others ??= new Set()
    if (this.others.has(name)) return this.repeated(name, keyAt, at)
    this.others.add(name)
    const pointer = pointerSegment(name)
    if (name === 'bbox') {
      if (this.geometries.checkBox(bytes, at, end, 2) < 0) return this.badGeometry(at, pointer)
    }
    const keyEnd = this.string.end + 1
    const after = this.pass(at, pointer)
    if (after < 0) return -1
    if (name === 'crs') {
      requireWgs84Text(bytes, at, after, `Feature ${this.record}`)
      return after
    }
    if (foreignToFeatures.has(name)) {
      this.fault('MalformedRecord', `A feature has no member '${name}'.`, keyAt, keyEnd, pointer)
      return after
    }
    if (this.plan.extra === unknownName) {
      if (bytes[at] === letterN || this.hasUnknownExtra) return after
      this.hasUnknownExtra = true
      this.row.unknownField(featureColumns.extra, keyAt, after, pointer)
      return after
    }
    if (extra.length === 0) extra.reset(end - keyAt + 2)
    extra.add(extra.length === 0 ? openBrace : comma, bytes, keyAt, keyEnd)
    extra.add(colon, bytes, at, after)
    return after
  }

  /** Ends the feature `[start, after)`. */
  private complete(start: number, after: number): void {
    const { extra } = this
    if ((this.parts & (1 << part.type)) === 0) {
      this.otherType = ''
      this.fault('MalformedRecord', "A feature has a member 'type', which is 'Feature'.", start, after, '')
    }
    if ((this.parts & (1 << part.geometry)) === 0) {
      const message = "A feature has a member 'geometry'; where there is no place, it is null."
      this.fault('MissingRequired', message, start, after, '/geometry')
    }
    const target = extra.length === 0 ? undefined : this.target(this.plan.extra)
    if (target !== undefined) {
      const { column, builder } = target
      extra.add(closeBrace, noBytes, 0, 0)
      if (column.code === valueCode.string) builder.appendBytes(extra.bytes, 0, extra.length)
      else this.misfit(this.columns.wrongType(column, 'an object'), column, start, after, '')
    }
    this.row.complete(start, after)
  }

  /** The column to put a value into, claimed; undefined when the dataset has no such column. */
  private target(index: number): { readonly column: ColumnPlan; readonly builder: ColumnBuilder } | undefined {
    const column = this.columns.plan.columns[index]
    const builder = this.columns.builders[index]
    if (column === undefined || builder === undefined) return undefined
    this.row.claim(index)
    return { column, builder }
  }

  private putNull(index: number, at: number, after: number, pointer: string): void {
    const target = this.target(index)
    if (target === undefined) return
    const fault = this.columns.putNull(target.column, target.builder)
    if (fault !== undefined) this.misfit(fault, target.column, at, after, pointer)
  }

  /** Passes over the value at `at`: index after it, or -1. */
  private pass(at: number, pointer: string): number {
    const after = this.checker.check(this.bytes, at, this.end, 2)
    if (after < 0) this.row.halt(pointer)
    return after
  }

  private misfit(kind: RecordErrorKind, column: ColumnPlan, at: number, end: number, pointer: string): void {
    this.row.fault(kind, this.columns.reason, at, end, { column: column.name, pointer })
  }

  private fault(kind: RecordErrorKind, message: string, at: number, end: number, pointer: string): void {
    this.row.fault(kind, message, at, end, pointer === '' ? {} : { pointer })
  }
}
