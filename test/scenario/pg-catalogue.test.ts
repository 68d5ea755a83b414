// What PostgreSQL programs ask of the catalogue, through the engine: over two accounts with three datasets, beside a PostgreSQL
// server with the same tables where there is one; and over a node, whose caller is told of what he may read.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import type { Parameter } from '../../src/libraries/model/parameters.ts'
import { tableOf } from '../../src/libraries/pgwire/catalogue/catalogue.ts'
import { bindQuery } from '../../src/node/answers/bind.ts'
import type { Caller } from '../../src/node/answers/pin.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import type { Asking, Listing } from '../../src/node/engine/messages.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { openReadOnlyDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { defaultLimits } from '../helpers/default-limits.ts'
import { liveNode } from '../helpers/live-node.ts'
import { hasPostgres, usePostgres } from '../helpers/postgres.ts'
import { differences } from '../libraries/pgwire/differences.ts'
import { programStatements } from '../libraries/pgwire/program-statements.ts'
import { catalogue, content, numbersSql, over, ownNumbers, setup } from '../libraries/pgwire/statements/content.ts'
import { escapeAttempts, hiddenPlaces } from '../node/engine/escape-attempts.ts'
import { asking, listOf, useBench } from '../node/engine/helpers.ts'

const bench = useBench()
const by: Asking = { ...asking(), speaks: 'postgres' }

interface Found {
  readonly names: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

const jobOf = {
  tables: [],
  reproducible: false,
  dataFormat: 'JsonAoa',
  wantSchema: true,
  keyOrder: 'column',
  ascii: false,
  skip: 0,
  limit: 5000,
} as const

async function ask(sql: string, parameters: readonly Parameter[] = []): Promise<Found> {
  const analysis = await bench.engine.analyze(sql, by)
  const listings = analysis.listings.map((name): Listing => {
    const { columns, rows } = must(tableOf(name, catalogue), 'a relation')
    return { name, columns, rows: JSON.stringify([...rows]), tells: [] }
  })
  const answer = await bench.engine.run({ ...jobOf, analysis, listings, parameters }, by)
  return {
    names: must(answer.schema, 'a schema was asked for').fields.map(({ name }) => name),
    rows: JSON.parse(Buffer.from(answer.data).toString()),
  }
}

/** As psql prints it. */
function cellText(value: unknown): string {
  if (value === null) return String.raw`\N`
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (Array.isArray(value)) return `{${value.map(cellText).join()}}`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Rows in an order of their own, with what a number stands for in its place. */
function compared(rows: readonly (readonly string[])[], numbers: ReadonlyMap<string, string>): string[] {
  const named = new Map([...numbers].map(([name, oid]) => [oid, name]))
  return rows.map((row) => row.map((cell) => named.get(cell) ?? cell).join(' | ')).sort()
}

describe('each statement of a program', () => {
  const server = usePostgres(setup)
  let numbers: ReadonlyMap<string, string> = new Map()
  beforeAll(() => {
    if (hasPostgres) numbers = new Map(server.rows(numbersSql).map(([name = '', oid = '']) => [name, oid]))
  })

  it.each(programStatements)('%s is answered', async (_, sql) => {
    expect((await ask(over(sql, ownNumbers))).names.length).toBeGreaterThan(0)
  })

  /** What is found here, and by the server. */
  async function both(sql: string): Promise<{ readonly ours: unknown; readonly theirs: unknown }> {
    const { names, rows } = await ask(over(sql, ownNumbers))
    const texts = rows.map((row) => row.map(cellText))
    const asked = over(sql, numbers)
    return {
      ours: { names, rows: compared(texts, ownNumbers) },
      theirs: { names: server.names(asked), rows: compared(server.rows(asked), numbers) },
    }
  }

  const alike = programStatements.filter(([name]) => !differences.has(name))
  it.skipIf(!hasPostgres).each(alike)('%s has the answer of PostgreSQL', async (_, sql) => {
    const { ours, theirs } = await both(sql)
    expect(ours).toEqual(theirs)
  })

  const others = programStatements.filter(([name]) => differences.has(name))
  it.skipIf(!hasPostgres).each(others)('%s has another answer', async (_, sql) => {
    const { ours, theirs } = await both(sql)
    expect(ours).not.toEqual(theirs)
  })

  it('differs only where it is said', () => {
    const names = new Set(programStatements.map(([name]) => name))
    expect([...differences.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(programStatements.length).toBeGreaterThan(150)
  })
})

describe('a statement', () => {
  it.each<[sql: string, rows: unknown[][]]>([
    [
      `select 'acme.trips'::regclass, '"Zoo"."blank"'::regclass::text, 'int4[]'::regtype`,
      [['acme.trips', '"Zoo".blank', 'integer[]']],
    ],
    [
      `select relname from pg_class where oid = 'trips'::regclass or relname ~ '^TRI' or relname ~* '^TRIP' order by 1`,
      [['trips']],
    ],
    [
      `select attname from pg_attribute where attrelid = 'acme.trips'::regclass and attnum = any('{2,3}')`,
      [['city'], ['amount']],
    ],
    [
      `select current_database(), current_user, session_user, current_schema, (current_schemas(true))[1]`,
      [['postgres', 'reader', 'reader', 'acme', 'pg_catalog']],
    ],
    [`select typreceive, typname from pg_type where typreceive::text = 'int8recv'`, [['int8recv', 'int8']]],
    [String.raw`select '{"a b",c,"x\"y","",NULL}'::text[] from pg_am`, [[['a b', 'c', 'x"y', '', null]]]],
    [
      String.raw`select substring('a=12' from 'a=([0-9]+)'), substring('ab' from 'b+'), substring('a' from 'b'), substring('abc', 2) from pg_am`,
      [['12', 'b', null, 'bc']],
    ],
    [`select at.attname from pg_attribute at where at.attnum = 1 and at.attrelid = 'acme.trips'::regclass`, [['op']]],
    ['select count(*) from pg_available_extensions() e, aclexplode(null)', [[0]]],
    ['select nullif(n, 2) from generate_series(1, 3) as n, pg_am order by 1 desc', [[null], [3], [1]]],
    [`select to_regclass('nix') is null, to_regtype('integer')::regtype::text`, [[true, 'integer']]],
    [`select format('%I.%s', 'odd-name', 1), quote_ident('select') from pg_am`, [['"odd-name".1', '"select"']]],
    [
      `select n, (information_schema._pg_expandarray(array[7, 8])).x from generate_series(1, 1) as n`,
      [
        [1, 7],
        [1, 8],
      ],
    ],
    [
      `select has_table_privilege('acme.trips', 'SELECT'), has_table_privilege('x', 'acme.trips', 'insert, update')`,
      [[true, false]],
    ],
  ])('%s', async (sql, rows) => expect((await ask(sql)).rows).toEqual(rows))

  it('takes values of parameters, lists as text', async () => {
    const sql = 'select typname from pg_type where oid = any($1::oid[]) and typname <> $2 order by oid'
    const parameters = [
      { name: '1', type: 'VARCHAR', text: '{25,1700,16}' },
      { name: '2', type: 'VARCHAR', text: 'bool' },
    ] as const
    expect((await ask(sql, parameters)).rows).toEqual([['text'], ['numeric']])
  })

  it.each([
    [`select 'nix'::regclass`, 'SqlValue', 'relation "nix" does not exist'],
    [`select current_setting('nix')`, 'SqlValue', 'unrecognized configuration parameter "nix"'],
    [`select format('%L', relname) from pg_class`, 'QueryNotAllowed', 'format()'],
    [`select '{{a},{b}}'::text[] from pg_class`, 'QueryNotAllowed', 'an array as text'],
    ['select pg_read_file(relname) from pg_class', 'QueryNotAllowed', 'pg_read_file'],
    [`select set_config('a', 'b', false) from pg_class`, 'SqlUnknownName', 'set_config'],
    ['select * from pg_catalog.pg_authid', 'DatasetNotFound', 'pg_authid'],
    ['select * from pg_catalog.own_names', 'DatasetNotFound', 'own_names'],
    ['select * from listing_of_caller.pg_class', 'DatasetNotFound', 'listing_of_caller'],
    ['select duckdb_settings() from pg_class', 'SqlUnknownName', 'duckdb_settings'],
    ['with pg_class as (select 1 as x) select relname from pg_class', 'SqlUnknownName', 'relname'],
  ])('%s is refused', async (sql, kind, message) => {
    const error = await refused(async () => await ask(sql))
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(message)])
  })

  it.each([
    `select city from acme.trips where city ~ 'O.*'`,
    'select user, version from acme.trips',
    'SELECT A FROM x.y',
  ])('%s stays as it is, whoever asks', async (sql) => {
    const { speaks, ...analysis } = await bench.engine.analyze(sql, by)
    expect([speaks, analysis]).toEqual(['postgres', await bench.engine.analyze(sql, asking())])
  })

  it('is of the catalogue for its caller alone, however often it was asked', async () => {
    for (const sql of ['select relname from pg_class', 'select version()', `select 'pg_class'::regclass`]) {
      for (const _ of [1, 2]) {
        expect((await bench.engine.analyze(sql, by)).catalogue).toBeDefined()
        const otherwise = await bench.engine.analyze(sql, asking()).catch((error: unknown) => error)
        expect(otherwise).not.toHaveProperty('catalogue.construct')
      }
    }
  })
})

describe('no way out of the sandbox', () => {
  /** Texts that would be of the engine, the process or the machine. */
  const traces = /duckdb|\/tmp|\/etc|root:|memory_limit/i

  it.each([
    ...escapeAttempts,
    ...hiddenPlaces.map((sql) => [sql, sql.replaceAll(/\bF\b/g, "getenv('HOME')")] as const),
  ])('is %s', async (_, attempt) => {
    const beside = /^(select|with)/i.test(attempt) ? [`select * from (${attempt}) as e, pg_am`] : []
    for (const sql of [attempt, ...beside]) expect(await outcome(sql)).not.toMatch(traces)
  })

  /** The answer; the kind of a refusal. */
  async function outcome(sql: string): Promise<string> {
    try {
      // Names of datasets mean nothing here.
      const { tables } = await bench.engine.analyze(sql, by)
      return tables.length > 0 ? 'DatasetNotFound' : JSON.stringify(await ask(sql))
    } catch (error) {
      if (error instanceof NodeError && error.kind !== 'Internal') return error.kind
      throw error
    }
  }
})

async function refused(ask: () => Promise<unknown>): Promise<NodeError> {
  try {
    await ask()
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
  throw new Error('it was answered')
}

describe('over a node', async () => {
  const live = await liveNode()
  const field = (name: string, type: string): object => ({ name, type })
  const price = field('price', 'Decimal(10,2)?')
  await live.call('/acme/trips', { method: 'PUT', json: { schema: { fields: [field('city', 'String'), price] } } })
  await live.call('/ACME/odd-name', { method: 'PUT', json: {} })
  await live.call('/Zoo/secret', { method: 'PUT', json: { visibility: 'private' } })
  const store = await openReadOnlyDirectoryStore(join(live.dataDir, 'store'))
  const announcements = openLocalAnnouncements(silentLogger)
  const catalog = new Catalog({ store, announcements, logger: silentLogger })
  afterAll(() => catalog.close())

  async function tell(sql: string, listingRows = 1000): Promise<Found['rows']> {
    const deps = {
      catalog,
      engine: bench.engine,
      files: unused,
      objects: unused,
      limits: { ...defaultLimits(), listingRows },
    }
    const caller: Caller = {
      key: ['test'],
      mayRead: ({ visibility }) => visibility === 'public',
      signal: new AbortController().signal,
      room: { take: () => {} },
      connection: content.connection,
    }
    const bound = await bindQuery(deps, { query: sql, datasets: undefined, skip: 0, limit: undefined }, caller)
    const tables = bound.bindings.map(({ parts, view }) => {
      return { parts, dataset: view.id, files: listOf([]), schema: view.schema }
    })
    const { analysis, listings } = bound
    const answer = await bench.engine.run({ ...jobOf, tables, analysis, listings }, by)
    return JSON.parse(Buffer.from(answer.data).toString())
  }

  it('are the columns of what the caller may read', async () => {
    const sql = `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull from pg_class c
      join pg_attribute a on a.attrelid = c.oid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname !~ '^(pg_|information_schema)' and a.attnum > 3 order by 1, a.attnum`
    expect(await tell(sql)).toEqual([
      ['odd-name', 'event_time', 'timestamp with time zone', true],
      ['trips', 'event_time', 'timestamp with time zone', true],
      ['trips', 'city', 'text', true],
      ['trips', 'price', 'numeric(10,2)', false],
    ])
    expect(await tell('select nspname from pg_namespace order by 1')).toEqual([
      ['acme'],
      ['information_schema'],
      ['pg_catalog'],
    ])
    expect(await tell('select table_schema, table_name from information_schema.tables order by 2')).toEqual([
      ['acme', 'odd-name'],
      ['acme', 'trips'],
    ])
  })

  it('are there beside the rows of a dataset', async () => {
    const sql = `select current_database(), count(*), 'acme.trips'::regclass::text from acme.trips t
      left join pg_class c on c.relname = t.city`
    expect(await tell(sql)).toEqual([['postgres', 0, 'acme.trips']])
  })

  it('are so many rows and no more', async () => {
    expect(await tell('select count(*) from pg_attribute', 10)).toEqual([[10]])
    expect((await refused(async () => await tell('select 1 from pg_attribute', 9))).kind).toBe('ResultTooLarge')
  })

  it.each([
    'select * from pg_catalog.pg_class',
    'select * from pg_class',
    'select version()',
    `select 'acme.trips'::regclass`,
    'select * from information_schema.schemata',
    'select current_user',
  ])('%s is for PostgreSQL programs alone', async (sql) => {
    expect((await live.query(sql)).refusal).toMatch(/^4\d\d (QueryNotAllowed|DatasetNotFound|Sql\w+)$/)
  })

  it('answers /query as before', async () => {
    const answer = await live.query('select * from information_schema.columns where table_name = $1', {
      parameters: ['trips'],
      limit: 5,
    })
    const types = ['BIGINT', 'INTEGER', 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMP WITH TIME ZONE', 'VARCHAR']
    expect((answer.at('output.data') as unknown[][]).map((row) => [row.length, row[7]])).toEqual(
      types.map((type) => [8, type]),
    )
  })
})

/** A statement of the catalogue opens no files. */
const unused = new Proxy({} as never, {
  get: () => {
    throw new Error('no files are wanted')
  },
})
