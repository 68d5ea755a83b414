// How much is under way at a time: pieces of work, bytes in memory.

/** A weighted semaphore. What does not fit waits; a single task always runs. */
export class Bound {
  readonly #most: number
  #taken = 0
  readonly #waiting: { readonly amount: number; readonly go: () => void }[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Does `work`, which takes `amount`, in its turn. Throws what it throws. */
  async run<T>(amount: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(amount)) {
      await new Promise<void>((go) => this.#waiting.push({ amount, go }))
    } else this.#taken += amount
    try {
      return await work()
    } finally {
      this.#taken -= amount
      this.#next()
    }
  }

  #fits(amount: number): boolean {
    return this.#taken === 0 || this.#taken + amount <= this.#most
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.amount); first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#taken += first.amount
      first.go()
    }
  }
}
