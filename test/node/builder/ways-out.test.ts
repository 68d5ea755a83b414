// Every halt has a way out that docs/halts.md names: it is taken here, and afterwards nothing is halted, new rows are
// committed, and no more is lost than the page says.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { adoptLog } from '../../../src/node/builder/adopt-log.ts'
import { loadDataset } from '../../../src/node/builder/load-dataset.ts'
import { assert, must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import type { HaltReason } from '../../../src/libraries/base/errors.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { blockKey, commitsPrefix, headKey } from '../../../src/node/store/layout.ts'
import { newestLowWaterMark } from '../../../src/node/store/records.ts'
import { rejectHalted, rejectUnreadable } from '../../../src/node/store/reject-message.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, compressor, datasetId, dump, fastClock, rowCount, TestWriter } from './support.ts'

const a = datasetId('a')
const word = { reason: 'why', by: 'ada', at: '2026-03-02T00:00:00.000Z' }
type Building = Parameters<typeof buildAll>[2]

/** An installation with one dataset, of two rows in a block. */
class Place {
  readonly store = openMemoryStore()
  readonly writer = new TestWriter('w')
  log = newLog('log-1')
  /** The block that the next cut ends. */
  sequence = 3
  /** How the store was when it was copied, and what was put aside. */
  copy = new Map<string, Uint8Array>()

  async begin(): Promise<void> {
    await this.log.append(0, [this.writer.create(a, 'acme/a')])
    await this.add(2)
    await this.halts()
  }

  /** Rows and the cut that ends their block. */
  async add(rows: number): Promise<void> {
    const end = [{ dataset: a, sequence: this.sequence++ }]
    await this.log.append(0, [this.writer.rows(a, [{ rows }]), this.writer.cut(end)])
  }

  /** Runs a builder to the end of the log; what it says is halted. */
  async halts(building: Building = {}): Promise<readonly string[]> {
    const { builder } = await buildAll(this.log, this.store, building)
    return builder.status().halted.map(({ reason }) => reason)
  }

  async copyStore(): Promise<void> {
    this.copy = await dump(this.store, 'datasets')
  }

  async bringStoreBack(): Promise<void> {
    for (const key of (await dump(this.store, 'datasets')).keys()) await this.store.delete(key)
    for (const [key, bytes] of this.copy) await this.store.put(key, bytes)
  }

  /** Gives the log up for an empty one. */
  async adopt(old: EventLog | string = this.log): Promise<void> {
    const next = newLog('log-2')
    const announcements = openLocalAnnouncements(silentLogger)
    const { signal } = new AbortController()
    const deps = { store: this.store, announcements, clock: systemClock, logger: silentLogger, compressor, signal }
    const { outcome } = await adoptLog(deps, { old, next, acceptLoss: true })
    assert(outcome === 'adopted', outcome)
    this.log = next
    this.sequence = must(await loadDataset(this.store, a), 'a chain').state.nextSequence
  }
}

/** A log that lets go of nothing by itself. */
function newLog(id: string): EventLog {
  return Object.assign(openMemoryLog({ id }), { release: async () => {} })
}

/** What a bug cannot write. */
const broken = {
  ...compressor,
  compress: (): Uint8Array => {
    throw new RangeError('a bug')
  },
}

interface Way {
  readonly halt: (place: Place) => Promise<unknown>
  readonly building?: Building
  /** Ends the halt. */
  readonly end: (place: Place) => Promise<unknown>
  /** Rows in blocks when it has ended. */
  readonly left: number
}

const poisoned = {
  halt: (place: Place) => place.add(5_000),
  building: { compressor: broken, clock: fastClock(500) },
}

async function damageHead({ store }: Place): Promise<{ readonly key: string; readonly good: Uint8Array }> {
  const key = blockKey(a, must(await readHead(store, a), 'a head').hash)
  const good = must(await store.get(key), 'a block')
  await store.replace(key, good.slice(0, -3))
  return { key, good }
}

/** The store as it was one block ago, beside floors and a log that know of it. */
async function olderStore(place: Place): Promise<void> {
  await place.add(4)
  await place.halts()
  await place.copyStore()
  await place.store.delete(`${commitsPrefix(a)}/4`)
  await place.store.delete(headKey(a))
  await place.add(8)
}

/** A message of ours, changed by `change`. */
async function changedMessage(place: Place, change: (bytes: Uint8Array) => void): Promise<void> {
  const bytes = place.writer.rows(a, [{ rows: 9 }])
  change(bytes)
  await place.log.append(0, [bytes])
  await place.add(4)
}

/** The same log again, without its end, or with other messages. */
async function otherMessages(place: Place, writer: TestWriter, rows: readonly number[]): Promise<void> {
  place.log = newLog('log-1')
  await place.log.append(0, [writer.create(a, 'acme/a'), ...rows.map((count) => writer.rows(a, [{ rows: count }]))])
}

/** That of a ledger is in test/features/ledger/regression.test.ts. */
const ways: Readonly<Record<Exclude<HaltReason, 'LedgerRegressed'>, Readonly<Record<string, Way>>>> = {
  PoisonBlock: {
    'the message is rejected': {
      ...poisoned,
      end: async ({ store }) => {
        const floor = must(await newestLowWaterMark(store, 'log-1', 0), 'a floor')
        const position = must(floor.halted[0]?.message, 'a message at fault')
        await rejectHalted(store, { dataset: 'acme/a', position }, word)
      },
      left: 2,
    },
    'a builder can build it': { ...poisoned, end: async () => {}, left: 5_002 },
  },
  ChainBroken: {
    'the object is put back': {
      halt: async (place) => {
        const { key, good } = await damageHead(place)
        place.copy.set(key, good)
        await place.add(4)
      },
      end: async ({ store, copy }) => {
        for (const [key, good] of copy) await store.replace(key, good)
      },
      left: 6,
    },
  },
  ChainRegressed: {
    'the newer store is put back': { halt: olderStore, end: (place) => place.bringStoreBack(), left: 14 },
    'the log is given up': { halt: olderStore, end: (place) => place.adopt(), left: 2 },
  },
  LogDamaged: {
    'the message is rejected': {
      halt: (place) => changedMessage(place, (bytes) => bytes.fill(0, bytes.length - 4)),
      end: ({ store }) => rejectUnreadable(store, { partition: 0, position: 3 }, word),
      left: 6,
    },
    'the log is given up by its id': {
      halt: (place) => changedMessage(place, (bytes) => bytes.fill(0, bytes.length - 4)),
      end: (place) => place.adopt('log-1'),
      left: 2,
    },
  },
  LogTruncated: {
    'the log is given up': {
      halt: async (place) => {
        await place.add(4)
        const { log } = place
        place.log = openMemoryLog({ id: 'log-1' })
        const { end } = await log.range(0)
        for (let at = 0; at < end; at++) await place.log.append(0, [must(await log.get(0, at), 'a message')])
        await place.log.release(0, 5)
      },
      end: (place) => place.adopt(),
      left: 2,
    },
  },
  LogRegressed: {
    'the log is given up': {
      halt: (place) => otherMessages(place, new TestWriter('w'), []),
      end: (place) => place.adopt(),
      left: 2,
    },
  },
  LogReplaced: {
    'the log is given up': {
      halt: (place) => otherMessages(place, new TestWriter('x'), [1, 1, 1]),
      end: (place) => place.adopt(),
      left: 2,
    },
  },
  NewerLog: {
    'the builder is upgraded': {
      halt: (place) => changedMessage(place, (bytes) => bytes.fill(0x33, 7, 8)),
      // As a builder reads it that knows version 3.
      end: async (place) => {
        const { log } = place
        place.log = newLog('log-1')
        const { end } = await log.range(0)
        for (let at = 0; at < end; at++) {
          const bytes = must(await log.get(0, at), 'a message').slice()
          if (bytes[7] === 0x33) bytes.fill(0x31, 7, 8)
          await place.log.append(0, [bytes])
        }
      },
      left: 15,
    },
  },
}

const cases = Object.entries(ways).flatMap(([reason, ends]) =>
  Object.entries(ends).map(([what, way]) => ({ reason, what, way })),
)

test.each(cases)('$reason ends when $what', async ({ reason, way }) => {
  const place = new Place()
  await place.begin()
  await way.halt(place)
  expect(await place.halts(way.building)).toEqual([reason])
  await way.end(place)
  expect(await place.halts()).toEqual([])
  expect(await rowCount(place.store, a)).toBe(way.left)
  place.sequence = must(await loadDataset(place.store, a), 'a chain').state.nextSequence
  await place.add(7)
  expect(await place.halts()).toEqual([])
  expect(await rowCount(place.store, a)).toBe(way.left + 7)
})

test('the page has a row for each', () => {
  const page = readFileSync(new URL('../../../docs/halts.md', import.meta.url), 'utf8')
  for (const reason of [...Object.keys(ways), 'ClockJump']) expect(page).toContain(`| \`${reason}\``)
})
