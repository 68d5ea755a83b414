// Row groups and event times of slices, as their footers say: the least and the greatest time of each slice is read once, of
// slices that were checked, when a statement first chooses rows by time. Derived, in memory, bounded. Of merged files
// merged-files.ts knows them.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import { must } from '../lib/assert.ts'
import type { DatasetId } from '../model/events.ts'
import { footerBytes, type GroupTimes, groupTimes } from '../parquet/time-range.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { SliceRun } from './file-list.ts'

/** Slices of which this is remembered: 24 bytes each. */
const slicesMost = 2_000_000
/** Slices that are read at once. */
const parallelReads = 16
/** Of the end of a file: most footers are shorter. */
const endBytes = 16 * 1024

/** Numbers of each slice. */
const perSlice = 3

interface Times {
  /**
   * Least and greatest time of each slice, infinite where its footer has none, and how many row groups it has: none while
   * it was not read.
   */
  numbers: Float64Array
  reading: Promise<unknown>
}

/** What is known of a slice. */
interface SliceFacts extends Omit<GroupTimes, 'rows'> {
  readonly groups: number
}

/** What is known of the slices, or the files, of a view. */
export type FactsOf = (number: number) => SliceFacts

/** What the row groups of a file say of it. */
export function factsOfGroups(groups: readonly GroupTimes[]): SliceFacts {
  const min = groups.reduce((least, group) => Math.min(least, group.min), Number.POSITIVE_INFINITY)
  const max = groups.reduce((most, group) => Math.max(most, group.max), Number.NEGATIVE_INFINITY)
  return { min, max, groups: groups.length }
}

export class SliceTimes {
  readonly #store: ObjectStore
  readonly #objects: Objects
  /** Least recently used first. */
  readonly #held = new Map<DatasetId, Times>()

  constructor(store: ObjectStore, objects: Objects) {
    this.#store = store
    this.#objects = objects
  }

  /**
   * Least and greatest event time of each slice of `runs`, in milliseconds since 1970, or infinite; undefined for more slices
   * than are remembered. Throws HaltError `ChainBroken` for a slice that is not what its block says.
   */
  async of(view: DatasetView, runs: readonly SliceRun[]): Promise<FactsOf | undefined> {
    if (view.slices.length > slicesMost) return undefined
    const times = this.#held.get(view.id) ?? { numbers: new Float64Array(), reading: Promise.resolve() }
    this.#held.delete(view.id)
    this.#held.set(view.id, times)
    const readOn = async (): Promise<void> => {
      for (const run of runs) await this.#read(view, times, run)
    }
    times.reading = times.reading.then(readOn, readOn)
    await times.reading
    this.#dropOldest()
    const { numbers } = times
    return (number) => {
      const [min = 0, max = 0, groups = 0] = numbers.subarray(perSlice * number, perSlice * (number + 1))
      return { min, max, groups }
    }
  }

  /** The row groups of a slice that was checked. */
  async groupsOf({ id, vocabulary }: DatasetView, { hash, sizeBytes }: SliceRef): Promise<readonly GroupTimes[]> {
    const read = async (from: number): Promise<Uint8Array> => {
      const bytes = await this.#store.getRange(dataKey(id, hash), Math.max(0, sizeBytes - from), sizeBytes)
      return must(bytes, 'a slice that was checked is there')
    }
    const end = await read(endBytes)
    const bytes = footerBytes(end)
    return groupTimes(bytes <= end.length ? end : await read(bytes), vocabulary.eventTimeColumn)
  }

  async #read(view: DatasetView, times: Times, run: SliceRun): Promise<void> {
    const { slices } = view
    if (times.numbers.length < perSlice * slices.length) {
      const grown = new Float64Array(perSlice * Math.ceil(slices.length * 1.25))
      grown.set(times.numbers)
      times.numbers = grown
    }
    const isKnown = (number: number): boolean => times.numbers[perSlice * number + perSlice - 1] !== 0
    for (let from = run.from; from < run.to; ) {
      if (isKnown(from)) {
        from++
        continue
      }
      const to = Math.min(from + parallelReads, run.to)
      await this.#objects.checkSlices(view, { from, to })
      const read = await Promise.all(slices.slice(from, to).map(async (slice) => await this.groupsOf(view, slice)))
      for (const [at, groups] of read.entries()) {
        const { min, max } = factsOfGroups(groups)
        times.numbers.set([min, max, groups.length], perSlice * (from + at))
      }
      from = to
    }
  }

  #dropOldest(): void {
    const slicesOf = ({ numbers }: Times): number => numbers.length / perSlice
    let slices = [...this.#held.values()].reduce((sum, times) => sum + slicesOf(times), 0)
    for (const [id, times] of this.#held) {
      if (slices <= slicesMost || this.#held.size === 1) return
      this.#held.delete(id)
      slices -= slicesOf(times)
    }
  }
}
