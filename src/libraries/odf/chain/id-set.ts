// The ids of keyed batches that a dataset remembers, 20 bytes each: the beginning of an id and the checkpoint that holds
// the rest. What the fold would take for a duplicate is in here and nothing else (docs/spec/protocol.md §2, Memory of ids).

import type { IdPrefix } from './checkpoint-scan.ts'
import { idsRemembered } from './checkpoint.ts'
import { must } from '../../base/assert.ts'
import { SlotTable } from '../../base/collections.ts'

const entryWords = 3
const firstEntries = 64
/** A part is dropped as a whole, and grows within a few milliseconds. */
const partEntriesMost = 32_768

/** Ids in the order in which they were committed: the two halves of each one's prefix, number of its checkpoint. */
export class IdList {
  #words = new Uint32Array(firstEntries * entryWords)
  count = 0

  get bytes(): number {
    return this.#words.byteLength
  }

  add(high: number, low: number, number: number): void {
    const at = this.count++ * entryWords
    if (at === this.#words.length) {
      const grown = new Uint32Array(2 * at)
      grown.set(this.#words)
      this.#words = grown
    }
    this.#words[at] = high
    this.#words[at + 1] = low
    this.#words[at + 2] = number
  }

  prefixAt(entry: number): IdPrefix {
    return { high: this.#word(entry, 0), low: this.#word(entry, 1) }
  }

  lowAt(entry: number): number {
    return this.#word(entry, 1)
  }

  isAt(entry: number, { high, low }: IdPrefix): boolean {
    return this.#word(entry, 0) === high && this.#word(entry, 1) === low
  }

  numberAt(entry: number): number {
    return this.#word(entry, 2)
  }

  #word(entry: number, word: number): number {
    return must(this.#words[entry * entryWords + word], 'an entry of the list')
  }
}

/** Some ids that can be looked up. */
class Part {
  readonly ids = new IdList()
  readonly #table = new SlotTable((entry) => this.ids.lowAt(entry))
  /** The first so many are forgotten. */
  forgotten = 0

  get bytes(): number {
    return this.ids.bytes + this.#table.bytes
  }

  add({ high, low }: IdPrefix, number: number): void {
    this.ids.add(high, low, number)
    this.#table.add(this.ids.count - 1)
  }

  collect(prefix: IdPrefix, numbers: number[]): void {
    this.#table.find(prefix.low, (entry) => {
      if (entry >= this.forgotten && this.ids.isAt(entry, prefix)) numbers.push(this.ids.numberAt(entry))
      return false
    })
  }
}

export class IdSet {
  /** Oldest first. */
  readonly #parts: Part[] = []
  #size = 0
  /** Number of the next checkpoint to take in. */
  next = 0

  /** How many ids are remembered. */
  get size(): number {
    return this.#size
  }

  get bytes(): number {
    let bytes = 0
    for (const part of this.#parts) bytes += part.bytes
    return bytes
  }

  /** Adds an id that checkpoint `number` holds; those of earlier ones come before. */
  add(prefix: IdPrefix, number: number): void {
    let part = this.#parts.at(-1)
    if (part === undefined || part.ids.count === partEntriesMost) this.#parts.push((part = new Part()))
    part.add(prefix, number)
    this.#size++
  }

  /** Forgets what the fold forgets at the end of a block of time `timeMs`; `timeMsOf` gives the times of checkpoints. */
  forget(timeMs: number, timeMsOf: (number: number) => number): void {
    let heldNumber = -1
    let least = 0
    for (;;) {
      const [oldest] = this.#parts
      if (oldest === undefined) return
      if (oldest.forgotten === oldest.ids.count) {
        this.#parts.shift()
        continue
      }
      const number = oldest.ids.numberAt(oldest.forgotten)
      if (number !== heldNumber) least = idsRemembered(timeMs - timeMsOf(number))
      heldNumber = number
      // mutant: a key is forgotten too early
      if (this.#size <= least) return
      oldest.forgotten++
      this.#size--
    }
  }

  /** Numbers of the checkpoints that may hold the id. */
  numbersOf(prefix: IdPrefix): readonly number[] {
    const numbers: number[] = []
    for (const part of this.#parts) part.collect(prefix, numbers)
    return numbers
  }
}
