// Room for what a stream, or its socket, gathers while a record has no end: it counts in the share of its caller, and a
// long record has to come to its end in time, whether there is room for it or not.

import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { recordMs } from '../../libraries/formats/stream-cutter.ts'
import { gatheredBytesFree, type Gathering } from './admission.ts'

export class StreamRoom {
  readonly #clock: Clock
  readonly #gathering: Gathering
  #sinceMs: number | undefined
  #refusal: NodeError | undefined

  constructor(clock: Clock, gathering: Gathering) {
    this.#clock = clock
    this.#gathering = gathering
  }

  /** So many bytes are gathered; false where there is no room for them, and nothing more is to be read. */
  hold(bytes: number): boolean {
    this.#refusal = this.#gathering.hold(bytes)
    return this.#refusal === undefined
  }

  /** So much has come of the record that has no end, and it takes in lines; true where its time begins. */
  note(unfinishedBytes: number, isSwallowing = false): boolean {
    const isLong = unfinishedBytes > gatheredBytesFree || isSwallowing
    const begins = isLong && this.#sinceMs === undefined
    if (begins) this.#sinceMs = this.#clock.monotonicMs()
    if (!isLong) this.#sinceMs = undefined
    return begins
  }

  /** A record has ended, or reading was held back for other reasons: the next one has all its time. */
  restart(unfinishedBytes: number, isSwallowing = false): void {
    this.#sinceMs = undefined
    this.note(unfinishedBytes, isSwallowing)
  }

  /** When the record is too late, by the monotonic clock. */
  get lateMs(): number {
    return (this.#sinceMs ?? Number.POSITIVE_INFINITY) + recordMs
  }

  /** What a record that is too late is told: `QuotaExceeded`, `Saturated`, `RequestTimeout`. */
  get lateError(): NodeError {
    const message = `A record of more than ${gatheredBytesFree} bytes had no end within ${recordMs} ms.`
    const hint = 'A line ends a record. Look for a missing line end or quote, or post each large record as a batch.'
    return this.#refusal ?? new NodeError('RequestTimeout', message, { hint })
  }

  /** Nothing is held any more. Idempotent. */
  leave(): void {
    this.#gathering.leave()
  }
}
