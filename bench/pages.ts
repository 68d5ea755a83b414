// Pages in headless Chromium: from asking for one until something is painted, by the browser's own clock; what the first
// page's scripts weigh. A dataset's page is asked for at a head that did not move, and at one that did.

import { startChromium } from '../test/helpers/chromium.ts'
import { startBenchNode } from './machine.ts'
import { type Measure, quantile } from './measure.ts'
import { ndjsonRows } from './rows.ts'

const posts = 10
const rowsPerPost = 100_000
const loads = 21
const most = 200

export async function measurePages(): Promise<Measure[]> {
  const node = await startBenchNode({}, { tuning: { limits: { keptAnswerBytes: 64 * 2 ** 20 } } })
  for (let i = 0; i < posts; i++) {
    const body = ndjsonRows(i * rowsPerPost, rowsPerPost)
    await node.post('acme/trips', body, { query: '?create=true', prefer: 'wait=60' })
  }
  const browser = await startChromium()
  const page = await browser.page()
  const paintMs = async (path: string, before: (load: number) => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let load = 0; load < loads; load++) {
      await before(load)
      await page.open(node.url + path)
      times.push(Number(await page.evaluate(firstPaint)))
    }
    return quantile(times, 0.75)
  }
  const nothing = async (): Promise<void> => {}
  const oneMore = (load: number): Promise<unknown> =>
    node.post('acme/trips', ndjsonRows(posts * rowsPerPost + load, 1), { prefer: 'wait=60' })
  await page.open(node.url)
  const scriptBytes = Number(await page.evaluate(scripts))
  const list = await paintMs('/', nothing)
  const kept = await paintMs('/acme/trips', nothing)
  const moved = await paintMs('/acme/trips', oneMore)
  await browser.close()
  await node.remove()
  return [
    { name: 'first paint of the datasets, p75', value: list, unit: 'ms', bar: { most } },
    { name: 'first paint of a dataset of a million rows, p75', value: kept, unit: 'ms', bar: { most } },
    { name: 'first paint of it after a new block, p75', value: moved, unit: 'ms' },
    { name: 'scripts of the first page, compressed', value: scriptBytes / 1000, unit: 'kB', bar: { most: 60 } },
  ]
}

const firstPaint = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: 'paint', buffered: true })
})`

const scripts = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
  .reduce((total, { encodedBodySize }) => total + encodedBodySize, 0)`
