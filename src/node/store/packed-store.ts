// A store in which the objects of chains are found loose or in a pack: the one place that looks for both. An object with a
// hash is the same in either; a commit that a pack covers is what the pack says, whatever lies loose under its number.
// Packs themselves, and everything else, pass through as they are. That no pack covers a commit is remembered for a while:
// loose commits go a day after their pack came, so what is loose, or missing, in that time is so truly.

import { packsTrustedMs, spanOf } from '../../libraries/odf/chain/pack-span.ts'
import { commitIn } from '../../libraries/odf/chain/pack-summary.ts'
import { commitCodec } from '../../libraries/odf/chain/records.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { isOfPack, type PackableKey, packableOf } from './layout.ts'
import { checkRange, type ObjectStore } from './object-store.ts'
import { coveringPack, type Pack, type PackedBytes, PackGone, PackReader, usePacks } from './packs.ts'

/**
 * `loose` with what its packs hold; without a `clock` packs are looked for with each commit. Beyond what `loose` throws,
 * reading an object throws HaltError `ChainBroken` for a damaged pack.
 */
export function withPacks(loose: ObjectStore, clock?: Clock): ObjectStore {
  const packed = new PackedObjects(loose, clock)
  return {
    ...loose,
    async put(key, bytes) {
      const asked = packableOf(key)
      const outcome = await loose.put(key, bytes)
      if (asked?.kind !== 'commits' || outcome === 'exists') return outcome
      // Looked for afterwards: a pack that came meanwhile does not have what was just put.
      // mutant: a put into a packed range has won
      return (await packed.isLoose(asked)) ? 'stored' : 'exists'
    },
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
    async delete(...keys) {
      await loose.delete(...keys)
      if (keys.some(isOfPack)) packed.forgetAll()
    },
  }
}

type Asked<K extends PackableKey['kind']> = PackableKey & { readonly kind: K }

/** A time by both clocks: one stands still while the machine sleeps, the other is set. */
interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

/** No pack covered the commits from `sequence` on. */
interface Look extends Moment {
  readonly sequence: number
  readonly found: Promise<Pack | undefined>
}

class PackedObjects {
  readonly #loose: ObjectStore
  readonly #clock: Clock | undefined
  #reader: PackReader
  readonly #looks = new Map<DatasetId, Look>()
  /** The packs of chains that were asked for, as known. */
  readonly #packs = new Map<DatasetId, readonly Pack[]>()
  /** The pack in which something was found last, by chain: what is asked for next is often near. */
  readonly #last = new Map<DatasetId, Pack>()

  constructor(loose: ObjectStore, clock: Clock | undefined) {
    this.#loose = loose
    this.#clock = clock
    this.#reader = new PackReader(loose)
  }

  /** Whether no pack covers a commit that was put, or looked for loose, before this is asked. */
  async isLoose({ id, sequence }: Asked<'commits'>): Promise<boolean> {
    const clock = this.#clock
    if (clock === undefined) return (await coveringPack(this.#loose, id, sequence)) === undefined
    const now: Moment = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    const held = this.#looks.get(id)
    if (held !== undefined && sequence >= held.sequence && isLately(held, now)) return (await held.found) === undefined
    const found = coveringPack(this.#loose, id, sequence)
    const look = { ...now, sequence: Math.floor(sequence / spanOf(0)) * spanOf(0), found }
    if (this.#looks.size >= looksHeld) this.#looks.clear()
    this.#looks.set(id, look)
    const forget = (): void => {
      if (this.#looks.get(id) === look) this.#looks.delete(id)
    }
    found.then((pack) => pack && forget(), forget)
    return (await found) === undefined
  }

  /** What is known of packs counts no more: some were removed. */
  forgetAll(): void {
    for (const known of [this.#looks, this.#packs, this.#last]) known.clear()
    this.#reader = new PackReader(this.#loose)
  }

  /** The bytes of a commit: from the pack that covers its number, or what `loose` gives where none does. */
  async commit(asked: Asked<'commits'>, loose: () => Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
    const { id, sequence } = asked
    const covers = ({ from, to }: Pack): boolean => sequence >= from && sequence < to
    const known = this.#packs.get(id)?.find(covers)
    // Read first: a pack that came meanwhile holds the same.
    const bytes = known === undefined ? await loose() : undefined
    if (known === undefined && (await this.isLoose(asked))) return bytes
    const found = await this.#inPacks(id, async (packs) => {
      const pack = packs.find(covers)
      const record = pack && commitIn(await this.#reader.summary(pack), sequence)
      return record && commitCodec.encode(record)
    })
    const isCovered = this.#packs.get(id)?.some(covers) === true
    // The pack that was known may have gone, and loose commits have come in its place.
    return isCovered || known === undefined ? found : loose()
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
    let known = this.#packs.get(id) ?? []
    try {
      const found = await work(known)
      if (found !== undefined) return found
    } catch (error) {
      if (!(error instanceof HaltError)) throw error
      // It went, or it is damaged and goes: what there is now counts.
      for (const { record } of known) this.#reader.forget(record.hash)
      this.#packs.delete(id)
      known = []
    }
    const look = async (now: readonly Pack[]): Promise<T | undefined> => {
      if (now.length === known.length && now.every((pack, i) => pack === known[i])) return undefined
      if (this.#packs.size >= chainsHeld) this.#packs.clear()
      this.#packs.set(id, now)
      return work(now)
    }
    return usePacks(this.#loose, id, look, known)
  }
}

function isLately(then: Moment, now: Moment): boolean {
  const sinceMs = [now.wallMs - then.wallMs, now.monotonicMs - then.monotonicMs]
  return sinceMs.every((ms) => ms >= 0 && ms < packsTrustedMs)
}

/** Chains of which the packs are remembered, and of which is remembered that packs end before some commit. */
const chainsHeld = 1_000
const looksHeld = 50_000
