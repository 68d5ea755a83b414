// A process that copies a dataset of a node into a new directory, as it is told on standard input: by a plain HTTP client
// that makes each file durable, or as a replica, which checks it too. Each order is one line, and so is its answer.

import { mkdir, open } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startFollow } from '../src/features/follow/follow.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../src/node/log/announcements.ts'
import { openDirectoryStore } from '../src/node/store/directory/directory-store.ts'
import { ThreadPool } from '../src/node/machine/work/thread-pool.ts'

export interface CopyOrder {
  /** Files that a plain client copies at once, or as a replica. */
  readonly how: number | 'replica'
  readonly url: string
  readonly alias: string
  /** Every object of it: `blocks/f1620…`. */
  readonly files: readonly string[]
  /** Where to; it is made. */
  readonly dir: string
}

export interface CopyResult {
  readonly wallMs: number
  /** Of all threads. */
  readonly cpuMs: number
}

async function copyPlainly({ url, alias, files, dir }: CopyOrder, atOnce: number): Promise<void> {
  const left = files.values()
  const folders = new Set(files.map((file) => join(dir, file, '..')))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  const lane = async (): Promise<void> => {
    for (const file of left) {
      const answer = await fetch(`${url}/${alias}/${file}`, { headers: { 'accept-encoding': 'identity' } })
      if (!answer.ok) throw new Error(`${file}: ${answer.status}`)
      await makeDurable(join(dir, file), new Uint8Array(await answer.arrayBuffer()))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  for (const folder of folders) await makeDurable(folder)
}

/** Writes a file, or takes a directory as it is, and waits for the disk. */
async function makeDurable(path: string, bytes?: Uint8Array): Promise<void> {
  const file = await open(path, bytes === undefined ? 'r' : 'wx')
  if (bytes !== undefined) await file.writeFile(bytes)
  await file.sync()
  await file.close()
}

const work = new ThreadPool({
  clock: systemClock,
  jobs: availableParallelism(),
  queueLimit: 1_000,
  tasks: 0,
  heapMiB: 512,
})

async function copyAsReplica({ url, alias, files, dir }: CopyOrder): Promise<void> {
  const blocks = files.filter((file) => file.startsWith('blocks/')).length
  const store = await openDirectoryStore(join(dir, 'store'))
  const announcements = openLocalAnnouncements(silentLogger)
  const arrived = new Promise<void>((resolve) => {
    announcements.subscribe(({ headSequence }) => headSequence === blocks - 1 && resolve())
  })
  const following = await startFollow({
    options: { url, token: undefined, patterns: [alias] },
    store,
    announcements,
    clock: systemClock,
    logger: silentLogger,
    work,
    evidenceDir: join(dir, 'evidence'),
    onRemoved: () => {},
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
  await (order.how === 'replica' ? copyAsReplica(order) : copyPlainly(order, order.how))
  const wallMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(before)
  const result: CopyResult = { wallMs, cpuMs: (user + system) / 1000 }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
await work.close()
