// The files that a view is made of: all of a dataset up to its block, or those of them that can hold a row which the
// statement needs (libraries/sql/narrowing.ts reads that from its tree). Leaving a file out never changes an answer: what each
// row left out would have met is known, and cannot fail (docs/decisions/query-engine.md#files-that-a-statement-reads).

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import type { EngineFiles, EngineTable, OpenedFiles } from '../engine/messages.ts'
import { must } from '../../libraries/base/assert.ts'
import type { GroupTimes } from '../../libraries/columnar/parquet/time-range.ts'
import type { SliceFiles } from './slice-files.ts'
import { type FileList, type MergedFile, numbersOf, type SliceRun } from './file-list.ts'
import { columnKind, type Interval, type Terms, termsOf, type WantedRows } from './row-terms.ts'
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

/** Files of a view, ascending, at least one, and which of their rows matter. */
export interface ChosenFiles extends Pick<EngineTable, 'leastOffset' | 'mostOffset'> {
  readonly numbers: readonly number[]
}

/** The files that can hold a row which is needed; undefined for all of them. Throws as `SliceTimes`. */
export async function chooseFiles(
  times: Pick<SliceTimes, 'of'>,
  files: FileList,
  wanted: WantedRows,
): Promise<ChosenFiles | undefined> {
  if (files.length === 0 || files.view.schema === undefined) return undefined
  const terms = termsOf(files.view, wanted)
  if (terms === undefined) return undefined
  const { first, conditions } = wanted.narrowing
  const { newest } = wanted
  const [leastOffset, mostOffset] = terms.offsets
  const bounds = terms.isWindow ? { leastOffset, mostOffset } : newest && { leastOffset: files.view.rows - newest }
  const chosen =
    first === undefined || conditions.length > 0
      ? { numbers: await matching(times, files, terms), ...bounds }
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

/** Footers cut finer units off: a millisecond on either side. */
const footerMs = 1

async function matching(times: Pick<SliceTimes, 'of'>, files: FileList, terms: Terms): Promise<number[]> {
  const [least, most] = terms.offsets
  const from = least <= 0 ? 0 : numberFrom(files, least)
  const to = most < 0 ? 0 : Math.min(files.length, numberFrom(files, most) + 1)
  const numbers = numbersOf({ from, to })
  const [earliest, latest] = terms.times
  const isAnyTime = earliest === Number.NEGATIVE_INFINITY && latest === Number.POSITIVE_INFINITY
  if (isAnyTime) return numbers
  const factsOf = await factsOfFiles(times, files)
  return numbers.filter((number) => {
    const { merged } = files.placeOf(number)
    if (merged !== undefined) return groupsOf(files.view, merged, terms).length > 0
    return factsOf === undefined || isWithin(factsOf(number), terms.times)
  })
}

/** Row groups of a file that can hold a row which is needed. */
function groupsOf(
  view: DatasetView,
  { from, groups }: Pick<MergedFile, 'from' | 'groups'>,
  terms: Terms,
): GroupTimes[] {
  const [least, most] = terms.offsets
  let start = must(view.slices.at(from), 'a slice of the view').start
  return groups.filter((group) => {
    const isIn = start + group.rows > least && start <= most && isWithin(group, terms.times)
    start += group.rows
    return isIn
  })
}

function isWithin({ min, max }: Pick<GroupTimes, 'min' | 'max'>, [earliest, latest]: Interval): boolean {
  return max + footerMs >= earliest && min - footerMs <= latest
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
  { wanted, chosen }: { readonly wanted: WantedRows | undefined; readonly chosen: ChosenFiles | undefined },
): Promise<{ readonly all: number; readonly read: number }> {
  const { view } = files
  const factsOf = await factsOfFiles(times, files)
  const all = numbersOf({ from: 0, to: files.length }).reduce((sum, at) => sum + (factsOf?.(at).groups ?? 0), 0)
  const found = wanted && termsOf(view, wanted)
  if (found === undefined || chosen === undefined) return { all, read: all }
  const least = Math.max(found.offsets[0], chosen.leastOffset ?? 0)
  const terms: Terms = { ...found, offsets: [least, found.offsets[1]] }
  let read = 0
  for (const number of chosen.numbers) {
    const { merged, from } = files.placeOf(number)
    const groups = merged?.groups ?? (await times.groupsOf(view, from))
    read += groupsOf(view, { from, groups }, terms).length
  }
  return { all, read }
}
