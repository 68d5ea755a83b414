// Slices: written by us, read by DuckDB, hyparquet and ourselves; the same rows written by hyparquet-writer; and the
// slices of other ODF software.

import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api'
import * as duckdb from '@duckdb/node-api'
import * as fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { type BasicType, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { decodeArrowStream, encodeArrowStream } from '../../src/codec/arrow-ipc.ts'
import { sliceBatch } from '../../src/codec/columns.ts'
import { createLogicalHash } from '../../src/codec/logical-hash.ts'
import { openSlice, readSlice } from '../../src/codec/slice-reader.ts'
import { createSliceWriter, rowGroupRows } from '../../src/codec/slice-writer.ts'
import { concatBytes } from '../../src/lib/bytes.ts'
import { DecodeError } from '../../src/model/errors.ts'
import type { RecordBatch } from '../../src/model/record-batch.ts'
import { type DataType, type Field, innerType, isOptional } from '../../src/model/schema.ts'
import { arbTable, batchOf, batchRows, type Value } from './columns-helper.ts'

const compress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdCompressSync(bytes))
const decompress = (bytes: Uint8Array): Uint8Array => new Uint8Array(zstdDecompressSync(bytes))

function writeSlice(fields: readonly Field[], batches: readonly RecordBatch[], zstd = true): Uint8Array {
  const writer = createSliceWriter({ fields, ...(zstd ? { compress } : {}) })
  for (const batch of batches) writer.add(batch)
  return concatBytes(writer.finish())
}

function hashOf(fields: readonly Field[], batch: RecordBatch): string {
  const hash = createLogicalHash(fields)
  hash.update(batch)
  return hash.digest()
}

const folder = mkdtempSync(join(tmpdir(), 'slices-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function connect(): Promise<duckdb.DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run("SET TimeZone = 'UTC'; SET threads = 1")
  return connection
}

/** DuckDB keeps microseconds in 64 bits, so timestamps have to stay below a third of a million years. */
function forDuckDb(type: DataType, value: Value): Value {
  const inner = innerType(type)
  if (inner.kind === 'List' && Array.isArray(value)) return value.map((item) => forDuckDb(inner.itemType, item))
  return inner.kind === 'Timestamp' && typeof value === 'bigint' ? value % 10n ** 14n : value
}

function fromDuckDb(type: DataType, value: DuckDBValue): Value {
  const inner = innerType(type)
  if (value === null) return null
  if (value instanceof duckdb.DuckDBListValue) {
    const itemType = inner.kind === 'List' ? inner.itemType : inner
    return value.items.map((item) => fromDuckDb(itemType, item))
  }
  if (value instanceof duckdb.DuckDBDateValue) return value.days
  if (value instanceof duckdb.DuckDBDecimalValue) return value.value
  if (value instanceof duckdb.DuckDBBlobValue) return new Uint8Array(value.bytes)
  if (value instanceof duckdb.DuckDBTimestampTZValue) {
    return inner.kind === 'Timestamp' && inner.unit === 'Millisecond' ? value.micros / 1000n : value.micros
  }
  if (value instanceof duckdb.DuckDBTimeValue) {
    return inner.kind === 'Time' && inner.unit === 'Millisecond' ? Number(value.micros / 1000n) : value.micros
  }
  return value as Value
}

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
        expect(batchRows(await readSlice(bytes, { decompress }))).toEqual(rows)
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

  test('files that DuckDB writes of our rows are read', async () => {
    const connection = await connect()
    await fc.assert(
      fc.asyncProperty(arbTable, fc.constantFrom('snappy', 'zstd', 'uncompressed'), async (table, codec) => {
        const fields = table.fields.filter(({ type }) => !/"Time/.test(JSON.stringify(type)))
        fc.pre(fields.length > 0)
        const rows = table.rows.map((row) => row.filter((_, i) => fields.includes(table.fields[i]!)))
        const [from, to] = [join(folder, 'from.parquet'), join(folder, 'to.parquet')]
        writeFileSync(from, writeSlice(fields, [batchOf(fields, rows)]))
        await connection.run(`COPY (FROM read_parquet('${from}')) TO '${to}' (FORMAT parquet, COMPRESSION ${codec})`)
        expect(batchRows(await readSlice(new Uint8Array(readFileSync(to)), { decompress }))).toEqual(rows)
      }),
      { numRuns: 60 },
    )
    connection.closeSync()
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
    expect(hashOf(fields, await readSlice(bytes, { decompress }))).toBe(hashOf(fields, batch))
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
    expect(batchRows(await readSlice(bytes, { decompress }))).toEqual(rows)
    const file = join(folder, 'nested.parquet')
    writeFileSync(file, bytes)
    const connection = await connect()
    const result = await connection.runAndReadAll(`SELECT * FROM read_parquet('${file}')`)
    expect(result.getRows().map((row) => row.map((value, i) => fromDuckDb(fields[i]!.type, value)))).toEqual(rows)
    connection.closeSync()
  })

  test('values under nulls are left out', async () => {
    const type: DataType = { kind: 'List', itemType: { kind: 'String' } }
    const field: Field = { name: 'l', type: { kind: 'Option', inner: type } }
    const batch = batchOf([field], [[['a']], [['hidden', 'too']], [['b', 'c']]])
    const column = { ...batch.columns[0]!, nullCount: 1, validity: Uint8Array.of(0b101) }
    const bytes = writeSlice([field], [{ rows: 3, columns: [column] }])
    expect(batchRows(await readSlice(bytes, { decompress }))).toEqual([[['a']], [null], [['b', 'c']]])
  })

  test('hyparquet-writer, given the same rows, makes a file of the same logical hash', async () => {
    await fc.assert(
      fc.asyncProperty(arbTable, async (table) => {
        const fields = table.fields.filter(({ type }) => typeForOracle(innerType(type)) !== undefined)
        fc.pre(fields.length > 0 && table.rows.length > 0)
        const rows = table.rows.map((row) => row.filter((_, i) => fields.includes(table.fields[i]!)))
        const other = parquetWriteBuffer({
          schema: [{ name: 'root', num_children: fields.length }, ...fields.map(elementForOracle)],
          columnData: fields.map(({ name }, i) => ({ name, data: rows.map((row) => row[i]) })),
        })
        const theirs = await readSlice(new Uint8Array(other))
        const ours = await readSlice(writeSlice(fields, [batchOf(fields, rows)]), { decompress })
        expect(hashOf(fields, theirs)).toBe(hashOf(fields, ours))
      }),
      { numRuns: 60 },
    )
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
function typeForOracle(type: DataType): BasicType | undefined {
  switch (type.kind) {
    case 'Bool':
      return 'BOOLEAN'
    case 'Int32':
      return 'INT32'
    case 'Int64':
      return 'INT64'
    case 'Float32':
      return 'FLOAT'
    case 'Float64':
      return 'DOUBLE'
    case 'String':
      return 'STRING'
    case 'Binary':
      return 'BYTE_ARRAY'
    default:
      return undefined
  }
}

function elementForOracle({ name, type }: Field): SchemaElement {
  const basic = typeForOracle(innerType(type))!
  const repetition_type = isOptional(type) ? 'OPTIONAL' : 'REQUIRED'
  if (basic === 'STRING') return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type }
  return { name, type: basic as 'INT32', repetition_type }
}

describe('slices of other ODF software', () => {
  const sets = new URL('../fixtures/', import.meta.url)
  interface Slice {
    file: URL
    name: string
    logicalHash: string
    records: number
  }
  interface ChainBlock {
    physicalHash: string
    logicalHash: string
    offsets?: number[]
  }
  const slices: Slice[] = []
  const add = (
    name: string,
    base: string,
    hash: { physicalHash: string; logicalHash: string },
    offsets: number[],
  ): void => {
    const file = new URL(`${base}/data/${hash.physicalHash}`, sets)
    slices.push({ file, name, logicalHash: hash.logicalHash, records: offsets[1]! - offsets[0]! + 1 })
  }
  for (const name of readdirSync(new URL('odf-datasets', sets))) {
    const { blocks } = JSON.parse(readFileSync(new URL(`odf-datasets/${name}/expected.json`, sets), 'utf8'))
    for (const { event } of blocks) {
      const { newData } = event
      if (newData)
        add(name, `odf-datasets/${name}`, newData, [newData.offsetInterval.start, newData.offsetInterval.end])
    }
  }
  const { datasets } = JSON.parse(readFileSync(new URL('odf-chain/expected.json', sets), 'utf8'))
  for (const [name, { blocks }] of Object.entries<{ blocks: ChainBlock[] }>(datasets)) {
    for (const block of blocks) if (block.offsets) add(name, `odf-chain/${name}`, block, block.offsets)
  }
  const columnar = slices.filter(({ name }) => name !== 'all-types')

  test('all slices but the two with a struct are in the test', () => {
    expect(slices.length - columnar.length).toBe(2)
    expect(columnar.length).toBeGreaterThan(15)
  })

  test.each(columnar.map((slice, i) => [`${slice.name} ${i}`, slice] as const))(
    '%s has the logical hash of its block, also when written anew',
    async (_, { file, logicalHash, records }) => {
      const bytes = new Uint8Array(readFileSync(file))
      const { fields } = openSlice(bytes)
      const batch = await readSlice(bytes, { decompress })
      expect(batch.rows).toBe(records)
      expect(hashOf(fields, batch)).toBe(logicalHash)
      const again = await readSlice(writeSlice(fields, [batch]), { decompress })
      expect(hashOf(fields, again)).toBe(logicalHash)
    },
  )

  test('our schema is annotated as theirs', () => {
    const theirs = slices.find(({ name }) => name === 'flat-types')!
    const bytes = new Uint8Array(readFileSync(theirs.file))
    const { fields } = openSlice(bytes)
    const schemaOf = (file: Uint8Array): unknown => parquetMetadata(file.slice().buffer).schema
    expect(schemaOf(writeSlice(fields, []))).toEqual(schemaOf(bytes))
  })

  test('a struct is refused by name', () => {
    const file = slices.find(({ name }) => name === 'all-types')!.file
    expect(() => openSlice(new Uint8Array(readFileSync(file)))).toThrow(/column "st" is neither plain nor/)
  })
})

describe('damaged slices', () => {
  const fields: Field[] = [
    { name: 's', type: { kind: 'Option', inner: { kind: 'String' } } },
    { name: 'l', type: { kind: 'List', itemType: { kind: 'Int32' } } },
  ]
  const good = writeSlice(fields, [
    batchOf(fields, [
      ['a', [1, 2]],
      [null, []],
      ['b', [3]],
    ]),
  ])

  test('are refused with a DecodeError or read without harm', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), async (at, value) => {
        const bytes = good.slice()
        bytes[at] = value
        const outcome = await readSlice(bytes, { decompress }).then(batchRows, (error: unknown) => error)
        expect(Array.isArray(outcome) || outcome instanceof DecodeError).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('are refused when cut', () => {
    for (const length of [0, 3, 11, good.length >> 1, good.length - 1]) {
      expect(() => openSlice(good.subarray(0, length)), `first ${length} bytes`).toThrow(DecodeError)
    }
  })
})
