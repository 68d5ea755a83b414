// What Trino reads through the catalog of a live node, whose store is a bucket where versitygw is at hand: the rows that /query
// gives, now and at two blocks of the past, and what it may not see. On demand: TRINO_HOME (test/helpers/trino.ts).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { testKeys } from '../../helpers/buckets.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { repository } from '../../helpers/sources.ts'
import { startTrino, type Trino, trinoHome } from '../../helpers/trino.ts'
import { startVersitygw, versitygw, type VersityServer } from '../../helpers/versitygw.ts'

/** Type, SQL of DuckDB, SQL of Trino: both give the same JSON. Times are compared as microseconds. */
const columns = {
  flag: ['Bool?', 'flag', 'flag'],
  text: ['String?', 'text', 'text'],
  i8: ['Int8?', 'i8', 'i8'],
  i32: ['Int32?', 'i32', 'i32'],
  i64: ['Int64?', 'i64::varchar', 'cast(i64 as varchar)'],
  u8: ['UInt8?', 'u8', 'u8'],
  u16: ['UInt16?', 'u16', 'u16'],
  f32: ['Float32?', 'f32', 'f32'],
  f64: ['Float64?', 'f64', 'f64'],
  money: ['Decimal(15,4)?', 'money::varchar', 'cast(money as varchar)'],
  huge: ['Decimal(38,10)?', 'huge::varchar', 'cast(huge as varchar)'],
  day: ['Date?', 'day::varchar', 'cast(day as varchar)'],
  at: ['Timestamp?', 'epoch_us("at")', '"at"'],
  fine: ['Timestamp(Microsecond)?', 'epoch_us(fine)', 'fine'],
  raw: ['Binary?', 'hex(raw)', 'to_hex(raw)'],
  tags: ['List(String?)?', 'tags', 'tags'],
  u32: ['UInt32?', undefined, undefined],
  u64: ['UInt64?', undefined, undefined],
} as const
const shown = Object.values(columns).filter((column) => column[1] !== undefined)
const duckSelect = ['"offset"', 'op', 'epoch_us(event_time)', ...shown.map(([, sql]) => sql)].join(', ')
const trinoSelect = ['"offset"', 'op', 'event_time', ...shown.map(([, , sql]) => sql)].join(', ')

/** Row `n`; every fifth has nulls. */
function rowOf(n: number): object {
  const event_time = `${n % 2 === 0 ? 2026 : 1969}-03-${10 + n}T00:00:00.001Z`
  if (n % 5 === 3) return { event_time }
  const sign = n % 2 === 0 ? '-' : ''
  return {
    event_time,
    flag: n % 2 === 0,
    text: `ä${'x'.repeat(n * 10)}`,
    i8: -n,
    i32: n * 20_000_000,
    i64: -n * 234_567_890_123_456,
    u8: 230 + n,
    u16: 65_510 + n,
    f32: n + 0.5,
    f64: n * 1e20,
    money: `${sign}${n}2345678.0001`,
    huge: `${sign}${n}234567890123456789012345.0123456789`,
    day: `${1950 + n}-02-03`,
    at: `${1950 + n}-12-31T23:59:59.999Z`,
    fine: `2026-01-01T00:00:00.${123_456 + n}Z`,
    raw: `ff${n.toString(16).padStart(2, '0')}`,
    tags: ['a', null, String(n)],
    u32: 4_294_967_270 + n,
    u64: Number.MAX_SAFE_INTEGER - n,
  }
}

/** A public dataset of three blocks, and a private one. */
async function fill(live: LiveNode): Promise<void> {
  const fields = Object.entries(columns).map(([name, [type]]) => ({ name, type }))
  const asked = (visibility: string) => ({ method: 'PUT', json: { visibility, schema: { fields } } })
  expect((await live.call('/acme/types', asked('public'))).status).toBe(201)
  expect((await live.call('/acme/hidden', asked('private'))).status).toBe(201)
  for (const from of [1, 7, 13]) {
    const rows = Array.from({ length: 6 }, (_, i) => rowOf(from + i))
    const posted = await live.ingest('acme/types', rows)
    expect([posted.status, posted.status === 200 ? '' : posted.text]).toEqual([200, ''])
  }
  expect((await live.ingest('acme/hidden', [rowOf(1)])).status).toBe(200)
}

/** `2026-01-01 00:00:00.123457 UTC` as microseconds since 1970; what is no time stays. */
function plain(value: unknown): unknown {
  const [, day, second, fraction] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{6})(?: UTC)?$/.exec(String(value)) ?? []
  return day === undefined ? value : Date.parse(`${day}T${second}Z`) * 1000 + Number(fraction)
}

describe.skipIf(trinoHome === undefined)('Trino', () => {
  let bucket: VersityServer | undefined
  let live: LiveNode
  let trino: Trino | undefined
  const ask = (sql: string) => must(trino, 'it was started').ask(sql)
  let blocks: readonly { readonly sequence: number; readonly hash: string }[]
  beforeAll(async () => {
    bucket = versitygw === undefined ? undefined : await startVersitygw()
    vi.stubEnv('AWS_ACCESS_KEY_ID', testKeys.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', testKeys.secretAccessKey)
    const store = bucket && { store: `s3://tests/lake?endpoint=${bucket.url}` }
    live = await startLiveNode({ 'anonymous-read': true, ...store })
    await fill(live)
    const table = await live.call('/iceberg/v1/namespaces/acme/tables/types')
    const snapshots = table.at('metadata.snapshots') as readonly Readonly<Record<string, unknown>>[] // of table metadata
    blocks = snapshots.map((one) => ({
      sequence: Number(one['snapshot-id']),
      hash: String(Object(one['summary'])['odf.block-hash']),
    }))
    // As docs/lake.md has it, and without the token.
    const page = readFileSync(join(repository, 'docs/lake.md'), 'utf8')
    const [, shownLake = ''] = /```properties\n(connector[\s\S]*?)```/.exec(page) ?? []
    const lake = shownLake.replaceAll('http://127.0.0.1:8080', live.node.url)
    const open = lake.replaceAll(/^iceberg\.rest-catalog\.(?:security|oauth2|vended).*\n/gm, '')
    const catalogs = {
      lake: lake.replace('pst_…', live.adminToken),
      open: `${open}s3.aws-access-key=none\ns3.aws-secret-key=none\n`,
    }
    trino = await startTrino(must(trinoHome, 'the tests run'), catalogs)
  })
  afterAll(async () => {
    await trino?.close()
    await live.stop()
    await bucket?.close()
    vi.unstubAllEnvs()
  })

  test('reads the rows that /query gives, now and at blocks of the past', async () => {
    const { id } = (await live.call('/acme/types', { headers: { accept: 'application/json' } })).json as { id: string } // a DID
    for (const { sequence, hash } of blocks) {
      const datasets = [{ id, alias: 'acme/types', blockHash: hash }]
      const answer = await live.query(`select ${duckSelect} from "acme/types" order by 1`, { datasets })
      expect(answer.status).toBe(200)
      const seen = await ask(
        `select ${trinoSelect} from lake.acme.types for version as of bigint '${sequence}' order by 1`,
      )
      expect(seen.map((row) => row.map(plain))).toEqual(answer.at('output.data'))
    }
    expect(blocks.length).toBe(3)
    expect(await ask('select count(*) from lake.acme.types')).toEqual([[18]])
  })

  test('finds rows by time, text and number', async () => {
    const countOf = async (condition: string): Promise<unknown> =>
      (await ask(`select count(*) from lake.acme.types where ${condition}`))[0]?.[0]
    expect(await countOf("event_time < timestamp '1970-01-01 00:00:00'")).toBe(9)
    expect(await countOf("event_time = timestamp '2026-03-12 00:00:00.001'")).toBe(1)
    expect(await countOf("fine > timestamp '2026-01-01 00:00:00.123470 UTC'")).toBe(3)
    expect(await countOf(`text = 'ä${'x'.repeat(20)}'`)).toBe(1)
    expect(await countOf('"offset" between 5 and 6')).toBe(2)
  })

  test('has no column of a type that it would read wrongly', async () => {
    const names = (await ask('describe lake.acme.types')).map(([name]) => name)
    expect(names).not.toContain('u32')
    expect(names).not.toContain('u64')
    expect(names).toContain('u16')
  })

  test('sees private datasets with the token alone', async () => {
    expect(await ask('show tables from open.acme')).toEqual([['types']])
    expect(await ask('select count(*), max(i8) from open.acme.types')).toEqual([[18, -1]])
    await expect(ask('select i8 from open.acme.hidden')).rejects.toThrow('TABLE_NOT_FOUND')
    expect(await ask('select i8 from lake.acme.hidden')).toEqual([[-1]])
  })
})
