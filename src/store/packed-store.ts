// A store in which the objects of chains are found loose or in a pack: the one place that looks for both. An object with a
// hash is the same in either; a commit that a pack covers is what the pack says, whatever lies loose under its number.
// Packs themselves, and everything else, pass through as they are.

import { commitIn } from '../chain/pack-summary.ts'
import { commitCodec } from '../chain/records.ts'
import type { DatasetId } from '../model/events.ts'
import { type PackableKey, packableOf } from './layout.ts'
import { checkRange, type ObjectStore } from './object-store.ts'
import { coveringPack, listPacks, type Pack, type PackedBytes, PackGone, PackReader } from './packs.ts'

/** `loose` with what its packs hold. Beyond what `loose` throws, reading an object throws HaltError `ChainBroken` for a damaged pack. */
export function withPacks(loose: ObjectStore): ObjectStore {
  const packed = new PackedObjects(loose)
  return {
    ...loose,
    async get(key) {
      const asked = packableOf(key)
      if (asked?.kind === 'commits') return packed.commit(asked, () => loose.get(key))
      const bytes = await loose.get(key)
      return bytes === undefined && asked !== undefined ? packed.bytes(asked) : bytes
    },
    async getRange(key, start, end) {
      const asked = packableOf(key)
      const bytes = await loose.getRange(key, start, end)
      return bytes === undefined && asked !== undefined ? packed.bytes(asked, [start, end]) : bytes
    },
    async size(key) {
      const asked = packableOf(key)
      if (asked?.kind === 'commits') return (await packed.commit(asked, () => loose.get(key)))?.length
      const size = await loose.size(key)
      return size === undefined && asked !== undefined ? packed.find(asked, async ({ length }) => length) : size
    },
  }
}

type Asked<K extends PackableKey['kind']> = PackableKey & { readonly kind: K }

class PackedObjects {
  readonly #loose: ObjectStore
  readonly #reader: PackReader
  /** The packs of chains that were asked for, as known. */
  readonly #packs = new Map<DatasetId, readonly Pack[]>()
  /** The pack in which something was found last, by chain: what is asked for next is often near. */
  readonly #last = new Map<DatasetId, Pack>()

  constructor(loose: ObjectStore) {
    this.#loose = loose
    this.#reader = new PackReader(loose)
  }

  /** The bytes of a commit: from the pack that covers its number, or what `loose` gives where none does. */
  async commit(
    { id, sequence }: Asked<'commits'>,
    loose: () => Promise<Uint8Array | undefined>,
  ): Promise<Uint8Array | undefined> {
    const covers = ({ from, to }: Pack): boolean => sequence >= from && sequence < to
    const known = this.#packs.get(id)?.find(covers)
    // Read first: a pack that came meanwhile holds the same.
    const bytes = known === undefined ? await loose() : undefined
    if (known === undefined && (await coveringPack(this.#loose, id, sequence)) === undefined) return bytes
    return this.#inPacks(id, async (packs) => {
      const pack = packs.find(covers)
      const record = pack && commitIn(await this.#reader.summary(pack), sequence)
      return record && commitCodec.encode(record)
    })
  }

  /** Bytes of an object with a hash, all by default; undefined when no pack has it. */
  bytes(asked: PackableKey, range?: readonly [start: number, end: number]): Promise<Uint8Array | undefined> {
    return this.find(asked, async ({ key, at, length }, pack) => {
      const [start, end] = range ?? [0, length]
      checkRange(start, end, length)
      const bytes = await this.#loose.getRange(key, at + start, at + end)
      if (bytes === undefined) throw new PackGone(pack)
      return bytes
    })
  }

  /** What `use` makes of the place of an object with a hash; undefined when no pack has it. */
  async find<T>(asked: PackableKey, use: (place: PackedBytes, pack: Pack) => Promise<T>): Promise<T | undefined> {
    if (asked.kind === 'commits') return undefined
    const { id, kind, hash } = asked
    return this.#inPacks(id, async (packs) => {
      const last = this.#last.get(id)
      const newestFirst = packs.toReversed()
      const order = last !== undefined && packs.includes(last) ? [last, ...newestFirst] : newestFirst
      for (const pack of order) {
        const place = await this.#reader.find(pack, kind, hash)
        if (place === undefined) continue
        this.#last.set(id, pack)
        return use(place, pack)
      }
      return undefined
    })
  }

  /** What `work` gives for the packs that are known, or else for those that there are now. */
  async #inPacks<T>(id: DatasetId, work: (packs: readonly Pack[]) => Promise<T | undefined>): Promise<T | undefined> {
    const known = this.#packs.get(id) ?? []
    let isGone = false
    try {
      const found = await work(known)
      if (found !== undefined) return found
    } catch (error) {
      if (!(error instanceof PackGone)) throw error
      isGone = true
    }
    const now = await listPacks(this.#loose, id, known)
    if (!isGone && now.length === known.length && now.every((pack, i) => pack === known[i])) return undefined
    if (this.#packs.size >= chainsHeld) this.#packs.clear()
    this.#packs.set(id, now)
    return work(now)
  }
}

/** Chains of which the packs are remembered. */
const chainsHeld = 1_000
