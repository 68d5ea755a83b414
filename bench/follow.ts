// A replica of another node: a dataset of 1,000,000 rows in 100 blocks copied and checked, beside a plain HTTP client that
// copies the same files and makes them durable; and how long a replica takes to show a block, at ten blocks a second.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProofstreamClient } from '../src/libraries/client/client.ts'
import type { CopyOrder, CopyResult } from './copy-process.ts'
import { type BenchNode, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, quantile } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const copied = 'acme/copied'
const dataBlocks = 100
const rowsOfBlock = 10_000
const rounds = 7
/** As `npm start` and the command. */
const nodeFlags = ['--v8-pool-size=1', '--external-memory-accounted-in-global-limit']
const watched = 'acme/watched'
const lagBlocks = 200
const blockEveryMs = 100

export async function measureFollow(): Promise<Measure[]> {
  const tuning = { cut: { openAgeMs: 20, waitAgeMs: 10, intervalMs: 20 } }
  const origin = await startBenchNode({ 'anonymous-read': 'true' }, { tuning })
  try {
    for (let n = 0; n < dataBlocks; n++) {
      await origin.post(copied, ndjsonRows(n * rowsOfBlock, rowsOfBlock), { query: '?create=true', prefer: 'wait=30' })
    }
    return [...(await measureCopies(origin)), await measureLag(origin)]
  } finally {
    await origin.remove()
  }
}

async function measureCopies(origin: BenchNode): Promise<Measure[]> {
  const files = await filesOf(origin)
  const single = new Copier(1)
  const parallel = new Copier(4)
  const replica = new Copier('replica')
  const copiers = [single, parallel, replica]
  try {
    for (let round = 0; round < rounds; round++) {
      for (const copier of copiers) await copier.copy({ url: origin.url, alias: copied, files })
    }
  } finally {
    for (const copier of copiers) await copier.close()
  }
  const bar = { least: 0.5 }
  return [
    { name: 'a replica copies and checks 1,000,000 rows', value: replica.wallMs, unit: 'ms' },
    { name: 'speed of it, of copying file after file', value: single.wallMs / replica.wallMs, unit: '×', bar },
    { name: 'of copying four files at once', value: parallel.wallMs / replica.wallMs, unit: '×' },
    { name: 'of copying file after file, by CPU', value: single.cpuMs / replica.cpuMs, unit: '×' },
  ]
}

/** Every object of the dataset. */
async function filesOf(origin: BenchNode): Promise<string[]> {
  const answer = await origin.call(`/${copied}/blocks?limit=1000`)
  const named = ({ physicalHash }: { physicalHash: string }, folder: string): string => `${folder}/${physicalHash}`
  const { blocks } = (await answer.json()) as {
    blocks: {
      hash: string
      event: Readonly<Record<'newData' | 'newCheckpoint', { physicalHash: string } | undefined>>
    }[]
  }
  return blocks.flatMap(({ hash, event: { newData, newCheckpoint } }) => [
    `blocks/${hash}`,
    ...(newData === undefined ? [] : [named(newData, 'data')]),
    ...(newCheckpoint === undefined ? [] : [named(newCheckpoint, 'checkpoints')]),
  ])
}

/** A process that copies the dataset again and again. The first time it compiles what it runs: that is not counted. */
class Copier {
  readonly #how: CopyOrder['how']
  readonly #dir = makeDataDir()
  readonly #child: ChildProcess
  readonly #answers: AsyncIterator<string>
  readonly #results: CopyResult[] = []

  constructor(how: CopyOrder['how']) {
    this.#how = how
    const program = new URL('./copy-process.ts', import.meta.url).pathname
    const child = spawn(process.execPath, [...nodeFlags, program], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  async copy(what: Omit<CopyOrder, 'dir' | 'how'>): Promise<void> {
    const dir = join(this.#dir, 'copy')
    this.#child.stdin?.write(`${JSON.stringify({ ...what, how: this.#how, dir } satisfies CopyOrder)}\n`)
    const answer = await this.#answers.next()
    if (answer.done === true) throw new Error('the process that copies has ended')
    this.#results.push(JSON.parse(answer.value) as CopyResult)
    rmSync(dir, { recursive: true })
  }

  get wallMs(): number {
    return median(this.#results.slice(1).map(({ wallMs }) => wallMs))
  }

  get cpuMs(): number {
    return median(this.#results.slice(1).map(({ cpuMs }) => cpuMs))
  }

  async close(): Promise<void> {
    this.#child.stdin?.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

/** From a block's event at the origin to the same at a replica. */
async function measureLag(origin: BenchNode): Promise<Measure> {
  await origin.post(watched, ndjsonRows(0, 1), { query: '?create=true', prefer: 'wait=30' })
  const replica = await startBenchNode({
    store: origin.url,
    roles: 'replica',
    follow: watched,
    'follow-token': origin.token,
  })
  const stop = new AbortController()
  const seenMs = [new Map<number, number>(), new Map<number, number>()] as const
  try {
    while ((await replica.call(`/${watched}/refs/head`)).status !== 200) await sleep(50)
    const listening = [origin, replica].map(async (node, index) => {
      const { url, token } = node
      for await (const { sequence } of new ProofstreamClient(url, { token }).events(watched, { signal: stop.signal })) {
        seenMs[index]?.set(sequence, performance.now())
      }
    })
    await sleep(1_000)
    for (let n = 0; n < lagBlocks; n++) {
      await Promise.all([origin.post(watched, ndjsonRows(n, 1), { prefer: 'wait=30' }), sleep(blockEveryMs)])
    }
    await sleep(2_000)
    stop.abort()
    await Promise.allSettled(listening)
  } finally {
    await replica.remove()
  }
  const [there, here] = seenMs
  const lags = [...there].map(([sequence, ms]) => (here.get(sequence) ?? Number.POSITIVE_INFINITY) - ms)
  return {
    name: `lag of a replica, p99 of ${lags.length} blocks`,
    value: quantile(lags, 0.99),
    unit: 'ms',
    bar: { most: 1000 },
  }
}
