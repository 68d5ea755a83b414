// The slices that a view is made of: all of a dataset up to its block, or those of them that can hold a row which the
// statement needs (engine/narrowing.ts reads that from its tree). Leaving a slice out never changes an answer: what each
// row left out would have met is known, and cannot fail (docs/decisions/query-engine.md).

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import type { EngineFiles, EngineTable, Given, Narrowing, OpenedFiles } from '../engine/messages.ts'
import { must } from '../lib/assert.ts'
import { foldAscii } from '../model/names.ts'
import type { Parameter } from '../model/parameters.ts'
import { type DataType, innerType } from '../model/schema.ts'
import type { SliceFiles } from '../store/slice-files.ts'
import type { FactsOf, SliceTimes } from './slice-times.ts'

/** Numbers `[from, to)` of slices. */
export interface SliceRun {
  readonly from: number
  readonly to: number
}

/** The files of a view: the slices of `view` in chain order, or those of them that `only` numbers. */
export function viewFiles(files: SliceFiles, { id, slices }: DatasetView, only?: readonly number[]): EngineFiles {
  const at = (number: number): SliceRef => must(slices.at(number), 'a view has the slices of its chain up to its block')
  const of = { to: slices.length, ...(only && { only }) }
  const open = async (signal: AbortSignal): Promise<OpenedFiles> => {
    const numbers = only ?? numbersOf({ from: 0, to: slices.length })
    return { ...of, ...(await files.open({ id, numbers, at }, signal)) }
  }
  return { ...of, list: id, path: () => must<string>(undefined, 'the files of a view are opened first'), open }
}

/** The numbers of a run. */
export function numbersOf({ from, to }: SliceRun): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}

/** Numbers as the runs that they make, ascending. */
export function runsOf(numbers: readonly number[]): SliceRun[] {
  const runs: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last?.to === number) last.to++
    else runs.push({ from: number, to: number + 1 })
  }
  return runs
}

/** What a statement asks of the rows of one dataset. */
export interface Wanted {
  readonly narrowing: Narrowing
  readonly parameters: readonly Parameter[]
  /** Rows of its answer that are left out at the start, and those that are taken; all where there is no limit. */
  readonly skip: number
  readonly limit: number | undefined
}

/** Slices of a view, ascending, at least one; of their rows, those below `leastOffset` do not matter. */
export interface ChosenSlices extends Pick<EngineTable, 'leastOffset'> {
  readonly numbers: readonly number[]
}

/** The slices that can hold a row which is needed; undefined for all of them. Throws as `SliceTimes`. */
export async function chooseSlices(
  times: Pick<SliceTimes, 'of'>,
  view: DatasetView,
  wanted: Wanted,
): Promise<ChosenSlices | undefined> {
  if (view.slices.length === 0 || view.schema === undefined) return undefined
  const terms = termsOf(view, wanted)
  if (terms === undefined) return undefined
  const { first } = wanted.narrowing
  const chosen =
    first === undefined
      ? { numbers: await matching(times, view, terms) }
      : await firstSlices(times, view, { column: first.column, descending: first.descending, rows: terms.rows })
  if (chosen === undefined || (chosen.numbers.length === view.slices.length && !('leastOffset' in chosen)))
    return undefined
  return { ...chosen, numbers: withSchema(view, chosen.numbers) }
}

/** The last slice says which columns there are, unless one that is chosen has them all. */
function withSchema({ slices, schemaSequence }: DatasetView, numbers: readonly number[]): readonly number[] {
  const last = numbers.at(-1)
  const sequence = last === undefined ? undefined : slices.at(last)?.sequence
  const isComplete = last === slices.length - 1 || (sequence !== undefined && sequence > schemaSequence)
  return isComplete ? numbers : [...numbers, slices.length - 1]
}

/** What rows must be like, closed at both ends, and how many are needed. */
interface Terms {
  readonly offsets: Interval
  readonly times: Interval
  readonly rows: number
}

type Interval = readonly [least: number, most: number]

const everything: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Undefined where a comparison might fail, or nothing is known. */
function termsOf(
  { schema, vocabulary }: DatasetView,
  { narrowing, parameters, skip, limit }: Wanted,
): Terms | undefined {
  const valueOf = (given: Given): Given | undefined => (given.kind === 'parameter' ? givenBy(parameters, given) : given)
  const types = new Map(schema?.fields.map(({ name, type }) => [foldAscii(name), innerType(type)]))
  const isSafe = narrowing.compared.every(({ column, value }) => cannotFail(types.get(column), valueOf(value)))
  if (!isSafe) return undefined
  const intervals = { offsets: everything, times: everything }
  for (const { column, is, value } of narrowing.conditions) {
    const given = valueOf(value)
    const name = columnKind(vocabulary, column)
    const bounds = name === undefined || given === undefined ? undefined : valueBounds(name, given)
    if (name === undefined || bounds === undefined) continue
    intervals[name] = narrower(intervals[name], is, bounds)
  }
  const rows =
    countOf(narrowing.first?.skip, valueOf, 0) +
    Math.min(
      countOf(narrowing.first?.limit, valueOf, Number.POSITIVE_INFINITY),
      // One more tells whether rows were left out.
      limit === undefined ? Number.POSITIVE_INFINITY : skip + limit + 1,
    )
  return { ...intervals, rows }
}

function columnKind(
  vocabulary: DatasetView['vocabulary'],
  column: string | undefined,
): keyof Omit<Terms, 'rows'> | undefined {
  if (column === undefined || column === foldAscii(vocabulary.offsetColumn)) return 'offsets'
  return column === foldAscii(vocabulary.eventTimeColumn) ? 'times' : undefined
}

function givenBy(parameters: readonly Parameter[], { text }: Given): Given | undefined {
  const parameter = parameters.find(({ name }) => foldAscii(name) === text)
  if (parameter === undefined || parameter.type === 'NULL') return undefined
  const kind = parameterKinds[parameter.type]
  return { kind, text: parameter.text }
}

const parameterKinds = {
  BIGINT: 'number',
  HUGEINT: 'number',
  DOUBLE: 'number',
  VARCHAR: 'text',
  BOOLEAN: 'boolean',
} as const

/** NaN for what is no number of rows, which then are all needed. */
function countOf(given: Given | undefined, valueOf: (given: Given) => Given | undefined, absent: number): number {
  if (given === undefined) return absent
  const value = valueOf(given)
  return value?.kind === 'number' && /^\d+$/.test(value.text) ? Number(value.text) : Number.NaN
}

const numberKinds = /^(?:U?Int(?:8|16|32|64)|Float(?:16|32|64))$/

/** True where no value of the column can fail to be held against the constant. */
function cannotFail(type: DataType | undefined, value: Given | undefined): boolean {
  if (type === undefined || value === undefined) return false
  const isTime = type.kind === 'Timestamp' && type.unit !== 'Nanosecond' && type.unit !== 'Second'
  switch (value.kind) {
    case 'number':
      return numberKinds.test(type.kind)
    case 'boolean':
      return type.kind === 'Bool'
    case 'text':
      if (type.kind === 'String') return true
      return timeBounds(value.text) !== undefined && (isTime || (type.kind === 'Date' && isDay(value.text)))
    case 'day':
      return isDay(value.text) && (isTime || type.kind === 'Date')
    case 'time':
      return isTime && timeBounds(value.text) !== undefined
    case 'parameter':
      return false
  }
}

/** The least and the greatest number that a constant may stand for, in the unit of the column. */
function valueBounds(name: 'offsets' | 'times', { kind, text }: Given): Interval | undefined {
  if (name === 'times') return kind === 'number' ? undefined : timeBounds(text)
  return kind === 'number' && /^-?\d+$/.test(text) ? [Number(text), Number(text)] : undefined
}

function narrower([least, most]: Interval, is: string, [low, high]: Interval): Interval {
  return [is.startsWith('<') ? least : Math.max(least, low), is.startsWith('>') ? most : Math.min(most, high)]
}

function isDay(text: string): boolean {
  return text.length === 10 && timeBounds(text) !== undefined
}

const timePattern = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|\+00(?::00)?)?)?$/

/** Milliseconds since 1970 of a time in UTC, whole ones around it where it is finer; undefined for other texts. */
function timeBounds(text: string): Interval | undefined {
  const [, day, time = '00:00:00', fraction = ''] = timePattern.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  if (!(ms >= Date.parse('0001-01-01T00:00:00Z')) || new Date(ms).toISOString().slice(0, 19) !== `${day}T${time}`)
    return undefined
  return [ms, fraction.length > 3 ? ms + 1 : ms]
}

/** Footers cut finer units off: a millisecond on either side. */
const footerMs = 1

async function matching(times: Pick<SliceTimes, 'of'>, view: DatasetView, terms: Terms): Promise<number[]> {
  const [least, most] = terms.offsets
  const from = least <= 0 ? 0 : numberFrom(view, least)
  const to = most < 0 ? 0 : Math.min(view.slices.length, numberFrom(view, most) + 1)
  const numbers = numbersOf({ from, to })
  const [earliest, latest] = terms.times
  if (earliest === Number.NEGATIVE_INFINITY && latest === Number.POSITIVE_INFINITY) return numbers
  const factsOf = await times.of(view)
  if (factsOf === undefined) return numbers
  return numbers.filter((number) => {
    const { min, max } = factsOf(number)
    return max + footerMs >= earliest && min - footerMs <= latest
  })
}

/** Number of the slice with the row at `offset`; that of a slice to come for one beyond the last. */
function numberFrom({ slices, rows }: DatasetView, offset: number): number {
  return offset >= rows ? slices.length : slices.numberWith(Math.floor(offset))
}

interface FirstRows {
  readonly column: string | undefined
  readonly descending: boolean
  readonly rows: number
}

/** The slices with the first rows in the order of offsets or of event time. */
async function firstSlices(
  times: Pick<SliceTimes, 'of'>,
  view: DatasetView,
  { column, descending, rows }: FirstRows,
): Promise<ChosenSlices | undefined> {
  const name = columnKind(view.vocabulary, column)
  if (name === undefined || !(rows < view.rows)) return undefined
  if (name === 'offsets') {
    if (!descending) return { numbers: numbersOf({ from: 0, to: rows === 0 ? 0 : numberFrom(view, rows - 1) + 1 }) }
    const leastOffset = view.rows - rows
    return { numbers: numbersOf({ from: numberFrom(view, leastOffset), to: view.slices.length }), leastOffset }
  }
  const factsOf = await times.of(view)
  return factsOf && { numbers: firstByTime(view, factsOf, { descending, rows }) }
}

/**
 * With the slices that surely hold so many rows at or before some time in the order, each slice that reaches that far: no
 * other has one of the first rows, nor one that ties with the last of them.
 */
function firstByTime(
  { slices }: DatasetView,
  factsOf: FactsOf,
  { descending, rows }: Pick<FirstRows, 'descending' | 'rows'>,
): number[] {
  const numbers = numbersOf({ from: 0, to: slices.length })
  const sign = descending ? -1 : 1
  // In the order wanted, the first and the last time of each slice.
  const begins = (number: number): number => sign * factsOf(number)[descending ? 'max' : 'min']
  const ends = (number: number): number => sign * factsOf(number)[descending ? 'min' : 'max']
  let [held, until] = [0, Number.POSITIVE_INFINITY]
  for (const number of numbers.toSorted((a, b) => (ends(a) < ends(b) ? -1 : ends(a) > ends(b) ? 1 : a - b))) {
    const { start, end } = must(slices.at(number), 'the slice is in the view')
    held += end - start + 1
    until = ends(number)
    if (held >= rows) break
  }
  return numbers.filter((number) => begins(number) <= until + 2 * footerMs)
}

/**
 * Row groups of the slices of a view, and those in the chosen ones that can hold a row which is needed, as the engine tells
 * them by their bounds too. Reads footers. Throws as `SliceTimes`.
 */
export async function countRowGroups(
  times: Pick<SliceTimes, 'of' | 'groupsOf'>,
  view: DatasetView,
  { wanted, chosen }: { readonly wanted: Wanted | undefined; readonly chosen: ChosenSlices | undefined },
): Promise<{ readonly all: number; readonly read: number }> {
  const factsOf = await times.of(view)
  const all = numbersOf({ from: 0, to: view.slices.length }).reduce((sum, at) => sum + (factsOf?.(at).groups ?? 0), 0)
  const terms = wanted && chosen && termsOf(view, wanted)
  if (terms === undefined || chosen === undefined) return { all, read: all }
  const [least, most] = [Math.max(terms.offsets[0], chosen.leastOffset ?? 0), terms.offsets[1]]
  let read = 0
  for (const number of chosen.numbers) {
    const slice = must(view.slices.at(number), 'the slice is in the view')
    let at = slice.start
    for (const { rows, min, max } of await times.groupsOf(view, slice)) {
      const isIn =
        at + rows > least && at <= most && max + footerMs >= terms.times[0] && min - footerMs <= terms.times[1]
      if (isIn) read++
      at += rows
    }
  }
  return { all, read }
}
