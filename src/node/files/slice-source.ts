// Where slices that are not files come from: the packs of their chain, of which one read brings many, or their objects. What
// comes out is checked by its hash. `slice-files.ts` makes files of it.

import { packedSliceBytesMost } from '../../libraries/odf/chain/pack-span.ts'
import { digestInTurns } from '../../libraries/odf/chain/pack.ts'
import { type DatasetId, type Hash, hashText } from '../../libraries/base/ids/identifiers.ts'
import { must } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { listPacks, type Pack, PackReader } from '../store/packs.ts'
import { sweptSince } from '../store/records.ts'

/** What packs there are is looked for so often; loose copies go a day after their pack came. */
const lookAgainMs = 60_000
/** Fewer slices behind the known packs are fetched one by one, without a look for new packs. */
const looseMost = 16
/** Chains of which their packs are remembered. */
const chainsHeld = 1_000
/** Objects that are fetched at once: so many, of so many bytes unless one alone has more. */
const parallelReads = 16
const parallelBytes = 32 * 1024 * 1024
/** A commit begins in the range of its pack, and may end beyond it. */
const commitBlocksMost = 256

/** A slice and the number of its block. */
export interface SliceAt {
  readonly hash: Hash
  readonly sizeBytes: number
  readonly sequence: number
}

interface FetchedSlice {
  readonly slice: SliceAt
  readonly bytes: Uint8Array
}

/** What packs hold of a chain. */
interface Packed {
  readonly packs: readonly Pack[]
  /** The blocks below are in them. */
  readonly to: number
  readonly lookedMs: number
}

const nothing: Packed = { packs: [], to: 0, lookedMs: Number.NEGATIVE_INFINITY }

export class SliceSource {
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #reader: PackReader
  readonly #packed = new Map<DatasetId, Packed>()
  /** Looks that are under way. */
  readonly #looking = new Map<DatasetId, Promise<Packed>>()

  /** `store` finds packed objects too. */
  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#reader = new PackReader(store)
  }

  /** The blocks of the chain below this are in packs, and their loose copies may go; 0 where none do. */
  async sweptTo(id: DatasetId): Promise<number> {
    return (await this.#packedOf(id, () => mayBeSwept(this.#store))).to
  }

  /** The packs of the chain are looked for again. */
  forget(id: DatasetId): void {
    this.#packed.delete(id)
  }

  /**
   * These slices of a chain, in any order. Throws HaltError `ChainBroken` for one that is missing or is not what its hash
   * says, PackGone where a larger pack has taken the place of one.
   */
  async *fetch(id: DatasetId, slices: readonly SliceAt[]): AsyncGenerator<FetchedSlice> {
    const known = this.#packed.get(id) ?? nothing
    const behind = slices.filter(({ sequence }) => sequence >= known.to).length
    const { packs, to } = behind > looseMost ? await this.#packedOf(id, async () => true) : known
    const small = slices.filter(({ sequence, sizeBytes }) => sequence < to && sizeBytes <= packedSliceBytesMost)
    const missing = new Map(small.map((slice) => [slice.hash, slice]))
    const least = small.reduce((sequence, slice) => Math.min(sequence, slice.sequence), Number.POSITIVE_INFINITY)
    const most = small.reduce((sequence, slice) => Math.max(sequence, slice.sequence), 0)
    const near = packs.filter((pack) => pack.to + commitBlocksMost > least && pack.from <= most)
    for (const pack of near.toReversed()) {
      if (missing.size === 0) break
      for await (const { hash, bytes } of this.#reader.objects(pack, 'data', [...missing.keys()])) {
        const slice = must(missing.get(hash), 'it was asked for')
        missing.delete(hash)
        yield await whole(slice, bytes)
      }
    }
    const [lost] = missing.keys()
    if (lost !== undefined) throw new HaltError('ChainBroken', `slice ${lost} of ${id} is in none of its packs`)
    const packed = new Set(small)
    for (const group of groupsOf(slices.filter((slice) => !packed.has(slice)))) {
      yield* await Promise.all(group.map((slice) => this.#object(id, slice)))
    }
  }

  async #object(id: DatasetId, slice: SliceAt): Promise<FetchedSlice> {
    const bytes = await this.#store.get(dataKey(id, slice.hash))
    if (bytes === undefined) throw new HaltError('ChainBroken', `slice ${slice.hash} of ${id} is missing`)
    return await whole(slice, bytes)
  }

  /** Looks for packs where that was not done lately, if `isAsked` says that they matter. */
  async #packedOf(id: DatasetId, isAsked: () => Promise<boolean>): Promise<Packed> {
    const held = this.#packed.get(id)
    const lookedMs = this.#clock.monotonicMs()
    if (held !== undefined && lookedMs - held.lookedMs < lookAgainMs) return held
    const looking = this.#looking.get(id) ?? this.#look(id, { isAsked, lookedMs })
    this.#looking.set(id, looking)
    return await looking.finally(() => this.#looking.delete(id))
  }

  async #look(
    id: DatasetId,
    { isAsked, lookedMs }: { readonly isAsked: () => Promise<boolean>; readonly lookedMs: number },
  ): Promise<Packed> {
    const packs = (await isAsked()) ? await listPacks(this.#store, id, this.#packed.get(id)?.packs) : []
    const last = packs.at(-1)
    const summary = last && (await this.#reader.summary(last))
    const packed = { packs, to: summary === undefined ? 0 : summary.sequence + summary.blocks, lookedMs }
    if (this.#packed.size >= chainsHeld) this.#packed.clear()
    this.#packed.set(id, packed)
    return packed
  }
}

/** A record that is damaged says nothing of its store: packs are looked for then, which is right in any case. */
async function mayBeSwept(store: ObjectStore): Promise<boolean> {
  try {
    return (await sweptSince(store)) !== undefined
  } catch (error) {
    if (error instanceof DecodeError) return true
    throw error
  }
}

async function whole(slice: SliceAt, bytes: Uint8Array): Promise<FetchedSlice> {
  if (hashText(await digestInTurns(bytes)) === slice.hash) return { slice, bytes }
  throw new HaltError('ChainBroken', `slice ${slice.hash} is damaged: its bytes have another hash`)
}

function* groupsOf(slices: readonly SliceAt[]): Generator<readonly SliceAt[]> {
  let group: SliceAt[] = []
  let bytes = 0
  for (const slice of slices) {
    if (group.length === parallelReads || (group.length > 0 && bytes + slice.sizeBytes > parallelBytes)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(slice)
    bytes += slice.sizeBytes
  }
  if (group.length > 0) yield group
}
