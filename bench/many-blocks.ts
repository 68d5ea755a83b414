// A dataset of 5,000 blocks of one row each (or `--blocks=10000`), made by the builder from a log, then served by a
// fresh node, which is killed and started again.

import { buildBacklog } from './backlog.ts'
import { makeDataDir, startBenchNode } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const blocks = Number(process.argv.find((arg) => arg.startsWith('--blocks='))?.slice('--blocks='.length) ?? 5_000)
/** Start to ready: a fixed part, and room for heads and logs to be read. */
const mostReadyMs = blocks > 5_000 ? 5_000 : 3_000
const alias = 'acme/long'

export async function measureManyBlocks(): Promise<Measure[]> {
  const data = makeDataDir()
  const builtMs = await timeMs(() => buildBacklog(data, [{ alias, blocks }]))
  const ready: number[] = []
  for (let i = 0; i < 3; i++) {
    const again = await startBenchNode({}, { data })
    ready.push(again.readyMs)
    await again.kill()
  }
  const node = await startBenchNode({}, { data })
  const firstMs = await timeMs(() => node.call(`/${alias}/tail`))
  const p50 = async (work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let i = 0; i < 15; i++) times.push(await timeMs(work))
    return median(times)
  }
  const tail = await p50(async () => await (await node.call(`/${alias}/tail?limit=10`)).text())
  const metadata = await p50(async () => await (await node.call(`/${alias}/metadata`)).text())
  const firstCountMs = await timeMs(() => node.query(`SELECT count(*) FROM "${alias}"`))
  const countMs = await p50(() => node.query(`SELECT count(*) FROM "${alias}"`))
  await node.remove()
  const over = `over ${blocks.toLocaleString('en')} blocks`
  return [
    { name: 'one-row blocks built from a backlog', value: (blocks / builtMs) * 1000, unit: 'blocks/s' },
    { name: `killed to ready ${over}`, value: median(ready), unit: 'ms', bar: { most: mostReadyMs } },
    { name: `first touch ${over}`, value: firstMs, unit: 'ms' },
    { name: `tail ${over}`, value: tail, unit: 'ms', bar: { most: 50 } },
    { name: `metadata ${over}`, value: metadata, unit: 'ms', bar: { most: 50 } },
    { name: `first count(*) ${over}`, value: firstCountMs, unit: 'ms' },
    { name: `count(*) ${over}`, value: countMs, unit: 'ms', bar: { most: 1000 } },
  ]
}
