// Spellings of schemas, held against answers of a deployed node and against the table measured on one.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import type { OutputSchema, OutputType } from '../../../src/libraries/model/schema.ts'
import { type SchemaFormat, schemaFormatOf, schemaFormats } from '../../../src/libraries/model/query.ts'
import { type DataType, optional, type TimeUnit } from '../../../src/libraries/model/schema.ts'
import { schemaBytes, yamlText } from '../../../src/libraries/odf/schema-formats.ts'

function spelled(schema: OutputSchema, format: SchemaFormat): string {
  return Buffer.from(schemaBytes(schema, format)).toString()
}

function read(schema: OutputSchema, format: SchemaFormat): unknown {
  return JSON.parse(spelled(schema, format))
}

interface Vector {
  readonly name: string
  readonly outputCanonical: string
}

const vectors: readonly Vector[] = JSON.parse(readFileSync('test/vectors/proofs.json', 'utf8'))

/** Columns of the statement behind the vectors `schema-*`. */
const vectorSchema: OutputSchema = {
  fields: [
    { name: 'id', type: { kind: 'Int64' } },
    { name: 'x', type: { kind: 'Float64' } },
    { name: 'né', type: { kind: 'String' } },
    { name: 'd', type: { kind: 'Decimal', precision: 10, scale: 2 } },
    { name: 'ts', type: { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } },
  ],
}

test.each(['ArrowJson', 'OdfYaml', 'ParquetJson'] as const)(
  'the schema that a deployed node signed as %s comes out byte for byte',
  (format) => {
    const output = vectors.find(({ name }) => name === `schema-${format}`)?.outputCanonical ?? ''
    expect(output).toContain(`,"schema":${spelled(vectorSchema, format)},"schemaFormat":"${format}"}`)
  },
)

test('a schema as OdfJson and as Parquet text', () => {
  expect(read(vectorSchema, 'OdfJson')).toEqual({
    fields: [
      { name: 'id', type: { kind: 'Int64' } },
      { name: 'x', type: { kind: 'Float64' } },
      { name: 'né', type: { kind: 'String' } },
      { name: 'd', type: { kind: 'Decimal', precision: 10, scale: 2 } },
      { name: 'ts', type: { kind: 'Timestamp', timezone: 'UTC', unit: 'Millisecond' } },
    ],
  })
  expect(spelled(vectorSchema, 'OdfJson')).toMatch(/^{"fields":\[{"name":"id","type":{"kind":"Int64"}}/)
  expect(read(vectorSchema, 'Parquet')).toBe(
    [
      'message arrow_schema {',
      '  REQUIRED INT64 id;',
      '  REQUIRED DOUBLE x;',
      '  REQUIRED BYTE_ARRAY né (STRING);',
      '  REQUIRED INT64 d (DECIMAL(10,2));',
      '  REQUIRED INT64 ts (TIMESTAMP(MILLIS,true));',
      '}',
      '',
    ].join('\n'),
  )
})

test('empty schemas, as deployed nodes print them', () => {
  const empty = { fields: [] }
  expect(spelled(empty, 'ArrowJson')).toBe('{"fields":[],"metadata":{}}')
  expect(spelled(empty, 'OdfJson')).toBe('{"fields":[]}')
  expect(read(empty, 'OdfYaml')).toBe('fields: []\n')
  expect(read(empty, 'Parquet')).toBe('message arrow_schema {\n}\n')
  expect(spelled(empty, 'ParquetJson')).toBe('{"fields":[],"name":"arrow_schema","type":"struct"}')
})

/** Type, Arrow type, and the Parquet text of a column `a`: measured on a live node. */
const table: readonly (readonly [DataType, unknown, string])[] = [
  [{ kind: 'Bool' }, 'Boolean', 'BOOLEAN a'],
  [{ kind: 'Int8' }, 'Int8', 'INT32 a (INTEGER(8,true))'],
  [{ kind: 'Int16' }, 'Int16', 'INT32 a (INTEGER(16,true))'],
  [{ kind: 'Int32' }, 'Int32', 'INT32 a'],
  [{ kind: 'Int64' }, 'Int64', 'INT64 a'],
  [{ kind: 'UInt8' }, 'UInt8', 'INT32 a (INTEGER(8,false))'],
  [{ kind: 'UInt32' }, 'UInt32', 'INT32 a (INTEGER(32,false))'],
  [{ kind: 'UInt64' }, 'UInt64', 'INT64 a (INTEGER(64,false))'],
  [{ kind: 'Float16' }, 'Float16', 'FIXED_LEN_BYTE_ARRAY (2) a (FLOAT16)'],
  [{ kind: 'Float32' }, 'Float32', 'FLOAT a'],
  [{ kind: 'Float64' }, 'Float64', 'DOUBLE a'],
  [decimal(1, 0), { Decimal128: [1, 0] }, 'INT64 a (DECIMAL(1,0))'],
  [decimal(9, 2), { Decimal128: [9, 2] }, 'INT32 a (DECIMAL(9,2))'],
  [decimal(18, 2), { Decimal128: [18, 2] }, 'INT64 a (DECIMAL(18,2))'],
  [decimal(38, 0), { Decimal128: [38, 0] }, 'FIXED_LEN_BYTE_ARRAY (16) a (DECIMAL(38,0))'],
  [decimal(50, 5), { Decimal256: [50, 5] }, 'FIXED_LEN_BYTE_ARRAY (21) a (DECIMAL(50,5))'],
  [{ kind: 'String' }, 'Utf8', 'BYTE_ARRAY a (STRING)'],
  [{ kind: 'Binary' }, 'Binary', 'BYTE_ARRAY a'],
  [{ kind: 'Binary', fixedLength: 2 }, { FixedSizeBinary: 2 }, 'FIXED_LEN_BYTE_ARRAY (2) a'],
  [{ kind: 'Date' }, 'Date32', 'INT32 a (DATE)'],
  [{ kind: 'Time', unit: 'Second' }, { Time32: 'Second' }, 'INT32 a'],
  [{ kind: 'Time', unit: 'Millisecond' }, { Time32: 'Millisecond' }, 'INT32 a (TIME(MILLIS,false))'],
  [{ kind: 'Time', unit: 'Microsecond' }, { Time64: 'Microsecond' }, 'INT64 a (TIME(MICROS,false))'],
  [timestamp('Second', 'UTC'), { Timestamp: ['Second', 'UTC'] }, 'INT64 a'],
  [timestamp('Nanosecond'), { Timestamp: ['Nanosecond', 'UTC'] }, 'INT64 a (TIMESTAMP(NANOS,true))'],
  [timestamp('Microsecond', '+02:00'), { Timestamp: ['Microsecond', '+02:00'] }, 'INT64 a (TIMESTAMP(MICROS,true))'],
  [{ kind: 'Duration', unit: 'Nanosecond' }, { Duration: 'Nanosecond' }, 'INT64 a'],
]

function timestamp(unit: TimeUnit, timezone?: string): DataType {
  return { kind: 'Timestamp', unit, ...(timezone === undefined ? {} : { timezone }) }
}

function decimal(precision: number, scale: number): DataType {
  return { kind: 'Decimal', precision, scale }
}

test.each(table)('%j stands in each format as on deployed nodes', (type, arrow, text) => {
  // ParquetJson names the parts of the text.
  const [, physical = '', length, logical] = /^(\w+)(?: (\(\d+\)))? a(?: \((.*)\))?$/.exec(text) ?? []
  for (const [wrapped, repetition] of [
    [type, 'REQUIRED'],
    [optional(type), 'OPTIONAL'],
  ] as const) {
    const schema = { fields: [{ name: 'a', type: wrapped }] }
    const rest = { dict_id: 0, dict_is_ordered: false, metadata: {}, name: 'a', nullable: repetition === 'OPTIONAL' }
    expect(read(schema, 'ArrowJson')).toEqual({ fields: [{ data_type: arrow, ...rest }], metadata: {} })
    expect(read(schema, 'OdfJson')).toEqual({ fields: [{ name: 'a', type: wrapped }] })
    expect(read(schema, 'Parquet')).toBe(`message arrow_schema {\n  ${repetition} ${text};\n}\n`)
    const field = { name: 'a', repetition, type: `${physical}${length ?? ''}` }
    expect(read(schema, 'ParquetJson')).toMatchObject({
      fields: [logical === undefined ? field : { ...field, logicalType: logical }],
    })
  }
})

describe('types that hold types', () => {
  const nested: OutputSchema = {
    fields: [
      {
        name: 'pos',
        type: {
          kind: 'Option',
          inner: {
            kind: 'Struct',
            fields: [
              { name: 'lat', type: { kind: 'Float64' } },
              { name: 'tags', type: { kind: 'List', itemType: { kind: 'Option', inner: { kind: 'String' } } } },
            ],
          },
        },
      },
      {
        name: 'm',
        type: { kind: 'Map', keyType: { kind: 'String' }, valueType: { kind: 'Option', inner: { kind: 'Int64' } } },
      },
    ],
  }

  test('as Parquet text', () => {
    expect(read(nested, 'Parquet')).toBe(
      [
        'message arrow_schema {',
        '  OPTIONAL group pos {',
        '    REQUIRED DOUBLE lat;',
        '    REQUIRED group tags (LIST) {',
        '      REPEATED group list {',
        '        OPTIONAL BYTE_ARRAY item (STRING);',
        '      }',
        '    }',
        '  }',
        '  REQUIRED group m (MAP) {',
        '    REPEATED group entries {',
        '      REQUIRED BYTE_ARRAY key (STRING);',
        '      OPTIONAL INT64 value;',
        '    }',
        '  }',
        '}',
        '',
      ].join('\n'),
    )
  })

  test('as ParquetJson: groups are structs without annotation', () => {
    expect(read(nested, 'ParquetJson')).toMatchObject({
      fields: [
        {
          name: 'pos',
          type: 'struct',
          repetition: 'OPTIONAL',
          fields: [
            { name: 'lat' },
            { name: 'tags', fields: [{ name: 'list', repetition: 'REPEATED', fields: [{ name: 'item' }] }] },
          ],
        },
        { name: 'm', fields: [{ name: 'entries', type: 'struct', repetition: 'REPEATED' }] },
      ],
    })
    expect(spelled(nested, 'ParquetJson')).not.toContain('LIST')
  })

  test('as OdfYaml', () => {
    expect(read(nested, 'OdfYaml')).toBe(
      [
        'fields:',
        '- name: pos',
        '  type:',
        '    kind: Option',
        '    inner:',
        '      kind: Struct',
        '      fields:',
        '      - name: lat',
        '        type:',
        '          kind: Float64',
        '      - name: tags',
        '        type:',
        '          kind: List',
        '          itemType:',
        '            kind: Option',
        '            inner:',
        '              kind: String',
        '- name: m',
        '  type:',
        '    kind: Map',
        '    keyType:',
        '      kind: String',
        '    valueType:',
        '      kind: Option',
        '      inner:',
        '        kind: Int64',
        '',
      ].join('\n'),
    )
  })

  test('a union stands in ArrowJson only', () => {
    const union: OutputType = { kind: 'Union', members: [{ name: 'n', type: { kind: 'Int32' } }] }
    const schema = { fields: [{ name: 'u', type: { kind: 'List' as const, itemType: union } }] }
    expect(spelled(schema, 'ArrowJson')).toContain('{"Union":[[[0,{"data_type":"Int32"')
    for (const format of schemaFormats.filter((name) => name !== 'ArrowJson')) {
      const refuse = (): unknown => read(schema, format)
      expect(refuse).toThrow(NodeError)
      expect(refuse).toThrow(`The column 'u' holds a union, which ${format} has no word for.`)
    }
  })

  test('extra attributes keep their number tokens', () => {
    const schema = {
      fields: [
        {
          name: 'a',
          type: { kind: 'Null' as const },
          extra: { 'x.dev/limit': parseJson('{"max":9007199254740993,"step":1.50}') },
        },
      ],
    }
    expect(spelled(schema, 'OdfJson')).toBe(
      '{"fields":[{"extra":{"x.dev/limit":{"max":9007199254740993,"step":1.50}},"name":"a","type":{"kind":"Null"}}]}',
    )
    expect(read(schema, 'OdfYaml')).toBe(
      "fields:\n- name: a\n  type:\n    kind: 'Null'\n  extra:\n    x.dev/limit:\n      max: 9007199254740993\n      step: 1.50\n",
    )
    expect(read(schema, 'Parquet')).toBe('message arrow_schema {\n  OPTIONAL INT32 a (UNKNOWN);\n}\n')
  })
})

describe('YAML text', () => {
  test.each([
    ['plain', 'plain'],
    ['né ÿ', 'né ÿ'],
    ['two words', 'two words'],
    ['a:b', 'a:b'],
    ['a#b', 'a#b'],
    ["it's", "it's"],
    ['a: b', "'a: b'"],
    ['a:', "'a:'"],
    ['a #b', "'a #b'"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['?', "'?'"],
    ["'q", "'''q'"],
    ['', "''"],
    [' a', "' a'"],
    ['Null', "'Null'"],
    ['~', "'~'"],
    ['true', "'true'"],
    ['No', "'No'"],
    ['y', "'y'"],
    ['1', "'1'"],
    ['007', "'007'"],
    ['0x1F', "'0x1F'"],
    ['-1.5e3', "'-1.5e3'"],
    ['.inf', "'.inf'"],
    ['12:30', "'12:30'"],
    ['2024-09-02', "'2024-09-02'"],
    ['*', "'*'"],
    ['{a', "'{a'"],
    ['---', "'---'"],
    ['line\nfeed', '"line\\nfeed"'],
    ['\u0085', '"\\u0085"'],
  ])('%j is written %s', (text, yaml) => {
    expect(yamlText(text)).toBe(`${yaml}\n`)
    expect(yamlText(new Map([[text, null]]))).toBe(`${yaml}: null\n`)
  })

  test('lists in lists, empty collections, numbers as their tokens', () => {
    const value = parseJson('{"a":[[1,2],[],{"b":[],"c":{}}],"d":1.50}')
    expect(yamlText(value)).toBe('a:\n- - 1\n  - 2\n- []\n- b: []\n  c: {}\nd: 1.50\n')
  })
})

test('schema formats are known by their canonical, dashed and lower-case names', () => {
  const spellings: Record<SchemaFormat, string[]> = {
    ArrowJson: ['ArrowJson', 'arrow-json', 'arrowjson'],
    OdfJson: ['OdfJson', 'odf-json', 'odfjson'],
    OdfYaml: ['OdfYaml', 'odf-yaml', 'odfyaml'],
    Parquet: ['Parquet', 'parquet'],
    ParquetJson: ['ParquetJson', 'parquet-json', 'parquetjson'],
  }
  for (const format of schemaFormats) for (const text of spellings[format]) expect(schemaFormatOf(text)).toBe(format)
  for (const text of ['', 'ARROWJSON', 'Odf-Json', 'json', '__proto__', 'constructor']) {
    expect(schemaFormatOf(text)).toBeUndefined()
  }
})
