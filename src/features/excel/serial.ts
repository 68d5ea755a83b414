// Days and times of a workbook: numbers of days since the end of 1899, or since 1904. In the first system 1900 has a
// 29 February, number 60, which no calendar has. Source: ISO/IEC 29500-1 §18.17.4

import type { FormatKind } from './number-format.ts'

const dayMs = 86_400_000
/** Day 0 of each system, in days since 1970. */
const firstDay = { 1900: -25_568, 1904: -24_107 } as const
const leapDay = 60
/** 1 January 10000 in the system of 1900. */
const endDay = 2_958_466

/** A day as `2026-01-31`, a time as `2026-01-31T12:00:00`, hours as `36:00:00`; or why it is none. */
export type SerialText = { readonly text: string } | { readonly why: string }

/** `value` in a format of that kind. Rounded to the nearest millisecond, as far as the double goes. */
export function serialText(value: number, kind: Exclude<FormatKind, 'number'>, is1904: boolean): SerialText {
  const ms = Math.round(value * dayMs)
  if (!(ms >= 0) || ms >= endDay * dayMs) return none(value)
  const day = Math.floor(ms / dayMs)
  if (kind === 'elapsed') return { text: clockText(ms) }
  // What shows the time alone, or the day alone, may hold both.
  if (kind === 'clock' && day === 0) return { text: clockText(ms) }
  if (!is1904 && (day === 0 || day === leapDay)) {
    const which = day === 0 ? 'day 0' : '29 February 1900'
    return { why: `${value} is a time on ${which}, which no calendar has` }
  }
  const isBeforeLeapDay = is1904 || day < leapDay
  const since1970 = firstDay[is1904 ? 1904 : 1900] + day - (isBeforeLeapDay ? 0 : 1)
  if (since1970 >= firstDay[1900] + endDay - 1) return none(value)
  const time = new Date(since1970 * dayMs + (ms % dayMs)).toISOString()
  if (kind === 'day' && ms % dayMs === 0) return { text: time.slice(0, 10) }
  return { text: time.slice(0, ms % 1000 === 0 ? 19 : 23) }
}

function none(value: number): SerialText {
  return { why: `${value} is no day or time of a workbook` }
}

function clockText(ms: number): string {
  const two = (count: number): string => String(count).padStart(2, '0')
  const seconds = Math.floor(ms / 1000)
  const fraction = ms % 1000 === 0 ? '' : `.${String(ms % 1000).padStart(3, '0')}`
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`
}
