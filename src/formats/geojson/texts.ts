// The texts that nearly every GeoJSON feature has, as bytes to compare with. Used by `geojson/feature.ts` and
// `geojson/geometry.ts`; features that are written otherwise are read without them.

import { FixedText } from './fixed-text.ts'

const head = '{"type":"Feature",'
const point = '{"type":"Point","coordinates":['
export const headText: FixedText = new FixedText(head)
export const pointText: FixedText = new FixedText(point)
/** How nearly all points begin, and what stands before their properties. */
export const plainHead: FixedText = new FixedText(`${head}"geometry":${point}`)
export const plainMiddle: FixedText = new FixedText(',"properties":{')
export const featureText: FixedText = new FixedText('"Feature"')

/** The members that have a meaning of their own, and their names as they are mostly written. */
export const part = { other: 0, type: 1, geometry: 2, properties: 3, id: 4 } as const
export const partNames = ['', 'type', 'geometry', 'properties', 'id'] as const
/** Bytes around a name: two quotes and a colon. */
export const nameFrame = 3
const typeText = new FixedText('"type":')
const geometryText = new FixedText('"geometry":')
const propertiesText = new FixedText('"properties":')
const idText = new FixedText('"id":')

/** The part whose name opens at `at`, if the name is written without escapes and a colon follows at once. */
export function partAt(view: DataView, at: number, end: number): number {
  switch (at + 1 < end ? view.getUint8(at + 1) : 0) {
    case 0x74:
      return typeText.standsAt(view, at, end) ? part.type : part.other
    case 0x67:
      return geometryText.standsAt(view, at, end) ? part.geometry : part.other
    case 0x70:
      return propertiesText.standsAt(view, at, end) ? part.properties : part.other
    case 0x69:
      return idText.standsAt(view, at, end) ? part.id : part.other
    default:
      return part.other
  }
}
