// Requests that stay open until a block comes, event streams and tails that wait: how many there may be, in all and of one
// caller.

import { type Limits, limitTable } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'

type ListenerLimits = Pick<Limits, 'listeners' | 'callerShare'>

/** Bounds the requests that wait, in all and by caller. */
export class Listeners {
  readonly #limits: ListenerLimits
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(limits: ListenerLimits) {
    this.#limits = limits
  }

  get held(): number {
    return this.#held
  }

  /** Lets a listener of `caller` in; what it returns is to be called once. Throws NodeErrors `Saturated`, `QuotaExceeded`. */
  enter(caller: string): () => void {
    const { listeners, callerShare } = this.#limits
    const own = this.#heldBy.get(caller) ?? 0
    if (this.#held >= listeners) throw this.#refusal('Saturated', 'listeners')
    const room = listeners - (this.#held - own)
    if (own > 0 && own + 1 > (room * callerShare) / 100) {
      throw this.#refusal('QuotaExceeded', 'callerShare')
    }
    this.#change(caller, 1)
    return () => this.#change(caller, -1)
  }

  #change(caller: string, by: number): void {
    const own = (this.#heldBy.get(caller) ?? 0) + by
    this.#held += by
    if (own === 0) this.#heldBy.delete(caller)
    else this.#heldBy.set(caller, own)
  }

  #refusal(kind: 'Saturated' | 'QuotaExceeded', name: keyof ListenerLimits): NodeError {
    const what = kind === 'Saturated' ? 'The node has' : 'This caller has'
    return new NodeError(kind, `${what} as many listeners as ${kind === 'Saturated' ? 'it' : 'its share'} allows.`, {
      hint: 'Close streams that are not read; one stream can tell of several datasets.',
      limit: { name, value: this.#limits[name], unit: limitTable[name].unit },
      retryAfterSeconds: 5,
    })
  }
}
