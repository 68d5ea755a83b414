// Values that the engine takes in another form: arrays, as drivers send them and as postgres_fdw writes them.

import { expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected, errorOf } from './pg.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
await live.ingest(
  'demo/days',
  Array.from({ length: 10 }, (_, i) => ({ n: i + 1, name: `n ${i + 1}` })),
  '?create=true',
)

const client = await connected({ port })
const ask = async (sql: string, values?: readonly unknown[]): Promise<(readonly unknown[])[]> => {
  const { rows } = await client.query({ text: sql, rowMode: 'array', ...(values && { values }) })
  // `as`: rows are arrays, as was asked for.
  return rows as unknown as (readonly unknown[])[]
}

test('arrays, as drivers send them and as postgres_fdw writes them', async () => {
  const from = 'select n from "demo/days" where'
  expect(await ask(`${from} n=any($1) order by n`, [[1, 3]])).toEqual([['1'], ['3']])
  expect(await ask(`${from} name = any ($1) and n > $2`, [['n 5', "it's"], 0])).toEqual([['5']])
  expect(await ask(`${from} n <> all($1::int[]) and n < 4 order by n`, [[1, 2]])).toEqual([['3']])
  expect(await ask(`${from} n = any($1)`, [[]])).toEqual([])
  expect(await ask(`${from} n = any($1)`, [null])).toEqual([])
  expect(await ask('select unnest($1::text[])', [['a,b', null, '"']])).toEqual([['a,b'], [null], ['"']])
  expect(await ask(`${from} n = any('{1,2}'::bigint[]) and name = all('{"n 2"}'::text[])`)).toEqual([['2']])
  expect((await errorOf(ask('select $1::int[]', ['{{1}}']))).code).toBe('22P02')
  await ask('begin')
  await ask(`declare c cursor for ${from} n = any($1) order by n`, [[7, 8]])
  expect(await ask('fetch all from c')).toEqual([['7'], ['8']])
  await ask('rollback')
  const [[address] = []] = await ask('select proofstream_proof()')
  expect(decodeURIComponent(String(address))).toContain("where n IN ('7', '8') order by n&")
})
