// What tests of chosen slices share: random times of rows in slices, what footers say of those, and a statement over the chosen
// rows held against the same over all.

import fc from 'fast-check'
import { expect } from 'vitest'
import type { EngineTable } from '../../../src/node/engine/messages.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { Parameter } from '../../../src/libraries/model/parameters.ts'
import { FileList } from '../../../src/node/files/file-list.ts'
import type { GroupTimes } from '../../../src/libraries/columnar/parquet/time-range.ts'
import type { SliceTimes } from '../../../src/node/files/slice-times.ts'
import { rowBounds, type ChosenFiles, chooseFiles } from '../../../src/node/files/choose-files.ts'
import { asking, type Bench, listOf, schemaOf, writeSlice } from '../engine/helpers.ts'
import { sliceView } from '../../helpers/slice-chain.ts'

export const schema = schemaOf({ name: 'k', type: { kind: 'Int64' } }, { name: 'g', type: { kind: 'String' } })
export const baseMs = Date.parse('2026-01-01T00:00:00Z')

/** Times of rows, in seconds after `baseMs`, by slice. */
export type Slices = readonly (readonly (number | null)[])[]

const seconds = fc.integer({ min: -12, max: 45 })
const time = (at: number): string => new Date(baseMs + at * 1000).toISOString().slice(0, 19)
export const timeText = fc
  .tuple(seconds, fc.constantFrom('text', 'zone', 'timestamp', 'timestamptz', 'fraction'))
  .map(([at, form]) => {
    if (form === 'timestamp') return `TIMESTAMP '${time(at).replace('T', ' ')}'`
    if (form === 'timestamptz') return `'${time(at)}Z'::TIMESTAMPTZ`
    return form === 'zone' ? `'${time(at)}+00'` : form === 'fraction' ? `'${time(at)}.000400Z'` : `'${time(at)}'`
  })
export const is = fc.constantFrom('<', '<=', '=', '>=', '>')
export const window = fc
  .tuple(fc.option(fc.nat(12)), fc.nat(5))
  .map(([limit, skip]) => (limit === null ? '' : ` limit ${limit}${skip > 2 ? ` offset ${skip}` : ''}`))

let written = 0

/** The rows as files, one a slice. */
async function write(bench: Omit<Bench, 'close'>, slices: Slices): Promise<string[]> {
  const files: string[] = []
  let offset = 0
  for (const times of slices) {
    const rows = times.map((at, index) => `(${offset + index}, ${at}::BIGINT)`).join(', ')
    const select =
      `SELECT o::BIGINT AS "offset", 0::INT AS op, TIMESTAMPTZ '2026-01-01' AS system_time, ` +
      `(TIMESTAMPTZ '2026-01-01' + to_seconds(s)) AS event_time, (o * 7 % 9)::BIGINT AS k, 'g' || (o % 3) AS g FROM (VALUES ${rows}) v(o, s)`
    files.push(await writeSlice(bench, `v${written++}`, select))
    offset += times.length
  }
  return files
}

function groupOf(times: Slices[number]): GroupTimes {
  const known = times.filter((at) => at !== null).map((at) => baseMs + at * 1000)
  const [min, max] = known.length < times.length ? [-Infinity, Infinity] : [Math.min(...known), Math.max(...known)]
  return { rows: times.length, min, max }
}

function groupsOf(times: Slices[number], rows: number): GroupTimes[] {
  const groups = Array.from({ length: Math.ceil(times.length / rows) }, (_, at) => at * rows)
  return groups.map((from) => groupOf(times.slice(from, from + rows)))
}

/** What footers say of them, in row groups of so many rows. */
export function timesOf(slices: Slices, rows = 100): Pick<SliceTimes, 'of' | 'groupsOf'> {
  const facts = slices.map((times) => ({ ...groupOf(times), groups: groupsOf(times, rows).length }))
  return {
    of: async () => await Promise.resolve((number: number) => must(facts[number], 'a slice')),
    groupsOf: async (_view, number) => await Promise.resolve(groupsOf(must(slices[number], 'a slice'), rows)),
  }
}

/** The same answer over all slices and over those that are chosen; which those are. */
export async function compared(
  bench: Omit<Bench, 'close'>,
  slices: Slices,
  sql: string,
  {
    skip = 0,
    limit = 100,
    parameters = [],
    groupRows,
    merged = 0,
  }: {
    skip?: number
    limit?: number
    parameters?: readonly Parameter[]
    groupRows?: number
    /** So many of the first slices are in one file. */
    merged?: number
  } = {},
): Promise<ChosenFiles | undefined> {
  const paths = await write(bench, slices)
  const view = sliceView(
    schema,
    slices.map(({ length }) => length),
  )
  const analysis = await bench.engine.analyze(sql, asking())
  const { narrowing } = analysis
  const times = timesOf(slices, groupRows)
  const [first, others] = [slices.slice(0, merged), slices.slice(merged)]
  const files = merged === 0 ? slices : [first.flat(), ...others]
  const mergedFile = { from: 0, to: merged, path: '', groups: groupsOf(first.flat(), groupRows ?? 1) }
  const list = new FileList(view, merged === 0 ? [] : [mergedFile])
  const chosen = narrowing && (await chooseFiles(times, list, { narrowing, parameters, skip, limit }))
  if (narrowing === undefined || chosen === undefined) return undefined
  const [all, some] = [listOf(paths), listOf(merged === 0 ? paths : await write(bench, files))]
  for (const reproducible of [true, false]) {
    // Without an order of its own, rows come as they may.
    if (reproducible ? !narrowing.inProofs : !/order by (?:offset|event_time.*, offset)/.test(sql)) continue
    const answers: unknown[] = []
    for (const only of [undefined, chosen]) {
      const table: EngineTable = {
        parts: must(analysis.tables[0], 'a table').parts,
        dataset: 'a/t',
        files: only === undefined ? all : { ...some, only: only.numbers },
        schema,
        ...(only?.within && { bounds: rowBounds(view, only.within) }),
      }
      const job = {
        analysis,
        tables: [table],
        reproducible,
        dataFormat: 'JsonAoa',
        wantSchema: true,
        keyOrder: 'canonical' as const,
        ascii: true,
        skip,
        limit,
        parameters,
      }
      const { data, ...rest } = await bench.engine.run(job, asking())
      answers.push({ data: Buffer.from(data).toString(), ...rest })
    }
    expect([sql, answers[1]]).toEqual([sql, answers[0]])
  }
  return chosen
}

export const runs = { numRuns: Number(process.env['NARROWING_RUNS'] ?? 60) }
