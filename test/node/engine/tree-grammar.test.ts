// The grammar of what the gate lets through, against the engine's own trees: a wide corpus passes, and every part of
// every tree that is changed into something that nobody permitted is refused.
import { describe, expect, test } from 'vitest'
import { gateStatement } from '../../../src/libraries/sql/gate.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../../../src/libraries/base/json/value.ts'
import { hiddenPlaces } from './escape-attempts.ts'
import { topNodeOf, usePlainEngine } from './helpers.ts'
import { statements } from './statements.ts'

/** Parameters stand for constants: a text that is printed holds none. */
const asked = ['select a, $1 from t where b = $2 limit $1', 'select (select $name), sum(x + $other) from range($n)']

const scalar = usePlainEngine()
const nodeOf = async (sql: string): Promise<JsonObject> => await topNodeOf(scalar, sql)

function verdict(node: JsonObject): string {
  try {
    gateStatement(node, (offset) => ({ offset, line: 1, column: 1 }))
    return 'passes'
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

/** Flags whose both values a caller may write. */
const freeFlags = new Set(
  (
    'FUNCTION.distinct FUNCTION.is_operator WINDOW.distinct WINDOW.ignore_nulls CAST.try_cast STAR.columns ' +
    'SET_OPERATION_NODE.setop_all RECURSIVE_CTE_NODE.union_all PIVOT.include_nulls sample.is_percentage ' +
    'value.is_null value.value'
  ).split(' '),
)

/** Members that hold names, which may be any text. */
const freeTexts = new Set(
  (
    'alias aliases catalog catalog_name collation column column_name_alias column_names cte_name exclude_list first ' +
    'groups identifier key name relation_name schema schema_name table table_name unpivot_names using_columns'
  ).split(' '),
)

interface Change {
  /** `FUNCTION.export_state := true` */
  readonly what: string
  /** Makes the change; returns what undoes it. */
  readonly make: () => () => void
}

/** Every way in which this corpus can be changed into what nobody permitted. */
function* changesOf(value: JsonValue, under: string): Generator<Change> {
  if (Array.isArray(value)) for (const item of value) yield* changesOf(item, under)
  if (!(value instanceof Map)) return
  const kind = [value.get('class'), value.get('type')].find((text) => typeof text === 'string') ?? under
  const label = under === 'orders' ? under : value.has('is_null') ? 'value' : String(kind)
  yield change(value, label, 'novel', false)
  for (const [name, member] of value) {
    const place = `${label}.${name}`
    if (member instanceof JsonNumber && place !== 'value.value') yield change(value, label, name, 'text')
    else if (place === 'value.value') yield change(value, label, name, new Map([['novel', true]]))
    else yield change(value, label, name, new JsonNumber('7'))
    if (typeof member === 'boolean' && !freeFlags.has(place)) yield change(value, label, name, !member)
    if (
      typeof member === 'string' &&
      !(freeTexts.has(name) || name === 'function_name' || place === 'value.value' || place === 'rename_list.value')
    ) {
      yield change(value, label, name, 'NOVEL')
    }
    if (member === null || (member instanceof Map && place !== 'value.value')) {
      yield change(value, label, name, true)
      yield change(value, label, name, new Map([['novel', true]]))
    }
    if (Array.isArray(member)) {
      yield change(value, label, name, [...member, true])
      yield change(value, label, name, [...member, new Map([['novel', true]])])
    }
    yield* changesOf(member, name)
  }
}

function change(node: JsonObject, label: string, name: string, to: JsonValue): Change {
  const shown = to instanceof Map ? 'object' : Array.isArray(to) ? 'list' : to instanceof JsonNumber ? 'number' : to
  return {
    what: `${label}.${name} := ${String(shown)}`,
    make: () => {
      const before = [...node]
      node.set(name, to)
      return () => {
        node.clear()
        for (const [key, value] of before) node.set(key, value)
      }
    },
  }
}

describe('the grammar', () => {
  test('lets a wide corpus of honest statements through', async () => {
    const refused: string[] = []
    for (const sql of [...statements, ...asked]) if (verdict(await nodeOf(sql)) !== 'passes') refused.push(sql)
    expect(refused).toEqual([])
  })

  test('refuses every member, flag and value that nobody permitted', async () => {
    const seen = new Set<string>()
    const passed: string[] = []
    for (const sql of [...statements, ...asked]) {
      const node = await nodeOf(sql)
      // All are listed before the first is made.
      const changes = Array.from(changesOf(node, 'statement'))
      for (const { what, make } of changes) {
        if (seen.has(what)) continue
        seen.add(what)
        const undo = make()
        if (verdict(node) !== 'QueryNotAllowed') passed.push(`${what} in ${sql}`)
        undo()
      }
    }
    expect(passed).toEqual([])
    expect(seen.size).toBeGreaterThan(600)
    for (const flag of ['FUNCTION.export_state := true', 'JOIN.delim_flipped := true']) expect(seen).toContain(flag)
  })

  test('types that the catalogue can resolve are those that somebody looked at', async () => {
    const types = "SELECT string_agg(DISTINCT logical_type, ' ' ORDER BY logical_type) FROM duckdb_types()"
    expect(await scalar(types)).toBe(
      'ARRAY BIGINT BIGNUM BIT BLOB BOOLEAN DATE DECIMAL DOUBLE ENUM FLOAT GEOMETRY HUGEINT INTEGER INTERVAL LIST MAP ' +
        'NULL SMALLINT STRUCT TIME TIME WITH TIME ZONE TIMESTAMP TIMESTAMP WITH TIME ZONE TIMESTAMP_MS TIMESTAMP_NS ' +
        'TIMESTAMP_S TIME_NS TINYINT TYPE UBIGINT UHUGEINT UINTEGER UNION USMALLINT UTINYINT UUID VARCHAR VARIANT',
    )
  })
})

describe('the raw state of an aggregate', () => {
  const states = [
    'sum(1) EXPORT_STATE',
    '(sum(1) EXPORT_STATE)::BLOB',
    '(first(1::HUGEINT) FILTER (false) EXPORT_STATE)::BLOB::VARCHAR',
    'TRY_CAST(max(DISTINCT 1 ORDER BY 1) EXPORT_STATE AS BLOB)',
    '[sum(1) EXPORT_STATE]',
    "{'a': [(list(1) EXPORT_STATE)::BLOB]}",
    'hex((string_agg(1::VARCHAR) EXPORT_STATE)::BLOB)',
    'main.sum(1) EXPORT_STATE',
    '(SELECT (sum(1) EXPORT_STATE)::BLOB)',
  ]
  test.each(states)('%s is refused by name, wherever it stands', async (state) => {
    const places = [...hiddenPlaces.filter((place) => !/main\.F|\.concat/.test(place)), 'SELECT (SELECT F) FROM t']
    for (const place of places) {
      const node = await nodeOf(place.replace(/\bF\b/g, `(${state})`))
      expect
        .soft(() => gateStatement(node, (offset) => ({ offset, line: 1, column: 1 })), place)
        .toThrow('EXPORT_STATE')
    }
  })

  test('it is refused inside a window too', async () => {
    const node = await nodeOf('SELECT sum(sum(1)) OVER (ORDER BY (max(1) EXPORT_STATE)::BLOB) FROM t')
    expect(() => gateStatement(node, (offset) => ({ offset, line: 1, column: 1 }))).toThrow('EXPORT_STATE')
  })
})
