// Bounds the bodies under way: a full queue is 503 with nothing stored, never memory growth.

import { NodeError } from '../model/errors.ts'

export class AdmissionQueue {
  readonly #limitBytes: number
  #openBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Admits a body of about `bytes`; the function returned lets it go. One body is always admitted. Throws `Saturated`. */
  enter(bytes: number): () => void {
    if (this.#openBytes > 0 && this.#openBytes + bytes > this.#limitBytes) {
      throw new NodeError('Saturated', 'The node has as many bodies under way as it can hold.', {
        hint: 'Send it again in a moment.',
        limit: { name: 'openIngestBytes', value: this.#limitBytes, unit: 'bytes' },
        retryAfterSeconds: 1,
      })
    }
    this.#openBytes += bytes
    let open = true
    return () => {
      if (open) this.#openBytes -= bytes
      open = false
    }
  }
}
