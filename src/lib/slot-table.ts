// From a 32-bit hash to the numbers of the things that have it: open addressing over one typed array, 6 to 12 bytes a
// number. The things themselves lie elsewhere; the caller compares them and tells their hashes when the table grows.

const firstSlots = 8
const empty = 0

export class SlotTable {
  readonly #hashOf: (number: number) => number
  /** Number + 1, or 0 where nothing is. */
  #slots = new Uint32Array(firstSlots)
  #count = 0

  /** `hashOf(number)` is the hash of a thing that was added: an integer of which the low 32 bits count. */
  constructor(hashOf: (number: number) => number) {
    this.#hashOf = hashOf
  }

  get bytes(): number {
    return this.#slots.byteLength
  }

  add(number: number): void {
    if (3 * (this.#count + 1) > 2 * this.#slots.length) this.#grow()
    this.#place(number)
    this.#count++
  }

  /** The first number under `hash` that `isIt` takes, or undefined. `isIt` is also asked about some of other hashes. */
  find(hash: number, isIt: (number: number) => boolean): number | undefined {
    const mask = this.#slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = this.#slots[at] ?? empty
      if (slot === empty) return undefined
      if (isIt(slot - 1)) return slot - 1
    }
  }

  #place(number: number): void {
    const mask = this.#slots.length - 1
    let at = this.#hashOf(number) & mask
    while (this.#slots[at] !== empty) at = (at + 1) & mask
    this.#slots[at] = number + 1
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(2 * before.length)
    for (const slot of before) if (slot !== empty) this.#place(slot - 1)
  }
}
