// What programs say to a PostgreSQL server beside plain SQL, at the door: settings by SELECT, names with their database, as
// pgAdmin, ibis and dbt write them; and a chart of Superset with its proof.

import { describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected, errorOf, type PgClient } from './pg.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = Array.from({ length: 48 }, (_, i) => ({
  event_time: `2026-03-0${1 + Math.floor(i / 24)}T00:30:00Z`,
  n: i,
}))
await live.ingest('demo/hours', rows, '?create=true')
await live.ingest('Other/odd-Name.v2', [{ n: 7 }], '?create=true')

const all = await connected({ port })

const ask = async (client: PgClient, sql: string, values?: readonly unknown[]): Promise<unknown[][]> => {
  const { rows: found } = await client.query({ text: sql, rowMode: 'array', ...(values && { values }) })
  // `as`: rows are arrays, as was asked for.
  return found as unknown as unknown[][]
}

describe('set_config sets and answers with what holds', () => {
  test('in a text of several statements, of a setting that there is', async () => {
    const text = `set client_min_messages = notice; select set_config('bytea_output','hex',false) from pg_show_all_settings()
      where name = 'bytea_output'; set client_encoding = 'utf-8'`
    await all.query(text)
    expect(await ask(all, `select pg_catalog.set_config('bytea_output', 'hex', false)`)).toEqual([['hex']])
  })

  test('with a value that is bound, and in a transaction alone', async () => {
    await all.query('begin')
    expect(await ask(all, `select set_config('search_path', $1, true)`, ['demo'])).toEqual([['demo']])
    expect(await ask(all, 'select count(*) from hours')).toEqual([['48']])
    await all.query('commit')
    expect((await errorOf(ask(all, 'select count(*) from hours'))).code).toBe('42P01')
  })

  test('behind the value before', async () => {
    const sql = `select current_setting('jit') as cur, set_config('jit', 'on', false) as new`
    expect((await all.query(sql)).rows).toEqual([{ cur: 'off', new: 'on' }])
    expect(await ask(all, 'show jit')).toEqual([['on']])
  })

  test('refuses what SET refuses', async () => {
    expect((await errorOf(ask(all, `select set_config('timezone', 'Europe/Berlin', false)`))).code).toBe('22023')
    expect((await errorOf(ask(all, `select set_config('nothing', 'x', false)`))).code).toBe('42704')
  })
})

describe('names with their database', () => {
  test('are those without', async () => {
    const demo = await connected({ port, database: 'demo' })
    expect(await ask(demo, 'select count(*) from "demo"."demo"."hours"')).toEqual([['48']])
    expect(await ask(demo, 'select n from "demo"."Other"."odd-Name.v2"')).toEqual([['7']])
    expect(await ask(all, 'select n from "all"."Other"."odd-Name.v2" where n = $1', [7])).toEqual([['7']])
    const error = await errorOf(ask(all, 'select nothing from "all".demo.hours'))
    expect([error.code, error.position]).toEqual(['42703', '8'])
    await demo.end()
  })

  test('of another database mean nothing', async () => {
    expect((await errorOf(ask(all, 'select 1 from other.demo.hours'))).code).toBe('42P01')
  })
})

test('times by a format choose rows, and are proven', async () => {
  const where = `event_time >= TO_TIMESTAMP('2026-03-02 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')`
  const sql = `select count(*) from demo.hours where ${where} and event_time::date < TO_DATE('2026-03-03', 'YYYY-MM-DD')`
  expect(await ask(all, sql)).toEqual([['24']])
  const [[address]] = (await ask(all, 'select proofstream_proof()')) as [[string]]
  expect((await live.call(address.slice(live.node.url.length))).at('output.data')).toEqual([[24]])
})

test('a pool of connections goes from transactions that read to others, which may not write either', async () => {
  await all.query('begin read only')
  await all.query('commit')
  await all.query('begin read write')
  expect(await ask(all, 'show transaction_read_only')).toEqual([['on']])
  expect(await ask(all, 'select max(n) from demo.hours')).toEqual([['47']])
  expect((await errorOf(ask(all, 'insert into demo.hours (n) values (1)'))).code).toBe('25006')
  await all.query('rollback')
})
