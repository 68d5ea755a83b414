// Callers who wait, and how long it is worth waiting.

import { describe, expect, test } from 'vitest'
import type { DatasetChain } from '../../../src/node/catalog/dataset-chain.ts'
import type { Waiting } from '../../../src/node/gateway/controls.ts'
import { BlockPace, patienceOf, patientFor, Waiters } from '../../../src/node/gateway/outcome.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { Clock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { CommitAnnouncement } from '../../../src/node/log/messages.gen.ts'
import { datasetId } from '../builder/support.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { type Rig, withDataset } from './support.ts'

function waitersOf({ catalog, outcomes }: Rig, clock: Clock): Waiters {
  return new Waiters({ catalog, outcomes, clock, logger: silentLogger })
}

describe('a waiter', () => {
  test('is answered when its block is in the catalog, and when it was there before', async () => {
    const rig = await withDataset()
    await rig.pause()
    const clock = handClock()
    const waiters = waitersOf(rig, clock)
    const receipt = await rig.rows('a/b', [{ n: 2 }], { headers: { prefer: 'respond-async' } })
    const note = must(await noteOf(rig, receipt.receiptId), 'a note')
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const waiting = waiters.wait(chain, note, patientFor(1000))
    await rig.build()
    expect(await waiting).toMatchObject({ outcome: { status: { kind: 'committed', start: 1, end: 1 } } })
    expect(await waiters.wait(chain, note, patientFor(1000))).toMatchObject({ outcome: { id: note.id } })
    expect(
      await waiters.wait(
        chain,
        { ...note, id: note.id.replace(/^./, (first) => (first === '-' ? '_' : '-')) },
        patientFor(1000),
      ),
    ).toBe('void')
    waiters.close()
  })

  test('gives up when its time is over, or when the process ends', async () => {
    const rig = await withDataset()
    await rig.pause()
    const clock = handClock()
    const waiters = waitersOf(rig, clock)
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const never = { id: 'x'.repeat(43), position: 1e6 }
    const timed = waiters.wait(chain, never, patientFor(1000))
    await clock.advance(1000)
    expect(await timed).toBeUndefined()
    const stopped = waiters.wait(chain, never, patientFor(1000))
    waiters.close()
    expect(await stopped).toBeUndefined()
  })
})

describe('many who wait for blocks that are late', () => {
  test('are let go, unless they said that they wait, and for a second nobody begins to wait by default', async () => {
    const rig = await withDataset()
    const clock = handClock()
    const waiters = waitersOf(rig, clock)
    const pace = new BlockPace({ announcements: openLocalAnnouncements(silentLogger), clock })
    const { name } = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const ended: string[] = []
    const wait = (dataset: string, waiting: Waiting = { kind: 'default' }): void => {
      const id = datasetId(dataset)
      // What a waiter looks at of a chain.
      const chain = { name: { ...name, id }, nextIn: (_log: string) => 0 } as DatasetChain
      const patience = patienceOf(waiting, id, { pace, waiters })
      if (patience.mostMs === 0) ended.push(`${dataset} at once`)
      else void waiters.wait(chain, { id: dataset, position: 1 }, patience).then(() => ended.push(dataset))
    }
    for (let i = 0; i < 8; i++) wait(`few ${i}`)
    await clock.advance(600)
    // Eight are few: a slow machine makes their blocks in its time.
    expect(ended).toEqual([])
    wait('patient', { kind: 'wait', seconds: 30 })
    await clock.advance(400)
    expect(ended.toSorted()).toEqual(Array.from({ length: 8 }, (_, i) => `few ${i}`))
    wait('next')
    expect(ended.at(-1)).toBe('next at once')
    await clock.advance(1_000)
    wait('later')
    await clock.advance(9_999)
    expect([ended.length, waiters.datasets, waiters.isBehind]).toEqual([9, 2, false])
    await clock.advance(1)
    expect(ended.slice(9)).toEqual(['later'])
    await clock.advance(20_000)
    expect(ended.slice(9)).toEqual(['later', 'patient'])
  })

  test('are let go also when they have become few meanwhile', async () => {
    const rig = await withDataset()
    const clock = handClock()
    const waiters = waitersOf(rig, clock)
    const { name } = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    let ended = 0
    const wait = (dataset: number): void => {
      const chain = { name: { ...name, id: datasetId(`${dataset}`) }, nextIn: (_log: string) => 0 } as DatasetChain
      const patience = { mostMs: 10_000, patientMs: dataset < 8 ? 500 : 800 }
      void waiters.wait(chain, { id: 'x', position: 1 }, patience).then(() => ended++)
    }
    for (let i = 0; i < 12; i++) wait(i)
    await clock.advance(500)
    expect([ended, waiters.datasets]).toEqual([8, 4])
    await clock.advance(300)
    expect(ended).toBe(12)
    waiters.close()
    waiters.close()
  })
})

/** Batch id and position that a receipt stands for. */
async function noteOf(rig: Rig, receiptId: string): Promise<{ id: string; position: number } | undefined> {
  const { receipt } = await rig.gateway.receipt(receiptId)
  const headers = await rig.headers()
  const header = headers[receipt.log.position]
  const batch = header?.kind === 'rows' ? header.batches?.[0] : undefined
  return batch === undefined ? undefined : { id: batch.id, position: receipt.log.position }
}

function announcement(dataset: string, earliestNextCutInMs: number): CommitAnnouncement {
  const hash = sha3Hash(new Uint8Array())
  const common = { alias: 'a/b', blocks: [hash], head: hash, log: 'x', partition: 0 }
  return { version: 1, dataset, sequence: 0, headSequence: 0, next: 0, earliestNextCutInMs, ...common }
}

describe('a block', () => {
  test('is waited for by default unless a hundred datasets are, and always by who says so', () => {
    const pace = new BlockPace({ announcements: openLocalAnnouncements(silentLogger), clock: handClock() })
    const mostMs = (waiting: Waiting, datasets: number, isBehind = false): number =>
      patienceOf(waiting, datasetId('a'), { pace, waiters: { datasets, isBehind } }).mostMs
    expect([99, 100].map((datasets) => mostMs({ kind: 'default' }, datasets))).toEqual([10_000, 0])
    expect([99, 100].map((datasets) => mostMs({ kind: 'wait', seconds: 7 }, datasets))).toEqual([7_000, 7_000])
    expect([mostMs({ kind: 'default' }, 1, true), mostMs({ kind: 'wait', seconds: 7 }, 1, true)]).toEqual([0, 7_000])
    expect(mostMs({ kind: 'async' }, 0)).toBe(0)
  })

  test('is due at once when nothing is known, else when it was announced to be', async () => {
    const announcements = openLocalAnnouncements(silentLogger)
    const clock = handClock()
    const pace = new BlockPace({ announcements, clock })
    const dueInMs = (): number => pace.dueInMs(datasetId('paced'))
    expect(dueInMs()).toBe(0)
    await announcements.announce(announcement(datasetId('paced'), 5000))
    await clock.advance(3999)
    expect(dueInMs()).toBe(1001)
    await clock.advance(2000)
    expect(dueInMs()).toBe(0)
    await announcements.announce(announcement(datasetId('paced'), 1000))
    expect(dueInMs()).toBe(1000)
    pace.close()
  })
})

describe('a caller who says nothing about waiting', () => {
  test('waits for a block that is due, and not for one that is paced', async () => {
    const rig = await withDataset()
    const quiet = await rig.post('a/b', '{"n":2}\n', { headers: { prefer: '' } })
    expect(quiet).toMatchObject({ status: 200, preferenceApplied: undefined })
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    await rig.announcements.announce(announcement(chain.name.id, 60_000))
    await rig.pause()
    const paced = await rig.post('a/b', '{"n":3}\n', { headers: { prefer: '' } })
    expect(paced).toMatchObject({ status: 202, preferenceApplied: undefined })
    const rows = (await rig.headers()).filter((header) => header.kind === 'rows')
    expect(rows.map((header) => header.batches?.[0]?.wait)).toEqual([true, true, false])
  })
})
