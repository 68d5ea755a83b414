// GeoJSON and NDGeoJSON: where the parts of a feature go, and what of RFC 7946 is judged.

import { describe, expect, it } from 'vitest'
import { optional } from '../../../src/libraries/model/schema.ts'
import {
  base,
  failure,
  faults,
  featureFields,
  infer,
  kinds,
  optionalField,
  read,
  readBytes,
  readerOptions,
  rowsOf,
} from './reading.ts'

const string = { kind: 'String' } as const
const options = readerOptions(featureFields)
const plain = readerOptions(featureFields.slice(0, 3))

const point = '{"type":"Point","coordinates":[8.5, 47.30]}'

function feature(geometry: string, more = ''): string {
  return `{"type":"Feature","geometry":${geometry},"properties":{"name":"a"}${more}}`
}

function collection(...features: readonly string[]): string {
  return `{"type":"FeatureCollection","features":[${features.join(',')}]}`
}

describe('the parts of a feature', () => {
  it('go to their columns, tokens verbatim', () => {
    const text = collection(
      '{"type":"Feature","id":7.0,"bbox":[1,2, 3,4],"geometry":{ "type": "Point", "coordinates": [8.50,47] },' +
        '"properties":{"name":"a","height":1e1},"title":{"de":"Berg"}}',
    )
    expect(rowsOf(read('geojson', text, options))).toEqual([
      [
        null,
        'a',
        10,
        '{ "type": "Point", "coordinates": [8.50,47] }',
        '7.0',
        '{"bbox":[1,2, 3,4],"title":{"de":"Berg"}}',
      ],
    ])
  })

  it('come in any order', () => {
    const text =
      `{"properties":{"height":2,"name":"b"},"tags":[1],"geometry":{"coordinates":[8,47],"type":"Point"},` +
      `"id":"x\\u0041","type":"Feature"}`
    expect(rowsOf(read('ndgeojson', text, options))).toEqual([
      [null, 'b', 2, '{"coordinates":[8,47],"type":"Point"}', 'xA', '{"tags":[1]}'],
    ])
  })

  it('may be null: the geometry, the properties, the id, the bbox', () => {
    const text = '{"type":"Feature","geometry":null,"properties":null,"id":null,"bbox":null}'
    expect(rowsOf(read('ndgeojson', text, plain))).toEqual([[null, null, null, null]])
    expect(rowsOf(read('ndgeojson', '{"type":"Feature","geometry":null}', plain))).toEqual([[null, null, null, null]])
  })

  it('need a geometry, and a geometry where its column is required', () => {
    expect(faults('ndgeojson', '{"type":"Feature","properties":{}}', options)).toMatchObject([
      { kind: 'MissingRequired', record: 0, pointer: '/geometry' },
    ])
    const required = readerOptions([{ name: 'geometry', type: string }])
    expect(faults('ndgeojson', '{"type":"Feature","geometry":null,"properties":null}', required)).toMatchObject([
      { kind: 'MissingRequired', column: 'geometry', pointer: '/geometry' },
    ])
    expect(faults('ndgeojson', feature('5'), options)).toMatchObject([
      { kind: 'InvalidGeometry', pointer: '/geometry' },
    ])
  })

  it('take the event time from the property of that name', () => {
    const text = `{"type":"Feature","geometry":null,"properties":{"event_time":"1970-01-01T00:00:01Z"}}`
    expect(rowsOf(read('ndgeojson', text, plain))).toEqual([[1000n, null, null, null]])
    const other = readerOptions(featureFields, { vocabulary: { ...base.vocabulary, eventTimeColumn: 'geometry' } })
    expect(
      rowsOf(
        read('ndgeojson', '{"type":"Feature","geometry":null,"properties":{"geometry":"1970-01-01T00:00:01Z"}}', other),
      ),
    ).toEqual([[1000n, null, null, null, null]])
  })

  it('meet the rules of unknown fields where a column is missing', () => {
    const text = feature(point, ',"id":1,"bbox":[1,2,3,4],"more":1,"note":null')
    expect(faults('ndgeojson', text, plain)).toMatchObject([
      { kind: 'UnknownField', pointer: '/id', message: expect.stringContaining("'feature_id'") },
      { kind: 'UnknownField', pointer: '/bbox', message: expect.stringContaining("'feature_extra'") },
    ])
    const ignore = readerOptions(featureFields.slice(0, 3), { unknownFields: 'ignore' })
    expect(rowsOf(read('ndgeojson', text, ignore))).toEqual([[null, 'a', null, point]])
    expect(kinds('ndgeojson', text, readerOptions(featureFields.slice(0, 1)))).toEqual([
      'UnknownField@0',
      'UnknownField@0',
      'UnknownField@0',
    ])
  })

  it('have types: properties an object, an id text or number, a bbox numbers in pairs', () => {
    const wrong = (members: string): unknown =>
      faults('ndgeojson', `{"type":"Feature","geometry":null,${members}}`, options).map(({ kind, pointer }) => [
        kind,
        pointer,
      ])
    expect(wrong('"properties":[]')).toEqual([['WrongType', '/properties']])
    expect(wrong('"id":true')).toEqual([['WrongType', '/id']])
    expect(wrong('"id":{"a":1}')).toEqual([['WrongType', '/id']])
    expect(wrong('"bbox":[1,2,3]')).toEqual([['InvalidGeometry', '/bbox']])
    expect(wrong('"bbox":[1,2,3,"4"]')).toEqual([['InvalidGeometry', '/bbox']])
    expect(wrong('"bbox":{}')).toEqual([['InvalidGeometry', '/bbox']])
    expect(wrong('"properties":{"height":"x"}')).toEqual([['WrongType', '/properties/height']])
    expect(wrong('"coordinates":[]')).toEqual([['MalformedRecord', '/coordinates']])
  })

  it('stand once', () => {
    for (const name of ['type', 'geometry', 'properties', 'id', 'bbox', 'other']) {
      const value = { type: '"Feature"', geometry: 'null', id: '1', bbox: '[1,2,3,4]' }[name] ?? '{}'
      const others = name === 'type' ? '' : '"type":"Feature",'
      const geometry = name === 'geometry' ? '' : ',"geometry":null'
      const text = `{${others}"${name}":${value},"${name}":${value}${geometry}}`
      expect(faults('ndgeojson', text, options)).toMatchObject([{ kind: 'DuplicateField', pointer: `/${name}` }])
    }
    expect(faults('ndgeojson', feature('null', ',"properties":{}'), options)).toMatchObject([
      { kind: 'DuplicateField' },
    ])
    expect(
      faults('ndgeojson', '{"type":"Feature","geometry":null,"properties":{"name":"a","NAME":"b"}}', options),
    ).toMatchObject([{ kind: 'DuplicateField', pointer: '/properties/NAME' }])
  })
})

describe('properties with names of other columns', () => {
  const names = ['property_geometry', 'property_feature_id', 'property_feature_extra', 'property_offset', 'property_op']
  const prefixed = readerOptions([...names.map((name) => optionalField(name, string)), ...featureFields.slice(2)])

  it('get a prefix', () => {
    const text =
      '{"type":"Feature","id":"i","geometry":null,"properties":' +
      '{"geometry":"g","feature_id":1,"Feature_Extra":{"a":1},"offset":2,"OP":3}}'
    // Their columns, for a value that is no text is named beside the foreign members.
    const named = JSON.stringify({ properties: names.slice(1) })
    expect(rowsOf(read('ndgeojson', text, prefixed))).toEqual([[null, 'g', '1', '{"a":1}', '2', '3', null, 'i', named]])
  })

  it('may not meet a property that has the name with the prefix', () => {
    const text = '{"type":"Feature","geometry":null,"properties":{"offset":1,"property_offset":2}}'
    expect(faults('ndgeojson', text, prefixed)).toMatchObject([{ kind: 'DuplicateField' }])
  })

  it('are unknown by the name of the column that is missing', () => {
    const text = '{"type":"Feature","geometry":null,"properties":{"system_time":1}}'
    expect(faults('ndgeojson', text, options)).toMatchObject([
      {
        kind: 'UnknownField',
        pointer: '/properties/system_time',
        message: expect.stringContaining("'property_system_time'"),
      },
    ])
  })

  it('are inferred with the prefix', () => {
    const text =
      '{"type":"Feature","geometry":null,"properties":{"Geometry":1,"op":true,"event_time":"2024-01-01","x":null}}'
    const inferred = infer('ndgeojson', text)
    expect(inferred.fields.map(({ name }) => name)).toEqual(['geometry', 'property_Geometry', 'property_op'])
    expect(inferred.valueless).toEqual(['x'])
    expect(inferred.eventTimeType).toEqual({ kind: 'Date' })
  })
})

describe('a FeatureCollection', () => {
  const one = feature(point)

  it('has its members in any order', () => {
    for (const text of [
      `{"type":"FeatureCollection","features":[${one}]}`,
      `{"features":[${one}],"type":"FeatureCollection"}`,
      ` {\n"bbox":[1,2,3,4],"metadata":{"features":[1,{"features":[]}],"x":"\\"}]"},"features" : [ ${one} ] , "crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"type":"FeatureCollection"}\n`,
      `{"feat\\u0075res":[${one}],"type":"FeatureCollection"}`,
    ]) {
      for (const chunk of [1, 2, 7, text.length]) {
        expect(rowsOf(read('geojson', text, plain, chunk))).toEqual([[null, 'a', null, point]])
      }
    }
  })

  it('may be empty, and a body too', () => {
    expect(read('geojson', '{"features":[],"type":"FeatureCollection"}', plain).records).toBe(0)
    expect(read('geojson', ' \n', plain).records).toBe(0)
  })

  it('may be one Feature instead', () => {
    const text = `\ufeff{"properties":{"name":"b"},"geometry":${point},"type":"Feature"}\n`
    for (const chunk of [1, 3, text.length]) {
      expect(rowsOf(read('geojson', text, plain, chunk))).toEqual([[null, 'b', null, point]])
    }
  })

  it('is refused when it is something else', () => {
    for (const text of [
      '[]',
      '5',
      'null',
      '{}',
      point,
      '{"type":"Topology","objects":{}}',
      '{"type":"FeatureCollection"}',
      '{"type":"FeatureCollection","features":{}}',
      '{"type":"Feature","features":[]}',
      '{"a":1,"a":2,"features":[]}',
      '{"a":01,"features":[]}',
      '{"a" 1,"features":[]}',
    ]) {
      expect({ text, kind: failure(() => read('geojson', text, plain)).kind }).toEqual({ text, kind: 'MalformedBody' })
    }
  })

  it('names the record after which it breaks', () => {
    const broken: readonly (readonly [string, string])[] = [
      [`{"type":"FeatureCollection","features":[${one}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}]`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}],"a"`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one} ${one}]}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one},]}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}],}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}]]`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}]}}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one}],"features":[]}`, 'MalformedRecord@1'],
      [`{"features":[${one}],"type":"Feature"}`, 'MalformedRecord@1'],
      [`{"features":[${one}]}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one},{"type":]}`, 'MalformedRecord@1'],
      [`{"type":"FeatureCollection","features":[${one},null,5,${one}]}`, 'MalformedRecord@1'],
      ['{"type":"Feature","geometry":null', 'MalformedRecord@0'],
      ['{"type":"Feat', 'MalformedRecord@0'],
    ]
    for (const [text, kind] of broken) {
      expect({ text, kind: kinds('geojson', text, plain)[0] }).toEqual({ text, kind })
      const whole = faults('geojson', text, plain)
      for (const chunk of [1, 5])
        expect({ text, faults: faults('geojson', text, plain, chunk) }).toEqual({ text, faults: whole })
    }
  })

  it('gives each fault the index of its feature, its place and its pointer', () => {
    const text = `{"features":[\n${one},\n${feature('{"type":"Point","coordinates":[1,2,"3"]}')}\n],"type":"FeatureCollection"}`
    expect(faults('geojson', text, plain)).toEqual([
      {
        record: 1,
        line: 3,
        byteOffset: text.indexOf('[1,2,"3"'),
        pointer: '/geometry/coordinates',
        kind: 'InvalidGeometry',
        message: expect.any(String),
        excerpt: expect.stringMatching(/^\[1,2,"3"/),
      },
    ])
  })

  it('is bounded, also in what stands before its features', () => {
    const small = { ...plain, recordBytes: 200 }
    const filler = `"x":"${'y'.repeat(300)}"`
    const afterwards = `{"features":[${one}],${filler},"type":"FeatureCollection"}`
    expect(failure(() => read('geojson', `{${filler},"features":[]}`, small)).kind).toBe('MalformedBody')
    expect(kinds('geojson', afterwards, small)).toEqual(['RecordTooLarge@1'])
    expect(kinds('geojson', collection(one, feature(point, `,${filler}`), one), small)).toEqual(['RecordTooLarge@1'])
  })

  it('tells invalid UTF-8 wherever it stands', () => {
    const bytes = Buffer.from(collection(one, one.replace('"a"', '"#"')))
    bytes[bytes.indexOf('#')] = 0xff
    expect(faults('geojson', bytes, plain)).toMatchObject([{ kind: 'InvalidUtf8', record: 1 }])
    const head = Buffer.from('{"a":"#","type":"FeatureCollection","features":[]}')
    head[head.indexOf('#')] = 0xff
    expect(failure(() => readBytes('geojson', head, plain)).kind).toBe('MalformedBody')
  })
})

describe('a sequence of features', () => {
  const lines = [feature(point), feature('null').replace('"a"', '"b"')]
  const rows = [
    [null, 'a', null, point],
    [null, 'b', null, null],
  ]

  it('has one a line, or record separators', () => {
    const spread = lines.map((line) => line.replace(',"properties', ',\n  "properties'))
    for (const text of [
      `${lines.join('\n')}\n`,
      `\n  \r\n${lines.join('\r\n\n')}`,
      lines.map((line) => `\u001e${line}\n`).join(''),
      lines.map((line) => `\u001e${line}`).join(''),
      `\u001e\u001e${lines[0]}\n\n \u001e\n${lines[1]}\n\u001e`,
      spread.map((text) => `\u001e${text}\n`).join(''),
      `\u001e${lines[0]}\n${lines[1]}\n`,
      `${lines[0]}\n\u001e${spread[1]}\n`,
    ]) {
      for (const chunk of [1, 4, text.length])
        expect({ text, rows: rowsOf(read('ndgeojson', text, plain, chunk)) }).toEqual({ text, rows })
      expect({ text, records: infer('ndgeojson', text).records }).toEqual({ text, records: 2 })
    }
  })

  it('goes on after a faulty record', () => {
    const text = `${lines[0]}${lines[1]}\n{"type":\n[]\n${feature('{}')}\n${collection(lines[0] ?? '')}`
    expect(faults('ndgeojson', text, plain).map(({ kind, record, line }) => [kind, record, line])).toEqual([
      ['MalformedRecord', 0, 1],
      ['MalformedRecord', 1, 2],
      ['MalformedRecord', 2, 3],
      ['InvalidGeometry', 3, 4],
      ['MalformedRecord', 4, 5],
      ['MalformedRecord', 4, 5],
      ['MissingRequired', 4, 5],
    ])
    const separated = `\u001e{"type":\n\u001e${feature('{}')}\n`
    expect(faults('ndgeojson', separated, plain).map(({ kind, record, line }) => [kind, record, line])).toEqual([
      ['MalformedRecord', 0, 2],
      ['InvalidGeometry', 1, 2],
    ])
  })
})

describe('inference', () => {
  it('takes columns in order of appearance, and those of the feature only where there is one', () => {
    const text = collection(
      `{"type":"Feature","properties":{"mag":1,"place":"x"},"geometry":${point}}`,
      `{"type":"Feature","geometry":null,"properties":{"mag":2.5,"when":"2024-01-01T00:00:00Z"},"id":3}`,
    )
    const inferred = infer('geojson', text)
    expect(inferred.records).toBe(2)
    expect(inferred.fields).toEqual([
      optionalField('mag', { kind: 'Float64' }),
      optionalField('place', string),
      optionalField('geometry', string),
      optionalField('when', { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }),
      optionalField('feature_id', string),
    ])
    const rows = rowsOf(read('geojson', text, readerOptions(inferred.fields, { valueless: inferred.valueless })))
    expect(rows.map((row) => row.at(-1))).toEqual([null, '3'])
  })

  it('sees one Feature, foreign members, and columns that are known', () => {
    const text = feature(point, ',"bbox":[1,2,3,4],"crs":{"type":"name","properties":{"name":"CRS84"}},"id":null')
    expect(infer('geojson', text).fields.map(({ name }) => name)).toEqual(['geometry', 'name', 'feature_extra'])
    const known = [{ name: 'GEOMETRY', type: optional(string) }]
    expect(infer('geojson', text, { known }).added.map(({ name }) => name)).toEqual(['name', 'feature_extra'])
  })

  it('leaves what is no feature to the reader', () => {
    expect(infer('geojson', '{"features":[5,null],"type":"FeatureCollection"}')).toMatchObject({
      records: 2,
      fields: [],
    })
    expect(infer('geojson', '[]').fields).toEqual([])
    expect(infer('ndgeojson', `${feature(point)}${feature(point)}`)).toMatchObject({ records: 1, fields: [] })
  })
})
