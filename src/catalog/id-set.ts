// The ids of keyed batches that a dataset remembers, 20 bytes each: the beginning of an id and the checkpoint that holds
// the rest. What the fold would take for a duplicate is in here and nothing else (protocol.md §2, Memory of ids).

import type { IdPrefix } from '../chain/checkpoint-scan.ts'
import { idsRemembered } from '../chain/checkpoint.ts'
import { must } from '../lib/assert.ts'
import { SlotTable } from '../lib/collections.ts'

const entryWords = 3
const firstEntries = 64
/** A part is let go as a whole, and grows within a few milliseconds. */
const partEntriesMost = 32_768

/** Some ids in the order in which they were committed: the two halves of each one's prefix, number of its checkpoint. */
class Part {
  readonly #table = new SlotTable((entry) => this.#words[entry * entryWords + 1] ?? 0)
  #words = new Uint32Array(firstEntries * entryWords)
  count = 0
  /** The first so many are forgotten. */
  forgotten = 0

  get bytes(): number {
    return this.#words.byteLength + this.#table.bytes
  }

  add({ high, low }: IdPrefix, number: number): void {
    const at = this.count * entryWords
    if (at === this.#words.length) {
      const grown = new Uint32Array(2 * at)
      grown.set(this.#words)
      this.#words = grown
    }
    this.#words[at] = high
    this.#words[at + 1] = low
    this.#words[at + 2] = number
    this.#table.add(this.count++)
  }

  numberAt(entry: number): number {
    return must(this.#words[entry * entryWords + 2], 'an entry of the part')
  }

  collect({ high, low }: IdPrefix, numbers: number[]): void {
    this.#table.find(low, (entry) => {
      const at = entry * entryWords
      if (entry >= this.forgotten && this.#words[at] === high && this.#words[at + 1] === low)
        numbers.push(this.numberAt(entry))
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
    if (part === undefined || part.count === partEntriesMost) this.#parts.push((part = new Part()))
    part.add(prefix, number)
    this.#size++
  }

  /** Forgets what the fold forgets at the end of a block of time `timeMs`; `timeMsOf` tells the times of checkpoints. */
  forget(timeMs: number, timeMsOf: (number: number) => number): void {
    let heldNumber = -1
    let least = 0
    for (;;) {
      const [oldest] = this.#parts
      if (oldest === undefined) return
      if (oldest.forgotten === oldest.count) {
        this.#parts.shift()
        continue
      }
      const number = oldest.numberAt(oldest.forgotten)
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
