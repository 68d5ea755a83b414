// Which slices of a dataset are merged into one file: a pure function of their sizes, so that a chain that grows only adds
// ranges, or joins sixteen to one (docs/decisions/packs.md#merged-files has the rules and why).

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { SliceRun } from './file-list.ts'

/** Slices of the smallest full range; statements over fewer read them as they are. */
export const rangeSlices = 256
/** Ranges that are joined to one of the next level. */
const fanIn = 16
/** A slice of this size stays as it is: an engine opens it as fast as it would a part of a file. */
const largeSliceBytes = 4 * 1024 * 1024
/** Bytes of the slices of one range, and rows: a merge holds them in memory. */
const rangeBytes = 32 * 1024 * 1024
const rangeRows = 2 ** 21

interface SliceSize {
  /** First and last offset. */
  readonly start: number
  readonly end: number
  readonly sizeBytes: number
}

/** The ranges of 256 slices, and what joining them takes. */
export interface RangeWindow {
  readonly ranges: readonly SliceRun[]
  readonly bytes: number
  readonly rows: number
}

/** The window of the slices from `from` on: one range, or where they are too large, halves of it that are not. */
export function windowOf(slices: readonly SliceSize[], from: number): RangeWindow {
  const bytes = slices.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const rows = slices.reduce((sum, { start, end }) => sum + end + 1 - start, 0)
  const hasLarge = slices.some(({ sizeBytes }) => sizeBytes >= largeSliceBytes)
  if (!hasLarge && fits({ bytes, rows })) return { ranges: [{ from, to: from + slices.length }], bytes, rows }
  if (slices.length <= 2) return { ranges: [], bytes, rows }
  const middle = slices.length / 2
  const halves = [windowOf(slices.slice(0, middle), from), windowOf(slices.slice(middle), from + middle)]
  return { ranges: halves.flatMap(({ ranges }) => ranges), bytes, rows }
}

/**
 * The ranges of a dataset whose full windows these are, in order: sixteen neighbours that begin at a multiple of sixteen are
 * one, and sixteen of those, as long as they fit. `isRefused` names ranges that could not be made: their parts may be.
 */
export function rangesOf(windows: readonly RangeWindow[], isRefused: (run: SliceRun) => boolean): SliceRun[] {
  let level = windows
  for (let span = fanIn; span <= windows.length; span *= fanIn) {
    level = Array.from({ length: Math.ceil(level.length / fanIn) }, (_, at) => {
      return joined(level.slice(at * fanIn, (at + 1) * fanIn), isRefused)
    })
  }
  return level.flatMap(({ ranges }) => ranges).filter((run) => !isRefused(run))
}

function joined(parts: readonly RangeWindow[], isRefused: (run: SliceRun) => boolean): RangeWindow {
  const sum = {
    bytes: parts.reduce((total, { bytes }) => total + bytes, 0),
    rows: parts.reduce((total, { rows }) => total + rows, 0),
  }
  const ranges = parts.flatMap((part) => part.ranges)
  const run = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? 0 }
  const slices = ranges.reduce((total, { from, to }) => total + to - from, 0)
  const areWhole = parts.length === fanIn && ranges.length === fanIn && slices === run.to - run.from
  return { ...sum, ranges: areWhole && fits(sum) && !isRefused(run) ? [run] : ranges }
}

/** Whether some snapshot's files may have one of exactly these slices: which need not be believed of the caller. */
export function isRange(slices: Pick<DatasetView['slices'], 'length' | 'slice'>, { from, to }: SliceRun): boolean {
  const [first, end] = [Math.floor(from / rangeSlices) * rangeSlices, Math.ceil(to / rangeSlices) * rangeSlices]
  if (!(from < to && end <= slices.length && first % (end - first) === 0)) return false
  const windows: RangeWindow[] = []
  for (let at = first; at < end; at += rangeSlices) windows.push(windowOf(slices.slice(at, at + rangeSlices), at))
  return rangesOf(windows, () => false).some((run) => run.from === from && run.to === to)
}

function fits({ bytes, rows }: Pick<RangeWindow, 'bytes' | 'rows'>): boolean {
  return bytes <= rangeBytes && rows <= rangeRows
}
