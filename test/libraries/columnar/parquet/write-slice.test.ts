// Slices that we write, read by DuckDB, hyparquet and ourselves.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterAll, describe, expect, test } from 'vitest'
import { sliceBatch } from '../../../../src/libraries/columnar/arrow/columns.ts'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { type DataType, type Field, innerType } from '../../../../src/libraries/model/schema.ts'
import { openSlice } from '../../../../src/libraries/columnar/parquet/read-slice.ts'
import { rowGroupRows } from '../../../../src/libraries/columnar/parquet/write-slice.ts'
import { arbTable, batchOf, batchRows, type Value } from '../arrow/columns-helper.ts'
import { decodeArrowStream, decompress, readSlice } from '../../../helpers/slices.ts'
import { connect, forDuckDb, fromDuckDb, hashOf, writeSlice } from './slice-helper.ts'

const folder = mkdtempSync(join(tmpdir(), 'slices-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('slice writer', () => {
  test('what is written is read back, with and without compression, however batches are cut', async () => {
    await fc.assert(
      fc.asyncProperty(arbTable, fc.nat(40), fc.boolean(), async ({ fields, rows }, cut, zstd) => {
        const batch = batchOf(fields, rows)
        const middle = Math.min(cut, rows.length)
        const parts = [sliceBatch(batch, 0, middle), sliceBatch(batch, middle, rows.length)]
        const bytes = writeSlice(fields, parts, zstd)
        expect(bytes).toEqual(writeSlice(fields, [batch], zstd))
        expect(openSlice(bytes).fields).toEqual(fields)
        expect(batchRows(await readSlice(bytes))).toEqual(rows)
      }),
      { numRuns: 150 },
    )
  })

  test('DuckDB reads the same rows', async () => {
    const connection = await connect()
    let count = 0
    await fc.assert(
      fc.asyncProperty(arbTable, fc.boolean(), async ({ fields, rows }, zstd) => {
        const tame = rows.map((row) => row.map((value, i) => forDuckDb(fields[i]!.type, value)))
        const file = join(folder, `${count++}.parquet`)
        writeFileSync(file, writeSlice(fields, [batchOf(fields, tame)], zstd))
        const result = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
        expect(result.columnNames()).toEqual(fields.map((field) => field.name))
        const read = result.getRows().map((row) => row.map((value, i) => fromDuckDb(fields[i]!.type, value)))
        expect(read).toEqual(tame)
      }),
      { numRuns: 60 },
    )
    connection.closeSync()
  })

  test('hyparquet reads the same rows', async () => {
    await fc.assert(
      fc.asyncProperty(arbTable, async ({ fields, rows }) => {
        const bytes = writeSlice(fields, [batchOf(fields, rows)])
        const file = bytes.slice().buffer
        const objects = await parquetReadObjects({
          file,
          utf8: false,
          compressors: { ZSTD: decompress },
          parsers: { ...rawTimes, dateFromDays: (days: number) => days },
        })
        for (const [i, { name, type }] of fields.entries()) {
          // The library makes doubles of decimals.
          if (/"Decimal"/.test(JSON.stringify(type))) continue
          expect(objects.map((object): unknown => object[name] ?? null)).toEqual(rows.map((row) => row[i]))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('bounds let no value out, and are values of the column', () => {
    const raw = { stringFromBytes: (b: Uint8Array) => b.slice(), dateFromDays: (d: number) => d, ...rawTimes }
    fc.assert(
      fc.property(arbTable, ({ fields, rows }) => {
        const bytes = writeSlice(fields, [batchOf(fields, rows)])
        const metadata = parquetMetadata(bytes.slice().buffer, { parsers: raw })
        for (const [i, field] of fields.entries()) {
          const type = innerType(field.type)
          const statistics = metadata.row_groups[0]?.columns[i]?.meta_data?.statistics
          if (statistics === undefined || type.kind === 'Decimal' || type.kind === 'List') continue
          const present = rows.map((row) => row[i]!).filter((value) => value !== null)
          expect(Number(statistics.null_count)).toBe(rows.length - present.length)
          const sorted = present.some((value) => Number.isNaN(value)) ? [] : present.map(comparable).sort(compare)
          const bounds = [statistics.min_value, statistics.max_value].map((bound) => comparable(bound as Value))
          expect([compare(bounds[0]!, sorted[0]), compare(bounds[1]!, sorted.at(-1))]).toEqual([0, 0])
        }
      }),
      { numRuns: 100 },
    )
  })

  test('bounds of wide decimals are signed, and long strings have none', async () => {
    const fields: Field[] = [
      { name: 'd', type: { kind: 'Decimal', precision: 38, scale: 2 } },
      { name: 'e', type: { kind: 'Decimal', precision: 9, scale: 2 } },
      { name: 's', type: { kind: 'String' } },
    ]
    const rows: Value[][] = [
      [-1n, -5n, 'x'.repeat(65)],
      [10n ** 37n, 7n, 'a'],
      [-(10n ** 37n), 0n, 'b'],
    ]
    const file = join(folder, 'bounds.parquet')
    writeFileSync(file, writeSlice(fields, [batchOf(fields, rows)]))
    const connection = await connect()
    const result = await connection.runAndReadAll(
      `SELECT stats_min_value, stats_max_value FROM parquet_metadata('${file}') ORDER BY column_id`,
    )
    const large = `1${'0'.repeat(35)}.00`
    expect(result.getRows()).toEqual([
      [`-${large}`, large],
      ['-0.05', '0.07'],
      [null, null],
    ])
    connection.closeSync()
  })

  test('row groups end at 131,072 rows, wherever batches end', async () => {
    const fields: Field[] = [
      { name: 'n', type: { kind: 'Int64' } },
      { name: 's', type: { kind: 'Option', inner: { kind: 'String' } } },
    ]
    const total = 2 * rowGroupRows + 77
    const rows = Array.from({ length: total }, (_, i): Value[] => [BigInt(i), i % 3 === 0 ? null : `v${i % 5000}`])
    const batch = batchOf(fields, rows)
    const parts = [sliceBatch(batch, 0, 100_001), sliceBatch(batch, 100_001, total)]
    const bytes = writeSlice(fields, parts)
    expect(bytes).toEqual(writeSlice(fields, [batch]))
    const { row_groups } = parquetMetadata(bytes.slice().buffer)
    expect(row_groups.map((group) => Number(group.num_rows))).toEqual([rowGroupRows, rowGroupRows, 77])
    expect(hashOf(fields, await readSlice(bytes))).toBe(hashOf(fields, batch))
  })

  test('a row group of large values ends after 64 MiB', () => {
    const fields: Field[] = [{ name: 's', type: { kind: 'String' } }]
    const large = batchOf(fields, [['x'.repeat(1024 * 1024)]])
    const bytes = writeSlice(
      fields,
      Array.from({ length: 70 }, () => large),
    )
    const { row_groups } = parquetMetadata(bytes.slice().buffer)
    expect(row_groups.map((group) => Number(group.num_rows))).toEqual([64, 6])
  })

  test('the same rows make the same file wherever their buffers lie', () => {
    fc.assert(
      fc.property(arbTable, fc.integer({ min: 1, max: 9 }), ({ fields, rows }, shift) => {
        const batch = batchOf(fields, rows)
        const stream = encodeArrowStream(fields, [batch])
        const moved = new Uint8Array(stream.length + shift)
        moved.set(stream, shift)
        expect(writeSlice(fields, [decodeArrowStream(moved.subarray(shift))])).toEqual(writeSlice(fields, [batch]))
      }),
      { numRuns: 100 },
    )
  })

  test('constant columns and repeating strings become dictionaries, others do not', () => {
    const fields: Field[] = ['op', 'offset', 'city', 'note'].map((name, i) => ({
      name,
      type: { kind: i === 0 ? 'Int32' : i === 1 ? 'Int64' : 'String' },
    }))
    const rows = Array.from({ length: 1000 }, (_, i): Value[] => [0, BigInt(i), `city ${i % 7}`, `note ${i}`])
    const { row_groups } = parquetMetadata(writeSlice(fields, [batchOf(fields, rows)]).slice().buffer)
    const dictionaries = row_groups[0]!.columns.map((c) => c.meta_data!.encodings.includes('RLE_DICTIONARY'))
    expect(dictionaries).toEqual([true, false, true, false])
  })

  test('a slice without rows is a file with its columns', async () => {
    const fields: Field[] = [{ name: 'l', type: { kind: 'List', itemType: { kind: 'Int32' } } }]
    const bytes = writeSlice(fields, [])
    expect([openSlice(bytes).fields, (await readSlice(bytes)).rows]).toEqual([fields, 0])
  })

  test('lists of lists, and names with dots or none, come back', async () => {
    const inner: DataType = {
      kind: 'Option',
      inner: { kind: 'List', itemType: { kind: 'Option', inner: { kind: 'String' } } },
    }
    const fields: Field[] = [
      { name: 'a.b', type: { kind: 'Option', inner: { kind: 'List', itemType: inner } } },
      { name: 'a', type: { kind: 'List', itemType: { kind: 'List', itemType: { kind: 'Int64' } } } },
      { name: '', type: { kind: 'Int32' } },
    ]
    const rows: Value[][] = [
      [[['x', null], null, []], [[1n, 2n], [3n]], 1],
      [null, [], 2],
      [[], [[], [4n]], 3],
      [[['y']], [[5n], [], [6n, 7n]], 4],
    ]
    const bytes = writeSlice(fields, [batchOf(fields, rows)])
    expect(openSlice(bytes).fields).toEqual(fields)
    expect(batchRows(await readSlice(bytes))).toEqual(rows)
    const file = join(folder, 'nested.parquet')
    writeFileSync(file, bytes)
    const connection = await connect()
    const result = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
    expect(result.getRows().map((row) => row.map((value, i) => fromDuckDb(fields[i]!.type, value)))).toEqual(rows)
    connection.closeSync()
  })

  test('bounds of texts are the least and the greatest, whatever they begin with', async () => {
    const field: Field = { name: 's', type: { kind: 'Option', inner: { kind: 'String' } } }
    const arbText = fc.oneof(
      fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'b') }),
      fc.string({ maxLength: 4, unit: fc.constantFrom('a', 'z') }).map((end) => `user-${end}`),
      fc.constant(null),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(arbText, { minLength: 1, maxLength: 60 }), async (texts) => {
        const bytes = writeSlice(
          [field],
          [
            batchOf(
              [field],
              texts.map((text) => [text]),
            ),
          ],
        )
        const { statistics } = parquetMetadata(new Uint8Array(bytes).buffer).row_groups[0]!.columns[0]!.meta_data!
        const present = texts.filter((text) => text !== null).sort()
        const [least, greatest] = [statistics?.min_value ?? null, statistics?.max_value ?? null]
        expect([least, greatest]).toEqual([present[0] ?? null, present.at(-1) ?? null])
      }),
      { numRuns: 300 },
    )
  })

  test('values under nulls are left out', async () => {
    const type: DataType = { kind: 'List', itemType: { kind: 'String' } }
    const field: Field = { name: 'l', type: { kind: 'Option', inner: type } }
    const batch = batchOf([field], [[['a']], [['hidden', 'too']], [['b', 'c']]])
    const column = { ...batch.columns[0]!, nullCount: 1, validity: Uint8Array.of(0b101) }
    const bytes = writeSlice([field], [{ rows: 3, columns: [column] }])
    expect(batchRows(await readSlice(bytes))).toEqual([[['a']], [null], [['b', 'c']]])
  })
})

const rawTimes = {
  timestampFromMilliseconds: (value: bigint) => value,
  timestampFromMicroseconds: (value: bigint) => value,
}

/** Bytes of strings, so that order is the order of bytes. */
function comparable<T>(value: T): T | Uint8Array {
  return typeof value === 'string' ? new TextEncoder().encode(value) : value
}

function compare(a: Value | undefined, b: Value | undefined): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return a! < b! ? -1 : a! > b! ? 1 : 0
}

/** Types that hyparquet-writer takes as the helpers have them. */
