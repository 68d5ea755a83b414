// What opening a chain costs over a store elsewhere: few requests for what lies in packs, two for each block that lies loose,
// many at the same time.

import { beforeAll, expect, test } from 'vitest'
import { Catalog } from '../../../src/node/catalog/catalog.ts'
import type { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import { packableOf } from '../../../src/node/store/layout.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { type FarStore, openFarStore } from '../../adapters/far-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { dataset, objectsOfChain, putAll } from '../store/packed-chain.ts'

const packed = 38 * 256
const loose = 100
const blocks = packed + loose - 3
let far: FarStore

beforeAll(async () => {
  far = openFarStore()
  const store = withPacks(far)
  await putLog(far, { id: 'log', kind: 'file', partitions: 1 })
  const objects = objectsOfChain(blocks)
  await putAll(store, objects)
  const commits = objects.map(({ key }) => packableOf(key)).filter((asked) => asked?.kind === 'commits')
  await packChain(store, dataset, must(commits.at(-1), 'a commit').sequence)
  await markSwept(store)
  await sweepChain(store, dataset, { beforeMs: Number.POSITIVE_INFINITY })
})

async function opened(catalog: Catalog): Promise<{ chain: DatasetChain; requests: readonly string[] }> {
  far.keys.length = 0
  const chain = must(await catalog.byAlias('acme/long'), 'the dataset is there')
  return { chain, requests: far.keys.map((request) => request.replace(/ datasets\/[^/]+\//, ' ')) }
}

test('a chain of 10,000 blocks is opened with 50 requests, and two for each block that lies loose', async () => {
  const announcements = openLocalAnnouncements(silentLogger)
  const clock = handClock()
  const catalog = new Catalog({ store: withPacks(far, clock), announcements, logger: silentLogger, clock })
  const { chain, requests } = await opened(catalog)
  expect(chain.blocks.length).toBe(packed + loose)
  const ofTail = requests.filter((request) => / (?:commits|blocks)\//.test(request))
  expect(ofTail.length).toBeLessThan(2 * loose + 8)
  expect(requests.length - ofTail.length).toBeLessThanOrEqual(50)
  expect(requests.filter((request) => request.startsWith('list '))).toEqual([
    'list packs',
    'list packs/0',
    'list packs/1',
    'list packs/2',
    'list commits',
  ])
  // Held, and looked at again after a second.
  expect((await opened(catalog)).requests).toEqual([])
  await clock.advance(1_050)
  expect((await opened(catalog)).requests).toEqual(['get aliases/acme/long/1', `get commits/${packed + loose}`])
  catalog.close()
})
