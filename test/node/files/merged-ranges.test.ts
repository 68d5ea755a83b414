// Which slices are merged: ranges that follow from sizes alone, bounded, few, and never in one another's way.

import { describe, expect, it } from 'vitest'
import type { SliceRun } from '../../../src/node/files/file-list.ts'
import { isRange, rangeSlices, rangesOf, type RangeWindow, windowOf } from '../../../src/node/files/merged-ranges.ts'

function windowsOf(sizes: readonly number[], rows = 60): RangeWindow[] {
  return Array.from({ length: Math.floor(sizes.length / rangeSlices) }, (_, window) => {
    const from = window * rangeSlices
    const slices = sizes.slice(from, from + rangeSlices).map((sizeBytes, at) => {
      return { start: (from + at) * rows, end: (from + at + 1) * rows - 1, sizeBytes }
    })
    return windowOf(slices, from)
  })
}

const plan = (sizes: readonly number[], rows?: number, refused: readonly SliceRun[] = []): SliceRun[] =>
  rangesOf(windowsOf(sizes, rows), ({ from, to }) => refused.some((run) => run.from === from && run.to === to))
const even = (slices: number, sizeBytes: number): number[] => Array.from({ length: slices }, () => sizeBytes)
const MiB = 1024 * 1024

const slicesOf = (sizes: readonly number[], rows = 60) =>
  sizes.map((sizeBytes, at) => ({ start: at * rows, end: (at + 1) * rows - 1, sizeBytes, sequence: at, hash: '' }))

describe('the ranges of a dataset', () => {
  it('are told from runs that no snapshot has as one, whatever the dataset has grown to', () => {
    const sizes = even(9000, 1000).with(5000, 4 * MiB)
    const slices = slicesOf(sizes)
    const named = [600, 4096, 4500, 8192, 9000].flatMap((end) => plan(sizes.slice(0, end)))
    expect(named.length).toBeGreaterThan(40)
    for (const run of named) expect([run, isRange(slices, run)]).toEqual([run, true])
    const others = [
      { from: 0, to: 0 },
      { from: 0, to: 200 },
      { from: 1, to: 257 },
      { from: 0, to: 512 },
      { from: 256, to: 4352 },
      { from: 4096, to: 8192 },
      { from: 4992, to: 5002 },
      { from: 8960, to: 9216 },
      { from: 0, to: 65_536 },
    ]
    for (const run of others) expect([run, isRange(slices, run)]).toEqual([run, false])
  })

  it('are some hundred for a year of a block a minute', () => {
    const ranges = plan(even(500_000, 4500))
    expect([ranges.length, ranges[0], ranges.at(-1)]).toEqual([
      123 + 0,
      { from: 0, to: 4096 },
      { from: 499_712, to: 499_968 },
    ])
  })

  it('are full ones alone, and join sixteen to one', () => {
    expect(plan(even(255, 1000))).toEqual([])
    expect(plan(even(600, 1000))).toEqual([
      { from: 0, to: 256 },
      { from: 256, to: 512 },
    ])
    expect(plan(even(4096, 1000))).toEqual([{ from: 0, to: 4096 }])
    expect(plan(even(65_536, 100), 1)).toEqual([{ from: 0, to: 65_536 }])
  })

  it('hold at most 32 MiB, and two million rows', () => {
    expect(plan(even(512, MiB)).map(({ from, to }) => to - from)).toEqual(Array.from({ length: 16 }, () => 32))
    expect(plan(even(4096, 1000), 1000).length).toBe(16)
    expect(plan(even(256, 17 * MiB))).toEqual([])
  })

  it('leave large slices as they are', () => {
    const sizes = even(256, 1000)
    sizes[100] = 4 * MiB
    const ranges = plan(sizes)
    expect(ranges.some(({ from, to }) => from <= 100 && 100 < to)).toBe(false)
    expect(ranges.reduce((sum, { from, to }) => sum + to - from, 0)).toBeGreaterThanOrEqual(254)
  })

  it('fall back to their parts where one was refused, and then to slices', () => {
    const all = { from: 0, to: 4096 }
    const parts = plan(even(4096, 1000), 60, [all])
    expect([parts.length, parts[3]]).toEqual([16, { from: 768, to: 1024 }])
    expect(plan(even(4096, 1000), 60, [all, { from: 768, to: 1024 }]).length).toBe(15)
  })
})
