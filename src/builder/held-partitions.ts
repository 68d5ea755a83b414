// The partitions that this builder works on, as they come and go. One that is given back ends at a clean point:
// commits under way are finished and the floor is written. If it comes again, it begins anew at floor and chains.

import type { Partition } from './partition.ts'

interface Held {
  readonly partition: Partition
  readonly done: Promise<void>
}

export class HeldPartitions {
  readonly #create: (number: number) => Partition
  readonly #held = new Map<number, Held>()
  /** Given back, but not ended yet. */
  readonly #ending = new Map<number, Promise<void>>()
  #pastLostRaces = 0
  #isClosed = false
  /** False until it has been said which partitions these are. */
  isKnown = false

  constructor(create: (number: number) => Partition) {
    this.#create = create
  }

  /** Begins what is new in `numbers` and ends what is not in it. After `close` nothing happens. */
  set(numbers: readonly number[]): void {
    if (this.#isClosed) return
    this.isKnown = true
    for (const number of this.#held.keys()) if (!numbers.includes(number)) this.#end(number)
    for (const number of numbers) if (!this.#held.has(number)) this.#begin(number)
  }

  /** By number, ascending. */
  get all(): Partition[] {
    return [...this.#held.values()].map(({ partition }) => partition).sort((a, b) => a.number - b.number)
  }

  get(number: number): Partition | undefined {
    return this.#held.get(number)?.partition
  }

  /** Of all partitions held by now, those given back too. */
  get lostRaces(): number {
    return this.all.reduce((sum, { lostRaces }) => sum + lostRaces, this.#pastLostRaces)
  }

  /** Ends all; resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { partition } of this.#held.values()) partition.stop()
    await Promise.all([...[...this.#held.values()].map(({ done }) => done), ...this.#ending.values()])
  }

  #begin(number: number): void {
    const partition = this.#create(number)
    const before = this.#ending.get(number) ?? Promise.resolve()
    this.#held.set(number, { partition, done: before.then(() => partition.run()) })
  }

  #end(number: number): void {
    const held = this.#held.get(number)
    if (held === undefined) return
    this.#held.delete(number)
    held.partition.stop()
    const ending = held.done.then(() => {
      this.#pastLostRaces += held.partition.lostRaces
      if (this.#ending.get(number) === ending) this.#ending.delete(number)
    })
    this.#ending.set(number, ending)
  }
}
