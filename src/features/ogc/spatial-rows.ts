// Which rows of a dataset may meet a box: an index for each slice, made on first use in a thread of the pool and kept while
// there is room. Derived from slices, which never change.

import type { DatasetView } from '../../node/catalog/dataset-chain.ts'
import type { Objects } from '../../node/catalog/objects.ts'
import type { SliceRef } from '../../node/catalog/packed-blocks.ts'
import type { Bounds } from '../../libraries/geo/geometry.ts'
import type { Place } from '../../libraries/geo/place.ts'
import { placesOf, turnsOf } from '../../libraries/geo/turns.ts'
import { eachPoint, indexBytes, rowsNear } from '../../libraries/geo/spatial-index.ts'
import { must } from '../../libraries/base/assert.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import type { Hash } from '../../libraries/base/ids/identifiers.ts'
import type { SliceFiles } from '../../node/files/slice-files.ts'
import type { SliceIndex } from '../../node/machine/work/jobs.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'

export interface SpatialDeps {
  readonly files: { readonly slices: Pick<SliceFiles, 'reading'> }
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly work: WorkPool
}

/** Indexes kept: about three million points. */
const keptBytes = 128 * 1024 * 1024
/** Extents of slices kept: some 30 MiB. */
const keptExtents = 100_000

/** Where a box may be met. */
export interface Candidates {
  /** Offsets of rows, ascending. */
  readonly offsets: Float64Array
  /** All of them do meet it. */
  readonly areExact: boolean
}

/** Where and when rows are: bounds of their geometries, first and last event time in milliseconds since 1970. */
export type Extent = Pick<SliceIndex, 'bounds' | 'times'>

export class SpatialRows {
  readonly #deps: SpatialDeps
  /** By slice and columns, the one that was used last at the end. */
  readonly #indexes = new Map<string, Promise<SliceIndex>>()
  /** By the same keys: little enough to be kept longer. */
  readonly #extents = new Map<string, Extent>()
  readonly #bytes = new Map<string, number>()
  #heldBytes = 0

  constructor(deps: SpatialDeps) {
    this.#deps = deps
  }

  /**
   * Rows of `view` that may meet the box, whichever way their longitudes are counted. Throws NodeErrors `SqlValue` for a row
   * that has no geometry text, `Saturated`.
   */
  async near(view: DatasetView, place: Place, box: Bounds, signal: AbortSignal): Promise<Candidates> {
    const boxes = placesOf(box)
    await this.#deps.objects.checkSlices(view)
    const parts: { readonly start: number; readonly rows: Uint32Array }[] = []
    let areExact = true
    let count = 0
    for (let number = 0; number < view.slices.length; number++) {
      if (this.#isFar(view, { number, place, boxes })) continue
      const index = await this.#indexOf(view, { number, place, signal })
      const rows = rowsNear(index, boxes)
      await nextTurn()
      if (rows.length === 0) continue
      areExact &&= index.arePoints
      count += rows.length
      parts.push({ start: must(view.slices.at(number), 'a slice of the view').start, rows })
    }
    const offsets = new Float64Array(count)
    let at = 0
    for (const { start, rows } of parts) for (const row of rows) offsets[at++] = start + row
    return { offsets, areExact }
  }

  /**
   * Tells `each` offset and place of the points in the box, with longitudes as the box counts them; false, and nothing was
   * told, where some geometry of the slices that may meet it is no point. Throws as `near`.
   */
  async points(
    view: DatasetView,
    { place, box, signal }: { readonly place: Place; readonly box: Bounds; readonly signal: AbortSignal },
    each: (offset: number, x: number, y: number) => void,
  ): Promise<boolean> {
    const turns = turnsOf(box)
    const boxes = turns.map((one) => one.box)
    await this.#deps.objects.checkSlices(view)
    const indexes: { readonly start: number; readonly index: SliceIndex }[] = []
    for (let number = 0; number < view.slices.length; number++) {
      if (this.#isFar(view, { number, place, boxes })) continue
      const index = await this.#indexOf(view, { number, place, signal })
      if (!index.arePoints) return false
      indexes.push({ start: must(view.slices.at(number), 'a slice of the view').start, index })
    }
    for (const { start, index } of indexes) {
      for (const { box: bounds, shift } of turns) {
        eachPoint(index, bounds, (row, x, y) => each(start + row, x - shift, y))
      }
      await nextTurn()
    }
    return true
  }

  /** Rows that must be read before the extent of `view` is known. */
  unreadRows(view: DatasetView, place: Place): number {
    let rows = 0
    for (let number = 0; number < view.slices.length; number++) {
      const { hash, start, end } = must(view.slices.at(number), 'a slice of the view')
      if (!this.#extents.has(keyOf(view, hash, place))) rows += end - start + 1
    }
    return rows
  }

  /** Where and when all rows are. Throws as `near`. */
  async extent(view: DatasetView, place: Place, signal: AbortSignal): Promise<Extent> {
    if (this.unreadRows(view, place) > 0) await this.#deps.objects.checkSlices(view)
    let bounds: Bounds | undefined
    let times: Extent['times']
    for (let number = 0; number < view.slices.length; number++) {
      const { hash } = must(view.slices.at(number), 'a slice of the view')
      const known = this.#extents.get(keyOf(view, hash, place))
      const extent = known ?? (await this.#indexOf(view, { number, place, signal }))
      const [a, b] = [bounds, extent.bounds]
      bounds =
        a === undefined || b === undefined
          ? (a ?? b)
          : [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
      const [c, d] = [times, extent.times]
      times = c === undefined || d === undefined ? (c ?? d) : [Math.min(c[0], d[0]), Math.max(c[1], d[1])]
    }
    return { bounds, times }
  }

  /** No row of the slice meets any of the boxes, as its extent tells; false where that is not known. */
  #isFar(
    view: DatasetView,
    { number, place, boxes }: { readonly number: number; readonly place: Place; readonly boxes: readonly Bounds[] },
  ): boolean {
    const { hash } = must(view.slices.at(number), 'a slice of the view')
    const extent = this.#extents.get(keyOf(view, hash, place))
    if (extent?.bounds === undefined) return extent !== undefined
    const [west, south, east, north] = extent.bounds
    return boxes.every((box) => box[0] > east || box[2] < west || box[1] > north || box[3] < south)
  }

  async #indexOf(
    view: DatasetView,
    { number, place, signal }: { readonly number: number; readonly place: Place; readonly signal: AbortSignal },
  ): Promise<SliceIndex> {
    signal.throwIfAborted()
    const next = view.slices.at(number + 1)
    // The next one is made meanwhile, in another thread; what is wrong with it is told when its turn comes.
    if (next !== undefined) this.#held(view, next, place).catch(() => undefined)
    return await this.#held(view, must(view.slices.at(number), 'a slice of the view'), place)
  }

  /** The index of a slice, made unless it is kept. */
  async #held(view: DatasetView, slice: SliceRef, place: Place): Promise<SliceIndex> {
    const key = keyOf(view, slice.hash, place)
    const known = this.#indexes.get(key)
    const index = known ?? this.#make(view, slice, place)
    this.#indexes.delete(key)
    this.#indexes.set(key, index)
    if (known !== undefined) return await known
    try {
      const made = await index
      this.#keep(key, indexBytes(made))
      this.#extents.set(key, { bounds: made.bounds, times: made.times })
      for (const oldest of this.#extents.keys()) {
        if (this.#extents.size <= keptExtents) break
        this.#extents.delete(oldest)
      }
      return made
    } catch (error) {
      this.#indexes.delete(key)
      throw error
    }
  }

  async #make({ id, vocabulary }: DatasetView, slice: SliceRef, place: Place): Promise<SliceIndex> {
    const { read, close } = await this.#deps.files.slices.reading({ id, numbers: [0], at: () => slice })
    const settings = { place, time: vocabulary.eventTimeColumn }
    const bytes = await read(0).finally(close)
    return await this.#deps.work.run('spatialIndex', [bytes], { settings })
  }

  #keep(key: string, bytes: number): void {
    this.#bytes.set(key, bytes)
    this.#heldBytes += bytes
    for (const oldest of this.#indexes.keys()) {
      if (this.#heldBytes <= keptBytes || oldest === key) break
      const held = this.#bytes.get(oldest)
      // One that is still made counts when it is done.
      if (held === undefined) continue
      this.#indexes.delete(oldest)
      this.#bytes.delete(oldest)
      this.#heldBytes -= held
    }
  }
}

function keyOf({ vocabulary }: DatasetView, hash: Hash, place: Place): string {
  return JSON.stringify([hash, place, vocabulary.eventTimeColumn])
}
