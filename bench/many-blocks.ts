// A dataset of 5,000 blocks of one row each (or `--blocks=10000`), made by the builder from a log, then served by a
// fresh node, which is killed and started again. None of it is packed: a builder does that an hour later. Its memory is
// held against that of a node with a dataset of one block that was asked the same.

import { setTimeout as sleep } from 'node:timers/promises'
import { buildBacklog } from './backlog.ts'
import { type BenchNode, makeDataDir, startBenchNode, treeMiB } from './machine.ts'
import { type Measure, median, timeMs } from './measure.ts'

const blocks = Number(process.argv.find((arg) => arg.startsWith('--blocks='))?.slice('--blocks='.length) ?? 5_000)
/** Start to ready: a fixed part, and room for heads and logs to be read. */
const mostReadyMs = blocks > 5_000 ? 5_000 : 3_000
/** The first tail reads the chain: 1 s for 3,000 blocks. */
const mostFirstMs = Math.max(1_000, blocks / 3)
const alias = 'acme/long'
/** By then files are merged, and processes at rest have given back what they can. */
const settleMs = 20_000

export async function measureManyBlocks(): Promise<Measure[]> {
  const [data, short] = [makeDataDir(), makeDataDir()]
  const builtMs = await timeMs(() => buildBacklog(data, [{ alias, blocks }]))
  await buildBacklog(short, [{ alias, blocks: 1 }])
  const ready: number[] = []
  const firstMs: number[] = []
  for (let i = 0; i < 3; i++) {
    const again = await startBenchNode({}, { data })
    ready.push(again.readyMs)
    firstMs.push(await timeMs(() => tailOf(again, 100)))
    await again.kill()
  }
  const beside = await startBenchNode({}, { data: short })
  const shortMiB = await askedMiB(beside)
  await beside.remove()
  const node = await startBenchNode({}, { data })
  const longMiB = await askedMiB(node)
  const tail = await p50(() => tailOf(node, 10))
  const [one, hundred] = [await p50(() => tailOf(node, 1)), await p50(() => tailOf(node, 100))]
  const metadata = await p50(async () => await (await node.call(`/${alias}/metadata`)).text())
  const firstCountMs = await timeMs(() => node.query(`SELECT count(*) FROM "${alias}"`))
  const countMs = await p50(() => node.query(`SELECT count(*) FROM "${alias}"`))
  await node.remove()
  const over = `over ${blocks.toLocaleString('en')} blocks`
  return [
    { name: 'one-row blocks built from a backlog', value: (blocks / builtMs) * 1000, unit: 'blocks/s' },
    { name: `killed to ready ${over}`, value: median(ready), unit: 'ms', bar: { most: mostReadyMs } },
    { name: `first tail after a restart ${over}`, value: median(firstMs), unit: 'ms', bar: { most: mostFirstMs } },
    { name: `memory ${over}, above one block`, value: longMiB - shortMiB, unit: 'MiB', bar: { most: 64 } },
    { name: `tail ${over}`, value: tail, unit: 'ms', bar: { most: 50 } },
    { name: `tail of 100 blocks above that of one ${over}`, value: hundred - one, unit: 'ms', bar: { most: 20 } },
    { name: `metadata ${over}`, value: metadata, unit: 'ms', bar: { most: 50 } },
    { name: `first count(*) ${over}`, value: firstCountMs, unit: 'ms' },
    { name: `count(*) ${over}`, value: countMs, unit: 'ms', bar: { most: 1000 } },
  ]
}

async function tailOf(node: BenchNode, limit: number): Promise<void> {
  await (await node.call(`/${alias}/tail?limit=${limit}`)).text()
}

/** Memory of all processes of a node that has answered tails, whole scans and proofs, before its files were merged and after. */
async function askedMiB(node: BenchNode): Promise<number> {
  const grouped = `SELECT city, count(*) AS c, sum(n) AS s FROM "${alias}" GROUP BY city ORDER BY city`
  for (let round = 0; round < 2; round++) {
    await p50(() => tailOf(node, 100))
    await p50(() => node.query(`SELECT count(*) AS c FROM "${alias}" WHERE n > 5`))
    await p50(() => node.query(grouped, { include: ['Proof'] }))
    await sleep(settleMs)
  }
  return treeMiB(node.pid)
}

async function p50(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 15; i++) times.push(await timeMs(work))
  return median(times)
}
