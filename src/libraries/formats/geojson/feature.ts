// Reads one GeoJSON feature into the columns: properties by name, the geometry as its text, the id, and every other
// member as one object (docs/spec/http.md §6, GeoJSON). Members in any order. Source: RFC 7946 §3.2.

import type { ColumnBuilder } from '../../columnar/arrow/column-builder.ts'
import { utf8 } from '../../base/bytes.ts'
import type { RecordCore } from '../body-reader.ts'
import { type ColumnPlan, unknownName, valueCode } from '../column-plan.ts'
import { type JsonRecordOptions, JsonRecordReader } from '../json/record.ts'
import { letterN, maxFaults } from '../json/value.ts'
import { closeBrace, colon, comma, isText, openBrace, quote, Scratch, skipSpace, stringText } from '../json/text.ts'
import { featureColumns, jsonTextsMember } from '../../geo/feature-columns.ts'
import { GeometryChecker } from './geometry.ts'
import { type FeaturePlan, foreignToFeatures, needsIdToken, reprojectHint, requireWgs84Text } from './rules.ts'

/** The bytes last looked at, as words. */
class WordView {
  view: DataView = new DataView(new ArrayBuffer(0))
  private bytes: Uint8Array | undefined = undefined

  /** Looks at `bytes` from now on. */
  look(bytes: Uint8Array): void {
    if (this.bytes === bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

const wordBytes = 8

/** A text that stands in nearly every feature, compared eight bytes at a time: 15 % of the time to read points. */
class FixedText {
  readonly length: number
  // Eight bytes of ASCII are a double that equals no other: neither zero nor NaN.
  private readonly words: Float64Array
  private readonly lastWord: number

  /** `text` has eight ASCII characters at least. */
  constructor(text: string) {
    const view = new DataView(new TextEncoder().encode(text).buffer)
    const { length } = text
    this.length = length
    this.words = Float64Array.from({ length: Math.floor((length - 1) / wordBytes) }, (_, i) =>
      view.getFloat64(wordBytes * i, true),
    )
    // It overlaps the one before, so that no byte is left over.
    this.lastWord = view.getFloat64(length - wordBytes, true)
  }

  /** Whether the text stands at `at` and ends before `end`, which is no further than the view. */
  standsAt(view: DataView, at: number, end: number): boolean {
    const { length, words } = this
    if (at + length > end) return false
    for (let i = 0; i < words.length; i++) if (view.getFloat64(at + wordBytes * i, true) !== words[i]) return false
    return view.getFloat64(at + length - wordBytes, true) === this.lastWord
  }
}

const noBytes = new Uint8Array(0)

/** How nearly all points begin, and what stands before their properties. */
interface Spelling {
  readonly point: number
  readonly head: FixedText
  readonly middle: FixedText
}

function spelling(head: string, point: string, middle: string): Spelling {
  return { point: head.length, head: new FixedText(head + point), middle: new FixedText(middle) }
}

const compact = spelling('{"type":"Feature","geometry":', '{"type":"Point","coordinates":[', ',"properties":{')
/** As Python writes JSON. */
const spaced = spelling('{"type": "Feature", "geometry": ', '{"type": "Point", "coordinates": [', ', "properties": {')

/** Result of `plain` where a feature does not begin so. */
const unplain = -2

/** The members that have a meaning of their own, by the bits of `parts`. */
const partNames = ['type', 'geometry', 'properties', 'id'].map((name) => [name, utf8(name)] as const)
const featureName = utf8('Feature')
const part = { type: 1, geometry: 2, properties: 4, id: 8 } as const

export class FeatureReader implements RecordCore {
  /** Not kept account of: a feature has more than names. */
  readonly metOther = true
  /** Text of the last object's `type` when it is not `Feature`; '' when it has none. */
  otherType: string | undefined = undefined
  private readonly plan: FeaturePlan
  private readonly row: JsonRecordReader
  private readonly geometries: GeometryChecker
  private readonly words = new WordView()
  /** The members that are no part of a feature, as the beginning of an object. */
  private readonly extra = new Scratch()
  private hasUnknownExtra = false
  /** The names that features before had to say, which are mostly those of the next, and how. */
  private named: readonly string[] = []
  private namedMember: Uint8Array = noBytes
  /** Bits of the parts met so far, and the names of other members. */
  private parts = 0
  private others: Set<string> | undefined = undefined

  constructor(plan: FeaturePlan, options: JsonRecordOptions) {
    this.plan = plan
    this.row = new JsonRecordReader(options)
    this.geometries = new GeometryChecker(this.row.scanner)
    if (this.row.table.columns[plan.extra]?.code === valueCode.string) this.row.jsonTexts = new Set()
  }

  get broken(): boolean {
    return this.row.broken
  }

  attempt(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.row.tentative = true
    return this.row.settle(this.read(bytes, start, end, record))
  }

  undo(): void {
    this.row.undo()
  }

  /** As in RecordCore. Throws NodeError `UnsupportedCrs`. */
  read(bytes: Uint8Array, start: number, end: number, record: number): number {
    this.row.begin(bytes, end, record)
    this.row.tellsText = true
    this.row.jsonTexts?.clear()
    this.words.look(bytes)
    this.parts = 0
    this.others = undefined
    this.hasUnknownExtra = false
    this.otherType = undefined
    this.extra.length = 0
    const open = skipSpace(bytes, start, end)
    let after = this.plain(open)
    if (after === unplain) {
      // The reader of objects says what else it is.
      const isObject = open < end && bytes[open] === openBrace
      after = isObject
        ? this.featureMembers(this.row.scanner.first(bytes, open, end, closeBrace))
        : this.row.object(open, 1, '')
    }
    if (after >= 0) this.completeFeature(open, after)
    return after
  }

  /** Reads a feature that begins as nearly all points do: index after it, -1 after a fault, or `unplain`. */
  private plain(open: number): number {
    const { bytes, end } = this.row
    const { view } = this.words
    const { head, point, middle } = spaced.head.standsAt(view, open, end) ? spaced : compact
    if (head === compact.head && !head.standsAt(view, open, end)) return unplain
    const { geometry } = this.plan
    if (this.row.table.columns[geometry]?.code !== valueCode.string) return unplain
    const from = open + point
    const to = this.geometries.point(bytes, open + head.length - 1, end, 2)
    if (to < 0) return unplain
    this.row.claim(geometry)
    this.row.columns.builder(geometry).appendView(view, from, to)
    this.parts = part.type | part.geometry
    let after = to
    if (middle.standsAt(view, to, end)) {
      this.parts |= part.properties
      after = this.row.object(to + middle.length - 1, 2, '/properties')
      if (after < 0 || this.row.faultsHere >= maxFaults) return -1
    }
    return this.featureMembers(this.row.scanner.next(bytes, after, end, closeBrace))
  }

  /** Reads members from the one at `first` up to the closing brace: index after it, or -1. */
  private featureMembers(first: number): number {
    const { bytes, end, scanner } = this.row
    let keyAt = first
    while (keyAt > 0) {
      const keyEnd = scanner.name(bytes, keyAt, end)
      this.row.at = keyEnd < 0 ? -1 : scanner.colon(bytes, keyEnd, end)
      if (this.row.at < 0) return this.row.halt()
      this.row.level = 1
      this.row.path = ''
      this.row.keyStart = keyAt + 1
      this.row.keyEnd = keyEnd - 1
      if (!this.member(keyAt) || this.row.faultsHere >= maxFaults) return -1
      keyAt = scanner.next(bytes, this.row.at, end, closeBrace)
    }
    return keyAt < 0 ? this.row.halt() : scanner.after
  }

  /** Reads the value at `at` of the member whose name opens at `keyAt`; false when the feature cannot be read on. */
  private member(keyAt: number): boolean {
    const name = this.memberName()
    switch (name) {
      case 'type':
        return this.isRepeated(part.type) ? this.repeated(name, keyAt) : this.type()
      case 'geometry':
        return this.isRepeated(part.geometry) ? this.repeated(name, keyAt) : this.geometry()
      case 'properties':
        return this.isRepeated(part.properties) ? this.repeated(name, keyAt) : this.properties()
      case 'id':
        return this.isRepeated(part.id) ? this.repeated(name, keyAt) : this.id()
      default:
        this.others ??= new Set()
        if (this.others.has(name)) return this.repeated(name, keyAt)
        this.others.add(name)
        return this.foreign(name, keyAt)
    }
  }

  /** The name last read; those of parts cost no string. */
  private memberName(): string {
    if (!this.row.scanner.string.escaped) {
      for (const [name, text] of partNames)
        if (isText(this.row.bytes, this.row.keyStart, this.row.keyEnd, text)) return name
    }
    return this.row.keyText()
  }

  private isRepeated(bit: number): boolean {
    const met = (this.parts & bit) !== 0
    this.parts |= bit
    return met
  }

  private repeated(name: string, keyAt: number): boolean {
    this.row.note('DuplicateField', `The name '${name}' occurs twice in one feature.`, keyAt, this.row.at)
    return this.row.pass()
  }

  private type(): boolean {
    const { bytes, at } = this.row
    const { string, scratch } = this.row.scanner
    if (!this.row.pass()) return false
    const isString = bytes[at] === quote
    if (isString && isText(bytes, string.start, string.end, featureName)) return true
    this.otherType = isString ? stringText(scratch, bytes, string.start, string.end) : ''
    let advice = ''
    if (this.otherType === 'FeatureCollection') advice = ' Send a FeatureCollection as application/geo+json.'
    else if (isString) advice = ' Put a geometry into the member geometry of a feature.'
    this.row.note('MalformedRecord', `The type of a feature is 'Feature'.${advice}`, at, this.row.at)
    return true
  }

  private geometry(): boolean {
    const { bytes, at } = this.row
    const { plan } = this
    const byte = at < this.row.end ? bytes[at] : 0
    if (byte !== openBrace) {
      if (!this.row.pass()) return false
      if (byte !== letterN) this.row.note('InvalidGeometry', 'A geometry is an object or null.', at, this.row.at)
      else {
        const target = this.target(plan.geometry)
        const fault = target === undefined ? undefined : this.row.columns.putNull(target.column, target.builder)
        if (target !== undefined && fault !== undefined) this.row.misfit(fault, target.column, at)
      }
      return true
    }
    const after = this.geometries.check(bytes, at, this.row.end, 2)
    if (after < 0) return this.badGeometry()
    this.row.at = after
    const target = this.target(plan.geometry)
    if (target === undefined) this.row.unknownField(featureColumns.geometry, at, after)
    else if (target.column.code === valueCode.string) target.builder.appendView(this.words.view, at, after)
    else this.row.misfit(this.row.columns.wrongType(target.column, 'an object'), target.column, at)
    return true
  }

  /** What is wrong with the geometry or bbox at `at`: it is no JSON, or what its checker said. */
  private badGeometry(): boolean {
    const { kind, message, at, end, pointer, outOfRange } = this.geometries
    if (!this.row.pass()) return false
    if (outOfRange) this.row.faults.hint = reprojectHint
    this.row.fault(kind, message, at, end, { pointer: this.row.pointer() + pointer })
    return true
  }

  private properties(): boolean {
    const { bytes, at } = this.row
    const byte = at < this.row.end ? bytes[at] : 0
    if (byte === openBrace) return this.row.object(at, 2, '/properties') >= 0
    if (!this.row.pass()) return false
    if (byte !== letterN)
      this.row.note('WrongType', 'The properties of a feature are an object or null.', at, this.row.at)
    return true
  }

  private id(): boolean {
    const { bytes, at } = this.row
    const byte = bytes[at] ?? 0
    const isScalar = byte === quote || byte === 0x2d || (byte >= 0x30 && byte <= 0x39)
    const target = isScalar ? this.target(this.plan.id) : undefined
    if (target !== undefined) {
      const [keyAt, keyEnd] = [this.row.keyStart - 1, this.row.keyEnd + 1]
      this.row.tellsText = false
      if (!this.row.value(target.column, target.builder, 2)) return false
      this.row.tellsText = true
      if (needsIdToken(bytes, at, this.row.at)) this.keep(keyAt, keyEnd, at)
      return true
    }
    if (!this.row.pass()) return false
    if (isScalar) this.row.unknownField(featureColumns.id, at, this.row.at)
    else if (byte !== letterN) this.row.note('WrongType', 'The id of a feature is a text or a number.', at, this.row.at)
    return true
  }

  /** A bbox, a coordinate system, or a member of which RFC 7946 knows nothing. */
  private foreign(name: string, keyAt: number): boolean {
    const { bytes, end, at } = this.row
    const keyEnd = this.row.keyEnd + 1
    if (name === 'bbox' && this.geometries.checkBox(bytes, at, end, 2) < 0) return this.badGeometry()
    if (!this.row.pass()) return false
    const after = this.row.at
    if (name === 'crs') requireWgs84Text(bytes, at, after, `Feature ${this.row.record}`)
    else if (foreignToFeatures.has(name)) {
      this.row.note('MalformedRecord', `A feature has no member '${name}'.`, keyAt, keyEnd)
    } else if (this.plan.extra === unknownName) {
      if (bytes[at] === letterN || this.hasUnknownExtra) return true
      this.hasUnknownExtra = true
      this.row.unknownField(featureColumns.extra, keyAt, after)
    } else {
      this.keep(keyAt, keyEnd, at)
    }
    return true
  }

  /** Adds the member whose value ended at `row.at` to the object of other members, where the dataset has a place for it. */
  private keep(keyAt: number, keyEnd: number, at: number): void {
    const { extra } = this
    if (this.plan.extra === unknownName) return
    if (extra.length === 0) extra.reset(this.row.end - keyAt + 2)
    extra.add(extra.length === 0 ? openBrace : comma, this.row.bytes, keyAt, keyEnd)
    extra.add(colon, this.row.bytes, at, this.row.at)
  }

  /** Names the columns that hold the JSON text of properties, so that these go out as they came. */
  private keepJsonTexts(): void {
    const { jsonTexts } = this.row
    if (jsonTexts === undefined || jsonTexts.size === 0) return
    const isAsBefore = jsonTexts.size === this.named.length && this.named.every((name) => jsonTexts.has(name))
    if (!isAsBefore) {
      this.named = [...jsonTexts]
      this.namedMember = utf8(jsonTextsMember(jsonTexts))
    }
    const member = this.namedMember
    const { bytes, length } = this.extra
    this.extra.reset(length + member.length + 2)
    if (length > 0) this.extra.add(bytes[0] ?? 0, bytes, 1, length)
    this.extra.add(length === 0 ? openBrace : comma, member, 0, member.length)
  }

  /** Ends the feature `[start, after)`. */
  private completeFeature(start: number, after: number): void {
    const { extra } = this
    if ((this.parts & part.type) === 0) {
      this.otherType = ''
      this.row.fault('MalformedRecord', "A feature has a member 'type', which is 'Feature'.", start, after)
    }
    if ((this.parts & part.geometry) === 0) {
      const message = "A feature has a member 'geometry'; where there is no place, it is null."
      this.row.fault('MissingRequired', message, start, after, { pointer: '/geometry' })
    }
    this.keepJsonTexts()
    const target = extra.length === 0 ? undefined : this.target(this.plan.extra)
    if (target !== undefined) {
      const { column, builder } = target
      extra.add(closeBrace, noBytes, 0, 0)
      if (column.code === valueCode.string) builder.appendBytes(extra.bytes, 0, extra.length)
      else {
        const kind = this.row.columns.wrongType(column, 'an object')
        this.row.fault(kind, this.row.columns.reason, start, after, { column: column.name, pointer: '' })
      }
    }
    this.row.complete(start, after)
  }

  /** The column to put a value into, claimed; undefined when the dataset has no such column. */
  private target(index: number): { readonly column: ColumnPlan; readonly builder: ColumnBuilder } | undefined {
    const column = this.row.table.columns[index]
    if (column === undefined) return undefined
    this.row.claim(index)
    return { column, builder: this.row.columns.builder(index) }
  }
}
