// Blocks that cannot be built. Which message is at fault is found by building the block again from ever fewer of its
// messages: an operator can end the halt by rejecting that one. A build that takes the process with it (no memory left)
// leaves a note on disk: after two such deaths its dataset halts, so that the others go on; a later start tries again.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readText, removePrivate, replacePrivate } from '../machine/disk/files.ts'
import { AssertionFailed } from '../../libraries/base/assert.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { buildCommit, type BuildDeps } from './build-block.ts'
import { type BlockPlan, buildBytes, type DataPlan } from './dataset-state.ts'
import { endBlock } from './fold.ts'
import { type ChainTip, loadDataset } from './load-dataset.ts'
import { decodeEntry, foldMessage, type MessageSource } from './rows.ts'

export interface CulpritDeps {
  readonly store: ObjectStore
  readonly source: MessageSource
  readonly build: BuildDeps
}

/**
 * The message at fault when `plan`, the next one after `tip`, cannot be built: the first without which the messages
 * before it would make a block. Throws what log and store throw.
 */
export async function findCulprit(deps: CulpritDeps, plan: BlockPlan, tip: ChainTip): Promise<number> {
  if (plan.kind === 'creation') return plan.firstChange
  const messages = [...new Set(plan.checkpoint.outcomes.map(({ position }) => position))]
  // All of them make no block; bisect for the fewest that make none.
  let [low, high] = [0, messages.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    const upTo = messages[middle] ?? plan.firstChange
    const part = await planUpTo(deps, plan, upTo)
    if (part !== undefined && (await canBuild(deps.build, part, tip))) low = middle + 1
    else high = middle
  }
  return messages[low] ?? plan.firstChange
}

async function canBuild(build: BuildDeps, plan: BlockPlan, tip: ChainTip): Promise<boolean> {
  try {
    await buildCommit(plan, tip, { ...build, storeSlice: async (_, chunks) => drain(chunks) })
    return true
  } catch (error) {
    if (isFault(error) || (error instanceof HaltError && error.reason === 'ChainBroken')) return false
    throw error
  }
}

/** What is built only to see whether it can be is stored nowhere. */
async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}

/** The block of those messages of `plan` that lie at `last` or below; undefined where they make none. */
async function planUpTo({ source, store }: CulpritDeps, plan: DataPlan, last: number): Promise<BlockPlan | undefined> {
  const state = (await loadDataset(store, plan.dataset))?.state
  if (state === undefined) return undefined
  const end = (): BlockPlan | undefined => {
    const { open } = state
    return open && endBlock(state, { timeMs: Math.max(state.timeMs, open.latestAtMs), next: last + 1 })
  }
  const from = Math.max(state.next, plan.firstChange)
  for await (const entries of source.log.read(source.partition, from, { follow: false })) {
    for (const entry of entries) {
      if (entry.position > last) return end()
      const message = decodeEntry(source.rejects, entry)
      if (message.kind === 'foreign') continue
      const { header, payload } = message
      if (header.kind === 'cut' || header.kind === 'create' || header.dataset !== plan.dataset) continue
      await foldMessage(source, state, { position: entry.position, header, payload })
    }
  }
  return end()
}

/** True for errors that come back with the same plan or message. */
export function isFault(error: unknown): boolean {
  return (
    error instanceof DecodeError ||
    error instanceof AssertionFailed ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError
  )
}

/** Blocks of more bytes than this are noted: no smaller one takes the memory of a process. */
export const notedBytes = 32 * 1024 * 1024
const deathsMost = 2
const MiB = 1024 * 1024

/** What is known of blocks whose building may end the process. */
export interface BuildNotes {
  /** Notes that the block is being built now; durable when it resolves. Resolves with how often that was so before. */
  begin(name: string, text: string): Promise<number>
  /** It has been built, or not: the process is alive. */
  end(name: string): Promise<void>
}

/** Notes in `dir`, which is made when there is one; a file for each block. */
export function openBuildNotes(dir: string): BuildNotes {
  return {
    async begin(name, text) {
      const path = join(dir, name)
      const before = Number((await readText(path))?.split(' ')[0])
      const deaths = Number.isSafeInteger(before) ? before : 0
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await replacePrivate(path, `${deaths + 1} ${text}\n`)
      return deaths
    },
    end: (name) => removePrivate(join(dir, name)),
  }
}

/**
 * Runs `build` of a block, noted while it runs if it is large. Throws HaltError `PoisonBlock` when the process has died of
 * it twice, and what notes and `build` throw.
 */
export async function noted<T>(notes: BuildNotes | undefined, plan: DataPlan, build: () => Promise<T>): Promise<T> {
  if (notes === undefined || buildBytes(plan) <= notedBytes) return build()
  const { dataset, sequence, firstChange, next } = plan
  const name = `${dataset.replaceAll(':', '-')}-${sequence}-${firstChange}`
  const deaths = await notes.begin(name, `${dataset} block ${sequence}, messages ${firstChange} to ${next - 1}`)
  try {
    if (deaths >= deathsMost) {
      throw new HaltError(
        'PoisonBlock',
        `the process ended twice while block ${sequence} was built from ${Math.ceil(buildBytes(plan) / MiB)} MiB; ` +
          'start it again with more memory, or reject its message',
      )
    }
    return await build()
  } finally {
    await notes.end(name)
  }
}
