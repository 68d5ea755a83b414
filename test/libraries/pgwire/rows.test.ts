// Rows of PostgreSQL's protocol beyond what a server of it has: forms by column, types of the engine alone, what is refused, pieces.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { pgCopyBinary, pgCopyText } from '../../../src/libraries/pgwire/copy.ts'
import { pgRows } from '../../../src/libraries/pgwire/rows.ts'
import { copied, EngineRows } from './engine-rows.ts'
import { hasPostgres, type Postgres, startPostgres } from './postgres.ts'

let engine: EngineRows

beforeAll(async () => void (engine = await EngineRows.open()))
afterAll(() => engine.close())

interface Field {
  readonly name: string
  readonly oid: number
  readonly modifier: number
  readonly form: number
}

interface Messages {
  readonly fields: readonly Field[]
  readonly rows: readonly (readonly (Buffer | null)[])[]
}

/** Takes messages apart; each piece is whole ones. */
function parsed(pieces: readonly Buffer[]): Messages {
  const fields: Field[] = []
  const rows: (Buffer | null)[][] = []
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const kind = piece.toString('latin1', at, at + 1)
      const end = at + 1 + piece.readInt32BE(at + 1)
      if (end > piece.length) throw new Error('a piece ends within a message')
      const body = piece.subarray(at + 5, end)
      if (kind === 'T') fields.push(...fieldsOf(body))
      else rows.push(cellsOf(body))
      at = end
    }
  }
  return { fields, rows }
}

function fieldsOf(body: Buffer): Field[] {
  let at = 2
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const end = body.indexOf(0, at)
    const name = body.toString('utf8', at, end)
    at = end + 19
    return {
      name,
      oid: body.readInt32BE(end + 7),
      modifier: body.readInt32BE(end + 13),
      form: body.readInt16BE(end + 17),
    }
  })
}

function cellsOf(body: Buffer): (Buffer | null)[] {
  let at = 2
  const cells = Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at)
    const cell = length < 0 ? null : body.subarray(at + 4, at + 4 + length)
    at += 4 + Math.max(0, length)
    return cell
  })
  if (at !== body.length) throw new Error('a row is longer than its fields')
  return cells
}

const texts = ({ rows }: Messages): unknown[] => rows.map((row) => row.map((cell) => cell?.toString() ?? null))

test('each column in its form', async () => {
  const sql = 'SELECT 1::INTEGER AS a, 2::INTEGER AS b, NULL::INTEGER AS c'
  const { fields, rows } = parsed(await engine.pieces(pgRows, sql, { binaryColumns: [true, false, true] }))
  expect(fields.map(({ form }) => form)).toEqual([1, 0, 1])
  expect(rows).toEqual([[Buffer.of(0, 0, 0, 1), Buffer.from('2'), null]])
})

test('forms of another number of columns are refused', async () => {
  const asked = engine.pieces(pgRows, 'SELECT 1, 2, 3', { binaryColumns: [true, false] })
  await expect(asked).rejects.toMatchObject({ kind: 'InvalidRequest' })
  expect(
    parsed(await engine.pieces(pgRows, 'SELECT 1, 2', { binaryColumns: [] })).fields.map(({ form }) => form),
  ).toEqual([0, 0])
})

test('COPY in binary form has no header', async () => {
  await expect(engine.pieces(pgCopyBinary, 'SELECT 1', { header: true })).rejects.toMatchObject({
    kind: 'InvalidRequest',
  })
})

test('a long name stays whole', async () => {
  const name = 'é'.repeat(100)
  expect(parsed(await engine.pieces(pgRows, `SELECT 1 AS "${name}"`)).fields[0]?.name).toBe(name)
})

test('values that hold others are jsonb with the text of JSON answers', async () => {
  const sql = `SELECT [1, NULL] AS l, {'a': 'x"', 'b': 1.5::DOUBLE} AS s, map {'k': 2} AS m, '{"a":[1 ,2]}'::JSON AS j`
  const answer = parsed(await engine.pieces(pgRows, sql))
  expect(answer.fields.map(({ oid }) => oid)).toEqual([3802, 3802, 3802, 3802])
  expect(texts(answer)).toEqual([['[1,null]', '{"a":"x\\"","b":1.5}', expect.stringContaining('"k"'), '{"a":[1 ,2]}']])
  const binary = parsed(await engine.pieces(pgRows, sql, { binaryColumns: [true] }))
  expect(binary.rows[0]?.map((cell) => cell?.[0])).toEqual([1, 1, 1, 1])
})

test('types that PostgreSQL has no like of are text', async () => {
  const sql = `SELECT 'a'::ENUM('a', 'b') AS e, '0101'::BIT AS b, 12::BIGNUM AS g, '10:00:00.123456789'::TIME_NS AS t`
  const answer = parsed(await engine.pieces(pgRows, sql, { binaryColumns: [true] }))
  expect(answer.fields.map(({ oid }) => oid)).toEqual([25, 25, 25, 25])
  expect(texts(answer)).toEqual([['a', '0101', '12', '10:00:00.123456789']])
})

test('infinite dates and times are null, as in every file', async () => {
  const sql = `SELECT 'infinity'::DATE AS a, '-infinity'::TIMESTAMP AS b, 'infinity'::TIMESTAMPTZ AS c`
  for (const binaryColumns of [[true], [false]]) {
    expect(parsed(await engine.pieces(pgRows, sql, { binaryColumns })).rows).toEqual([[null, null, null]])
  }
})

test.each([
  ["'4714-11-23 (BC)'::DATE", '4714-11-23 BC'],
  ["'5877642-06-25 (BC)'::DATE", '5877642-06-25 BC'],
  ["'5874898-01-01'::DATE", '5874898-01-01'],
  ["'5881580-07-10'::DATE", '5881580-07-10'],
  ["'4714-11-23 (BC) 23:59:59.999999'::TIMESTAMP", '4714-11-23 23:59:59.999999 BC'],
  ["'290309-12-22 (BC) 00:00:00'::TIMESTAMP", '290309-12-22 00:00:00 BC'],
  ["'4714-11-23 (BC) 00:00:00+00'::TIMESTAMPTZ", '4714-11-23 00:00:00+00 BC'],
])('%s is printed, and has no binary form', async (sql, text) => {
  expect(texts(parsed(await engine.pieces(pgRows, `SELECT ${sql}`)))).toEqual([[text]])
  const binary = engine.pieces(pgRows, `SELECT ${sql}`, { binaryColumns: [true] })
  await expect(binary).rejects.toMatchObject({ kind: 'SqlValue' })
})

test('a text with a NUL is refused: clients would cut it there', async () => {
  const sql = "SELECT 'x' || chr(0) || 'y' AS a"
  for (const format of [pgRows, pgCopyText, pgCopyBinary]) {
    await expect(engine.pieces(format, sql)).rejects.toMatchObject({ kind: 'SqlValue' })
  }
  expect(texts(parsed(await engine.pieces(pgRows, `SELECT encode(a) AS b FROM (${sql})`)))).toEqual([['\\x780079']])
})

test('many rows leave in pieces of whole messages', async () => {
  const sql = `SELECT i, repeat('x', (i % 700)::INT) AS t FROM range(100000) r(i)`
  const pieces = await engine.pieces(pgRows, sql)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(512 * 1024)
  const { fields, rows } = parsed(pieces)
  expect(fields).toHaveLength(2)
  expect(rows).toHaveLength(100_000)
  expect(rows.every(([i, t], at) => i?.toString() === String(at) && t?.length === at % 700)).toBe(true)
  const copy = copied(await engine.pieces(pgCopyText, sql))
    .toString()
    .split('\n')
  expect(copy).toHaveLength(100_001)
  expect(copy[99_999]).toBe(`99999\t${'x'.repeat(99_999 % 700)}`)
})

describe.skipIf(!hasPostgres)('every type of the engine', () => {
  let server: Postgres
  beforeAll(async () => void (server = await startPostgres()))
  afterAll(async () => await server.stop())

  test('is taken by a server of PostgreSQL in binary form, or refused', async () => {
    const types = new Map(
      server
        .run("COPY (SELECT oid, typname FROM pg_type WHERE typtype = 'b') TO STDOUT")
        .toString()
        .split('\n')
        .map((line) => [Number(line.split('\t')[0]), line.split('\t')[1]]),
    )
    const refused: string[] = []
    for (const name of await engine.namesOf('SELECT * FROM test_all_types()')) {
      for (const row of [0, 1, 2]) {
        const sql = `SELECT "${name}" AS v FROM test_all_types() LIMIT 1 OFFSET ${row}`
        try {
          const type = types.get(parsed(await engine.pieces(pgRows, sql)).fields[0]?.oid ?? 0)
          // A server's jsonb takes no NUL, its json does, whose binary form is the text.
          const [known, format] = type === 'jsonb' ? (['json', pgCopyText] as const) : ([type, pgCopyBinary] as const)
          const form = type === 'jsonb' ? 'text' : 'binary'
          const body = copied(await engine.pieces(format, sql))
          server.run(`DROP TABLE IF EXISTS t; CREATE TABLE t (v ${known}); COPY t FROM STDIN (FORMAT ${form})`, body)
        } catch (error) {
          if (!(error instanceof NodeError)) throw error
          refused.push(`${name} ${row}: ${error.kind}`)
        }
      }
    }
    // Numbers of more than 38 digits, times beyond PostgreSQL's, a NUL, and what no answer holds.
    expect(refused).toEqual([
      'hugeint 0: SqlValue',
      'hugeint 1: SqlValue',
      'uhugeint 1: SqlValue',
      'date 0: SqlValue',
      'date 1: SqlValue',
      'timestamp 0: SqlValue',
      'timestamp_s 0: SqlValue',
      'timestamp_ms 0: SqlValue',
      'timestamp_tz 0: SqlValue',
      'varchar 1: SqlValue',
      'geometry 0: QueryNotAllowed',
      'geometry 1: QueryNotAllowed',
      'geometry 2: QueryNotAllowed',
    ])
  })
})
