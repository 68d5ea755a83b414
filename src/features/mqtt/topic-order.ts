// Messages of one topic are stored in the order in which they came (MQTT 5 §4.6), those of others beside them. One that
// is in line with others of its route lets the next one follow; one that is not is waited for.

/** A message's place behind the earlier ones of its topic. */
export class Turn {
  #before: Turn | undefined
  /** `in line`: what is put in line after it is stored after it. */
  #state: 'held' | 'in line' | 'over' = 'held'
  readonly #waiting: (() => void)[] = []

  constructor(before: Turn | undefined) {
    this.#before = before
  }

  /** True when the earlier message is in line, or over: so may this one be, at once. */
  get mayFollow(): boolean {
    return this.#before === undefined || this.#before.#state !== 'held'
  }

  /** Resolves when `mayFollow` may have become true. */
  async change(): Promise<void> {
    if (this.#before !== undefined) await this.#before.#next()
  }

  /** Resolves when all earlier messages are stored, or given up. */
  async alone(): Promise<void> {
    while (this.#before !== undefined && this.#before.#state !== 'over') await this.#before.#next()
  }

  inLine(): void {
    this.#become('in line')
  }

  /** It was in line and could not be stored there: those after it wait. */
  held(): void {
    this.#become('held')
  }

  over(): void {
    this.#before = undefined
    this.#become('over')
  }

  #become(state: 'held' | 'in line' | 'over'): void {
    this.#state = state
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }
}

export class TopicOrder {
  readonly #last = new Map<string, Turn>()

  /** Gives the message that has come its place; `leave` is to be called once. */
  enter(topic: string): { readonly turn: Turn; readonly leave: () => void } {
    const turn = new Turn(this.#last.get(topic))
    this.#last.set(topic, turn)
    const leave = (): void => {
      turn.over()
      if (this.#last.get(topic) === turn) this.#last.delete(topic)
    }
    return { turn, leave }
  }
}
