// The body of the crash tests: a node under load is killed again and again at moments drawn by chance (SIGKILL: nothing
// is flushed, nothing closed).
// Invariant: every batch that was acknowledged (200 or 202) is in its dataset whole, at the offsets that were told, and
// once; of a batch that was not, all rows are there or none, and once; the store is sound to the last byte; a receipt
// from before a crash tells the truth after it.
// Method: producers with keys repeat a batch until it is acknowledged, across restarts; producers without send once.
// Each cycle starts the node on the same directory, waits a random time (sometimes not even until it is ready), kills
// it. At the end rows are counted by SQL and every object is checked. CRASH_CYCLES says how many cycles, CRASH_SEED
// repeats a run. A kill leaves the page cache: lost power is simulated in test/log and test/store.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDirectoryStore } from '../../src/store/directory-store.ts'
import { fsck } from '../../src/store/fsck.ts'
import type { StoreReport } from '../../src/store/fsck-report.ts'
import { dataPaths } from '../../src/store/layout.ts'
import { type NodeProcess, startNodeProcess } from '../helpers/node-process.ts'
import { creatingPosts, Ledger, largePosts, produce, type SentBatch, smallPosts, type Target } from './producers.ts'
import { randomOf } from './random.ts'

const cycles = Number(process.env['CRASH_CYCLES'] ?? 4)
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const random = randomOf(seed)
/** Ready again after a crash within this time, in the median of all restarts; a short run shares the machine with other tests. */
const readyWithinMs = cycles >= 20 ? 3_000 : 20_000
const checkEvery = 10

/** What differs between the logs that a node can have. */
export interface KillsOptions {
  /** Options of the node beside those of every run. */
  readonly flags: () => Readonly<Record<string, unknown>>
  /** True when a second node on the same directory must be refused. */
  readonly isExclusive: boolean
}

let data = ''
let node: NodeProcess | undefined
let more: KillsOptions = { flags: () => ({}), isExclusive: true }

const options = (): { data: string } & Record<string, unknown> => ({
  data,
  'log-level': 'error',
  'cut-burst': 100_000,
  ...more.flags(),
  'cut-open-age': 200,
  'cut-wait-age': 20,
  'limit-concurrent-queries': 1,
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  if (node === undefined) throw new Error('no node runs')
  const headers = { authorization: `Bearer ${node.token}`, 'content-type': 'application/json' }
  return fetch(node.url + path, { ...init, headers })
}

async function rowsOf(sql: string): Promise<unknown[][]> {
  const answer = await call('/query', {
    method: 'POST',
    body: JSON.stringify({ query: sql, dataFormat: 'JsonAoa', limit: 100_000 }),
  })
  const body = (await answer.json()) as { output: { data: unknown[][] } }
  if (answer.status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`)
  return body.output.data
}

async function checkStore(): Promise<StoreReport> {
  const store = await openDirectoryStore(dataPaths(data).store)
  try {
    return await fsck(store)
  } finally {
    await store.close()
  }
}

/** Starts the node, kills it at a moment drawn by chance, before or after it is ready. Returns the time to ready. */
async function liveAndDie(): Promise<number | undefined> {
  if (random.next() < 0.15) {
    const diesAfterMs = random.between(20, 500)
    await startNodeProcess(options(), {
      onSpawn: (child) => void sleep(diesAfterMs).then(() => child.kill('SIGKILL')),
    }).then(
      (early) => early.kill(),
      () => {},
    )
    return undefined
  }
  node = await startNodeProcess(options())
  const { readyMs } = node
  await sleep(random.between(50, 1500))
  const dying = node
  node = undefined
  await dying.kill()
  return readyMs
}

interface Found {
  readonly rows: number
  readonly distinct: number
  readonly start: number
  readonly end: number
  readonly of: number
}

async function readBack(aliases: Iterable<string>): Promise<Map<string, Found>> {
  const found = new Map<string, Found>()
  for (const alias of aliases) {
    const sql = `SELECT batch, count(*), count(DISTINCT i), min("offset"), max("offset"), max("of") FROM "${alias}" GROUP BY batch`
    for (const [batch, ...numbers] of await rowsOf(sql)) {
      const [rows = 0, distinct = 0, start = 0, end = 0, of = 0] = numbers.map(Number)
      found.set(`${alias} ${String(batch)}`, { rows, distinct, start, end, of })
    }
  }
  return found
}

/** What is wrong with a batch, or undefined. */
function faultOf(batch: SentBatch, found: Found | undefined): string | undefined {
  if (found === undefined) return batch.receipt === undefined ? undefined : `${batch.id} was acknowledged and is lost`
  const { rows, distinct, start, end, of } = found
  if (rows !== batch.rows || of !== batch.rows || distinct !== rows || end - start + 1 !== rows) {
    return `${batch.id} of ${batch.rows} rows is torn or twice: ${JSON.stringify(found)}`
  }
  const told = batch.receipt?.offsets
  if (told !== undefined && (told.start !== start || told.end !== end)) {
    return `${batch.id} was told ${JSON.stringify(told)} and is at ${start} to ${end}`
  }
  return undefined
}

/** Receipts as the node tells them now, for a sample of batches. */
async function receiptFaults(batches: readonly SentBatch[], found: ReadonlyMap<string, Found>): Promise<string[]> {
  const faults: string[] = []
  for (const batch of batches) {
    if (batch.receipt === undefined) continue
    const answer = await call(`/receipts/${batch.receipt.receiptId}`)
    const receipt = (await answer.json()) as { status: string; offsets?: { start: number; end: number } }
    const rows = found.get(`${batch.alias} ${batch.id}`)
    if (
      receipt.status !== 'committed' ||
      receipt.offsets?.start !== rows?.start ||
      receipt.offsets?.end !== rows?.end
    ) {
      faults.push(`the receipt of ${batch.id} says ${JSON.stringify(receipt)}, the rows are ${JSON.stringify(rows)}`)
    }
  }
  return faults
}

function problemsOf(report: StoreReport): unknown[] {
  return [
    ...report.problems,
    ...report.datasets.flatMap(({ alias, problems }) => problems.map((one) => ({ alias, ...one }))),
  ]
}

async function createDatasets(): Promise<void> {
  node = await startNodeProcess(options())
  for (const name of ['small', 'mixed', 'large']) {
    const answer = await fetch(`${node.url}/acme/${name}/ingest?create=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${node.token}`, 'content-type': 'application/x-ndjson' },
      body: '{"batch":"first","i":0,"of":1,"fill":""}\n',
    })
    expect([name, answer.status]).toEqual([name, 200])
  }
  if (more.isExclusive) {
    await expect(startNodeProcess(options())).rejects.toThrow(/LogUnavailable|another process|in use/)
  }
  await node.stop()
  node = undefined
}

function startProducers(ledger: Ledger, isOver: () => boolean): Promise<unknown> {
  const target: Target = {
    address: async () => {
      while (node === undefined || !node.isAlive()) await sleep(10)
      return node
    },
    stopping: isOver,
  }
  const next = (): number => random.between(0, 2 ** 31)
  const raced = next()
  return Promise.all([
    ...[0, 1, 2].map((n) => produce(`keyed${n}`, target, ledger, smallPosts(randomOf(next()), 'acme/small', true))),
    ...[0, 1].map((n) => produce(`bare${n}`, target, ledger, smallPosts(randomOf(next()), 'acme/small', false))),
    ...[true, false].map((keyed) =>
      produce(`mixed-${keyed}`, target, ledger, smallPosts(randomOf(next()), 'acme/mixed', keyed)),
    ),
    produce('large', target, ledger, largePosts(randomOf(next()), 'acme/large')),
    ...[0, 1].map((n) => produce(`maker${n}`, target, ledger, creatingPosts(randomOf(raced)))),
  ])
}

/** Registers the test of one file. */
export function testKills(options: KillsOptions): void {
  more = options
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'proofstream-crash-'))
  })
  afterAll(async () => {
    await node?.kill()
    await rm(data, { recursive: true, force: true })
  })
  test(`no acknowledged batch is lost, doubled or torn over ${cycles} kills (CRASH_SEED=${seed})`, killAndCheck)
}

async function killAndCheck(): Promise<void> {
  console.log(`CRASH_SEED=${seed} CRASH_CYCLES=${cycles}`)
  const ledger = new Ledger()
  const readyMs: number[] = []
  let isOver = false
  await createDatasets()
  const producers = startProducers(ledger, () => isOver)
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const ready = await liveAndDie()
    if (ready !== undefined) readyMs.push(ready)
    const problems = cycle % checkEvery === 0 ? problemsOf(await checkStore()) : []
    expect([cycle, problems]).toEqual([cycle, []])
    expect(ledger.faults).toEqual([])
  }
  node = await startNodeProcess(options())
  isOver = true
  await producers
  expect(ledger.faults).toEqual([])
  // Whatever is only logged must survive one more kill.
  await node.kill()
  node = await startNodeProcess(options())
  await untilCommitted(lastOfEach(ledger.batches))
  const found = await readBack(new Set(ledger.batches.map(({ alias }) => alias)))
  expect(ledger.batches.flatMap((batch) => faultOf(batch, found.get(`${batch.alias} ${batch.id}`)) ?? [])).toEqual([])
  const sample = ledger.batches.filter(() => random.next() < 100 / ledger.batches.length)
  expect(await receiptFaults(sample, found)).toEqual([])
  await node.stop()
  node = undefined
  const report = await checkStore()
  expect(problemsOf(report)).toEqual([])
  const acknowledged = ledger.batches.filter(({ receipt }) => receipt !== undefined).length
  const median = readyMs.sort((a, b) => a - b)[readyMs.length >> 1] ?? 0
  console.log(
    `${ledger.batches.length} batches, ${acknowledged} acknowledged, ${ledger.replays} replayed, ` +
      `${ledger.lostConnections} connections lost, ${report.datasets.length} datasets, ${report.orphans} orphans, ` +
      `ready after ${Math.round(median)} ms (median), ${Math.round(readyMs.at(-1) ?? 0)} ms (most)`,
  )
  expect(acknowledged).toBeGreaterThan(cycles * 3)
  expect(median).toBeLessThan(readyWithinMs)
}

/** Of each dataset the acknowledged batch that is furthest in the log: once it is committed, all before it are. */
function lastOfEach(batches: readonly SentBatch[]): SentBatch[] {
  const last = new Map<string, SentBatch>()
  const positionOf = (batch: SentBatch | undefined): number => batch?.receipt?.log.position ?? -1
  for (const batch of batches) if (positionOf(batch) > positionOf(last.get(batch.alias))) last.set(batch.alias, batch)
  return [...last.values()]
}

async function untilCommitted(batches: readonly SentBatch[]): Promise<void> {
  for (const { receipt } of batches) {
    for (;;) {
      const answer = await call(`/receipts/${receipt?.receiptId ?? ''}`)
      const { status } = (await answer.json()) as { status: string }
      if (status === 'committed') break
      expect([answer.status, status]).toEqual([200, 'accepted'])
      await sleep(50)
    }
  }
}
