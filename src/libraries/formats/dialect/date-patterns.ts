// Which patterns of days and times read all of some texts: for offers and questions, which name them. Where day and month cannot be
// told apart, both are named. Pure.

import { notADate, noSuchDay, readDate, readInstant, TimeScan } from '../../base/calendar.ts'
import { utf8 } from '../../base/bytes.ts'
import { DateReader, datePattern } from './date-pattern.ts'

/** By likelihood; of those in one row the first that reads all texts stands for the others. */
const days = [
  ['dd.MM.yyyy', 'd.M.yyyy'],
  ['yyyy-MM-dd'],
  ['yyyy/MM/dd', 'yyyy/M/d'],
  ['dd/MM/yyyy', 'd/M/yyyy'],
  ['MM/dd/yyyy', 'M/d/yyyy'],
  ['dd-MM-yyyy', 'd-M-yyyy'],
  ['MM-dd-yyyy', 'M-d-yyyy'],
  ['yyyy.MM.dd'],
  ['dd-MMM-yyyy', 'd-MMM-yyyy'],
  ['d MMM yyyy'],
]
const hours = ['HH:mm', 'HH:mm:ss', 'HH:mm:ss.SSS', 'H:mm', 'H:mm:ss', 'hh:mm a', 'h:mm a', 'hh:mm:ss a', 'h:mm:ss a']
const joints = [' ', "'T'", ', ']
const zones = ['', 'XXX', ' XXX']

const patterns: readonly (readonly string[])[] = days.flatMap((row) => [
  row,
  ...joints.flatMap((joint) =>
    zones.map((zone) => row.flatMap((day) => hours.map((hour) => `${day}${joint}${hour}${zone}`))),
  ),
])

/** All patterns that read every text, the likeliest first; without one where all are read as they are. */
export function datePatternsOf(texts: readonly string[]): readonly string[] {
  if (texts.every((text) => isSpelt(utf8(text)))) return []
  const bytes = texts.map(utf8)
  return patterns.flatMap((row) => row.find((pattern) => readsAll(pattern, bytes)) ?? [])
}

function readsAll(text: string, all: readonly Uint8Array[]): boolean {
  const pattern = datePattern(text)
  if (!('fields' in pattern)) return false
  const reader = new DateReader(pattern)
  return all.every((bytes) => reader.read(bytes, 0, bytes.length) && isSpelt(reader.bytes.subarray(0, reader.length)))
}

/** True for a day or time as RFC 3339 has it, with a zone or without. */
function isSpelt(bytes: Uint8Array): boolean {
  const day = bytes.length === 10 ? readDate(bytes, 0, bytes.length) : notADate
  if (day !== notADate) return day !== noSuchDay
  const fault = readInstant(new TimeScan(), bytes, 0, bytes.length, false)
  return fault === undefined || fault === 'zone-missing'
}
