// Which rows of a slice may meet a box: the bounds of their geometries in a packed Hilbert R-tree. Derived, kept in memory,
// made from the slice again whenever it is needed. Pure.

import Flatbush from 'flatbush'
import { type Bounds, boundsOf, geometryOf, pointOf } from './geometry.ts'

/** An index as plain data, which travels between threads. */
export interface SpatialIndex {
  /** The tree; absent where no row has a position. */
  readonly tree: ArrayBuffer | undefined
  /** Row of each item of the tree. */
  readonly rows: Uint32Array
  /** All geometries are points: what the index finds is what meets the box. */
  readonly arePoints: boolean
  readonly bounds: Bounds | undefined
}

/** Makes the index of rows that are told one after the other, from row 0 on. */
export class SpatialIndexer {
  readonly #rows: number[] = []
  readonly #numbers: number[] = []
  #arePoints = true
  #row = 0

  /** The geometry of the next row; undefined where it has none. Throws NodeError `SqlValue` for a text that is no geometry. */
  add(text: string | undefined): void {
    const row = this.#row++
    if (text === undefined) return
    const geometry = geometryOf(text)
    const bounds = boundsOf(geometry)
    if (bounds === undefined) return
    this.#rows.push(row)
    this.#numbers.push(...bounds)
    this.#arePoints &&= pointOf(geometry) !== undefined
  }

  /** The place of the next row, which is a point. */
  addPoint(x: number, y: number): void {
    this.#rows.push(this.#row++)
    this.#numbers.push(x, y, x, y)
  }

  finish(): SpatialIndex {
    const rows = Uint32Array.from(this.#rows)
    const arePoints = this.#arePoints
    if (rows.length === 0) return { tree: undefined, rows, arePoints, bounds: undefined }
    const tree = new Flatbush(rows.length)
    const numbers = this.#numbers
    for (let i = 0; i < numbers.length; i += 4) {
      tree.add(numbers[i] ?? 0, numbers[i + 1] ?? 0, numbers[i + 2] ?? 0, numbers[i + 3] ?? 0)
    }
    tree.finish()
    // The library was given no other kind of buffer.
    const data = tree.data as ArrayBuffer
    return { tree: data, rows, arePoints, bounds: [tree.minX, tree.minY, tree.maxX, tree.maxY] }
  }
}

/** Memory that an index takes, in bytes. */
export function indexBytes({ tree, rows }: SpatialIndex): number {
  return (tree?.byteLength ?? 0) + rows.byteLength + 200
}

/** The rows whose bounds meet one of the boxes, ascending. */
export function rowsNear({ tree, rows }: SpatialIndex, boxes: readonly Bounds[]): Uint32Array {
  if (tree === undefined) return new Uint32Array()
  const index = Flatbush.from(tree)
  const found = boxes.map((box) => index.search(...box))
  const items = found.length === 1 ? (found[0] ?? []) : [...new Set(found.flat())]
  return Uint32Array.from(items, (item) => rows[item] ?? 0).sort()
}

/** Tells `each` row and place of the points in the box, in no order; `arePoints` must hold. */
export function eachPoint(
  { tree, rows }: SpatialIndex,
  [west, south, east, north]: Bounds,
  each: (row: number, x: number, y: number) => void,
): void {
  if (tree === undefined) return
  Flatbush.from(tree).search(west, south, east, north, (item, x, y) => {
    each(rows[item] ?? 0, x, y)
    return false
  })
}
