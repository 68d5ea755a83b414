// The kind that is told of a value, against the engine: every listed function over every pair of types has a result whose
// type proves the kind; and what is called exact is the same in whatever order its operands come.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addingAggregates,
  scalarFunctions,
  aggregateFunctions,
  isDenied,
} from '../../../src/libraries/sql/functions.ts'
import { NamedValues, valueClass } from '../../../src/libraries/sql/value-class.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { foldAscii } from '../../../src/libraries/model/names.ts'
import type { JsonObject, JsonValue } from '../../../src/libraries/base/json/value.ts'

const types = `
  BOOLEAN; TINYINT; INTEGER; BIGINT; HUGEINT; UTINYINT; UBIGINT; UHUGEINT; DECIMAL(4,1); DECIMAL(38,0); DECIMAL(38,20)
  VARCHAR; DATE; TIME; TIMESTAMP; TIMESTAMP WITH TIME ZONE; BLOB; DOUBLE; INTERVAL`
  .trim()
  .split(/[;\n]\s*/)
let connection: DuckDBConnection | undefined
const engine = (): DuckDBConnection => must(connection, 'the engine is opened before the first test')

beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  // Columns, because the engine gives constants narrower types.
  await engine().run(`CREATE TABLE held (${types.map((type, column) => `c${column} ${type}`).join(', ')})`)
})
afterAll(() => connection?.closeSync())

/** What a type of the engine proves. */
function proven(type: string): number {
  if (type.endsWith(']')) return Math.max(valueClass.other, proven(type.replace(/\[\d*\]$/, '')))
  if (/^(?:BOOLEAN|HUGEINT|U?(?:TINY|SMALL|BIG)?INT(?:EGER)?|UINTEGER|SQLNULL)$/.test(type)) return valueClass.integer
  if (type.startsWith('DECIMAL')) return valueClass.number
  return /^(?:VARCHAR|BLOB|BIT|DATE|TIME|TIMESTAMP(?:_S|_MS|_NS| WITH TIME ZONE)?|UUID)$/.test(type)
    ? valueClass.other
    : valueClass.blurred
}

/** The tree of a call over columns of these types. */
function callOf(name: string, operands: readonly number[]): JsonObject {
  const cast = (column: number): JsonValue =>
    new Map<string, JsonValue>([
      ['class', 'CAST'],
      ['cast_type', new Map([['id', must(types[column], 'a type for each column').replace(/\(.*/, '')]])],
    ])
  return new Map<string, JsonValue>([
    ['class', 'FUNCTION'],
    ['function_name', name],
    ['children', operands.map(cast)],
  ])
}

function sqlOf(name: string, operands: readonly number[]): string {
  const columns = operands.map((column) => `c${column}`)
  if (/[a-z]/.test(name)) return `"${name}"(${columns.join(', ')})`
  return columns.length === 1 ? `${name} (${columns[0]})` : columns.join(` ${name} `)
}

async function typeOf(expression: string): Promise<string | undefined> {
  try {
    const prepared = await engine().prepare(`SELECT ${expression} FROM held`)
    const type = String(prepared.columnType(0))
    prepared.destroySync()
    return type
  } catch {
    return undefined // there is no such function over these types
  }
}

async function arities(): Promise<Map<string, Set<number>>> {
  const found = new Map<string, Set<number>>()
  const rows = await engine().run('SELECT function_name, len(parameters), varargs IS NOT NULL FROM duckdb_functions()')
  for (const [name, count, isOpen] of await rows.getRows()) {
    const known = found.get(foldAscii(String(name))) ?? new Set()
    found.set(foldAscii(String(name)), known.add(Number(count)))
    if (isOpen === true) known.add(1).add(2)
  }
  return found
}

const all = [...scalarFunctions, ...aggregateFunctions].filter((name) => !isDenied(name))
const columns = types.map((_, column) => column)

test('the type of every listed function over every pair of types proves the kind that is told of it', async () => {
  const values = new NamedValues(new Map(), [])
  const counts = await arities()
  const wrong: string[] = []
  let judged = 0
  for (const name of new Set(all)) {
    // Operators that hold letters are written as functions; those of the windows are judged by their operand.
    const possible = counts.get(name) ?? new Set([1, 2])
    const calls = [
      ...(possible.has(1) ? columns.map((column) => [column]) : []),
      ...(possible.has(2) ? columns.flatMap((first) => columns.map((second) => [first, second])) : []),
    ]
    for (const operands of calls) {
      const told = values.classOf(callOf(name, operands))
      if (told === valueClass.blurred) continue
      const expression = sqlOf(name, operands)
      const type = (await typeOf(expression)) ?? (await typeOf(`${expression} OVER ()`))
      if (type === undefined) continue
      judged++
      if (proven(type) > told) wrong.push(`${name}(${operands.map((column) => types[column]).join(', ')}): ${type}`)
    }
  }
  expect(wrong).toEqual([])
  expect(judged).toBeGreaterThan(2000)
})

describe('aggregates that add', () => {
  const orders = ['i', '-i', 'hash(i)', 'hash(-i)']
  test.each(columns.map((column) => [types[column], column] as const))('%s', async (type, column) => {
    const values = new NamedValues(new Map(), [])
    for (const name of addingAggregates) {
      const told = values.classOf(callOf('greatest', [column]))
      if (told > valueClass.number) continue
      // Between the greatest and the least are small ones, which a double would lose or not, by order.
      const extreme = `['9223372036854775807', '-9223372036854775807', '99', '-98', '1']`
      const from = `SELECT i, TRY_CAST(${extreme}[1 + i % 5] AS ${type}) AS v FROM range(500) r(i)`
      const seen = new Set<string>()
      for (const order of orders) {
        const sql = `SELECT ${name}(v)::VARCHAR FROM (${from} ORDER BY ${order})`
        const result = await engine()
          .run(sql)
          .then(
            (found) => found.getRows(),
            () => undefined,
          ) // none over this type
        if (result !== undefined) seen.add(String(result[0]?.[0]))
      }
      expect([name, type, seen.size]).toEqual([name, type, Math.min(seen.size, 1)])
    }
  })
})
