// The services of docker-compose.yml as processes: its commands, variables and health check, with the addresses and
// directories of this machine. One of each role is killed, and the others go on.

import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { readCompose } from '../helpers/compose.ts'
import { kafkaUrl, newPrefix, noKafka } from '../helpers/kafka-shared.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { type ServedNode, serveNode } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'

let home: string
let token: string
const { services } = readCompose()
const names = Object.keys(services).filter((name) => /-\d$/.test(name))
const prefix = newPrefix()
const running = new Map<string, ServedNode>()

/** Starts the service `name`. */
async function start(name: string): Promise<ServedNode> {
  const { command = [], environment } = must(services[name], `${name} is a service`)
  expect(command[0]).toBe('serve')
  const env = {
    ...environment,
    PROOFSTREAM_STORE: join(home, 'store'),
    PROOFSTREAM_NODE_KEY: join(home, 'node-key.json'),
    PROOFSTREAM_LOG: kafkaUrl(prefix),
  }
  const node = await serveNode(join(home, name), command.slice(1), env)
  running.set(name, node)
  return node
}

function nodeOf(name: string): ServedNode {
  return must(running.get(name), `${name} runs`)
}

function call(
  name: string,
  path: string,
  more: { method?: string; body?: string; headers?: Record<string, string> } = {},
) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more.headers }
  const method = more.method ?? (more.body === undefined ? 'GET' : 'POST')
  return send(nodeOf(name).url, path, { method, headers, ...(more.body === undefined ? {} : { body: more.body }) })
}

function post(name: string, rows: readonly object[], key: string, prefer = 'wait=20'): Promise<Answer> {
  const headers = { prefer, 'idempotency-key': `"${key}"` }
  return call(name, '/acme/rows/ingest?create=true', { body: JSON.stringify(rows), headers })
}

async function count(name: string): Promise<unknown> {
  const body = JSON.stringify({ query: 'select count(*), count(distinct i) from "acme/rows"', dataFormat: 'JsonAoa' })
  return (await call(name, '/query', { body })).at('output.data.0')
}

/** Exit code of the health check of a service. */
function health(name: string): number | null {
  const [, , ...args] = must(services[name], `${name} is a service`).healthcheck.test
  const { host } = new URL(nodeOf(name).url)
  return spawnSync(
    process.execPath,
    args.map((arg) => arg.replace('127.0.0.1:8080', host)),
  ).status
}

describe.skipIf(noKafka)('roles apart', () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'proofstream-roles-'))
    await start('gateway-1')
    await Promise.all(names.filter((name) => name !== 'gateway-1').map(start))
    token = (await readFile(join(home, 'gateway-1', 'token'), 'utf8')).trim()
  })

  afterAll(async () => {
    await Promise.all([...running.values()].map((node) => node.end('SIGKILL')))
    await rm(home, { recursive: true, force: true })
  })

  test('a caller who waits at a gateway is told of the commit that a builder made', async () => {
    const posted = await post('gateway-1', [{ i: 0 }], 'k0')
    expect([posted.status, posted.at('status')]).toEqual([200, 'committed'])
    const again = await post('gateway-2', [{ i: 1 }], 'k1')
    expect([again.status, again.at('status')]).toEqual([200, 'committed'])
  })

  test('any gateway knows the receipt of another', async () => {
    const accepted = await post('gateway-1', [{ i: 2 }], 'k2', 'respond-async')
    const path = `/receipts/${String(accepted.at('receiptId'))}`
    await until('what another process shows', async () => (await call('gateway-2', path)).at('status') === 'committed')
  })

  test('a key that one gateway has taken is repeated at another without a second row', async () => {
    const again = await post('gateway-2', [{ i: 2 }], 'k2')
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true'])
  })

  test('replicas answer, with proofs that any replica verifies', async () => {
    await until('what another process shows', async () => JSON.stringify(await count('replica-1')) === '[3,3]')
    const body = JSON.stringify({ query: 'select sum(i) from "acme/rows"', include: ['Proof'] })
    const proof = await call('replica-1', '/query', { body })
    const verdict = await call('replica-2', '/verify', { body: proof.text })
    expect([verdict.status, verdict.at('ok'), verdict.at('signer.relation')]).toEqual([200, true, 'self'])
  })

  test('freshness that one gateway was told is told by the others and by replicas', async () => {
    const schema = { fields: [{ name: 'i', type: 'Int64' }] }
    const body = JSON.stringify({ schema, freshness: '5000ms' })
    const made = await call('gateway-1', '/acme/set', { method: 'PUT', body })
    expect(made.status).toBe(201)
    expect((await call('gateway-2', '/acme/set', { method: 'PUT', body })).status).toBe(200)
    const told = { freshness: '5s' }
    for (const name of ['gateway-2', 'replica-1', 'replica-2']) {
      await until('what another process shows', async () => (await call(name, '/acme/set')).status === 200)
      expect((await call(name, '/acme/set')).json).toMatchObject(told)
    }
  })

  test('each process says its role and is ready', async () => {
    for (const name of running.keys()) {
      expect((await send(nodeOf(name).url, '/info', {})).at('roles')).toEqual([name.replace(/-\d$/, '')])
      await until('what another process shows', async () => health(name) === 0)
    }
    expect((await call('builder-1', '/datasets')).status).toBe(404)
    expect((await call('gateway-1', '/query', { body: '{"query":"select 1"}' })).status).toBe(404)
    expect((await call('gateway-1', '/acme/rows/metadata')).status).toBe(200)
  })

  test('with one of each role killed the others go on, and what was acknowledged is there once', async () => {
    const acknowledged = Array.from({ length: 60 }, (_, i) =>
      post('gateway-1', [{ i: 10 + i }], `a${i}`, 'respond-async'),
    )
    const answers = await Promise.all(acknowledged)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    for (const name of ['gateway-1', 'builder-1', 'replica-1']) {
      await nodeOf(name).end('SIGKILL')
      running.delete(name)
    }
    expect((await post('gateway-2', [{ i: 100 }], 'late')).at('status')).toBe('committed')
    for (let i = 0; i < 60; i += 7) expect((await post('gateway-2', [{ i: 10 + i }], `a${i}`)).status).toBe(200)
    await until('what another process shows', async () => JSON.stringify(await count('replica-2')) === '[64,64]')
    await start('builder-1')
    await nodeOf('builder-2').end('SIGTERM')
    running.delete('builder-2')
    expect((await post('gateway-2', [{ i: 101 }], 'later')).at('status')).toBe('committed')
    await until('what another process shows', async () => JSON.stringify(await count('replica-2')) === '[65,65]')
  })

  test('every process is replaced in turn under load, and a producer that retries notices nothing', async () => {
    for (const name of names) if (!running.has(name)) await start(name)
    const refusals = new Set<number | string>()
    let sent = 0
    let isOver = false
    const produce = async (): Promise<void> => {
      for (let i = 1_000; !isOver; i++) {
        for (let tries = 0; ; tries++) {
          const answer = await post(`gateway-${1 + (tries % 2)}`, [{ i }], `r${i}`, 'respond-async').catch(
            () => undefined,
          )
          if (answer?.status === 200 || answer?.status === 202) break
          refusals.add(answer?.status ?? 'no connection')
          expect(tries).toBeLessThan(100)
          await sleep(20)
        }
        sent++
      }
    }
    const producing = produce()
    for (const name of names) {
      expect(await nodeOf(name).end('SIGTERM')).toEqual({ code: 0, signal: null })
      await start(name)
    }
    isOver = true
    await producing
    expect([...refusals].filter((one) => one !== 503 && one !== 'no connection')).toEqual([])
    expect(sent).toBeGreaterThan(names.length)
    await until(
      'what another process shows',
      async () => JSON.stringify(await count('replica-2')) === JSON.stringify([65 + sent, 65 + sent]),
    )
  })
})

test.skipIf(noKafka)('the commands of docs/roles.md: a row that the gateway takes is read at the replica', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-roles-page-'))
  const nodes = new Map<string, ServedNode>()
  onTestFinished(async () => {
    await Promise.all([...nodes.values()].map((node) => node.end('SIGKILL')))
    await rm(folder, { recursive: true, force: true })
  })
  const log = kafkaUrl(newPrefix())
  for (const line of blockOf('docs/roles.md', 'proofstream serve --roles gateway').trim().split('\n')) {
    const [, , , role = '', , data = '', ...flags] = line.split(' ')
    const words = flags.join(' ').replace('/mnt', folder).replace('kafka://kafka:9092', log).split(' ')
    nodes.set(role, await serveNode(join(folder, data), ['--roles', role, ...words]))
  }
  const admin = (await readFile(join(folder, 'gateway-1', 'token'), 'utf8')).trim()
  const ask = (role: string, path: string, body: string): Promise<Answer> => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json', prefer: 'wait=20' }
    return send(must(nodes.get(role), `a ${role} runs`).url, path, { method: 'POST', headers, body })
  }
  expect((await ask('gateway', '/acme/rows/ingest?create=true', '[{"i":7}]')).at('status')).toBe('committed')
  const rows = async () => (await ask('replica', '/query', '{"query":"select i from acme.rows"}')).at('output.data')
  await expect.poll(rows).toEqual([[7]])
})
