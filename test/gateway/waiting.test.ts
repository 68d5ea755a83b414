// Callers who wait, and how long it is worth waiting.

import { describe, expect, test } from 'vitest'
import { BlockPace, Waiters } from '../../src/gateway/outcome.ts'
import { sha3Hash } from '../../src/ids/multihash.ts'
import { must } from '../../src/lib/assert.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { openLocalAnnouncements } from '../../src/log/announcements.ts'
import type { CommitAnnouncement } from '../../src/log/messages.gen.ts'
import { datasetId } from '../builder/support.ts'
import { Rig } from './support.ts'

/** A clock whose sleeps end when told. */
function heldClock(): { clock: Clock; wake: () => void; nowMs: number } {
  const waking = new Set<() => void>()
  const held = {
    nowMs: 0,
    wake: () => {
      for (const resolve of waking) resolve()
      waking.clear()
    },
    clock: {
      ...systemClock,
      monotonicMs: () => held.nowMs,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          waking.add(resolve)
          signal?.addEventListener('abort', () => {
            waking.delete(resolve)
            resolve()
          })
        }),
    },
  }
  return held
}

describe('a waiter', () => {
  test('is answered when its block is in the catalog, and when it was there before', async () => {
    const rig = await new Rig().build()
    await rig.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
    await rig.pause()
    const held = heldClock()
    const waiters = new Waiters({
      catalog: rig.catalog,
      outcomes: rig.outcomes,
      clock: held.clock,
      logger: silentLogger,
    })
    const receipt = await rig.rows('a/b', [{ n: 2 }], { headers: { prefer: 'respond-async' } })
    const note = must(await noteOf(rig, receipt.receiptId), 'a note')
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const waiting = waiters.wait(chain, note, 1000)
    await rig.build()
    expect(await waiting).toMatchObject({ outcome: { status: { kind: 'committed', start: 1, end: 1 } } })
    expect(await waiters.wait(chain, note, 1000)).toMatchObject({ outcome: { id: note.id } })
    expect(await waiters.wait(chain, { ...note, id: note.id.replace(/^./, '-') }, 1000)).toBe('void')
    waiters.close()
    await rig.stop()
  })

  test('gives up when its time is over, or when the process ends', async () => {
    const rig = await new Rig().build()
    await rig.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
    await rig.pause()
    const held = heldClock()
    const waiters = new Waiters({
      catalog: rig.catalog,
      outcomes: rig.outcomes,
      clock: held.clock,
      logger: silentLogger,
    })
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const never = { id: 'x'.repeat(43), position: 1e6 }
    const timed = waiters.wait(chain, never, 1000)
    held.wake()
    expect(await timed).toBeUndefined()
    const stopped = waiters.wait(chain, never, 1000)
    waiters.close()
    expect(await stopped).toBeUndefined()
    await rig.stop()
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
  test('is due soon when nothing is known, or when it may come within a second', async () => {
    const announcements = openLocalAnnouncements(silentLogger)
    const held = heldClock()
    const pace = new BlockPace({ announcements, clock: held.clock })
    const isDueSoon = (): boolean => pace.isDueSoon(datasetId('paced'))
    expect(isDueSoon()).toBe(true)
    await announcements.announce(announcement(datasetId('paced'), 5000))
    expect(isDueSoon()).toBe(false)
    held.nowMs = 3999
    expect(isDueSoon()).toBe(false)
    held.nowMs = 4000
    expect(isDueSoon()).toBe(true)
    await announcements.announce(announcement(datasetId('paced'), 1000))
    expect(isDueSoon()).toBe(true)
    pace.close()
  })
})

describe('a caller who says nothing about waiting', () => {
  test('waits for a block that is due, and not for one that is paced', async () => {
    const rig = await new Rig().build()
    await rig.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
    const quiet = await rig.post('a/b', '{"n":2}\n', { headers: { prefer: '' } })
    expect(quiet).toMatchObject({ status: 200, preferenceApplied: undefined })
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    await rig.announcements.announce(announcement(chain.name.id, 60_000))
    await rig.pause()
    const paced = await rig.post('a/b', '{"n":3}\n', { headers: { prefer: '' } })
    expect(paced).toMatchObject({ status: 202, preferenceApplied: undefined })
    const rows = (await rig.headers()).filter((header) => header.kind === 'rows')
    expect(rows.map((header) => header.batches?.[0]?.wait)).toEqual([true, true, false])
    await rig.stop()
  })
})
