// A point as nearly all are written, judged in one pass without looking at anything twice. Used by
// `geojson/geometry.ts`, which judges every other geometry, and says what is wrong with those that are.

import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, skipSpace } from '../json/text.ts'
import { magnitudeOf, NumberScan, scanNumber } from '../number-scan.ts'
import { FixedText } from './fixed-text.ts'
import { pointText } from './texts.ts'

/** Degrees. */
export const maxLongitude = 360
export const maxLatitude = 90

const minus = 0x2d
const dot = 0x2e
const zero = 0x30

const typeText = new FixedText('"type"')
const kindText = new FixedText('"Point"')
const coordinatesText = new FixedText('"coordinates"')
const height = new NumberScan()

/** Index after the point that opens at `open`, which ends before `end`; -1 for what is no point, or not plainly one. */
export function plainPoint(view: DataView, bytes: Uint8Array, open: number, end: number): number {
  if (pointText.standsAt(view, open, end)) return compactCoordinates(bytes, open + pointText.length, end)
  const at = spacedHead(view, bytes, open, end)
  return at < 0 ? -1 : spacedCoordinates(bytes, at, end)
}

/** Index after `8.5,47.25]}` at `from`, or -1. */
function compactCoordinates(bytes: Uint8Array, from: number, end: number): number {
  let at = plainDegrees(bytes, from, end, maxLongitude)
  if (at < 0 || bytes[at] !== comma) return -1
  at = plainDegrees(bytes, at + 1, end, maxLatitude)
  if (at >= 0 && bytes[at] === comma) at = plainHeight(bytes, at + 1, end)
  return at >= 0 && at + 2 <= end && bytes[at] === closeBracket && bytes[at + 1] === closeBrace ? at + 2 : -1
}

/** The same with white space anywhere. */
function spacedCoordinates(bytes: Uint8Array, from: number, end: number): number {
  let at = plainDegrees(bytes, from, end, maxLongitude)
  if (at >= 0) at = afterByte(bytes, at, end, comma)
  if (at >= 0) at = plainDegrees(bytes, at, end, maxLatitude)
  if (at < 0) return -1
  const next = afterByte(bytes, at, end, comma)
  if (next >= 0) at = plainHeight(bytes, next, end)
  if (at >= 0) at = afterByte(bytes, at, end, closeBracket)
  return at >= 0 && at < end && bytes[at] === closeBrace ? at + 1 : -1
}

function plainHeight(bytes: Uint8Array, at: number, end: number): number {
  return scanNumber(height, bytes, at, end, false) && magnitudeOf(height) <= Number.MAX_VALUE ? height.end : -1
}

/** Index after the bracket that opens the coordinates, where white space stands between type and coordinates; else -1. */
function spacedHead(view: DataView, bytes: Uint8Array, open: number, end: number): number {
  let at = afterByte(bytes, open, end, openBrace)
  if (at < 0 || !typeText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + typeText.length, end, colon)
  if (at < 0 || !kindText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + kindText.length, end, comma)
  if (at < 0 || !coordinatesText.standsAt(view, at, end)) return -1
  at = afterByte(bytes, at + coordinatesText.length, end, colon)
  return at < 0 ? -1 : afterByte(bytes, at, end, openBracket)
}

/** Index of what follows `byte`, white space around it passed over; -1 when another byte stands there. */
function afterByte(bytes: Uint8Array, from: number, end: number, byte: number): number {
  const at = skipSpace(bytes, from, end)
  return at < end && bytes[at] === byte ? skipSpace(bytes, at + 1, end) : -1
}

/** Index after the number at `from` if its whole degrees are less than `max` and it has no exponent, else -1. */
function plainDegrees(bytes: Uint8Array, from: number, end: number, max: number): number {
  let at = from
  if (at < end && bytes[at] === minus) at += 1
  const first = at
  let degrees = 0
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
    degrees = degrees * 10 + digit
  }
  if (at === first || (at > first + 1 && bytes[first] === zero) || degrees >= max || at >= end) return -1
  if (bytes[at] !== dot) return at
  const point = at + 1
  for (at = point; at < end; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) break
  }
  return at > point && at < end ? at : -1
}
