// Bounds the bodies under way: a full queue is 503 with nothing stored, never memory growth.

import { NodeError } from '../model/errors.ts'

/** A body that was let in. */
export interface Admitted {
  /** The body has turned out to take `bytes`. Throws `Saturated`. */
  grow(bytes: number): void
  /** The body takes no memory any more. Idempotent. */
  leave(): void
}

export class AdmissionQueue {
  readonly #limitBytes: number
  #openBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Bytes of the bodies under way. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** Admits a body of about `bytes`. A body that is alone is admitted at any size. Throws `Saturated`. */
  enter(bytes: number): Admitted {
    let own = 0
    const grow = (to: number): void => {
      const more = to - own
      if (more <= 0) return
      if (this.#openBytes > own && this.#openBytes + more > this.#limitBytes) throw saturated(this.#limitBytes)
      own = to
      this.#openBytes += more
    }
    grow(bytes)
    return {
      grow,
      leave: () => {
        this.#openBytes -= own
        own = 0
      },
    }
  }
}

function saturated(limitBytes: number): NodeError {
  return new NodeError('Saturated', 'The node has as many bodies under way as it can hold.', {
    hint: 'Send it again in a moment.',
    limit: { name: 'openIngestBytes', value: limitBytes, unit: 'bytes' },
    retryAfterSeconds: 1,
  })
}
