// The logical hash against vectors that the Rust crate arrow-digest produced, and against its definition.

import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sliceBatch } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { createLogicalHash } from '../../../../src/libraries/columnar/arrow/logical-hash.ts'
import {
  type DataType,
  type Field,
  innerType,
  isOptional,
  optional,
  type RecordBatch,
} from '../../../../src/libraries/model/schema.ts'
import { arbTable, batchOf, type Value } from './columns-helper.ts'

interface Vector {
  name: string
  schema: { name: string; type: DataType; nullable: boolean }[]
  rows?: unknown[][]
  rowsGenerator?: { count: number; rule: string }
  digestMultihash: string
}

const file = new URL('../../../vectors/arrow-digest.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }

/** A value of the vectors' JSON form as the helpers take it. */
function fromVector(type: DataType, value: unknown): Value {
  if (value === null) return null
  const inner = innerType(type)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  switch (inner.kind) {
    case 'Bool':
      return value === true
    case 'String':
      return text
    case 'Binary':
      return Uint8Array.from(Buffer.from(text, 'hex'))
    case 'Float32':
    case 'Float64':
      return Number(value)
    case 'Date':
      return Date.parse(`${text}T00:00:00Z`) / 86_400_000
    case 'Timestamp': {
      const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
      const seconds = BigInt(Date.parse(text.replace(/\.\d+/, ''))) / 1000n
      return seconds * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
    }
    case 'Decimal': {
      const [whole = '', fraction = ''] = text.split('.')
      return BigInt(`${whole}${fraction.padEnd(inner.scale, '0')}`)
    }
    case 'List':
      return (value as unknown[]).map((item) => fromVector(inner.itemType, item))
    default:
      return inner.kind.endsWith('64') ? BigInt(text) : Number(text)
  }
}

const scaleOf = (type: DataType): bigint => (type.kind === 'Timestamp' && type.unit !== 'Microsecond' ? 1000n : 1n)

function toUnit(type: DataType, value: Value): Value {
  if (type.kind === 'List')
    return Array.isArray(value) ? value.map((item) => toUnit(innerType(type.itemType), item)) : value
  return typeof value === 'bigint' ? value / scaleOf(type) : value
}

function batchOfVector(vector: Vector): { fields: Field[]; batch: RecordBatch } {
  const fields = vector.schema.map(({ name, type, nullable }) => ({ name, type: nullable ? optional(type) : type }))
  const raw: unknown[][] =
    vector.rows ?? Array.from({ length: vector.rowsGenerator!.count }, (_, i) => [i, i % 3 === 0 ? null : `v${i}`])
  const rows = raw.map((row) =>
    row.map((value, i) => toUnit(innerType(fields[i]!.type), fromVector(fields[i]!.type, value))),
  )
  return { fields, batch: batchOf(fields, rows) }
}

const columnar = vectors.filter(({ schema }) => schema.every(({ type }) => type.kind !== 'Struct'))

function hashOf(fields: readonly Field[], batches: readonly RecordBatch[]): string {
  const hash = createLogicalHash(fields)
  for (const batch of batches) hash.update(batch)
  return hash.digest()
}

describe('logical hash', () => {
  test('every vector but those with structs is in the test', () => {
    expect(vectors.length - columnar.length).toBe(1)
    expect(columnar.length).toBe(48)
  })

  test.each(columnar.map((vector) => [vector.name, vector] as const))('agrees with the Rust crate: %s', (_, vector) => {
    const { fields, batch } = batchOfVector(vector)
    expect(hashOf(fields, [batch])).toBe(vector.digestMultihash)
  })

  test('does not depend on where batches end', () => {
    fc.assert(
      fc.property(arbTable, fc.array(fc.nat(40), { maxLength: 4 }), ({ fields, rows }, cuts) => {
        const batch = batchOf(fields, rows)
        const borders = [0, ...cuts.filter((cut) => cut <= rows.length), rows.length].sort((a, b) => a - b)
        const parts = borders.slice(1).map((end, i) => sliceBatch(batch, borders[i]!, end))
        expect(hashOf(fields, parts)).toBe(hashOf(fields, [batch]))
      }),
      { numRuns: 100 },
    )
  })

  test('depends on row order, names and types, and on null against empty', () => {
    const text: Field[] = [{ name: 's', type: { kind: 'Option', inner: { kind: 'String' } } }]
    const hash = (fields: Field[], ...values: Value[]): string =>
      hashOf(fields, [
        batchOf(
          fields,
          values.map((v) => [v]),
        ),
      ])
    const all = [
      hash(text, 'a', 'b'),
      hash(text, 'b', 'a'),
      hash(text, '', 'a', null),
      hash(text, null, 'a', ''),
      hash([{ name: 't', type: { kind: 'String' } }], 'a', 'b'),
      hash([{ name: 's', type: { kind: 'Binary' } }], Uint8Array.of(97), Uint8Array.of(98)),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test('a value under a null does not count', () => {
    const [field]: Field[] = [{ name: 'x', type: { kind: 'Option', inner: { kind: 'Int32' } } }]
    const make = (values: number[]): RecordBatch => ({
      rows: 2,
      columns: [
        {
          name: 'x',
          type: { kind: 'Int32' },
          nullable: true,
          rows: 2,
          nullCount: 1,
          validity: Uint8Array.of(1),
          values: new Uint8Array(Int32Array.from(values).buffer),
        },
      ],
    })
    expect(hashOf([field!], [make([1, 0])])).toBe(hashOf([field!], [make([1, 99])]))
    expect(isOptional(field!.type)).toBe(true)
  })
})
