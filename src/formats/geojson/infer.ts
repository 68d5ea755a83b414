// Inference over GeoJSON: properties like the keys of JSON records, and the columns of a feature's other parts.

import { foldAscii } from '../../model/names.ts'
import { propertyPrefix } from '../column-plan.ts'
import { ObjectInferrer } from '../json/infer.ts'
import { openBrace } from '../json/text.ts'
import type { InferOptions, Inferrer } from '../reader.ts'
import type { Framer } from '../record-feed.ts'
import { valueClass } from '../value-class.ts'
import { CollectionFramer, SequenceFramer } from './framing.ts'
import { featureColumns, prefixedNames } from './names.ts'

/** An inferrer of a FeatureCollection, or of one Feature. */
export function createGeoJsonInferrer(options: InferOptions): Inferrer {
  const framer = new CollectionFramer()
  return new FeatureInferrer(options, framer, framer)
}

/** An inferrer of one Feature a line, or of a sequence with record separators. */
export function createNdGeoJsonInferrer(options: InferOptions): Inferrer {
  return new FeatureInferrer(options, new SequenceFramer(), undefined)
}

class FeatureInferrer extends ObjectInferrer {
  private readonly collection: CollectionFramer | undefined
  private readonly prefixed: ReadonlySet<string>

  constructor(options: InferOptions, framer: Framer, collection: CollectionFramer | undefined) {
    super(options, framer)
    this.collection = collection
    this.prefixed = prefixedNames(options.vocabulary)
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
      }
    })
  }

  private properties(bytes: Uint8Array, open: number, end: number): void {
    this.visit(bytes, open, end, (key, at, after) => {
      const name = this.prefixed.has(foldAscii(key)) ? propertyPrefix + key : key
      this.value(name, bytes, at, after)
    })
  }

  private text(name: string): void {
    const column = this.sample.column(name)
    if (column !== undefined) column.classes |= valueClass.text
  }
}
