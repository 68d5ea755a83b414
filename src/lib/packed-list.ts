// A list whose items lie packed elsewhere and are made when they are asked for. Reads like an array.

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
