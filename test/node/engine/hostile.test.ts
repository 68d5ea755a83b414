// Statements made to break the engine's process: each ends with an error of the caller's, never with one of ours, and
// the process goes on.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { ask, refusal, useBench } from './helpers.ts'

/** What the engine told its operator: a process that was thrown away is told there. */
const told: string[] = []
const note = (...parts: unknown[]): void => void told.push(JSON.stringify(parts))
const bench = useBench({ logger: { ...silentLogger, warn: note, error: note } })
beforeEach(() => void told.splice(0))

/** What a statement ends with: its rows, or the kind of the refusal. */
async function end(sql: string): Promise<string> {
  try {
    return await ask(bench.engine, sql)
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

const callers = new Set(
  'SqlSyntax SqlValue SqlUnknownName QueryNotAllowed DatasetNotFound ResultTooLarge InvalidRequest'.split(' '),
)

describe('numbers beyond a double', () => {
  test.each([
    ['SELECT 1e309', 7],
    ['SELECT -1e309', 8],
    ['SELECT 1.e999, 2', 7],
    [`SELECT 1${'0'.repeat(400)}`, 7],
    ['SELECT 1 FROM range(1e400)', 20],
    ['SELECT 1 LIMIT 1e400', 15],
    ['SELECT 1 LIMIT 1e400%', 15],
    ['SELECT 1 FROM range(3) TABLESAMPLE 1e400%', 35],
    ["SELECT 'é', [1, 1e999_9]", 17],
    ['PIVOT (SELECT 1 AS a) ON a IN (1e999) USING count(*)', 31],
    ['SELECT 1::DECIMAL(1e400)', 18],
    ['WITH a AS (SELECT 1E+400) SELECT 1', 18],
  ])('%s is the caller’s, at byte %s', async (sql, offset) => {
    const error = await refusal(ask(bench.engine, sql))
    expect([error.kind, error.details.position?.offset]).toEqual(['SqlValue', offset])
  })

  test('what only looks like one is left alone', async () => {
    expect(await end('SELECT \'1e309\', 1e308, \'inf\'::DOUBLE IS NULL, "1e309" FROM (SELECT 7 AS "1e309")')).toBe(
      '[["1e309",1e+308,false,7]]',
    )
  })
})

describe('deep JSON', () => {
  const deep = (open: string, close: string, levels: number): string =>
    `(repeat('${open}', ${levels}) || '1' || repeat('${close}', ${levels}))`
  const forms = [
    (levels: number) => deep('[', ']', levels),
    (levels: number) => deep('{"a":', '}', levels),
    (levels: number) => deep('[{"]":', '}]', levels),
    (levels: number) => `repeat('[', ${levels})`,
  ]
  const calls = [
    'json_structure(?)',
    'JSON_Structure((?)::JSON)',
    'main.json_structure(?)',
    'json_contains(?, ?)',
    "json_contains(?, '2')",
    "json_contains('2', ?)",
    "json_merge_patch('{}', ?)",
    "json_merge_patch(?, '{}', '{}')",
    'json_group_structure(?)',
    'json_group_structure((?)::JSON)',
    '(?).json_structure()',
    "list_transform(['x'], lambda x: json_structure(?))",
    '(SELECT json_structure(x) FROM (SELECT ? AS x))',
    '(SELECT x.json_structure() FROM (SELECT ? AS x))',
    '(SELECT t.x.json_structure() FROM (SELECT ? AS x) t)',
    "json_transform('[1]', ?)",
    "json_transform_strict('[1]', (?)::JSON)",
    "from_json('[1]', ?)",
    "(SELECT x.from_json(?) FROM (SELECT '[1]' AS x))",
    '(?)::JSON::VARIANT::VARCHAR',
    'TRY_CAST((?)::JSON AS main.variant)::VARCHAR',
    '(?)::JSON::"VARIANT"::VARCHAR',
    'variant_typeof((?)::JSON)',
  ]
  test.each(calls)(
    '%s cannot reach the end of the stack',
    async (call) => {
      for (const form of forms) {
        const sql = `SELECT ${call.replaceAll('?', form(200_000))}`
        expect.soft(callers.has(await end(sql)), sql).toBe(true)
      }
    },
    60_000,
  )

  test('JSON of ordinary depth is read as ever', async () => {
    for (const [sql, data] of [
      ['SELECT json_structure(\'{"a": [1, {"]": "}\\"["}]}\')', '[["{\\"a\\":[\\"JSON\\"]}"]]'],
      [`SELECT length(json_structure(${deep('[', ']', 100)}))`, '[[209]]'],
      [`SELECT json_structure(${deep('[', ']', 101)})`, 'SqlValue'],
      ["SELECT json_structure(NULL), json_structure('\"[\"'), json_structure('[[]')", 'SqlValue'],
      ["SELECT json_contains('[1, 2]', '2'), json_contains('{\"a\": 1}'::JSON, 1::JSON)", '[[true,true]]'],
      ['SELECT json_merge_patch(\'{"a": 1}\', \'{"b": [2]}\', \'{"a": null}\')', '[["{\\"b\\":[2]}"]]'],
      [
        'SELECT json_group_structure(x) FROM (VALUES (\'{"a":1}\'::JSON), (\'{"b":2}\')) v(x)',
        '[["{\\"a\\":\\"UBIGINT\\",\\"b\\":\\"UBIGINT\\"}"]]',
      ],
      [
        'SELECT from_json(\'{"a": 1}\', \'{"a": "INTEGER"}\').a, json_transform(\'[1]\', \'["INT"]\'::JSON)',
        '[[1,[1]]]',
      ],
      ["SELECT json_structure(COLUMNS(*)) FROM (SELECT '[1]' AS x)", 'QueryNotAllowed'],
      ["SELECT json_structure((SELECT * FROM (SELECT '[1]' AS x)))", '[["[\\"UBIGINT\\"]"]]'],
      ["SELECT x FROM (SELECT '[1]' AS x) GROUP BY x, json_structure(x) ORDER BY json_structure(x)", '[["[1]"]]'],
    ] as const) {
      expect.soft(await end(sql), sql).toBe(data)
    }
    const error = await refusal(ask(bench.engine, `SELECT json_structure(${deep('[', ']', 101)})`))
    expect(error.message).toBe('A function was given JSON that is malformed or nests deeper than 100 levels.')
  })
})

test('columns keep the names that the caller’s text gives them', async () => {
  const sql = `SELECT json_structure('[1]'), 1e3, length(json_structure(x)) + 1. FROM (SELECT '[2]' AS x)`
  const answer = await ask(bench.engine, sql, { dataFormat: 'JsonAos' })
  expect(Object.keys(JSON.parse(answer)[0])).toEqual([
    '(length(json_structure(x)) + 1)',
    '1000.0',
    "json_structure('[1]')",
  ])
})

describe('any text', () => {
  test('repeats of every small thing are the caller’s', async () => {
    const pieces = [
      ...'( [ { (( select (select - -_ *_ +_ not_ case_when_ ::int [] .a ,_ b, x. \' " $$ /* --\n @ ~_ 1_ 1e . 1. ;'.split(
        ' ',
      ),
      ...'lambda_x:_ x_->_ in_( exists_( array[ {a:_ map_{ list_value( max( offset_ é ::int[] \u2028 \ufeff ?'.split(
        ' ',
      ),
      ...'$1 #1 interval_ over_( _from_( try( with_a_as_( ) _union_select_1 '.trim().split(' '),
    ].map((piece) => piece.replaceAll('_', ' '))
    for (const piece of pieces) {
      for (const head of ['select ', 'select 1 ']) {
        const sql = head + piece.repeat(Math.floor(60_000 / piece.length))
        const kind = await end(sql)
        // Tens of thousands of columns take their time, on a busy machine all that a statement has.
        const isSlow = kind === 'QueryTimeout'
        expect.soft(isSlow || callers.has(kind) || kind.startsWith('['), `${head}${piece} … ${kind}`).toBe(true)
      }
    }
    expect(told).toEqual([])
  })

  test('random tokens and bytes are the caller’s', async () => {
    const word = fc.constantFrom(
      ...'select from where group by order limit offset with as recursive union all distinct on values case when then'.split(
        ' ',
      ),
      ...'end cast null true 1 1e3 1. 0x1 \'a\' "b" * ( ) [ ] { } , . ; :: -> = < > + - / % || @ ! ~ not in is like'.split(
        ' ',
      ),
      ...'between exists lambda x: pivot unpivot using sample tablesample window over filter range(3) sum(1) $1 ?'.split(
        ' ',
      ),
    )
    const text = fc.oneof(
      fc.array(word, { maxLength: 30 }).map((words) => `select ${words.join(' ')}`),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.tuple(fc.string({ unit: 'binary', maxLength: 20 })).map(([inner]) => `select '${inner}', ${inner}`),
    )
    await fc.assert(
      fc.asyncProperty(text, async (sql) => {
        const kind = await end(sql)
        expect(callers.has(kind) || kind === 'DuplicateColumn' || kind.startsWith('['), `${sql}: ${kind}`).toBe(true)
      }),
      { numRuns: 400 },
    )
    expect(told).toEqual([])
  })
})
