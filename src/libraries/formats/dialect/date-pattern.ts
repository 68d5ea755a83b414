// Dates and times in the letters of LDML (Unicode Technical Standard 35, date field symbols), read into the spelling of RFC 3339 that
// all columns take: `dd.MM.yyyy HH:mm` makes 2025-12-31T14:05:00 of 31.12.2025 14:05. Nothing is guessed: a text that the pattern
// does not describe to its end is none.

import { utf8 } from '../../base/bytes.ts'

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

const zero = 0x30
const noDigits = -1
/** Where in an instant of RFC 3339 each unit stands, and with how many digits. */
export const placeOf: Readonly<Record<Unit | 'fraction', readonly [at: number, digits: number]>> = {
  year: [0, 4],
  month: [5, 2],
  day: [8, 2],
  hour: [11, 2],
  'half hour': [11, 2],
  minute: [14, 2],
  second: [17, 2],
  fraction: [20, 9],
}
const [timeAt] = placeOf.hour
const dayEnd = 10

/** Where the text that a pattern is read into begins and ends, without an offset. */
export function textSpan({ fields, hasDay, hasTime }: DatePattern): readonly [start: number, end: number] {
  const fraction = fields.find(({ kind }) => kind === 'fraction')
  const timeEnd = fraction?.kind === 'fraction' ? placeOf.fraction[0] + fraction.digits : placeOf.fraction[0] - 1
  return [hasDay ? 0 : timeAt, hasTime ? timeEnd : dayEnd]
}

/** What stands in an instant where a pattern has nothing. */
export const plainInstant = '0000-00-00T00:00:00.000000000'

/** Reads texts of one pattern; what was read stands in `bytes[start, end)`, as RFC 3339 spells it, without a zone where it has none. */
export class DateReader {
  readonly bytes: Uint8Array = utf8(plainInstant.padEnd(40))
  readonly start: number
  end = 0
  readonly #pattern: DatePattern
  readonly #textEnd: number
  readonly #hasHalf: boolean
  #half = 0
  #isAfternoon = false
  #at = 0

  constructor(pattern: DatePattern) {
    this.#pattern = pattern
    this.#hasHalf = pattern.fields.some(({ kind }) => kind === 'half')
    ;[this.start, this.#textEnd] = textSpan(pattern)
  }

  /** True where all of `bytes[start, end)` is of the pattern. Whether there is such a day and time is judged where it is stored. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    this.#at = start
    this.end = this.#textEnd
    for (const field of this.#pattern.fields) if (!this.#isField(field, bytes, end)) return false
    if (this.#at !== end) return false
    if (!this.#hasHalf) return true
    this.#put('hour', (this.#half % 12) + (this.#isAfternoon ? 12 : 0))
    return this.#half >= 1 && this.#half <= 12
  }

  #isField(field: Field, bytes: Uint8Array, end: number): boolean {
    switch (field.kind) {
      case 'text':
        return this.#literal(field.bytes, bytes, end)
      case 'number': {
        const value = this.#digits(bytes, end, field)
        if (field.unit === 'half hour') this.#half = value
        else this.#put(field.unit, field.unit === 'year' && field.most === 2 ? this.#pivoted(value) : value)
        return value !== noDigits
      }
      case 'month': {
        const month = this.#word(bytes, end, months)
        this.#put('month', month + 1)
        return month >= 0
      }
      case 'half': {
        const half = this.#word(bytes, end, ['am', 'pm'])
        this.#isAfternoon = half === 1
        return half >= 0
      }
      case 'fraction': {
        const from = this.#at
        if (this.#digits(bytes, end, { least: field.digits, most: field.digits }) === noDigits) return false
        this.#copy(bytes, from, placeOf.fraction[0])
        return true
      }
      case 'offset': {
        const from = this.#at
        this.#at = this.#offsetEnd(bytes, end)
        if (this.#at < 0) return false
        this.end = this.#textEnd + this.#at - from
        this.#copy(bytes, from, this.#textEnd)
        return true
      }
    }
  }

  #pivoted(value: number): number {
    const pivot = this.#pattern.pivotYear ?? 0
    return pivot + ((((value - pivot) % 100) + 100) % 100)
  }

  #literal(text: Uint8Array, bytes: Uint8Array, end: number): boolean {
    if (this.#at + text.length > end) return false
    for (let index = 0; index < text.length; index++) if (bytes[this.#at + index] !== text[index]) return false
    this.#at += text.length
    return true
  }

  #digits(bytes: Uint8Array, end: number, { least, most }: { readonly least: number; readonly most: number }): number {
    const stop = Math.min(end, this.#at + most)
    let value = 0
    let at = this.#at
    for (; at < stop; at++) {
      const digit = (bytes[at] ?? 0) - zero
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (at - this.#at < least) return noDigits
    this.#at = at
    return value
  }

  /** Place among words of one length, in any case; -1 for another. */
  #word(bytes: Uint8Array, end: number, words: readonly string[]): number {
    const length = words[0]?.length ?? 0
    if (this.#at + length > end) return -1
    let text = ''
    for (let at = 0; at < length; at++) text += String.fromCharCode((bytes[this.#at + at] ?? 0) | 0x20)
    this.#at += length
    return words.indexOf(text)
  }

  /** Index after `Z` or `±hh:mm`; -1 where neither stands there. */
  #offsetEnd(bytes: Uint8Array, end: number): number {
    const first = bytes[this.#at] ?? 0
    if (this.#at < end && (first === 0x5a || first === 0x7a)) return this.#at + 1
    return (first === 0x2b || first === 0x2d) && this.#at + 6 <= end ? this.#at + 6 : -1
  }

  #put(unit: Unit, value: number): void {
    const [from, digits] = placeOf[unit]
    let rest = value
    for (let at = from + digits - 1; at >= from; at--) {
      this.bytes[at] = zero + (rest % 10)
      rest = Math.trunc(rest / 10)
    }
  }

  /** What was read from `from` on stands at `to`. */
  #copy(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < this.#at; at++) this.bytes[to + at - from] = bytes[at] ?? 0
  }
}
