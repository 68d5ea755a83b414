// Objects of a chain read by hash: fetched, hashed, decoded. All readers of chains go through here, so that bytes are
// never trusted beyond what their hash names.

import { type CheckpointContent, decodeCheckpoint } from '../../libraries/odf/chain/checkpoint.ts'
import { type DatasetId, type Hash, hashText, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { MetadataBlock } from '../../libraries/model/events.ts'
import { decodeBlock } from '../../libraries/odf/block.ts'
import { blockKey, checkpointKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'

/** Whose chain an object belongs to; messages name the alias where it is known. */
export interface ChainOwner {
  readonly id: DatasetId
  readonly alias?: string
}

/** An object of a chain that cannot be used: a HaltError `ChainBroken` that says what is wrong with it. */
export class ObjectFault extends HaltError {
  /** `damaged`: its bytes have another hash; `malformed`: they have the right one and cannot be read. */
  readonly fault: 'missing' | 'damaged' | 'malformed'
  readonly hash: Hash

  constructor(fault: ObjectFault['fault'], { words, hash }: Named, reason: string, cause?: DecodeError) {
    super('ChainBroken', `${words} ${reason}`, cause)
    this.fault = fault
    this.hash = hash
  }
}

/** An object by its hash, and the words for it in a sentence: `slice f1620… of acme/lab`. */
interface Named {
  readonly words: string
  readonly hash: Hash
}

/** An object to read; `sizeBytes` is the size that its block states, if it does. */
interface NamedObject extends Named {
  readonly key: string
  readonly sizeBytes?: number
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
  if (bytes === undefined) throw missing(named)
  if (sha3Hash(bytes) !== named.hash) throw damaged(named)
  try {
    return decode(bytes)
  } catch (error) {
    if (error instanceof DecodeError)
      throw new ObjectFault('malformed', named, `cannot be read: ${error.message}`, error)
    throw error
  }
}

/**
 * Reads an object in pieces of `pieceBytes`, letting others run between them, and hands each to `take`. What it has taken
 * is to be used only when this resolves. Throws ObjectFault.
 */
export async function readPieces(
  store: ObjectStore,
  object: NamedObject,
  { pieceBytes, take = () => {} }: { readonly pieceBytes: number; readonly take?: (piece: Uint8Array) => void },
): Promise<void> {
  const { key, hash, sizeBytes } = object
  // Chains may have thousands of small slices: one read gives the size and the bytes of each.
  let whole = sizeBytes !== undefined && sizeBytes <= pieceBytes ? await store.get(key) : undefined
  const foundBytes = whole?.length ?? (await store.size(key))
  if (foundBytes === undefined) throw missing(object)
  if (sizeBytes !== undefined && foundBytes !== sizeBytes)
    throw damaged(object, `${foundBytes} bytes, not ${sizeBytes}`)
  const isSmall = foundBytes <= pieceBytes
  if (isSmall) whole ??= await store.get(key)
  const digest = createSha3256()
  for (let at = 0; at < foundBytes; at += pieceBytes) {
    if (at > 0) await nextTurn()
    const piece = isSmall ? whole : await store.getRange(key, at, Math.min(at + pieceBytes, foundBytes))
    if (piece === undefined) throw missing(object)
    digest.update(piece)
    take(piece)
  }
  if (hashText(digest.digest()) !== hash) throw damaged(object)
}

function missing(named: Named): ObjectFault {
  return new ObjectFault('missing', named, 'is missing')
}

function damaged(named: Named, how = 'its bytes have another hash'): ObjectFault {
  return new ObjectFault('damaged', named, `is damaged: ${how}`)
}
