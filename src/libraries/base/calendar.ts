// Dates and times of day from text, by fixed positions over bytes: `typed-columns.ts` and `infer.ts` use it.
// Source of the grammar: RFC 3339 §5.6, widened by a space for `T`, by `±hhmm` and `±hh`, and by times without seconds.

/** Seconds from 1970 to the years 0000 and 10000: what lies between has a text that every reader takes. */
export const firstSecond = -62_167_219_200
export const endSecond = 253_402_300_800

const zero = 0x30
const dash = 0x2d
const colon = 0x3a
const dot = 0x2e
const plus = 0x2b

/** What `readInstant` and its kin found: whole seconds (since 1970 UTC, or since midnight) and nanoseconds, cut off. */
export class TimeScan {
  seconds = 0
  nanos = 0
  /** True where nanoseconds are cut off. */
  isFiner = false
  /** True when the text named a zone. */
  zoned = false
  /** Index after what was read. */
  end = 0
}

/** Why a text is no date or time; undefined when it is one. */
export type TimeFault = 'form' | 'date' | 'time' | 'zone-missing' | 'zone' | undefined

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - zero
  const ones = (bytes[at + 1] ?? 0) - zero
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && leap ? 29 : (monthDays[month - 1] ?? 0)
}

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** Result of `readDate` when the text does not have the form of a date, or names a day that does not exist. */
export const notADate = Number.MIN_SAFE_INTEGER
export const noSuchDay = Number.MIN_SAFE_INTEGER + 1

/** `YYYY-MM-DD` at `at`: days since 1970, or `notADate`, or `noSuchDay`. Reads ten bytes; the caller checks the end. */
export function readDate(bytes: Uint8Array, at: number, end: number): number {
  if (end - at < 10 || bytes[at + 4] !== dash || bytes[at + 7] !== dash) return notADate
  const century = twoDigits(bytes, at)
  const yearOfCentury = twoDigits(bytes, at + 2)
  const month = twoDigits(bytes, at + 5)
  const day = twoDigits(bytes, at + 8)
  if (century < 0 || yearOfCentury < 0 || month < 0 || day < 0) return notADate
  const year = century * 100 + yearOfCentury
  const date = year * 10_000 + month * 100 + day
  if (date === lastDate) return lastDays
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return noSuchDay
  lastDate = date
  lastDays = daysFromCivil(year, month, day)
  return lastDays
}

// The date last read: rows that follow one another are of one day, as a rule.
let lastDate = 19_700_101
let lastDays = 0

/** `hh:mm[:ss[.digits]]` at `from` into `scan` (seconds since midnight, `end`); leap seconds and 24:00 do not exist here. */
export function readTimeOfDay(scan: TimeScan, bytes: Uint8Array, from: number, end: number): TimeFault {
  if (end - from < 5 || bytes[from + 2] !== colon) return 'form'
  const hours = twoDigits(bytes, from)
  const minutes = twoDigits(bytes, from + 3)
  let seconds = 0
  let nanos = 0
  let isFiner = false
  let at = from + 5
  if (at < end && bytes[at] === colon) {
    if (end - at < 3) return 'form'
    seconds = twoDigits(bytes, at + 1)
    at += 3
    if (at < end && bytes[at] === dot) {
      at += 1
      const first = at
      let unit = 100_000_000
      for (; at < end; at++) {
        const digit = (bytes[at] ?? 0) - zero
        if (digit < 0 || digit > 9) break
        if (unit >= 1) nanos += digit * unit
        else if (digit > 0) isFiner = true
        unit /= 10
      }
      if (at === first) return 'form'
    }
  }
  if (hours < 0 || minutes < 0 || seconds < 0) return 'form'
  if (hours > 23 || minutes > 59 || seconds > 59) return 'time'
  scan.seconds = hours * 3600 + minutes * 60 + seconds
  scan.nanos = nanos
  scan.isFiner = isFiner
  scan.end = at
  return undefined
}

/** The zone at `at` up to `end`: seconds east of UTC, or NaN. */
function readZone(bytes: Uint8Array, at: number, end: number): number {
  const sign = bytes[at] ?? 0
  const length = end - at
  if (length === 1) return sign === 0x5a || sign === 0x7a ? 0 : Number.NaN
  if (sign !== plus && sign !== dash) return Number.NaN
  const hours = length >= 3 ? twoDigits(bytes, at + 1) : -1
  let minutes = -1
  if (length === 3) minutes = 0
  else if (length === 5) minutes = twoDigits(bytes, at + 3)
  else if (length === 6 && bytes[at + 3] === colon) minutes = twoDigits(bytes, at + 4)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN
  const east = hours * 3600 + minutes * 60
  return sign === dash ? -east : east
}

/**
 * Date, `T`, `t` or one space, time, zone `Z`, `±hh:mm`, `±hhmm` or `±hh`: all of [at, end) into `scan` as seconds
 * since 1970 UTC. Without a zone the time is read as UTC, and the fault is 'zone-missing' unless `utc`.
 */
export function readInstant(scan: TimeScan, bytes: Uint8Array, at: number, end: number, utc: boolean): TimeFault {
  const days = readDate(bytes, at, end)
  if (days === notADate) return 'form'
  const joint = bytes[at + 10] ?? 0
  if (end - at < 16 || (joint !== 0x54 && joint !== 0x74 && joint !== 0x20)) return 'form'
  if (days === noSuchDay) return 'date'
  const fault = readTimeOfDay(scan, bytes, at + 11, end)
  if (fault !== undefined) return fault
  scan.seconds += days * 86_400
  scan.zoned = scan.end < end
  if (!scan.zoned) return utc ? undefined : 'zone-missing'
  const east = readZone(bytes, scan.end, end)
  if (Number.isNaN(east)) return 'zone'
  scan.seconds -= east
  return undefined
}
