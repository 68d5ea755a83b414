// Points in time as text, as metadata carries them: RFC 3339 UTC, years 0000 to 9999, up to 9 fractional digits,
// trailing zeros removed. Text keeps the nanoseconds that a Date would drop.

import { assert } from '../base/assert.ts'
import type { Instant } from './events.ts'

const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{0,8}[1-9]))?Z$/
const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

/** An instant taken apart: `dayOfYear` 1-based, `secondOfDay` below 86,400, `nanos` below 10^9. */
export interface InstantParts {
  readonly year: number
  readonly dayOfYear: number
  readonly secondOfDay: number
  readonly nanos: number
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

export function daysOfYear(year: number): number {
  return isLeapYear(year) ? 366 : 365
}

/** Takes `text` apart, or returns undefined when it is no instant in the stored form. */
export function parseInstant(text: string): InstantParts | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number)
  if (year === undefined || month === undefined || day === undefined) return undefined
  if (hour === undefined || minute === undefined || second === undefined) return undefined
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  const dayOfYear = startOfMonth(year, month) + day
  if (day < 1 || dayOfYear > startOfMonth(year, month + 1)) return undefined
  const nanos = Number((match[7] ?? '').padEnd(9, '0'))
  return { year, dayOfYear, secondOfDay: hour * 3600 + minute * 60 + second, nanos }
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/**
 * Milliseconds since 1970 UTC of an RFC 3339 time in any zone, finer digits cut off; undefined for any other text, and
 * where the zone carries the time out of the years 0000 to 9999.
 */
export function parseRfc3339Ms(text: string): number | undefined {
  const [, date, time] = rfc3339.exec(text) ?? []
  // Date.parse would take 30 February for 1 March, and 24:00:00.
  if (date === undefined || time === undefined || parseInstant(`${date}T${time}Z`) === undefined) return undefined
  const ms = Date.parse(text.toUpperCase())
  const year = new Date(ms).getUTCFullYear()
  return year >= 0 && year <= 9999 ? ms : undefined
}

/** The text of `parts`, which must be in range (year 0 to 9999). */
export function instantText(parts: InstantParts): Instant {
  const { year, dayOfYear, secondOfDay, nanos } = parts
  let month = 12
  while (startOfMonth(year, month) >= dayOfYear) month--
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(dayOfYear - startOfMonth(year, month), 2)}`
  const minutes = Math.floor(secondOfDay / 60)
  const time = `${digits(Math.floor(minutes / 60), 2)}:${digits(minutes % 60, 2)}:${digits(secondOfDay % 60, 2)}`
  const fraction = nanos === 0 ? '' : `.${digits(nanos, 9).replace(/0+$/, '')}`
  return `${date}T${time}${fraction}Z`
}

/** The instant `epochMs` milliseconds after 1970 UTC. */
export function instantFromMs(epochMs: number): Instant {
  const text = new Date(epochMs).toISOString()
  assert(text.length === 24, 'an instant lies in the years 0000 to 9999')
  return text.replace(/\.?0*Z$/, 'Z')
}

/** Milliseconds since 1970 UTC, finer digits cut off (towards the past). `text` must be an instant. */
export function instantMs(text: Instant): number {
  const parts = parseInstant(text)
  assert(parts !== undefined, `an instant in the stored form, not ${text}`)
  return Date.parse(`${text.slice(0, 19)}Z`) + Math.floor(parts.nanos / 1_000_000)
}

/** Negative, zero or positive as `a` is before, equal to or after `b`. Both must be in the stored form. */
export function compareInstants(a: Instant, b: Instant): number {
  const left = a.slice(0, -1)
  const right = b.slice(0, -1)
  return left < right ? -1 : left > right ? 1 : 0
}

/** Days of `year` before the first of `month` (1 to 13). */
function startOfMonth(year: number, month: number): number {
  return (daysBefore[month - 1] ?? 0) + (month > 2 && isLeapYear(year) ? 1 : 0)
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
