// Features written as nearly all are, which are read on a path of their own: the same rules hold there.

import { describe, expect, it } from 'vitest'
import { faults, featureFields, kinds, read, readerOptions, rowsOf } from './reading.ts'

const string = { kind: 'String' } as const
const options = readerOptions(featureFields)
const plain = readerOptions(featureFields.slice(0, 3))

const written = (coordinates: string): string =>
  `{"type":"Feature","geometry":{"type":"Point","coordinates":[${coordinates}]},"properties":{"name":"a"}}`

describe('a point as nearly all are written', () => {
  /** The geometry, and the feature around it, as JavaScript, Python and most other programs write them. */
  const forms = (coordinates: string): readonly (readonly [geometry: string, feature: string])[] => {
    const spaced = `{ "type": "Point", "coordinates": [ ${coordinates.replaceAll(',', ' , ')} ] }`
    const python = `{"type": "Point", "coordinates": [${coordinates.replaceAll(',', ', ')}]}`
    return [
      [`{"type":"Point","coordinates":[${coordinates}]}`, written(coordinates)],
      [python, `{"type": "Feature", "geometry": ${python}, "properties": {"name": "a"}}`],
      [spaced, `{ "type": "Feature", "properties": { "name": "a" }, "geometry": ${spaced} }`],
    ]
  }

  it('has coordinates like any other', () => {
    const all = ['8,47', '-180,-90', '180.5,90', '360,90.0000001', '0,-0', '0.5,1e1', '1e-7,47,1e3', '8.25,47.5,400']
    for (const [geometry, text] of all.flatMap(forms)) {
      expect(rowsOf(read('ndgeojson', text, plain))).toEqual([[null, 'a', null, geometry]])
    }
  })

  it('is judged like any other', () => {
    const bad = ['8', '361,0', '0,91', '0,90.1', '-360.1,0', '1,2,1e999']
    for (const [, text] of bad.flatMap(forms)) {
      expect({ text, kinds: kinds('ndgeojson', text, plain) }).toEqual({ text, kinds: ['InvalidGeometry@0'] })
    }
    const broken = ['01,2', '1.,2', '.5,2', '1,-', '1,2,', '1 2', '1,2]']
    for (const [, text] of broken.flatMap(forms)) {
      expect({ text, kinds: kinds('ndgeojson', text, plain) }).toEqual({ text, kinds: ['MalformedRecord@0'] })
    }
  })

  it('may be followed by anything that a feature has', () => {
    const text = written('8,47').replace(',"properties"', ', "id":1,"properties"').replace('}}', '} ,"x":2 }')
    expect(
      rowsOf(read('geojson', `{"type":"FeatureCollection","features":[${text},${text}]}`, options)).map((row) =>
        row.slice(3),
      ),
    ).toEqual([
      ['{"type":"Point","coordinates":[8,47]}', '1', '{"x":2}'],
      ['{"type":"Point","coordinates":[8,47]}', '1', '{"x":2}'],
    ])
  })

  it('has its other faults told with those of the geometry', () => {
    const strict = readerOptions([{ name: 'need', type: string }, ...featureFields.slice(0, 3)])
    expect(kinds('ndgeojson', written('999,0'), strict)).toEqual(['InvalidGeometry@0', 'MissingRequired@0'])
  })
})

describe('a feature on a line', () => {
  const row = [null, 'a', null, '{"type":"Point","coordinates":[8,47]}']

  it('gives a line the end that it has: white space may follow, a second record or a record spread over lines may not', () => {
    const first = written('8,47')
    expect(rowsOf(read('ndgeojson', `${first} \t\r\n${first}\n\n \n`, plain))).toEqual([row, row])
    const spread = first.replace(',"properties', ',\n"properties')
    const text = `${first}\n${spread}\n${first}${first}\n${first}\n${first.replace('Point', 'Dot')}\n`
    for (const chunk of [1, 7, text.length]) {
      const found = faults('ndgeojson', text, plain, chunk).map(({ kind, record, line }) => [kind, record, line])
      expect(found).toEqual([
        ['MalformedRecord', 1, 2],
        ['MalformedRecord', 2, 3],
        ['MalformedRecord', 3, 4],
        ['InvalidGeometry', 5, 6],
      ])
    }
  })

  it('takes a line of as many bytes as a record may have, wherever the body is cut', () => {
    const first = written('8,47')
    const text = `${first}\n${first} \n`
    const narrow = { ...plain, recordBytes: first.length }
    for (const chunk of [1, first.length, text.length]) {
      expect(rowsOf(read('ndgeojson', `${first}\n${first}\n`, narrow, chunk))).toEqual([row, row])
      expect(faults('ndgeojson', text, narrow, chunk)).toMatchObject([{ kind: 'RecordTooLarge', record: 1, line: 2 }])
    }
  })
})
