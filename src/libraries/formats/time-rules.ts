// What the times of columns are: units, the years that can be stored, and why a text is no time.

import { maxInt64, minInt64 } from '../columnar/arrow/numbers.ts'
import { endSecond, firstSecond, type TimeFault } from '../base/calendar.ts'
import type { EpochUnit } from './format.ts'

/** January 1970. */
export const earlySeconds = 31 * 86_400

/** What is doubted of an epoch that lies there. */
export function earlyEpochs(unit: EpochUnit | undefined): string {
  return `Event times are in January 1970: eventTimeUnit=${unit} may be the wrong unit`
}

/** By how many of them are a second. */
export const unitNames: ReadonlyMap<number, string> = new Map([
  [1, 'seconds'],
  [1e3, 'milliseconds'],
  [1e6, 'microseconds'],
  [1e9, 'nanoseconds'],
])

/** Units of so many digits after the second. */
export const epochExponent: Readonly<Record<EpochUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 }

/** True for a time of the years 0000 to 9999 that 64 bits hold, in units of which `perSecond` are a second. */
export function isStorableTime(value: bigint, perSecond: number): boolean {
  const unit = BigInt(perSecond)
  if (value < BigInt(firstSecond) * unit || value >= BigInt(endSecond) * unit) return false
  return value >= minInt64 && value <= maxInt64
}

/** By what is wrong with it. */
export const timeReasons: Readonly<Record<NonNullable<TimeFault>, string>> = {
  form: 'write them like 2024-01-31T12:00:00Z',
  date: 'that day does not exist',
  time: 'that time of day does not exist',
  zone: 'the zone must be Z or an offset such as +02:00',
  'zone-missing':
    'the zone is missing (end with Z or an offset such as +02:00, or name it with timeZone, as in timeZone=UTC or timeZone=Europe/Berlin)',
}
