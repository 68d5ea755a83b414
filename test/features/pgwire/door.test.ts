// The door of PostgreSQL's protocol, asked by node-postgres, and byte by byte where a driver would not: queries, prepared statements,
// portals, transactions, settings, COPY, and proofs of what was told.

import { describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected, errorOf } from './pg.ts'
import * as raw from './raw-client.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const days = Array.from({ length: 100 }, (_, i) => ({ n: i + 1, name: i % 10 === 0 ? null : `n ${i + 1}` }))
await live.ingest('demo/days', days, '?create=true')

const client = await connected({ port })
const ask = async (sql: string, values?: readonly unknown[]): Promise<(readonly unknown[])[]> => {
  const { rows } = await client.query({ text: sql, rowMode: 'array', ...(values && { values }) })
  // `as`: rows are arrays, as was asked for.
  return rows as unknown as (readonly unknown[])[]
}
const session = async (): Promise<raw.RawClient> => await raw.RawClient.session(port)

describe('simple queries', () => {
  test('rows, their types and how many they are', async () => {
    const { rows, fields, command, rowCount } = await client.query(`
      select 1::tinyint as a, 2::integer as b, 3::bigint as c, 1.5::double as d, 2.50::decimal(9, 2) as e, 'x' as f, true as g,
        date '2026-03-01' as h, timestamp '2026-03-01 10:00:00.5' as i, null as j, '\\xFF'::blob as k, 9::uhugeint as l`)
    expect([command, rowCount]).toEqual(['SELECT', 1])
    expect(fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`)).toEqual([
      'a 21',
      'b 23',
      'c 20',
      'd 701',
      'e 1700',
      'f 25',
      'g 16',
      'h 1082',
      'i 1114',
      'j 23',
      'k 17',
      'l 1700',
    ])
    const { h, i, k, ...rest } = rows[0] ?? {}
    expect(rest).toEqual({ a: 1, b: 2, c: '3', d: 1.5, e: '2.50', f: 'x', g: true, j: null, l: '9' })
    expect([h instanceof Date, i instanceof Date, k]).toEqual([true, true, Buffer.from([255])])
  })

  test('the catalogue says of a column what its rows have', async () => {
    const types =
      'Bool? Int8? UInt16? UInt64? Float32? Decimal(9,2)? String? Binary? Date? Timestamp(Microsecond)? List(Int64?)?'
    const columns = types.split(' ').map((type, at) => ({ name: `c${at}`, type }))
    const made = await live.call('/demo/typed', { method: 'PUT', json: { schema: { fields: columns } } })
    // A list that has no rows yet has no type of the engine.
    const row = { c0: true, c9: '2026-03-01T10:00:00.000001Z', c10: [1, null] }
    expect([made.status, (await live.ingest('demo/typed', [row])).status]).toEqual([201, 200])
    const { fields } = await client.query('select * from demo.typed')
    const told = await ask(
      "select attname, atttypid, atttypmod from pg_attribute where attrelid = 'demo.typed'::regclass and attnum > 0 order by attnum",
    )
    expect(told.map((row) => row.map(String))).toEqual(
      fields.map(({ name, dataTypeID, dataTypeModifier }) => [name, dataTypeID, dataTypeModifier].map(String)),
    )
    expect(told).toHaveLength(4 + columns.length)
  })

  test('several in one text: each is answered, up to the one that fails', async () => {
    const one = await session()
    expect(await one.ask(raw.query('select 1; ; select 2'))).toEqual([
      'T',
      'D 1',
      'C SELECT 1',
      'T',
      'D 2',
      'C SELECT 1',
      'Z I',
    ])
    expect(await one.ask(raw.query('select 1; select nothing; select 2'))).toEqual([
      'T',
      'D 1',
      'C SELECT 1',
      'E 42703',
      'Z I',
    ])
    expect(await one.ask(raw.query(' ; '))).toEqual(['I', 'Z I'])
    expect(await one.ask(raw.query(''))).toEqual(['I', 'Z I'])
    one.end()
  })

  test.each<[sql: string, state: string]>([
    ['selec 1', '42601'],
    ['select nothing from "demo/days"', '42703'],
    ['select nothing(1)', '42883'],
    ['select * from "demo/nothing"', '42P01'],
    ["select 'x'::int", '22P02'],
    ['select 2147483647::int + 1::int', '22003'],
    ['insert into "demo/days" values (1)', '25006'],
    ['create table t (a int)', '25006'],
    ['drop table "demo/days"', '25006'],
    ['update "demo/days" set n = 1', '25006'],
    ['copy "demo/days" from stdin', '25006'],
    ["copy (select 1) to '/tmp/x'", '42601'],
    ['with a as (select 1) insert into t select * from a', '0A000'],
    ["select * from read_csv('/etc/passwd')", '0A000'],
    ["attach '/tmp/x'", '0A000'],
    ['pragma version', '0A000'],
    ['set role admin', '0A000'],
    ['listen a', '0A000'],
    ['set work_mem = 1', '42704'],
    ["set timezone = 'Europe/Berlin'", '22023'],
    ['show nothing', '42704'],
    ['fetch 1 from nothing', '34000'],
    ['execute nothing', '26000'],
    ['deallocate nothing', '26000'],
    ['close nothing', '34000'],
    ['declare c cursor for select 1', '25P01'],
    ['savepoint a', '25P01'],
  ])('%s: %s, and the session goes on', async (sql, state) => {
    expect((await errorOf(client.query(sql))).code).toBe(state)
    expect(await ask('select 1')).toEqual([[1]])
  })

  // A join of two tables with a name in common is what programs ask for.
  test('columns of one name', async () => {
    expect(await ask('select 1 as a, 2 as a')).toEqual([[1, 2]])
  })

  test('an error has its place in characters', async () => {
    const error = await errorOf(client.query('select \'😀ä\', nothing from "demo/days"'))
    expect([error.position, error.severity]).toEqual(['14', 'ERROR'])
  })
})

describe('the place of an error', () => {
  const placeOf = async (...bytes: readonly Buffer[]): Promise<string | undefined> => {
    const one = await session()
    one.send(...bytes)
    const error = (await one.until('Z')).find(({ letter }) => letter === 'E')
    one.end()
    return error && raw.fieldsOf(error)['P']
  }

  test('of a simple query and of a Parse', async () => {
    expect(await placeOf(raw.query('select nothing'))).toBe('8')
    expect(await placeOf(raw.parse('select 1 x y'), raw.sync)).toBe('12')
  })

  // It is counted in the text that the client has sent, of which the statement may be a part.
  test.each<[place: string, bytes: readonly Buffer[]]>([
    ['8', [raw.parse('select nothing'), raw.describe('S'), raw.sync]],
    ['8', [raw.parse('select nothing'), raw.bind(), raw.execute(), raw.sync]],
    ['18', [raw.query('select 1; select nothing')]],
  ])('of what is found later: %s', async (place, bytes) => {
    expect(await placeOf(...bytes)).toBe(place)
  })
})

describe('extended queries', () => {
  test('a parameter of a huge number takes no memory', async () => {
    const one = await session()
    expect(await one.ask(raw.parse('select $999999999'), raw.describe('S'), raw.sync)).toEqual(['E 54023', 'Z I'])
    one.end()
  })

  test('values of each kind, and a prepared statement that is used again', async () => {
    const sql = 'select n, name from "demo/days" where n > $1 and name = $2 order by n'
    expect(await ask(sql, [3, 'n 5'])).toEqual([['5', 'n 5']])
    for (const n of [2, 3, 4]) {
      const { rows } = await client.query({
        name: 'by n',
        text: 'select name from "demo/days" where n = $1',
        values: [n],
      })
      expect(rows).toEqual([{ name: `n ${n}` }])
    }
    expect(await ask("select coalesce($1, 'none')", [null])).toEqual([['none']])
    expect(await ask('select $1::varchar', ["it's 😀"])).toEqual([["it's 😀"]])
  })

  test('the columns are described before there are values', async () => {
    const one = await session()
    const sql = 'select n, name from "demo/days" where n = $1'
    expect(await one.ask(raw.parse(sql, 's'), raw.describe('S', 's'), raw.sync)).toEqual(['1', 't', 'T', 'Z I'])
    expect(await one.ask(raw.parse('set jit = on', 't'), raw.describe('S', 't'), raw.sync)).toEqual([
      '1',
      't',
      'n',
      'Z I',
    ])
    expect(await one.ask(raw.close('S', 's'), raw.describe('S', 's'), raw.sync)).toEqual(['3', 'E 26000', 'Z I'])
    one.end()
  })

  test('a portal is suspended, goes on, and ends', async () => {
    const one = await session()
    const begun = [raw.parse('select n from "demo/days" where n <= 5 order by n'), raw.bind({ portal: 'p' })]
    expect(
      await one.ask(
        ...begun,
        raw.execute('p', 2),
        raw.execute('p', 2),
        raw.execute('p', 2),
        raw.execute('p', 2),
        raw.sync,
      ),
    ).toEqual(['1', '2', 'D 1', 'D 2', 's', 'D 3', 'D 4', 's', 'D 5', 'N 00000', 'C SELECT 1', 'C SELECT 0', 'Z I'])
    // Without a transaction it is gone with the Sync.
    expect(await one.ask(raw.execute('p'), raw.sync)).toEqual(['E 34000', 'Z I'])
    await one.ask(raw.query('begin'))
    expect(await one.ask(...begun, raw.execute('p', 4), raw.sync)).toEqual([
      '1',
      '2',
      'D 1',
      'D 2',
      'D 3',
      'D 4',
      's',
      'Z T',
    ])
    expect(await one.ask(raw.execute('p'), raw.sync)).toEqual(['D 5', 'N 00000', 'C SELECT 1', 'Z T'])
    expect(await one.ask(raw.query('commit'))).toEqual(['C COMMIT', 'Z I'])
    one.end()
  })

  test('binary columns, one form for all or one for each', async () => {
    const one = await session()
    const sql = "select 258::integer as a, 258::integer as b, 'x' as c"
    const rowsIn = async (resultFormats: readonly number[]): Promise<(string | undefined)[]> => {
      one.send(raw.parse(sql), raw.bind({ resultFormats }), raw.execute(), raw.sync)
      const told = await one.until('Z')
      const row = told.find(({ letter }) => letter === 'D')
      return row === undefined ? told.map(raw.brief) : raw.cellsOf(row).map((cell) => cell?.toString('hex'))
    }
    expect(await rowsIn([1])).toEqual(['00000102', '00000102', '78'])
    expect(await rowsIn([0, 1, 0])).toEqual(['323538', '00000102', '78'])
    expect(await rowsIn([0, 1])).toEqual(['1', '2', expect.stringMatching(/^E (?:22023|08P01)$/), 'Z I'])
    expect(await rowsIn([2])).toEqual(['1', 'E 08P01', 'Z I'])
    one.end()
  })

  test.each<[what: string, bytes: readonly Buffer[], told: readonly string[]]>([
    [
      'what follows an error up to the Sync',
      [raw.parse('selec'), raw.bind(), raw.execute(), raw.sync],
      ['E 42601', 'Z I'],
    ],
    ['several statements', [raw.parse('select 1; select 2'), raw.sync], ['E 42601', 'Z I']],
    ['no such statement', [raw.bind({ statement: 'x' }), raw.sync], ['E 26000', 'Z I']],
    ['no such portal', [raw.describe('P', 'x'), raw.sync], ['E 34000', 'Z I']],
    ['a name twice', [raw.parse('select 1', 'a'), raw.parse('select 1', 'a'), raw.sync], ['1', 'E 42P05', 'Z I']],
    [
      'too few values',
      [raw.parse('select $1::int, $2::int'), raw.bind({ values: ['1'] }), raw.sync],
      ['1', 'E 08P01', 'Z I'],
    ],
    ['too many values', [raw.parse('select 1'), raw.bind({ values: ['1'] }), raw.sync], ['1', 'E 08P01', 'Z I']],
    [
      'a value that is none',
      [raw.parse('select $1', '', [23]), raw.bind({ values: ['x'] }), raw.sync],
      ['1', 'E 22P02', 'Z I'],
    ],
    ['a function call', [raw.message('F', Buffer.alloc(10)), raw.sync], ['E 0A000', 'Z I']],
    ['copy data of nobody', [raw.message('d', Buffer.from('x')), raw.message('c'), raw.sync], ['Z I']],
    [
      'an empty statement',
      [raw.parse(''), raw.bind(), raw.describe('P'), raw.execute(), raw.sync],
      ['1', '2', 'n', 'I', 'Z I'],
    ],
    ['closing what is not there', [raw.close('S', 'x'), raw.close('P', 'x'), raw.sync], ['3', '3', 'Z I']],
  ])('%s', async (_, bytes, told) => {
    const one = await session()
    expect(await one.ask(...bytes)).toEqual(told)
    expect(await one.ask(raw.query('select 1'))).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
    one.end()
  })

  test('answers come at a Flush', async () => {
    const one = await session()
    one.send(raw.parse('select 1'), raw.bind(), raw.execute(), raw.flush)
    expect((await one.until('C')).map(raw.brief)).toEqual(['1', '2', 'D 1', 'C SELECT 1'])
    expect(await one.ask(raw.sync)).toEqual(['Z I'])
    one.end()
  })

  // PostgreSQL passes over all up to the Sync, a simple query too.
  test('a simple query behind an error is passed over', async () => {
    const one = await session()
    expect(await one.ask(raw.parse('selec'), raw.query('select 5'), raw.sync)).toEqual(['E 42601', 'Z I'])
  })
})

describe('transactions', () => {
  test('one that has failed hears of its end alone', async () => {
    const one = await session()
    expect(await one.ask(raw.query('begin'))).toEqual(['C BEGIN', 'Z T'])
    expect(await one.ask(raw.query('select nothing'))).toEqual(['E 42703', 'Z E'])
    expect(await one.ask(raw.query('select 1'))).toEqual(['E 25P02', 'Z E'])
    expect(await one.ask(raw.parse('select 1'), raw.sync)).toEqual(['E 25P02', 'Z E'])
    expect(await one.ask(raw.query('show jit'))).toEqual(['E 25P02', 'Z E'])
    expect(await one.ask(raw.query('commit'))).toEqual(['C ROLLBACK', 'Z I'])
    expect(await one.ask(raw.query('commit'))).toEqual(['N 25P01', 'C COMMIT', 'Z I'])
    expect(await one.ask(raw.query('begin; begin'))).toEqual(['C BEGIN', 'N 25001', 'C BEGIN', 'Z T'])
    expect(await one.ask(raw.query('savepoint a; select nothing'))).toEqual(['C SAVEPOINT', 'E 42703', 'Z E'])
    expect(await one.ask(raw.query('rollback to a; select 1; release a; end'))).toEqual([
      'C ROLLBACK',
      'T',
      'D 1',
      'C SELECT 1',
      'C RELEASE',
      'C COMMIT',
      'Z I',
    ])
    one.end()
  })

  test('READ COMMITTED sees what is posted, REPEATABLE READ keeps its blocks', async () => {
    await live.ingest('demo/grows', [{ n: 1 }], '?create=true')
    const [committed, repeatable] = [await session(), await session()]
    const count = raw.query('select count(*) from "demo/grows"')
    const counted = (n: number, at: string): string[] => ['T', `D ${n}`, 'N 00000', 'C SELECT 1', `Z ${at}`]
    await committed.ask(raw.query('begin'))
    await repeatable.ask(raw.query('begin isolation level repeatable read'))
    for (const one of [committed, repeatable]) expect(await one.ask(count)).toEqual(counted(1, 'T'))
    await live.ingest('demo/grows', [{ n: 2 }])
    expect(await committed.ask(count)).toEqual(counted(2, 'T'))
    expect(await repeatable.ask(count)).toEqual(counted(1, 'T'))
    expect(await repeatable.ask(raw.query('set transaction isolation level read committed'))).toEqual([
      'E 25001',
      'Z E',
    ])
    for (const one of [committed, repeatable]) {
      await one.ask(raw.query('commit'))
      expect(await one.ask(count)).toEqual(counted(2, 'I'))
      one.end()
    }
  })

  // SHOW tells the level of the transaction, and setting it by its name is one more way to say it.
  test.each([
    'begin isolation level repeatable read; show transaction_isolation',
    "begin; set transaction_isolation = 'repeatable read'; commit; begin; show transaction_isolation",
  ])('%s', async (sql) => {
    const one = await session()
    const level = sql.includes('commit') ? 'read committed' : 'repeatable read'
    expect(await one.ask(raw.query(sql))).toContain(`D ${level}`)
  })

  test('cursors go forward, and those with hold outlive it', async () => {
    const one = await session()
    const sql = 'select n from "demo/days" where n <= 4 order by n'
    await one.ask(raw.query(`begin; declare c cursor for ${sql}`))
    expect(await one.ask(raw.query('fetch 2 from c'))).toEqual(['T', 'D 1', 'D 2', 'C FETCH 2', 'Z T'])
    expect(await one.ask(raw.query('move 1 in c'))).toEqual(['C MOVE 1', 'Z T'])
    expect(await one.ask(raw.query('fetch all in c'))).toEqual(['T', 'D 4', 'N 00000', 'C FETCH 1', 'Z T'])
    await one.ask(raw.query('close c'))
    await one.ask(raw.query(`declare h cursor with hold for ${sql}`))
    expect(await one.ask(raw.query('commit'))).toEqual(['C COMMIT', 'Z I'])
    expect(await one.ask(raw.query('fetch forward 2 from h'))).toEqual(['T', 'D 1', 'D 2', 'C FETCH 2', 'Z I'])
    expect(await one.ask(raw.query('close all; fetch 1 from h'))).toEqual(['C CLOSE CURSOR ALL', 'E 34000', 'Z I'])
    one.end()
  })

  // PostgreSQL describes the rows of each FETCH, where none are left too.
  test('a FETCH behind the last row describes its rows', async () => {
    const one = await session()
    await one.ask(raw.query('begin; declare c cursor for select 1; fetch all from c'))
    expect(await one.ask(raw.query('fetch 1 from c'))).toEqual(['T', 'C FETCH 0', 'Z T'])
  })
})
