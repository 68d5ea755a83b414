// The chain of a dataset as people read it: blocks decoded, newest first.

import type { NameRecord } from '../chain/records.ts'
import { toPlain } from '../json/json.ts'
import { NodeError } from '../model/errors.ts'
import type { Hash } from '../model/events.ts'
import { eventToJson } from '../odf/odf-json.ts'
import { loadBlock } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { DatasetChain } from './dataset-chain.ts'

/** A block in the JSON form of ODF, with its hash. */
export interface DecodedBlock {
  readonly hash: Hash
  readonly sequence: number
  readonly prevBlockHash?: Hash
  readonly systemTime: string
  /** `{kind, …}` */
  readonly event: unknown
}

export interface BlockPage {
  /** Newest first. */
  readonly blocks: readonly DecodedBlock[]
  /** Hash to go on from; absent on the last page. */
  readonly next?: Hash
}

/** At most `limit` blocks that precede block `before` (default: the newest ones). Throws NodeError `BlockNotFound`. */
export async function blockPage(
  store: ObjectStore,
  chain: DatasetChain,
  page: { readonly limit: number; readonly before: Hash | undefined },
): Promise<BlockPage> {
  const end = page.before === undefined ? chain.headSequence + 1 : chain.sequenceOf(page.before)
  if (end === undefined) throw new NodeError('BlockNotFound', `'${chain.name.alias}' has no block ${page.before}.`)
  const hashes = chain.blocks
    .slice(Math.max(0, end - page.limit), end)
    .map((block) => block.hash)
    .reverse()
  const blocks = await Promise.all(hashes.map((hash) => decodedBlock(store, chain.name, hash)))
  const last = hashes.at(-1)
  return { blocks, ...(last === undefined || end <= page.limit ? {} : { next: last }) }
}

/** The block of the dataset with this hash. Throws HaltError `ChainBroken` when it is missing or damaged. */
export async function decodedBlock(store: ObjectStore, name: NameRecord, hash: Hash): Promise<DecodedBlock> {
  const block = await loadBlock(store, name, hash)
  return {
    hash,
    sequence: Number(block.sequenceNumber),
    ...(block.prevBlockHash === undefined ? {} : { prevBlockHash: block.prevBlockHash }),
    systemTime: block.systemTime,
    event: toPlain(eventToJson(block.event), { largeIntegers: 'bigint' }),
  }
}
