// What the engine throws, by type: a caller's fault is told as one and costs no process, whatever the engine calls it.
import { describe, expect, test } from 'vitest'
import { breaksEngine, errorOfEngine } from '../../../src/libraries/sql/sql-errors.ts'
import { ask, refusal, schemaOf, systemColumns, useBench, writeSlice } from './helpers.ts'

/** Source: DuckDB 1.5, src/common/exception.cpp, the names of exception types. */
const types = `
  Invalid; Out of Range; Conversion; Unknown Type; Decimal; Mismatch Type; Divide by Zero; Object Size; Invalid type
  Serialization; TransactionContext; Not implemented; Expression; Catalog; Parser; Planner; Scheduler; Executor; Constraint
  Index; Stat; Connection; Syntax; Settings; Binder; Network; Optimizer; NullPointer; IO; INTERRUPT; FATAL; INTERNAL
  Invalid Input; Out of Memory; Permission; Parameter Not Resolved; Parameter Not Allowed; Dependency; HTTP
  Missing Extension; Extension Autoloading; Sequence; Invalid Configuration; Secret; something new`
  .trim()
  .split(/[;\n]\s*/)
/** Of the node, its disk and its settings. */
const own = new Set(['Connection', 'Network', 'IO', 'INTERRUPT', 'FATAL', 'INTERNAL', 'Permission', 'HTTP'])
const place = { sql: undefined, memoryBytes: 1, dataRoots: ['/data'] }

describe('an exception of the type', () => {
  test.each(types)('%s', (type) => {
    for (const raw of [`${type} Error: no`, JSON.stringify({ exception_type: type, exception_message: 'no' })]) {
      const error = errorOfEngine(raw, place)
      expect([type, error.kind === 'Internal']).toEqual([type, own.has(type)])
      expect([type, breaksEngine(error)]).toEqual([type, type === 'FATAL' || type === 'INTERNAL'])
    }
  })
})

describe('a statement that fails in the engine', () => {
  const bench = useBench()
  test.each([
    ['select list_reduce([]::int[], lambda a, b: a + b)', 'SqlValue'],
    ['select count(*) from repeat_row(1, 2, num_rows = -1)', 'SqlValue'],
    ['select list_resize([1], -1)', 'SqlValue'],
    ["select time_bucket(interval '0 days', date '2024-01-01')", 'QueryNotAllowed'],
    ['select map([1, 1], [2, 3])', 'SqlValue'],
    ["select cast('1' as enum('a'))", 'SqlValue'],
    ['select (select x from range(3) r(x))', 'SqlValue'],
    ['select approx_top_k(x, 0) from range(3) r(x)', 'SqlValue'],
    ['select factorial(100)', 'SqlValue'],
  ])('%s is %s', async (sql, kind) => {
    expect((await refusal(ask(bench.engine, sql))).kind).toBe(kind)
    expect(await ask(bench.engine, 'select 1')).toBe('[[1]]')
  })

  test('over the nulls in a list of a row that WHERE leaves out says so, and what to write', async () => {
    const lists = 'CASE WHEN i % 2 = 0 THEN [1e0, NULL] ELSE [i, 2e0] END AS v'
    const file = await writeSlice(bench, 'lists', `SELECT ${systemColumns('i')}, ${lists} FROM range(8) r(i)`)
    const schema = schemaOf({
      name: 'v',
      type: { kind: 'List', itemType: { kind: 'Option', inner: { kind: 'Float64' } } },
    })
    const options = { tables: { t: { files: [file], schema } } }
    const error = await refusal(
      ask(bench.engine, 'select list_distance(v, [1, 2]) from t where offset % 2 = 1', options),
    )
    expect([error.kind, error.message]).toEqual([
      'SqlValue',
      'list_distance: left argument can not contain NULL values',
    ])
    expect(error.details.hint).toContain('left out by WHERE')
    const mended =
      'select list_distance(list_transform(v, lambda x: coalesce(x, 0)), [1, 2]) from t where offset % 2 = 1'
    expect(await ask(bench.engine, mended, options)).toBe('[[0.0],[2.0],[4.0],[6.0]]')
  })
})
