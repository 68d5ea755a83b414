// Bounds the ingest requests under way and the bytes of their bodies: a full node is 503, a caller who holds more than
// its share of what others leave free is 429, both with nothing stored. So whoever comes next finds room.

import { NodeError } from '../model/errors.ts'

/** A body counts this much at most: it never holds more in memory, the rest of a larger one lies in a file. */
const countedBytesMost = 32 * 1024 * 1024

/** What of the limits an admission keeps to. */
export interface AdmissionLimits {
  readonly openIngestRequests: number
  readonly openIngestBytes: number
  /** Percent of what the others leave free that one caller may hold. */
  readonly callerIngestShare: number
}

/** A body that was let in. */
export interface Admitted {
  /** The body has turned out to take `bytes`. Throws `Saturated`, `QuotaExceeded`. */
  grow(bytes: number): void
  /** The body takes no memory any more. Idempotent. */
  leave(): void
}

interface Held {
  requests: number
  /** As counted. */
  bytes: number
}

export class AdmissionQueue {
  readonly #limits: AdmissionLimits
  readonly #all: Held = { requests: 0, bytes: 0 }
  readonly #callers = new Map<string, Held>()
  #openBytes = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** Bytes of the bodies under way. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** Bodies under way. */
  get openRequests(): number {
    return this.#all.requests
  }

  /**
   * Admits a body of about `bytes` from `caller`. A body that is alone is admitted at any size, and so is the only one
   * of its caller where the node has room. Throws `Saturated`, `QuotaExceeded`.
   */
  enter(caller: string, bytes: number): Admitted {
    const all = this.#all
    const held = this.#callers.get(caller) ?? { requests: 0, bytes: 0 }
    this.#demandRequest(held)
    let own = 0
    const change = (to: number): void => {
      const more = counted(to) - counted(own)
      if (more > 0) this.#demandBytes(held, counted(own), more)
      this.#openBytes += to - own
      held.bytes += more
      all.bytes += more
      own = to
    }
    change(bytes)
    let isOpen = true
    held.requests++
    all.requests++
    this.#callers.set(caller, held)
    return {
      grow: (to) => {
        if (to > own) change(to)
      },
      leave: () => {
        if (!isOpen) return
        isOpen = false
        change(0)
        held.requests--
        all.requests--
        if (held.requests === 0) this.#callers.delete(caller)
      },
    }
  }

  #demandRequest(held: Held): void {
    const { openIngestRequests: value } = this.#limits
    if (this.#all.requests + 1 > value) throw saturated({ name: 'openIngestRequests', value, unit: 'requests' })
    if (held.requests > 0 && held.requests + 1 > this.#share(value - this.#all.requests + held.requests)) {
      throw this.#overShare()
    }
  }

  /** `own` of what the caller holds is for the body that needs `more`. */
  #demandBytes(held: Held, own: number, more: number): void {
    const { openIngestBytes: value } = this.#limits
    const { bytes } = this.#all
    if (bytes > own && bytes + more > value) throw saturated({ name: 'openIngestBytes', value, unit: 'bytes' })
    if (held.bytes > own && held.bytes + more > this.#share(value - bytes + held.bytes)) throw this.#overShare()
  }

  #share(free: number): number {
    return (free * this.#limits.callerIngestShare) / 100
  }

  #overShare(): NodeError {
    const { callerIngestShare: value } = this.#limits
    return new NodeError('QuotaExceeded', 'This token has as many bodies under way as its share allows.', {
      hint: 'Wait for some of their answers, then send it again.',
      limit: { name: 'callerIngestShare', value, unit: 'percent' },
      retryAfterSeconds: 1,
    })
  }
}

function counted(bytes: number): number {
  return Math.min(bytes, countedBytesMost)
}

function saturated(limit: { name: string; value: number; unit: string }): NodeError {
  return new NodeError('Saturated', 'The node has as many bodies under way as it can hold.', {
    hint: 'Send it again in a moment.',
    limit,
    retryAfterSeconds: 1,
  })
}
