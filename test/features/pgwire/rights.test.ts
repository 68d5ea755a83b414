// Who may see what over the door, how a connection begins and how it ends: tokens, anonymous callers, databases, cancels, a node that stops.

import { describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode, startLiveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { connected, errorOf } from './pg.ts'
import * as raw from './raw-client.ts'

const [port, closedPort] = [await freePort(), await freePort()]
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const closed = await liveNode({ 'pg-listen': `127.0.0.1:${closedPort}`, 'anonymous-read': 'false' })
await live.ingest('acme/open', [{ a: 1 }], '?create=true')
for (const name of ['acme/secret', 'other/secret', 'hidden/secret']) {
  await live.call(`/${name}`, { method: 'PUT', json: { visibility: 'private' } })
  await live.ingest(name, [{ a: 1 }])
}
await closed.ingest('acme/open', [{ a: 1 }], '?create=true')

async function token(more: object = {}): Promise<{ readonly id: string; readonly password: string }> {
  const made = await live.call('/tokens', { method: 'POST', json: { name: 'test', scopes: ['read'], ...more } })
  return { id: String(made.at('id')), password: String(made.at('token')) }
}

/** The state of each statement; 00000 where rows came. */
async function statesOf(config: Parameters<typeof connected>[0], ...statements: readonly string[]): Promise<string[]> {
  const client = await connected(config)
  const states: string[] = []
  for (const sql of statements) states.push((await errorOf(client.query(sql))).code ?? '00000')
  await client.end()
  return states
}

/** What a connection that is refused hears. */
async function heard(at: number, ...bytes: readonly Uint8Array[]): Promise<string[]> {
  const one = await raw.RawClient.open(at)
  one.send(...bytes)
  return await one.rest()
}

describe('rights', () => {
  const all = ['acme/open', 'acme/secret', 'other/secret'].map((name) => `select a from "${name}"`)

  test('a caller without a token reads what is public', async () => {
    expect(await statesOf({ port }, ...all)).toEqual(['00000', '42P01', '42P01'])
  })

  test('a token reads what it is for', async () => {
    const { password } = await token({ datasets: ['acme/*'] })
    expect(await statesOf({ port, user: 'ann', password }, ...all)).toEqual(['00000', '00000', '42P01'])
    expect(await statesOf({ port, user: 'ann', password: live.adminToken }, ...all)).toEqual([
      '00000',
      '00000',
      '00000',
    ])
  })

  test('one that may not read, reads nothing private', async () => {
    const { password } = await token({ scopes: ['ingest'] })
    expect(await statesOf({ port, user: 'ann', password }, ...all)).toEqual([expect.any(String), '42P01', '42P01'])
  })

  test('a token that is revoked serves no further statement, nor rows that are left', async () => {
    const { id, password } = await token()
    const one = await raw.RawClient.session(port, { user: 'ann' }, password)
    const rows = [
      raw.parse('select range from range(100000)'),
      raw.bind({ portal: 'p' }),
      raw.execute('p', 1),
      raw.sync,
    ]
    await one.ask(raw.query('begin'))
    expect(await one.ask(...rows)).toEqual(['1', '2', 'D 0', 's', 'Z T'])
    expect((await live.call(`/tokens/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await one.ask(raw.execute('p', 1), raw.sync)).toEqual(['E 28P01', 'Z E'])
    expect(await one.ask(raw.query('rollback'))).toEqual(['C ROLLBACK', 'Z I'])
    expect(await one.ask(raw.query('select 1'))).toEqual(['E 28P01', 'Z I'])
    one.end()
    expect(await heard(port, raw.startup({ user: 'ann' }), raw.password(password))).toEqual(['R', 'E 28P01'])
  })

  test('the address of a proof shows nothing to who may not read it', async () => {
    const { password } = await token({ datasets: ['acme/*'] })
    const client = await connected({ port, user: 'ann', password })
    await client.query('select a from "acme/secret"')
    const { rows } = await client.query('select proofstream_proof()')
    await client.end()
    const path = String(rows[0]?.['proofstream_proof']).slice(live.node.url.length)
    expect((await live.call(path, { token: null })).status).toBe(404)
    expect((await live.call(path, { token: password })).status).toBe(200)
    expect(path).not.toContain(password)
  })
})

describe('the start', () => {
  const anonymous = raw.startup({ user: 'anonymous' })

  test.each<[what: string, told: readonly string[], bytes: readonly Uint8Array[]]>([
    ['a password that is no token', ['R', 'E 28P01'], [raw.startup({ user: 'ann' }), raw.password('pst_no')]],
    ['an empty password', ['R', 'E 28P01'], [raw.startup({ user: 'ann' }), raw.password('')]],
    ['a query in place of a password', ['R', 'E 08P01'], [raw.startup({ user: 'ann' }), raw.query('select 1')]],
    ['no user', ['E 28000'], [raw.startup({})]],
    ['protocol 2', ['E 0A000'], [raw.startup({ user: 'anonymous' }, 131_072)]],
    ['HTTP', ['E 08P01'], [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['a cancel of nobody', [], [raw.first(80_877_102, raw.int32(1), raw.int32(1))]],
  ])('%s', async (_, told, bytes) => {
    expect(await heard(port, ...bytes)).toEqual(told)
  })

  test('a user without a token where reading needs one', async () => {
    expect(await heard(closedPort, anonymous)).toEqual(['E 28000'])
    const [sql, password] = ['select a from "acme/open"', closed.adminToken]
    expect(await statesOf({ port: closedPort, user: 'ann', password }, sql)).toEqual(['00000'])
  })

  test('encryption that is not there is refused, in the clear it goes on', async () => {
    const one = await raw.RawClient.open(port)
    one.send(raw.first(80_877_103), raw.first(80_877_104), anonymous)
    // Two letters without lengths, then messages.
    const bytes = await new Promise<Buffer>((resolve) => {
      one.socket.removeAllListeners('data').once('data', resolve)
    })
    expect(bytes.subarray(0, 2).toString()).toBe('NN')
    one.end()
  })

  test('a newer protocol and options that are not known are negotiated', async () => {
    const one = await raw.RawClient.open(port)
    one.send(raw.startup({ user: 'anonymous', '_pq_.command_tag': 'x' }, (3 << 16) | 9))
    const [negotiated] = await one.until('Z')
    expect([negotiated?.letter, negotiated?.body.toString('hex')]).toEqual([
      'v',
      `0003000200000001${Buffer.from('_pq_.command_tag\0').toString('hex')}`,
    ])
    one.end()
  })
})

describe('a database is an account', () => {
  test('whose datasets have bare names', async () => {
    const { password } = await token()
    const sql = ['select a from open', 'select a from secret', 'select a from "other/secret"', 'select a from nothing']
    expect(await statesOf({ port, user: 'ann', password, database: 'acme' }, ...sql)).toEqual([
      '00000',
      '00000',
      '00000',
      '42P01',
    ])
    expect(await statesOf({ port, user: 'ann', password, database: 'all' }, ...sql)).toEqual([
      '42P01',
      '42P01',
      '00000',
      '42P01',
    ])
    expect(await statesOf({ port, database: 'ACME' }, ...sql)).toEqual(['00000', '42P01', '42P01', '42P01'])
  })

  test('whose bare names stand beside questions to the catalogue', async () => {
    const sql = [
      'select a, current_database() from open',
      "select a from open where 'open' in (select relname from pg_class)",
      'select a from nothing, pg_class',
      'select a, current_database() from secret',
    ]
    expect(await statesOf({ port, database: 'acme' }, ...sql)).toEqual(['00000', '00000', '42P01', '42P01'])
  })

  // Whose datasets are all private is not told from one that is not there (test/node/http/hidden.test.ts).
  test('that is hidden where nothing of it may be read', async () => {
    for (const database of ['hidden', 'nothing']) {
      expect(await heard(port, raw.startup({ user: 'anonymous', database }), raw.terminate)).toEqual(['E 3D000'])
    }
  })

  // The name of an account is that account, whoever asks.
  test('of the name of its user', async () => {
    const { password } = await token()
    expect(await statesOf({ port, user: 'acme', password, database: 'acme' }, 'select a from open')).toEqual(['00000'])
  })
})

const endless = 'select sum(a.range * b.range % 7) from range(10000000) a, range(10000000) b'

describe('an end', () => {
  test('a cancel ends the statement of its key, and no other', async () => {
    const one = await raw.RawClient.open(port)
    one.send(raw.startup({ user: 'anonymous' }))
    const key = (await one.until('Z')).find(({ letter }) => letter === 'K')?.body ?? Buffer.alloc(8)
    const cancel = async (of: Uint8Array): Promise<void> => {
      expect(await heard(port, raw.first(80_877_102, of))).toEqual([])
    }
    const other = Buffer.from(key)
    other[7] = (other[7] ?? 0) ^ 1
    one.send(raw.query(endless))
    for (let i = 0; i < 20; i++) await cancel(other)
    let told: string[] | undefined
    void one.until('Z').then((all) => (told = all.map(raw.brief)))
    await until('the end of the statement', async () => {
      await cancel(key)
      return told
    })
    expect(told).toEqual(['E 57014', 'Z I'])
    expect(await one.ask(raw.query('select 1'))).toEqual(['T', 'D 1', 'C SELECT 1', 'Z I'])
    one.end()
  })

  test('a client that leaves ends its statement', async () => {
    const leavers = await Promise.all(Array.from({ length: 8 }, () => raw.RawClient.session(port)))
    for (const one of leavers) {
      one.send(raw.query(endless))
      one.end()
    }
    expect(await statesOf({ port }, 'select 1')).toEqual(['00000'])
  })

  test('a node that stops says so to those who wait and those who do not', async () => {
    const at = await freePort()
    const stopping = await startLiveNode({ 'pg-listen': `127.0.0.1:${at}` })
    const [idle, busy] = [await raw.RawClient.session(at), await raw.RawClient.session(at)]
    busy.send(raw.query(endless))
    await until('the statement', async () =>
      (await stopping.call('/metrics')).text.includes('proofstream_query_running 1'),
    )
    const [toIdle, toBusy] = [idle.rest(), busy.rest()]
    await stopping.stop()
    expect(await toIdle).toEqual(['E 57P01'])
    expect((await toBusy).filter((one) => one.startsWith('E'))).toContain('E 57P01')
    await expect(raw.RawClient.open(at)).rejects.toThrow('ECONNREFUSED')
  })
})
