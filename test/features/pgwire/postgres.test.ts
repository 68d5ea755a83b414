// PostgreSQL itself as the judge: the same messages to it and to a node, and the same answers, letter by letter; values of all types in
// both forms. Skipped, loudly, where it is missing (apt-get install postgresql).

import { afterAll, describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { postgresPrograms, startPostgres } from './postgres-server.ts'
import * as raw from './raw-client.ts'

const programs = postgresPrograms()
if (programs === undefined && process.env['CI'] === 'true')
  throw new Error('PostgreSQL is missing: apt-get install postgresql')
if (programs === undefined) console.warn('NOT RUN: answers like those of PostgreSQL, which is missing')

const { query: q, parse, bind, execute, sync, describe: told } = raw
const rows = 'select n from (values (1), (2), (3), (4)) as t(n) order by n'
/** A statement by the extended protocol. */
const whole = (sql: string, of: raw.Bound = {}, most = 0): Buffer[] => [
  parse(sql, of.statement),
  bind(of),
  execute(of.portal, most),
]
type Talk = readonly (readonly Buffer[])[]

const same: Readonly<Record<string, Talk>> = {
  'a portal in pieces': [
    [q('begin')],
    [...whole(rows, { portal: 'p' }, 3), sync],
    [execute('p', 3), sync],
    [execute('p', 3), sync],
    [q('commit')],
    [execute('p'), sync],
  ],
  'values of types that a client says': [
    ['n > $1', [1700], '1.5'],
    ['n = $1', [1700], '1.4'],
    ['n = any($1)', [1231], '{1.4,3.0}'],
    ['n = any($1)', [1022], '{1.4,3.0}'],
    ['$1 < $2 or n = 1', [1700, 1700], '9', '10'],
    ['$1 < $2 or n = 1', [1186, 1186], '9 days', '10 days'],
    ["md5($1) = '90b82cfd67e3a72ceb8d642b3085f86d'", [17], String.raw`\x01ff`],
  ].map(([where, types, ...values]) => [
    parse(`select n from (values (1), (2), (3)) as t(n) where ${String(where)} order by n`, '', types as number[]), // the second of each
    bind({ values: values.map(String) }),
    execute(),
    sync,
  ]),
  'a cursor': [
    [q(`begin; declare c cursor for ${rows}`)],
    [q('fetch 2 from c')],
    [q('move 1 from c')],
    [q('fetch forward 5 from c')],
    [q('close c; fetch c')],
    [q('rollback')],
  ],
  'a cursor by the extended protocol': [
    [q(`begin; declare c cursor for ${rows}`)],
    [parse('fetch 2 from c'), bind(), told('P'), execute(), sync],
    [parse('fetch 2 from c'), told('S'), sync],
    [execute('c', 1), told('P', 'c'), sync],
    [raw.close('P', 'c'), sync],
    [q('fetch 1 from c')],
    [q('rollback')],
  ],
  'a cursor with values': [
    [
      q('begin'),
      ...whole('declare c cursor for select n from (values (1), (2), (3)) as t(n) where n > $1', { values: ['1'] }),
      sync,
    ],
    [q('fetch 2 from c')],
    [parse('declare d cursor for select 1 where 1 = $1'), bind(), sync],
    [q('rollback')],
  ],
  'a cursor in binary form': [
    [q(`begin; declare c binary cursor for select n, n || 'x' as t from (values (1), (2)) as t(n) order by n`)],
    [q('fetch 1 from c; fetch all from c')],
    [q('rollback')],
  ],
  'a cursor with hold': [
    [q(`declare h cursor with hold for ${rows}`)],
    [q('begin; fetch 1 from h; commit')],
    [q('fetch 1 from h')],
    [q('close h')],
    [q('close h')],
  ],
  'a transaction that fails': [
    [q('begin; select nothing')],
    [q('select 1')],
    [q(';')],
    [q('savepoint a')],
    [q('commit')],
    [q('commit')],
  ],
  savepoints: [
    [q('begin; savepoint a; savepoint b')],
    [q('release a')],
    [q('rollback to b')],
    [q('rollback to a')],
    [q('rollback')],
    [q('release a')],
    [q('rollback to a')],
    [q('savepoint a')],
  ],
  'transactions that are not there, or there already': [
    [q('commit')],
    [q('rollback')],
    [q('begin; begin')],
    [q('end')],
    [q('abort')],
  ],
  'several statements': [
    [q('select 1; select nothing; select 2')],
    [q('begin; select 1; commit; select 2')],
    [q(';;')],
    [q('')],
    [q('select 1; savepoint a')],
  ],
  'what is described': [
    [parse('select 1'), told('S'), bind(), told('P'), execute(), sync],
    [parse(''), told('S'), bind(), told('P'), execute(), sync],
    [parse('set application_name = b'), bind(), told('P'), execute(), sync],
    [...whole('begin'), sync],
    [...whole('commit'), sync],
  ],
  'prepared by SQL': [
    [q('prepare p as select 1')],
    [q('prepare p as select 1')],
    [q('execute p')],
    [parse('execute p'), told('S'), bind(), told('P'), execute(), sync],
    [bind({ statement: 'p' }), execute(), sync],
    [q('deallocate p; execute p')],
    [q('deallocate all')],
  ],
  names: [
    [parse('select 1', 'a'), parse('select 2', 'a'), sync],
    [parse('select 1'), parse('select 2'), bind(), execute(), sync],
    [q('begin')],
    [parse('select 1'), bind({ portal: 'x' }), bind({ portal: 'x' }), sync],
    [q('rollback')],
    [raw.close('S', 'a'), raw.close('S', 'none'), sync],
  ],
  values: [
    [parse('select $1::int', '', [23]), bind({ values: ['5'] }), execute(), sync],
    [parse('select $1::int', '', [23]), bind({ values: ['x'] }), execute(), sync],
    [parse('select $1::int', '', [23]), bind({ values: ['\0\0\0\0\0'], formats: [1] }), execute(), sync],
    [parse('select $1::int'), bind(), sync],
    [parse('select $1::int'), bind({ values: ['1'], formats: [0, 0] }), sync],
    [parse('select $1::text', '', [25]), bind({ values: [Buffer.from([0xc3, 0x28])] }), sync],
    [parse('select 1'), bind({ resultFormats: [1] }), execute(), sync],
  ],
  'errors up to the Sync': [
    [parse('selec'), raw.flush, parse('select 1'), sync],
    [bind({ statement: 'none' }), execute(), sync],
  ],
  copies: [
    [q(`copy (select n, n + 1 as m from (values (1), (2)) as t(n)) to stdout binary`)],
    [q('copy (select 1::int where false) to stdout binary')],
    [q('copy (select 1::int as a, 2 as b where false) to stdout csv header')],
    [...whole('copy (select 1) to stdout'), sync],
    [q('copy (select 1) to stdout (format parquet)')],
  ],
  settings: [
    [q("set application_name = 'x'; show application_name")],
    [q('set application_name to default; show application_name')],
    [q('set nothing = 1')],
    [q('show nothing')],
    [q("set a.b = 'x'; show a.b")],
    [q('discard all')],
    [q('begin; discard all')],
    [q('rollback')],
    [q("set timezone = 'utc'; show timezone")],
    [q("set client_encoding = 'utf-8'; show client_encoding")],
    [q('set server_version = 1')],
    [q('show transaction isolation level')],
  ],
  'a portal of as many rows as are asked for': [[...whole(rows, {}, 4), sync]],
  'a cursor with hold of a transaction that is rolled back': [
    [q(`begin; declare h cursor with hold for ${rows}; rollback`)],
    [q('fetch 1 from h')],
  ],
  'a cursor in the transaction of its text': [[q(`declare c cursor for ${rows}; fetch 1 from c`)]],
  'CLOSE ALL': [[q('close all')]],
  'a write in a transaction that has failed': [[q('begin; select nothing')], [q('insert into x values (1)')]],
  'a level of isolation without a transaction': [[q('set transaction isolation level serializable')]],
  'DISCARD of what is not there': [[q('discard nothing')]],
  'DISCARD PLANS in a transaction': [[q('begin; discard plans')]],
  'a timeout with a fraction': [[q("set statement_timeout = '1.5s'; show statement_timeout")]],
  'a value of SET without quotes': [[q('set application_name = MyApp; show application_name')]],
  'COPY as text with a header': [[q('copy (select 1 as a) to stdout (format text, header)')]],
  'a value that is not of the type that PREPARE says': [
    [q("prepare p(int) as select $1; execute p('x')")],
    [q('prepare q(no_type) as select $1')],
    [q('prepare r(numeric(10,2), pg_catalog.int4, double precision, varchar(3)) as select $1, $2, $3, $4')],
  ],
  'EXECUTE in pieces': [
    [q(`prepare p as ${rows}`)],
    [parse('execute p'), bind(), execute('', 2), execute('', 2), sync],
  ],
}

/** Where a node differs, and need not. */
const others: Readonly<Record<string, Talk>> = {
  'forms of results that are not one for each column': [
    [parse('select 1'), bind({ resultFormats: [0, 1] }), execute(), sync],
  ],
}

describe.skipIf(programs === undefined)('PostgreSQL and a node', async () => {
  const port = await freePort()
  await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
  const server = programs && (await startPostgres(programs))
  afterAll(() => server?.end())
  const both = async <T>(ask: (client: raw.RawClient) => Promise<T>): Promise<readonly [postgres: T, node: T]> => {
    const asked = async (at: number, parameters: Readonly<Record<string, string>>): Promise<T> => {
      const client = await raw.RawClient.session(at, parameters)
      const answer = await ask(client)
      client.end()
      return answer
    }
    const postgres = { user: 'postgres', database: 'postgres' }
    return [await asked(server?.port ?? 0, postgres), await asked(port, {})]
  }
  /** Answers to each turn; the pieces of a copy are one, and what settings are is told elsewhere. */
  const talk =
    (turns: Talk) =>
    async (client: raw.RawClient): Promise<string[]> => {
      const answers: string[] = []
      for (const turn of turns) {
        const lines = (await client.ask(...turn)).filter((line) => line !== 'S')
        answers.push(lines.join(' ').replaceAll(/(?:d )+/g, 'd '))
      }
      return answers
    }

  test.each(Object.entries(same))('say the same: %s', async (_, turns) => {
    const [postgres, node] = await both(talk(turns))
    expect(node).toEqual(postgres)
  })

  test.fails.each(Object.entries(others))('say the same: %s', async (_, turns) => {
    const [postgres, node] = await both(talk(turns))
    expect(node).toEqual(postgres)
  })

  test.each<[name: string, options: string, select: string]>([
    ['text', '', String.raw`select null, '', E'a\tb\\c\nd\re', true, 'x'`],
    ['CSV', 'csv', String.raw`select null, '', E'"a",\n\r', ' x ', true`],
    ['CSV of one column', 'csv', String.raw`select '\.'`],
    ['CSV of two columns', 'csv', String.raw`select '\.', 1`],
    ['binary', 'binary', String.raw`select 1::int, null::int, 'x'::text, 0.1::float8, true, -1.50::decimal(5, 2)`],
  ])('copy the same bytes: %s', async (_, options, select) => {
    const [postgres, node] = await both(async (client) => {
      client.send(q(`copy (${select}) to stdout ${options}`))
      const parts = (await client.until('Z')).filter(({ letter }) => letter === 'd' || letter === 'E')
      return Buffer.concat(parts.map(({ body }) => body)).toString('latin1')
    })
    expect(node).toBe(postgres)
  })

  /** Type, size, modifier, and the bytes of one value in one form. */
  const valueIn =
    (type: string, value: string, format: 0 | 1) =>
    async (client: raw.RawClient): Promise<string> => {
      const sql = `select cast('${value}' as ${type}) as v`
      client.send(parse(sql), bind({ resultFormats: [format] }), told('P'), execute(), sync)
      const all = await client.until('Z')
      const [shape, row] = ['T', 'D'].map((letter) => all.find((one) => one.letter === letter))
      if (shape === undefined || row === undefined) return all.map(raw.brief).join(' ')
      const at = shape.body.indexOf(0, 2) + 7
      const [cell] = raw.cellsOf(row)
      return `${shape.body.subarray(at, at + 10).toString('hex')} ${cell?.toString(format === 0 ? 'utf8' : 'hex')}`
    }
  const values: readonly (readonly [type: string, ...values: string[]])[] = [
    ['bool', 'true', 'false'],
    ['smallint', '-32768', '32767', '0'],
    ['integer', '-2147483648', '7'],
    ['bigint', '-9223372036854775808', '9223372036854775807'],
    [
      'float4',
      '0.1',
      '1e-5',
      '123456.7',
      '1e6',
      '1234567',
      '3.4028235e38',
      '1e-45',
      'NaN',
      '-Infinity',
      '-0',
      '16777216',
      '0.001',
    ],
    [
      'float8',
      '0.1',
      '1e-5',
      '0.0001',
      '123456789012345',
      '1e15',
      '123456789012345678',
      '1.7976931348623157e308',
      '5e-324',
    ],
    ['float8', 'NaN', 'Infinity', '-0', '1e22', '9007199254740993', '0.30000000000000004', '-1.5e-7', '2.5e300'],
    ['decimal(18,2)', '0', '1', '-1.5', '99999999.99', '-0.01', '10000', '100000000'],
    ['decimal(38,10)', '0.0000000001', '-12345678901234567890.123', '9999', '0.5'],
    ['decimal(5,0)', '12345', '-10000'],
    ['text', '', 'x', 'ä😀', String.raw`tab\tx`],
    ['date', '2026-03-01', '1999-12-31', '2000-01-01', '0001-01-01', '9999-12-31', '5874897-12-31'],
    ['time', '00:00:00', '10:00:00.25', '23:59:59.999999', '24:00:00'],
    [
      'timestamp',
      '2026-03-01 10:00:00',
      '2026-03-01 10:00:00.000001',
      '1969-12-31 23:59:59.9',
      '290000-01-01 00:00:00',
    ],
    ['timestamptz', '2026-03-01 10:00:00+00', '2026-03-01 10:00:00.5+02', '1900-01-01 00:00:00+00'],
    ['timetz', '10:00:00+02', '10:00:00.5-05:30', '23:59:59+00'],
    [
      'interval',
      '1 day',
      '1 year 2 months',
      '-1 day',
      '1 day -02:00:00',
      '-3 months 4 days',
      '00:00:00',
      '00:00:00.000001',
    ],
    ['interval', '-00:00:01.5', '25 hours', '1 mons', '2 mons -1 days', '-1 year 3 days 04:05:06'],
    ['uuid', '00112233-4455-6677-8899-aabbccddeeff'],
  ]

  test.each(values)('write the same values: %s', async (type, ...of) => {
    for (const value of of) {
      for (const format of [0, 1] as const) {
        const [postgres, node] = await both(valueIn(type, value, format))
        expect([value, format, node]).toEqual([value, format, postgres])
      }
    }
  })

  // The least that is written without an exponent is a little less than 0.0001 in 32 bits. What is infinite is not null.
  test.fails.each([
    ['date', 'infinity'],
    ['timestamp', '-infinity'],
    ['timestamptz', 'infinity'],
  ])('write the same values: %s %s', async (type, value) => {
    const [postgres, node] = await both(valueIn(type, value, 0))
    expect(node).toBe(postgres)
  })
})
