// The phases of one dataset in a builder's memory, and what the floor must not pass in each.

import { beforeEach, describe, expect, test } from 'vitest'
import { BuildTurns, Committer } from '../../../src/node/builder/committer.ts'
import { NameIndex } from '../../../src/node/builder/name-index.ts'
import { BlockBudget, defaultCutOptions, Governor } from '../../../src/node/builder/governor.ts'
import { Packer } from '../../../src/node/builder/packer.ts'
import { LowWaterMarks } from '../../../src/node/builder/resume.ts'
import { KeptRows, readBatches, type RowMemory } from '../../../src/node/builder/rows.ts'
import { DatasetWorker, type Run } from '../../../src/node/builder/worker.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { AssertionFailed } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../../src/node/log/announcements.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { compressor, datasetId, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

const id = datasetId('a')
const stop = new AbortController()
let log: EventLog
let store: ObjectStore
let writer: TestWriter
let run: Run
let worker: DatasetWorker
let stale: DatasetWorker[]

function runOver(memory: RowMemory): Run {
  const names = new NameIndex(store)
  const shared = { log, partition: 0, store, names, clock: systemClock, logger: silentLogger }
  const own = { floors: new LowWaterMarks(shared), position: 0, rejects: new Map(), kept: new KeptRows(memory) }
  const committer = new Committer({
    ...shared,
    announcements: openLocalAnnouncements(silentLogger),
    build: {
      log: log.id,
      partition: 0,
      compressor,
      readBatches: (positions) => readBatches({ log, partition: 0, rejects: own.rejects, kept: own.kept }, positions),
      storeSlice: async () => {},
      anchorAt: async (position) => sha3Hash((await log.get(0, position)) ?? new Uint8Array()),
    },
    signal: stop.signal,
    turns: new BuildTurns(1e6),
    packer: new Packer(shared),
    culpritOf: async () => 0,
    earliestNextCutInMs: () => 0,
  })
  const governor = new Governor(defaultCutOptions, new BlockBudget(100))
  return { ...shared, ...own, governor, committer, onDue: () => {}, onStale: (one) => stale.push(one) }
}

beforeEach(async () => {
  log = openMemoryLog({ id: 'log-1' })
  store = openMemoryStore()
  writer = new TestWriter('w')
  stale = []
  run = runOver({ freeBytes: 1e7 })
  worker = new DatasetWorker(id, run)
  await worker.load(Promise.resolve(undefined))
})

async function take(...messages: readonly Uint8Array[]): Promise<void> {
  for (const bytes of messages) {
    const message = decodeMessage(bytes)
    if (message.kind !== 'message') throw new TypeError('a message')
    const { header, payload } = message
    const position = await log.append(0, [bytes])
    if (header.kind === 'cut') await worker.takeCut({ position, sequence: 3, timeMs: Date.parse(header.time) })
    else await worker.take(header.kind === 'create' ? { position, header, payload } : { position, header, payload })
    run.position = position + 1
  }
}

const cut = (): Uint8Array => writer.cut([{ dataset: id, sequence: 3 }])
const halt = new HaltError('ChainBroken', 'a test')

describe('a dataset', () => {
  test('commits while plans wait, and follows when none does', async () => {
    expect(worker.phase).toBe('following')
    await take(writer.create(id, 'acme/a'))
    expect([worker.phase, worker.firstUncommitted]).toEqual(['committing', 0])
    await until('it follows', () => worker.phase === 'following')
    await take(writer.rows(id, [{ rows: 2 }]), cut())
    expect([worker.phase, worker.openRows]).toEqual(['committing', 2])
    await worker.inFlight
    expect([worker.phase, worker.isIdle, worker.openRows]).toEqual(['following', true, 0])
  })

  test('holds what its chain will need while that is read again, and takes no messages', async () => {
    await take(
      writer.create(id, 'acme/a'),
      writer.rows(id, [{ rows: 1 }]),
      writer.large(id, { rows: 40 }, 2).part(0),
      cut(),
      writer.rows(id, [{ rows: 1 }]),
    )
    await worker.inFlight
    worker.lose(4)
    expect([stale, worker.phase, worker.firstUncommitted]).toEqual([[worker], 'stale', 2])
    await take(writer.rows(id, [{ rows: 5 }]))
    expect(worker.openRows).toBe(1)
    let from = -1
    await worker.rebase(async (first) => {
      from = first
      expect([worker.phase, worker.firstUncommitted]).toEqual(['rebasing', 2])
    })
    // From the last message that the chain has: a change may be unfinished.
    expect([from, worker.phase]).toEqual([3, 'following'])
  })

  test('is as stale as before when its chain cannot be read again', async () => {
    await take(writer.create(id, 'acme/a'))
    await worker.inFlight
    worker.lose(1)
    const failing = worker.rebase(async () => {
      throw new TypeError('the store is gone')
    })
    await expect(failing).rejects.toThrow('gone')
    expect([worker.phase, worker.firstUncommitted]).toEqual(['stale', 1])
  })

  test('keeps its halt until an operator ends it; then its chain is read again', async () => {
    await take(writer.create(id, 'acme/a'), writer.rows(id, [{ rows: 1 }]))
    await worker.inFlight
    worker.halt(halt, 2, 1)
    expect(worker.halted).toEqual({ reason: 'ChainBroken', what: 'a test', position: 1, message: 1 })
    await take(writer.rows(id, [{ rows: 1 }]))
    worker.release()
    expect([worker.phase, worker.firstUncommitted, stale]).toEqual(['stale', 1, [worker]])
  })

  test('does not change in ways that the table of transitions does not have', async () => {
    expect(() => worker.release()).toThrow(AssertionFailed)
    worker.halt(halt, 0)
    expect(() => worker.halt(halt, 0)).toThrow(AssertionFailed)
    expect(() => worker.lose(0)).not.toThrow()
    expect(() => worker.lose(0)).toThrow(AssertionFailed)
  })
})
