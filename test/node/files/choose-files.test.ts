// Slices that are left out never show: over random rows in random slices, a statement over the chosen ones answers as it
// does over all, with and without a proof's total order.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import type { Parameter } from '../../../src/libraries/model/parameters.ts'
import { FileList } from '../../../src/node/files/file-list.ts'
import { chooseFiles } from '../../../src/node/files/choose-files.ts'
import { asking, useBench } from '../engine/helpers.ts'
import { sliceView } from '../../helpers/slice-chain.ts'
import { compared, is, runs, schema, type Slices, timesOf, timeText, window } from './chosen-rows.ts'

const bench = useBench({ queryMs: 60_000 })

/** Mostly in order, as a stream is, with rows that come late and clocks that are wrong. */
const randomSlices: fc.Arbitrary<Slices> = fc
  .array(fc.array(fc.record({ late: fc.nat(9), wrong: fc.nat(30) }), { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 9,
  })
  .map((slices) => {
    let row = 0
    return slices.map((rows) => rows.map(({ late, wrong }) => (wrong === 0 ? 100 : row++ - (late > 6 ? late : 0))))
  })

const conjunct = fc.oneof(
  fc.tuple(is, fc.integer({ min: -3, max: 40 })).map(([op, n]) => `offset ${op} ${n}`),
  fc.tuple(is, fc.integer({ min: -3, max: 40 })).map(([op, n]) => `${n} ${op} "a/t".offset`),
  fc.tuple(fc.nat(30), fc.nat(30)).map(([a, b]) => `offset between ${a} and ${b}`),
  fc.tuple(is, timeText).map(([op, text]) => `event_time ${op} ${text}`),
  fc.tuple(timeText, timeText).map(([a, b]) => `event_time between ${a} and ${b}`),
  fc.constantFrom('k > 3', "g in ('g1', 'g2')", '(k = 2 or k = 5)', 'g is not null', 'k <> 4.5', 'not k = 1'),
)
const output = fc.constantFrom(
  '*',
  'k, g',
  'count(*)',
  'max(event_time), min(k)',
  'count(*), sum(k)',
  'k, count(*)',
  'distinct g',
)
const order = fc.constantFrom(
  '',
  ' order by offset desc',
  ' order by event_time desc',
  ' order by event_time',
  ' order by offset',
  ' order by k',
)
const filtered = fc
  .tuple(output, fc.array(conjunct, { minLength: 1, maxLength: 3 }), order, window)
  .map(([items, conditions, by, rows]) => {
    const isGrouped = items === 'k, count(*)'
    const isRows = items === '*' || items === 'k, g'
    const ends = isRows ? `${by}${rows}` : isGrouped ? ' group by k' : ''
    return `select ${items} from "a/t" where ${conditions.join(' and ')}${ends}`
  })
const first = fc
  .tuple(fc.constantFrom('*', 'k, g', 'event_time, k as n'), order, window)
  .map(([items, by, rows]) => `select ${items} from "a/t"${by}${rows}`)

const bound = fc.tuple(is, fc.integer({ min: -3, max: 40 })).map(([op, n]) => `offset ${op} ${n}`)
const paged = fc
  .tuple(
    fc.constantFrom('*', 'k, g'),
    fc.array(bound, { minLength: 1, maxLength: 2 }),
    fc.constantFrom('', ' order by offset', ' order by offset desc', ' order by offset, k desc'),
    window,
  )
  .map(([items, bounds, by, rows]) => `select ${items} from "a/t" where ${bounds.join(' and ')}${by}${rows}`)

describe('a statement over the slices that it needs', () => {
  it('answers as over all of them: conditions', async () => {
    let narrowed = 0
    await fc.assert(
      fc.asyncProperty(randomSlices, filtered, fc.constantFrom(2, 100), async (slices, sql, limit) => {
        if ((await compared(bench, slices, sql, { limit })) !== undefined) narrowed++
      }),
      runs,
    )
    expect(narrowed).toBeGreaterThan(runs.numRuns / 5)
  })

  it('answers as over all of them: first rows', async () => {
    let narrowed = 0
    await fc.assert(
      fc.asyncProperty(randomSlices, first, fc.nat(4), fc.constantFrom(1, 3, 100), async (slices, sql, skip, limit) => {
        if ((await compared(bench, slices, sql, { skip, limit })) !== undefined) narrowed++
      }),
      runs,
    )
    expect(narrowed).toBeGreaterThan(runs.numRuns / 10)
  })

  it('answers as over all of them: a page of offsets', async () => {
    let bounded = 0
    await fc.assert(
      fc.asyncProperty(
        randomSlices,
        paged,
        fc.nat(4),
        fc.constantFrom(0, 1, 3, 100),
        async (slices, sql, skip, limit) => {
          if ((await compared(bench, slices, sql, { skip, limit }))?.within?.offsets !== undefined) bounded++
        },
      ),
      runs,
    )
    expect(bounded).toBeGreaterThan(runs.numRuns / 2)
  })
})

describe('the slices', () => {
  const hours = Array.from({ length: 48 }, (_, hour) => [hour * 3600, hour * 3600 + 1800, hour * 3600 + 3599])

  it.each([
    ['select * from "a/t" order by offset desc limit 5', [46, 47]],
    ['select * from "a/t" order by event_time desc limit 3', [47]],
    ['select * from "a/t" order by event_time limit 4', [0, 1, 47]],
    ['select * from "a/t" limit 4', [0, 1, 47]],
    ['select count(*) from "a/t" where event_time >= \'2026-01-02T22:30:00Z\'', [46, 47]],
    [
      "select count(*) from \"a/t\" where event_time > '2026-01-01 02:10:00' and event_time < '2026-01-01 03:10:00'",
      [2, 3, 47],
    ],
    ['select count(*) from "a/t" where offset between 140 and 1000', [46, 47]],
    ['select count(*) from "a/t" where event_time > \'2027-01-01\'', [47]],
    ['select * from "a/t" where offset >= 30 order by offset limit 10', [10, 11, 12, 13, 47]],
    ['select * from "a/t" where offset >= 30 and offset >= 60 limit 2', [20, 47]],
    ['select * from "a/t" where offset < 30 order by offset desc limit 3', [9, 10, 47]],
    ['select * from "a/t" where offset >= 9000000000000000000 limit 3', [47]],
    ['select * from "a/t" where offset >= 135 and k <> 1 order by offset limit 1', [45, 46, 47]],
    ['select * from "a/t" where offset >= 135.5 order by offset limit 1', undefined],
    ['select * from "a/t" order by offset desc', undefined],
    ['select * from "a/t" where event_time > \'yesterday\'', undefined],
    ['select * from "a/t" where event_time > \'2026-02-30\'', undefined],
    ['select * from "a/t" where offset > 140 and g > 3', undefined],
    ['select * from "a/t" where offset > 140 and k > \'3\'', undefined],
    ['select * from "a/t" where offset > 140 and missing = 3', undefined],
  ])('%s', async (sql, expected) => {
    const { narrowing } = await bench.engine.analyze(sql, asking())
    const view = sliceView(
      schema,
      hours.map(({ length }) => length),
    )
    const times = timesOf(hours)
    const wanted = { narrowing: must(narrowing, 'it says something'), parameters: [], skip: 0, limit: 1000 }
    // The last one says which columns there are where a schema came with no slice before it.
    const chosen = await chooseFiles(times, new FileList({ ...view, schemaSequence: view.block.sequence }), wanted)
    expect(chosen?.numbers).toEqual(expected)
  })

  it('are chosen by the values of parameters, of the types that these have', async () => {
    const sql = 'select * from "a/t" where event_time >= $from and offset < $2'
    const at = (text: string, n: Parameter): Parameter[] => [{ name: 'from', type: 'VARCHAR', text }, n]
    const below = (text: string, type: Parameter['type']): Parameter => ({ name: '2', type, text })
    const { narrowing } = await bench.engine.analyze(sql.replace('$2', '$n'), asking())
    const view = sliceView(
      schema,
      hours.map(({ length }) => length),
    )
    const times = timesOf(hours)
    const numbersFor = async (parameters: readonly Parameter[]): Promise<readonly number[] | undefined> => {
      const named = parameters.map((one) => ({ ...one, name: one.name === '2' ? 'N' : one.name }))
      const wanted = { narrowing: must(narrowing, 'it says something'), parameters: named, skip: 0, limit: 10 }
      return (await chooseFiles(times, new FileList(view), wanted))?.numbers
    }
    expect(await numbersFor(at('2026-01-02T21:00:00Z', below('137', 'BIGINT')))).toEqual([45])
    expect(await numbersFor(at('2026-01-02T22:00:00Z', below('1e9', 'DOUBLE')))).toEqual([46, 47])
    expect(await numbersFor(at('2026-01-02T22:00:00Z', below('null', 'NULL')))).toBeUndefined()
    expect(await numbersFor(at('2026-01-02T22:00:00Z', below('5', 'VARCHAR')))).toBeUndefined()
    expect(await numbersFor(at('noon', below('5', 'BIGINT')))).toBeUndefined()
  })
})
