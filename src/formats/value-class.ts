// What a text looks like: number, boolean, date, time or mere text. Inference and header detection ask.

import { notADate, noSuchDay, readDate, readInstant, TimeScan } from './calendar.ts'
import { NumberScan, scanNumber } from './number-scan.ts'

/** Bits, so that a column's classes are their union. */
export const valueClass = {
  bool: 1,
  /** Written as an integer. */
  integer: 2,
  /** Any other number. */
  number: 4,
  date: 8,
  /** A time with its zone. */
  time: 16,
  /** A time without zone. */
  zonelessTime: 32,
  text: 64,
} as const

const number = new NumberScan()
const time = new TimeScan()

function isPadding(byte: number): boolean {
  return byte === 0x20 || byte === 0x09
}

/** First index of `bytes[start, end)` that is no space or tab. */
export function trimStart(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isPadding(bytes[at] ?? 0)) at += 1
  return at
}

/** Index after the last byte of `bytes[start, end)` that is no space or tab. */
export function trimEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isPadding(bytes[at - 1] ?? 0)) at -= 1
  return at
}

/** True, false, or undefined for text that is no boolean (`true` and `false` in any case). */
export function booleanOf(bytes: Uint8Array, start: number, end: number): boolean | undefined {
  const word = end - start === 4 ? 'true' : end - start === 5 ? 'false' : undefined
  if (word === undefined) return undefined
  for (let i = 0; i < word.length; i++) if (((bytes[start + i] ?? 0) | 0x20) !== word.charCodeAt(i)) return undefined
  return word === 'true'
}

/** The class of a date or time, or text. */
export function classOfTimeText(bytes: Uint8Array, start: number, end: number): number {
  if (end - start === 10) {
    const days = readDate(bytes, start, end)
    return days === notADate || days === noSuchDay ? valueClass.text : valueClass.date
  }
  const fault = readInstant(time, bytes, start, end, false)
  if (fault === undefined) return valueClass.time
  return fault === 'zone-missing' ? valueClass.zonelessTime : valueClass.text
}

/** The scan of the number that `classOfText` found last. */
export const lastNumber: NumberScan = number

/** The class of a CSV cell that is not empty. Digits with a leading zero are text: post codes are no numbers. */
export function classOfText(bytes: Uint8Array, from: number, to: number): number {
  const start = trimStart(bytes, from, to)
  const end = trimEnd(bytes, start, to)
  if (start === end) return valueClass.text
  if (scanNumber(number, bytes, start, end, true) && number.end === end) {
    if (hasLeadingZero(bytes, start, end)) return valueClass.text
    return number.integral ? valueClass.integer : valueClass.number
  }
  if (booleanOf(bytes, start, end) !== undefined) return valueClass.bool
  return classOfTimeText(bytes, start, end)
}

function hasLeadingZero(bytes: Uint8Array, start: number, end: number): boolean {
  const sign = bytes[start] === 0x2b || bytes[start] === 0x2d ? 1 : 0
  const next = bytes[start + sign + 1] ?? 0
  return bytes[start + sign] === 0x30 && start + sign + 1 < end && next >= 0x30 && next <= 0x39
}
