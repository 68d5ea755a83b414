// How the cells of a body are spelt, as parameters of ingest say it. Each is judged alone and with the others: one character never
// means two things. Plain data, which threads are given. Pure.

import { defined } from '../../base/collections.ts'
import { NodeError } from '../../base/errors.ts'
import { zoneNamed } from '../../base/zone.ts'
import { foldAscii } from '../../model/names.ts'
import { charsetNamed } from './charset.ts'
import { datePattern } from './date-pattern.ts'

/** Absent members are as RFC 4180 and RFC 3339 have them. */
export interface Dialect {
  /** Between cells; absent: as the format has it. */
  readonly delimiter?: string
  /** Around cells; empty: none. */
  readonly quote?: string
  /** Begins a line that is no record. */
  readonly comment?: string
  /** Lines of the file that are no records, first and last. */
  readonly skipped?: readonly LineRange[]
  /** White space around bare cells and around quotes is not of the cell. */
  readonly trim?: boolean
  readonly decimal?: ','
  readonly group?: string
  /** Texts of bare cells that are no value: of all columns, or by folded name. */
  readonly nulls?: ByColumn<readonly string[]>
  /** In lower case. */
  readonly trueFalse?: readonly [yes: string, no: string]
  /** LDML letters of days and times: of all columns, or by folded name. */
  readonly dates?: ByColumn<string>
  readonly pivotYear?: number
  /** Parameters of single columns that rules of the dataset say: a body may be without the column. */
  readonly ruled?: readonly string[]
}

export interface ByColumn<T> {
  readonly all?: T
  readonly of: Readonly<Record<string, T>>
}

/** What a dialect says of a column. */
export function ofColumn<T>(by: ByColumn<T> | undefined, name: string): T | undefined {
  const folded = foldAscii(name)
  return by !== undefined && Object.hasOwn(by.of, folded) ? by.of[folded] : by?.all
}

export type LineRange = readonly [first: number, last: number]
type Given = Readonly<Record<string, unknown>>

/** Parameters of a dialect; those of one column have its name after a dot. */
export const dialectNames = [
  'delimiter',
  'header',
  'decimal',
  'group',
  'quote',
  'skipRows',
  'comment',
  'nulls',
  'trueFalse',
  'trim',
  'dateFormat',
  'pivotYear',
] as const
/** Those that columns may have of their own. */
const ofColumns = ['nulls', 'dateFormat'] as const

const groups: readonly string[] = ['.', ',', "'", '’', ' ', '\u00a0', '\u202f', '\u2009']
const skippedMost = 1_000_000
/** The years of two digits end with 9999. */
const pivotMost = 9900

/** Whether a parameter of a request is one of a dialect. */
export function isDialectName(name: string): boolean {
  const [of] = name.split('.', 1)
  return dialectNames.some((one) => one === name) || (of !== name && ofColumns.some((one) => one === of))
}

/** The dialect that parameters say, `ruled` of them as rules; undefined where they say none. Throws NodeError `InvalidParameter`. */
export function dialectOf(given: Given, ruled: readonly string[] = []): Dialect | undefined {
  const delimiter = character(given, 'delimiter', { words: { tab: '\t', ',': ',' } })
  const quote = character(given, 'quote', { words: { none: '', '"': '"' } })
  const comment = character(given, 'comment', { words: { none: undefined } })
  const decimal = oneOf(given, 'decimal', ['.', ','])
  const group = oneOf(given, 'group', [...groups, 'none'])
  const pivotYear = pivotOf(given)
  const dialect: Dialect = {
    ...defined({ delimiter, comment, pivotYear }),
    ...(quote !== undefined && quote !== '"' && { quote }),
    ...skippedLines(given),
    ...(oneOf(given, 'trim', ['true', 'false']) === 'true' && { trim: true }),
    ...(decimal === ',' && { decimal }),
    ...(group !== undefined && group !== 'none' && { group }),
    ...wordsOf(given),
    ...defined({ nulls: byColumn(given, 'nulls', nullsOf), dates: datesOf(given, pivotYear) }),
  }
  demandApart(dialect)
  if (Object.keys(dialect).length === 0) return undefined
  const ruledColumns = ruled.filter((name) => ofColumns.some((one) => name.startsWith(`${one}.`))).map(foldAscii)
  return ruledColumns.length === 0 ? dialect : { ...dialect, ruled: ruledColumns }
}

function textOf(given: Given, name: string): string | undefined {
  const value = given[name]
  if (value === undefined || typeof value === 'string') return value
  throw wrong(name, 'it is given more than once', 'Give it one value.')
}

function oneOf(given: Given, name: string, values: readonly string[]): string | undefined {
  const text = textOf(given, name)
  if (text === undefined || values.includes(text)) return text
  throw wrong(name, `it is ${JSON.stringify(text.slice(0, 20))}`, `Use one of: ${values.map(shown).join(', ')}.`)
}

function shown(value: string): string {
  return /^[!-~]+$/.test(value) ? value : `U+${(value.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** One character that may stand between or around cells. */
function character(
  given: Given,
  name: string,
  { words }: { readonly words: Readonly<Record<string, string | undefined>> },
): string | undefined {
  const text = textOf(given, name)
  if (text === undefined) return undefined
  if (Object.hasOwn(words, text)) return words[text]
  const isOne = /^[\x20-\x7e]$/.test(text)
  if (isOne && !/[\p{L}\p{N}"+-]/u.test(text)) return text
  const names = Object.keys(words).filter((word) => word.length > 1)
  throw wrong(
    name,
    `it is ${JSON.stringify(text.slice(0, 20))}`,
    `Say one character of ASCII${names.length === 0 ? '' : ` or ${names.join(' or ')}`}, no letter, digit, quote, plus or minus; percent-encoded in an address.`,
  )
}

function skippedLines(given: Given): Pick<Dialect, 'skipped'> {
  const text = textOf(given, 'skipRows')
  if (text === undefined || text === '0') return {}
  const isCount = /^\d{1,7}$/.test(text)
  const ranges = isCount ? [[1, Number(text)] as const] : text.split(',').map(rangeOf)
  const isRight = ranges.every(
    ([first, last], at) => first >= 1 && last >= first && last <= skippedMost && first > (ranges[at - 1]?.[1] ?? 0),
  )
  if (isRight) return { skipped: ranges }
  const hint = 'Say how many lines, as in 3, or which, as in 1,3-4.'
  throw wrong('skipRows', `it is ${JSON.stringify(text.slice(0, 40))}`, hint)
}

function rangeOf(text: string): LineRange {
  const [, first = '', last = first] = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(text) ?? []
  return first === '' ? [0, 0] : [Number(first), Number(last)]
}

function wordsOf(given: Given): Pick<Dialect, 'trueFalse'> {
  const text = textOf(given, 'trueFalse')
  if (text === undefined || text.toLowerCase() === 'true,false') return {}
  const [yes = '', no = '', ...more] = text
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
  if (yes !== '' && no !== '' && yes !== no && more.length === 0) return { trueFalse: [yes, no] }
  throw wrong('trueFalse', `it is ${JSON.stringify(text.slice(0, 40))}`, 'Say two words, as in trueFalse=ja,nein.')
}

/** With one value commas separate. */
function nullsOf(values: readonly string[], parameter: string): readonly string[] | undefined {
  const [only = ''] = values
  if (values.length > 1) return values
  if (only !== 'none') return only.split(',')
  // `none` for one column: no text is null there, whatever `nulls` says of all.
  return parameter === 'nulls' ? undefined : []
}

/** What a parameter says of all columns and of single ones; undefined where it says nothing. */
function byColumn<T>(
  given: Given,
  name: (typeof ofColumns)[number],
  read: (values: readonly string[], parameter: string) => T | undefined,
): ByColumn<T> | undefined {
  const found = Object.entries(given).flatMap(([parameter, value]) => {
    const isOwn = parameter === name || parameter.startsWith(`${name}.`)
    if (parameter === `${name}.`) throw wrong(parameter, 'it names no column', `Write ${name}.<column>.`)
    const one = isOwn && value !== undefined ? read([value].flat().map(String), parameter) : undefined
    return one === undefined ? [] : [[foldAscii(parameter.slice(name.length + 1)), one] as const]
  })
  if (found.length === 0) return undefined
  const [repeated] = found.find(([column], at) => found.findIndex(([one]) => one === column) !== at) ?? []
  if (repeated !== undefined)
    throw wrong(`${name}.${repeated}`, 'it is given more than once; letter case does not count', 'Give it once.')
  const { '': all, ...of } = Object.fromEntries(found)
  return { ...(all !== undefined && { all }), of }
}

function datesOf(given: Given, pivotYear: number | undefined): ByColumn<string> | undefined {
  return byColumn(given, 'dateFormat', ([text = '', ...more], parameter) => {
    if (more.length > 0) throw wrong(parameter, 'it is given more than once', 'Give it one value.')
    if (text === 'iso') return parameter === 'dateFormat' ? undefined : text
    const pattern = datePattern(text, pivotYear)
    if ('fields' in pattern) return text
    const { message, meant } = pattern
    throw wrong(
      parameter,
      `in '${text.slice(0, 40)}' ${message}`,
      meant === undefined ? 'Write it with yyyy MM dd HH mm ss, as in dd.MM.yyyy HH:mm.' : `Write ${meant}.`,
    )
  })
}

function pivotOf(given: Given): number | undefined {
  const text = textOf(given, 'pivotYear')
  if (text === undefined) return undefined
  if (/^\d{4}$/.test(text) && Number(text) <= pivotMost) return Number(text)
  const hint = 'Say the first year that two digits mean: pivotYear=1970.'
  throw wrong('pivotYear', `it is ${JSON.stringify(text.slice(0, 20))}`, hint)
}

/** Throws NodeError `InvalidParameter` where one character would mean two things. */
export function demandApart({ delimiter = ',', quote = '"', comment, decimal, group }: Dialect): void {
  const named = Object.entries({ delimiter, quote, comment }).filter(([, one]) => one !== undefined && one !== '')
  for (const [at, [name, one]] of named.entries()) {
    const other = named.slice(0, at).find(([, before]) => before === one)
    if (other !== undefined) throw twice(one, other[0], name)
  }
  if (group === (decimal ?? '.')) throw twice(group, 'decimal', 'group')
  if (group !== undefined && group === quote) throw twice(group, 'quote', 'group')
}

/** Throws NodeError `InvalidParameter` for a pattern of times that have no offset, where nobody said their zone. */
export function demandZoned({ dates, pivotYear }: Dialect): void {
  for (const [name, text] of [['', dates?.all], ...Object.entries(dates?.of ?? {})]) {
    const pattern = text === undefined || text === 'iso' ? undefined : datePattern(text, pivotYear)
    if (pattern === undefined || !('fields' in pattern) || !pattern.hasDay || !pattern.hasTime) continue
    if (pattern.fields.some(({ kind }) => kind === 'offset')) continue
    const parameter = name === '' ? 'dateFormat' : `dateFormat.${name}`
    throw wrong(
      parameter,
      'it has hours, and nothing says their zone',
      'Say timeZone too, such as timeZone=Europe/Berlin.',
    )
  }
}

function twice(character = '', one: string, other: string): NodeError {
  return wrong(other, `${JSON.stringify(character)} is ${one} already`, 'Say another for one of them.')
}

function wrong(name: string, why: string, hint: string): NodeError {
  return new NodeError('InvalidParameter', `The parameter ${name} is wrong: ${why}.`, { hint })
}

/** Of a charset by its label. Throws NodeError `InvalidParameter`. */
export function demandCharset(label: string): string {
  const charset = charsetNamed(label)
  if (charset !== undefined) return charset.name
  const hint = 'Name one as browsers do: utf-8, windows-1252, iso-8859-15.'
  throw wrong('charset', `'${label.slice(0, 40)}' is none that is read`, hint)
}

/** Throws NodeError `InvalidParameter` for a zone that is none. */
export function demandZone(name: string): void {
  if (zoneNamed(name) !== undefined) return
  const hint = 'Name one of IANA, such as Europe/Berlin, or an offset such as +01:00.'
  throw wrong('timeZone', `'${name.slice(0, 80)}' is no zone`, hint)
}
