// GeoJSON and NDGeoJSON as formats of ingest, and inference over them: properties like the keys of JSON records, and the columns of a feature's other parts.

import { foldAscii } from '../../model/names.ts'
import { propertyPrefix } from '../column-plan.ts'
import type { Format, InferOptions } from '../format.ts'
import { valueClass } from '../inference.ts'
import { ObjectInferrer } from '../json/format.ts'
import { CollectionFramer, SequenceFramer } from '../json/framing.ts'
import { openBrace } from '../json/text.ts'
import { CollectionReader, SequenceReader } from './reader.ts'
import { featureColumns, prefixedNames } from './rules.ts'

class FeatureInferrer extends ObjectInferrer {
  private readonly collection: CollectionFramer | undefined
  private readonly prefixed: ReadonlySet<string>

  constructor(options: InferOptions, framer: CollectionFramer | SequenceFramer) {
    super(options, framer)
    this.collection = framer instanceof CollectionFramer ? framer : undefined
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

const feature =
  '{"type":"Feature","geometry":{"type":"Point","coordinates":[18.95,69.65]},"properties":{"sensor":"s1","celsius":21.5}}'

export const geojson: Format = {
  name: 'geojson',
  title: 'GeoJSON',
  mediaTypes: ['application/geo+json', 'application/vnd.geo+json'],
  extensions: ['geojson'],
  about: 'a FeatureCollection or Feature',
  example: `{"type":"FeatureCollection","features":[${feature}]}`,
  isLines: false,
  createReader: (options) => new CollectionReader(options),
  createInferrer: (options) => new FeatureInferrer(options, new CollectionFramer()),
}

export const ndgeojson: Format = {
  name: 'ndgeojson',
  title: 'NDGeoJSON',
  mediaTypes: ['application/x-ndgeojson', 'application/geo+json-seq'],
  extensions: ['ndgeojson', 'geojsonl', 'geojsons'],
  about: 'one Feature a line',
  example: `${feature}\n`,
  isLines: true,
  createReader: (options) => new SequenceReader(options),
  createInferrer: (options) => new FeatureInferrer(options, new SequenceFramer()),
}
