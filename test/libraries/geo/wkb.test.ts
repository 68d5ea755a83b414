// Well-known binary as GeoJSON: what one writes by the standard is what one reads, and nothing else is guessed.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GeometryFault } from '../../../src/libraries/geo/rules.ts'
import { wkbToGeoJson } from '../../../src/libraries/geo/wkb.ts'
import { fromHex } from '../../../src/libraries/base/bytes.ts'

type Position = readonly number[]
type Geometry =
  | { readonly type: string; readonly coordinates: unknown }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

interface Form {
  readonly isLittle: boolean
  /** How heights are told: by 1000 in the type, or by a flag. */
  readonly isIso: boolean
  readonly dimensions: 2 | 3
}

const types = [
  '',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]

/** Writes a geometry as OGC 06-103r4 §8.2 says. */
function encode(geometry: Geometry, form: Form): number[] {
  const { isLittle, isIso, dimensions } = form
  const type = types.indexOf(geometry.type)
  const number = (value: number, bytes: 4 | 8): number[] => {
    const view = new DataView(new ArrayBuffer(bytes))
    if (bytes === 4) view.setUint32(0, value, isLittle)
    else view.setFloat64(0, value, isLittle)
    return [...new Uint8Array(view.buffer)]
  }
  const code = dimensions === 2 ? type : isIso ? type + 1000 : type + 0x80000000
  const head = [isLittle ? 1 : 0, ...number(code, 4)]
  const position = (at: Position): number[] => at.flatMap((value) => number(value, 8))
  const row = (positions: readonly Position[]): number[] => [
    ...number(positions.length, 4),
    ...positions.flatMap(position),
  ]
  const rings = (all: readonly (readonly Position[])[]): number[] => [...number(all.length, 4), ...all.flatMap(row)]
  const parts = (all: readonly Geometry[]): number[] => [
    ...number(all.length, 4),
    ...all.flatMap((one) => encode(one, form)),
  ]
  if ('geometries' in geometry) return [...head, ...parts(geometry.geometries)]
  const coordinates = geometry.coordinates as never
  const single = geometry.type.replace('Multi', '')
  if (single !== geometry.type) {
    return [...head, ...parts((coordinates as unknown[]).map((one) => ({ type: single, coordinates: one })))]
  }
  const body =
    geometry.type === 'Point'
      ? position(coordinates)
      : geometry.type === 'LineString'
        ? row(coordinates)
        : rings(coordinates)
  return [...head, ...body]
}

function arbGeometry(dimensions: 2 | 3): fc.Arbitrary<Geometry> {
  const degrees = (most: number): fc.Arbitrary<number> => fc.double({ min: -most, max: most, noNaN: true })
  const position = fc
    .tuple(degrees(180), degrees(90), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .map((three) => three.slice(0, dimensions))
  const line = fc.array(position, { minLength: 2, maxLength: 5 })
  const ring = fc.array(position, { minLength: 3, maxLength: 5 }).map((open) => [...open, open[0]!])
  const polygon = fc.array(ring, { maxLength: 3 })
  const of = (type: string, coordinates: fc.Arbitrary<unknown>): fc.Arbitrary<Geometry> => {
    return coordinates.map((value) => ({ type, coordinates: value }))
  }
  const many = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(item, { maxLength: 3 })
  const simple = fc.oneof(
    of('Point', position),
    of('LineString', line),
    of('Polygon', polygon),
    of('MultiPoint', many(position)),
    of('MultiLineString', many(line)),
    of('MultiPolygon', many(polygon)),
  )
  const collection = fc
    .array(simple, { maxLength: 3 })
    .map((geometries): Geometry => ({ type: 'GeometryCollection', geometries }))
  return fc.oneof({ weight: 4, arbitrary: simple }, { weight: 1, arbitrary: collection })
}

const arbForm = fc.record({
  isLittle: fc.boolean(),
  isIso: fc.boolean(),
  dimensions: fc.constantFrom<2 | 3>(2, 3),
})

test('every geometry comes back, in both byte orders and both ways to tell heights', () => {
  const written = arbForm.chain((form) => arbGeometry(form.dimensions).map((geometry) => ({ form, geometry })))
  fc.assert(
    fc.property(written, ({ form, geometry }) => {
      const text = wkbToGeoJson(Uint8Array.from(encode(geometry, form)))
      expect(JSON.parse(String(text))).toEqual(geometry)
    }),
  )
})

test('bytes that are no geometry are refused with a sentence', () => {
  fc.assert(
    fc.property(arbForm, fc.gen(), fc.uint8Array({ maxLength: 60 }), (form, gen, noise) => {
      const sound = encode(
        gen(() => arbGeometry(form.dimensions)),
        form,
      )
      const cut = Uint8Array.from(sound).subarray(0, Math.max(0, sound.length - 1 - noise.length))
      for (const bytes of [cut, noise, Uint8Array.from([...sound, 0])])
        expect(() => wkbToGeoJson(bytes)).toThrow(GeometryFault)
    }),
  )
})

describe('what GeoJSON has no form for is refused by name', () => {
  const cases: readonly [string, string, RegExp][] = [
    ['Point M', '01d1070000000000000000f03f0000000000000040000000000000f83f', /measures/],
    ['Point ZM of PostGIS', '01010000c0000000000000f03f0000000000000040000000000000f83f000000000000f83f', /measures/],
    ['CircularString', '010800000000000000', /CircularString/],
    ['TIN', '011000000000000000', /TIN/],
    ['a type of nobody', '012a000000', /type number 42/],
    ['another coordinate system', '0101000020110f0000000000000000f03f0000000000000040', /coordinate system 3857/],
    ['a third byte order', '0201000000000000000000f03f0000000000000040', /byte order 2/],
    ['a count beyond the bytes', '0102000000ffffffff', /ends too early/],
    ['a latitude of 91', '0101000000000000000000f03f0000000000c05640', /latitude 91/],
    ['a coordinate that is no number', '0101000000000000000000f87f0000000000000040', /longitude NaN/],
    [
      'a ring that is open',
      '01030000000100000004000000' + '000000000000f03f000000000000f03f'.repeat(3) + '00000000000000400000000000000040',
      /ends where it begins/,
    ],
  ]
  for (const [name, hex, message] of cases) {
    test(name, () => expect(() => wkbToGeoJson(fromHex(hex)!)).toThrow(message))
  }
})

test('an empty Point has no coordinates, one of EPSG:4326 is read', () => {
  expect(wkbToGeoJson(fromHex('0101000000000000000000f87f000000000000f87f')!)).toBe('{"type":"Point","coordinates":[]}')
  expect(wkbToGeoJson(fromHex('0101000020e6100000000000000000f03f0000000000000040')!)).toBe(
    '{"type":"Point","coordinates":[1,2]}',
  )
})
