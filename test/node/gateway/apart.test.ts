// A gateway whose builder is another process that it does not hear: commits and halts are found in the store.

import { describe, expect, test } from 'vitest'
import { HaltedDatasets } from '../../../src/node/gateway/log-watch.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { parseAliasText } from '../../../src/libraries/model/names.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { putLowWaterMark } from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { datasetId, quickCuts, start } from '../builder/support.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { type Rig, rigOf } from './support.ts'

/** A gateway alone, and a builder that announces nothing to it. */
async function apart(): Promise<Rig> {
  const gateway = rigOf({ apart: true })
  await rigOf({ log: gateway.log, store: gateway.store }).build()
  return gateway
}

describe('a gateway apart from its builder', () => {
  test('answers a creation and a caller who waits although no commit is announced to it', async () => {
    const gateway = await apart()
    const first = await gateway.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
    expect(first).toMatchObject({ status: 'committed', offsets: { start: 0, end: 0 } })
    const second = await gateway.rows('a/b', [{ n: 2 }])
    expect(second).toMatchObject({ status: 'committed', offsets: { start: 1, end: 1 } })
  })

  test('takes a chain for current for a second, not longer', async () => {
    const gateway = await apart()
    await gateway.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
    await gateway.rows('a/b', [{ n: 2 }], { headers: { prefer: 'respond-async' } })
    expect(gateway.catalog.known('a/b')?.head.rows).toBe(1)
    await systemClock.sleep(1_500)
    expect(gateway.catalog.known('a/b')).toBeUndefined()
    expect((await gateway.catalog.byAlias('a/b'))?.head.rows).toBe(2)
    expect(gateway.catalog.known('a/b')?.head.rows).toBe(2)
  })
})

describe('a builder apart from the gateway that made a dataset', () => {
  test('builds it at its freshness, whether it read the creation or the record of the name', async () => {
    const gateway = rigOf({ apart: true })
    // Whoever has no freshness gets one block, and no other for an hour.
    const options = { ...quickCuts, burstBlocks: 1, intervalMs: 3_600_000, maxIntervalMs: 3_600_000 }
    const first = await start(gateway.log, gateway.store, { options })
    await gateway.gateway.create({ alias: parseAliasText('a/fresh'), visibility: 'public', freshnessMs: 100 })
    await gateway.gateway.create({ alias: parseAliasText('a/slow'), visibility: 'public' })
    const land = async (alias: string, n: number) => (await gateway.rows(alias, [{ n }])).status
    expect(await land('a/slow', 0)).toBe('committed')
    for (let n = 0; n < 2; n++) expect(await land('a/fresh', n)).toBe('committed')
    await first.builder.stop()
    // Another process, which meets the dataset where its creation lies below the floor.
    const second = await start(gateway.log, gateway.store, { options })
    for (let n = 2; n < 4; n++) expect(await land('a/fresh', n)).toBe('committed')
    expect(await land('a/slow', 1)).toBe('committed')
    const late = await gateway.rows('a/slow', [{ n: 2 }], { headers: { prefer: 'wait=1' } })
    expect(late.status).toBe('accepted')
    await second.builder.stop()
  })
})

describe('the halts of the newest floors', () => {
  test('are those of every partition, until a floor no longer lists them', async () => {
    const store = openMemoryStore()
    const log = { id: 'log1', partitions: 2 }
    const anchor = sha3Hash(new Uint8Array(1))
    const [a, b] = [datasetId('a'), datasetId('b')]
    await putLowWaterMark(store, { log: 'log1', partition: 0, position: 5, anchor, halted: [] })
    const halted = [{ dataset: b, position: 3, reason: 'ChainBroken' }]
    await putLowWaterMark(store, { log: 'log1', partition: 1, position: 5, anchor, halted })
    const clock = handClock()
    const halts = new HaltedDatasets({ store, log, clock, logger: silentLogger })
    await expect.poll(() => halts.of(b)).toMatch(/^ChainBroken: /)
    expect(halts.of(a)).toBeUndefined()
    await putLowWaterMark(store, { log: 'log1', partition: 1, position: 9, anchor, halted: [] })
    await clock.advance(5_000)
    await expect.poll(() => halts.of(b)).toBeUndefined()
    await halts.close()
  })
})
