// A process that copies a dataset of a node into a new directory, as it is told on standard input: by a plain HTTP client
// that makes each file durable, or as a replica, which checks it too. Each order is one line, and so is its answer.

import { mkdir, open } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startFollow } from '../src/follow/follow.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/logger.ts'
import { openLocalAnnouncements } from '../src/log/announcements.ts'
import { openDirectoryStore } from '../src/store/directory/directory-store.ts'
import { ThreadPool } from '../src/work/thread-pool.ts'

export interface CopyOrder {
  readonly how: 'plain' | 'follow'
  readonly url: string
  readonly alias: string
  /** Blocks of the dataset. */
  readonly blocks: number
  /** `blocks/f1620…`: every object of it. */
  readonly files: readonly string[]
  /** Where to; it is made. */
  readonly dir: string
}

export interface CopyResult {
  readonly wallMs: number
  /** Of all threads. */
  readonly cpuMs: number
}

/** Files that the plain client copies at once. */
const parallelFiles = 4

async function copyPlainly({ url, alias, files, dir }: CopyOrder): Promise<void> {
  const left = files.values()
  const folders = new Set(files.map((file) => join(dir, file, '..')))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  const lane = async (): Promise<void> => {
    for (const file of left) {
      const answer = await fetch(`${url}/${alias}/${file}`, { headers: { 'accept-encoding': 'identity' } })
      if (!answer.ok) throw new Error(`${file}: ${answer.status}`)
      await durable(join(dir, file), new Uint8Array(await answer.arrayBuffer()))
    }
  }
  await Promise.all(Array.from({ length: parallelFiles }, lane))
  for (const folder of folders) await durable(folder)
}

/** Writes a file, or takes a directory as it is, and waits for the disk. */
async function durable(path: string, bytes?: Uint8Array): Promise<void> {
  const file = await open(path, bytes === undefined ? 'r' : 'wx')
  if (bytes !== undefined) await file.writeFile(bytes)
  await file.sync()
  await file.close()
}

const work = new ThreadPool({ jobs: availableParallelism(), queueLimit: 1_000, tasks: 0, heapMiB: 512 })

async function follow({ url, alias, blocks, dir }: CopyOrder): Promise<void> {
  const store = await openDirectoryStore(join(dir, 'store'))
  const announcements = openLocalAnnouncements(silentLogger)
  const arrived = new Promise<void>((resolve) => {
    announcements.subscribe(({ headSequence }) => headSequence === blocks - 1 && resolve())
  })
  const following = await startFollow({
    options: { url, token: undefined, patterns: [alias], rate: 0 },
    store,
    announcements,
    clock: systemClock,
    logger: silentLogger,
    work,
    evidenceDir: join(dir, 'evidence'),
    deleteGraceMs: 0,
  })
  await arrived
  await following.close()
  await store.close()
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as CopyOrder // of the one who started this
  const before = process.cpuUsage()
  const startMs = performance.now()
  const t0 = process.threadCpuUsage()
  await (order.how === 'plain' ? copyPlainly(order) : follow(order))
  const wallMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(before)
  if (process.env['SPLIT']) console.error(order.how, 'user', user / 1000 | 0, 'sys', system / 1000 | 0, 'main', JSON.stringify(process.threadCpuUsage(t0)))
  const result: CopyResult = { wallMs, cpuMs: (user + system) / 1000 }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
await work.close()
