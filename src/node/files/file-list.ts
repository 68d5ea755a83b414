// The files that the rows of a view can be read from, in offset order: its slices, or merged files in place of those that
// they hold the rows of. view-files.ts chooses among them.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { must } from '../../libraries/base/assert.ts'
import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { firstIndex } from '../../libraries/base/collections.ts'
import type { GroupTimes } from '../../libraries/columnar/parquet/time-range.ts'

/** Numbers `[from, to)` of slices. */
export interface SliceRun {
  readonly from: number
  readonly to: number
}

/** The numbers of a run. */
export function numbersOf({ from, to }: SliceRun): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}

/** A file with the rows of slices `[from, to)`, which was checked. */
export interface MergedFile extends SliceRun {
  readonly path: string
  /** Their rows come in the order of offsets. */
  readonly groups: readonly GroupTimes[]
}

/** A file of a view: slice `from` alone, or a merged file. */
interface FilePlace extends SliceRun {
  readonly merged: MergedFile | undefined
}

interface ViewFile extends FilePlace {
  /** First and last offset. */
  readonly start: number
  readonly end: number
  /** Of the block of its last slice. */
  readonly sequence: number
}

export class FileList {
  readonly view: DatasetView
  readonly #merged: readonly MergedFile[]
  /** Number of each merged file among the files. */
  readonly #places: readonly number[]
  readonly length: number

  /** `merged` are in order, apart from one another, and end before the view does. */
  constructor(view: DatasetView, merged: readonly MergedFile[] = []) {
    this.view = view
    this.#merged = merged
    let saved = 0
    this.#places = merged.map(({ from, to }) => {
      const place = from - saved
      saved += to - from - 1
      return place
    })
    this.length = view.slices.length - saved
  }

  get holdsMerged(): boolean {
    return this.#merged.length > 0
  }

  /** What tells a list with these merged files from others; empty where there are none. */
  get mergedName(): string {
    if (!this.holdsMerged) return ''
    return ` ${toHex(sha256(utf8(this.#merged.map(({ path }) => path).join('\n'))))}`
  }

  /** The slices that are file `number`, below `length`. */
  placeOf(number: number): FilePlace {
    const before = lastAtMost(this.#places, number)
    const merged = this.#merged[before]
    const place = this.#places[before] ?? 0
    if (merged !== undefined && place === number) return { from: merged.from, to: merged.to, merged }
    const from = merged === undefined ? number : merged.to + number - place - 1
    return { from, to: from + 1, merged: undefined }
  }

  /** File `number`, below `length`. */
  at(number: number): ViewFile {
    const place = this.placeOf(number)
    const { end, sequence } = this.#slice(place.to - 1)
    return { ...place, start: this.#slice(place.from).start, end, sequence }
  }

  /** Number of the file with the row at `offset`, which must be there. */
  numberWith(offset: number): number {
    const slice = this.view.slices.numberWith(offset)
    const before = lastAtMost(
      this.#merged.map(({ from }) => from),
      slice,
    )
    const merged = this.#merged[before]
    if (merged === undefined) return slice
    return (this.#places[before] ?? 0) + (slice < merged.to ? 0 : slice - merged.to + 1)
  }

  /** The slices that are files of their own. */
  looseRuns(): SliceRun[] {
    const ends = [...this.#merged.map(({ from }) => from), this.view.slices.length]
    const runs = ends.map((to, at) => ({ from: this.#merged[at - 1]?.to ?? 0, to }))
    return runs.filter(({ from, to }) => from < to)
  }

  #slice(number: number): SliceRef {
    return must(this.view.slices.at(number), 'a view has the slices of its chain up to its block')
  }
}

/** Place of the last of `ascending` that is at most `value`; -1 where there is none. */
function lastAtMost(ascending: readonly number[], value: number): number {
  return firstIndex(0, ascending.length, (at) => (ascending[at] ?? 0) > value) - 1
}
