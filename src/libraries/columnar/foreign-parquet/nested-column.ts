// A column whose values are made into text one by one: structs, lists, maps, geometries.

import { nextTurn } from '../../base/clock.ts'
import { NodeError } from '../../base/errors.ts'
import type { Ahead, PendingTexts } from '../parquet/bytes-column.ts'
import type { SchemaNode } from '../parquet/file-columns.ts'
import type { LeafCursor } from '../parquet/leaf-cursor.ts'
import { fewerValues } from '../parquet/fixed-column.ts'
import { damaged } from '../parquet/refusals.ts'
import { GeometryValues } from '../foreign-arrow/geometry.ts'
import type { GeometryForm } from '../foreign-arrow/types.ts'
import { type ArrowValues, NullValues } from '../foreign-arrow/values.ts'
import { GeometryFault } from '../../geo/rules.ts'
import { JsonText, TooLong } from '../../base/json/json-text.ts'
import { located, valueFault } from './faults.ts'
import { LeafRows } from './leaf-rows.ts'
import { nodeArray } from './nested-arrays.ts'

/** Rows that are put together before other work has its turn. */
const turnRows = 256
const firstTextBytes = 1024

export interface NestedOptions {
  readonly node: SchemaNode
  readonly cursors: readonly LeafCursor[]
  /** Of a column of geometries: how they lie. */
  readonly form: GeometryForm | 'wkb' | undefined
  readonly recordBytes: number
}

/** A nested column of a row group. */
export class NestedColumn {
  readonly #node: SchemaNode
  readonly #leaves: readonly LeafRows[]
  readonly #form: GeometryForm | 'wkb' | undefined
  readonly #recordBytes: number
  readonly #text: JsonText
  /** Rows that were put together, and the next of them. */
  #values: ArrowValues = new NullValues(0, undefined)
  #row = 0

  constructor({ node, cursors, form, recordBytes }: NestedOptions) {
    this.#node = form === undefined ? node : withAxesInOrder(node)
    this.#leaves = cursors.map((cursor) => new LeafRows(cursor, innermostItem(node, cursor.leaf.index, 0)))
    this.#form = form
    this.#recordBytes = recordBytes
    this.#text = new JsonText(firstTextBytes, recordBytes)
  }

  /** True when more was read than was taken. */
  get hasMore(): boolean {
    return this.#row < this.#values.rows || this.#leaves.some((leaf) => leaf.hasMore)
  }

  /** Adds rows until `ahead` is reached, one at least; `firstRow` is the first row pending, in the file. Throws NodeError. */
  async fill(
    pending: PendingTexts,
    ahead: Ahead,
    { rowGroup, firstRow }: { readonly rowGroup: number; readonly firstRow: number },
  ): Promise<void> {
    while (pending.rows < ahead.rows && (pending.rows === 0 || pending.sink.used < ahead.bytes)) {
      const row = firstRow + pending.rows
      if (this.#row === this.#values.rows) {
        await this.#next(rowGroup, row)
        await nextTurn()
      }
      this.#write(pending, row)
    }
  }

  /** Puts the next rows together, the first of which is row `row` of the file. */
  async #next(rowGroup: number, row: number): Promise<void> {
    let rows = turnRows
    for (const leaf of this.#leaves) {
      const { path } = leaf.cursor.leaf
      try {
        // An entry is at least two characters of text.
        if (leaf.rows === 0) await leaf.fill(this.#recordBytes / 2, this.#recordBytes)
        if (leaf.rows === 0 && leaf.isEnded) damaged(fewerValues)
      } catch (error) {
        throw located(error, { rowGroup, column: path, page: leaf.cursor.pages.page })
      }
      if (leaf.rows === 0) throw this.#tooLong(row)
      rows = Math.min(rows, leaf.rows)
    }
    const taken = new Map(this.#leaves.map((leaf) => [leaf.cursor.leaf.index, leaf.take(rows)]))
    const values = nodeArray(this.#node, taken, 0)
    this.#values = this.#form === undefined ? values : new GeometryValues(values, this.#form)
    this.#row = 0
  }

  #write(pending: PendingTexts, row: number): void {
    const text = this.#text
    const at = this.#row++
    text.at = 0
    text.begin()
    try {
      if (this.#values.isPresent(at)) this.#values.writeJson(at, text)
    } catch (error) {
      if (error instanceof TooLong) throw this.#tooLong(row)
      if (!(error instanceof GeometryFault)) throw error
      const { name } = this.#node
      throw valueFault('InvalidGeometry', row, name, `Column '${name}': ${error.message}`)
    }
    pending.append(text.at === 0 ? undefined : text.bytes.subarray(0, text.at))
  }

  #tooLong(record: number): NodeError {
    const { name } = this.#node
    const message = `Column '${name}': this value is longer than a record may be, which is ${this.#recordBytes} bytes.`
    return valueFault('RecordTooLarge', record, name, message)
  }
}

/** The definition level at which the innermost list around a leaf has an item; `outer` where there is none below `node`. */
function innermostItem(node: SchemaNode, leaf: number, outer: number): number {
  const at = node.isRepeated ? node.maxDefinition : outer
  if (node.leaf !== undefined) return node.leaf.index === leaf ? at : -1
  return Math.max(-1, ...node.children.map((child) => innermostItem(child, leaf, at)))
}

/** Structs of geometries have x, y and z in this order. */
function withAxesInOrder(node: SchemaNode): SchemaNode {
  const children = node.children.map(withAxesInOrder)
  return { ...node, children: children.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}
