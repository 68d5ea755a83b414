// Which rows of a dataset may meet a box: an index for each slice, made on first use in a thread of the pool and kept while
// there is room. Derived from slices, which never change.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { Bounds } from '../geo/geometry.ts'
import { eachPoint, indexBytes, rowsNear, type SpatialIndex } from '../geo/spatial-index.ts'
import { must } from '../lib/assert.ts'
import { nextTurn } from '../lib/clock.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { dataKey } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { WorkPool } from '../work/jobs.ts'

export interface SpatialDeps {
  readonly store: ObjectStore
  /** Checks slices before they are read. */
  readonly objects: Objects
  readonly work: WorkPool
}

/** Indexes kept: about three million points. */
const keptBytes = 128 * 1024 * 1024

/** Where a box may be met. */
export interface Candidates {
  /** Offsets of rows, ascending. */
  readonly offsets: Float64Array
  /** All of them do meet it. */
  readonly areExact: boolean
}

export class SpatialRows {
  readonly #deps: SpatialDeps
  /** By slice and column, the one that was used last at the end. */
  readonly #indexes = new Map<string, Promise<SpatialIndex>>()
  readonly #bytes = new Map<string, number>()
  #heldBytes = 0

  constructor(deps: SpatialDeps) {
    this.#deps = deps
  }

  /** Rows of `view` that may meet the box. Throws NodeErrors `SqlValue` for a row that has no geometry text, `Saturated`. */
  async near(view: DatasetView, column: string, box: Bounds, signal: AbortSignal): Promise<Candidates> {
    await this.#deps.objects.checkSlices(view)
    const parts: { readonly start: number; readonly rows: Uint32Array }[] = []
    let areExact = true
    let count = 0
    for (let number = 0; number < view.slices.length; number++) {
      const index = await this.#indexOf(view, { number, column, signal })
      const rows = rowsNear(index, box)
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
   * Tells `each` offset and place of the points in the box; false, and nothing was told, where some geometry of the
   * slices is no point. Throws as `near`.
   */
  async points(
    view: DatasetView,
    { column, box, signal }: { readonly column: string; readonly box: Bounds; readonly signal: AbortSignal },
    each: (offset: number, x: number, y: number) => void,
  ): Promise<boolean> {
    await this.#deps.objects.checkSlices(view)
    const indexes: { readonly start: number; readonly index: SpatialIndex }[] = []
    for (let number = 0; number < view.slices.length; number++) {
      const index = await this.#indexOf(view, { number, column, signal })
      if (!index.arePoints) return false
      indexes.push({ start: must(view.slices.at(number), 'a slice of the view').start, index })
    }
    for (const { start, index } of indexes) {
      eachPoint(index, box, (row, x, y) => each(start + row, x, y))
      await nextTurn()
    }
    return true
  }

  /** The box around all geometries; undefined where there are none. */
  async extent(view: DatasetView, column: string, signal: AbortSignal): Promise<Bounds | undefined> {
    await this.#deps.objects.checkSlices(view)
    let all: Bounds | undefined
    for (let number = 0; number < view.slices.length; number++) {
      const { bounds } = await this.#indexOf(view, { number, column, signal })
      if (bounds === undefined) continue
      const [west, south, east, north] = all ?? bounds
      all = [
        Math.min(west, bounds[0]),
        Math.min(south, bounds[1]),
        Math.max(east, bounds[2]),
        Math.max(north, bounds[3]),
      ]
    }
    return all
  }

  async #indexOf(
    { id, slices }: DatasetView,
    { number, column, signal }: { readonly number: number; readonly column: string; readonly signal: AbortSignal },
  ): Promise<SpatialIndex> {
    signal.throwIfAborted()
    const next = slices.at(number + 1)
    // The next one is made meanwhile, in another thread; what is wrong with it is told when its turn comes.
    if (next !== undefined) this.#held(id, next.hash, column).catch(() => undefined)
    return await this.#held(id, must(slices.at(number), 'a slice of the view').hash, column)
  }

  /** The index of a slice, made unless it is kept. */
  async #held(id: DatasetId, hash: Hash, column: string): Promise<SpatialIndex> {
    const key = `${hash} ${column}`
    const known = this.#indexes.get(key)
    const index = known ?? this.#make(id, hash, column)
    this.#indexes.delete(key)
    this.#indexes.set(key, index)
    if (known !== undefined) return await known
    try {
      const made = await index
      this.#keep(key, indexBytes(made))
      return made
    } catch (error) {
      this.#indexes.delete(key)
      throw error
    }
  }

  async #make(id: DatasetId, hash: Hash, column: string): Promise<SpatialIndex> {
    const bytes = must(await this.#deps.store.get(dataKey(id, hash)), 'a slice of the chain')
    return await this.#deps.work.run('spatialIndex', [bytes], { settings: column })
  }

  #keep(key: string, bytes: number): void {
    this.#bytes.set(key, bytes)
    this.#heldBytes += bytes
    for (const oldest of this.#indexes.keys()) {
      if (this.#heldBytes <= keptBytes || oldest === key) break
      this.#indexes.delete(oldest)
      this.#heldBytes -= this.#bytes.get(oldest) ?? 0
      this.#bytes.delete(oldest)
    }
  }
}
