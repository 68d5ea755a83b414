// Collections that JavaScript lacks: a binary heap, a list over packed items, a hash table of numbers; bisection; tables asked
// for names that others have chosen.

/** What the table has under `name` itself: nothing is under `constructor` that was not put there. */
export function ownValue<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** The first index of `[start, end)` from which on `holds` is true, by bisection; `end` where there is none. */
export function firstIndex(start: number, end: number, holds: (index: number) => boolean): number {
  let [low, high] = [start, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

interface Node<T> {
  readonly key: number
  readonly item: T
}

/** A binary heap: the item with the smallest number comes first, equal ones in any order. */
export class Heap<T> {
  readonly #nodes: Node<T>[] = []

  get size(): number {
    return this.#nodes.length
  }

  /** The first item and its number, or undefined. */
  get first(): Node<T> | undefined {
    return this.#nodes[0]
  }

  add(key: number, item: T): void {
    const nodes = this.#nodes
    const node = { key, item }
    let at = nodes.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = nodes[parent]
      if (above === undefined || above.key <= key) break
      nodes[at] = above
      at = parent
    }
    nodes[at] = node
  }

  /** Takes the first item out. */
  take(): T | undefined {
    const nodes = this.#nodes
    const [top] = nodes
    const last = nodes.pop()
    if (last === undefined || nodes.length === 0) return top?.item
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const left = nodes[child]
      const right = nodes[child + 1]
      if (left === undefined) break
      let below = left
      if (right !== undefined && right.key < left.key) {
        below = right
        child++
      }
      if (below.key >= last.key) break
      nodes[at] = below
      at = child
    }
    nodes[at] = last
    return top?.item
  }
}

/** A list whose items lie packed elsewhere and are made when they are asked for. Reads like an array. */
export class PackedList<T> implements Iterable<T> {
  readonly #length: () => number
  readonly #item: (index: number) => T

  constructor(length: () => number, item: (index: number) => T) {
    this.#length = length
    this.#item = item
  }

  get length(): number {
    return this.#length()
  }

  /** The item at `index`, from the end when negative; undefined beyond. */
  at(index: number): T | undefined {
    const from0 = index < 0 ? this.length + index : index
    return from0 >= 0 && from0 < this.length ? this.#item(from0) : undefined
  }

  /** The items at `[start, end)`. */
  slice(start = 0, end = this.length): T[] {
    const items: T[] = []
    for (let index = Math.max(0, start); index < Math.min(end, this.length); index++) items.push(this.#item(index))
    return items
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = 0; index < this.length; index++) yield this.#item(index)
  }
}

const firstSlots = 8
const empty = 0

/**
 * From a 32-bit hash to the numbers of the things that have it: open addressing over one typed array, 6 to 12 bytes a
 * number. The things themselves lie elsewhere; the caller compares them and tells their hashes when the table grows.
 */
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

/** The members that are not undefined: `{ a: 1, ...defined({ b, c }) }` has no `b` where there is none. */
export function defined<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const kept: Partial<T> = {}
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name]
  return kept as { [Name in keyof T]?: Exclude<T[Name], undefined> } // what is undefined was left out
}
