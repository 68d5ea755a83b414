// Damage to the files of a copy, and the oracle that says whether anyone can tell: the node that the copy is of.

import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { LiveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import type { Replica } from './support.ts'

const soon = { interval: 100 }

export type Harm = 'a bit' | 'its end' | 'all of it' | 'the file'
export const harms = ['its end', 'all of it', 'the file', 'a bit'] as const

/** Every file of a kind in the store of a data directory. */
export async function filesOf(dataDir: string, kind: string): Promise<string[]> {
  const store = join(dataDir, 'store')
  const all = await readdir(store, { recursive: true })
  const found: string[] = []
  for (const path of all.filter((one) => `/${one}`.includes(`/${kind}/`))) {
    if ((await stat(join(store, path))).isFile()) found.push(join(store, path))
  }
  return found
}

/** Damages a file as a disk might; a bit is that at `at`, in the middle by default. */
export async function harm(path: string, how: Harm, at?: number): Promise<void> {
  const bytes = await readFile(path)
  await rm(path)
  const middle = at ?? bytes.length >> 1
  if (how === 'a bit') bytes[middle] = (bytes[middle] ?? 0) ^ 1
  if (how === 'all of it') bytes.fill(0x7f)
  if (how !== 'the file') await writeFile(path, how === 'its end' ? bytes.subarray(0, middle) : bytes, { mode: 0o600 })
}

/** The copy of `alias` comes to the head of its origin. */
export async function arrives(replica: Replica, origin: LiveNode, alias: string): Promise<void> {
  const head = await origin.head(alias)
  await until('the head of the origin', async () => (await replica.head(alias)) === head)
}

/** Blocks whose objects are compared, or so: of long chains not all. */
const comparedBlocks = 24

/** What the replica says is what the origin says, and nothing on the way there was a fault of the node. */
export async function expectWhole(
  replica: Replica,
  origin: LiveNode,
  { alias, statement }: { readonly alias: string; readonly statement: string },
): Promise<void> {
  const there = await origin.query(statement)
  const answers: string[] = []
  const ask = async (): Promise<unknown> => {
    const answer = await replica.query(statement)
    answers.push(answer.refusal)
    return answer.at('output.data')
  }
  await expect.poll(ask, soon).toEqual(there.at('output.data'))
  expect(answers.filter((refusal) => refusal.startsWith('500'))).toEqual([])
  for (const path of [`/${alias}/blocks?limit=1000`, `/${alias}/tail?limit=1000`, `/${alias}`]) {
    expect([path, (await replica.call(path)).status]).toEqual([path, 200])
  }
  const { blocks } = JSON.parse((await origin.call(`/${alias}/blocks?limit=1000`)).text) as {
    blocks: { hash: string; event: { newData?: { physicalHash: string }; newCheckpoint?: { physicalHash: string } } }[]
  }
  const every = Math.ceil(blocks.length / comparedBlocks)
  for (const { hash, event } of blocks.filter((__, i) => i % every === 0)) {
    const objects = [`blocks/${hash}`]
    if (event.newData !== undefined) objects.push(`data/${event.newData.physicalHash}`)
    if (event.newCheckpoint !== undefined) objects.push(`checkpoints/${event.newCheckpoint.physicalHash}`)
    for (const object of objects) {
      const [mine, theirs] = [await replica.call(`/${alias}/${object}`), await origin.call(`/${alias}/${object}`)]
      expect([object, mine.status, mine.bytes]).toEqual([object, 200, theirs.bytes])
    }
  }
}

/** How many objects and records the replica has made or fetched anew. */
export async function mendedCount(replica: Replica): Promise<number> {
  return Number(/^proofstream_follow_mended_total (\d+)$/m.exec((await replica.call('/metrics')).text)?.[1])
}
