// Changes, renames, deletions and restorations where the processes are apart: what one gateway was asked for is committed by
// one of two builders, and honoured by the other gateway and by a replica within seconds. One builder is killed meanwhile.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { type ServedNode, serveNode } from '../helpers/run-node.ts'
import { patienceMs } from '../helpers/until.ts'

/** Far longer than it takes: what is waited for is the state. */
const honouredWithinMs = 300_000
const names = ['gateway-1', 'gateway-2', 'builder-1', 'builder-2', 'replica-1'] as const
type Name = (typeof names)[number]
const running = new Map<Name, ServedNode>()
const prefix = newPrefix()
let home: string
let token: string

async function start(name: Name): Promise<void> {
  const env = {
    PROOFSTREAM_LOG: kafkaUrl(prefix, 4),
    PROOFSTREAM_STORE: join(home, 'store'),
    PROOFSTREAM_NODE_KEY: join(home, 'node-key.json'),
  }
  running.set(name, await serveNode(join(home, name), ['--roles', name.replace(/-\d$/, '')], env))
}

function call(name: Name, path: string, more: { method?: string; json?: object; headers?: object } = {}) {
  const type = more.json === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { authorization: `Bearer ${token}`, ...type, ...more.headers }
  const method = more.method ?? (more.json === undefined ? 'GET' : 'POST')
  const body = more.json === undefined ? {} : { body: JSON.stringify(more.json) }
  return send(must(running.get(name), `${name} runs`).url, path, { method, headers, ...body })
}

const make = async (at: Name, alias: string): Promise<string> => {
  const json = { schema: { fields: [{ name: 'i', type: 'Int64' }] } }
  const made = await call(at, `/${alias}`, { method: 'PUT', json })
  expect([made.status, made.text]).toEqual([201, expect.anything()])
  return String(made.at('id'))
}
const post = (at: Name, alias: string, i: number): Promise<Answer> =>
  call(at, `/${alias}/ingest`, { json: [{ i }], headers: { prefer: 'wait=20' } })
const patch = (at: Name, alias: string, json: object) => call(at, `/${alias}`, { method: 'PATCH', json })
const remove = (at: Name, alias: string) => call(at, `/${alias}`, { method: 'DELETE', headers: { 'if-match': '*' } })
const query = (sql: string) => call('replica-1', '/query', { json: { query: sql, dataFormat: 'JsonAoa' } })

/** Waits until a process says what it has to. */
async function honoured(what: () => Promise<unknown>, wanted: unknown): Promise<void> {
  let said = await what()
  for (const endMs = performance.now() + honouredWithinMs; performance.now() < endMs; said = await what()) {
    if (JSON.stringify(said) === JSON.stringify(wanted)) return
    await sleep(100)
  }
  expect(said).toEqual(wanted)
}

describe.skipIf(noKafka)('the life of a dataset', () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'proofstream-life-'))
    await start('gateway-1')
    await Promise.all(names.filter((name) => name !== 'gateway-1').map(start))
    token = (await readFile(join(home, 'gateway-1', 'token'), 'utf8')).trim()
  })

  afterAll(async () => {
    await Promise.all([...running.values()].map((node) => node.end('SIGKILL')))
    await rm(home, { recursive: true, force: true })
  })

  test('a change of one gateway is honoured by the other and by a replica', async () => {
    await make('gateway-1', 'acme/changed')
    expect((await call('gateway-2', '/acme/changed')).at('visibility')).toBe('public')
    const told = await patch('gateway-2', 'acme/changed', { visibility: 'private', freshness: '5s' })
    expect([told.status, told.at('visibility')]).toEqual([200, 'private'])
    for (const name of ['gateway-1', 'replica-1'] as const) {
      const state = async (): Promise<unknown> => {
        const about = await call(name, '/acme/changed')
        return [about.at('visibility'), about.at('freshness')]
      }
      await honoured(state, ['private', '5s'])
    }
  })

  test('a rename is followed by all, rows go on, and the old name leads to the new one', async () => {
    const id = await make('gateway-1', 'acme/before')
    expect((await post('gateway-2', 'acme/before', 0)).status).toBe(200)
    await honoured(async () => (await query('select count(*) from acme.before')).at('output.data.0.0'), 1)
    expect((await patch('gateway-2', 'acme/before', { alias: 'acme/after' })).at('id')).toBe(id)
    for (const name of ['gateway-1', 'replica-1'] as const) {
      await honoured(async () => (await call(name, '/acme/before')).headers.location, '/acme/after')
      await honoured(async () => (await call(name, `/datasets/${id}`)).at('alias'), 'acme/after')
    }
    expect((await post('gateway-1', 'acme/before', 1)).headers.location).toBe('/acme/after/ingest')
    expect((await post('gateway-1', 'acme/after', 1)).status).toBe(200)
    await honoured(async () => (await query('select count(*) from acme.after')).at('output.data.0.0'), 2)
    const old = await query('select count(*) from acme.before')
    expect([old.status, old.at('candidates.0')]).toEqual([404, 'acme/after'])
  })

  test('of many datasets that two gateways rename to one name at the same moment, one has it', async () => {
    const made = await Promise.all(
      Array.from(
        { length: 6 },
        async (_, i) => [`acme/racer-${i}`, await make('gateway-1', `acme/racer-${i}`)] as const,
      ),
    )
    for (const [alias] of made) await honoured(async () => (await call('gateway-2', `/${alias}`)).status, 200)
    const answers = await Promise.all(
      made.map(([alias], i) => patch(i % 2 === 0 ? 'gateway-1' : 'gateway-2', alias, { alias: 'acme/won' })),
    )
    const told = answers.map(({ status, refusal }) => (status === 200 ? '200' : refusal)).sort()
    expect(told).toEqual(['200', ...Array.from({ length: 5 }, () => '409 DatasetExists')])
    const winner = must(made[answers.findIndex(({ status }) => status === 200)], 'one has won')
    await honoured(async () => (await call('replica-1', '/acme/won')).at('id'), winner[1])
    for (const [alias, id] of made) {
      const wanted = id === winner[1] ? 'acme/won' : alias
      await honoured(async () => (await call('replica-1', `/datasets/${id}`)).at('alias'), wanted)
    }
  })

  test('a deletion is honoured by all, and what another gateway restores is whole', async () => {
    const id = await make('gateway-1', 'acme/gone')
    for (let i = 0; i < 3; i++) expect((await post('gateway-1', 'acme/gone', i)).status).toBe(200)
    expect((await call('gateway-2', '/acme/gone')).status).toBe(200)
    expect((await remove('gateway-1', 'acme/gone')).at('id')).toBe(id)
    for (const name of ['gateway-2', 'replica-1'] as const) {
      await honoured(async () => (await call(name, '/acme/gone')).status, 404)
      await honoured(async () => (await call(name, `/datasets/${id}`)).status, 410)
    }
    const late = await post('gateway-2', 'acme/gone', 3)
    expect(['404 DatasetNotFound', '410 DatasetDeleted']).toContain(late.refusal)
    const restored = await call('gateway-2', `/datasets/${id}/restore`, { json: { alias: 'acme/back' } })
    expect([restored.status, restored.at('alias')]).toEqual([200, 'acme/back'])
    await honoured(async () => (await query('select count(*) from acme.back')).at('output.data.0.0'), 3)
    await honoured(async () => (await call('gateway-1', '/acme/back')).at('id'), id)
    expect((await post('gateway-1', 'acme/back', 3)).status).toBe(200)
  })

  test('all of it goes on when one of the builders is killed', async () => {
    const ids = await Promise.all([0, 1, 2, 3].map((i) => make('gateway-1', `acme/kept-${i}`)))
    await must(running.get('builder-1'), 'it runs').end('SIGKILL')
    running.delete('builder-1')
    // Until the other has the partitions the outcome may be open: then it is asked for once more.
    const done = async (ask: () => Promise<Answer>): Promise<Answer> => {
      for (const endMs = performance.now() + patienceMs; performance.now() < endMs;) {
        const answer = await ask()
        if (answer.status < 400) return answer
        expect(['500 OutcomeUnknown', '503 LogUnavailable']).toContain(answer.refusal)
      }
      return expect.fail('it did not come')
    }
    await Promise.all(
      ids.map(async (id, i) => {
        await done(() => patch('gateway-1', `acme/kept-${i}`, { alias: `acme/moved-${i}` }))
        await honoured(async () => (await call('gateway-2', `/datasets/${id}`)).at('alias'), `acme/moved-${i}`)
      }),
    )
    expect((await remove('gateway-2', 'acme/moved-0')).status).toBe(200)
    expect((await call('gateway-1', `/datasets/${ids[0]}/restore`, { json: {} })).at('alias')).toBe('acme/moved-0')
    expect(await checkStore(join(home, 'store'))).toMatchObject({ ok: true, problems: [] })
  })
})
