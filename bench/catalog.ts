// What it costs to follow long chains: memory for a million blocks, how long the loop is held by the first touch of one,
// and that the length of a chain does not show in the answers about its end.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Catalog } from '../src/node/catalog/catalog.ts'
import { limitTable } from '../src/libraries/base/limits.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../src/node/log/announcements.ts'
import type { ObjectStore } from '../src/node/store/object-store.ts'
import { openMemoryStore } from '../test/adapters/memory-store.ts'
import { datasetId } from '../test/node/builder/support.ts'
import { chainObjects, keyIn, nameObject } from '../test/helpers/long-chain.ts'
import { buildBacklog } from './backlog.ts'
import { makeDataDir, startBenchNode, watch } from './machine.ts'
import { compareMs, type Measure, timeMs } from './measure.ts'

const MiB = 2 ** 20
const datasets = 100
const blocksEach = 10_000

export async function measureCatalog(): Promise<Measure[]> {
  return [...(await measureMillion()), ...(await measureLengths())]
}

/** A million blocks: a hundred datasets, all with the blocks of one chain, which lie in memory once. */
async function measureMillion(): Promise<Measure[]> {
  const store = await sharedStore()
  const before = usedBytes()
  const announcements = openLocalAnnouncements(silentLogger)
  const bytesMost = limitTable.catalogBytes.value
  const catalog = new Catalog({ store, announcements, logger: silentLogger, bytesMost })
  let blocks = 0
  const readMs = await timeMs(async () => {
    for (let i = 0; i < datasets; i++) blocks += (await catalog.byAlias(`lab/${i}`))?.blocks.length ?? 0
  })
  const grownMiB = (usedBytes() - before) / MiB
  const held = Array.from({ length: datasets }, (_, i) => catalog.known(`lab/${i}`)).filter((one) => one !== undefined)
  const heldBlocks = held.reduce((sum, chain) => sum + chain.blocks.length, 0)
  catalog.close()
  return [
    { name: 'blocks of 100 datasets that are followed', value: heldBlocks, unit: 'blocks', bar: { least: 1_000_000 } },
    { name: 'memory that they take', value: grownMiB, unit: 'MiB', bar: { most: 256 } },
    { name: 'the same of one block', value: (grownMiB * MiB) / heldBlocks, unit: 'bytes' },
    { name: 'reading a chain from memory', value: (readMs * 1000) / blocks, unit: 'µs/block' },
  ]
}

async function sharedStore(): Promise<ObjectStore> {
  const model = datasetId('0')
  const names = openMemoryStore()
  const chain = openMemoryStore()
  for (const { key, bytes } of chainObjects({ dataset: model, blocks: blocksEach })) await chain.put(key, bytes)
  for (let i = 0; i < datasets; i++) {
    const { key, bytes } = nameObject(datasetId(String(i)), `lab/${i}`)
    await names.put(key, bytes)
  }
  const get: ObjectStore['get'] = (key) => (key.startsWith('datasets/') ? chain.get(keyIn(model, key)) : names.get(key))
  const list: ObjectStore['list'] = (prefix) =>
    prefix.startsWith('datasets/') ? chain.list(keyIn(model, prefix)) : names.list(prefix)
  return { ...names, get, list }
}

/** Memory in use, after all garbage was collected. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // what the flag exposes
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The end of a chain of 10,000 blocks beside that of one of 100. */
async function measureLengths(): Promise<Measure[]> {
  const data = makeDataDir()
  const [long, short] = ['acme/long', 'acme/short']
  await buildBacklog(data, [
    { alias: long, blocks: blocksEach },
    { alias: short, blocks: 100 },
  ])
  const node = await startBenchNode({}, { data })
  const ask = async (path: string): Promise<string> => (await node.call(path)).text()
  await ask(`/${short}/tail`)
  let firstMs = 0
  const { heldMs } = await watch(node, async () => {
    firstMs = await timeMs(() => ask(`/${long}/metadata`))
  })
  const measures: Measure[] = [
    { name: 'first touch of 10,000 blocks', value: firstMs, unit: 'ms' },
    { name: 'the loop is held meanwhile at a time', value: heldMs, unit: 'ms', bar: { most: 100 } },
  ]
  for (const what of ['tail?limit=10', 'metadata', 'blocks?limit=10', 'refs/head']) {
    const times = await compareMs(
      50,
      () => ask(`/${long}/${what}`),
      () => ask(`/${short}/${what}`),
    )
    const name = `${what} of 10,000 blocks beside 100`
    measures.push({ name, value: times.first / times.second, unit: 'times', bar: { most: 2 } })
  }
  await node.remove()
  return measures
}
