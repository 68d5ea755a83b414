// A year of a stream in packs: 500,000 blocks of a dataset, as a builder leaves them that packs and sweeps. Makes the store
// where it is not there yet, packs and sweeps its last day, then opens it as a node does and measures what a chain of that
// length costs.
// Run: node bench/year.ts DIR [BLOCKS]

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { loadDataset } from '../src/node/builder/load-dataset.ts'
import { Catalog } from '../src/node/catalog/catalog.ts'
import { blockPage, Objects } from '../src/node/catalog/objects.ts'
import { Outcomes } from '../src/node/catalog/outcomes.ts'
import { sha3Hash } from '../src/libraries/base/ids/identifiers.ts'
import { must } from '../src/libraries/base/assert.ts'
import { utf8 } from '../src/libraries/base/bytes.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../src/node/log/announcements.ts'
import { NodeError } from '../src/libraries/base/errors.ts'
import { isThere, openStore } from '../src/app/open-storage.ts'
import { followHead, readHead } from '../src/node/store/heads.ts'
import { commitKey, commitsPrefix, dataPaths, logsPrefix } from '../src/node/store/layout.ts'
import { putCommit } from '../src/node/store/records.ts'
import { markSwept, sweepChain } from '../src/node/store/sweep.ts'
import { packChain } from '../src/node/store/write-pack.ts'
import { chainObjects } from '../test/helpers/long-chain.ts'
import { makeYear, yearDataset } from './make-year.ts'

const [dir = '', count = '500000'] = process.argv.slice(2)
const blocks = Number(count)
const dataset = yearDataset
interface Measured {
  readonly what: string
  readonly ms: number
  readonly cpuMs: number
}

async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const cpu = process.cpuUsage()
  const beganMs = performance.now()
  const result = await work()
  const { user, system } = process.cpuUsage(cpu)
  const line: Measured = { what, ms: performance.now() - beganMs, cpuMs: (user + system) / 1000 }
  console.log(
    `${line.what.padEnd(44)} ${line.ms.toFixed(1).padStart(9)} ms  ${line.cpuMs.toFixed(1).padStart(9)} ms CPU`,
  )
  return result
}

const paths = dataPaths(dir)
if (!(await isThere(join(paths.store, logsPrefix)))) {
  await measured(`make ${blocks} blocks`, () => makeYear(dir, 'acme/year', blocks))
}
const store = await openStore(paths.store, 'write')
const files = (): number =>
  readdirSync(paths.store, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length
await measured('pack what is full of the last day', async () => {
  const head = must(await readHead(store, dataset), 'a head')
  console.log(`files with a day of loose copies: ${files()}`)
  await packChain(store, dataset, head.sequence)
})
await markSwept(store)
await measured('sweep it', () => sweepChain(store, dataset, { beforeMs: Number.POSITIVE_INFINITY }))
console.log(
  `files: ${files()}, of which ${readdirSync(join(paths.store, commitsPrefix(dataset))).length} commits are in no pack`,
)
const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const chain = must(await measured('open the chain', () => catalog.byAlias('acme/year')), 'the dataset')
delay.disable()
console.log(`longest turn of the loop: ${(delay.max / 1e6).toFixed(1)} ms`)
console.log(
  `catalog: ${(catalog.bytes / 2 ** 20).toFixed(1)} MiB of ${chain.blocks.length} blocks, ${chain.head.rows} rows`,
)
await measured('a builder resumes', () => loadDataset(store, dataset))
await measured('ask for new commits', () => catalog.refresh(chain))
const objects = new Objects(store)
await measured('newest 100 blocks', () => blockPage(objects, chain, { limit: 100, before: undefined }))
const before = must(chain.blocks.at(100_000 % chain.blocks.length), 'a block').hash
await measured('100 blocks from the middle', () => blockPage(objects, chain, { limit: 100, before }))
const find = (text: string, kind: 'blocks' | 'data' = 'data'): Promise<unknown> =>
  objects.find(chain.name, { kind, text, chainOf: async () => chain })
await measured('100 slices by hash, anywhere', async () => {
  for (let i = 0; i < 100; i++) await find(must(chain.slices.at((i * 7_919) % chain.slices.length), 'a slice').hash)
})
await measured('100 hashes that are in no pack', async () => {
  for (let i = 0; i < 100; i++)
    await find(sha3Hash(utf8(`none ${i}`))).catch((error: unknown) => {
      if (!(error instanceof NodeError)) throw error
    })
})
const outcomes = new Outcomes(store)
await measured('100 receipts, anywhere', async () => {
  for (let i = 0; i < 100; i++) await outcomes.at(chain, { id: 'x', position: 1 + ((i * 7_919) % blocks) })
})
// The record and the head of the next commit, as often as it takes to tell them apart, in a chain of this length and in one
// of ten blocks. They are taken back.
const young = `did:odf:fed01${'2'.repeat(64)}`
for (const { key, bytes } of chainObjects({ dataset: young, blocks: 10, slices: false })) await store.put(key, bytes)
for (const id of [young, dataset, young, dataset]) {
  const head = must(await readHead(store, id), 'a head')
  const last = must(head.commit, 'the last commit').record
  await measured(`200 commits behind block ${head.sequence}`, async () => {
    for (let i = 1; i <= 200; i++) {
      const sequence = head.sequence + i
      await putCommit(store, { id, sequence }, { ...last, blocks: last.blocks.slice(-1), next: last.next + i })
      await followHead(store, id, { sequence, hash: head.hash })
    }
  })
  await store.delete(...Array.from({ length: 200 }, (_, i) => commitKey(id, head.sequence + i + 1)))
}
catalog.close()
await store.close()
