// What the door tells beside rows: settings, COPY, notices with the address of a proof, which is fetched, verified and compared.

import { describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected } from './pg.ts'
import * as raw from './raw-client.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = [
  { n: 1, word: 'one' },
  { n: 2, word: 'tab\tand "quote", comma' },
  { n: 3, word: null },
  { n: 4, word: '' },
  { n: 5, word: 'line\nback\\slash' },
]
await live.ingest('demo/words', rows, '?create=true')
const session = async (parameters = {}): Promise<raw.RawClient> => await raw.RawClient.session(port, parameters)
const columns = 'select n, word from "demo/words" order by n'

describe('settings', () => {
  test('are told at the start and when they change', async () => {
    const one = await raw.RawClient.open(port)
    one.send(raw.startup({ user: 'anonymous', application_name: 'mine', options: '-c statement_timeout=5s -c jit=on' }))
    const told = await one.until('Z')
    expect(told.map(({ letter }) => letter).join('')).toMatch(/^RS{13}KZ$/)
    const texts = told
      .filter(({ letter }) => letter === 'S')
      .map(({ body }) => body.toString('utf8').split('\0', 2).join('='))
    expect(texts).toEqual(
      expect.arrayContaining([
        'application_name=mine',
        'client_encoding=UTF8',
        'DateStyle=ISO, MDY',
        'TimeZone=UTC',
        'integer_datetimes=on',
      ]),
    )
    expect(await one.ask(raw.query('show statement_timeout; show jit'))).toEqual([
      'T',
      'D 5s',
      'C SHOW',
      'T',
      'D on',
      'C SHOW',
      'Z I',
    ])
    expect(await one.ask(raw.query("set application_name = 'b'"))).toEqual(['S', 'C SET', 'Z I'])
    expect(await one.ask(raw.query("set application_name = 'b'"))).toEqual(['C SET', 'Z I'])
    expect(await one.ask(raw.query('reset all; show application_name'))).toEqual([
      'S',
      'C RESET',
      'T',
      'D ',
      'C SHOW',
      'Z I',
    ])
    one.end()
  })

  test('of a transaction end with it', async () => {
    const one = await session()
    expect(await one.ask(raw.query("begin; set local application_name = 'x'; commit"))).toEqual([
      'C BEGIN',
      'S',
      'C SET',
      'S',
      'C COMMIT',
      'Z I',
    ])
    expect(await one.ask(raw.query('begin; set jit = on; rollback; show jit'))).toEqual([
      'C BEGIN',
      'C SET',
      'C ROLLBACK',
      'T',
      'D off',
      'C SHOW',
      'Z I',
    ])
    expect(await one.ask(raw.query('set local jit = on; show jit'))).toEqual([
      'N 25P01',
      'C SET',
      'T',
      'D off',
      'C SHOW',
      'Z I',
    ])
    one.end()
  })

  test('silence notices', async () => {
    const one = await session()
    expect(await one.ask(raw.query(columns))).toContain('N 00000')
    await one.ask(raw.query('set client_min_messages = warning'))
    expect(await one.ask(raw.query(columns))).not.toContain('N 00000')
    expect(await one.ask(raw.query('commit'))).toContain('N 25P01')
    one.end()
  })

  test('that cannot be are refused at the start', async () => {
    for (const [parameters, state] of [
      [{ client_encoding: 'LATIN1' }, '22023'],
      [{ work_mem: '1' }, '42704'],
      [{ options: '-c datestyle=German' }, '22023'],
      [{ database: 'nothing' }, '3D000'],
    ] as const) {
      const one = await raw.RawClient.open(port)
      one.send(raw.startup({ user: 'anonymous', ...parameters }))
      expect(await one.rest()).toEqual([`E ${state}`])
    }
  })

  // The time is that of one statement, and these have a minute.
  test('a time for statements ends none before it', async () => {
    const one = await session()
    await one.ask(raw.query("set statement_timeout = '60s'"))
    const told = await one.ask(raw.query('select range from range(300000)'))
    expect([told.length, told.at(-2)]).toEqual([300_003, 'C SELECT 300000'])
    one.end()
  })

  test('a time for statements ends those that take longer', async () => {
    const one = await session()
    await one.ask(raw.query('set statement_timeout = 50'))
    const sql = 'select sum(a.range * b.range % 7) from range(1000000) a, range(1000000) b'
    expect(await one.ask(raw.query(sql))).toEqual(['E 57014', 'Z I'])
    one.end()
  })
})

describe('COPY', () => {
  const dataOf = async (sql: string): Promise<{ readonly brief: string[]; readonly data: Buffer }> => {
    const one = await session()
    one.send(raw.query(sql))
    const told = await one.until('Z')
    one.end()
    const data = Buffer.concat(told.filter(({ letter }) => letter === 'd').map(({ body }) => body))
    return { brief: told.filter(({ letter }) => letter !== 'd').map(raw.brief), data }
  }
  const told = (count: number): string[] => ['H', 'c', 'N 00000', `C COPY ${count}`, 'Z I']

  test('as text', async () => {
    const { brief, data } = await dataOf(`copy (${columns}) to stdout`)
    expect(brief).toEqual(told(5))
    expect(data.toString()).toBe('1\tone\n2\ttab\\tand "quote", comma\n3\t\\N\n4\t\n5\tline\\nback\\\\slash\n')
  })

  test('as CSV', async () => {
    const { brief, data } = await dataOf(`copy (${columns}) to stdout with (format csv, header)`)
    expect(brief).toEqual(told(5))
    expect(data.toString()).toBe('n,word\n1,one\n2,"tab\tand ""quote"", comma"\n3,\n4,""\n5,"line\nback\\slash"\n')
  })

  test('in binary form', async () => {
    const { brief, data } = await dataOf(
      'copy (select 258::int as n, null::int as z union all select 259, 1) to stdout (format binary)',
    )
    expect(brief).toEqual(['H', 'c', 'C COPY 2', 'Z I'])
    const head = `${Buffer.from('PGCOPY\n').toString('hex')}ff0d0a00${'00000000'.repeat(2)}`
    const [first, second] = ['0002' + '0000000400000102' + 'ffffffff', '0002' + '0000000400000103' + '0000000400000001']
    expect(data.toString('hex')).toBe(`${head}${first}${second}ffff`)
  })

  test('of no rows, in binary form and with a header', async () => {
    const none = 'copy (select 1 as a limit 0) to stdout'
    expect((await dataOf(`${none} csv header`)).data.toString()).toBe('a\n')
    expect((await dataOf(`${none} binary`)).data).toHaveLength(21)
  })

  test.each(['', ' csv'])('of no rows%s', async (form) => {
    const { brief, data } = await dataOf(`copy (select 1 as a limit 0) to stdout${form}`)
    expect([brief, data]).toEqual([['H', 'c', 'C COPY 0', 'Z I'], Buffer.alloc(0)])
  })

  test('of a table and its columns, and of what fails', async () => {
    expect((await dataOf('copy "demo/words" (word) to stdout')).data.toString().split('\n')).toHaveLength(6)
    expect((await dataOf('copy (select nothing) to stdout')).brief).toEqual(['E 42703', 'Z I'])
    expect((await dataOf('copy "demo/nothing" to stdout')).brief).toEqual(['E 42P01', 'Z I'])
  })
})

describe('proofs', async () => {
  const client = await connected({ port })
  const notices: string[] = []
  client.on('notice', ({ message }) => notices.push(message))

  /** Rows of the signed answer at an address, which the node verifies. */
  async function verified(address: string): Promise<unknown> {
    expect(address.startsWith(`${live.node.url}/query?`)).toBe(true)
    const answer = await live.call(address.slice(live.node.url.length))
    expect(answer.status).toBe(200)
    const headers = { 'content-type': 'application/json' }
    const verdict = await live.call('/verify', { method: 'POST', headers, body: answer.bytes })
    expect(verdict.at('ok')).toBe(true)
    return answer.at('output.data')
  }

  test('the notice behind rows names the block and the address of a proof with the same rows', async () => {
    const { rows: told } = await client.query(columns)
    const [notice = ''] = notices.splice(0)
    const [, block, address = ''] = /^proofstream: demo\/words@(\S+) (http\S+)$/.exec(notice) ?? []
    expect(block).toBe(await live.head('demo/words'))
    const proven = await verified(address)
    const plain = told.map(({ n, word }) => [Number(n), word])
    expect(proven).toEqual(plain)
  })

  test('values that were bound are written in', async () => {
    const sql = 'select n, word, $2 as other from "demo/words" where n >= $1 order by n'
    const { rows: told } = await client.query(sql, [4, "it's"])
    const { rows: found } = await client.query('select proofstream_proof()')
    const proven = await verified(String(found[0]?.['proofstream_proof']))
    expect(proven).toEqual(told.map(({ n, word, other }) => [Number(n), word, other]))
    expect(told).toHaveLength(2)
  })

  test('of the statement before alone, and not of one that failed or was not read to its end', async () => {
    const one = await session()
    const after = async (...statements: readonly string[]): Promise<string | undefined> => {
      for (const sql of statements) await one.ask(raw.query(sql))
      return (await one.ask(raw.query('select proofstream_proof()'))).find((line) => /^[DE]/.test(line))
    }
    const good = 'select n from "demo/words"'
    expect(await after(good)).toMatch(/^D http/)
    expect(await after('set jit = on')).toMatch(/^D http/)
    expect(await after(good, 'select nothing from "demo/words"')).toBe('E 55000')
    expect(await after(good, 'select 1')).toBe('E 55000')
    expect(await after(`begin; declare c cursor for ${good}; fetch 2 from c`)).toBe('E 55000')
    one.end()
  })

  test('there is none of more rows than are signed', async () => {
    const many = 'select a.n from "demo/words" a, range(30000)'
    const { rows: found } = await client.query(`select proofstream_proof('${many}')`)
    expect(found[0]?.['proofstream_proof']).toMatch(/^no address: at most 100000 rows are signed/)
  })

  test('of a statement that is given', async () => {
    const { rows: found } = await client.query('select proofstream_proof(\'select count(*) as c from "demo/words"\')')
    expect(await verified(String(found[0]?.['proofstream_proof']))).toEqual([[5]])
    const members = 'select n from "demo/words" where word = any(\'\'{one,"tab"}\'\')'
    const { rows: ofList } = await client.query(`select proofstream_proof('${members}')`)
    expect(await verified(String(ofList[0]?.['proofstream_proof']))).toEqual([[1]])
  })

  test('of bare names, which the request binds as the statement has them', async () => {
    const own = await connected({ port, database: 'demo' })
    const sql =
      'select count(*) as c from words join Words as w using (n) join "demo/words" using (n) where words.n > $1'
    const { rows: told } = await own.query(sql, [2])
    const { rows: found } = await own.query('select proofstream_proof()')
    const address = String(found[0]?.['proofstream_proof'])
    expect(await verified(address)).toEqual([[Number(told[0]?.['c'])]])
    const { bytes } = await live.call(address.slice(live.node.url.length))
    const { datasets } = JSON.parse(bytes.toString()).input
    expect(datasets.map(({ alias }: { alias: string }) => alias)).toEqual(['Words', 'demo/words', 'words'])
    // A name with a slash is that of its dataset; longer ones cannot be verified.
    for (const alias of ['demo%2Fother', 'w'.repeat(211)]) {
      const other = await live.call(address.slice(live.node.url.length).replace('pin=words%3D', `pin=${alias}%3D`))
      expect([other.status, other.at('error.kind') ?? other.at('kind')]).toEqual([400, 'InvalidParameter'])
    }
  })

  test('of times in the words of PostgreSQL', async () => {
    const sql = `select n, to_char(to_timestamp('2026-03-0' || n, 'YYYY-MM-DD'), 'FMDD. FMMonth') as day from "demo/words" where n < 3`
    const { rows: told } = await client.query(sql)
    expect(told.map(({ day }) => day)).toEqual(['1. March', '2. March'])
    const { rows: found } = await client.query('select proofstream_proof()')
    expect(await verified(String(found[0]?.['proofstream_proof']))).toEqual(told.map(({ n, day }) => [Number(n), day]))
  })

  test('there is none of what reads nothing, differs each time, or was not asked', async () => {
    const one = await session()
    expect(await one.ask(raw.query('select proofstream_proof()'))).toEqual(['E 55000', 'Z I'])
    const proof = async (sql: string): Promise<string> =>
      (await one.ask(raw.query(`select proofstream_proof('${sql}')`))).slice(1, 2).join('')
    expect(await proof('select 1')).toBe('D no proof: it reads no dataset')
    expect(await proof('select random(), n from "demo/words"')).toBe('D no proof: its answer is not the same each time')
    expect(await one.ask(raw.query("select proofstream_proof('insert into t values (1)')"))).toEqual(['E 25006', 'Z I'])
    expect(await one.ask(raw.query("select proofstream_proof('begin')"))).toEqual(['E 42601', 'Z I'])
    one.end()
    const other = await session({ database: 'demo' })
    const long = `select n from "demo/words" where word <> '${'x'.repeat(2_000)}'`
    expect((await other.ask(raw.query(`${long}; select proofstream_proof()`))).at(-3)).toMatch(
      /^D no address: the statement is too long/,
    )
    other.end()
  })
})
