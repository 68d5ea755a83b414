// Sorted copies of a node: made behind the readers where a dataset has a layout, read by statements that name its first column
// and may read rows in any order, with the answers of slices; damaged or gone, they are made again.

import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startLiveNode } from '../helpers/live-node.ts'

const root = mkdtempSync(join(tmpdir(), 'proofstream-sorted-'))
afterAll(() => rmSync(root, { recursive: true }))

const alias = 'acme/fleet'
const [posts, rowsPerPost, devices] = [258, 160, 100]
const schema = { fields: ['device:Int32', 'city:String', 'n:Int64', 'x:Float64'].map(fieldOf) }
const layout = { sortBy: ['device', 'event_time'] }

function fieldOf(text: string): { readonly name: string; readonly type: object } {
  const [name = '', kind = ''] = text.split(':')
  return { name, type: { kind: 'Option', inner: { kind } } }
}

const rowOf = (n: number): object => ({
  event_time: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  device: n > 41_200 ? null : (n * 7919) % devices,
  city: `city ${n % 11}`,
  n,
  x: n / 7,
})

/** Statements, and whether sorted copies are read for them, with a proof or without one. */
const questions: readonly (readonly [sql: string, isSorted: boolean])[] = [
  [`select count(*) as c, max(n) as m, min(event_time) as t from "${alias}" where device = 17`, true],
  [`select city, count(*) as c, sum(n) as s from "${alias}" where device between 20 and 22 group by city`, true],
  [`select n, city from "${alias}" where device = 5 order by n desc limit 7`, true],
  [`select n, x from "${alias}" where device = 5 order by offset`, true],
  [`select distinct city from "${alias}" where 3 > device and device >= 0 and city <> 'city 4'`, true],
  [`select count(*) as c from "${alias}" where device = 17 and event_time >= '2026-01-01T11:00:00Z'`, true],
  // They keep the order of offsets, or their answer may hang on it: by a zero of either sign, by sums of floats.
  [`select n, city from "${alias}" where device = 17`, false],
  [`select n from "${alias}" where device = 17 limit 3`, false],
  [`select n, x from "${alias}" where device = 5 order by n desc limit 7`, false],
  [`select avg(x) as a from "${alias}" where device = 17`, false],
  // No condition names the column, or it may fail.
  [`select count(*) as c, sum(n) as s from "${alias}"`, false],
  [`select count(*) as c from "${alias}" where city = 'city 3'`, false],
  [`select count(*) as c from "${alias}" where device = 17 and 100 / n > 1`, false],
  // Few rows by offset, more by device.
  [`select sum(n) as s from "${alias}" where device >= 0 and offset >= 41000`, false],
]

it('answers as over slices, reads few row groups, and makes again what is damaged', async () => {
  const options = { data: join(root, 'data'), 'cut-wait-age': 1, 'cut-open-age': 1, 'limit-kept-answer-bytes': 0 }
  let live = await startLiveNode({ ...options, 'limit-merged-file-bytes': 0 })
  expect((await live.call(`/${alias}`, { method: 'PUT', json: { schema, layout } })).status).toBe(201)
  for (let post = 0; post < posts; post++) {
    const rows = Array.from({ length: rowsPerPost }, (_, at) => rowOf(post * rowsPerPost + at))
    expect((await live.ingest(alias, rows)).status).toBe(200)
  }
  const answers = async (): Promise<string[]> => {
    const found: string[] = []
    for (const [sql] of questions) {
      for (const include of [['Schema'], ['Proof']]) found.push((await live.query(sql, { include })).text)
    }
    return found
  }
  const scan = async (sql: string, include = ['Proof']): Promise<string> =>
    String((await live.query(sql, { include, explain: true })).headers['query-scan'])
  const before = await answers()
  await live.node.stop()

  live = await startLiveNode(options)
  const first = `select count(*) as c from "${alias}" where device = 17`
  await expect.poll(() => scan(first)).toContain('sorted-files-read=1')
  expect(await answers()).toEqual(before)
  for (const [sql, isSorted] of questions) {
    for (const include of [['Proof'], ['Schema']]) {
      expect([sql, (await scan(sql, include)).includes('sorted-files-read=1')]).toEqual([sql, isSorted])
    }
  }
  // Those of the slices that are not merged yet are among them.
  expect(await scan(first)).toMatch(/^files-read=3, files=3, row-groups-read=3, row-groups=7,/)
  expect(await scan(`select count(*) as c from "${alias}" where device > 1000`)).toMatch(
    /^files-read=2, files=3, row-groups-read=2,/,
  )

  const folder = join(root, 'data', 'cache', 'merged')
  const [dataset = ''] = await readdir(folder)
  const files = await readdir(join(folder, dataset))
  const copy = files.find((name) => name.endsWith('.sorted.parquet')) ?? ''
  expect(files.length).toBe(2)
  const bytes = await readFile(join(folder, dataset, copy))
  bytes[1000] = (bytes[1000] ?? 0) ^ 1
  await live.node.stop()
  await writeFile(join(folder, dataset, copy), bytes)
  live = await startLiveNode(options)
  expect(await answers()).toEqual(before)
  await expect.poll(() => scan(first)).toContain('sorted-files-read=1')
  expect(await readdir(join(folder, dataset))).toEqual(files)
  await live.stop()
})
