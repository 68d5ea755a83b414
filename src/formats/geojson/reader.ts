// Readers of GeoJSON bodies (contract.md §6): a feature is a record.

import { tablePlan } from '../column-plan.ts'
import { ObjectReader } from '../json/object-reader.ts'
import { holdsLineEnd, passed, skipSpace } from '../json/text.ts'
import type { ReaderOptions, RecordReader } from '../reader.ts'
import { CollectionMembers, notGeoJson } from './collection.ts'
import { FeatureReader } from './feature.ts'
import { CollectionFramer, SequenceFramer } from './framing.ts'
import { type FeaturePlan, featurePlan } from './names.ts'

/** A reader of a FeatureCollection, or of one Feature. */
export function createGeoJsonReader(options: ReaderOptions): RecordReader {
  return new CollectionReader(options, planOf(options))
}

/** A reader of one Feature a line, or of a sequence with record separators. */
export function createNdGeoJsonReader(options: ReaderOptions): RecordReader {
  return new SequenceReader(options, planOf(options))
}

function planOf(options: ReaderOptions): FeaturePlan {
  return featurePlan(tablePlan(options), options.vocabulary)
}

const newline = 0x0a

/** Whether a byte is white space within a line. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09
}

class SequenceReader extends ObjectReader {
  protected readonly objects: FeatureReader
  private readonly framer: SequenceFramer

  constructor(options: ReaderOptions, plan: FeaturePlan) {
    const framer = new SequenceFramer()
    super(options, framer, plan.table)
    this.framer = framer
    this.objects = new FeatureReader(plan, this.recordOptions())
  }

  override attempt(bytes: Uint8Array, start: number): number {
    return this.framer.separated ? -1 : super.attempt(bytes, start)
  }

  /** A line that ends in these bytes, and is one feature: index after the end of the line, or -1. */
  protected override tryRecord(bytes: Uint8Array, start: number): number {
    const { lineEnds } = passed
    let at = super.tryRecord(bytes, start)
    if (at < 0 || passed.lineEnds !== lineEnds) return -1
    while (at < bytes.length && isBlank(bytes[at] ?? 0)) at += 1
    return at < bytes.length && bytes[at] === newline ? at + 1 : -1
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

class CollectionReader extends ObjectReader {
  protected readonly objects: FeatureReader
  private readonly framer: CollectionFramer
  private readonly members: CollectionMembers

  constructor(options: ReaderOptions, plan: FeaturePlan) {
    const framer = new CollectionFramer()
    super(options, framer, plan.table)
    this.framer = framer
    this.members = new CollectionMembers(options.jsonDepth)
    this.objects = new FeatureReader(plan, this.recordOptions())
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

  override oversized(length: number): void {
    if (this.framer.part === 'head')
      throw notGeoJson(`There are ${length} bytes before the features; that is too much.`)
    super.oversized(length)
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
