// Rules over schemas: which types are the same, which columns can be stored, which changes a chain admits.

import { describe, expect, it } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import {
  checkColumns,
  checkEvolution,
  columnNameFault,
  type DataType,
  type Field,
  isStorable,
  sameType,
  schemaEquals,
  typeText,
} from '../../../src/libraries/model/schema.ts'

const int64: DataType = { kind: 'Int64' }
const string: DataType = { kind: 'String' }
const opt = (inner: DataType): DataType => ({ kind: 'Option', inner })
const listOf = (itemType: DataType): DataType => ({ kind: 'List', itemType })

describe('types', () => {
  const texts: [DataType, string][] = [
    [int64, 'Int64'],
    [opt(string), 'String?'],
    [{ kind: 'Decimal', precision: 18, scale: 4 }, 'Decimal(18,4)'],
    [{ kind: 'Timestamp' }, 'Timestamp'],
    [{ kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' }, 'Timestamp(Microsecond)'],
    [{ kind: 'Timestamp', timezone: 'Europe/Kyiv' }, 'Timestamp(Millisecond, "Europe/Kyiv")'],
    [{ kind: 'Time', unit: 'Nanosecond' }, 'Time(Nanosecond)'],
    [{ kind: 'Binary', fixedLength: 16 }, 'Binary(16)'],
    [opt(listOf(opt(int64))), 'List(Int64?)?'],
    [{ kind: 'List', itemType: int64, fixedLength: 3 }, 'List(Int64, 3)'],
    [{ kind: 'Map', keyType: string, valueType: int64, keysSorted: true }, 'Map(String, Int64, sorted)'],
    [{ kind: 'Struct', fields: [{ name: 'a "b"', type: int64 }] }, 'Struct("a \\"b\\"": Int64)'],
  ]

  it.each(texts)('%j is spelled %s', (type, text) => {
    expect(typeText(type)).toBe(text)
  })

  it('are the same when only defaults are spelled out', () => {
    expect(sameType({ kind: 'Timestamp' }, { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' })).toBe(true)
    expect(sameType({ kind: 'Time' }, { kind: 'Time', unit: 'Millisecond' })).toBe(true)
    expect(
      sameType(
        { kind: 'Map', keyType: string, valueType: int64 },
        { kind: 'Map', keyType: string, valueType: int64, keysSorted: false },
      ),
    ).toBe(true)
  })

  it('differ in unit, zone, digits, nullability and items', () => {
    const all = texts.map(([type]) => type)
    for (const [i, a] of all.entries()) for (const [j, b] of all.entries()) expect(sameType(a, b)).toBe(i === j)
  })
})

describe('evolution', () => {
  const field = (name: string, type: DataType, extra?: Record<string, unknown>): Field =>
    extra ? { name, type, extra } : { name, type }
  const old = { fields: [field('a', int64), field('b', opt(string))] }

  it('repeating a schema is no change, defaults spelled out or not', () => {
    const unset = { fields: [field('t', { kind: 'Timestamp' })] }
    const explicit = {
      fields: [field('t', { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' }, {})],
      extra: {},
    }
    expect(checkEvolution(old, structuredClone(old))).toEqual({ kind: 'identical' })
    expect(checkEvolution(unset, explicit)).toEqual({ kind: 'identical' })
  })

  it.each([
    ['another order', { fields: old.fields.toReversed() }],
    ['a new optional column', { fields: [...old.fields, field('c', opt(int64))] }],
    ['a new optional column in front', { fields: [field('c', opt(int64)), ...old.fields] }],
    ['attributes of a column', { fields: [field('a', int64, { 'x/y': 1 }), field('b', opt(string))] }],
    ['attributes of the schema', { ...old, extra: { 'x/y': [1] } }],
  ])('%s is compatible', (_, next) => {
    expect(checkEvolution(old, next)).toEqual({ kind: 'compatible' })
    expect(schemaEquals(old, next)).toBe(false)
  })

  it.each([
    ['a removed column', { fields: [field('a', int64)] }, /"b" is removed/],
    ['a renamed column', { fields: [field('a', int64), field('c', opt(string))] }, /"b" is removed/],
    ['a name in another case', { fields: [field('A', int64), field('b', opt(string))] }, /"a" is removed/],
    ['a new required column', { fields: [...old.fields, field('c', int64)] }, /"c" is new and not optional/],
    [
      'another type',
      { fields: [field('a', { kind: 'Int32' }), field('b', opt(string))] },
      /"a" changes from Int64 to Int32/,
    ],
    ['required made optional', { fields: [field('a', opt(int64)), field('b', opt(string))] }, /Int64 to Int64\?/],
    ['optional made required', { fields: [field('a', int64), field('b', string)] }, /String\? to String/],
    ['a name twice', { fields: [...old.fields, field('b', opt(string))] }, /twice/],
  ])('%s is not', (_, next, reason) => {
    const change = checkEvolution(old, next)
    expect(change.kind).toBe('incompatible')
    expect(change.kind === 'incompatible' ? change.reason : '').toMatch(reason)
  })
})

describe('columns', () => {
  it('have names of 1 to 255 bytes without control characters', () => {
    for (const name of ['a', 'ü', ' ', 'a b', '日本', 'x'.repeat(255), 'é'.repeat(127), '"', '😀'])
      expect(columnNameFault(name)).toBeUndefined()
    expect(columnNameFault('')).toBe('is empty')
    expect(columnNameFault('x'.repeat(256))).toMatch(/longer than 255/)
    expect(columnNameFault('é'.repeat(128))).toMatch(/longer than 255/)
    for (const name of ['a\nb', '\u0000', 'a\u007f', '\u0085']) expect(columnNameFault(name)).toMatch(/control/)
    expect(columnNameFault('a\ud800')).toMatch(/Unicode/)
  })

  it('have types that every reader can query', () => {
    const storable: DataType[] = [
      ...(['String', 'Bool', 'Int8', 'UInt64', 'Float32', 'Float64', 'Date'] as const).map((kind) => ({ kind })),
      { kind: 'Timestamp' },
      { kind: 'Timestamp', unit: 'Microsecond', timezone: 'UTC' },
      { kind: 'Decimal', precision: 38, scale: 38 },
      { kind: 'Decimal', precision: 1, scale: 0 },
      { kind: 'Binary' },
      listOf(opt(string)),
      opt(listOf({ kind: 'Timestamp' })),
    ]
    expect(storable.filter((type) => !isStorable(type)).map(typeText)).toEqual([])
    const others: DataType[] = [
      ...(['Float16', 'Null'] as const).map((kind) => ({ kind })),
      { kind: 'Time' },
      { kind: 'Duration' },
      { kind: 'Timestamp', unit: 'Nanosecond' },
      { kind: 'Timestamp', timezone: 'Europe/Kyiv' },
      { kind: 'Decimal', precision: 39, scale: 0 },
      { kind: 'Decimal', precision: 0, scale: 0 },
      { kind: 'Decimal', precision: 5, scale: 6 },
      { kind: 'Decimal', precision: 5, scale: -1 },
      { kind: 'Binary', fixedLength: 16 },
      { kind: 'Map', keyType: string, valueType: string },
      { kind: 'Struct', fields: [{ name: 'a', type: int64 }] },
      { kind: 'List', itemType: int64, fixedLength: 2 },
      listOf(listOf(int64)),
      opt(opt(int64)),
      listOf({ kind: 'Time' }),
    ]
    expect(others.filter(isStorable).map(typeText)).toEqual([])
  })

  it('are refused with the kind of error that says what is wrong', () => {
    const kindOf = (fields: Field[]): string | undefined => {
      try {
        checkColumns(fields)
        return undefined
      } catch (error) {
        return error instanceof NodeError ? error.kind : 'another error'
      }
    }
    expect(
      kindOf([
        { name: 'a', type: int64 },
        { name: 'b', type: string },
      ]),
    ).toBeUndefined()
    expect(
      kindOf([
        { name: 'a', type: int64 },
        { name: 'A', type: string },
      ]),
    ).toBe('InvalidColumnName')
    expect(kindOf([{ name: '', type: int64 }])).toBe('InvalidColumnName')
    expect(kindOf([{ name: 'a', type: { kind: 'Time' } }])).toBe('InvalidRequest')
  })
})
