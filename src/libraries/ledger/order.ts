// The order of a ledger's entries: each dataset's sequences from 0 on, once and one after another.

/** An entry that is out of place. */
export interface Disorder {
  readonly finding: 'twice' | 'missing'
  readonly about: string
}

/** Takes entries in their order. Keeps the next sequence of each dataset, by its tag in hex. */
export class Order {
  readonly #next: Map<string, number>

  constructor(next: Iterable<readonly [tag: string, sequence: number]> = []) {
    this.#next = new Map(next)
  }

  get datasets(): number {
    return this.#next.size
  }

  /** The next sequence of each dataset. */
  get next(): Iterable<readonly [tag: string, sequence: number]> {
    return this.#next
  }

  has(tag: string): boolean {
    return this.#next.has(tag)
  }

  /** What is wrong with an entry that comes next; undefined where it is in its place. */
  faultOf(tag: string, sequence: number): Disorder | undefined {
    const next = this.#next.get(tag) ?? 0
    if (sequence === next) return undefined
    if (sequence < next) return { finding: 'twice', about: 'an entry with this sequence came before' }
    return { finding: 'missing', about: `the entry with the sequence ${next} did not come before this one` }
  }

  /** Goes on with an entry, unless it is out of place: nothing follows from that. */
  take(tag: string, sequence: number): Disorder | undefined {
    const fault = this.faultOf(tag, sequence)
    if (fault === undefined) this.#next.set(tag, sequence + 1)
    else if (!this.#next.has(tag)) this.#next.set(tag, 0)
    return fault
  }
}
