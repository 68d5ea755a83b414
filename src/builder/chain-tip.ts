// The end of a chain as the builder of the next block needs it: the rules' state, and the hashes that the next
// checkpoint carries on. Pure.

import type { BlockRef, EarlierCheckpoints } from '../chain/checkpoint.ts'
import type { LeftLog } from '../chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../chain/rules.ts'
import { sha3Hash } from '../ids/multihash.ts'
import { assert } from '../lib/assert.ts'
import type { Hash, MetadataBlock, MetadataEvent } from '../model/events.ts'
import { instantFromMs } from '../model/instant.ts'
import { encodeBlock } from '../odf/block.ts'

export interface ChainTip {
  readonly chain: ChainState
  readonly schemaBlock?: BlockRef
  readonly vocabularyBlock?: BlockRef
  readonly sourceBlock?: BlockRef
  /** Checkpoints before the next one. */
  readonly earlier: EarlierCheckpoints
  /** The logs that the chain has left since its last block. */
  readonly adopted?: readonly LeftLog[]
}

export const emptyTip: ChainTip = { chain: emptyChain, earlier: {} }

/** A block's bytes under the hash that names them. */
export interface BuiltBlock {
  readonly hash: Hash
  readonly bytes: Uint8Array
}

/** Encodes `event` as the next block. Throws HaltError `ChainBroken` when it breaks a rule of chains. */
export function nextBlock(tip: ChainTip, event: MetadataEvent, timeMs: number): { block: BuiltBlock; tip: ChainTip } {
  const { head, length } = tip.chain
  const block: MetadataBlock = {
    systemTime: instantFromMs(timeMs),
    ...(head === undefined ? {} : { prevBlockHash: head }),
    sequenceNumber: length,
    event,
  }
  const bytes = encodeBlock(block)
  const hash = sha3Hash(bytes)
  return { block: { hash, bytes }, tip: afterBlock(tip, block, hash) }
}

/** The tip after a block that is already stored. Throws HaltError `ChainBroken`. */
export function afterBlock(tip: ChainTip, block: MetadataBlock, hash: Hash): ChainTip {
  const ref: BlockRef = { hash, sequence: tip.chain.length }
  const chain = checkNext(tip.chain, block, hash)
  switch (block.event.kind) {
    case 'SetDataSchema':
      return { ...tip, chain, schemaBlock: ref }
    case 'SetVocab':
      return { ...tip, chain, vocabularyBlock: ref }
    case 'AddPushSource':
      return { ...tip, chain, sourceBlock: ref }
    default:
      return { ...tip, chain }
  }
}

/** The checkpoints before number + 1, after checkpoint `number` with `hash`. */
export function earlierAfter(earlier: EarlierCheckpoints, number: number, hash: Hash): EarlierCheckpoints {
  const group = (number + 1) % 64 === 0 ? hash : earlier.group
  const era = (number + 1) % 4096 === 0 ? hash : earlier.era
  return { previous: hash, ...(group === undefined ? {} : { group }), ...(era === undefined ? {} : { era }) }
}

/** Encodes `events` as the next blocks, all of one time. */
export function nextBlocks(
  tip: ChainTip,
  events: readonly MetadataEvent[],
  timeMs: number,
): { blocks: BuiltBlock[]; tip: ChainTip } {
  assert(events.length > 0, 'there are events to write')
  const blocks: BuiltBlock[] = []
  let at = tip
  for (const event of events) {
    const next = nextBlock(at, event, timeMs)
    blocks.push(next.block)
    at = next.tip
  }
  return { blocks, tip: at }
}
