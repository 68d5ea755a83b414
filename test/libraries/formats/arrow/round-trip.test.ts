// What our own writer and apache-arrow write is read back, whatever the values, cut into any batches.

import * as arrow from 'apache-arrow'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchBytes, sliceBatch } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { openArrow } from '../../../../src/libraries/formats/arrow/format.ts'
import { innerType, optional } from '../../../../src/libraries/model/schema.ts'
import { arbTable, batchOf, batchRows, type Value } from '../../columnar/arrow/columns-helper.ts'
import { defaultLimits } from '../../../helpers/default-limits.ts'
import { bodyFile, collected, rowsOf } from '../reading.ts'

describe('Arrow written here', () => {
  test('is read with the same types and values; lists become JSON text', async () => {
    await fc.assert(
      fc.asyncProperty(arbTable, fc.nat(), fc.boolean(), async ({ fields, rows }, cut, isFile) => {
        const whole = batchOf(fields, rows)
        const at = rows.length === 0 ? 0 : cut % rows.length
        const stream = encodeArrowStream(fields, [sliceBatch(whole, 0, at), sliceBatch(whole, at, rows.length)])
        const bytes = isFile ? arrow.tableToIPC(arrow.tableFromIPC(stream), 'file') : stream
        const file = await openArrow(bodyFile(bytes), defaultLimits())
        const isList = fields.map(({ type }) => innerType(type).kind === 'List')
        expect(file.rows).toBe(rows.length)
        expect(file.fields).toEqual(
          fields.map(({ name, type }, i) => ({
            name,
            type: optional(isList[i] ? { kind: 'String' } : innerType(type)),
          })),
        )
        const plain = [...fields.keys()].filter((i) => !isList[i])
        const batches = await collected(file.batches(plain))
        const expected = rows.map((row) => plain.map((i): Value | undefined => row[i]))
        expect(batches.flatMap(batchRows)).toEqual(expected)
        const lists = (await collected(file.batches([...fields.keys()].filter((i) => isList[i])))).flatMap(batchRows)
        const counts = lists.map((row) => row.map((text) => (text === null ? null : JSON.parse(String(text)).length)))
        const items = rows.map((row) =>
          row.filter((_, i) => isList[i]).map((v) => (Array.isArray(v) ? v.length : null)),
        )
        expect(counts).toEqual(items)
      }),
      { numRuns: 120 },
    )
  })
})

describe('Arrow of apache-arrow', () => {
  test('is read: dictionaries, structs, and tables of several batches', async () => {
    const word = fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }), { nil: null })
    const row = fc.record({
      w: word,
      n: fc.option(fc.integer(), { nil: null }),
      s: fc.option(fc.record({ a: word }), { nil: null }),
    })
    const format = fc.constantFrom('file', 'stream')
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), format, async (rows, kind) => {
        const words = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int16())
        const struct = new arrow.Struct([new arrow.Field('a', new arrow.Utf8(), true)])
        const table = new arrow.Table({
          w: arrow.vectorFromArray(
            rows.map(({ w }) => w),
            words,
          ),
          n: arrow.vectorFromArray(
            rows.map(({ n }) => n),
            new arrow.Int32(),
          ),
          s: arrow.vectorFromArray(
            rows.map(({ s }) => s),
            struct,
          ),
        })
        const both = table.concat(table)
        const file = await openArrow(bodyFile(arrow.tableToIPC(both, kind)), defaultLimits())
        const batches = await collected(file.batches([0, 1, 2]))
        const expected = rows.map(({ w, n, s }) => [w, n, s === null ? null : JSON.stringify(s)])
        expect(rowsOf({ records: file.rows, batches })).toEqual([...expected, ...expected])
      }),
      { numRuns: 100 },
    )
  })
})

describe('a large record batch', () => {
  test('comes in pieces of few rows and few bytes, which together are the batch', async () => {
    const count = 40_000
    const text = (i: number): string | null => (i % 7 === 3 ? null : `${i} ${'ä'.repeat(i % 211)}`)
    const rows = Array.from({ length: count }, (_, i) => [
      text(i),
      i % 5 === 1 ? null : i,
      i % 3 === 0,
      i % 11 === 0 ? null : { a: i, b: 'x'.repeat(i % 1001) },
    ])
    const struct = new arrow.Struct([
      new arrow.Field('a', new arrow.Int32(), true),
      new arrow.Field('b', new arrow.Utf8(), true),
    ])
    const at = (place: number): unknown[] => rows.map((row) => row[place])
    const table = new arrow.Table({
      t: arrow.vectorFromArray(at(0), new arrow.Utf8()),
      n: arrow.vectorFromArray(at(1), new arrow.Int32()),
      b: arrow.vectorFromArray(at(2), new arrow.Bool()),
      s: arrow.vectorFromArray(at(3), struct),
    })
    const file = await openArrow(bodyFile(arrow.tableToIPC(table)), defaultLimits())
    const batches = await collected(file.batches([0, 1, 2, 3]))
    expect(batches.length).toBeGreaterThan(4)
    expect(batches.every((batch) => batch.rows <= 16_384 && batchBytes(batch) < 9 * 1024 * 1024)).toBe(true)
    // Pieces end where texts do, not at whole bytes of a bitmap.
    expect(batches.some((batch) => batch.rows % 8 !== 0)).toBe(true)
    const made = rowsOf({ records: count, batches })
    const expected = rows.map(([t, n, b, s]) => [t, n, b, s === null ? null : JSON.stringify(s)])
    expect(made.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(expected[i]))).toBe(-1)
    expect(made.length).toBe(count)
  })
})
