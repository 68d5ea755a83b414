// Under which parameters most columns of a table are numbers, days, times or booleans, as far as their cells tell.

import { foldAscii } from '../../model/names.ts'
import { datePatternsOf } from './date-patterns.ts'

export type Parameters = Readonly<Record<string, string>>
export type Given = Readonly<Record<string, string | readonly string[]>>

/** Words for no value. */
export const nullWords: ReadonlySet<string> = new Set(
  'NA|N/A|n/a|na|NULL|Null|null|(null)|None|nil|\\N|#N/A|#NV|<NA>|-|--|---|–|.|..|...|/|?|k.A.|k. A.|n.a.|nd|missing'.split(
    '|',
  ),
)
const wordPairs =
  'ja,nein|yes,no|oui,non|wahr,falsch|vrai,faux|sí,no|si,no|sim,não|vero,falso|verdadero,falso|y,n|j,n|t,f|on,off|tak,nie|ano,ne'
    .split('|')
    .map((pair) => pair.split(','))
const isoTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.]*(?<zone>Z|[-+]\d\d(?::?\d\d)?)?)?$/i
const dayName = /dat(?:e|um)|\bday\b|^tag$/i

interface Spelling {
  readonly decimal: string
  readonly group: string
  readonly reads: RegExp
  /** What is hardly a number of another spelling: without one, 1.234 and 1,234 may be either. */
  readonly proof: RegExp
}

/** Those of fewer signs first. */
const spellings = ['', ',', '.', ' ', "'", '’', '\u00a0', '\u202f', '\u2009'].flatMap((group) =>
  ['.', ','].filter((decimal) => decimal !== group).map((decimal) => spelling(decimal, group)),
)

function spelling(decimal: string, group: string): Spelling {
  const [d, g] = [`\\${decimal}`, group === '.' ? '\\.' : group]
  const grouped = group === '' ? '' : `|[1-9]\\d{0,2}(?:${g}\\d{3})+`
  const reads = new RegExp(`^(?:-|\\+(?=.*${d}))?(?:0|[1-9]\\d*${grouped})(?:${d}\\d+(?:[eE][-+]?\\d+)?)?$|^nan$`, 'i')
  const proof = group === '' ? `${d}(?!\\d{3}$)|^[-+]?(?:0|\\d{4,})${d}` : `(?:${g}\\d{3}){2}|${g}\\d{3}${d}`
  return { decimal, group, reads, proof: new RegExp(proof) }
}

export interface Column {
  readonly name: string
  /** Cells that are neither empty nor a word for no value. */
  readonly texts: readonly string[]
  readonly nulls: ReadonlySet<string>
}

/** The columns of rows; those of which `isText` has the folded names take any text. */
export function columnsOf(
  names: readonly string[],
  rows: readonly { readonly texts: readonly string[] }[],
  isText: ReadonlySet<string>,
): readonly Column[] {
  return names.map((name, at) => {
    const cells = rows.map(({ texts }) => texts[at] ?? '')
    const values = cells.filter((cell) => cell !== '' && !nullWords.has(cell))
    const nulls = new Set(cells.filter((cell) => nullWords.has(cell)))
    return { name, texts: isText.has(foldAscii(name)) ? ['any text'] : values, nulls }
  })
}

/** A column, and what it may be. */
interface Look extends Column {
  readonly numbers: readonly Spelling[]
  readonly dates: readonly string[]
  /** Days or times of RFC 3339; `lacksZone`: but for a zone that nobody said. */
  readonly isIso: boolean
  readonly lacksZone: boolean
  readonly isBool: boolean
}

/** Several where the cells do not tell which. */
export function valuesOf(columns: readonly Column[], given: Given): readonly Parameters[] {
  const hasZone = (given['timeZone'] ?? 'none') !== 'none'
  const looks = columns.filter(({ texts }) => texts.length > 0).map((column) => lookOf(column, hasZone))
  return spellingsOf(looks, given).flatMap((spelt) => valuesUnder(spelt, looks, given))
}

function valuesUnder(spelt: Spelling, looks: readonly Look[], given: Given): readonly Parameters[] {
  const words = looks.map(({ texts }) => new Set(texts.map((text) => text.toLowerCase())))
  const isOfWords = (pair: readonly string[], at: number): boolean =>
    [...(words[at] ?? [])].every((word) => pair.includes(word))
  const mayHave = given['trueFalse'] === undefined && !looks.some(({ isBool }) => isBool)
  const pair = mayHave
    ? wordPairs.find((one) => looks.some((_, at) => words[at]?.size === 2 && isOfWords(one, at)))
    : undefined
  const isTyped = ({ numbers, dates, isIso, isBool }: Look, at: number): boolean =>
    isIso || isBool || dates.length > 0 || numbers.includes(spelt) || (pair !== undefined && isOfWords(pair, at))
  const values = {
    ...(spelt.decimal === ',' && { decimal: ',' }),
    ...(spelt.group !== '' && { group: spelt.group }),
    ...nullsOf(
      looks.filter(isTyped),
      looks.filter((look, at) => !isTyped(look, at)),
      given,
    ),
    ...(pair !== undefined && { trueFalse: pair.join(',') }),
  }
  return given['dateFormat'] === undefined ? datesOf(looks).map((dates) => ({ ...values, ...dates })) : [values]
}

function lookOf(column: Column, hasZone: boolean): Look {
  const { name, texts } = column
  const numbers = spellings.filter(({ reads }) => texts.every((text) => reads.test(text)))
  const dates = numbers.length > 0 && !dayName.test(name) ? [] : datePatternsOf(texts)
  const kinds = texts.map((text) => isoTime.exec(text))
  const isTimes = !kinds.includes(null)
  const isZoned = (kind: RegExpExecArray | null): boolean =>
    kind?.[0].length === 10 || kind?.groups?.['zone'] !== undefined
  const lacksZone = isTimes && !hasZone && !kinds.every(isZoned)
  return {
    ...column,
    numbers,
    dates: dates.filter((pattern) => hasZone || !/[Hh]/.test(pattern)),
    isIso: isTimes && !lacksZone,
    lacksZone,
    isBool: texts.every((text) => /^(?:true|false)$/i.test(text)),
  }
}

/** Whether all values may be numbers, days or times. */
export function isValued(column: Column): boolean {
  const { texts, numbers, dates, isIso } = lookOf(column, true)
  return texts.length > 0 && (isIso || numbers.length > 0 || dates.length > 0)
}

/** The spellings under which most columns are numbers, two at most; but the first, each has to be proven by some number. */
function spellingsOf(looks: readonly Look[], given: Given): readonly Spelling[] {
  const isSaid = (name: string, sign: string): boolean => [sign, undefined].includes(given[name]?.toString())
  const open = spellings.filter(({ decimal, group }) => isSaid('decimal', decimal) && isSaid('group', group || 'none'))
  const of = (one: Spelling): readonly Look[] => looks.filter(({ numbers }) => numbers.includes(one))
  const proven = open.filter(
    (one, at) => at === 0 || of(one).some(({ texts }) => texts.some((text) => one.proof.test(text))),
  )
  const most = Math.max(...proven.map((one) => of(one).length))
  const [best = spelling('.', ''), ...others] = proven.filter((one) => of(one).length === most)
  // Where 12,50 stands beside 1.250, either sign may be the decimal one.
  const other = others.find((one) => one.decimal !== best.decimal && of(one).some((look) => !of(best).includes(look)))
  return other === undefined ? [best] : [best, other]
}

/** Words for nothing among values that are no texts: of all columns, or of single ones where texts have such words too. */
function nullsOf(typed: readonly Look[], others: readonly Look[], given: Given): Parameters {
  const needed = new Set(typed.flatMap(({ nulls }) => [...nulls]))
  if (needed.size === 0 || given['nulls'] !== undefined) return {}
  const isOfTexts = others.some(({ nulls }) => [...nulls].some((word) => needed.has(word)))
  if (!isOfTexts) return { nulls: [...needed].join(',') }
  const own = typed.filter(({ nulls }) => nulls.size > 0)
  return Object.fromEntries(own.map(({ name, nulls }) => [`nulls.${name}`, [...nulls].join(',')]))
}

/** With days first and with months first, where no column tells. */
function datesOf(looks: readonly Look[]): readonly Parameters[] {
  const dated = looks.filter(({ dates, isIso }) => dates.length > 0 && !isIso)
  const orders = dated.map(({ dates }) => new Set(dates.flatMap((one) => /^[dM](?!.*MMM|.*\.)/.exec(one)?.[0] ?? [])))
  const told = orders.find(({ size }) => size === 1) ?? orders.find(({ size }) => size > 1) ?? ['']
  return [...told].map((order) => {
    const chosen = dated.map(({ name, dates }) => ({
      name,
      pattern: dates.find((one) => one.startsWith(order)) ?? dates[0] ?? '',
    }))
    const [first = '', ...others] = new Set(chosen.map(({ pattern }) => pattern))
    // Digits alone are days only where their own column says so, and a pattern for all counts for ISO times too.
    const isOne = others.length === 0 && /\W/.test(first) && !looks.some(({ isIso, lacksZone }) => isIso || lacksZone)
    if (isOne) return { dateFormat: first }
    return Object.fromEntries(chosen.map(({ name, pattern }) => [`dateFormat.${name}`, pattern]))
  })
}
