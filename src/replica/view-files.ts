// The files that a view is made of: all of a dataset up to its block, or those of them that can hold a row which the
// statement needs (engine/narrowing.ts reads that from its tree). Leaving a file out never changes an answer: what each
// row left out would have met is known, and cannot fail (docs/decisions/query-engine.md).

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import type { EngineFiles, EngineTable, Given, Narrowing, OpenedFiles } from '../engine/messages.ts'
import { must } from '../lib/assert.ts'
import { foldAscii } from '../model/names.ts'
import type { Parameter } from '../model/parameters.ts'
import { type DataType, innerType } from '../model/schema.ts'
import type { SliceFiles } from '../store/slice-files.ts'
import type { FileList, SliceRun } from './file-list.ts'
import { factsOfGroups, type FactsOf, type SliceTimes } from './slice-times.ts'

/** The files of a view in offset order, or those of them that `only` numbers. */
export function viewFiles(slices: SliceFiles, files: FileList, only?: readonly number[]): EngineFiles {
  const { id, slices: refs } = files.view
  const of = { to: files.length, ...(only && { only }) }
  const at = (number: number): SliceRef => must(refs.at(number), 'a view has the slices of its chain up to its block')
  const open = async (signal: AbortSignal): Promise<OpenedFiles> => {
    const places = (only ?? numbersOf({ from: 0, to: files.length })).map((number) => files.placeOf(number))
    const numbers = places.filter(({ merged }) => merged === undefined).map(({ from }) => from)
    const { list, path, close } = await slices.open({ id, numbers, at }, signal)
    const pathOf = (number: number): string => {
      const { merged, from } = files.placeOf(number)
      return merged?.path ?? path(from)
    }
    return { ...of, list: `${list}${files.mergedName}`, path: pathOf, close }
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

/** Files of a view, ascending, at least one; of their rows, those below `leastOffset` do not matter. */
export interface ChosenFiles extends Pick<EngineTable, 'leastOffset'> {
  readonly numbers: readonly number[]
}

/** The files that can hold a row which is needed; undefined for all of them. Throws as `SliceTimes`. */
export async function chooseFiles(
  times: Pick<SliceTimes, 'of'>,
  files: FileList,
  wanted: Wanted,
): Promise<ChosenFiles | undefined> {
  if (files.length === 0 || files.view.schema === undefined) return undefined
  const terms = termsOf(files.view, wanted)
  if (terms === undefined) return undefined
  const { first } = wanted.narrowing
  const chosen =
    first === undefined
      ? { numbers: await matching(times, files, terms) }
      : await firstFiles(times, files, { column: first.column, descending: first.descending, rows: terms.rows })
  if (chosen === undefined || (chosen.numbers.length === files.length && !('leastOffset' in chosen))) return undefined
  return { ...chosen, numbers: withSchema(files, chosen.numbers) }
}

/** The last file says which columns there are, unless one that is chosen has them all. */
function withSchema(files: FileList, numbers: readonly number[]): readonly number[] {
  const last = numbers.at(-1)
  const isLast = last === files.length - 1
  const isComplete = isLast || (last !== undefined && files.at(last).sequence > files.view.schemaSequence)
  return isComplete ? numbers : [...numbers, files.length - 1]
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

async function matching(times: Pick<SliceTimes, 'of'>, files: FileList, terms: Terms): Promise<number[]> {
  const [least, most] = terms.offsets
  const from = least <= 0 ? 0 : numberFrom(files, least)
  const to = most < 0 ? 0 : Math.min(files.length, numberFrom(files, most) + 1)
  const numbers = numbersOf({ from, to })
  const [earliest, latest] = terms.times
  if (earliest === Number.NEGATIVE_INFINITY && latest === Number.POSITIVE_INFINITY) return numbers
  const factsOf = await factsOfFiles(times, files)
  if (factsOf === undefined) return numbers
  return numbers.filter((number) => {
    const { min, max } = factsOf(number)
    return max + footerMs >= earliest && min - footerMs <= latest
  })
}

/** What is known of the files; undefined for more slices than are remembered. */
async function factsOfFiles(times: Pick<SliceTimes, 'of'>, files: FileList): Promise<FactsOf | undefined> {
  const ofSlice = await times.of(files.view, files.looseRuns())
  if (ofSlice === undefined) return undefined
  return (number) => {
    const { merged, from } = files.placeOf(number)
    return merged === undefined ? ofSlice(from) : factsOfGroups(merged.groups)
  }
}

/** Number of the file with the row at `offset`; that of a file to come for one beyond the last. */
function numberFrom(files: FileList, offset: number): number {
  return offset >= files.view.rows ? files.length : files.numberWith(Math.floor(offset))
}

interface FirstRows {
  readonly column: string | undefined
  readonly descending: boolean
  readonly rows: number
}

/** The files with the first rows in the order of offsets or of event time. */
async function firstFiles(
  times: Pick<SliceTimes, 'of'>,
  files: FileList,
  { column, descending, rows }: FirstRows,
): Promise<ChosenFiles | undefined> {
  const { view } = files
  const name = columnKind(view.vocabulary, column)
  if (name === undefined || !(rows < view.rows)) return undefined
  if (name === 'offsets') {
    if (!descending) return { numbers: numbersOf({ from: 0, to: rows === 0 ? 0 : numberFrom(files, rows - 1) + 1 }) }
    const leastOffset = view.rows - rows
    return { numbers: numbersOf({ from: numberFrom(files, leastOffset), to: files.length }), leastOffset }
  }
  const factsOf = await factsOfFiles(times, files)
  return factsOf && { numbers: firstByTime(files, factsOf, { descending, rows }) }
}

/**
 * With the files that surely hold so many rows at or before some time in the order, each file that reaches that far: no
 * other has one of the first rows, nor one that ties with the last of them.
 */
function firstByTime(
  files: FileList,
  factsOf: FactsOf,
  { descending, rows }: Pick<FirstRows, 'descending' | 'rows'>,
): number[] {
  const numbers = numbersOf({ from: 0, to: files.length })
  const sign = descending ? -1 : 1
  // In the order wanted, the first and the last time of each file.
  const begins = (number: number): number => sign * factsOf(number)[descending ? 'max' : 'min']
  const ends = (number: number): number => sign * factsOf(number)[descending ? 'min' : 'max']
  let [held, until] = [0, Number.POSITIVE_INFINITY]
  for (const number of numbers.toSorted((a, b) => (ends(a) < ends(b) ? -1 : ends(a) > ends(b) ? 1 : a - b))) {
    const { start, end } = files.at(number)
    held += end - start + 1
    until = ends(number)
    if (held >= rows) break
  }
  return numbers.filter((number) => begins(number) <= until + 2 * footerMs)
}

/**
 * Row groups of the files of a view, and those in the chosen ones that can hold a row which is needed, as the engine tells
 * them by their bounds too. Reads footers. Throws as `SliceTimes`.
 */
export async function countRowGroups(
  times: Pick<SliceTimes, 'of' | 'groupsOf'>,
  files: FileList,
  { wanted, chosen }: { readonly wanted: Wanted | undefined; readonly chosen: ChosenFiles | undefined },
): Promise<{ readonly all: number; readonly read: number }> {
  const { view } = files
  const factsOf = await factsOfFiles(times, files)
  const all = numbersOf({ from: 0, to: files.length }).reduce((sum, at) => sum + (factsOf?.(at).groups ?? 0), 0)
  const terms = wanted && chosen && termsOf(view, wanted)
  if (terms === undefined || chosen === undefined) return { all, read: all }
  const [least, most] = [Math.max(terms.offsets[0], chosen.leastOffset ?? 0), terms.offsets[1]]
  let read = 0
  for (const number of chosen.numbers) {
    const { merged, from, start } = files.at(number)
    const groups =
      merged?.groups ?? (await times.groupsOf(view, must(view.slices.at(from), 'the slice is in the view')))
    let at = start
    for (const { rows, min, max } of groups) {
      const isIn =
        at + rows > least && at <= most && max + footerMs >= terms.times[0] && min - footerMs <= terms.times[1]
      if (isIn) read++
      at += rows
    }
  }
  return { all, read }
}
