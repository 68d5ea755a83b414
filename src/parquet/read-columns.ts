// Columns from the content of a slice's chunks: levels become nulls and lists, physical values those of the type.
// Source: Apache Parquet, LogicalTypes.md; levels as in the Dremel paper.

import { fixedWidth, makeColumn } from '../arrow/columns.ts'
import { itemName } from '../arrow/ipc-schema.ts'
import { isText } from '../arrow/text.ts'
import { must } from '../lib/assert.ts'
import { DecodeError } from '../model/errors.ts'
import type { Column } from '../model/record-batch.ts'
import { type DataType, type Field, innerType, isOptional } from '../model/schema.ts'
import type { ChunkContent, LeafShape } from './read-pages.ts'
import { type DenseValues, spread } from './read-values.ts'

const what = 'Parquet slice'

/** The column of `field` from its one chunk. Shares memory with the file where forms are equal. */
export function columnOfChunk(field: Field, content: ChunkContent, shape: LeafShape): Column {
  if (shape.maxRepetition > 0) return listColumn(field, content, shape)
  const { entries, definition, values } = content
  const leaf = { name: field.name, type: innerType(field.type), nullable: isOptional(field.type) }
  // Of a flat column the one level says whether there is a value.
  return leafColumn(leaf, { present: leaf.nullable ? definition : undefined, rows: entries, values }, shape)
}

interface LeafContent {
  /** 0 for each null. */
  readonly present: Uint8Array | undefined
  readonly rows: number
  readonly values: DenseValues
}

function leafColumn(
  leaf: Pick<Column, 'name' | 'type' | 'nullable'>,
  { present, rows, values: dense }: LeafContent,
  shape: LeafShape,
): Column {
  const nullCount = rows - dense.count
  const whole = nullCount === 0 || present === undefined ? dense : spread(dense, present, shape)
  if (whole.count !== rows)
    throw new DecodeError(what, `column "${leaf.name}" has ${dense.count} values for ${rows} rows`)
  const validity = nullCount === 0 || present === undefined ? undefined : packBits(present)
  const values = valuesOfType(leaf.type, whole, shape)
  const { offsets } = whole
  if (leaf.type.kind === 'String' && !isText(values, must(offsets, 'offsets of text'))) {
    throw new DecodeError(what, `column "${leaf.name}" is not UTF-8`)
  }
  return makeColumn({ ...leaf, rows, nullCount, validity, values, offsets, child: undefined })
}

/** Bytes 0 and 1 as bits. */
function packBits(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array((bytes.length + 7) >> 3)
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) out[i >> 3] = (out[i >> 3] ?? 0) | (1 << (i & 7))
  return out
}

function valuesOfType(
  type: DataType,
  { values, count, offsets }: DenseValues,
  { isBoolean, width }: LeafShape,
): Uint8Array {
  const own = fixedWidth(type)
  if (type.kind === 'Bool' && isBoolean) return packBits(values)
  if (own === undefined && offsets !== undefined) return values
  if (own === width) return values
  if (own !== undefined && own < 4 && width === 4) return firstBytes(values, count, own)
  if (type.kind === 'Decimal' && (width === 4 || width === 8)) return widened(values, count, width)
  throw new DecodeError(what, `has values of ${width} bytes for type ${type.kind}`)
}

/** The low `own` bytes of each 4-byte integer. */
function firstBytes(values: Uint8Array, count: number, own: number): Uint8Array {
  const out = new Uint8Array(count * own)
  for (let i = 0; i < count; i++) for (let b = 0; b < own; b++) out[i * own + b] = values[4 * i + b] ?? 0
  return out
}

/** Little-endian integers of `width` bytes as 16-byte ones. */
function widened(values: Uint8Array, count: number, width: number): Uint8Array {
  const out = new Uint8Array(16 * count)
  for (let i = 0; i < count; i++) {
    const at = i * width
    for (let b = 0; b < width; b++) out[16 * i + b] = values[at + b] ?? 0
    if ((values[at + width - 1] ?? 0) > 127) out.fill(255, 16 * i + width, 16 * i + 16)
  }
  return out
}

/** Big-endian integers of `width` (at most 16) bytes as little-endian ones of 16. */
export function fromBigEndian({ values, count, offsets }: DenseValues, width: number): DenseValues {
  const out = new Uint8Array(16 * count)
  for (let i = 0; i < count; i++) {
    const at = i * width
    for (let b = 0; b < width; b++) out[16 * i + b] = values[at + width - 1 - b] ?? 0
    if ((values[at] ?? 0) > 127) out.fill(255, 16 * i + width, 16 * i + 16)
  }
  return { count, values: out, offsets }
}

/** One list of a column of lists (of lists): the least levels at which it is there, and at which it has an item. */
class ListLevel {
  readonly field: Field
  readonly presentAt: number
  readonly itemAt: number
  readonly starts: Int32Array
  readonly present: Uint8Array
  rows = 0
  items = 0

  constructor(field: Field, levelAbove: number, entries: number) {
    this.field = field
    this.presentAt = levelAbove + (isOptional(field.type) ? 1 : 0)
    this.itemAt = this.presentAt + 1
    this.starts = new Int32Array(entries + 1)
    this.present = new Uint8Array(entries)
  }

  /** Begins a row of this list. */
  begin(definition: number): void {
    this.starts[this.rows] = this.items
    this.present[this.rows] = definition >= this.presentAt ? 1 : 0
    this.rows++
  }

  column(child: Column): Column {
    this.starts[this.rows] = this.items
    const { rows } = this
    const present = this.present.subarray(0, rows)
    let nullCount = 0
    for (const flag of present) if (flag === 0) nullCount++
    return makeColumn({
      name: this.field.name,
      type: innerType(this.field.type),
      nullable: isOptional(this.field.type),
      rows,
      nullCount,
      validity: nullCount === 0 ? undefined : packBits(present),
      values: new Uint8Array(0),
      offsets: this.starts.subarray(0, rows + 1),
      child,
    })
  }
}

function listColumn(field: Field, content: ChunkContent, shape: LeafShape): Column {
  const { entries, definition, repetition, values } = content
  const lists: ListLevel[] = []
  let slot = field
  let level = 0
  for (let type = innerType(field.type); type.kind === 'List'; type = innerType(slot.type)) {
    const list = new ListLevel(slot, level, entries)
    lists.push(list)
    level = list.itemAt
    slot = { name: itemName, type: type.itemType }
  }
  const present = new Uint8Array(entries)
  let leaves = 0
  let last = 0
  for (let entry = 0; entry < entries; entry++) {
    const at = definition[entry] ?? 0
    const repeated = repetition[entry] ?? 0
    const continued = lists[repeated - 1]
    if (continued !== undefined ? at < continued.itemAt || last < continued.itemAt : repeated > 0) {
      throw new DecodeError(what, `column "${field.name}" continues a list that has not begun`)
    }
    if (continued !== undefined) continued.items++
    let depth = repeated
    for (; depth < lists.length; depth++) {
      const list = must(lists[depth], 'a list')
      if (depth > 0 && at < must(lists[depth - 1], 'a list').itemAt) break
      list.begin(at)
      if (at >= list.itemAt) list.items++
    }
    if (at >= level) present[leaves++] = at >= shape.maxDefinition ? 1 : 0
    last = at
  }
  const leaf = { name: itemName, type: innerType(slot.type), nullable: isOptional(slot.type) }
  let column = leafColumn(leaf, { present: present.subarray(0, leaves), rows: leaves, values }, shape)
  for (const list of lists.toReversed()) column = list.column(column)
  return column
}
