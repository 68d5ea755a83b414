// Entries of blocks, with the roots of their batches and rows. Every keeper makes the same entries of the same blocks.

import { must } from '../../libraries/base/assert.ts'
import { noRoot } from '../../libraries/ledger/entry.ts'
import type { DatasetChain } from '../../node/catalog/dataset-chain.ts'
import type { ChainBlock } from '../../node/catalog/packed-blocks.ts'
import type { BlockRecords } from '../../node/files/block-records.ts'
import type { Tagger } from './ledger-keys.ts'

/** Blocks whose roots are made at a time. */
const blocksAtOnce = 32

interface EntryDeps {
  readonly key: Tagger
  readonly records: BlockRecords
}

/** Entries of the blocks [start, end) of a chain, some at a time. Throws HaltError `ChainBroken` for one that cannot be read. */
export async function* entriesOf(
  chain: DatasetChain,
  { start, end }: { readonly start: number; readonly end: number },
  deps: EntryDeps,
): AsyncGenerator<Uint8Array[]> {
  // Of slices one is in memory at a time.
  const atOnce = chain.name.proofs === 'rows' ? 1 : blocksAtOnce
  for (let from = start; from < end; from += atOnce) {
    const blocks = Array.from({ length: Math.min(atOnce, end - from) }, (_, i) =>
      must(chain.blocks.at(from + i), 'the chain has blocks up to its head'),
    )
    yield await Promise.all(blocks.map((block) => entryOf(chain, block, deps)))
  }
}

async function entryOf(chain: DatasetChain, block: ChainBlock, { key, records }: EntryDeps): Promise<Uint8Array> {
  const { sequence, hash } = block
  const open = { chain, block, secret: key.secretOf(sequence) }
  const batches = await records.batches(open)
  const rows = chain.name.proofs === 'rows' ? await records.rows(open) : undefined
  return key.entryOf({ sequence, hash, batchRoot: batches?.root ?? noRoot, rowRoot: rows?.root ?? noRoot })
}
