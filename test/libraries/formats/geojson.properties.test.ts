// GeoJSON against JSON.parse: features of all kinds, however their text is laid out and wherever its chunks are cut.

import { isDeepStrictEqual } from 'node:util'
import * as turf from '@turf/helpers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { infer, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const string = { kind: 'String' } as const
const options = readerOptions([
  optionalField('name', string),
  optionalField('size', { kind: 'Float64' }),
  optionalField('geometry', string),
  optionalField('feature_id', string),
  optionalField('feature_extra', string),
])

const longitude = fc.double({ min: -180, max: 180, noNaN: true })
const latitude = fc.double({ min: -90, max: 90, noNaN: true })
const height = fc.double({ min: -1e9, max: 1e9, noNaN: true })
const position = fc.oneof(fc.tuple(longitude, latitude), fc.tuple(longitude, latitude, height))
const ring = fc.array(position, { minLength: 3, maxLength: 6 }).map((open) => [...open, open[0] ?? [0, 0]])
const line = fc.array(position, { minLength: 2, maxLength: 5 })
const rings = fc.array(ring, { minLength: 1, maxLength: 3 })

const simple = fc.oneof(
  position.map((at) => turf.point(at).geometry),
  fc.array(position, { maxLength: 4 }).map((at) => turf.multiPoint(at).geometry),
  line.map((at) => turf.lineString(at).geometry),
  fc.array(line, { maxLength: 3 }).map((at) => turf.multiLineString(at).geometry),
  rings.map((at) => turf.polygon(at).geometry),
  fc.array(rings, { maxLength: 3 }).map((at) => turf.multiPolygon(at).geometry),
)
const geometry = fc.oneof(
  { weight: 6, arbitrary: simple },
  fc.array(simple, { maxLength: 3 }).map((parts) => turf.geometryCollection(parts).geometry),
  fc.constant(null),
)

const properties = fc.option(
  fc.record(
    { name: fc.option(fc.string({ unit: 'grapheme' })), size: fc.option(height), event_time: fc.constant(null) },
    { requiredKeys: [] },
  ),
)
const featureOf = (id: fc.Arbitrary<string | number>) =>
  fc
    .record(
      {
        type: fc.constant('Feature'),
        geometry,
        properties,
        id,
        bbox: fc.constant([1, 2, 3, 4]),
        'a "b"': fc.jsonValue(),
      },
      { requiredKeys: ['type', 'geometry'] },
    )
    .chain((members) => fc.shuffledSubarray(Object.entries(members), { minLength: Object.keys(members).length }))
const feature = featureOf(fc.oneof(fc.string(), fc.integer()))

/** The members of an object in the order given, which may be any for GeoJSON. */
function objectText(members: readonly (readonly [string, unknown])[], indent: number): string {
  return JSON.stringify(Object.fromEntries(members), undefined, indent)
}

/** What the columns hold, by JSON.parse. */
function expectedRow(text: string): unknown[] {
  const { type: _, geometry: shape, properties: values, id: own, ...others } = JSON.parse(text)
  // A text that reads as a number stands there too, so that it goes out as a text.
  const isNumber = typeof own === 'string' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(own)
  const members = isNumber ? { ...others, id: own } : others
  const extra = Object.keys(members).length > 0 ? members : null
  // Columns are found without regard to ASCII case.
  const found = new Map(Object.entries(values ?? {}).map(([name, value]) => [name.toLowerCase(), value ?? null]))
  return [
    null,
    found.get('name') ?? null,
    found.get('size') ?? null,
    shape,
    own === undefined ? null : String(own),
    extra,
  ]
}

function plainRows(format: string, text: string, chunkBytes?: number): unknown[][] {
  return rowsOf(read(format, text, options, chunkBytes)).map((row) =>
    row.map((value, i) => (typeof value === 'string' && (i === 3 || i === 5) ? JSON.parse(value) : value)),
  )
}

describe('any features', () => {
  it('give what JSON.parse gives, in a collection with its members in any order, cut anywhere', () => {
    const collection = fc.tuple(fc.array(feature, { maxLength: 5 }), fc.constantFrom(0, 1), fc.nat(5), fc.nat())
    fc.assert(
      fc.property(collection, ([features, indent, place, cut]) => {
        const texts = features.map((members) => objectText(members, indent))
        const others = ['"type" :"FeatureCollection"', '"bbox":[1,2,3,4]', '"more":{"features":["]}",{"type":"x"}]}']
        others.splice(place % 4, 0, `"features"\n: [${texts.join(' , ')}]`)
        const text = `{${others.join(' ,')}}`
        const expected = texts.map(expectedRow)
        expect(plainRows('geojson', text)).toEqual(expected)
        expect(plainRows('geojson', text, 1 + (cut % 50))).toEqual(expected)
        expect(infer('geojson', text).records).toBe(features.length)
      }),
      { numRuns: 150 },
    )
  })

  it('give the same one a line, with separators, and alone', () => {
    fc.assert(
      fc.property(
        fc.array(feature, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        (features, cut) => {
          const texts = features.map((members) => objectText(members, 0))
          const expected = texts.map(expectedRow)
          expect(plainRows('ndgeojson', texts.join('\n'), cut)).toEqual(expected)
          expect(plainRows('ndgeojson', texts.map((text) => `\u001e${text}\n`).join(''), cut)).toEqual(expected)
          expect(plainRows('geojson', texts[0] ?? '', cut)).toEqual(expected.slice(0, 1))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('with a byte changed are what JSON.parse makes of them, and broken only where it finds them broken', () => {
    const bytes = [...Buffer.from('{}[]",:.-0eE \\x')].map((code) => String.fromCharCode(code))
    const changed = fc.tuple(featureOf(fc.string()), fc.nat(), fc.constantFrom(...bytes)).map(([members, at, byte]) => {
      const text = objectText(members, 0)
      const place = at % text.length
      return Buffer.from(text.slice(0, place) + byte + text.slice(place + 1)).toString('utf8')
    })
    fc.assert(
      fc.property(changed, (text) => {
        const rows = rowsOrBroken(text)
        if (rows === 'broken') return !isFeature(text)
        return rows === 'refused' || isDeepStrictEqual(rows, [expectedRow(text)])
      }),
      { numRuns: 500 },
    )
  })
})

/** The rows; or whether the text was refused as broken, or for what it says. */
function rowsOrBroken(text: string): unknown[][] | 'broken' | 'refused' {
  try {
    return plainRows('ndgeojson', text)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    const faults = error.details.errors ?? []
    return faults.some(({ kind, pointer }) => kind === 'MalformedRecord' && pointer === undefined)
      ? 'broken'
      : 'refused'
  }
}

function isFeature(text: string): boolean {
  try {
    return JSON.parse(text).type !== undefined
  } catch {
    return false
  }
}
