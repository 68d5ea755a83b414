// Where reading stands in one column chunk: its page, the levels that were read and not used, the values that come next.

import { BytesSink, type ByteValues } from './byte-values.ts'
import type { ChunkPages, DataPage } from './chunk-pages.ts'
import type { FixedValues } from './fixed-values.ts'
import { encodings } from './page-header.ts'
import { ChunkValues, decimalsOf } from './page-values.ts'
import { damaged } from './refusals.ts'
import { uuidTexts } from './conversions.ts'
import type { LeafType } from './leaf-types.ts'

/** Entries whose levels are read at once. */
export const pieceEntries = 4096
/** Values that are passed over at once, and how often before other work has its turn. */
const passBytes = 64 * 1024
const piecesInTurn = 32

/** A leaf of the schema. `index` is its place among the leaves, `path` its name with those above it. */
export interface Leaf {
  readonly index: number
  readonly path: string
  readonly maxDefinition: number
  readonly maxRepetition: number
  readonly leafType: LeafType
}

/** One chunk, read piece by piece. */
export class LeafCursor {
  readonly leaf: Leaf
  readonly pages: ChunkPages
  /** Entries at hand: `[head, tail)` of the levels. */
  head = 0
  tail = 0
  /** True when no entry at hand is null; their definition levels are then not written. */
  isFull = true
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  private values: ChunkValues
  private page: DataPage | undefined
  private entriesLeft = 0
  /** Values of the page that were read. */
  private valuesRead = 0
  /** Set while the page is let go: how its values were read. */
  private letGoAs: 'fixed' | 'bytes' | 'unread' | undefined
  private fixedValues: FixedValues | undefined
  private byteValues: ByteValues | undefined

  constructor(leaf: Leaf, pages: ChunkPages) {
    this.leaf = leaf
    this.pages = pages
    const { refusal } = leaf.leafType
    if (refusal !== undefined) throw refusal
    this.values = new ChunkValues(leaf.leafType)
    const most = Math.max(0, Math.min(pieceEntries, pages.entriesLeft))
    this.definition = new Uint8Array(leaf.maxDefinition > 0 ? most : 0)
    this.repetition = new Uint8Array(leaf.maxRepetition > 0 ? most : 0)
  }

  /** Sees to it that entries are at hand; false when the chunk has no more. */
  async more(): Promise<boolean> {
    if (this.head < this.tail) return true
    if (this.entriesLeft === 0) {
      this.checkEnd()
      this.drop()
      this.valuesRead = 0
      this.page = await this.pages.next()
      this.takeDictionary()
      if (this.page === undefined) return false
      this.entriesLeft = this.page.entries
    }
    this.readLevels()
    return true
  }

  get isLetGo(): boolean {
    return this.letGoAs !== undefined
  }

  /** Gives back the memory of the page and the dictionary; what is at hand stays. Nothing is read before `resume`. */
  letGo(): void {
    if (this.page === undefined) return
    this.letGoAs = this.fixedValues !== undefined ? 'fixed' : this.byteValues !== undefined ? 'bytes' : 'unread'
    this.drop()
    this.values = new ChunkValues(this.leaf.leafType)
    this.pages.close()
  }

  /** Reads the page again that was let go, up to where reading stood; `turn` lets other work have its turn. */
  async resume(turn: () => Promise<void>): Promise<void> {
    const { letGoAs, leaf, valuesRead } = this
    if (letGoAs === undefined) return
    const page = await this.pages.again()
    this.takeDictionary()
    this.page = page
    this.letGoAs = undefined
    const levels = new Uint8Array(pieceEntries)
    for (let left = page.entries - this.entriesLeft; left > 0; left -= pieceEntries) {
      page.repetition?.read(levels, 0, Math.min(left, pieceEntries))
      page.definition?.read(levels, 0, Math.min(left, pieceEntries))
    }
    const fixedBytes = Math.max(16, leaf.leafType.width)
    const most = letGoAs === 'fixed' ? Math.max(1, Math.floor(passBytes / fixedBytes)) : pieceEntries
    const passed = new Uint8Array(letGoAs === 'fixed' ? most * fixedBytes : 0)
    for (let left = valuesRead, sincePause = 0; left > 0;) {
      let count = Math.min(left, most)
      if (letGoAs === 'fixed') this.fixed.read(passed, 0, count)
      else count = this.bytes.read(new BytesSink(count), count, passBytes)
      left -= count
      if (++sincePause % piecesInTurn === 0) await turn()
    }
  }

  /** Reads the next `count` values of the page at hand. */
  readFixed(out: Uint8Array, at: number, count: number): void {
    this.fixed.read(out, at, count)
    this.valuesRead += count
  }

  /** Reads the next values of the page at hand, which are byte arrays, as `ByteValues` does. */
  readBytes(sink: BytesSink, count: number, mostBytes: number): number {
    const done = this.bytes.read(sink, count, mostBytes)
    this.valuesRead += done
    return done
  }

  private drop(): void {
    this.page = undefined
    this.fixedValues = undefined
    this.byteValues = undefined
  }

  private takeDictionary(): void {
    const dictionary = this.pages.takeDictionary()
    if (dictionary !== undefined) this.values.setDictionary(dictionary)
  }

  /** Of the entries at hand, drops those below level `least`: lists without items. How many are left. */
  keepItems(least: number): number {
    if (this.isFull) return this.tail - this.head
    const { definition } = this
    let kept = 0
    for (let i = this.head; i < this.tail; i++) {
      const level = definition[i] ?? 0
      if (level >= least) definition[kept++] = level
    }
    this.head = 0
    this.tail = kept
    return kept
  }

  private get fixed(): FixedValues {
    if (this.fixedValues === undefined) {
      const page = this.page ?? damaged('has values behind its last page')
      const isBytes = this.leaf.leafType.reading === 'decimalBytes'
      this.fixedValues = isBytes ? decimalsOf(this.values.bytes(page)) : this.values.fixed(page)
    }
    return this.fixedValues
  }

  private get bytes(): ByteValues {
    if (this.byteValues === undefined) {
      const values = this.values.bytes(this.page ?? damaged('has values behind its last page'))
      this.byteValues = this.leaf.leafType.reading === 'uuid' ? uuidTexts(values) : values
    }
    return this.byteValues
  }

  /**
   * What a page holds beyond its entries is a sign that its header is damaged, which no checksum guards. Some software
   * that writes no checksums pads its pages; only split bytes leave no room for that.
   */
  private checkEnd(): void {
    const { page, fixedValues, byteValues } = this
    if (page === undefined || !(page.isChecked || page.encoding === encodings.byteStreamSplit)) return
    const parts = [page.definition, page.repetition, fixedValues, byteValues]
    if (parts.some((part) => part?.isAtEnd === false)) damaged('has a page that holds more than its entries')
  }

  private readLevels(): void {
    const { maxDefinition, maxRepetition } = this.leaf
    const count = Math.min(pieceEntries, this.entriesLeft)
    const { definition, repetition } = this.page ?? {}
    this.head = 0
    this.tail = count
    this.entriesLeft -= count
    if (repetition !== undefined) {
      repetition.read(this.repetition, 0, count)
      checkLevels(this.repetition, count, maxRepetition)
    }
    if (definition === undefined) {
      this.isFull = true
      return
    }
    const level = definition.repeated(count)
    this.isFull = level === maxDefinition
    if (this.isFull) return
    if (level === undefined) definition.read(this.definition, 0, count)
    else this.definition.fill(level, 0, count)
    checkLevels(this.definition, count, maxDefinition)
  }
}

function checkLevels(levels: Uint8Array, count: number, max: number): void {
  for (let i = 0; i < count; i++) {
    if ((levels[i] ?? 0) > max) damaged('has a level that its schema does not have')
  }
}

/** How many entries come before the one that has value number `value`. */
export function entriesBefore(levels: Uint8Array, top: number, value: number): number {
  let left = value
  for (let i = 0; i < levels.length; i++) if (levels[i] === top && left-- === 0) return i
  return levels.length
}
