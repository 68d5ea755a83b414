// The JSON form of schemas and events: as deployed software shows it, and what callers may send.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromPlain, jsonText, parseJson } from '../../../src/libraries/base/json/json.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { JsonValue } from '../../../src/libraries/base/json/value.ts'
import { type DataType, typeText } from '../../../src/libraries/model/schema.ts'
import { decodeBlock } from '../../../src/libraries/odf/block.ts'
import { eventFromJson, eventToJson, schemaFromJson, schemaToJson } from '../../../src/libraries/odf/odf-json.ts'
import { blockVectors } from '../../helpers/odf-vectors.ts'

function errorOf(act: () => unknown): NodeError {
  try {
    act()
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Reads a type as that of the only column of a schema. */
function typeFromJson(type: JsonValue): DataType {
  const field = new Map<string, JsonValue>([
    ['name', 'a'],
    ['type', type],
  ])
  return schemaFromJson(new Map([['fields', [field]]])).fields[0]!.type
}

describe('schemas', () => {
  const names = ['all-types', 'flat-types', 'orders-upsert', 'trades-ledger', 'cities-geo']

  it.each(names)('of %s are read and written as deployed software shows them', (name) => {
    const url = new URL(`../../fixtures/odf-datasets/${name}/expected.json`, import.meta.url)
    const { schemaOdfJson } = JSON.parse(readFileSync(url, 'utf8'))
    const schema = schemaFromJson(fromPlain(schemaOdfJson))
    expect(schema).toEqual(schemaOdfJson)
    expect(JSON.parse(jsonText(schemaToJson(schema)))).toEqual(schemaOdfJson)
  })

  it('are written in one order: name, type, extra; kind first', () => {
    const schema = schemaFromJson(
      parseJson(
        '{"fields":[{"extra":{"b/y":1.50,"a/x":{"d":9007199254740993,"c":null}},"type":{"scale":-2,"precision":9,"kind":"Decimal"},"name":"n"}]}',
      ),
    )
    expect(jsonText(schemaToJson(schema))).toBe(
      '{"fields":[{"name":"n","type":{"kind":"Decimal","precision":9,"scale":-2},"extra":{"a/x":{"c":null,"d":9007199254740993},"b/y":1.50}}]}',
    )
  })

  it('take the short text of a type', () => {
    const schema = schemaFromJson(
      fromPlain({
        fields: [
          { name: 'a', type: 'Float64' },
          { name: 'b', type: 'Decimal(18,4)?' },
        ],
      }),
    )
    expect(schema.fields).toEqual([
      { name: 'a', type: { kind: 'Float64' } },
      { name: 'b', type: { kind: 'Option', inner: { kind: 'Decimal', precision: 18, scale: 4 } } },
    ])
  })

  it.each([
    [{}, 'schema.fields is missing'],
    [[], 'schema must be an object'],
    [{ fields: {} }, 'schema.fields must be an array'],
    [{ fields: [], more: 1 }, 'schema.more is not known'],
    [{ fields: ['a'] }, 'schema.fields[0] must be an object'],
    [{ fields: [{ type: 'Int64' }] }, 'schema.fields[0].name is missing'],
    [{ fields: [{ name: 'a' }] }, 'schema.fields[0].type is missing'],
    [{ fields: [{ name: 1, type: 'Int64' }] }, 'schema.fields[0].name must be text'],
    [{ fields: [{ name: 'a', type: null }] }, 'schema.fields[0].type must be an object'],
    [{ fields: [{ name: 'a', type: { kind: 'Integer' } }] }, 'schema.fields[0].type.kind must be one of Binary'],
    [{ fields: [{ name: 'a', type: { kind: 'Int64', unit: 'Second' } }] }, 'schema.fields[0].type.unit is not known'],
    [
      { fields: [{ name: 'a', type: { kind: 'Timestamp', unit: 'Minute' } }] },
      'type.unit must be one of Second, Millisecond',
    ],
    [{ fields: [{ name: 'a', type: { kind: 'Decimal', precision: 10 } }] }, 'type.scale is missing'],
    [
      { fields: [{ name: 'a', type: { kind: 'Decimal', precision: 1.5, scale: 0 } }] },
      'type.precision must be an integer from 0',
    ],
    [
      { fields: [{ name: 'a', type: { kind: 'Decimal', precision: -1, scale: 0 } }] },
      'type.precision must be an integer from 0',
    ],
    [
      { fields: [{ name: 'a', type: { kind: 'Decimal', precision: '10', scale: 0 } }] },
      'type.precision must be an integer from 0',
    ],
    [{ fields: [{ name: 'a', type: { kind: 'Option' } }] }, 'schema.fields[0].type.inner is missing'],
    [
      { fields: [{ name: 'a', type: { kind: 'Option', inner: 'Itn64' } }] },
      'schema.fields[0].type.inner is "Itn64", which is not a type',
    ],
    [{ fields: [{ name: 'a', type: 'Int64', extra: [] }] }, 'schema.fields[0].extra must be an object'],
  ])('%j is refused: %s', (value, message) => {
    const error = errorOf(() => schemaFromJson(fromPlain(value)))
    expect(error.kind).toBe('InvalidRequest')
    expect(error.message).toContain(message)
  })

  it('do not nest forever', () => {
    let type: object = { kind: 'Int64' }
    for (let i = 0; i < 30; i++) type = { kind: 'List', itemType: type }
    expect(errorOf(() => typeFromJson(fromPlain(type))).message).toMatch(/nest at most/)
  })
})

describe('the short text of a type', () => {
  it.each([
    'String',
    'Bool',
    'Int8',
    'UInt64',
    'Float32',
    'Float64?',
    'Date',
    'Timestamp',
    'Timestamp(Microsecond)?',
    'Time(Nanosecond)',
    'Duration',
    'Decimal(38,9)?',
    'Decimal(5,-2)',
    'Binary',
    'Binary(16)',
    'List(String?)?',
    'List(Decimal(10,2))',
    'List(List(Int64?)?)',
    'Null',
  ])('%s comes back from its type', (text) => {
    expect(typeText(typeFromJson(text))).toBe(text)
  })

  it('may have spaces', () => {
    expect(typeText(typeFromJson(' Decimal ( 18 , 4 ) ? '))).toBe('Decimal(18,4)?')
    expect(typeText(typeFromJson('List( Int64 ? )'))).toBe('List(Int64?)')
  })

  it('says milliseconds and UTC in so many words', () => {
    expect(typeFromJson('Timestamp')).toEqual({ kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' })
  })

  it.each([
    '',
    '?',
    'Int64??',
    'int64',
    'Decimal',
    'Decimal()',
    'Decimal(18)',
    'Decimal(18,4,1)',
    'Timestamp(Minute)',
    'Timestamp()',
    'List',
    'List()',
    'Binary(-1)',
    'Int64(3)',
    'Struct',
    'Map(String,Int64)',
    `${'List('.repeat(60)}Int64${')'.repeat(60)}`,
  ])('%j is none', (text) => {
    expect(errorOf(() => typeFromJson(text)).kind).toBe('InvalidRequest')
  })

  it('is suggested when only case is wrong', () => {
    expect(errorOf(() => typeFromJson('float64?')).details.candidates).toEqual(['Float64'])
  })
})

describe('blocks and events', () => {
  it('of the vectors have the JSON form that the vectors have', () => {
    const file = JSON.parse(readFileSync(new URL('../../vectors/blocks.json', import.meta.url), 'utf8'))
    for (const [index, { bytes }] of blockVectors.entries()) {
      const { event } = decodeBlock(bytes).block
      const json = eventToJson(event)
      expect(JSON.parse(jsonText(json))).toEqual(file.vectors[index].block.event)
      expect(eventFromJson(event.kind, json, 'event')).toEqual(blockVectors[index]?.block.event)
    }
  })

  it('are read without their kind where the place says it', () => {
    const info = eventFromJson('SetInfo', fromPlain({ description: 'x', keywords: ['a'] }), 'info')
    expect(info).toEqual({ kind: 'SetInfo', description: 'x', keywords: ['a'] })
    expect(jsonText(eventToJson(info))).toBe('{"kind":"SetInfo","description":"x","keywords":["a"]}')
    expect(eventFromJson('SetInfo', fromPlain({ kind: 'SetInfo' }), 'info')).toEqual({ kind: 'SetInfo' })
  })

  it('are refused by the name of the member at fault', () => {
    const message = (kind: 'SetInfo' | 'SetLicense' | 'SetAttachments' | 'Seed' | 'AddData', value: object): string =>
      errorOf(() => eventFromJson(kind, fromPlain(value), 'body')).message
    expect(message('SetInfo', { kind: 'SetLicense' })).toBe('body.kind must be SetInfo.')
    expect(message('SetInfo', { keywords: ['a', 1] })).toBe('body.keywords[1] must be text.')
    expect(message('SetLicense', { shortName: 'a', name: 'b' })).toBe('body.websiteUrl is missing.')
    expect(message('SetAttachments', { attachments: { kind: 'Link' } })).toBe(
      'body.attachments.kind must be one of Embedded.',
    )
    expect(message('Seed', { datasetId: 'did:odf:f00', datasetKind: 'Root' })).toMatch(/^body.datasetId is malformed/)
    expect(message('AddData', { newWatermark: '2025-01-01' })).toMatch(/^body.newWatermark must be a UTC time/)
    expect(message('AddData', { prevCheckpoint: 'f1620' })).toMatch(/^body.prevCheckpoint is malformed/)
    expect(message('AddData', { prevOffset: '9' })).toMatch(/^body.prevOffset must be an integer/)
  })

  it('keep u64 beyond 2^53-1 exact, as text', () => {
    const event = eventFromJson('AddData', must(parseJson('{"prevOffset":"18446744073709551615"}'), ''), 'x')
    expect(event.prevOffset).toBe(2n ** 64n - 1n)
    expect(jsonText(eventToJson(event))).toBe('{"kind":"AddData","prevOffset":"18446744073709551615"}')
    expect(eventFromJson('AddData', parseJson('{"prevOffset":9007199254740992}'), 'x').prevOffset).toBe(2n ** 53n)
    expect(errorOf(() => eventFromJson('AddData', parseJson('{"prevOffset":18446744073709551616}'), 'x')).kind).toBe(
      'InvalidRequest',
    )
  })
})
