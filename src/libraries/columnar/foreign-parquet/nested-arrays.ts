// Structs, lists and maps put together from the levels of their leaves, as arrays that become JSON text: an object, an array,
// an array of {"key":…,"value":…}. Source: Apache Parquet, LogicalTypes (lists and maps, also those of old writers).

import { must } from '../../base/assert.ts'
import { equalBytes } from '../../base/bytes.ts'
import type { Column } from '../../model/schema.ts'
import type { SchemaNode } from '../parquet/file-columns.ts'
import { logicalTypes } from '../parquet/footer.ts'
import { type Lists, lists, type Presence, presence } from '../parquet/levels.ts'
import { damaged } from '../parquet/refusals.ts'
import { ListValues, StructValues } from '../foreign-arrow/nested-values.ts'
import {
  type ArrowValues,
  BoolValues,
  BytesValues,
  FixedValues,
  NullValues,
  OffsetReader,
} from '../foreign-arrow/values.ts'
import type { TakenRows } from './leaf-rows.ts'

const disagree = 'has parts whose levels do not agree'

/** Rows of the leaves of a column, by their indexes. */
export type LeafMap = ReadonlyMap<number, TakenRows>

/** The values of `node`, which stands in a struct or is a column, inside of `depth` lists. Throws ParquetFault. */
export function nodeArray(node: SchemaNode, leaves: LeafMap, depth: number): ArrowValues {
  return node.isRepeated
    ? listArray({ repeated: node, item: node, presentAt: 0 }, leaves, depth)
    : present(node, leaves, depth)
}

/** The values of a node apart from its own repetition. */
function present(node: SchemaNode, leaves: LeafMap, depth: number): ArrowValues {
  if (node.leaf !== undefined) return leafArray(must(leaves.get(node.leaf.index), 'a leaf'), node, depth)
  const list = listOf(node)
  if (list !== undefined) return listArray(list, leaves, depth)
  const { rows, validity } = agreed(
    leavesOf(node, leaves).map((leaf) => presence(leaf.levels, depth, node.maxDefinition)),
  )
  const children = node.children.map((child) => ({ name: child.name, values: nodeArray(child, leaves, depth) }))
  if (children.some(({ values }) => values.rows !== rows)) damaged(disagree)
  return new StructValues(rows, validity, children)
}

/** What `repeated` repeats: each time an `item`, which is `repeated` itself or stands in it. */
interface ListNode {
  readonly repeated: SchemaNode
  readonly item: SchemaNode
  readonly presentAt: number
}

function listArray({ repeated, item, presentAt }: ListNode, leaves: LeafMap, depth: number): ArrowValues {
  const found: Lists[] = []
  const inner = new Map(leaves)
  for (const index of leafIndexes(repeated)) {
    const leaf = must(leaves.get(index), 'a leaf')
    const one = lists(leaf.levels, { depth, presentAt, itemAt: repeated.maxDefinition })
    found.push(one)
    inner.set(index, { levels: one.items, column: leaf.column })
  }
  const { rows, validity, offsets } = agreed(found)
  const items = item === repeated ? present(item, inner, depth + 1) : nodeArray(item, inner, depth + 1)
  if (items.rows !== offsets[rows]) damaged(disagree)
  const ranges = { start: (row: number) => offsets[row] ?? 0, end: (row: number) => offsets[row + 1] ?? 0 }
  return new ListValues(rows, validity, ranges, items)
}

function leafArray({ levels, column }: TakenRows, node: SchemaNode, depth: number): ArrowValues {
  if (column !== undefined) return columnArray(column)
  return new NullValues(presence(levels, depth, node.maxDefinition).rows, undefined)
}

function columnArray({ type, rows, validity, values, offsets }: Column): ArrowValues {
  if (type.kind === 'Bool') return new BoolValues(rows, validity, values)
  if (offsets === undefined) return new FixedValues(rows, validity, type, values)
  const bytes = new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength)
  return new BytesValues(rows, validity, {
    isText: type.kind === 'String',
    offsets: new OffsetReader(bytes, rows + 1, 4),
    values,
  })
}

/** What all leaves say of a level around them. */
function agreed<T extends Presence & { readonly offsets?: Int32Array }>(found: readonly T[]): T {
  const first = must(found[0], 'a leaf')
  const isSame = found.every(({ rows, validity, offsets }) => {
    const areNullsSame =
      validity === undefined || first.validity === undefined
        ? validity === first.validity
        : equalBytes(validity, first.validity)
    return (
      rows === first.rows && areNullsSame && (offsets ?? []).every((offset, row) => offset === first.offsets?.[row])
    )
  })
  return isSame ? first : damaged(disagree)
}

function leavesOf(node: SchemaNode, leaves: LeafMap): TakenRows[] {
  return leafIndexes(node).map((index) => must(leaves.get(index), 'a leaf'))
}

function leafIndexes({ leaf, children }: SchemaNode): number[] {
  return leaf === undefined ? children.flatMap(leafIndexes) : [leaf.index]
}

/** What a node repeats if it is a list or a map. */
function listOf(node: SchemaNode): ListNode | undefined {
  const { logical, converted } = node.element
  const [repeated] = node.children
  if (repeated === undefined || node.children.length !== 1 || !repeated.isRepeated) return undefined
  const presentAt = node.maxDefinition
  const [only] = repeated.children
  if (logical?.member === logicalTypes.list || converted === 3) {
    // Old writers left out the middle level: then what is repeated is the item itself.
    const isItem =
      only === undefined ||
      repeated.children.length > 1 ||
      only.isRepeated ||
      repeated.name === 'array' ||
      repeated.name === `${node.name}_tuple`
    return { repeated, item: isItem ? repeated : only, presentAt }
  }
  // MAP_KEY_VALUE (2) stood at the outer group in old files.
  const isMap = logical?.member === logicalTypes.map || converted === 1 || converted === 2
  if (!isMap || only === undefined || repeated.children.length > 2) return undefined
  const children = repeated.children.map((child, i) => ({ ...child, name: i === 0 ? 'key' : 'value' }))
  const entry = { ...repeated, children }
  return { repeated: entry, item: entry, presentAt }
}
