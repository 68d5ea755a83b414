// Row groups that are left out never show: over random rows in random row groups, loose and merged, the first rows by event
// time over what is chosen are those over all.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { FileList } from '../../../src/node/files/file-list.ts'
import { rowBounds, chooseFiles } from '../../../src/node/files/choose-files.ts'
import { asking, useBench } from '../engine/helpers.ts'
import { sliceView } from '../../helpers/slice-chain.ts'
import { baseMs, compared, is, runs, schema, type Slices, timesOf, timeText, window } from './chosen-rows.ts'

const bench = useBench({ queryMs: 60_000 })

/** Rows of many times and few, some of none, in slices of up to six row groups. */
const someRows = fc.array(fc.record({ late: fc.nat(9), none: fc.nat(99) }), { minLength: 1, maxLength: 12 })
const groupedSlices: fc.Arbitrary<Slices> = fc
  .tuple(fc.constantFrom(1, 4, -9), fc.constantFrom(0, 0, 0, 40), fc.array(someRows, { minLength: 1, maxLength: 4 }))
  .map(([ties, untimed, slices]) => {
    let row = 0
    const timeOf = (late: number): number => Math.floor((row++ - (late > 7 ? late : 0)) / ties)
    return slices.map((rows) => rows.map(({ late, none }) => (none < untimed ? null : timeOf(late))))
  })

const byTime = fc
  .tuple(
    fc.constantFrom('*', 'k, g', 'k, left(g, 1), event_time::text'),
    fc.array(
      fc.oneof(
        fc.tuple(is, fc.integer({ min: -3, max: 30 })).map(([op, n]) => `offset ${op} ${n}`),
        fc.tuple(is, timeText).map(([op, text]) => `event_time ${op} ${text}`),
        fc.constant('k <> 3'),
      ),
      { maxLength: 2 },
    ),
    fc.constantFrom('', ' desc', ' desc nulls first', ' nulls first', ' desc nulls last'),
    fc.constantFrom('', ', offset', ', offset desc', ', k'),
    window,
  )
  .map(([items, conditions, direction, ties, rows]) => {
    const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
    return `select ${items} from "a/t"${where} order by event_time${direction}${ties}${rows}`
  })

describe('a statement over the row groups that it needs', () => {
  it('answers as over all of them: first rows by event time', async () => {
    let bounded = 0
    await fc.assert(
      fc.asyncProperty(
        groupedSlices,
        byTime,
        fc.record({
          skip: fc.nat(4),
          limit: fc.constantFrom(0, 1, 3, 100),
          groupRows: fc.constantFrom(1, 2, 3),
          merged: fc.constantFrom(0, 0, 2, 3),
        }),
        async (slices, sql, how) => {
          const merged = how.merged < slices.length ? how.merged : 0
          if ((await compared(bench, slices, sql, { ...how, merged }))?.within?.times !== undefined) bounded++
        },
      ),
      { numRuns: 3 * runs.numRuns },
    )
    expect(bounded).toBeGreaterThan(runs.numRuns / 2)
  })

  const minutes = [Array.from({ length: 12 }, (_, at) => 60 * at), [720, 720, 780, 780, 790, 900, 4_000, 4_060]]
  const at = (seconds: number): number => baseMs + seconds * 1000
  it.each([
    ['order by event_time limit 4', 0, [0], [-Infinity, at(180) + 2]],
    ['order by event_time limit 5', 0, [0], [-Infinity, at(420) + 2]],
    ['order by event_time limit 13', 0, [0, 1], [-Infinity, at(780) + 2]],
    ['order by event_time desc limit 4', 0, [1], [at(790) - 2, Infinity]],
    ['order by event_time desc limit 5', 0, [1], undefined],
    ['order by event_time limit 1', 1e12, [0], [-Infinity, at(1e12 + 180) + 2]],
    ['where offset >= 3 order by event_time limit 4', 0, [0], [-Infinity, at(420) + 2]],
    ['where offset < 12 order by event_time desc limit 3', 0, [0, 1], [at(480) - 2, Infinity]],
    ["where event_time < '2026-01-01 00:05:00' order by event_time desc limit 2", 0, [0], [at(0) - 2, at(300)]],
    ["where event_time < '2026-01-01 00:09:00' order by event_time desc limit 2", 0, [0], [at(240) - 2, at(540)]],
    ['where k = 3 order by event_time limit 1', 0, undefined, undefined],
  ])('%s', async (rest, later, numbers, times) => {
    const { narrowing } = await bench.engine.analyze(`select * from "a/t" ${rest}`, asking())
    const wanted = { narrowing: must(narrowing, 'it says something'), parameters: [], skip: 0, limit: 1000 }
    const moved = minutes.map((one) => one.map((second) => second + later))
    const chosen = await chooseFiles(timesOf(moved, 4), new FileList(sliceView(schema, [12, 8])), wanted)
    expect([chosen?.numbers, chosen?.within?.times]).toEqual([numbers, times])
  })

  it.each(['DATE', 'TIMESTAMP', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ'])(
    'has the rows of times: %s',
    async (type) => {
      const days = ["'1700-01-01'", "'2025-12-31'", "'2026-01-01'", "'2199-12-31'", 'NULL', "'-infinity'", "'infinity'"]
      const rows = days.map((day, row) => `(${row}, ${day}::${type})`).join(', ')
      const rowsWithin = async (...times: [number, number]): Promise<string> => {
        const where = rowBounds(sliceView(schema, [7]), { times }).map((bound) => bound.join(' '))
        const sql = `SELECT string_agg(o, ' ' ORDER BY o) FROM (VALUES ${rows}) v(o, event_time) WHERE true`
        return String((await (await bench.trusted.run([sql, ...where].join(' AND '))).getRows())[0]?.[0])
      }
      expect(await rowsWithin(baseMs, Infinity)).toBe('2 3 6')
      expect(await rowsWithin(-Infinity, baseMs)).toBe('0 1 2 5')
      expect(await rowsWithin(baseMs - 86_400_000, baseMs)).toBe('1 2')
      expect(await rowsWithin(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toBe('0 1 2 3 4 5 6')
    },
  )

  it.each(['', ' nulls first', ' desc nulls last'])('has all rows where some have no time: %s', async (nulls) => {
    const { narrowing } = await bench.engine.analyze(
      `select * from "a/t" order by event_time${nulls} limit 1`,
      asking(),
    )
    const wanted = { narrowing: must(narrowing, 'it says something'), parameters: [], skip: 0, limit: 1000 }
    const untimed = timesOf(
      minutes.map((one) => [...one, null]),
      4,
    )
    expect(await chooseFiles(untimed, new FileList(sliceView(schema, [13, 9])), wanted)).toBeUndefined()
  })
})
