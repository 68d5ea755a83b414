// The geometries of features and their coordinate systems: what of RFC 7946 is judged, and where the fault is.

import { describe, expect, it } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { failure, faults, kinds, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const string = { kind: 'String' } as const
const fields = [
  optionalField('name', string),
  optionalField('height', { kind: 'Float64' }),
  optionalField('geometry', string),
]
const plain = readerOptions(fields)
const point = '{"type":"Point","coordinates":[8.5, 47.30]}'

function feature(geometry: string, more = ''): string {
  return `{"type":"Feature","geometry":${geometry},"properties":{"name":"a"}${more}}`
}

describe('geometries', () => {
  const ring = '[[0,0],[4,0],[4,4],[0,0]]'
  const judge = (geometry: string): unknown => {
    const found = faults('ndgeojson', feature(geometry), plain)
    return found.map(({ kind, pointer }) => (kind === 'InvalidGeometry' ? pointer : `${kind} ${pointer ?? ''}`))
  }

  it.each([
    '{"type":"Point","coordinates":[1,2]}',
    '{"type":"Point","coordinates":[-180.0000001,90.000001,8848.86,5]}',
    '{"type":"Point","coordinates":[360.000001,-90.000001]}',
    '{"type":"Point","coordinates":[3.6e2,9E+1]}',
    '{"type":"Point","coordinates":[0e999,-0.0,1e308]}',
    '{"type":"Point","coordinates":[179.99999999999999999999999,0.00000000000000000000000000001]}',
    '{"type":"Point","coordinates":[]}',
    '{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}',
    '{"type":"MultiPoint","coordinates":[]}',
    '{"type":"LineString","coordinates":[[1,2],[3,4]]}',
    '{"type":"MultiLineString","coordinates":[[[1,2],[3,4]],[]]}',
    `{"type":"Polygon","coordinates":[${ring},${ring}]}`,
    '{"type":"Polygon","coordinates":[[[0,0,1],[4,0,1],[4,4,1],[0.0,0e0,1.00]]]}',
    '{"coordinates":[[[0,0],[4,0],[4,4],[0,0]]],"bbox":[0,0,4,4],"note":{"a":[1]},"type":"Polygon"}',
    `{"type":"MultiPolygon","coordinates":[[${ring}],[]]}`,
    `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"geometries":[],"type":"GeometryCollection"}]}`,
    `{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`,
    `{"ty\\u0070e":"Po\\u0069nt","coordinates":[1,2]}`,
  ])('keeps %s', (geometry) => {
    expect(rowsOf(read('ndgeojson', feature(geometry), plain))).toEqual([[null, 'a', null, geometry]])
  })

  it.each([
    ['{}', '/geometry'],
    ['{"type":"Point"}', '/geometry'],
    ['{"coordinates":[1,2]}', '/geometry'],
    ['{"type":"Circle","coordinates":[1,2]}', '/geometry/type'],
    ['{"type":5,"coordinates":[1,2]}', '/geometry/type'],
    ['{"type":"Feature","geometry":null}', '/geometry/type'],
    ['{"type":"Point","coordinates":null}', '/geometry/coordinates'],
    ['{"type":"Point","coordinates":[1]}', '/geometry/coordinates'],
    ['{"type":"Point","coordinates":["1",2]}', '/geometry/coordinates'],
    ['{"type":"Point","coordinates":[[1,2]]}', '/geometry/coordinates'],
    ['{"type":"Point","coordinates":[1,2,null]}', '/geometry/coordinates'],
    ['{"type":"Point","coordinates":[360.0000011,2]}', '/geometry/coordinates/0'],
    ['{"type":"Point","coordinates":[1,-90.0000011]}', '/geometry/coordinates/1'],
    ['{"type":"Point","coordinates":[1,2,1e999]}', '/geometry/coordinates/2'],
    ['{"type":"Point","coordinates":[123456789012345678901234567890,2]}', '/geometry/coordinates/0'],
    ['{"type":"MultiPoint","coordinates":[1,2]}', '/geometry/coordinates/0'],
    ['{"type":"MultiPoint","coordinates":[[1,2],[]]}', '/geometry/coordinates/1'],
    ['{"type":"LineString","coordinates":[[1,2]]}', '/geometry/coordinates'],
    ['{"type":"MultiLineString","coordinates":[[[1,2],[1,3]],[[1,2]]]}', '/geometry/coordinates/1'],
    ['{"type":"Polygon","coordinates":[[[0,0],[4,0],[0,0]]]}', '/geometry/coordinates/0'],
    ['{"type":"Polygon","coordinates":[[]]}', '/geometry/coordinates/0'],
    ['{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,1]]]}', '/geometry/coordinates/0'],
    ['{"type":"Polygon","coordinates":[[[0,0,1],[4,0],[4,4],[0,0]]]}', '/geometry/coordinates/0'],
    [`{"type":"MultiPolygon","coordinates":[${ring}]}`, '/geometry/coordinates/0/0/0'],
    ['{"coordinates":[[[0,0],[4,0],[4,99],[0,0]]],"type":"Polygon"}', '/geometry/coordinates/0/2/1'],
    ['{"type":"GeometryCollection"}', '/geometry'],
    ['{"type":"GeometryCollection","geometries":{}}', '/geometry/geometries'],
    [
      '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},null]}',
      '/geometry/geometries/1',
    ],
    [
      '{"geometries":[{"type":"Point","coordinates":[1,99]}],"type":"GeometryCollection"}',
      '/geometry/geometries/0/coordinates/1',
    ],
    ['{"type":"Point","coordinates":[1,2],"bbox":[1]}', '/geometry/bbox'],
    ['{"type":"Point","coordinates":[1,2],"type":"Point"}', 'DuplicateField /geometry/type'],
    ['{"type":"Point","coordinates":[1,2],"x":1,"x":2}', 'DuplicateField /geometry/x'],
    ['{"type":"Point","coordinates":[1,2],"x":{"y":1,"y":2}}', 'DuplicateField /geometry/x/y'],
    ['{"type":"Point","coordinates":[1,02]}', 'MalformedRecord '],
    ['{"type":"Point","coordinates":[1,2]', 'MalformedRecord '],
    ['{"type":"Point","coordinates":[1,2.]}', 'MalformedRecord '],
    ['{"type":"Point","coordinates":[1,NaN]}', 'MalformedRecord '],
    ['{"type":"Point","coordinates":[1,2],}', 'MalformedRecord '],
    ['{"type" "Point"}', 'MalformedRecord '],
    ['{"type":"Po\\int","coordinates":[1,2]}', 'MalformedRecord '],
    ['{"type":"Po\\ud800int","coordinates":[1,2]}', 'InvalidUtf8 /geometry/type'],
  ])('refuses %s', (geometry, pointer) => {
    expect(judge(geometry)).toEqual([pointer])
  })

  it('ask to reproject what is no degrees', () => {
    const error = failure(() => read('ndgeojson', feature('{"type":"Point","coordinates":[500000.5,5200000]}'), plain))
    expect(error.kind).toBe('RecordsDoNotFit')
    expect(error.details.hint).toContain('EPSG:4326')
    expect(error.details.errors).toMatchObject([{ kind: 'InvalidGeometry', excerpt: '500000.5' }])
  })

  it('may not be nested without end', () => {
    const nested = (levels: number): string =>
      levels === 0 ? point : `{"type":"GeometryCollection","geometries":[${nested(levels - 1)}]}`
    // The feature is level 1, each collection takes two, the point two.
    const deep = { ...plain, jsonDepth: 1 + 2 * 3 + 2 }
    expect(read('ndgeojson', feature(nested(3)), deep).records).toBe(1)
    expect(kinds('ndgeojson', feature(nested(4)), deep)).toEqual(['TooDeep@0'])
    const shallow = { ...plain, jsonDepth: 2 }
    expect(kinds('ndgeojson', feature(point), shallow)).toEqual(['TooDeep@0'])
    expect(kinds('ndgeojson', '{"type":"Feature","geometry":null,"properties":{"name":[1]}}', shallow)).toEqual([
      'TooDeep@0',
    ])
  })
})

describe('coordinate systems', () => {
  const named = (name: string): string => `{"type":"name","properties":{"name":"${name}"}}`

  it.each([
    'urn:ogc:def:crs:OGC:1.3:CRS84',
    'urn:ogc:def:crs:OGC::CRS84',
    'urn:ogc:def:crs:EPSG::4326',
    'EPSG:4326',
    'epsg:4326',
    'OGC:CRS84',
    'CRS84',
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    'http://www.opengis.net/def/crs/EPSG/0/4326',
  ])('may be %s', (name) => {
    for (const text of [
      `{"type":"FeatureCollection","crs":${named(name)},"features":[]}`,
      `{"features":[],"crs":${named(name)},"type":"FeatureCollection"}`,
    ]) {
      expect(read('geojson', text, plain).records).toBe(0)
    }
    expect(rowsOf(read('ndgeojson', feature(point, `,"crs":${named(name)}`), plain))).toEqual([
      [null, 'a', null, point],
    ])
  })

  it.each([
    named('EPSG:3857'),
    named('EPSG:43260'),
    named('urn:ogc:def:crs:EPSG::25832'),
    '{"type":"link","properties":{"href":"http://example.org/crs"}}',
    'null',
  ])('may not be %s', (crs) => {
    const metres = feature('{"type":"Point","coordinates":[500000,5200000]}')
    for (const [format, text] of [
      ['geojson', `{"type":"FeatureCollection","crs":${crs},"features":[${metres}]}`],
      ['geojson', `{"type":"FeatureCollection","features":[${metres}],"crs":${crs}}`],
      ['geojson', feature(point, `,"crs":${crs}`)],
      ['ndgeojson', feature(point, `,"crs":${crs}`)],
      ['ndgeojson', feature(`{"type":"Point","crs":${crs},"coordinates":[1,2]}`)],
    ] as const) {
      const error = failure(() => read(format, text, plain))
      expect(error).toBeInstanceOf(NodeError)
      expect({ text, kind: error.kind }).toEqual({ text, kind: 'UnsupportedCrs' })
      expect(error.details.hint).toContain('EPSG:4326')
    }
  })
})
