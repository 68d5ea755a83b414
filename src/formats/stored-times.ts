// Which times a column can hold, and what is said of those that it cannot.

import { maxInt64, minInt64 } from '../arrow/numbers.ts'
import { endSecond, firstSecond, type TimeFault } from './calendar.ts'

/** Units of times, by how many of them are a second. */
export const unitNames: ReadonlyMap<number, string> = new Map([
  [1, 'seconds'],
  [1e3, 'milliseconds'],
  [1e6, 'microseconds'],
  [1e9, 'nanoseconds'],
])

/** True for a time of the years 0000 to 9999 that 64 bits hold, in units of which `perSecond` are a second. */
export function isStorableTime(value: bigint, perSecond: number): boolean {
  const unit = BigInt(perSecond)
  if (value < BigInt(firstSecond) * unit || value >= BigInt(endSecond) * unit) return false
  return value >= minInt64 && value <= maxInt64
}

export const timeReasons: Readonly<Record<NonNullable<TimeFault>, string>> = {
  form: 'write them like 2024-01-31T12:00:00Z',
  date: 'that day does not exist',
  time: 'that time of day does not exist',
  zone: 'the zone must be Z or an offset such as +02:00',
  'zone-missing': 'the zone is missing (end with Z or an offset such as +02:00, or say timeZone=UTC)',
}
