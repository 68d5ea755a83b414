// Gateway, builder and replica as three processes over one log in Kafka: how long a batch takes from being sent to its
// commit being told, at half of peak load; how fast a builder that was away catches up, and how soon another one builds
// what a killed one did.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '../src/libraries/model/names.ts'
import { type ServedNode, serveNode, tunedProgram } from '../test/helpers/run-node.ts'
import type { Tuning } from '../test/helpers/tuning.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { type BenchNode, fail, rawPost, runLoad } from './machine.ts'
import { type Measure, quantile, timeMs } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const batchRows = 100
const body = ndjsonRows(0, batchRows)
const backlogRows = 1_000_000
/** After it two builders have shared the partitions out. */
const bothBuildMs = 5_000
/** Of a builder with default options, ms. */
const cutIntervalMs = 5_000

/** Latencies in three regimes of cutting, and the time to catch up. Stops and removes what it starts. */
export async function measureRoles(broker: string): Promise<Measure[]> {
  const roles = new Roles(broker)
  try {
    await roles.start('gateway')
    await roles.start('replica')
    await roles.start('builder')
    const peak = await measurePeak(roles)
    const rate = peak / 2
    // Code is compiled while it warms up.
    await waitingTimes(roles, 'acme/warm', { rate, seconds: 4 })
    const burst: number[] = []
    // Each dataset has a burst of its own, of 60 blocks: 4 s are at most 40.
    for (let i = 0; i < 4; i++) burst.push(...(await waitingTimes(roles, `acme/burst-${i}`, { rate, seconds: 4 })))
    await roles.restart('builder', { cut: { intervalMs: 100 } })
    const often = await waitingTimes(roles, 'acme/often', { rate, seconds: 15 })
    await roles.restart('builder', { cut: { burstBlocks: 1 } })
    const paced = await waitingTimes(roles, 'acme/paced', { rate, seconds: 3 * (cutIntervalMs / 1000) + 1 })
    const backlogSeconds = await measureBacklog(roles)
    const handOverMs = await measureHandOver(roles)
    return [
      { name: 'roles apart: peak of 100-row batches', value: peak * batchRows, unit: 'rows/s' },
      ...bars('within the burst', burst),
      ...bars('blocks every 100 ms', often),
      {
        name: 'sent to commit beyond the burst, longest',
        value: Math.max(...paced),
        unit: 'ms',
        bar: { most: cutIntervalMs + 300 },
      },
      { name: 'backlog of a million rows, builder to drained', value: backlogSeconds, unit: 's', bar: { most: 60 } },
      { name: 'builder killed to commit by another, longest', value: handOverMs, unit: 'ms', bar: { most: 10_000 } },
    ]
  } finally {
    await roles.remove()
  }
}

function bars(when: string, times: readonly number[]): Measure[] {
  return [
    { name: `sent to commit, ${when}, p50`, value: quantile(times, 0.5), unit: 'ms', bar: { most: 300 } },
    { name: `sent to commit, ${when}, p99`, value: quantile(times, 0.99), unit: 'ms', bar: { most: 1500 } },
  ]
}

/** Processes of one role each on one store. */
class Roles {
  readonly #home = mkdtempSync(join(tmpdir(), 'proofstream-bench-'))
  readonly #broker: string
  readonly #running = new Map<Role | 'standby', ServedNode>()

  constructor(broker: string) {
    this.#broker = broker
  }

  async start(role: Role, name: Role | 'standby' = role, tuning: Tuning = {}): Promise<void> {
    const shared = ['--roles', role, '--store', join(this.#home, 'store'), '--log-level', 'warn']
    const kafka = ['--log', `kafka://${this.#broker}/roles`]
    const dataDir = join(this.#home, name)
    this.#running.set(name, await serveNode(dataDir, [...shared, ...kafka], {}, tunedProgram(tuning)))
  }

  async stop(role: Role, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#of(role).end(signal)
    this.#running.delete(role)
  }

  async restart(role: Role, tuning: Tuning): Promise<void> {
    await this.stop(role)
    await this.start(role, role, tuning)
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#running.values()].map((node) => node.end('SIGKILL')))
    rmSync(this.#home, { recursive: true, force: true })
  }

  call(role: Role, path: string, init: Parameters<BenchNode['call']>[1] = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token()}`, 'content-type': 'application/x-ndjson' }
    return fetch(this.#of(role).url + path, { ...init, headers: { ...headers, ...init.headers } })
  }

  /** Posts NDJSON at the gateway; fails on any answer but `status`. */
  async post(alias: string, rows: string, { query = '', prefer = 'wait=60', status = 200 } = {}): Promise<unknown> {
    const init = { method: 'POST', headers: { prefer }, body: rows }
    const answer = await this.call('gateway', `/${alias}/ingest${query}`, init)
    const text = await answer.text()
    return answer.status === status ? JSON.parse(text) : fail(`posting to ${alias}`, text)
  }

  /** The same batch over and over, nobody waiting for its block. Fails on any answer but 202. */
  async load(alias: string, order: Partial<LoadOrder>): Promise<LoadResult> {
    const { url, pid } = this.#of('gateway')
    const post = rawPost(url, `/${alias}/ingest`, { token: this.#token(), prefer: 'respond-async', body })
    const result = await runLoad(pid, { ...post, ...order })
    const others = Object.keys(result.statuses).filter((status) => status !== '202')
    return others.length === 0 ? result : fail('posting under load', JSON.stringify(result.statuses))
  }

  #of(role: Role): ServedNode {
    return this.#running.get(role) ?? fail('asking', `no ${role} runs`)
  }

  #token(): string {
    return readFileSync(join(this.#home, 'gateway', 'token'), 'utf8').trim()
  }
}

/** Batches per second that the gateway takes while the builder builds. */
async function measurePeak(roles: Roles): Promise<number> {
  await roles.post('acme/peak', body, { query: '?create=true' })
  const { perSecond } = await roles.load('acme/peak', { warmMs: 2_000, measureMs: 4_000 })
  await roles.post('acme/peak', body)
  return perSecond
}

/** Milliseconds that callers wait for the commits of their batches while others send `rate` batches per second. */
async function waitingTimes(
  roles: Roles,
  alias: string,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<number[]> {
  await roles.post(alias, body, { query: '?create=true' })
  const loading = roles.load(alias, { rate, warmMs: 0, measureMs: seconds * 1000 })
  const times: number[] = []
  const callers: Promise<void>[] = []
  const call = async (): Promise<void> => {
    const startMs = performance.now()
    await roles.post(alias, body)
    times.push(performance.now() - startMs)
  }
  // Not in step with the blocks: 10 to 70 ms apart.
  const endMs = performance.now() + seconds * 1000
  for (let i = 0; performance.now() < endMs; i++) {
    callers.push(call())
    await sleep(10 + ((i * 37) % 61))
  }
  await Promise.all([loading, ...callers])
  return times
}

/** Seconds from starting a builder to the commit of the last of a million rows that were sent while none ran. */
async function measureBacklog(roles: Roles): Promise<number> {
  const alias = 'acme/backlog'
  await roles.post(alias, body, { query: '?create=true' })
  await roles.stop('builder')
  let batches = 0
  while (batches * batchRows < backlogRows) {
    batches += (await roles.load(alias, { warmMs: 0, measureMs: 2_000 })).answers
  }
  const last = (await roles.post(alias, body, { prefer: 'respond-async', status: 202 })) as { receiptId: string } // a receipt
  const startMs = performance.now()
  await roles.start('builder')
  for (;;) {
    const answer = await roles.call('gateway', `/receipts/${last.receiptId}`)
    if (((await answer.json()) as { status: string }).status === 'committed') break // a receipt
    await sleep(50)
  }
  const seconds = (performance.now() - startMs) / 1000
  await checkRows(roles, alias, (batches + 2) * batchRows)
  return (seconds * backlogRows) / (batches * batchRows)
}

/** The longest that a batch waits for its commit when it is sent after one of two builders was killed. */
async function measureHandOver(roles: Roles): Promise<number> {
  await roles.start('builder', 'standby')
  // As many datasets as it takes to have some in the partitions of either builder.
  const aliases = Array.from({ length: 16 }, (_, i) => `acme/over-${i}`)
  const all = (query: string): Promise<unknown> =>
    Promise.all(aliases.map((alias) => roles.post(alias, body, { query })))
  await all('?create=true')
  await sleep(bothBuildMs)
  await all('')
  await roles.stop('builder', 'SIGKILL')
  return timeMs(() => all(''))
}

/** Fails when the replica has fewer rows; a batch whose answer was not awaited may be there too. */
async function checkRows(roles: Roles, alias: string, least: number): Promise<void> {
  // An answer of another process may be a second old.
  await sleep(1_500)
  const query = JSON.stringify({ query: `select count(*) from "${alias}"`, queryDialect: 'SqlDuckDb' })
  const headers = { 'content-type': 'application/json' }
  const answer = await roles.call('replica', '/query', { method: 'POST', headers, body: query })
  const text = await answer.text()
  const count = Number(/"data":\s*\[\[?"?(\d+)/.exec(text)?.[1])
  if (!(count >= least)) fail(`${least} rows were acknowledged`, text)
}
