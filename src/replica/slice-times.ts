// The least and the greatest event time of each slice, as its footer says: read once, of slices that were checked, when a
// statement first chooses rows by time. Derived, in memory, bounded.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import type { DatasetId } from '../model/events.ts'
import { footerBytes, timeRange } from '../parquet/time-range.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Slices whose times are remembered: 16 bytes each. */
const slicesMost = 2_000_000
/** Slices that are read at once. */
const parallelReads = 16
/** Of the end of a file: most footers are shorter. */
const endBytes = 16 * 1024

interface Times {
  /** Slices that are read: the first so many. */
  known: number
  /** Least and greatest of each; infinite where they are not known. */
  ranges: Float64Array
  reading: Promise<unknown>
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
   * Least and greatest time of slice n at `[2n]` and `[2n + 1]`, in milliseconds since 1970, or infinite; undefined for more
   * slices than are remembered. Throws HaltError `ChainBroken` for a slice that is not what its block says.
   */
  async of(view: DatasetView): Promise<Float64Array | undefined> {
    if (view.slices.length > slicesMost) return undefined
    const times = this.#held.get(view.id) ?? { known: 0, ranges: new Float64Array(), reading: Promise.resolve() }
    this.#held.delete(view.id)
    this.#held.set(view.id, times)
    const readOn = async (): Promise<void> => await this.#readOn(view, times)
    times.reading = times.reading.then(readOn, readOn)
    await times.reading
    this.#dropOldest()
    return times.ranges
  }

  async #readOn(view: DatasetView, times: Times): Promise<void> {
    const { slices } = view
    if (times.known >= slices.length) return
    await this.#objects.checkSlices(view, { from: times.known, to: slices.length })
    if (times.ranges.length < 2 * slices.length) {
      const grown = new Float64Array(2 * Math.ceil(slices.length * 1.25))
      grown.set(times.ranges)
      times.ranges = grown
    }
    while (times.known < slices.length) {
      const from = times.known
      const group = slices.slice(from, Math.min(from + parallelReads, slices.length))
      const read = await Promise.all(group.map(async (slice) => await this.#rangeOf(view, slice)))
      for (const [at, range] of read.entries()) {
        times.ranges[2 * (from + at)] = range?.min ?? Number.NEGATIVE_INFINITY
        times.ranges[2 * (from + at) + 1] = range?.max ?? Number.POSITIVE_INFINITY
      }
      times.known = from + group.length
    }
  }

  async #rangeOf({ id, vocabulary }: DatasetView, { hash, sizeBytes }: SliceRef): ReturnType<typeof rangeIn> {
    return await rangeIn(vocabulary.eventTimeColumn, sizeBytes, async (start) => {
      return await this.#store.getRange(dataKey(id, hash), start, sizeBytes)
    })
  }

  #dropOldest(): void {
    let slices = [...this.#held.values()].reduce((sum, { known }) => sum + known, 0)
    for (const [id, { known }] of this.#held) {
      if (slices <= slicesMost) return
      this.#held.delete(id)
      slices -= known
    }
  }
}

/** The times in a file of `sizeBytes`, whose end `read` gives from a place on. */
async function rangeIn(
  column: string,
  sizeBytes: number,
  read: (start: number) => Promise<Uint8Array | undefined>,
): Promise<{ readonly min: number; readonly max: number } | undefined> {
  const end = await read(Math.max(0, sizeBytes - endBytes))
  if (end === undefined) return undefined
  const bytes = footerBytes(end)
  const whole = bytes <= end.length ? end : await read(Math.max(0, sizeBytes - bytes))
  return whole && timeRange(whole, column)
}
