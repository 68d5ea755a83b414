// Which message keeps a block from being built: the one by which an operator can end the halt. The block is built again
// from ever fewer of its messages, on top of the chain as it is stored.

import { HaltError } from '../model/errors.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type BuildDeps, buildCommit } from './build-block.ts'
import type { ChainTip } from './chain-tip.ts'
import type { BlockPlan, DataPlan, DatasetState } from './dataset-state.ts'
import { endBlock } from './end-block.ts'
import { isFault } from './fault.ts'
import { decodeEntry, foldMessage, type MessageSource } from './fold-message.ts'
import { loadDataset } from './load-dataset.ts'

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
async function planUpTo(deps: CulpritDeps, plan: DataPlan, last: number): Promise<BlockPlan | undefined> {
  const { source, store } = deps
  const state = (await loadDataset(store, plan.dataset))?.state
  if (state === undefined) return undefined
  const from = Math.max(state.next, plan.firstChange)
  for await (const entries of source.log.read(source.partition, from, { follow: false })) {
    for (const entry of entries) {
      if (entry.position > last) return endOf(state, last)
      const message = decodeEntry(source.rejects, entry)
      if (message.kind === 'foreign') continue
      const { header, payload } = message
      if (header.kind === 'cut' || header.kind === 'create' || header.dataset !== plan.dataset) continue
      await foldMessage(source, state, { position: entry.position, header, payload })
    }
  }
  return endOf(state, last)
}

function endOf(state: DatasetState, last: number): BlockPlan | undefined {
  return state.open === undefined
    ? undefined
    : endBlock(state, { timeMs: Math.max(state.timeMs, state.open.latestAtMs), next: last + 1 })
}
