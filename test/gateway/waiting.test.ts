// Callers who wait, and how long it is worth waiting.

import { describe, expect, test } from 'vitest'
import type { Waiting } from '../../src/gateway/controls.ts'
import { BlockPace, Waiters, waitSeconds } from '../../src/gateway/outcome.ts'
import { sha3Hash } from '../../src/ids/identifiers.ts'
import { must } from '../../src/lib/assert.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { openLocalAnnouncements } from '../../src/log/announcements.ts'
import type { CommitAnnouncement } from '../../src/log/messages.gen.ts'
import { datasetId } from '../builder/support.ts'
import { handClock } from '../helpers/hand-clock.ts'
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
    const waiting = waiters.wait(chain, note, 1000)
    await rig.build()
    expect(await waiting).toMatchObject({ outcome: { status: { kind: 'committed', start: 1, end: 1 } } })
    expect(await waiters.wait(chain, note, 1000)).toMatchObject({ outcome: { id: note.id } })
    expect(
      await waiters.wait(chain, { ...note, id: note.id.replace(/^./, (first) => (first === '-' ? '_' : '-')) }, 1000),
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
    const timed = waiters.wait(chain, never, 1000)
    await clock.advance(1000)
    expect(await timed).toBeUndefined()
    const stopped = waiters.wait(chain, never, 1000)
    waiters.close()
    expect(await stopped).toBeUndefined()
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
    const seconds = (waiting: Waiting, datasets: number): number =>
      waitSeconds(waiting, datasetId('a'), { pace, waiters: { datasets } })
    expect([99, 100].map((datasets) => seconds({ kind: 'default' }, datasets))).toEqual([10, 0])
    expect([99, 100].map((datasets) => seconds({ kind: 'wait', seconds: 7 }, datasets))).toEqual([7, 7])
    expect(seconds({ kind: 'async' }, 0)).toBe(0)
  })

  test('is due soon when nothing is known, or when it may come within a second', async () => {
    const announcements = openLocalAnnouncements(silentLogger)
    const clock = handClock()
    const pace = new BlockPace({ announcements, clock })
    const isDueSoon = (): boolean => pace.isDueSoon(datasetId('paced'))
    expect(isDueSoon()).toBe(true)
    await announcements.announce(announcement(datasetId('paced'), 5000))
    expect(isDueSoon()).toBe(false)
    await clock.advance(3999)
    expect(isDueSoon()).toBe(false)
    await clock.advance(1)
    expect(isDueSoon()).toBe(true)
    await announcements.announce(announcement(datasetId('paced'), 1000))
    expect(isDueSoon()).toBe(true)
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
