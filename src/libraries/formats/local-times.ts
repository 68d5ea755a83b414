// Times without a zone of one column, as instants of the zone that a request names. What clocks skip is no time; what they repeat is
// what the request says of it.

import { must } from '../base/assert.ts'
import { type Zone, zoneNamed } from '../base/zone.ts'
import type { FormatOptions } from './format.ts'

export class LocalTimes {
  /** Why the last time was none. */
  reason = ''
  readonly #zone: Zone
  readonly #ambiguous: FormatOptions['ambiguous']
  /** The instant before, where rows are in order. */
  #lastSeconds = Number.NEGATIVE_INFINITY
  #lastNanos = 0

  /** Undefined where times of no zone are UTC, or none. */
  static of({ timeZone, ambiguous }: Pick<FormatOptions, 'timeZone' | 'ambiguous'>): LocalTimes | undefined {
    return timeZone === undefined || timeZone === 'UTC' ? undefined : new LocalTimes(timeZone, ambiguous)
  }

  private constructor(zone: string, ambiguous: FormatOptions['ambiguous']) {
    this.#zone = must(zoneNamed(zone), 'a zone that was judged')
    this.#ambiguous = ambiguous
  }

  /** Seconds since 1970 of a local time, given as if it were UTC; undefined, with a reason, where it is none. */
  instantOf(local: number, nanos: number): number | undefined {
    const instants = this.#zone.instantsOf(local)
    const [earlier, later = earlier] = instants
    if (earlier === undefined || later === undefined) {
      this.reason = `clocks in ${this.#zone.name} skip this time`
      return undefined
    }
    if (this.#ambiguous === 'ordered') return this.#nextOf(instants, nanos)
    if (earlier === later || this.#ambiguous === 'earlier') return earlier
    if (this.#ambiguous === 'later') return later
    this.reason = `clocks in ${this.#zone.name} show this time twice (say ambiguous=earlier, later or ordered)`
    return undefined
  }

  /** The earliest that is later than the one before. */
  #nextOf(instants: readonly number[], nanos: number): number | undefined {
    const next = instants.find((at) => at > this.#lastSeconds || (at === this.#lastSeconds && nanos > this.#lastNanos))
    if (next === undefined) {
      this.reason = 'it is not later than the time before (ambiguous=ordered)'
      return undefined
    }
    this.#lastSeconds = next
    this.#lastNanos = nanos
    return next
  }
}
