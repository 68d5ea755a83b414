// The catalogue that PostgreSQL programs read, as data: columns as a PostgreSQL server has them, numbers that stay, rows that fit.

import { describe, expect, it, test } from 'vitest'
import { tableOf } from '../../../src/libraries/pgwire/catalogue/catalogue.ts'
import { columnOf } from '../../../src/libraries/pgwire/catalogue/dataset-columns.ts'
import { functionReads, functionSql } from '../../../src/libraries/pgwire/catalogue/functions.ts'
import { informationRows } from '../../../src/libraries/pgwire/catalogue/information-rows.ts'
import { numbered } from '../../../src/libraries/pgwire/catalogue/numbered.ts'
import { pgRows } from '../../../src/libraries/pgwire/catalogue/pg-rows.ts'
import { mayAsk, withPlainWords } from '../../../src/libraries/pgwire/catalogue/plain-words.ts'
import { relations } from '../../../src/libraries/pgwire/catalogue/relations.ts'
import { pgTypes } from '../../../src/libraries/pgwire/catalogue/types.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { DataType } from '../../../src/libraries/model/schema.ts'
import { hasPostgres, usePostgres } from '../../helpers/postgres.ts'
import { catalogue, content } from './statements/content.ts'

const published = [...relations.values()].filter(({ schema }) => schema !== 'own')

describe.skipIf(!hasPostgres)('as a PostgreSQL server has them', () => {
  const server = usePostgres('select 1')

  it('are relations, their columns and types', () => {
    const rows = server.rows(`
      select c.relname, a.attname, t.typname, b.typname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
      left join pg_type b on b.oid = nullif(t.typbasetype, 0)
      where a.attnum > 0 and n.nspname in ('pg_catalog', 'information_schema') order by c.oid, a.attnum`)
    const theirs = new Map<string, string[]>()
    for (const [relation = '', name = '', type = '', base = ''] of rows) {
      theirs.set(relation, [...(theirs.get(relation) ?? []), `${name} ${engineType(base === '\\N' ? type : base)}`])
    }
    const calls = new Set(['pg_get_keywords'])
    for (const { name, columns } of published.filter((one) => !calls.has(one.name))) {
      const ours = columns.map((column) => `${column.name} ${column.type}`)
      expect.soft([name, ...ours]).toEqual([name, ...(theirs.get(name) ?? [])])
    }
  })

  it('are types', () => {
    const ours = pgTypes.map((one) => {
      const flags = [one.byValue, one.preferred].map((flag) => (flag ? 't' : 'f'))
      const numbers = [one.length, one.element, one.array, one.input.oid, one.receive.oid, one.collation].map(String)
      return [
        String(one.oid),
        one.name,
        ...flags,
        one.category,
        one.kind,
        one.align,
        one.storage,
        one.shown,
        ...numbers,
      ]
    })
    const theirs = server.rows(`
      select oid, typname, typbyval, typispreferred, typcategory, typtype, typalign, typstorage, format_type(oid, null),
      typlen, typelem, typarray, typinput::oid, typreceive::oid, typcollation from pg_type
      where oid in (${pgTypes.map(({ oid }) => oid).join()})`)
    expect(ours.toSorted(byFirst)).toEqual(theirs.toSorted(byFirst))
  })

  it('are words that are no names', () => {
    const ours = [...(pgRows['pg_get_keywords']?.(catalogue) ?? [])].map(({ word, catcode }) => [word, catcode])
    const theirs = server.rows(`select word, catcode from pg_get_keywords() where catcode <> 'U'`)
    expect(ours.map(String).sort()).toEqual(theirs.map(String).sort())
  })
})

function byFirst([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return Number(a) - Number(b)
}

/** The engine's type for one of PostgreSQL, by another table than the one under test: most are text there. */
function engineType(type: string): string {
  if (type.startsWith('_')) return `${engineType(type.slice(1))}[]`
  if (/^(oid|xid|regproc)$/.test(type)) return 'INTEGER'
  const others: Readonly<Record<string, string>> = {
    bool: 'BOOLEAN',
    bytea: 'BLOB',
    float4: 'FLOAT',
    float8: 'DOUBLE',
    int2: 'SMALLINT',
    int2vector: 'SMALLINT[]',
    int4: 'INTEGER',
    int8: 'BIGINT',
    oidvector: 'INTEGER[]',
    timestamptz: 'TIMESTAMP WITH TIME ZONE',
  }
  return others[type] ?? 'VARCHAR'
}

describe('rows', () => {
  it('name columns that there are, and cells are texts', () => {
    for (const { name, columns } of relations.values()) {
      const known = new Set(columns.map((column) => column.name))
      const rows = [...((pgRows[name] ?? informationRows[name])?.(catalogue) ?? [])]
      expect.soft([name, rows.flatMap((row) => Object.keys(row)).filter((one) => !known.has(one))]).toEqual([name, []])
      const cells = [...must(tableOf(name, catalogue), 'a relation').rows].flat()
      expect.soft(cells.every((cell) => cell === null || typeof cell === 'string')).toBe(true)
    }
  })

  it('of a relation that is none are none', () => {
    expect(tableOf('pg_nothing', catalogue)).toBeUndefined()
  })
})

describe('numbers', () => {
  const numbersOf = (of: typeof catalogue): Map<string, number> =>
    new Map([...of.tables, ...of.schemas].map((one) => [`${'account' in one ? one.account : ''}/${one.name}`, one.oid]))

  it('are of names, whatever else there is', () => {
    const more = { ...content.datasets[0], account: 'acme', name: 'more', columns: [] }
    const grown = numbered({ ...content, datasets: [more, ...content.datasets.toReversed()] })
    for (const [name, oid] of numbersOf(catalogue)) expect([name, numbersOf(grown).get(name)]).toEqual([name, oid])
  })

  it('are different for a hundred thousand names, and no numbers of PostgreSQL', () => {
    const datasets = Array.from({ length: 100_000 }, (_, index) => ({
      account: 'acme',
      name: `t${index}`,
      columns: [],
    }))
    const oids = numbered({ ...content, datasets }).tables.map(({ oid }) => oid)
    expect(new Set(oids).size).toBe(oids.length)
    expect(Math.min(...oids.slice(0, 1000))).toBeGreaterThanOrEqual(16_384)
    expect(oids.every((oid) => oid < 2 ** 31)).toBe(true)
  })
})

describe('columns of datasets', () => {
  const utc = { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } as const
  it.each<[DataType, string, number]>([
    [{ kind: 'Bool' }, 'bool', -1],
    [{ kind: 'UInt8' }, 'int2', -1],
    [{ kind: 'UInt32' }, 'int8', -1],
    [{ kind: 'UInt64' }, 'numeric', -1],
    [{ kind: 'Decimal', precision: 10, scale: 2 }, 'numeric', 655_366],
    [utc, 'timestamptz', -1],
    [{ kind: 'Binary' }, 'bytea', -1],
    [{ kind: 'List', itemType: { kind: 'Option', inner: { kind: 'String' } } }, 'jsonb', -1],
    [{ kind: 'List', itemType: { kind: 'List', itemType: { kind: 'Int32' } } }, 'jsonb', -1],
    [{ kind: 'Struct', fields: [] }, 'jsonb', -1],
    [{ kind: 'Timestamp', unit: 'Nanosecond' }, 'text', -1],
  ])('%o is %s', (type, name, modifier) => {
    const found = columnOf({ name: 'x', type: { kind: 'Option', inner: type } })
    expect([found.type.name, found.modifier, found.nullable]).toEqual([name, modifier, true])
    expect(columnOf({ name: 'x', type }).nullable).toBe(false)
  })
})

describe('words', () => {
  it.each([
    [`SELECT a OPERATOR(pg_catalog.~) '^X$' AS B`, `select a ~                      '^X$' as b`],
    [`x::pg_catalog.text, cast(y AS pg_catalog.Oid)`, `x::           text, cast(y as            oid)`],
    [`"Quoted" 'Text' -- Comment`, `"Quoted" 'Text' -- Comment`],
    [`pg_catalog.pg_class as pg_catalog, operator (`, `pg_catalog.pg_class as pg_catalog, operator (`],
  ])('%s is read as the engine takes it, in its place', (sql, plain) => {
    expect(withPlainWords(sql)).toBe(plain)
    expect(plain).toHaveLength(sql.length)
  })

  test.each(['select * from acme.trips', `select users, versions from x where reg = 'a'`])('%s asks nothing', (sql) => {
    expect(mayAsk(sql)).toBe(false)
  })
})

test('each function names relations that there are', () => {
  const names = [...functionReads.values()].flat()
  expect(names.filter((name) => !relations.has(name))).toEqual([])
  expect([...functionReads.keys()].map(functionSql).filter((sql) => /@|undefined/.test(sql))).toEqual([])
})
