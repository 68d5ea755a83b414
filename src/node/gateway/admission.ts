// Bounds the requests in flight and the bytes of their bodies: of ingest, and of large JSON requests. A request that does
// not fit waits its turn for up to two seconds; then a full node answers 503, and a caller that holds more than its share
// of what others leave free gets 429. Nothing is read of a body that is not let in.

import type { Clock } from '../../libraries/base/clock.ts'
import { bodyMemory, type Limits, limitTable } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'

/** How long a request waits for room. Refusals come this late, so that a client that repeats at once costs the others little. */
const patienceMs = 2_000
const tickMs = 100
/** Requests that wait at most; more are refused at once. */
const waitingMost = 16_384

/** What of the limits an admission keeps to. */
export type AdmissionLimits = Pick<
  Limits,
  'openIngestRequests' | 'openIngestBytes' | 'openJsonRequests' | 'openJsonBytes' | 'bodyMemoryBytes' | 'callerShare'
>

/** What is let in: the limits of all of it, and what one body counts at most. */
interface AdmissionKind {
  readonly requests: 'openIngestRequests' | 'openJsonRequests'
  readonly bytes: 'openIngestBytes' | 'openJsonBytes'
  readonly countedBytesMost: number
}

/** A batch counts 32 MiB at most: it never holds more in memory, the rest of a larger one lies in a file. */
const ofIngest: AdmissionKind = {
  requests: 'openIngestRequests',
  bytes: 'openIngestBytes',
  countedBytesMost: 32 * 1024 * 1024,
}
/** A JSON request lies in memory as a whole. */
export const ofJson: AdmissionKind = {
  requests: 'openJsonRequests',
  bytes: 'openJsonBytes',
  countedBytesMost: Number.POSITIVE_INFINITY,
}

/** What bodies of all kinds may come to take. */
export class BodyMemory {
  takenBytes = 0
}

/** What a body of so many bytes comes to take. */
type MemoryOf = (bytes: number) => number

interface AdmissionOptions {
  readonly kind?: AdmissionKind
  /** Shared with other queues. */
  readonly memory?: BodyMemory | undefined
}

/** Why a body is not let in: the limit that it meets, and when to ask again. */
interface Shortage {
  readonly name: keyof AdmissionLimits
  readonly retryAfterSeconds: number
}

/** A body that was let in. */
export interface Admitted {
  /** The body has turned out to take `bytes`. Throws `Saturated`, `QuotaExceeded`, `BodyTooLarge`. */
  grow(bytes: number): void
  /** The body takes no memory any more. Idempotent. */
  leave(): void
}

/** What a stream gathers beside its batches, until a record is whole. */
export interface Gathering {
  /** It is `bytes` now; undefined, or why there is no room for them: then nothing is changed. */
  hold(bytes: number): NodeError | undefined
  /** Nothing is held any more. Idempotent. */
  leave(): void
}

/** What a stream gathers counts from here on. */
export const gatheredBytesFree = 64 * 1024
/** And so many times: a batch is a copy of it. */
const gatheredFactor = 2

interface Held {
  requests: number
  /** As counted. */
  bytes: number
}

interface Wanted {
  readonly bytes: number
  readonly memoryOf: MemoryOf
}

interface Waiting extends Wanted {
  readonly untilMs: number
  readonly resolve: (admitted: Admitted) => void
  readonly reject: (error: NodeError) => void
}

export class AdmissionQueue {
  readonly #limits: AdmissionLimits
  readonly #clock: Clock
  readonly #kind: AdmissionKind
  readonly #all: Held = { requests: 0, bytes: 0 }
  readonly #callers = new Map<string, Held>()
  /** Waiting requests by caller; the caller whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>()
  #waiting = 0
  #isTicking = false
  #openBytes = 0
  readonly #memory: BodyMemory

  constructor(
    limits: AdmissionLimits,
    clock: Clock,
    { kind = ofIngest, memory = new BodyMemory() }: AdmissionOptions = {},
  ) {
    this.#limits = limits
    this.#memory = memory
    this.#clock = clock
    this.#kind = kind
  }

  /** Bytes of the bodies in flight. */
  get openBytes(): number {
    return this.#openBytes
  }

  /** Bodies in flight. */
  get openRequests(): number {
    return this.#all.requests
  }

  /** Requests that wait to be let in. */
  get waitingRequests(): number {
    return this.#waiting
  }

  /**
   * Admits a body of about `bytes` from `caller`, after a wait of up to two seconds. A body that is alone is admitted at any
   * size that the memory allows, and so is the only one of its caller where the node has room. Throws `Saturated`,
   * `QuotaExceeded`, `BodyTooLarge` for one that the memory never allows.
   */
  async enter(caller: string, bytes: number, memoryOf: MemoryOf = bodyMemory.of): Promise<Admitted> {
    if (memoryOf(bytes) > this.#limits.bodyMemoryBytes) throw this.#neverFits()
    const wanted = { bytes, memoryOf }
    const shortage = this.#shortage(caller, wanted)
    if (shortage === undefined && !this.#queues.has(caller)) return this.#admit(caller, wanted)
    if (shortage !== undefined && this.#waiting >= waitingMost) throw this.#refusal(shortage)
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(caller) ?? []
      queue.push({ ...wanted, untilMs: this.#clock.monotonicMs() + patienceMs, resolve, reject })
      this.#queues.set(caller, queue)
      this.#waiting++
      if (!this.#isTicking) void this.#tick()
    })
  }

  #shortage(caller: string, { bytes, memoryOf }: Wanted): Shortage | undefined {
    const held = this.#callers.get(caller) ?? { requests: 0, bytes: 0 }
    return (
      this.#requestShortage(held) ??
      this.#byteShortage(held, 0, this.#counted(bytes)) ??
      this.#memoryShortage(memoryOf(bytes))
    )
  }

  #requestShortage(held: Held): Shortage | undefined {
    const name = this.#kind.requests
    const most = this.#limits[name]
    const { requests } = this.#all
    if (requests + 1 > most) return { name, retryAfterSeconds: 1 }
    const isOver = held.requests > 0 && held.requests + 1 > this.#share(most - requests + held.requests)
    return isOver ? overShare : undefined
  }

  /** `own` of what the caller holds is for the body that needs `more`. */
  #byteShortage(held: Held, own: number, more: number): Shortage | undefined {
    const name = this.#kind.bytes
    const most = this.#limits[name]
    const { bytes } = this.#all
    if (bytes > own && bytes + more > most) return { name, retryAfterSeconds: 1 }
    return held.bytes > own && held.bytes + more > this.#share(most - bytes + held.bytes) ? overShare : undefined
  }

  #counted(bytes: number): number {
    return Math.min(bytes, this.#kind.countedBytesMost)
  }

  #memoryShortage(more: number): Shortage | undefined {
    const isOver = more > 0 && this.#memory.takenBytes + more > this.#limits.bodyMemoryBytes
    return isOver ? { name: 'bodyMemoryBytes', retryAfterSeconds: 1 } : undefined
  }

  #share(free: number): number {
    return (free * this.#limits.callerShare) / 100
  }

  /** What counts what streams of a caller gather, each for itself, in the caller's share. */
  gatherer(caller = ''): () => Gathering {
    return () => this.#gather(caller)
  }

  #gather(caller: string): Gathering {
    let own = 0
    const change = (to: number): void => {
      const held = this.#heldBy(caller)
      held.bytes += to - own
      this.#all.bytes += to - own
      this.#memory.takenBytes += to - own
      const isLess = to < own
      own = to
      this.#forget(caller, held)
      if (isLess && this.#waiting > 0) this.#serve()
    }
    return {
      hold: (bytes) => {
        const to = bytes > gatheredBytesFree ? gatheredFactor * bytes : 0
        const shortage = to > own ? this.#gatherShortage(caller, own, to) : undefined
        if (shortage !== undefined) return this.#refusal(shortage)
        if (to !== own) change(to)
        return undefined
      },
      leave: () => {
        if (own > 0) change(0)
      },
    }
  }

  #gatherShortage(caller: string, own: number, to: number): Shortage | undefined {
    const held = this.#callers.get(caller) ?? { requests: 0, bytes: 0 }
    return this.#byteShortage(held, own, to - own) ?? this.#memoryShortage(to - own)
  }

  #heldBy(caller: string): Held {
    const held = this.#callers.get(caller) ?? { requests: 0, bytes: 0 }
    this.#callers.set(caller, held)
    return held
  }

  #forget(caller: string, { requests, bytes }: Held): void {
    if (requests === 0 && bytes === 0) this.#callers.delete(caller)
  }

  #admit(caller: string, { bytes, memoryOf }: Wanted): Admitted {
    const all = this.#all
    const held = this.#heldBy(caller)
    let own = 0
    const change = (to: number): void => {
      const more = this.#counted(to) - this.#counted(own)
      this.#openBytes += to - own
      this.#memory.takenBytes += memoryOf(to) - memoryOf(own)
      held.bytes += more
      all.bytes += more
      own = to
    }
    change(bytes)
    let isOpen = true
    held.requests++
    all.requests++
    return {
      grow: (to) => {
        if (to <= own) return
        if (memoryOf(to) > this.#limits.bodyMemoryBytes) throw this.#neverFits()
        const [before, after] = [this.#counted(own), this.#counted(to)]
        const shortage =
          (after > before ? this.#byteShortage(held, before, after - before) : undefined) ??
          this.#memoryShortage(memoryOf(to) - memoryOf(own))
        if (shortage !== undefined) throw this.#refusal(shortage)
        change(to)
      },
      leave: () => {
        if (!isOpen) return
        isOpen = false
        change(0)
        held.requests--
        all.requests--
        this.#forget(caller, held)
        if (this.#waiting > 0) this.#serve()
      },
    }
  }

  /** Admits the waiting requests that fit, one of each caller in turn. */
  #serve(): void {
    let refusedInARow = 0
    while (refusedInARow < this.#queues.size && this.#all.requests < this.#limits[this.#kind.requests]) {
      const [next] = this.#queues
      if (next === undefined) return
      const [caller, queue] = next
      const [first] = queue
      // To the end of the line.
      this.#queues.delete(caller)
      if (first === undefined) continue
      const canEnter = this.#shortage(caller, first) === undefined
      refusedInARow = canEnter ? 0 : refusedInARow + 1
      if (canEnter) {
        queue.shift()
        this.#waiting--
        first.resolve(this.#admit(caller, first))
      }
      if (queue.length > 0) this.#queues.set(caller, queue)
    }
  }

  /** Patience ends; what waits behind a request that is refused may fit. */
  async #tick(): Promise<void> {
    this.#isTicking = true
    while (this.#waiting > 0) {
      await this.#clock.sleep(tickMs)
      this.#serve()
      this.#refuseLate()
    }
    this.#isTicking = false
  }

  #refuseLate(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [caller, queue] of this.#queues) {
      let late = 0
      for (const waiting of queue) {
        if (waiting.untilMs > nowMs) break
        late++
        waiting.reject(this.#refusal(this.#shortage(caller, waiting) ?? overShare))
      }
      this.#waiting -= late
      queue.splice(0, late)
      if (queue.length === 0) this.#queues.delete(caller)
    }
  }

  #refusal({ name, retryAfterSeconds }: Shortage): NodeError {
    return new NodeError(name === 'callerShare' ? 'QuotaExceeded' : 'Saturated', messages[name], {
      hint: 'Send it again when Retry-After has passed.',
      limit: { name, value: this.#limits[name], unit: limitTable[name].unit },
      retryAfterSeconds,
    })
  }

  #neverFits(): NodeError {
    const { bodyMemoryBytes: value } = this.#limits
    const most = Math.floor(value / bodyMemory.perByte)
    const message = `The body takes more memory than this node has for bodies, as one of ${most} bytes or ${Math.floor(most / bodyMemory.cellBytes)} cells would.`
    return new NodeError('BodyTooLarge', message, {
      hint: `Send fewer records at a time, or give the node ${bodyMemory.wantedMiB} MiB.`,
      limit: { name: 'bodyMemoryBytes', value, unit: 'bytes' },
    })
  }
}

const overShare: Shortage = { name: 'callerShare', retryAfterSeconds: 1 }

const full = 'The node has as many bodies in flight as it can hold.'
const messages: Readonly<Record<Shortage['name'], string>> = {
  bodyMemoryBytes: 'The node has too little memory for this body beside those in flight.',
  openIngestRequests: full,
  openIngestBytes: full,
  openJsonRequests: full,
  openJsonBytes: full,
  callerShare: 'This caller has as many bodies in flight as its share allows.',
}
