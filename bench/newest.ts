// Statements that need few rows of many: the newest 100 of four million, and the last hour of a year that lies in a block
// an hour. Answers are computed each time.

import { baseMs } from '../test/builder/support.ts'
import { buildBacklog } from './backlog.ts'
import { makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const hours = 8_760
const rowsPerHour = 60
const blocks = 64
const rowsPerBlock = 62_500
const [year, large] = ['acme/year', 'acme/large']
const warmRuns = 10
const runs = 31

export async function measureNewest(): Promise<Measure[]> {
  const data = makeDataDir()
  await buildBacklog(data, [
    { alias: year, blocks: hours, batches: () => [{ rows: rowsPerHour }] },
    { alias: large, blocks, batches: () => [{ rows: rowsPerBlock }] },
  ])
  const node = await startBenchNode({}, { data })
  // Rows are a millisecond apart.
  const since = new Date(baseMs + (hours - 1) * rowsPerHour).toISOString()
  const statements = {
    'newest 100 of 4 M rows': `SELECT * FROM "${large}" ORDER BY offset DESC LIMIT 100`,
    'newest 100 of 4 M rows by event time': `SELECT * FROM "${large}" ORDER BY event_time DESC LIMIT 100`,
    'last hour of a year': `SELECT * FROM "${year}" WHERE event_time >= '${since}'`,
    'last hour of a year, counted': `SELECT count(*), max(event_time) FROM "${year}" WHERE event_time >= '${since}'`,
  }
  const measures: Measure[] = []
  for (const [name, sql] of Object.entries(statements)) {
    const first = await timeMs(() => node.query(sql))
    for (let run = 0; run < warmRuns; run++) await node.query(sql)
    const times: number[] = []
    for (let run = 0; run < runs; run++) times.push(await timeMs(() => node.query(sql)))
    const most = name.startsWith('newest') ? 50 : 80
    measures.push({ name: `${name}: first`, value: first, unit: 'ms' })
    measures.push({ name, value: median(times), unit: 'ms', bar: { most } })
  }
  await node.remove()
  return measures
}
