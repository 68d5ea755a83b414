// GeoJSON and NDGeoJSON as formats of ingest (docs/spec/http.md §6): a feature is a record. Inference takes properties
// like the keys of JSON records, and the columns of a feature's other parts.

import { featureColumns } from '../../geo/feature-columns.ts'
import { parseJson } from '../../base/json/json.ts'
import { JsonError } from '../../base/json/parser.ts'
import { concatBytes, copyBytes, utf8 } from '../../base/bytes.ts'
import { NodeError } from '../../base/errors.ts'
import type { JsonValue } from '../../base/json/value.ts'
import { foldAscii } from '../../model/names.ts'
import { type Field, innerType } from '../../model/schema.ts'
import { propertyPrefix, tablePlan } from '../column-plan.ts'
import type { EndlessFormat, StreamFormat, Inferred, InferOptions, ReaderOptions } from '../format.ts'
import { valueClass } from '../inference.ts'
import { ObjectInferrer, ObjectReader } from '../json/objects.ts'
import { CollectionFramer, SequenceFramer } from '../json/framing.ts'
import { closeBrace, comma, holdsLineEnd, openBrace, skipSpace } from '../json/text.ts'
import { SequenceEnds } from './ends.ts'
import { FeatureReader } from './feature.ts'
import { type FeaturePlan, featurePlan, needsIdToken, prefixedNames, requireWgs84 } from './rules.ts'

class FeatureInferrer extends ObjectInferrer {
  private readonly collection: CollectionFramer | undefined
  private readonly prefixed: ReadonlySet<string>

  constructor(options: InferOptions, framer: CollectionFramer | SequenceFramer) {
    super(options, framer)
    this.collection = framer instanceof CollectionFramer ? framer : undefined
    this.prefixed = prefixedNames(options)
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    const part = this.collection?.part ?? 'feature'
    if (part === 'feature' || part === 'whole') super.record(bytes, start, end)
  }

  protected override learn(bytes: Uint8Array, open: number, end: number): void {
    this.visit(bytes, open, end, (name, at, after) => {
      switch (name) {
        case 'type':
        case 'crs':
          break
        case 'geometry':
          // Its type is known before it has a value.
          this.text(featureColumns.geometry)
          break
        case 'properties':
          if (bytes[at] === openBrace) this.properties(bytes, at, after)
          break
        default:
          if (bytes[at] !== 0x6e) this.text(name === 'id' ? featureColumns.id : featureColumns.extra)
          if (name === 'id' && needsIdToken(bytes, at, after)) this.text(featureColumns.extra)
      }
    })
  }

  private properties(bytes: Uint8Array, open: number, end: number): void {
    this.visit(bytes, open, end, (key, at, after) => this.value(key, bytes, at, after))
  }

  protected override columnName(key: string): string {
    return this.prefixed.has(foldAscii(key)) ? propertyPrefix + key : key
  }

  /** Texts that stand for other values are named beside the foreign members. */
  protected override infer(): Inferred {
    const inferred = super.infer()
    if (!inferred.added.some((field) => this.holdsJsonText(field))) return inferred
    this.text(featureColumns.extra)
    return super.infer()
  }

  private holdsJsonText({ name, type }: Field): boolean {
    const { bool, integer, number, nested } = valueClass
    const classes = this.sample.columns.find((column) => column.name === name)?.classes ?? 0
    return innerType(type).kind === 'String' && (classes & (bool | integer | number | nested)) !== 0
  }

  private text(name: string): void {
    const column = this.sample.column(name)
    if (column !== undefined) column.classes |= valueClass.text
  }
}

function planOf(options: ReaderOptions): FeaturePlan {
  return featurePlan(tablePlan(options), options)
}

/** One Feature a line, or a sequence with record separators. */
class SequenceReader extends ObjectReader<FeatureReader> {
  private readonly framer: SequenceFramer

  constructor(options: ReaderOptions) {
    const plan = planOf(options)
    const framer = new SequenceFramer()
    super(options, framer, plan.table, (own) => new FeatureReader(plan, own))
    this.framer = framer
  }

  override attempt(bytes: Uint8Array, start: number): number {
    return this.framer.separated ? -1 : super.attempt(bytes, start)
  }

  protected override tryRecord(bytes: Uint8Array, start: number): number {
    return this.tryLine(bytes, start)
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    let at = skipSpace(bytes, start, end)
    // What a separator begins may be more than one line, and more than one feature.
    while (at < end) {
      const after = this.readRecord(bytes, at, end)
      let next = after < 0 ? end : skipSpace(bytes, after, end)
      if (next < end && !holdsLineEnd(bytes, after, next)) {
        this.surplus(bytes, next, end)
        next = end
      }
      this.columns.endRow(next - at)
      at = next
    }
  }
}

/** A FeatureCollection, or one Feature. */
class CollectionReader extends ObjectReader<FeatureReader> {
  private readonly framer: CollectionFramer
  private readonly members: CollectionMembers

  constructor(options: ReaderOptions) {
    const plan = planOf(options)
    const framer = new CollectionFramer()
    super(options, framer, plan.table, (own) => new FeatureReader(plan, own))
    this.framer = framer
    this.members = new CollectionMembers(options.jsonDepth)
  }

  override attempt(bytes: Uint8Array, start: number): number {
    return this.framer.part === 'feature' ? super.attempt(bytes, start) : -1
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    switch (this.framer.part) {
      case 'feature':
        if (!this.readOnly(bytes, start, end)) throw this.error()
        return
      case 'whole':
        this.whole(bytes, start, end)
        return
      case 'head':
        this.members.head(bytes.subarray(start, end))
        return
      default: {
        const message = this.members.tail(bytes.subarray(start, end))
        if (message === undefined) return
        // The comma or brace alone, whatever chunk the rest came in.
        this.fault({ kind: 'MalformedRecord', message, bytes, at: start, end: start + 1 }, this.records)
      }
    }
  }

  /** An object without an array of features, so that it must be a feature. Throws NodeError `MalformedBody`. */
  private whole(bytes: Uint8Array, start: number, end: number): void {
    const wellFormed = this.readOnly(bytes, start, end)
    const { otherType } = this.objects
    if (!wellFormed || otherType === undefined) return
    let message = `The body is of type '${otherType.slice(0, 40)}', neither a FeatureCollection nor a Feature.`
    if (otherType === 'FeatureCollection') message = "The FeatureCollection has no array 'features'."
    else if (otherType === '') message = 'The body is neither a FeatureCollection nor a Feature.'
    throw notGeoJson(message)
  }

  override oversized(length: number, last: boolean): void {
    if (this.framer.part === 'head')
      throw notGeoJson(`There are ${length} bytes before the features; that is too much.`)
    super.oversized(length, last)
  }

  protected override brokenMessage(): string {
    if (this.framer.empty) throw notGeoJson('The body is neither a FeatureCollection nor a Feature.')
    if (this.framer.unclosed) return 'The array of features is broken here: expected a feature, or a comma between two.'
    return 'Something follows the end; send one feature a line as application/x-ndgeojson.'
  }

  protected override unclosed(): string | undefined {
    return this.framer.unclosed ? 'The body ends before the FeatureCollection is closed.' : undefined
  }
}

/** How to send what is no FeatureCollection. */
const hint =
  'Send a FeatureCollection or one Feature. Send one Feature per line as application/x-ndgeojson, and plain records as application/json.'

export function notGeoJson(message: string): NodeError {
  return new NodeError('MalformedBody', message, { hint })
}

export class CollectionMembers {
  private readonly names = new Set<string>()
  private typed = false
  private readonly maxDepth: number

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth
  }

  /** The collection from its brace to the bracket that opens its features. Throws NodeError `MalformedBody`, `UnsupportedCrs`. */
  head(bytes: Uint8Array): void {
    const fault = this.read(concatBytes([bytes, utf8(']}')]))
    if (fault !== undefined) throw notGeoJson(`The body does not begin as a FeatureCollection: ${fault}`)
  }

  /** The collection after the bracket that closes its features: what is wrong with it. Throws NodeError `UnsupportedCrs`. */
  tail(bytes: Uint8Array): string | undefined {
    if (bytes[0] === comma) {
      // With a brace in place of the comma, what follows is an object of its own.
      const object = copyBytes(bytes)
      object[0] = openBrace
      const before = this.names.size
      const fault = this.read(object)
      if (fault !== undefined) return `After the features, ${fault}`
      if (this.names.size === before) return 'After the features, a comma is followed by no member.'
    } else if (bytes[0] !== closeBrace) return 'After the features, a comma or the end of the collection is missing.'
    return this.typed ? undefined : "The collection has no member 'type', which is 'FeatureCollection'."
  }

  /** Notes the members of an object: what is wrong with them. */
  private read(bytes: Uint8Array): string | undefined {
    let members: JsonValue
    try {
      members = parseJson(bytes, { maxDepth: this.maxDepth })
    } catch (cause) {
      if (cause instanceof JsonError) return `the text ${cause.reason}.`
      throw cause
    }
    if (!(members instanceof Map)) return 'there is no object.'
    for (const name of members.keys()) {
      if (this.names.has(name)) return `the name '${name.slice(0, 60)}' occurs a second time.`
      this.names.add(name)
    }
    const crs = members.get('crs')
    if (crs !== undefined) requireWgs84(crs, 'The FeatureCollection')
    const type = members.get('type')
    if (type !== undefined && type !== 'FeatureCollection') return "the type is not 'FeatureCollection'."
    this.typed ||= type !== undefined
    return undefined
  }
}

const feature =
  '{"type":"Feature","geometry":{"type":"Point","coordinates":[18.95,69.65]},"properties":{"sensor":"s1","celsius":21.5}}'

export const geojson: StreamFormat = {
  kind: 'stream',
  module: import.meta.url,
  name: 'geojson',
  title: 'GeoJSON',
  mediaTypes: ['application/geo+json', 'application/vnd.geo+json'],
  extensions: ['geojson'],
  about: 'a FeatureCollection or Feature',
  example: `{"type":"FeatureCollection","features":[${feature}]}`,
  isLines: false,
  nesting: 'features',
  createReader: (options) => new CollectionReader(options),
  createInferrer: (options) => new FeatureInferrer(options, new CollectionFramer()),
}

export const ndgeojson: EndlessFormat = {
  kind: 'stream',
  module: import.meta.url,
  name: 'ndgeojson',
  title: 'NDGeoJSON',
  mediaTypes: ['application/x-ndgeojson', 'application/geo+json-seq'],
  extensions: ['ndgeojson', 'geojsonl', 'geojsons'],
  about: 'one Feature a line, or behind a record separator',
  example: `${feature}\n`,
  isLines: true,
  nesting: 'features',
  ends: () => new SequenceEnds(),
  createReader: (options) => new SequenceReader(options),
  createInferrer: (options) => new FeatureInferrer(options, new SequenceFramer()),
}
