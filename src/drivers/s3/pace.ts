// A bound on how often one object is replaced: Google Cloud Storage takes about one update of a name in a second and refuses
// more with 429 (https://cloud.google.com/storage/quotas#objects). What would come too early waits; only the head of a chain and
// tokens are ever replaced, so that a dataset has at most one commit in a second there.

import type { Clock } from '../../libraries/base/clock.ts'

export class Pace {
  readonly #clock: Clock
  readonly #everyMs: number
  /** By key, the end of the last work and its pause. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** Works on one key one after the other, each so long after the end of the one before it. Throws what `work` throws. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(key) ?? Promise.resolve()).then(work)
    const pause = (): Promise<void> => this.#clock.sleep(this.#everyMs)
    const turn = mine.then(pause, pause).finally(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key)
    })
    this.#turns.set(key, turn)
    return mine
  }
}
