// The packs of chains, as readers find them: which there are, what they say, where an object lies in them. Everything is
// read by ranges; what is damaged is refused with HaltError `ChainBroken`. `packed-store.ts` puts this behind the port.

import {
  decodeTrailer,
  digestInTurns,
  findInIndex,
  type PackedKind,
  type PackedPlace,
  type PackParts,
  trailerBytes,
} from '../../libraries/odf/chain/pack.ts'
import { packLevelMost, spanOf } from '../../libraries/odf/chain/pack-span.ts'
import { decodeSummary, digestOf, type PackSummary } from '../../libraries/odf/chain/pack-summary.ts'
import { packCodec, type PackRecord } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, type Hash, hashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { packFileKey, packKey, packLevelPrefix, packsPrefix } from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { listNumbers } from './records.ts'

type Reading = Pick<ObjectStore, 'get' | 'getRange' | 'list'>

/** A pack that a record names. */
export interface Pack {
  readonly id: DatasetId
  readonly level: number
  readonly number: number
  /** It covers the first sequences [from, to). */
  readonly from: number
  readonly to: number
  readonly record: PackRecord
}

type PackPlace = Pick<Pack, 'level' | 'number'>

/** Bytes [at, at + length) of a pack's file. */
export interface PackedBytes {
  readonly key: string
  readonly at: number
  readonly length: number
}

/** An object in a pack. */
interface PackedBytesOf {
  readonly hash: Hash
  readonly bytes: Uint8Array
}

/** The pack is no longer where it was: one of a higher level may have taken its place. */
export class PackGone extends HaltError {
  constructor(pack: Pack) {
    super('ChainBroken', `${wordsOf(pack)} is missing`)
  }
}

const levelsUpward = Array.from({ length: packLevelMost + 1 }, (_, level) => level)
/** Packs are listed anew this often: as chains grow, one level takes the place of another much more rarely. */
const looksMost = 8
/** Records that are read at once. */
const parallelRecords = 64
/** Packs of which is kept where their parts are, 300 bytes each. */
const partsHeld = 20_000
/** Summaries that are kept, 10 MiB each at most. */
const summariesHeld = 2
/** Read at once of the end of a pack whose summary is asked for: index and summary of a pack of the lowest level. */
const endBytes = 128 * 1024
const endsHeld = 2
/** Bytes of an index that are read to find one object in it, or so. */
const lookupBytes = 8 * 1024
/** Of objects that are read together: bytes of one read, and bytes between two objects that are read with them. */
const readTogetherBytes = 4 * 1024 * 1024
const gapBytes = 64 * 1024

/**
 * The packs of a chain, each going on where the one before it ends; of two that cover a range the larger one. `known` are
 * packs that need not be read again. Throws HaltError `ChainBroken`.
 */
export async function listPacks(store: Reading, id: DatasetId, known: readonly Pack[] = []): Promise<readonly Pack[]> {
  const held = new Map(known.map((pack) => [`${pack.level}/${pack.number}`, pack]))
  for (let looks = 0; ; looks++) {
    const places = await packPlaces(store, id)
    const packs: Pack[] = []
    for (let at = 0; at < places.length; at += parallelRecords) {
      const group = places.slice(at, at + parallelRecords).map(async (place) => {
        return held.get(`${place.level}/${place.number}`) ?? (await readPack(store, id, place))
      })
      for (const pack of await Promise.all(group)) if (pack !== undefined) packs.push(pack)
    }
    if (packs.length === places.length) return packs
    // One is gone since it was listed: a larger one covers its range by now, or the dataset is removed.
    if (looks === looksMost) throw new HaltError('ChainBroken', `the packs of ${id} go while they are listed`)
  }
}

/**
 * Runs `work` over the packs of a chain, and again with the new list if a pack disappears meanwhile. Throws what `work` throws, and HaltError `ChainBroken`; PackGone for one whose file is missing.
 */
export async function usePacks<T>(
  store: Reading,
  id: DatasetId,
  work: (packs: readonly Pack[]) => Promise<T>,
  known?: readonly Pack[],
): Promise<T> {
  for (let looks = 0; ; looks++) {
    try {
      return await work(await listPacks(store, id, looks === 0 ? known : []))
    } catch (error) {
      if (!(error instanceof PackGone) || looks === looksMost) throw error
    }
  }
}

/** Where the packs of a chain are, the first range first. */
async function packPlaces(store: Reading, id: DatasetId): Promise<readonly PackPlace[]> {
  const places: PackPlace[] = []
  const names = new Map<number, ReadonlySet<number>>()
  if ((await store.list(packsPrefix(id))).length === 0) return places
  // The small ones first: they go when a larger one is there, which is then listed.
  // mutant: the larger packs are looked for first
  for (const level of levelsUpward) names.set(level, new Set(await listNumbers(store, packLevelPrefix(id, level))))
  // mutant end
  for (let from = 0; ;) {
    const level = levelsUpward.findLast((one) => from % spanOf(one) === 0 && names.get(one)?.has(from / spanOf(one)))
    if (level === undefined) return places
    places.push({ level, number: from / spanOf(level) })
    from += spanOf(level)
  }
}

/** A pack whose range holds the first sequence `sequence`, read now; undefined while none covers it. Throws HaltError. */
export async function coveringPack(store: Reading, id: DatasetId, sequence: number): Promise<Pack | undefined> {
  // The small ones first, as they are listed.
  for (const level of levelsUpward) {
    const pack = await readPack(store, id, { level, number: Math.floor(sequence / spanOf(level)) })
    if (pack !== undefined) return pack
  }
  return undefined
}

async function readPack(store: Reading, id: DatasetId, { level, number }: PackPlace): Promise<Pack | undefined> {
  const bytes = await store.get(packKey(id, level, number))
  if (bytes === undefined) return undefined
  const record = await refused(`the record of pack ${level}/${number} of ${id}`, () => packCodec.decode(bytes))
  return { id, level, number, from: number * spanOf(level), to: (number + 1) * spanOf(level), record }
}

/** Bytes that are hashed at once. */
const pieceBytes = 1024 * 1024

/** Reads packs, and keeps where the parts of each are. */
export class PackReader {
  readonly #store: Reading
  readonly #parts = new Map<Hash, Promise<PackParts>>()
  readonly #summaries = new Map<Hash, Promise<PackSummary>>()
  readonly #ends = new Map<Hash, { readonly at: number; readonly bytes: Uint8Array }>()
  /** The index that many objects were looked up in last, 10 MiB at most. */
  #index: { readonly hash: Hash; readonly bytes: Promise<Uint8Array> } | undefined

  constructor(store: Reading) {
    this.#store = store
  }

  /** What was read of the pack counts no more: it may be damaged, and another file is to take its place. */
  forget(hash: Hash): void {
    for (const held of [this.#parts, this.#summaries, this.#ends]) held.delete(hash)
    if (this.#index?.hash === hash) this.#index = undefined
  }

  /** Where the object with this hash lies in the pack, or undefined. Throws HaltError `ChainBroken`, PackGone. */
  async find(pack: Pack, kind: PackedKind, hash: Hash): Promise<PackedBytes | undefined> {
    const parts = await this.#partsOf(pack)
    const read = (start: number, end: number): Promise<Uint8Array> => this.#read(pack, start, end)
    const found = await refused(wordsOf(pack), () => findInIndex(parts, { kind, digest: digestOf(hash) }, read))
    return found && { key: packFileKey(pack.id, pack.record.hash), ...found }
  }

  /** Those of the objects with these hashes that the pack has, in the order in which they lie, in few reads. Throws as `find`. */
  async *objects(pack: Pack, kind: PackedKind, hashes: readonly Hash[]): AsyncGenerator<PackedBytesOf> {
    const parts = await this.#partsOf(pack)
    const areFew = hashes.length * lookupBytes < parts.summaryAt - parts.indexAt
    const index = areFew ? undefined : await this.#indexOf(pack, parts)
    const read = async (start: number, end: number): Promise<Uint8Array> =>
      index?.subarray(start - parts.indexAt, end - parts.indexAt) ?? (await this.#read(pack, start, end))
    const places: (PackedPlace & { readonly hash: Hash })[] = []
    for (const hash of hashes) {
      const place = await refused(wordsOf(pack), () => findInIndex(parts, { kind, digest: digestOf(hash) }, read))
      if (place !== undefined) places.push({ hash, ...place })
    }
    places.sort((a, b) => a.at - b.at)
    for (let i = 0; i < places.length;) {
      const start = places[i]?.at ?? 0
      let [to, end] = [i, start]
      for (let next = places[to]; next !== undefined; next = places[++to]) {
        if (to > i && (next.at - end > gapBytes || next.at + next.length - start > readTogetherBytes)) break
        end = next.at + next.length
      }
      const bytes = await this.#read(pack, start, end)
      for (const { hash, at, length } of places.slice(i, to)) {
        yield { hash, bytes: bytes.subarray(at - start, at - start + length) }
      }
      i = to
    }
  }

  /** The summary, after checking that it is whole and of this pack. Throws HaltError `ChainBroken`, PackGone. */
  summary(pack: Pack): Promise<PackSummary> {
    const { hash } = pack.record
    const held = this.#summaries.get(hash)
    if (held !== undefined) return held
    const reading = this.#readSummary(pack)
    const oldest = this.#summaries.keys().next().value
    if (this.#summaries.size >= summariesHeld && oldest !== undefined) this.#summaries.delete(oldest)
    this.#summaries.set(hash, reading)
    reading.catch(() => this.forget(hash))
    return reading
  }

  async #readSummary(pack: Pack): Promise<PackSummary> {
    await this.#holdEnd(pack)
    const { summaryAt, trailerAt, summaryDigest } = await this.#partsOf(pack)
    const bytes = await this.#read(pack, summaryAt, trailerAt)
    const isWhole = equalBytes(await digestInTurns(bytes), summaryDigest)
    return refused(wordsOf(pack), async () => {
      if (!isWhole) throw new DecodeError('pack', 'its summary is damaged')
      const summary = await decodeSummary(bytes)
      const { dataset, level, number } = summary
      if (dataset === pack.id && level === pack.level && number === pack.number) return summary
      throw new DecodeError('pack', `it is pack ${level}/${number} of ${dataset}`)
    })
  }

  async #holdEnd(pack: Pack): Promise<void> {
    const { hash, sizeBytes } = pack.record
    const at = Math.max(0, sizeBytes - endBytes)
    const bytes = await this.#read(pack, at, sizeBytes)
    const oldest = this.#ends.keys().next().value
    if (this.#ends.size >= endsHeld && oldest !== undefined) this.#ends.delete(oldest)
    this.#ends.set(hash, { at, bytes })
  }

  #indexOf(pack: Pack, { indexAt, summaryAt }: PackParts): Promise<Uint8Array> {
    const { hash } = pack.record
    if (this.#index?.hash !== hash) {
      const bytes = this.#read(pack, indexAt, summaryAt)
      this.#index = { hash, bytes }
      bytes.catch(() => this.forget(hash))
    }
    return this.#index.bytes
  }

  async #partsOf(pack: Pack): Promise<PackParts> {
    const { hash, sizeBytes } = pack.record
    const held = this.#parts.get(hash)
    if (held !== undefined) return held
    const reading = this.#read(pack, Math.max(0, sizeBytes - trailerBytes), sizeBytes).then((bytes) =>
      refused(wordsOf(pack), () => decodeTrailer(bytes, sizeBytes)),
    )
    if (this.#parts.size >= partsHeld) this.#parts.clear()
    this.#parts.set(hash, reading)
    reading.catch(() => this.forget(hash))
    return reading
  }

  async #read(pack: Pack, start: number, end: number): Promise<Uint8Array> {
    const held = this.#ends.get(pack.record.hash)
    if (held !== undefined && start >= held.at) return held.bytes.subarray(start - held.at, end - held.at)
    try {
      const bytes = await this.#store.getRange(packFileKey(pack.id, pack.record.hash), start, end)
      if (bytes !== undefined) return bytes
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new HaltError('ChainBroken', `${wordsOf(pack)} is cut short`, error)
    }
    throw new PackGone(pack)
  }
}

/** Hash and size of a stored file, read in pieces; undefined when there is none. */
export async function fileHash(
  store: Pick<ObjectStore, 'size' | 'getRange'>,
  key: string,
): Promise<{ readonly hash: Hash; readonly sizeBytes: number } | undefined> {
  const sizeBytes = await store.size(key)
  const digest = createSha3256()
  for (let at = 0; at < (sizeBytes ?? 0); at += pieceBytes) {
    const piece = await store.getRange(key, at, Math.min(at + pieceBytes, sizeBytes ?? 0))
    if (piece === undefined) return undefined
    digest.update(piece)
    await nextTurn()
  }
  return sizeBytes === undefined ? undefined : { hash: hashText(digest.digest()), sizeBytes }
}

async function refused<T>(words: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DecodeError) throw new HaltError('ChainBroken', `${words} is damaged: ${error.message}`, error)
    throw error
  }
}

function wordsOf({ id, level, number }: Pack): string {
  return `pack ${level}/${number} of ${id}`
}
