// Blocks and checkpoints read by hash: fetched, hashed, decoded. Everyone who goes on from an object of a chain reads it
// here, so that bytes are taken for nothing but what their hash names.

import { type CheckpointContent, decodeCheckpoint } from '../chain/checkpoint.ts'
import { sha3Hash } from '../ids/multihash.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { DatasetId, Hash, MetadataBlock } from '../model/events.ts'
import { decodeBlock } from '../odf/block.ts'
import { blockKey, checkpointKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** Whose chain an object belongs to; messages name the alias where it is known. */
export interface ChainOwner {
  readonly id: DatasetId
  readonly alias?: string
}

/** An object of a chain that cannot be used: a HaltError `ChainBroken` that tells what is wrong with the object. */
export class ObjectFault extends HaltError {
  /** `damaged`: its bytes have another hash; `malformed`: they have the right one and cannot be read. */
  readonly fault: 'missing' | 'damaged' | 'malformed'
  readonly hash: Hash

  constructor(fault: ObjectFault['fault'], { words, hash }: Named, cause?: DecodeError) {
    super('ChainBroken', `${words} ${faultTexts[fault]}${cause === undefined ? '' : `: ${cause.message}`}`, cause)
    this.fault = fault
    this.hash = hash
  }
}

const faultTexts = {
  missing: 'is missing',
  damaged: 'is damaged: its bytes have another hash',
  malformed: 'cannot be read',
} as const

/** An object by its hash, and the words for it in a sentence. */
interface Named {
  readonly words: string
  readonly hash: Hash
}

/** The block stored under `hash`. Throws ObjectFault. */
export async function loadBlock(
  store: Pick<ObjectStore, 'get'>,
  owner: ChainOwner,
  hash: Hash,
): Promise<MetadataBlock> {
  return openBlock(owner, hash, await store.get(blockKey(owner.id, hash)))
}

/** The block of the bytes that are stored under `hash`; undefined when nothing is. Throws ObjectFault. */
export function openBlock(owner: ChainOwner, hash: Hash, bytes: Uint8Array | undefined): MetadataBlock {
  const named = { words: `block ${hash} of ${owner.alias ?? owner.id}`, hash }
  return open(named, bytes, (whole) => decodeBlock(whole).block)
}

/** The checkpoint stored under `hash`, read whole. Throws ObjectFault. */
export async function loadCheckpoint(
  store: Pick<ObjectStore, 'get'>,
  owner: ChainOwner,
  hash: Hash,
): Promise<CheckpointContent> {
  const bytes = await store.get(checkpointKey(owner.id, hash))
  return open({ words: `checkpoint ${hash} of ${owner.alias ?? owner.id}`, hash }, bytes, decodeCheckpoint)
}

function open<T>(named: Named, bytes: Uint8Array | undefined, decode: (bytes: Uint8Array) => T): T {
  if (bytes === undefined) throw new ObjectFault('missing', named)
  if (sha3Hash(bytes) !== named.hash) throw new ObjectFault('damaged', named)
  try {
    return decode(bytes)
  } catch (error) {
    if (error instanceof DecodeError) throw new ObjectFault('malformed', named, error)
    throw error
  }
}
