// Columns and their builder against plain arrays.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { copyBits, countBits } from '../../../../src/libraries/columnar/arrow/buffers.ts'
import { createColumnBuilder } from '../../../../src/libraries/columnar/arrow/column-builder.ts'
import {
  batchBytes,
  concatBatches,
  constantColumn,
  concatColumns,
  int64RangeColumn,
  joinedBytes,
  sliceBatch,
  sliceColumn,
  slicePieces,
} from '../../../../src/libraries/columnar/arrow/columns.ts'
import { nullColumn } from '../../../../src/libraries/columnar/arrow/null-column.ts'
import { AssertionFailed } from '../../../../src/libraries/base/assert.ts'
import {
  type Column,
  type DataType,
  type Field,
  optional,
  timestampMs,
} from '../../../../src/libraries/model/schema.ts'
import { appendText } from '../../../helpers/slices.ts'
import {
  appendValue,
  arbTable,
  arbType,
  arbValue,
  batchOf,
  batchRows,
  columnOf,
  columnValues,
} from './columns-helper.ts'

const bitsOf = (column: Column): number => countBits(column.validity ?? new Uint8Array(0), column.rows)

describe('column builder', () => {
  test('holds what was appended and not rolled back', () => {
    const arbField = arbType.map((type): Field => ({ name: 'x', type }))
    const arbSteps = arbField.chain((field) =>
      fc.tuple(fc.constant(field), fc.array(fc.tuple(arbValue(field.type), fc.nat(9)), { maxLength: 80 })),
    )
    fc.assert(
      fc.property(arbSteps, ([field, steps]) => {
        const builder = createColumnBuilder(field, 1)
        const kept: unknown[] = []
        let mark = 0
        for (const [value, action] of steps) {
          appendValue(builder, value)
          kept.push(value)
          if (action === 0) mark = builder.rows
          if (action === 1) {
            builder.rollback(mark)
            kept.length = mark
          }
        }
        expect(builder.rows).toBe(kept.length)
        const column = builder.finish()
        expect(columnValues(column)).toEqual(kept)
        expect(column.nullCount).toBe(kept.filter((value) => value === null).length)
        expect(column.validity === undefined ? column.rows : bitsOf(column)).toBe(column.rows - column.nullCount)
      }),
      { numRuns: 300 },
    )
  })

  test('equal rows give equal bytes, whatever was rolled back in between', () => {
    fc.assert(
      fc.property(arbTable, ({ fields, rows }) => {
        const detour = fields.map((field, i) => {
          const builder = createColumnBuilder(field)
          for (const row of rows) {
            appendValue(builder, row[i]!)
            const mark = builder.rows
            appendValue(builder, rows[0]![i]!)
            builder.rollback(mark)
          }
          return builder.finish()
        })
        expect(detour).toEqual(batchOf(fields, rows).columns)
      }),
      { numRuns: 100 },
    )
  })

  test('loose items of a list that was not ended are rolled back', () => {
    const builder = createColumnBuilder({ name: 'l', type: { kind: 'List', itemType: { kind: 'String' } } })
    appendValue(builder, ['a', 'b'])
    const mark = builder.rows
    appendText(builder.items!, 'loose')
    builder.rollback(mark)
    appendValue(builder, ['c'])
    expect(columnValues(builder.finish())).toEqual([['a', 'b'], ['c']])
  })

  test('starts anew after finish, without touching what it handed out', () => {
    const builder = createColumnBuilder({ name: 'x', type: optional({ kind: 'Int32' }) })
    builder.appendInt32(1)
    builder.appendNull()
    const first = builder.finish()
    builder.appendInt32(7)
    expect([columnValues(first), columnValues(builder.finish()), columnValues(builder.finish())]).toEqual([
      [1, null],
      [7],
      [],
    ])
  })

  test('64-bit integers are exact from numbers, words and bigints', () => {
    const values = [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
    const builder = createColumnBuilder({ name: 'x', type: { kind: 'Int64' } })
    for (const value of values) builder.appendInt64(value)
    builder.appendBigInt64(2n ** 63n - 1n)
    builder.appendBigInt64(-(2n ** 63n))
    expect(columnValues(builder.finish())).toEqual([...values.map(BigInt), 2n ** 63n - 1n, -(2n ** 63n)])
  })

  test('a null in a required column and a type without columns are bugs', () => {
    expect(() => createColumnBuilder({ name: 'x', type: { kind: 'Int8' } }).appendNull()).toThrow(AssertionFailed)
    for (const type of [
      { kind: 'Float16' },
      { kind: 'Binary', fixedLength: 4 },
      { kind: 'Struct', fields: [] },
    ] as DataType[]) {
      expect(() => createColumnBuilder({ name: 'x', type })).toThrow(AssertionFailed)
    }
  })

  test('takes texts of any length from a view', () => {
    const source = new Uint8Array(1000).map((_, i) => (i * 7 + 1) & 255)
    const view = new DataView(source.buffer, 3)
    const builder = createColumnBuilder({ name: 'b', type: { kind: 'Binary' } })
    const expected: number[] = []
    for (let length = 0; length <= 300; length++) {
      builder.appendView(view, length, 2 * length)
      expected.push(...source.subarray(3 + length, 3 + 2 * length))
    }
    const column = builder.finish()
    expect(column.rows).toBe(301)
    expect([...column.values]).toEqual(expected)
    builder.appendView(view, 0, 9)
    expect([...builder.finish().values]).toEqual([...source.subarray(3, 12)])
  })
})

describe('batches', () => {
  test('slices joined again are the whole, wherever they were cut', () => {
    fc.assert(
      fc.property(arbTable, fc.array(fc.nat(40), { maxLength: 5 }), ({ fields, rows }, cuts) => {
        const batch = batchOf(fields, rows)
        const borders = [0, ...cuts.filter((cut) => cut <= rows.length), rows.length].sort((a, b) => a - b)
        const parts = borders.slice(1).map((end, i) => sliceBatch(batch, borders[i]!, end))
        expect(parts.flatMap(batchRows)).toEqual(rows)
        expect(concatBatches(parts)).toEqual(batch)
      }),
      { numRuns: 200 },
    )
  })

  test('pieces of a column are cut and counted as their join is', () => {
    const places = fc.array(fc.nat(40), { maxLength: 6 })
    fc.assert(
      fc.property(arbTable, places, fc.nat(40), fc.nat(40), (table, cuts, from, to) => {
        const { rows, columns } = batchOf(table.fields, table.rows)
        const edges = [0, ...cuts.map((cut) => Math.min(cut, rows)), rows].toSorted((a, b) => a - b)
        const [start = 0, end = 0] = [Math.min(from, rows), Math.min(to, rows)].toSorted((a, b) => a - b)
        for (const column of start < end ? columns : []) {
          const pieces = edges.slice(1).map((edge, i) => sliceColumn(column, edges[i] ?? 0, edge))
          const cut = slicePieces(pieces, start, end)
          const joined = sliceColumn(concatColumns(pieces), start, end)
          expect(concatColumns(cut)).toEqual(joined)
          expect(joinedBytes(cut)).toBe(batchBytes({ rows: end - start, columns: [joined] }))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('bits are copied from and to any position', () => {
    const arbBits = fc.array(fc.boolean(), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(arbBits, fc.nat(20), fc.nat(20), (bits, from, at) => {
        const source = new Uint8Array(10)
        for (const [i, on] of bits.entries()) if (on) source[(from + i) >> 3]! |= 1 << ((from + i) & 7)
        const target = new Uint8Array(10).fill(255)
        copyBits(target, at, source, from, bits.length)
        const read = Array.from({ length: 80 }, (_, i) => ((target[i >> 3]! >> (i & 7)) & 1) === 1)
        const expected = Array.from({ length: 80 }, (_, i) => bits[i - at] ?? true)
        expect(read).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })

  test('memory counts values, offsets and bitmaps', () => {
    const fields: Field[] = [
      { name: 's', type: optional({ kind: 'String' }) },
      { name: 'n', type: { kind: 'Int64' } },
    ]
    expect(
      batchBytes(
        batchOf(fields, [
          ['abc', 1n],
          [null, 2n],
        ]),
      ),
    ).toBe(3 + 12 + 1 + 16)
  })
})

describe('columns that the node adds', () => {
  test('offsets count up across 2^32', () => {
    const column = int64RangeColumn('offset', 2 ** 32 - 2, 4)
    expect(columnValues(column)).toEqual([2n ** 32n - 2n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n])
    expect(() => int64RangeColumn('offset', -1, 1)).toThrow(AssertionFailed)
  })

  test('constants repeat, also before 1970', () => {
    expect(columnValues(constantColumn({ name: 'op', type: { kind: 'Int32' } }, -3, 2))).toEqual([-3, -3])
    const time = constantColumn({ name: 'system_time', type: timestampMs }, -1, 3)
    expect(columnValues(time)).toEqual([-1n, -1n, -1n])
  })

  test('a column of nulls has the layout of its type', () => {
    for (const kind of ['String', 'Bool', 'Int16'] as const) {
      const field: Field = { name: 'x', type: optional({ kind }) }
      expect(columnValues(nullColumn(field, 9))).toEqual(Array.from({ length: 9 }, () => null))
      const two = {
        rows: 10,
        columns: [
          columnOf(
            field,
            Array.from({ length: 10 }, () => null),
          ),
        ],
      }
      const joined = concatBatches([{ rows: 9, columns: [nullColumn(field, 9)] }, two])
      expect(joined.columns[0]!.nullCount).toBe(19)
    }
    const list: Field = { name: 'x', type: optional({ kind: 'List', itemType: { kind: 'String' } }) }
    expect(columnValues(nullColumn(list, 2))).toEqual([null, null])
  })
})
