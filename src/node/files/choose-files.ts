// The files that a view is made of: all of a dataset up to its block, or those of them that can hold a row which the
// statement needs (libraries/sql/narrowing.ts reads that from its tree). Leaving a file out never changes an answer: what each
// row left out would have met is known, and cannot fail (docs/decisions/query-engine.md#files-that-a-statement-reads).

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import type { Bound, EngineFiles, OpenedFiles } from '../engine/messages.ts'
import { must } from '../../libraries/base/assert.ts'
import { sqlName } from '../../libraries/sql/types.ts'
import type { GroupTimes } from '../../libraries/columnar/parquet/time-range.ts'
import type { SliceFiles } from './slice-files.ts'
import { type FileList, numbersOf, type SliceRun } from './file-list.ts'
import { columnKind, everything, type Interval, type Terms, termsOf, type WantedRows } from './row-terms.ts'
import type { SliceFacts, SliceTimes } from './slice-times.ts'

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

/** Files of a view, ascending, at least one, and which of their rows matter where not all do. */
export interface ChosenFiles {
  readonly numbers: readonly number[]
  readonly within?: Within
}
type Within = Partial<Asked>

/** Milliseconds since 1970 that are a time in every type of times: 1700 to 2200. */
const plainTimes: Interval = [-8_520_336_000_000, 7_258_118_400_000]

/** The rows that matter, as the engine is told of them; a time that not all types have bounds none. */
export function rowBounds({ vocabulary }: DatasetView, { offsets = everything, times = everything }: Within): Bound[] {
  const { offsetColumn, eventTimeColumn } = vocabulary
  const [offset, time] = [sqlName(offsetColumn), `CAST(${sqlName(eventTimeColumn)} AS TIMESTAMPTZ)`]
  const isPlain = (ms: number): boolean => ms >= plainTimes[0] && ms <= plainTimes[1]
  return [
    ...offsets.flatMap((at, end): Bound[] => (Number.isFinite(at) ? [[`${offset} ${ends[end]}`, String(at)]] : [])),
    ...times.flatMap((ms, end): Bound[] =>
      isPlain(ms) ? [[`${time} ${ends[end]}`, `CAST(epoch_ms(${ms}) AS TIMESTAMPTZ)`]] : [],
    ),
  ]
}
const ends = ['>=', '<=']

type Times = Pick<SliceTimes, 'of' | 'groupsOf'>

/** The files that can hold a row which is needed; undefined for all of them. Throws as `SliceTimes`. */
export async function chooseFiles(times: Times, files: FileList, wanted: WantedRows): Promise<ChosenFiles | undefined> {
  const { view } = files
  if (files.length === 0 || view.schema === undefined) return undefined
  const terms = termsOf(view, wanted)
  if (terms === undefined) return undefined
  const chosen = await filesFor(times, files, { ...wanted, terms })
  if (chosen.numbers.length === files.length && chosen.within === undefined) return undefined
  return { ...chosen, numbers: withSchema(files, chosen.numbers) }
}

async function filesFor(
  times: Times,
  files: FileList,
  { narrowing, newest, terms }: WantedRows & { readonly terms: Terms },
): Promise<ChosenFiles> {
  const { first, conditions } = narrowing
  const isPart = terms.areBounds && (conditions.length > 0 || terms.rows < files.view.rows)
  if (isPart && newest === undefined && first && columnKind(files.view.vocabulary, first.column) === 'times')
    return await firstByTime(times, files, { ...terms, descending: first.descending })
  const numbers = await matching(times, files, terms)
  return { numbers, ...((terms.isWindow || newest !== undefined) && { within: { offsets: terms.offsets } }) }
}

/** The last file says which columns there are, unless one that is chosen has them all. */
function withSchema(files: FileList, numbers: readonly number[]): readonly number[] {
  const last = numbers.at(-1)
  const isLast = last === files.length - 1
  const isComplete = isLast || (last !== undefined && files.at(last).sequence > files.view.schemaSequence)
  return isComplete ? numbers : [...numbers, files.length - 1]
}

/** Footers cut finer units off: a millisecond on either side. */
const footerMs = 1

/** Rows of file `number`, all of them or a row group, and what is known of their times. */
interface Stretch extends SliceFacts {
  readonly number: number
  /** First and last offset of a row group. */
  readonly offsets?: Interval
}

/** What is known of each file before its footer is read again: of its row groups, or of all its rows together. */
async function knownStretches(times: Times, files: FileList): Promise<(number: number) => readonly Stretch[]> {
  const ofSlice = await times.of(files.view, files.looseRuns())
  const unknown = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY, groups: 0 }
  return (number) => {
    const { merged, from } = files.placeOf(number)
    return merged === undefined ? [{ number, ...(ofSlice?.(from) ?? unknown) }] : groupsOf(files, number, merged.groups)
  }
}

function groupsOf(files: FileList, number: number, groups: readonly GroupTimes[]): Stretch[] {
  let { start } = files.at(number)
  return groups.map(({ rows, min, max }) => {
    start += rows
    return { number, offsets: [start - rows, start - 1], min, max, groups: 1 }
  })
}

/** Row group by row group. */
async function groupStretches(times: Times, files: FileList, known: readonly Stretch[]): Promise<Stretch[]> {
  const found: Stretch[] = []
  for (const stretch of known) {
    const { number, groups } = stretch
    if (groups <= 1) found.push(stretch)
    else found.push(...groupsOf(files, number, await times.groupsOf(files.view, files.placeOf(number).from)))
  }
  return found
}

type Asked = Pick<Terms, 'offsets' | 'times'>

/** True where one of the rows may be needed: of a file, the offsets are. */
function mayMeet({ offsets, min, max }: Stretch, asked: Asked): boolean {
  if (max + footerMs < asked.times[0] || min - footerMs > asked.times[1]) return false
  return offsets === undefined || (offsets[1] >= asked.offsets[0] && offsets[0] <= asked.offsets[1])
}

/** How many rows surely meet what is asked. */
function surely(files: FileList, { number, offsets, min, max }: Stretch, asked: Asked): number {
  if (!(min - footerMs > asked.times[0] && max + footerMs < asked.times[1])) return 0
  const { start, end } = files.at(number)
  const [first, last] = offsets ?? [start, end]
  return first > asked.offsets[0] && last < asked.offsets[1] ? last + 1 - first : 0
}

/** Numbers of the files with offsets that are asked for. */
function withOffsets(files: FileList, [least, most]: Interval): number[] {
  const from = least <= 0 ? 0 : numberFrom(files, least)
  return numbersOf({ from, to: most < 0 ? 0 : Math.min(files.length, numberFrom(files, most) + 1) })
}

async function matching(times: Times, files: FileList, terms: Terms): Promise<number[]> {
  const numbers = withOffsets(files, terms.offsets)
  if (!terms.times.some((end) => Number.isFinite(end))) return numbers
  const stretchesIn = await knownStretches(times, files)
  return numbers.filter((number) => stretchesIn(number).some((stretch) => mayMeet(stretch, terms)))
}

/** Number of the file with the row at `offset`; that of a file to come for one beyond the last. */
function numberFrom(files: FileList, offset: number): number {
  return offset >= files.view.rows ? files.length : files.numberWith(Math.floor(offset))
}

type FirstByTime = Asked & Pick<Terms, 'rows'> & { readonly descending: boolean }

/** Footers of so many files are read again to choose row groups. */
const longFiles = 64

/** The files, and the times, of the first rows in the order of event time of those that meet what is asked. */
async function firstByTime(times: Times, files: FileList, wanted: FirstByTime): Promise<ChosenFiles> {
  const stretchesIn = await knownStretches(times, files)
  const all = withOffsets(files, wanted.offsets).flatMap(stretchesIn)
  const reached = reachedBy(files, all, wanted).stretches
  const isLong = reached.filter(({ groups }) => groups > 1).length > longFiles
  const groups = isLong ? reached : await groupStretches(times, files, reached)
  const { stretches, until } = reachedBy(files, groups, wanted)
  const [numbers, read] = [new Set(stretches.map(({ number }) => number)), new Set(stretches)]
  const isLeft = (one: Stretch): boolean => one.groups === 1 && numbers.has(one.number) && !read.has(one)
  // Rows without a time come first, or last, whatever the times of others are.
  const areTimed = stretches.every(({ min, max }) => Number.isFinite(max - min))
  // mutant: bounds leave out rows without a time
  if (!areTimed || !(all.some(isLeft) || groups.some(isLeft))) return { numbers: [...numbers] }
  const [least, most] = wanted.times
  const nearest: Interval = wanted.descending ? [-until, most] : [least, until]
  return { numbers: [...numbers], within: { times: [Math.max(least, nearest[0]), Math.min(most, nearest[1])] } }
}

/**
 * With the stretches that surely hold so many rows at or before some time in the order, each that reaches that far: no other
 * has one of the first rows, nor one that ties with the last of them. `until`: that time, negated where the order descends.
 */
function reachedBy(
  files: FileList,
  stretches: readonly Stretch[],
  { rows, descending, ...asked }: FirstByTime,
): { readonly stretches: readonly Stretch[]; readonly until: number } {
  const possible = stretches.filter((stretch) => mayMeet(stretch, asked))
  // In the order wanted, the first and the last time of each.
  const begins = ({ min, max }: Stretch): number => (descending ? -max : min)
  const ends = ({ min, max }: Stretch): number => (descending ? -min : max)
  let [held, until] = [0, Number.POSITIVE_INFINITY]
  for (const stretch of possible.toSorted((a, b) => (ends(a) < ends(b) ? -1 : ends(a) > ends(b) ? 1 : 0))) {
    held += surely(files, stretch, asked)
    until = ends(stretch) + 2 * footerMs
    if (held >= rows) break
  }
  return { stretches: possible.filter((stretch) => begins(stretch) <= until), until }
}

/**
 * Row groups of the files of a view, and those in the chosen ones that can hold a row which is needed, as the engine tells
 * them by their bounds too. Reads footers. Throws as `SliceTimes`.
 */
export async function countRowGroups(
  times: Times,
  files: FileList,
  { wanted, chosen }: { readonly wanted: WantedRows | undefined; readonly chosen: ChosenFiles | undefined },
): Promise<{ readonly all: number; readonly read: number }> {
  const stretchesIn = await knownStretches(times, files)
  const numbers = numbersOf({ from: 0, to: files.length })
  const count = (some: readonly Stretch[]): number => some.reduce((sum, { groups }) => sum + groups, 0)
  const all = count(numbers.flatMap(stretchesIn))
  const found = wanted && termsOf(files.view, wanted)
  if (found === undefined || chosen === undefined) return { all, read: all }
  const terms = { ...found, ...chosen.within }
  const within = new Set(withOffsets(files, terms.offsets))
  const known = chosen.numbers.filter((number) => within.has(number)).flatMap(stretchesIn)
  const groups = await groupStretches(times, files, known)
  return { all, read: count(groups.filter((group) => mayMeet(group, terms))) }
}
