// Maps over a million points: the index of where rows lie, made on first use; pages by a box of a thousandth of the
// points; tiles; what the event loop notices.

import { type BenchNode, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const points = 1_000_000
const perPost = 250_000
const runs = 9
const items = '/ogc/collections/acme:points/items'

export async function measureFeatures(): Promise<Measure[]> {
  const node = await startBenchNode()
  for (let from = 0; from < points; from += perPost) {
    const headers = { 'content-type': 'application/x-ndgeojson', prefer: 'wait=30' }
    const path = '/acme/points/ingest?create=true'
    const posted = await node.call(path, { method: 'POST', headers, body: body(from) })
    if (posted.status !== 200) throw new Error(await posted.text())
  }
  // The engine's process is up, and has met the slices.
  await got(node, `${items}?limit=1`)
  // A box of a thousandth of the globe's degrees.
  const box = (i: number): string => `bbox=${i},48,${i + 11.4},53.7`
  const first = await timeMs(async () => await got(node, `${items}?${box(-50)}`))
  const warm = await times(async (i) => await got(node, `${items}?${box(i)}`))
  const whole = await times(async (i) => await got(node, `${items}?${box(i)}&limit=2000`))
  const tile = await times(async (i) => await got(node, `/ogc/collections/acme:points/tiles/3/${i % 8}/3.mvt`))
  const plain = await times(async (i) => await got(node, `${items}?limit=1000&offset=${i * 100_000}`))
  await node.remove()
  return [
    { name: 'index of 1 M points, and a page', value: first, unit: 'ms', bar: { most: 3000 } },
    { name: 'items?bbox= of 0.1 % of 1 M points, 10 of them', value: warm, unit: 'ms', bar: { most: 60 } },
    { name: 'items?bbox= of 0.1 % of 1 M points, all of them', value: whole, unit: 'ms' },
    { name: 'a tile of some 15,000 points', value: tile, unit: 'ms', bar: { most: 80 } },
    { name: 'items?limit=1000 anywhere in 1 M points', value: plain, unit: 'ms' },
  ]
}

async function times(work: (run: number) => Promise<void>): Promise<number> {
  const spent: number[] = []
  for (let run = 0; run < runs; run++) spent.push(await timeMs(async () => await work(run)))
  return median(spent)
}

async function got(node: BenchNode, path: string): Promise<void> {
  const answer = await node.call(path)
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Points spread evenly, in no order. */
function body(from: number): string {
  const lines: string[] = []
  for (let i = from; i < from + perPost; i++) {
    const x = ((i * 2_654_435.761) % 360) - 180
    const y = ((i * 40_503.997_3) % 180) - 90
    lines.push(
      `{"type":"Feature","geometry":{"type":"Point","coordinates":[${x.toFixed(6)},${y.toFixed(6)}]},"properties":{"name":"p${i}","k":${i % 100}}}\n`,
    )
  }
  return lines.join('')
}
