// Dates and times in the letters of LDML (Unicode Technical Standard 35, date field symbols), read into the spelling of RFC 3339 that
// all columns take: `dd.MM.yyyy HH:mm` makes 2025-12-31T14:05:00 of 31.12.2025 14:05. Nothing is guessed: a text that the pattern
// does not describe to its end is none.

import { utf8 } from '../../base/bytes.ts'
import * as layout from '../compiled/layout.ts'

type Field =
  | { readonly kind: 'text'; readonly bytes: Uint8Array }
  | { readonly kind: 'number'; readonly unit: Unit; readonly least: number; readonly most: number }
  | { readonly kind: 'month' | 'half' | 'offset' }
  | { readonly kind: 'fraction'; readonly digits: number }

type Unit = 'year' | 'month' | 'day' | 'hour' | 'half hour' | 'minute' | 'second'

export interface DatePattern {
  readonly fields: readonly Field[]
  readonly hasDay: boolean
  readonly hasTime: boolean
  /** Years of two digits are from this one on. */
  readonly pivotYear: number | undefined
}

/** Why a text is no pattern: a sentence, and what was probably meant. */
export interface PatternFault {
  readonly message: string
  readonly meant?: string
}

/** By letters: how many digits they take. */
const numbers: Readonly<Record<string, readonly [unit: Unit, least: number, most: number]>> = {
  yyyy: ['year', 4, 4],
  yy: ['year', 2, 2],
  MM: ['month', 2, 2],
  M: ['month', 1, 2],
  dd: ['day', 2, 2],
  d: ['day', 1, 2],
  HH: ['hour', 2, 2],
  H: ['hour', 1, 2],
  hh: ['half hour', 2, 2],
  h: ['half hour', 1, 2],
  mm: ['minute', 2, 2],
  m: ['minute', 1, 2],
  ss: ['second', 2, 2],
  s: ['second', 1, 2],
}

/** What people write who know the letters of other programs. */
const others: readonly (readonly [RegExp, string])[] = [
  [/%Y/g, 'yyyy'],
  [/%m/g, 'MM'],
  [/%d/g, 'dd'],
  [/%H/g, 'HH'],
  [/%M/g, 'mm'],
  [/%S/g, 'ss'],
  [/Y+/g, 'yyyy'],
  [/D+/g, 'dd'],
  [/\bnn\b/g, 'mm'],
  [/\bSS\b(?=$|[^.])/g, 'ss'],
]

const letters = { fraction: 'fractions', half: 'a', offset: 'XXX' } as const
const longest = 100
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The pattern of a text. */
export function datePattern(text: string, pivotYear?: number): DatePattern | PatternFault {
  if (text === '' || text.length > longest) return { message: `it has ${text.length} characters, at most ${longest}` }
  const fields: Field[] = []
  for (const [token] of text.matchAll(/'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+|'/g)) {
    const field = fieldOf(token)
    if (field === undefined) return { message: `'${token}' is no letter of a date`, ...meantBy(text) }
    fields.push(field)
  }
  return judged(text, fields, pivotYear)
}

function fieldOf(token: string): Field | undefined {
  if (token.startsWith("'")) {
    if (token.length < 2) return undefined
    return { kind: 'text', bytes: utf8(token === "''" ? "'" : token.slice(1, -1).replaceAll("''", "'")) }
  }
  if (!/^[A-Za-z]/.test(token)) return { kind: 'text', bytes: utf8(token) }
  const [unit, least = 0, most = 0] = Object.hasOwn(numbers, token) ? (numbers[token] ?? []) : []
  if (unit !== undefined) return { kind: 'number', unit, least, most }
  if (token === 'MMM') return { kind: 'month' }
  if (token === 'a') return { kind: 'half' }
  if (token === 'XXX') return { kind: 'offset' }
  return /^S{1,9}$/.test(token) ? { kind: 'fraction', digits: token.length } : undefined
}

function meantBy(text: string): Pick<PatternFault, 'meant'> {
  const meant = others.reduce((all, [from, to]) => all.replaceAll(from, to), text)
  const isOne = meant !== text && [...meant.matchAll(/([A-Za-z])\1*/g)].every(([token]) => fieldOf(token) !== undefined)
  return isOne ? { meant } : {}
}

/** Throws nothing: a pattern that leaves a date in doubt is a fault. */
function judged(text: string, fields: readonly Field[], pivotYear: number | undefined): DatePattern | PatternFault {
  const units = fields.flatMap((field) =>
    field.kind === 'number' ? [field.unit] : field.kind === 'month' ? ['month'] : [],
  )
  const has = (unit: Unit): boolean => units.includes(unit)
  const kinds = fields.map(({ kind }) => kind)
  const twice = units.find((unit, at) => units.indexOf(unit) !== at)
  const hasHour = has('hour') || has('half hour')
  if (twice !== undefined) {
    const isMonth = twice === 'minute'
    return {
      message: `it has the ${twice} twice`,
      ...(isMonth && { meant: text.replace(/mm?/, (one) => one.toUpperCase()) }),
    }
  }
  if (has('minute') && !hasHour && (has('year') || has('day')) && !has('month')) {
    return { message: 'mm are minutes', meant: text.replace(/m+/, (one) => one.toUpperCase()) }
  }
  const hasDay = has('year') || has('month') || has('day')
  if (hasDay && !(has('year') && has('month') && has('day')))
    return { message: 'a day needs a year, a month and a day' }
  if (has('minute') && !hasHour) return { message: 'minutes need hours' }
  if (has('second') && !has('minute')) return { message: 'seconds need minutes' }
  const repeated = (['fraction', 'half', 'offset'] as const).find(
    (kind) => kinds.filter((one) => one === kind).length > 1,
  )
  if (repeated !== undefined) return { message: `it has ${letters[repeated]} twice` }
  if (kinds.includes('fraction') && !has('second')) return { message: 'fractions need seconds' }
  if (has('half hour') !== kinds.includes('half')) return { message: 'h and a (AM or PM) stand together' }
  if (has('hour') && has('half hour')) return { message: 'it has the hour twice' }
  if (!hasDay && !hasHour) return { message: 'it has neither a day nor a time' }
  if (kinds.includes('offset') && !(hasDay && hasHour)) return { message: 'XXX needs a day and a time' }
  const isShort = fields.some((field) => field.kind === 'number' && field.unit === 'year' && field.most === 2)
  if (isShort && pivotYear === undefined)
    return { message: 'years of two digits need pivotYear, such as pivotYear=1970' }
  return { fields, hasDay, hasTime: hasHour, pivotYear }
}

/** Where in an instant of RFC 3339 the last digit of each unit ends. */
const endOf: Readonly<Record<Unit, number>> = {
  year: 4,
  month: 7,
  day: 10,
  hour: 13,
  'half hour': 13,
  minute: 16,
  second: 19,
}
const timeAt = 11
const fractionAt = 20
/** Steps beside those of the compiled reader, the greatest of which is `stepOfDigits`. */
const [stepOfMonth, stepOfHalf, stepOfOffset, stepOfHalfHour, stepOfCentury] = [4, 5, 6, 7, 8] as const

/** Bytes and digits of texts of a pattern one by one, in steps of two numbers: what it is, and which byte, or where it goes. */
export function patternSteps({ fields }: DatePattern): readonly number[] {
  const digitsTo = (at: number, count: number): number[] =>
    Array.from({ length: count }, (_, digit) => [layout.stepOfDigit, at + digit]).flat()
  const isShort = fields.some((field) => field.kind === 'number' && field.unit === 'year' && field.most === 2)
  const isHalf = fields.some(({ kind }) => kind === 'half')
  const steps = fields.flatMap((field) => {
    if (field.kind === 'text') return [...field.bytes].flatMap((byte) => [layout.stepOfByte, byte])
    if (field.kind === 'fraction') return digitsTo(fractionAt, field.digits)
    if (field.kind !== 'number') return [{ month: stepOfMonth, half: stepOfHalf, offset: stepOfOffset }[field.kind], 0]
    const at = endOf[field.unit] - field.most
    return field.least < field.most ? [layout.stepOfDigits, at] : digitsTo(at, field.most)
  })
  return [...steps, ...(isHalf ? [stepOfHalfHour, 0] : []), ...(isShort ? [stepOfCentury, 0] : [])]
}

/** An instant that steps write over; what they leave is midnight. */
export const plainInstant = '0000-00-00T00:00:00.000000000'

/** What of an instant a pattern stands for, without an offset. */
export function instantSpan({ fields, hasDay, hasTime }: DatePattern): readonly [start: number, end: number] {
  const digits = fields.flatMap((field) => (field.kind === 'fraction' ? field.digits + 1 : 0))
  return [hasDay ? 0 : timeAt, hasTime ? endOf.second + Math.max(...digits) : endOf.day]
}

const zero = 0x30
const isDigit = (byte = 0): boolean => byte >= zero && byte <= zero + 9

/** Reads texts of one pattern; what was read stands in `bytes[start, end)`, as RFC 3339 spells it, without a zone where it has none. */
export class DateReader {
  readonly bytes: Uint8Array = utf8(plainInstant.padEnd(40))
  readonly start: number
  end = 0
  readonly #pattern: DatePattern
  readonly #steps: readonly number[]
  readonly #instantEnd: number
  #isAfternoon = false

  constructor(pattern: DatePattern) {
    this.#pattern = pattern
    this.#steps = patternSteps(pattern)
    ;[this.start, this.#instantEnd] = instantSpan(pattern)
  }

  /** True where all of `bytes[start, end)` is of the pattern. Whether there is such a day and time is judged where it is stored. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const steps = this.#steps
    let at = start
    this.end = this.#instantEnd
    for (let index = 0; index < steps.length && at >= 0; index += 2) {
      const kind = steps[index] ?? 0
      const to = steps[index + 1] ?? 0
      if (kind > layout.stepOfDigits) {
        at = this.#other(kind, bytes, at, end)
        continue
      }
      const byte = bytes[at] ?? 0
      if (at >= end || !(kind === layout.stepOfByte ? byte === to : isDigit(byte))) return false
      at += 1
      if (kind === layout.stepOfByte) continue
      const isTwo = kind === layout.stepOfDigits && at < end && isDigit(bytes[at])
      this.bytes[to] = kind === layout.stepOfDigit || isTwo ? byte : zero
      if (kind === layout.stepOfDigits) this.bytes[to + 1] = isTwo ? (bytes[at++] ?? 0) : byte
    }
    return at === end
  }

  /** Takes a step that is no byte or digit: index after what it reads, or -1. */
  #other(kind: number, bytes: Uint8Array, at: number, end: number): number {
    if (kind === stepOfOffset) return this.#offsetEnd(bytes, at, end)
    if (kind === stepOfHalfHour) {
      const half = this.#two(endOf.hour - 2)
      this.#put(endOf.hour - 2, (half % 12) + (this.#isAfternoon ? 12 : 0))
      return half >= 1 && half <= 12 ? at : -1
    }
    if (kind === stepOfCentury) {
      const { pivotYear = 0 } = this.#pattern
      const later = (this.#two(endOf.year - 2) - pivotYear) % 100
      this.#put(0, Math.floor((pivotYear + ((later + 100) % 100)) / 100))
      return at
    }
    const length = kind === stepOfHalf ? 2 : 3
    if (at + length > end) return -1
    let text = ''
    for (let of = at; of < at + length; of++) text += String.fromCharCode((bytes[of] ?? 0) | 0x20)
    const place = (kind === stepOfHalf ? ['am', 'pm'] : months).indexOf(text)
    if (kind === stepOfHalf) this.#isAfternoon = place === 1
    else this.#put(endOf.month - 2, place + 1)
    return place < 0 ? -1 : at + length
  }

  /** Copies `Z` or `±hh:mm`: index after it; -1 where neither stands there. */
  #offsetEnd(bytes: Uint8Array, at: number, end: number): number {
    const first = bytes[at] ?? 0
    const length = first === 0x5a || first === 0x7a ? 1 : first === 0x2b || first === 0x2d ? 6 : end
    if (at + length > end) return -1
    this.bytes.set(bytes.subarray(at, at + length), this.#instantEnd)
    this.end += length
    return at + length
  }

  #two(at: number): number {
    return ((this.bytes[at] ?? 0) - zero) * 10 + (this.bytes[at + 1] ?? 0) - zero
  }

  #put(at: number, value: number): void {
    this.bytes[at] = zero + Math.floor(value / 10)
    this.bytes[at + 1] = zero + (value % 10)
  }
}
