// A replica of another node: a dataset of 1,000,000 rows in 100 blocks copied and checked, beside a plain HTTP client that
// copies the same files and makes them durable.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { rmSync } from 'node:fs'
import type { CopyOrder, CopyResult } from './copy-process.ts'
import { type BenchNode, makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const alias = 'acme/copied'
const dataBlocks = 100
const rowsOfBlock = 10_000
const rounds = 5
/** As `npm start` and the command. */
const nodeFlags = ['--v8-pool-size=1', '--external-memory-accounted-in-global-limit']

export async function measureFollow(): Promise<Measure[]> {
  const origin = await startBenchNode({ 'anonymous-read': 'true' })
  try {
    for (let n = 0; n < dataBlocks; n++) {
      await origin.post(alias, ndjsonRows(n * rowsOfBlock, rowsOfBlock), { query: '?create=true', prefer: 'wait=30' })
    }
    return await measureCopies(origin)
  } finally {
    await origin.remove()
  }
}

async function measureCopies(origin: BenchNode): Promise<Measure[]> {
  const files = await filesOf(origin)
  const blocks = files.filter((file) => file.startsWith('blocks/')).length
  const results: Record<CopyOrder['how'], CopyResult[]> = { plain: [], follow: [] }
  const first: CopyResult[] = []
  for (let round = 0; round < rounds; round++) {
    for (const how of ['plain', 'follow'] as const) {
      const done = await copyTwice({ how, url: origin.url, alias, blocks, files })
      console.error(how, JSON.stringify(done))
      results[how].push(...done.slice(1))
    }
  }
  const wall = median(results.plain.map(({ wallMs }) => wallMs)) / median(results.follow.map(({ wallMs }) => wallMs))
  const cpu = median(results.plain.map(({ cpuMs }) => cpuMs)) / median(results.follow.map(({ cpuMs }) => cpuMs))
  return [
    { name: 'speed of a replica, of copying its files', value: wall, unit: '×', bar: { least: 0.5 } },
    { name: 'the same by CPU', value: cpu, unit: '×' },
  ]
}

async function filesOf(origin: BenchNode): Promise<string[]> {
  const files: string[] = []
  for (let before = ''; ; ) {
    const answer = await origin.call(`/${alias}/blocks?limit=1000${before}`)
    const page = (await answer.json()) as {
      blocks: { hash: string; event: { newData?: { physicalHash: string }; newCheckpoint?: { physicalHash: string } } }[]
      next?: string
    }
    for (const { hash, event } of page.blocks) {
      files.push(`blocks/${hash}`)
      if (event.newData) files.push(`data/${event.newData.physicalHash}`)
      if (event.newCheckpoint) files.push(`checkpoints/${event.newCheckpoint.physicalHash}`)
    }
    if (page.next === undefined) return files
    before = `&before=${page.next}`
  }
}

/** A process of its own copies the dataset, and again: what runs for the first time is compiled meanwhile. */
async function copyTwice(order: Omit<CopyOrder, 'dir'>): Promise<CopyResult[]> {
  const dir = makeDataDir()
  const args = [...nodeFlags, new URL('./copy-process.ts', import.meta.url).pathname]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  try {
    const results: CopyResult[] = []
    for (const name of ['first', 'second']) {
      child.stdin.write(`${JSON.stringify({ ...order, dir: join(dir, name) } satisfies CopyOrder)}\n`)
      const { value } = await answers.next()
      results.push(JSON.parse(value as string) as CopyResult)
    }
    return results
  } finally {
    child.stdin.end()
    await once(child, 'exit')
    rmSync(dir, { recursive: true, force: true })
  }
}
