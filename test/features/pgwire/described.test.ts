// What Describe tells of a statement before it has values is what its rows are, in binary form too: drivers read bytes by it.

import { expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import * as raw from './raw-client.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
await live.ingest('acme/counts', [{ n: 1, day: '2026-03-01', word: 'a' }], '?create=true')

const written =
  'bool 16 int8 20 int4 23 text 25 unknown 705 date 1082 timestamp 1114 timestamptz 1184 numeric 1700'.split(' ')
const names = new Map(written.map((name, at) => [Number(written[at + 1]), name]))

/** Types of parameters and columns of a RowDescription. */
function typesOf({ letter, body }: raw.Told): string[] {
  let at = 2
  return Array.from({ length: body.readInt16BE(0) }, (_, index) => {
    if (letter === 't') return names.get(body.readInt32BE(2 + 4 * index)) ?? ''
    const end = body.indexOf(0, at)
    at = end + 19
    return names.get(body.readInt32BE(end + 7)) ?? ''
  })
}

/** Tells a statement, and asks for its rows in binary form with these values as text; cells in hex. */
async function told(sql: string, values: readonly (string | null)[]): Promise<string[]> {
  const client = await raw.RawClient.session(port)
  client.send(raw.parse(sql, 's'), raw.describe('S', 's'), raw.sync)
  const described = await client.until('Z')
  client.send(raw.bind({ statement: 's', values, resultFormats: [1] }), raw.execute(), raw.sync)
  const answer = await client.until('Z')
  client.end()
  const types = described.filter(({ letter }) => 'tTE'.includes(letter))
  const rows = answer.filter(({ letter }) => 'DE'.includes(letter))
  return [...types, ...rows].map((one) => {
    if (one.letter === 'E') return raw.brief(one)
    if (one.letter !== 'D') return typesOf(one).join()
    return raw
      .cellsOf(one)
      .map((cell) => cell?.toString('hex') ?? 'null')
      .join()
  })
}

test.each<[sql: string, values: (string | null)[], ...says: string[]]>([
  ['select $1 as x, n from acme.counts', ['five'], 'unknown', 'text,int8', '66697665,0000000000000001'],
  ['select $1 as x, n from acme.counts', [null], 'unknown', 'text,int8', 'null,0000000000000001'],
  ['select coalesce($1, 2) as x', ['5'], 'int4', 'int8', '0000000000000005'],
  ['select coalesce($1, 2) as x', [null], 'int4', 'int8', '0000000000000002'],
  ['select coalesce($1, 2.5) as x', [null], 'numeric', 'numeric', '000200000000000100021388'],
  ["select date_trunc($1, timestamp '2026-03-01 10:00') as x", ['day'], 'unknown', 'timestamp', '0002eee9eb8b8000'],
  ["select time_bucket($1, date '2026-03-01') as x", ['1 day'], 'unknown', 'date', '00002554'],
  ['select n from acme.counts where day = $1 and n < $2', ['2026-03-01', '5'], 'date,int8', 'int8', '0000000000000001'],
  ['select to_timestamp($1, $2) as x', ['2000', 'YYYY'], 'unknown,unknown', 'timestamptz', '0000000000000000'],
  [
    'select count(*) as c from acme.counts where word like $1 limit $2',
    ['a%', '3'],
    'text,int8',
    'int8',
    '0000000000000001',
  ],
  ['select [10, 20][$1] as x', ['2'], 'int8', 'int4', '00000014'],
])('%s with %j', async (sql, values, ...says) => {
  expect(await told(sql, values)).toEqual(says)
})

test('rows that are others than those that were told are an error, but for texts and smaller integers', async () => {
  await live.ingest('one/things', [{ a: 1, b: 2 }], '?create=true')
  await live.ingest('two/things', [{ a: 'x', b: 2 }], '?create=true')
  await live.ingest('three/things', [{ a: 1 }], '?create=true')
  const client = await raw.RawClient.session(port)
  const sql = (columns: string): string => `select ${columns} from things`
  const all = '* exclude ("offset", op, system_time, event_time)'
  const change = async (columns: string, from: string, to: string): Promise<string[]> => {
    await client.ask(raw.query(`set search_path to ${from}`))
    await client.ask(raw.parse(sql(columns)), raw.describe('S'), raw.sync)
    await client.ask(raw.query(`set search_path to ${to}`))
    const answer = await client.ask(raw.bind({ resultFormats: [1] }), raw.execute(), raw.sync)
    return answer.filter((line) => !line.startsWith('N '))
  }
  expect(await change(all, 'one', 'one')).toEqual(['2', expect.stringMatching(/^D /), 'C SELECT 1', 'Z I'])
  expect(await change(all, 'one', 'two')).toEqual(['2', 'E 0A000', 'Z I'])
  expect(await change(all, 'one', 'three')).toEqual(['2', 'E 0A000', 'Z I'])
  // A number as text.
  expect(await change('a', 'two', 'one')).toEqual(['2', 'D 1', 'C SELECT 1', 'Z I'])
  client.end()
})

test('a statement is told without being run', async () => {
  const client = await raw.RawClient.session(port)
  const endless = 'select sum(a.range * b.range % 7) from range(10000000) a, range(10000000) b where a.range > $1'
  client.send(raw.parse(endless, 's'), raw.describe('S', 's'), raw.sync)
  const told = (await client.until('Z')).filter(({ letter }) => 'tTE'.includes(letter))
  expect(told.map((one) => (one.letter === 'E' ? raw.brief(one) : typesOf(one).join()))).toEqual(['int8', 'numeric'])
  client.end()
})
