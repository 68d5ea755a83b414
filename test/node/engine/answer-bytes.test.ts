// Answers byte by byte beside a second printer of them (helpers/answer-by-values.ts): random values of every type and of what
// holds them, in every layout, for proofs and not, in both orders of columns.

import { DuckDBInstance, type DuckDBMaterializedResult } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepByteOrderMarks } from '../../../src/node/engine/duckdb/open.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { type Rendered, renderResult } from '../../../src/node/engine/duckdb/results.ts'
import { assert } from '../../../src/libraries/base/assert.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { answerByValues } from '../../helpers/answer-by-values.ts'

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>

let connection: Connection

beforeAll(async () => {
  keepByteOrderMarks()
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  await connection.run("SET TimeZone = 'UTC'")
})
afterAll(() => connection.closeSync())

const layouts = ['JsonAoa', 'JsonAos', 'JsonSoa'] as const
const forms = layouts.flatMap((dataFormat) =>
  [true, false].flatMap((ascii) =>
    (['canonical', 'column'] as const).map((keyOrder) => ({ dataFormat, ascii, keyOrder })),
  ),
)

/** What the engine found, to be read from its first row on as often as one likes. */
async function found(sql: string): Promise<{ names: string[]; again: () => DuckDBMaterializedResult }> {
  const result = await connection.run(sql)
  const chunks = await result.fetchAllChunks()
  const again = (): DuckDBMaterializedResult => {
    const left = [...chunks]
    return Object.assign(Object.create(result), { fetchChunk: async () => left.shift() ?? null })
  }
  return { names: result.columnNames(), again }
}

async function rendered(...of: Parameters<typeof renderResult>): Promise<Rendered> {
  return must(await renderResult(...of), 'it runs to its end')
}

/** The kind of a refusal, or the answer. */
async function orKind(make: () => Promise<string>): Promise<string> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

/** Compares all forms of an answer, and gives one of them. */
async function checkSame(sql: string, limit = 1e9): Promise<string> {
  const { names, again } = await found(sql)
  let one = ''
  for (const form of forms) {
    const options = { ...form, names, limit }
    one = await orKind(async () => {
      const { pieces, bytes } = await rendered(again(), { ...options, resultBytes: 1e9 })
      const answer = Buffer.concat(pieces)
      expect(answer).toHaveLength(bytes)
      return answer.toString('latin1')
    })
    const expected = await orKind(async () => Buffer.from(await answerByValues(again(), options)).toString('latin1'))
    // The difference of two long texts takes minutes.
    assert(one === expected, `${sql}\n${JSON.stringify(form)}\n${one.slice(0, 3000)}\n${expected.slice(0, 3000)}`)
  }
  return one
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
const times = ['infinity', '-infinity', '1970-01-01', '0044-03-15 (BC)', '1969-12-31', '12345-06-07', '2262-04-11']
const stamps = [...times, '1969-12-31 23:59:59.999999', '2024-02-29 01:02:03.4', '0001-01-01 00:00:00.000001']
const inEpoch = 'infinity|-infinity|1970-01-01|1677-09-22 00:12:44|2262-04-11 23:47:16|2024-02-29 01:02:03.4'.split('|')

const oddTexts =
  `|a|it's "so" \\ /|\ufeff|\ufeffmark|é|😀 beyond|\u0001\u001f\u007f\u0080|del\u007f|\u2028\u2029|line\r\n\t\b\f|NaN|` +
  'null|[]|long text beyond twelve bytes|\uffff\ue000'

/** Texts that the engine casts to values of each plain type. */
const values: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['-128', '0', '127'],
  SMALLINT: ['-32768', '0', '32767'],
  INTEGER: ['-2147483648', '0', '2147483647'],
  BIGINT: ['-9223372036854775808', '9223372036854775807', '9007199254740993', '-9007199254740992', '-1', '0'],
  UTINYINT: ['0', '255'],
  USMALLINT: ['0', '65535'],
  UINTEGER: ['0', '4294967295'],
  UBIGINT: ['0', '18446744073709551615', '9007199254740992'],
  HUGEINT: ['0', '-1', '9'.repeat(38), `-${'9'.repeat(38)}`, '18446744073709551616', '-18446744073709551617'],
  UHUGEINT: ['0', '9'.repeat(38), '18446744073709551616'],
  FLOAT: 'nan inf -inf -0.0 0 1e-6 9.9e-7 1e12 1e13 3.4028235e38 1e-45 0.1 16777216'.split(' '),
  DOUBLE: 'nan inf -inf -0.0 0 1e-5 9.99e-6 1e15 1e16 123456789012345.6 5e-324 1.79e308 0.1 -2.5'.split(' '),
  'DECIMAL(4,1)': ['-999.9', '0', '0.1'],
  'DECIMAL(9,0)': ['-999999999', '7'],
  'DECIMAL(18,9)': ['-999999999.999999999', '0.000000001'],
  'DECIMAL(18,10)': ['99999999.9999999999', '-0.0000000001'],
  'DECIMAL(18,6)': ['-999999999999.999999', '0.000001', '-0.5'],
  'DECIMAL(38,10)': ['-9999999999999999999999999999.9999999999', '0.0000000001'],
  'DECIMAL(38,38)': [`0.${'9'.repeat(38)}`, '-0.5'],
  VARCHAR: [...oddTexts.split('|'), 'ü'.repeat(300)],
  BLOB: ['', '\\x00\\xFF', 'abc"\\x0A'],
  DATE: [...times, '5881580-07-10', '5877642-06-25 (BC)'],
  TIME: ['00:00:00', '24:00:00', '23:59:59.999999', '01:02:03.1'],
  TIME_NS: ['00:00:00', '23:59:59.999999999', '01:02:03.1'],
  TIMETZ: ['00:00:00+00', '23:59:59.999999-15:59:59', '01:02:03.1+05:30'],
  TIMESTAMP: [...stamps, '294247-01-10 04:00:54.775806', '290309-12-22 (BC) 00:00:00'],
  TIMESTAMPTZ: [...stamps, '294247-01-10 04:00:54.775806+00'],
  TIMESTAMP_S: stamps,
  TIMESTAMP_MS: stamps,
  TIMESTAMP_NS: [...inEpoch, '1969-12-31 23:59:59.999999999'],
  INTERVAL: ['0 days', '14 months 3 days 04:05:06.789', '-1 month 2 days -00:00:00.000001', '999 years'],
  UUID: ['0', 'f', '8'].map((digit) => `${digit.repeat(8)}-0000-0000-0000-00000000000f`),
  BIT: ['0', '1', '10101', '0'.repeat(100)],
  BIGNUM: ['0', '-1', '9'.repeat(60), `-${'9'.repeat(60)}`],
  "ENUM('é', 'a''b', '')": ['é', "a'b", ''],
}

interface Kind {
  readonly type: string
  /** SQL of a value that is not null. */
  readonly value: fc.Arbitrary<string>
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const memberNames = 'a|B|ab|with "quotes"|é|😀|\uffff|two words|key|tag|\ufeffm|constructor|1'.split('|')

const scalars = Object.entries(values).map(([type, texts]): Kind => ({
  type,
  value: fc.constantFrom(...texts).map((one) => `CAST(${text(one)} AS ${type})`),
}))
const scalar = fc.constantFrom(...scalars)

const orNull = ({ type, value }: Kind): fc.Arbitrary<string> =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(`NULL::${type}`) }, { weight: 4, arbitrary: value })

function listOf(item: Kind): Kind {
  const type = `${item.type}[]`
  const value = fc.array(orNull(item), { maxLength: 4 }).map((items) => `[${items.join(', ')}]::${type}`)
  return { type, value }
}

function arrayOf(item: Kind, length: number): Kind {
  const type = `${item.type}[${length}]`
  const items = fc.array(orNull(item), { minLength: length, maxLength: length })
  return { type, value: items.map((all) => `[${all.join(', ')}]::${type}`) }
}

function structOf(names: readonly string[], members: readonly Kind[]): Kind {
  const type = `STRUCT(${members.map((member, at) => `${quoted(names[at] ?? '')} ${member.type}`).join(', ')})`
  const value = fc.tuple(...members.map(orNull)).map((all) => {
    return `struct_pack(${all.map((one, at) => `${quoted(names[at] ?? '')} := ${one}`).join(', ')})::${type}`
  })
  return { type, value }
}

function mapOf(key: Kind, item: Kind): Kind {
  const type = `MAP(${key.type}, ${item.type})`
  const entries = fc.uniqueArray(fc.tuple(key.value, orNull(item)), { maxLength: 3, selector: ([one]) => one })
  const value = entries.map((all) => {
    const [keys, items] = [0, 1].map((at) => all.map((entry) => entry[at]).join(', '))
    return `MAP([${keys}]::${key.type}[], [${items}]::${item.type}[])`
  })
  return { type, value }
}

function unionOf(names: readonly string[], members: readonly Kind[]): Kind {
  const type = `UNION(${members.map((member, at) => `${quoted(names[at] ?? '')} ${member.type}`).join(', ')})`
  const value = fc.oneof(
    ...members.map((member, at) =>
      orNull(member).map((one) => `union_value(${quoted(names[at] ?? '')} := ${one})::${type}`),
    ),
  )
  return { type, value }
}

const namesOf = (count: number): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...memberNames), {
    minLength: count,
    maxLength: count,
    selector: (name) => name.toLowerCase(),
  })

const kinds = fc.letrec<{ kind: Kind }>((tie) => {
  const few = fc.array(tie('kind'), { minLength: 1, maxLength: 3 })
  const named = few.chain((members) => namesOf(members.length).map((names) => [names, members] as const))
  return {
    kind: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      tie('kind').map(listOf),
      fc.tuple(tie('kind'), fc.integer({ min: 1, max: 3 })).map((of) => arrayOf(...of)),
      named.map((of) => structOf(...of)),
      fc.tuple(scalar, tie('kind')).map((of) => mapOf(...of)),
      named.map((of) => unionOf(...of)),
    ),
  }
}).kind

/** A statement of up to nine rows of one or two columns. */
const statements = fc.array(kinds, { minLength: 1, maxLength: 2 }).chain((of) =>
  fc
    .tuple(fc.array(fc.tuple(...of.map(orNull)), { minLength: 1, maxLength: 9 }), namesOf(of.length))
    .map(([rows, names]) => {
      return `SELECT * FROM (VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) v(${names.map(quoted).join(', ')})`
    }),
)

describe('answers are the same bytes as ever', () => {
  test.each(Object.entries(values))('%s', async (type, texts) => {
    const rows = [...texts.map(text), 'NULL'].map((one) => `(CAST(${one} AS ${type}))`)
    const sql = `FROM (VALUES ${rows.join(', ')}) v(a)`
    expect(
      await checkSame(`SELECT a, [a] AS l, {'s': a} AS s, union_value(u := a) AS u, MAP([1], [a]) AS m ${sql}`),
    ).not.toBe('{}')
    expect(await checkSame(`SELECT list(a) AS l ${sql}`)).not.toBe('{}')
  })

  test('of any value that holds others', async () => {
    await fc.assert(
      fc.asyncProperty(statements, async (sql) => {
        const answer = await checkSame(sql).catch((error: unknown) => {
          // Different texts can be equal keys.
          fc.pre(!String(error).includes('Map keys must be unique'))
          throw error
        })
        expect(answer).not.toMatch(/^[A-Z]/)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    `SELECT [] AS l, {'a': NULL} AS s, MAP() AS m, NULL AS n, [NULL, [NULL]] AS d`,
    // Texts that lie anywhere in memory.
    `SELECT CASE i % 4 WHEN 0 THEN 'short' WHEN 1 THEN repeat(chr((97 + i % 26)::INT), 5000) WHEN 2 THEN 'a text of some length ' || (i % 13)
      ELSE md5(i::VARCHAR) || md5((i + 1)::VARCHAR) END AS s FROM range(2500) r(i) ORDER BY hash(i)`,
    // Lists out of order, and items that no list has.
    `SELECT list_slice([i, NULL, i * 2, 7], 2, 1 + (i % 4)::INT) AS l, [{'x': [i::VARCHAR], 'a': i}] AS s FROM range(5000) r(i) ORDER BY hash(i)`,
    `SELECT (CASE WHEN i % 3 = 0 THEN NULL ELSE [i, i + 1] END)::BIGINT[2] AS a, (CASE WHEN i % 3 = 0 THEN NULL ELSE [i::VARCHAR || ' and more of a text'] END)::VARCHAR[1] AS t, CASE WHEN i % 5 = 0 THEN NULL ELSE {'b': repeat('é', (i % 30)::INT), 'a': [repeat('x', (i % 50)::INT)]} END AS s
      FROM range(5000) r(i)`,
    `SELECT MAP([i, -i - 1], [i::VARCHAR || ' is a longer text', NULL]) AS m, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 2 = 0 THEN union_value(n := i)::UNION(n BIGINT, t VARCHAR) ELSE
      union_value(t := 'text ' || i)::UNION(n BIGINT, t VARCHAR) END AS u FROM range(5000) r(i)`,
    // Texts that the engine cuts inside a character are no UTF-8.
    String.raw`SELECT regexp_extract(t, '\C') AS a, regexp_extract_all(t, '\C') AS l, t FROM (VALUES ('é'), ('a'), (NULL), ('😀x')) v(t)`,
    // The large one is no part of the answer.
    `SELECT list_slice([170141183460469231731687303715884105727, i], 2, 2) AS h FROM range(3) r(i)`,
    `SELECT CASE WHEN i > 0 THEN {'h': 1::HUGEINT} END AS h FROM range(3) r(i)`,
    `SELECT 1 AS a WHERE false`,
    `SELECT 2 AS "b", 1 AS "a", 3 AS "😀", 4 AS "\uffff", 5 AS "q""q"`,
  ])('of %s', async (sql) => {
    expect(await checkSame(sql)).not.toMatch(/^[A-Z]/)
  })

  test.each([
    `SELECT 1 AS a, ROW(1, 2) AS b`,
    `SELECT struct_pack(__proto__ := 1) AS b`,
    `SELECT [{'a': ROW(1, 2)}] AS b`,
    `SELECT 170141183460469231731687303715884105727 AS h`,
    `SELECT [{'a': (-170141183460469231731687303715884105727)}] AS h`,
    `SELECT union_value(h := 340282366920938463463374607431768211455::UHUGEINT) AS h`,
  ])('which says %s is refused', async (sql) => {
    expect(await checkSame(sql)).toMatch(/^(?:QueryNotAllowed|SqlValue)$/)
  })

  test.each([0, 1, 2047, 2048, 2049, 3000])('cut at %d rows', async (limit) => {
    await checkSame(`SELECT i, [i] AS l FROM range(${Math.min(3000, limit + 1)}) r(i)`, limit)
    // The row behind the last is not looked at.
    const sql = `SELECT CASE WHEN i < ${limit} THEN 1 ELSE 170141183460469231731687303715884105727 END AS h FROM range(${limit + 1}) r(i)`
    expect(await checkSame(sql, limit)).not.toBe('SqlValue')
  })
})

test('rows of large values are read in groups', async () => {
  const value = (at: number): string =>
    `CASE WHEN i % 5 = ${at} THEN NULL ELSE repeat(chr(97 + i::INT), 20 + i::INT) END`
  const holding = `[${value(0)}, NULL, 'a'] AS l, {'a': ${value(1)}, 'b': [${value(2)}]} AS s, map(['k'], [${value(3)}]) AS m`
  const more = `array_value('b', ${value(4)}) AS a, ${value(0)} AS t, ${value(1)}::BLOB AS b, i, [i, NULL] AS n`
  const union = `CASE WHEN i % 2 = 0 THEN union_value(n := ${value(2)}) END AS u`
  await checkSame(`SELECT ${holding}, ${more}, ${union}, repeat('x', 5000000) AS x FROM range(7) r(i)`)
})

test.each(layouts)('%s has room for as many bytes as it is told, and for not one less', async (dataFormat) => {
  const { names, again } = await found(`SELECT i, repeat('é', (i % 9)::INT) AS t, [i] AS l FROM range(3000) r(i)`)
  const options = { dataFormat, names, ascii: false, keyOrder: 'column', limit: 1e9 } as const
  const { bytes } = await rendered(again(), { ...options, resultBytes: 1e9 })
  await renderResult(again(), { ...options, resultBytes: bytes })
  for (const resultBytes of [0, 1, 5000, bytes - 1]) {
    await expect(renderResult(again(), { ...options, resultBytes })).rejects.toMatchObject({ kind: 'ResultTooLarge' })
  }
})
