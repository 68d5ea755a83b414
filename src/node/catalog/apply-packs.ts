// A chain as its packs tell it: what their summaries say of blocks, and the blocks that these do not tell all of.

import { eventKinds, hashIn, type PackSummary } from '../../libraries/odf/chain/pack-summary.ts'
import { must } from '../../libraries/base/assert.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { MetadataBlock } from '../../libraries/model/events.ts'
import { openBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listPacks, type Pack, PackReader } from '../store/packs.ts'
import type { DatasetChain } from './dataset-chain.ts'
import { whole } from './held-names.ts'

/** Blocks of a pack that are taken in within a few milliseconds. */
const blocksAtOnce = 2_048
const addDataKind = eventKinds.indexOf('AddData')

/** Takes in what packs say; resolves with the first sequence that none of them covers. Throws HaltError `ChainBroken`. */
export async function applyPacks(store: ObjectStore, chain: DatasetChain): Promise<number> {
  const { id, alias } = chain.name
  const reader = new PackReader(store)
  const packs = await listPacks(store, id)
  for (const [number, pack] of packs.entries()) {
    const summary = await reader.summary(pack)
    // The next one is read meanwhile; what is wrong with it is told when its turn comes.
    const next = packs[number + 1]
    if (next !== undefined) reader.summary(next).catch(() => {})
    const named = await namedBlocks(chain, pack, { reader, summary })
    for (let from = 0; from < summary.blocks; from += blocksAtOnce) {
      const to = Math.min(from + blocksAtOnce, summary.blocks)
      await whole(`a pack of ${alias} is damaged`, (async () => chain.applyPacked(summary, { from, to }, named))())
      await nextTurn()
    }
  }
  return packs.at(-1)?.to ?? 0
}

/** The blocks of a pack that its summary does not tell all of, and the last one that brought rows, by number. */
async function namedBlocks(
  { name }: DatasetChain,
  pack: Pack,
  { reader, summary }: { readonly reader: PackReader; readonly summary: PackSummary },
): Promise<Map<number, MetadataBlock>> {
  const wanted = new Map<Hash, number>()
  const last = summary.block.kind.lastIndexOf(addDataKind)
  for (let i = 0; i < summary.blocks; i++) {
    if (summary.block.kind[i] === addDataKind && i !== last) continue
    wanted.set(hashIn(summary.block.hash, i), summary.sequence + i)
  }
  const named = new Map<number, MetadataBlock>()
  for await (const { hash, bytes } of reader.objects(pack, 'blocks', [...wanted.keys()])) {
    named.set(must(wanted.get(hash), 'it was asked for'), openBlock(name, hash, bytes))
    wanted.delete(hash)
  }
  for (const hash of wanted.keys()) openBlock(name, hash, undefined)
  return named
}
