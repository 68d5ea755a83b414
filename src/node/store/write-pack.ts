// Makes packs. A pack is a pure function of the commits that it covers, so every process makes the same bytes; it is
// stored under its hash, and then the record is put that names it. Each object is hashed before it is taken in, and each
// block must follow the one before it. Loose copies stay.

import { digestInTurns, encodePack, type PackedKind, type PackedObject } from '../../libraries/odf/chain/pack.ts'
import { packedSliceBytesMost, packLevelMost, spanOf } from '../../libraries/odf/chain/pack-span.ts'
import { digestOf, endOfPack, type PackStart, SummaryBuilder } from '../../libraries/odf/chain/pack-summary.ts'
import { packCodec, type PackRecord } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, type Hash, hashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError, NodeError } from '../../libraries/base/errors.ts'
import { dataOf } from '../../libraries/model/events.ts'
import { blockKey, checkpointKey, dataKey, packFileKey, packKey, packLevelPrefix } from './layout.ts'
import { ObjectFault, openBlock } from './load-block.ts'
import type { ObjectStore } from './object-store.ts'
import { listPacks, type Pack, PackReader } from './packs.ts'
import { listNumbers, readCommit } from './records.ts'

const pieceBytes = 1024 * 1024
/** What a pack leaves free on the volume, and how often that is looked at while one is written. */
const spaceLeftBytes = 1024 * 1024 * 1024
const spaceCheckBytes = 64 * 1024 * 1024

/** A range of first sequences to pack. */
interface PackRange {
  readonly id: DatasetId
  readonly level: number
  readonly number: number
}

export interface PackOptions {
  /** Called after each pack; the next one waits for it. */
  readonly onPack?: () => Promise<void>
  /** Ends the packing: nothing is stored of a pack that is not whole, and the reason is thrown. */
  readonly signal?: AbortSignal
}

/**
 * Packs what is full and not packed of a chain whose last block is number `headSequence`: ranges of 256 first sequences, and
 * sixteen packs of a level into one of the next. `store` is one that finds packed objects too. Returns how many it
 * has put; durable when it resolves. Throws HaltError `ChainBroken`, NodeError
 * `StorageFull` while less than a GiB would be left free, and what the store throws.
 */
export async function packChain(
  store: ObjectStore,
  id: DatasetId,
  headSequence: number,
  { onPack = async () => {}, signal }: PackOptions = {},
): Promise<number> {
  const reader = new PackReader(store)
  let count = 0
  // What an earlier process has left.
  await dropReplaced(store, id)
  for (;;) {
    const packs = await listPacks(store, id)
    const range = rangeToPack(packs, headSequence)
    if (range === undefined) return count
    const { at, before } = range
    const start = before === undefined ? { sequence: 0, offset: 0 } : endOfPack(await reader.summary(before))
    await writePack(store, { id, ...at }, start, signal)
    count++
    if (at.level > 0) await dropReplaced(store, id)
    await onPack()
  }
}

/**
 * Deletes the packs whose range one of a higher level covers: nobody looks for them any more, and a reader of one of them just
 * now finds the other. The file goes first, so that a record tells of what is left of one.
 */
async function dropReplaced(store: ObjectStore, id: DatasetId): Promise<void> {
  const packs = await listPacks(store, id)
  const covering = packs.filter(({ level }) => level > 0)
  for (let level = 0; level < packLevelMost && covering.length > 0; level++) {
    for (const number of await listNumbers(store, packLevelPrefix(id, level))) {
      const from = number * spanOf(level)
      const cover = covering.find((pack) => pack.level > level && from >= pack.from && from < pack.to)
      if (cover === undefined) continue
      // Its maker may have stopped before its name was durable.
      // mutant: a pack goes before the one that replaces it is durable
      await store.makeDurable(packLevelPrefix(id, cover.level))
      // mutant end
      const key = packKey(id, level, number)
      const bytes = await store.get(key)
      if (bytes !== undefined) await store.delete(packFileKey(id, packCodec.decode(bytes).hash))
      await store.delete(key)
    }
  }
}

/** What to pack next, and the pack that goes before it: sixteen of a level first, so that few packs wait for that. */
function rangeToPack(
  packs: readonly Pack[],
  headSequence: number,
): { readonly at: { readonly level: number; readonly number: number }; readonly before: Pack | undefined } | undefined {
  for (const [i, { level, from }] of packs.entries()) {
    const span = spanOf(level + 1)
    const end = from + span
    if (level === packLevelMost || from % span !== 0 || packs.findLast(({ to }) => to <= end)?.to !== end) continue
    return { at: { level: level + 1, number: from / span }, before: packs[i - 1] }
  }
  const from = packs.at(-1)?.to ?? 0
  if (headSequence + 1 < from + spanOf(0)) return undefined
  return { at: { level: 0, number: from / spanOf(0) }, before: packs.at(-1) }
}

async function writePack(store: ObjectStore, range: PackRange, start: PackStart, signal?: AbortSignal): Promise<void> {
  const { id, level, number } = range
  const file = packFile(store, range, start)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let uncheckedBytes = spaceCheckBytes
    for await (const chunk of file.chunks()) {
      signal?.throwIfAborted()
      uncheckedBytes += chunk.length
      if (uncheckedBytes >= spaceCheckBytes) {
        await demandSpace(store)
        uncheckedBytes = 0
      }
      yield chunk
    }
  }
  await store.putStream(chunks(), () => packFileKey(id, file.record().hash))
  await store.put(packKey(id, level, number), packCodec.encode(file.record()))
}

/** Throws NodeError `StorageFull` before a pack would take the room that rows and blocks need. */
async function demandSpace(store: ObjectStore): Promise<void> {
  const free = await store.freeSpace()
  if (free === undefined || free.bytes >= spaceLeftBytes) return
  throw new NodeError('StorageFull', 'The volume of the store has too little room for packs; nothing is lost.')
}

/**
 * The file of the pack of a range that begins where the chain stands at `start`: its bytes, once, and then its record.
 * `chunks` throws HaltError `ChainBroken`.
 */
export function packFile(
  store: ObjectStore,
  { id, level, number }: PackRange,
  start: PackStart,
): { readonly chunks: () => AsyncGenerator<Uint8Array>; readonly record: () => PackRecord } {
  const summary = new SummaryBuilder({ dataset: id, level, number, ...start })
  const digest = createSha3256()
  let sizeBytes = 0
  let hash: Hash = ''
  async function* hashed(): AsyncGenerator<Uint8Array> {
    const objects = objectsOf(store, { id, to: (number + 1) * spanOf(level) }, summary)
    for await (const bytes of encodePack(objects, () => summary.finish())) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const piece = bytes.subarray(at, at + pieceBytes)
        digest.update(piece)
        sizeBytes += piece.length
        yield piece
        if (piece.length === pieceBytes) await nextTurn()
      }
    }
    hash = hashText(digest.digest())
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* hashed()
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new HaltError('ChainBroken', `commits of ${id} cannot be packed: ${error.message}`, error)
    }
  }
  return { chunks, record: () => ({ hash, sizeBytes }) }
}

/** The objects of the commits from where `summary` stands up to first sequence `to`, which it is told of. */
async function* objectsOf(
  store: ObjectStore,
  { id, to }: { readonly id: DatasetId; readonly to: number },
  summary: SummaryBuilder,
): AsyncGenerator<PackedObject> {
  while (summary.next < to) {
    const record = await readCommit(store, id, summary.next)
    if (record === undefined) throw new DecodeError('pack', `commit ${summary.next} is missing`)
    summary.addCommit(record)
    for (const hash of record.blocks) {
      const bytes = await store.get(blockKey(id, hash))
      const block = openBlock({ id }, hash, bytes)
      summary.addBlock(hash, block)
      if (bytes !== undefined) yield { kind: 'blocks', digest: digestOf(hash), bytes }
      const { newCheckpoint, newData } = dataOf(block.event) ?? {}
      // mutant: a pack misses an object
      if (newCheckpoint !== undefined)
        yield await named(store, { id, kind: 'checkpoints', hash: newCheckpoint.physicalHash })
      if (newData !== undefined && Number(newData.size) <= packedSliceBytesMost) {
        yield await named(store, { id, kind: 'data', hash: newData.physicalHash })
      }
    }
  }
}

/** An object that a block names, if its bytes hash to its name. Throws ObjectFault. */
async function named(
  store: ObjectStore,
  { id, kind, hash }: { readonly id: DatasetId; readonly kind: Exclude<PackedKind, 'blocks'>; readonly hash: Hash },
): Promise<PackedObject> {
  const bytes = await store.get((kind === 'data' ? dataKey : checkpointKey)(id, hash))
  const words = `${kind === 'data' ? 'slice' : 'checkpoint'} ${hash} of ${id}`
  if (bytes === undefined) throw new ObjectFault('missing', { words, hash }, 'is missing')
  if (hashText(await digestInTurns(bytes)) !== hash) throw new ObjectFault('damaged', { words, hash }, 'is damaged')
  return { kind, digest: digestOf(hash), bytes }
}
