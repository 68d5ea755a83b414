// Thousands of generated values: a real server takes our binary form of them, prints the text that we print, and sends the same
// bytes back.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeColumn } from '../../../src/libraries/columnar/arrow/columns.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { FileColumn, FileFormat } from '../../../src/libraries/columnar/outputs/file-format.ts'
import { intervalText } from '../../../src/libraries/columnar/outputs/value-text.ts'
import { pgCopyBinary, pgCopyText } from '../../../src/libraries/pgwire/copy.ts'
import type { Column, DataType } from '../../../src/libraries/model/schema.ts'
import fc from '../../helpers/properties.ts'
import { copied } from './engine-rows.ts'
import { hasPostgres, type Postgres, startPostgres } from './postgres.ts'

let postgres: Postgres | undefined

beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres()
})
afterAll(async () => await postgres?.stop())

const count = 20_000

function column(type: DataType, values: ArrayBufferView, rows: number, offsets?: Int32Array): Column {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  return makeColumn({ name: 'v', type, nullable: true, rows, nullCount: 0, values: bytes, offsets })
}

function textColumn(texts: readonly string[]): Column {
  const offsets = Int32Array.from([0, ...texts.map((text) => text.length)])
  for (let at = 1; at < offsets.length; at++) offsets[at] = (offsets[at] ?? 0) + (offsets[at - 1] ?? 0)
  return column({ kind: 'String' }, Buffer.from(texts.join('')), texts.length, offsets)
}

type Facts = Omit<FileColumn, 'name' | 'type'>

/** What CopyData messages of a column carry, with the numbers of its rows: a table has an order of its own. */
function written(format: FileFormat, values: Column, facts: Facts): Buffer {
  const { rows } = values
  const numbers = column(
    { kind: 'Int32' },
    Int32Array.from({ length: rows }, (_, row) => row),
    rows,
  )
  const columns: FileColumn[] = [
    { name: 'row', type: numbers.type, means: 'value' },
    { name: 'v', type: values.type, ...facts },
  ]
  const writer = format.begin(columns, { escapeFormulas: false, geometry: undefined }, { compress: (bytes) => bytes })
  const parts = [...writer.rows({ rows, columns: [numbers, values] }), ...writer.end()]
  return copied(parts.map((part) => Buffer.from(part)))
}

type IsSame = (own: string, theirs: string) => boolean

/** The same number, in about as many digits: the shortest may lie in the middle between two floats, and beside powers of two we may take one more. */
const asFloat =
  (round: (value: number) => number): IsSame =>
  (own, theirs) => {
    const [one, other] = [own, theirs].map((line) => round(Number(line.split('\t')[1])))
    return Object.is(one, other) && own.length <= theirs.length + 1
  }

function judge(
  type: string,
  values: Column,
  facts: Facts = { means: 'value' },
  isSame: IsSame = (own, theirs) => own === theirs,
): void {
  const server = must(postgres, 'the server is started')
  const binary = written(pgCopyBinary, values, facts)
  server.run(`DROP TABLE IF EXISTS t; CREATE TABLE t (row int PRIMARY KEY, v ${type})`)
  server.run('COPY t FROM STDIN (FORMAT binary)', binary)
  const read = 'COPY (SELECT * FROM t ORDER BY row) TO STDOUT'
  const own = written(pgCopyText, values, facts).toString().split('\n')
  const theirs = server.run(read).toString().split('\n')
  expect(own.length).toBe(values.rows + 1)
  const others = own.flatMap((line, at) => (isSame(line, theirs[at] ?? '') ? [] : [[line, theirs[at]]]))
  expect(others.slice(0, 10)).toEqual([])
  expect(server.run(`${read} (FORMAT binary)`).equals(binary)).toBe(true)
}

function sample<T>(arbitrary: fc.Arbitrary<T>, edges: readonly T[] = []): T[] {
  return [...edges, ...fc.sample(arbitrary, count)]
}

/** Powers of two and of ten, and products of few digits with powers of ten, with their neighbours: where digits are hard. */
function hardFloats(words: Float64Array | Float32Array, bits: BigInt64Array | Int32Array): number[] {
  const found: number[] = []
  const add = (value: number): void => {
    words[0] = value
    const own = bits[0] ?? 0
    for (const step of [-1, 0, 1]) {
      bits[0] = typeof own === 'bigint' ? own + BigInt(step) : own + step
      found.push(words[0] ?? 0)
    }
  }
  for (let power = -1074; power < 1024; power++) add(2 ** power)
  for (let power = -323; power <= 308; power++)
    for (let digit = 1; digit < 100; digit++) add(Number(`${digit}e${power}`))
  return found.filter((value) => Number.isFinite(value))
}

describe.skipIf(!hasPostgres)('a server of PostgreSQL', () => {
  test('reads and prints doubles as we do', () => {
    const words = new Float64Array(1)
    const hard = hardFloats(words, new BigInt64Array(words.buffer))
    const short = fc.tuple(fc.integer({ min: -1e7, max: 1e7 }), fc.integer({ min: -12, max: 24 }))
    const values = Float64Array.from([
      ...hard,
      ...sample(fc.double()),
      ...sample(short).map(([digits, power]) => Number(`${digits}e${power}`)),
      ...sample(fc.double({ min: 2 ** 53, max: 1e25 })),
      // Middles of two neighbours are of few digits only here.
      ...sample(fc.bigInt({ min: 2n ** 53n, max: 2n ** 77n })).map((value) => Number(value)),
    ])
    judge('float8', column({ kind: 'Float64' }, values, values.length), undefined, asFloat(Number))
  })

  test('reads and prints floats of 32 bits as we do', () => {
    const words = new Float32Array(1)
    const hard = hardFloats(words, new Int32Array(words.buffer))
    const bits = sample(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))
    // From 1e-4 to 1e6, which have no exponent, and all others.
    const plain = sample(fc.integer({ min: 0x38d1b717, max: 0x49742400 }))
    const any = new Float32Array(Int32Array.from([...bits, ...plain]).buffer)
    const values = Float32Array.from([
      ...hard,
      // NaNs have other bits here than there.
      ...any.filter((value) => !Number.isNaN(value)),
      ...sample(fc.integer({ min: 1, max: 1e7 })).map((value) => value / 1e4),
      ...sample(fc.integer({ min: 2 ** 24, max: 2 ** 31 })),
    ])
    judge('float4', column({ kind: 'Float32' }, values, values.length), undefined, asFloat(Math.fround))
  })

  test.each([0, 1, 2, 3, 4, 7, 19, 37, 38])('reads and prints decimals of scale %i as we do', (scale) => {
    const most = 10n ** 38n - 1n
    const edges = Array.from({ length: 39 }, (_, power) => 10n ** BigInt(power)).flatMap((one) => [one - 1n, one, -one])
    const values = [
      ...edges.filter((one) => one <= most && one >= -most),
      ...sample(fc.bigInt({ min: -most, max: most })),
      ...sample(fc.bigInt({ min: -(2n ** 55n), max: 2n ** 55n })),
    ]
    const halves = new BigInt64Array(2 * values.length)
    for (const [at, value] of values.entries()) {
      halves[2 * at] = BigInt.asIntN(64, value)
      halves[2 * at + 1] = value >> 64n
    }
    judge(`numeric(38,${scale})`, column({ kind: 'Decimal', precision: 38, scale }, halves, values.length))
  })

  test('reads and prints unsigned integers of 64 bits as we do', () => {
    const values = BigUint64Array.from(sample(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), [0n, 2n ** 53n, 2n ** 63n]))
    judge('numeric', column({ kind: 'UInt64' }, values, values.length), { means: 'value' })
  })

  const [first, last] = [-210_866_803_200_000_000n, 9_224_318_015_999_999_999n]

  test.each([undefined, 'UTC'] as const)('reads and prints timestamps of the zone %s as we do', (zone) => {
    const near = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 16n })
    const seconds = sample(fc.bigInt({ min: -(10n ** 11n), max: 10n ** 11n })).map((value) => value * 1_000_000n)
    const all = [...sample(fc.bigInt({ min: first, max: last - 1n }), [first, 0n, -1n]), ...sample(near), ...seconds]
    // The column holds none beyond.
    const values = BigInt64Array.from(all.filter((value) => value < 2n ** 63n))
    const type: DataType = { kind: 'Timestamp', unit: 'Microsecond', ...(zone !== undefined && { timezone: zone }) }
    judge(zone === undefined ? 'timestamp' : 'timestamptz', column(type, values, values.length))
  })

  test('reads and prints dates and times as we do', () => {
    const days = Int32Array.from(
      sample(fc.integer({ min: -2_440_588, max: 2_145_042_905 }), [-2_440_588, 2_145_042_905, 0, -719_162, -719_163]),
    )
    judge('date', column({ kind: 'Date' }, days, days.length))
    const times = BigInt64Array.from(sample(fc.bigInt({ min: 0n, max: 86_400_000_000n }), [0n, 86_400_000_000n]))
    judge('time', column({ kind: 'Time', unit: 'Microsecond' }, times, times.length))
  })

  test('reads and prints intervals as we do', () => {
    const int32 = fc.oneof(fc.integer(), fc.integer({ min: -40, max: 40 }))
    const micros = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -100n, max: 10n ** 9n }),
    )
    const all = sample<[number, number, bigint]>(fc.tuple(int32, int32, micros), [
      [0, 0, 0n],
      [-1, 1, 0n],
      [-2147483648, -2147483648, -(2n ** 63n)],
      [2147483647, 2147483647, 2n ** 63n - 1n],
    ])
    const facts = { means: 'value', engineType: 'INTERVAL' } as const
    judge('interval', textColumn(all.map(([months, days, inDay]) => intervalText(months, days, inDay))), facts)
  })
})
