// Row groups that are left out never show: over random rows in random row groups, loose and merged, the first rows by event
// time over what is chosen are those over all.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { FileList } from '../../../src/node/files/file-list.ts'
import type { Interval } from '../../../src/node/files/row-terms.ts'
import { rowBounds, chooseFiles } from '../../../src/node/files/choose-files.ts'
import { asking, listOf, useBench, writeSlice } from '../engine/helpers.ts'
import { sliceView } from '../../helpers/slice-chain.ts'
import { baseMs, compared, is, runs, schema, type Slices, timesOf, timeText, window } from './chosen-rows.ts'

const bench = useBench({ queryMs: 60_000 })

/** Rows of many times and few, some of none, in slices of up to six row groups. */
const groupedSlices: fc.Arbitrary<Slices> = fc
  .tuple(fc.constantFrom(1, 4, 9), fc.constantFrom(0, 0, 0, 40), fc.boolean())
  .chain(([ties, untimed, isTurned]) =>
    fc
      .array(fc.array(fc.record({ late: fc.nat(9), none: fc.nat(99) }), { minLength: 1, maxLength: 12 }), {
        minLength: 1,
        maxLength: 4,
      })
      .map((slices) => {
        let row = 0
        const timeOf = (late: number): number =>
          Math.floor((row++ - (late > 7 ? late : 0)) / ties) * (isTurned ? -1 : 1)
        return slices.map((rows) => rows.map(({ late, none }) => (none < untimed ? null : timeOf(late))))
      }),
  )

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
    ['order by event_time limit 1', 1e15, [0], undefined],
    ['where offset >= 3 order by event_time limit 4', 0, [0], [-Infinity, at(420) + 2]],
    ['where offset < 12 order by event_time desc limit 3', 0, [0, 1], [at(480) - 2, Infinity]],
    ["where event_time < '2026-01-01 00:05:00' order by event_time desc limit 2", 0, [0], [at(0) - 2, at(300)]],
    ["where event_time < '2026-01-01 00:09:00' order by event_time desc limit 2", 0, [0], [at(240) - 2, at(540)]],
    ['where k = 3 order by event_time limit 1', 0, undefined, undefined],
  ])('%s', async (rest, laterMs, numbers, times) => {
    const { narrowing } = await bench.engine.analyze(`select * from "a/t" ${rest}`, asking())
    const wanted = { narrowing: must(narrowing, 'it says something'), parameters: [], skip: 0, limit: 1000 }
    const later = minutes.map((one) => one.map((second) => second + laterMs / 1000))
    const chosen = await chooseFiles(timesOf(later, 4), new FileList(sliceView(schema, [12, 8])), wanted)
    const bounds = chosen?.within && rowBounds(sliceView(schema, [12, 8]), chosen.within)
    const expected = (times ?? []).flatMap((value, end) => {
      const name = `CAST("event_time" AS TIMESTAMPTZ) ${end === 0 ? '>=' : '<='}`
      return Number.isFinite(value) ? [[name, `CAST(epoch_ms(${value}) AS TIMESTAMPTZ)`]] : []
    })
    expect([chosen?.numbers, bounds ?? []]).toEqual([numbers, expected])
  })

  it.each(['DATE', 'TIMESTAMP', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ'])(
    'has the rows that are within times: %s',
    async (type) => {
      const times = [
        '1700-01-01',
        '2025-12-31',
        '2026-01-01',
        '2026-01-02',
        '2199-12-31',
        null,
        '-infinity',
        'infinity',
      ]
      const known = times.slice(0, type === 'TIMESTAMP_NS' ? 6 : 8).map((one) => (one === null ? 'NULL' : `'${one}'`))
      const select =
        `SELECT o::BIGINT AS "offset", 0::INT AS op, TIMESTAMPTZ '2026-01-01' AS system_time, ` +
        `t::${type} AS event_time, o AS k, '' AS g FROM (VALUES ${known.map((one, o) => `(${o}, ${one})`).join(', ')}) v(o, t)`
      const path = await writeSlice(bench, type, select)
      const sql = 'select "offset" from "a/t" order by "offset"'
      const analysis = await bench.engine.analyze(sql, asking())
      const view = sliceView(schema, [8])
      const rowsWithin = async (within: Interval): Promise<unknown> => {
        const files = { ...listOf([path]), only: [0] }
        const bounds = rowBounds(view, { times: within })
        const table = { parts: ['a/t'], dataset: 'a/t', files, schema, bounds }
        const how = { dataFormat: 'JsonAoa', wantSchema: false, keyOrder: 'column', ascii: true } as const
        const job = { analysis, tables: [table], reproducible: true, skip: 0, limit: 100, ...how }
        const { data } = await bench.engine.run(job, asking())
        return (JSON.parse(Buffer.from(data).toString()) as unknown[]).flat()
      }
      const later = type === 'TIMESTAMP_NS' ? [] : [7]
      const earlier = type === 'TIMESTAMP_NS' ? [] : [6]
      expect(await rowsWithin([baseMs, Infinity])).toEqual([2, 3, 4, ...later])
      expect(await rowsWithin([-Infinity, baseMs])).toEqual([0, 1, 2, ...earlier])
      expect(await rowsWithin([baseMs - 86_400_000, baseMs])).toEqual([1, 2])
      expect(await rowsWithin([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])).toHaveLength(known.length)
    },
  )

  it('has all rows where some have no time', async () => {
    const untimed = minutes.map((one) => [...one, null])
    for (const nulls of ['', ' nulls first', ' desc nulls last']) {
      const { narrowing } = await bench.engine.analyze(
        `select * from "a/t" order by event_time${nulls} limit 1`,
        asking(),
      )
      const wanted = { narrowing: must(narrowing, 'it says something'), parameters: [], skip: 0, limit: 1000 }
      const view = sliceView(schema, [13, 9])
      expect(await chooseFiles(timesOf(untimed, 4), new FileList(view), wanted)).toBeUndefined()
    }
  })
})
