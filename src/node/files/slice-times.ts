// Row groups and event times of slices, as their footers say: the least and the greatest time of each slice is read once, of
// slices that were checked, when a statement first chooses rows by time. Derived, in memory, bounded. Of merged files
// merged-files.ts knows them.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import { must } from '../../libraries/base/assert.ts'
import { footerBytes, type GroupTimes, groupTimes } from '../../libraries/columnar/parquet/time-range.ts'
import type { SliceFiles, SliceReading } from './slice-files.ts'
import { numbersOf, type SliceRun } from './file-list.ts'

/** Slices of which this is remembered: 24 bytes each. */
const slicesMost = 2_000_000
/** Slices that are held, and those of them that are read at once. */
const heldSlices = 1_024
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
export interface SliceFacts extends Omit<GroupTimes, 'rows'> {
  readonly groups: number
}

/** The end of a file of `sizeBytes` with its whole footer. */
export async function endOfFile(
  sizeBytes: number,
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const last = (bytes: number): Promise<Uint8Array> => read(Math.max(0, sizeBytes - bytes), sizeBytes)
  const end = await last(endBytes)
  const bytes = footerBytes(end)
  return bytes <= end.length ? end : last(bytes)
}

export class SliceTimes {
  readonly #files: Pick<SliceFiles, 'reading'>
  readonly #objects: Objects
  /** By dataset and column of the event time, which a later block may change. Least recently used first. */
  readonly #held = new Map<string, Times>()

  constructor(files: Pick<SliceFiles, 'reading'>, objects: Objects) {
    this.#files = files
    this.#objects = objects
  }

  /**
   * Least and greatest event time of each slice of `runs`, in milliseconds since 1970, or infinite; undefined for more slices
   * than are remembered. Throws HaltError `ChainBroken` for a slice that is not what its block says.
   */
  async of(view: DatasetView, runs: readonly SliceRun[]): Promise<((number: number) => SliceFacts) | undefined> {
    if (view.slices.length > slicesMost) return undefined
    const key = `${view.id} ${view.vocabulary.eventTimeColumn}`
    const times = this.#held.get(key) ?? { numbers: new Float64Array(), reading: Promise.resolve() }
    this.#held.delete(key)
    this.#held.set(key, times)
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

  /** The row groups of a slice, by its number, that was checked. */
  async groupsOf(view: DatasetView, number: number): Promise<readonly GroupTimes[]> {
    const reading = await this.#reading(view, { from: number, to: number + 1 })
    try {
      return await groupsIn(reading, view, number)
    } finally {
      reading.close()
    }
  }

  #reading({ id, slices }: DatasetView, run: SliceRun): Promise<SliceReading> {
    const at = (number: number): SliceRef => must(slices.at(number), 'a slice of the view')
    return this.#files.reading({ id, numbers: numbersOf(run), at })
  }

  async #read(view: DatasetView, times: Times, run: SliceRun): Promise<void> {
    const { slices } = view
    if (times.numbers.length < perSlice * slices.length) {
      const grown = new Float64Array(perSlice * Math.ceil(slices.length * 1.25))
      grown.set(times.numbers)
      times.numbers = grown
    }
    const isKnown = (number: number): boolean => times.numbers[perSlice * number + perSlice - 1] !== 0
    for (let from = run.from; from < run.to;) {
      if (isKnown(from)) from++
      else {
        const to = Math.min(from + heldSlices, run.to)
        await this.#readFooters(view, times, { from, to })
        from = to
      }
    }
  }

  async #readFooters(view: DatasetView, times: Times, run: SliceRun): Promise<void> {
    const reading = await this.#reading(view, run)
    try {
      for (let from = run.from; from < run.to; from += parallelReads) {
        const some = { from, to: Math.min(from + parallelReads, run.to) }
        await this.#objects.checkSlices(view, some)
        const read = await Promise.all(numbersOf(some).map((number) => groupsIn(reading, view, number)))
        for (const [at, groups] of read.entries()) {
          const min = groups.reduce((least, group) => Math.min(least, group.min), Number.POSITIVE_INFINITY)
          const max = groups.reduce((most, group) => Math.max(most, group.max), Number.NEGATIVE_INFINITY)
          times.numbers.set([min, max, groups.length], perSlice * (from + at))
        }
      }
    } finally {
      reading.close()
    }
  }

  #dropOldest(): void {
    const slicesOf = ({ numbers }: Times): number => numbers.length / perSlice
    let slices = [...this.#held.values()].reduce((sum, times) => sum + slicesOf(times), 0)
    for (const [key, times] of this.#held) {
      if (slices <= slicesMost || this.#held.size === 1) return
      this.#held.delete(key)
      slices -= slicesOf(times)
    }
  }
}

async function groupsIn(
  { read }: SliceReading,
  { slices, vocabulary }: DatasetView,
  number: number,
): Promise<readonly GroupTimes[]> {
  const { sizeBytes } = must(slices.at(number), 'a slice of the view')
  const end = await endOfFile(sizeBytes, (start, to) => read(number, [start, to]))
  return groupTimes(end, vocabulary.eventTimeColumn)
}
