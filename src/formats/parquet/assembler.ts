// Structs, lists and maps put together from the levels of their leaves, as JSON text: an object, an array, an array of
// {"key":…,"value":…}. Source: Apache Parquet, "Nested Encoding"; LogicalTypes (lists and maps, also those of old writers).

import { must } from '../../lib/assert.ts'
import { stringToken } from '../../outputs/value-text.ts'
import { logicalTypes } from '../../parquet/footer.ts'
import { damaged } from '../../parquet/refusals.ts'
import type { Column } from '../../model/schema.ts'
import type { LeafEntries } from './entries.ts'
import type { SchemaNode } from '../../parquet/file-columns.ts'
import type { LeafText } from '../leaf-text.ts'
import { leafText } from './leaf-text.ts'

const disagree = 'has parts whose levels do not agree'

/** A value's text is longer than a record may be. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/** How values become text. */
export interface Printer {
  /** A struct, of the JSON strings of its fields' names and the texts of their values. */
  readonly struct: (names: readonly string[], texts: readonly string[]) => string
  /** The values of a leaf, which come as a column without nulls. */
  readonly leaf: (column: Column) => LeafText
  /** The whole value of a row, of the text made so far; absent: that text. */
  readonly row?: (text: string) => string
}

/** JSON as answers print it. */
export const jsonPrinter: Printer = {
  struct: (names, texts) => `{${names.map((name, i) => `${name}:${texts[i]}`).join(',')}}`,
  leaf: leafText,
}

/** Assembles the rows of one column; `entries` are those of its leaves, in order. */
export class Assembler {
  private readonly root: Part
  private readonly entries: readonly LeafEntries[]
  private readonly printer: Printer
  private printers: readonly LeafText[] = []
  private room = 0

  constructor(node: SchemaNode, entries: readonly LeafEntries[], printer: Printer) {
    const first = must(entries[0], 'a leaf').cursor.leaf.index
    this.entries = entries
    this.root = partOf(node, first)
    this.printer = printer
  }

  /** Looks at the values that the entries hold now. */
  look(): void {
    this.printers = this.entries.map((leaf) => this.printer.leaf(leaf.column()))
  }

  /** The next row's text, or undefined for null. Throws DecodeError, and TooLong for a text of more than `mostChars`. */
  next(mostChars: number): string | undefined {
    this.room = mostChars
    const { node } = this.root
    if (!node.isRepeated && this.definition(this.root) < node.maxDefinition) {
      this.passNull(this.root, 0)
      return undefined
    }
    const text = this.field(this.root, 0)
    const whole = this.printer.row?.(text) ?? text
    // Only a geometry that has no form is so.
    return whole === 'null' ? undefined : whole
  }

  /** A node where it stands in a struct, or as a column: with its repetition and its nulls. */
  private field(part: Part, repetition: number): string {
    return part.node.isRepeated ? this.items(part, part, repetition) : this.optional(part, repetition)
  }

  private optional(part: Part, repetition: number): string {
    if (this.definition(part) < part.node.maxDefinition) {
      this.passNull(part, repetition)
      return this.take('null')
    }
    return this.present(part, repetition)
  }

  private present(part: Part, repetition: number): string {
    switch (part.kind) {
      case 'leaf':
        return this.leaf(part, repetition)
      case 'list':
        return this.items(part.repeated, part.item, repetition)
      case 'struct':
        return this.struct(part, repetition)
    }
  }

  /** What `repeated` repeats: each time an `item`, which is `repeated` itself or stands in it. */
  private items(repeated: Part, item: Part, repetition: number): string {
    const { node } = repeated
    if (this.definition(repeated) < node.maxDefinition) {
      this.passNull(repeated, repetition)
      return this.take('[]')
    }
    const texts: string[] = []
    let at = repetition
    do {
      texts.push(item === repeated ? this.present(item, at) : this.field(item, at))
      at = node.maxRepetition
    } while (this.continues(repeated, at))
    return this.take(`[${texts.join(',')}]`, texts.length + 1)
  }

  private struct(part: StructPart, repetition: number): string {
    const texts = part.fields.map((field) => this.field(field, repetition))
    return this.take(this.printer.struct(part.names, texts), 4 * texts.length)
  }

  private leaf(part: Part, repetition: number): string {
    const leaf = this.leafOf(part.firstLeaf)
    this.pass(leaf, repetition)
    return this.take(must(this.printers[part.firstLeaf], 'a printer')(leaf.value++))
  }

  /** Passes over the one entry that each leaf has for a value that is not there. */
  private passNull(part: Part, repetition: number): void {
    const level = this.definition(part)
    for (let i = part.firstLeaf; i < part.endLeaf; i++) {
      const leaf = this.leafOf(i)
      if (leaf.definition[leaf.head] !== level) damaged(disagree)
      this.pass(leaf, repetition)
    }
  }

  private pass(leaf: LeafEntries, repetition: number): void {
    if (leaf.head >= leaf.tail || leaf.repetition[leaf.head] !== repetition) damaged(disagree)
    leaf.head++
  }

  private definition(part: Part): number {
    const leaf = this.leafOf(part.firstLeaf)
    if (leaf.head >= leaf.tail) damaged(disagree)
    return leaf.definition[leaf.head] ?? 0
  }

  private continues(part: Part, repetition: number): boolean {
    const leaf = this.leafOf(part.firstLeaf)
    if (leaf.head >= leaf.tail) return false
    const next = leaf.repetition[leaf.head] ?? 0
    if (next > repetition) damaged(disagree)
    return next === repetition
  }

  private leafOf(index: number): LeafEntries {
    return must(this.entries[index], 'a leaf')
  }

  /** Counts `text`, or `chars` of it where its parts were counted already. */
  private take(text: string, chars = text.length): string {
    this.room -= chars
    if (this.room < 0) throw new TooLong()
    return text
  }
}

interface PartHead {
  readonly node: SchemaNode
  /** Its leaves among those of the column: [firstLeaf, endLeaf). */
  readonly firstLeaf: number
  readonly endLeaf: number
}

interface StructPart extends PartHead {
  readonly kind: 'struct'
  /** As JSON strings. */
  readonly names: readonly string[]
  readonly fields: readonly Part[]
}

type Part =
  | (PartHead & { readonly kind: 'leaf' })
  | StructPart
  | (PartHead & { readonly kind: 'list'; readonly repeated: Part; readonly item: Part })

/** What a node of the schema means; `firstLeaf` is the index of the column's first leaf. */
function partOf(node: SchemaNode, firstLeaf: number): Part {
  if (node.leaf !== undefined) {
    const index = node.leaf.index - firstLeaf
    return { kind: 'leaf', node, firstLeaf: index, endLeaf: index + 1 }
  }
  return listPart(node, firstLeaf) ?? mapPart(node, firstLeaf) ?? structPart(node, firstLeaf)
}

function structPart(node: SchemaNode, firstLeaf: number, names = node.children.map(({ name }) => name)): StructPart {
  const fields = node.children.map((child) => partOf(child, firstLeaf))
  const [first, last] = [must(fields[0], 'a field'), must(fields.at(-1), 'a field')]
  const head = { node, firstLeaf: first.firstLeaf, endLeaf: last.endLeaf }
  return { ...head, kind: 'struct', fields, names: names.map((name) => stringToken(name, false)) }
}

/** The group that a list or a map repeats, or undefined where the node is none. */
function repeatedChild(node: SchemaNode): SchemaNode | undefined {
  const [child] = node.children
  return node.children.length === 1 && child?.isRepeated === true ? child : undefined
}

function listPart(node: SchemaNode, firstLeaf: number): Part | undefined {
  const isList = node.element.logical?.member === logicalTypes.list || node.element.converted === 3
  const child = isList ? repeatedChild(node) : undefined
  if (child === undefined) return undefined
  const repeated = partOf(child, firstLeaf)
  const [only] = child.children
  // Old writers left out the middle level: then what is repeated is the item itself.
  const isItem =
    only === undefined ||
    child.children.length > 1 ||
    only.isRepeated ||
    child.name === 'array' ||
    child.name === `${node.name}_tuple`
  const item = isItem ? repeated : partOf(only, firstLeaf)
  return { kind: 'list', node, firstLeaf: repeated.firstLeaf, endLeaf: repeated.endLeaf, repeated, item }
}

function mapPart(node: SchemaNode, firstLeaf: number): Part | undefined {
  const { logical, converted } = node.element
  // MAP_KEY_VALUE (2) stood at the outer group in old files.
  const isMap = logical?.member === logicalTypes.map || converted === 1 || converted === 2
  const child = isMap ? repeatedChild(node) : undefined
  if (child === undefined || child.children.length === 0 || child.children.length > 2) return undefined
  const repeated = structPart(child, firstLeaf, ['key', 'value'])
  return { kind: 'list', node, firstLeaf: repeated.firstLeaf, endLeaf: repeated.endLeaf, repeated, item: repeated }
}
