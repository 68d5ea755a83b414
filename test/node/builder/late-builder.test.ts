// A builder that comes late: while it holds messages, another one commits them, raises the floor, and the log lets go
// of them; or the place of its block is packed and swept. Nothing is lost, so nothing may halt.

import { describe, expect, test, vi } from 'vitest'
import type { EventLog, LogEntry } from '../../../src/node/log/event-log.ts'
import { readHead } from '../../../src/node/store/heads.ts'
import { commitKey, commitsPrefix } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { withPacks } from '../../../src/node/store/packed-store.ts'
import { readCommit } from '../../../src/node/store/records.ts'
import { markSwept, sweepChain } from '../../../src/node/store/sweep.ts'
import { packChain } from '../../../src/node/store/write-pack.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { buildAll, compressor, datasetId, drained, rowCount, start, TestWriter } from './support.ts'
import { until } from '../../helpers/until.ts'

vi.mock('../../../src/libraries/odf/chain/pack-span.ts', async (original) => ({
  ...(await original<object>()),
  packSpan: 4,
  spanOf: (level: number) => 4 * 2 ** level,
}))

const [first, second] = [datasetId('a'), datasetId('b')]

async function filledLog(): Promise<EventLog> {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  await log.append(0, [
    writer.create(first, 'acme/first'),
    writer.rows(first, [{ rows: 3 }]),
    writer.cut([{ dataset: first, sequence: 3 }]),
    writer.create(second, 'acme/second'),
    writer.rows(second, [{ rows: 3 }]),
    writer.cut([{ dataset: second, sequence: 3 }]),
  ])
  return log
}

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Everything that the log holds, handed out when `opened`. */
async function* heldBack(log: EventLog, opened: Promise<void>): AsyncGenerator<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  for await (const some of log.read(0, 0, { follow: false })) entries.push(...some)
  await opened
  yield entries
}

async function endsWithoutHalt(log: EventLog, late: EventLog, meanwhile: (before: Promise<void>) => Promise<void>) {
  const store = openMemoryStore()
  const running = await start(late, store)
  await meanwhile(buildAll(log, store).then(() => {}))
  await until('the late builder has read all', () => running.builder.status().partitions[0]?.position === 6)
  await until('it has nothing to do', () => running.builder.status().partitions[0]?.waitingPlans === 0)
  expect(running.builder.status().halted).toEqual([])
  await running.builder.stop()
}

const over = (log: EventLog, more: Partial<EventLog>): EventLog => ({
  kind: log.kind,
  id: log.id,
  partitions: log.partitions,
  append: (...args) => log.append(...args),
  read: (...args) => log.read(...args),
  get: (...args) => log.get(...args),
  range: (...args) => log.range(...args),
  release: (...args) => log.release(...args),
  close: () => log.close(),
  ...more,
})

describe('a builder that comes late goes on', () => {
  test('when the rows of its block are gone because the block is committed', async () => {
    const log = await filledLog()
    const { opened, open } = gate()
    const late = over(log, {
      get: async (partition, position) => {
        await opened
        return log.get(partition, position)
      },
    })
    await endsWithoutHalt(log, late, async (built) => {
      await built
      open()
    })
  })

  test('when the last message of its block is gone because the block is committed', async () => {
    const log = await filledLog()
    const { opened, open } = gate()
    const late = over(log, {
      get: async (partition, position) => {
        if (position === 2) await opened
        return log.get(partition, position)
      },
    })
    await endsWithoutHalt(log, late, async (built) => {
      await built
      open()
    })
  })

  test('when the message that its chain was read up to is gone because the floor has risen', async () => {
    const log = await filledLog()
    const { opened, open } = gate()
    const late = over(log, { read: () => heldBack(log, opened) })
    await endsWithoutHalt(log, late, async (built) => {
      await built
      open()
    })
  })
})

test('a builder whose place was packed and swept meanwhile has lost, though nothing is in the way of its put', async () => {
  const log = over(openMemoryLog(), { release: async () => {} })
  const writer = new TestWriter('w')
  await log.append(0, [writer.create(first, 'acme/first')])
  for (let sequence = 3; sequence < 12; sequence++) {
    await log.append(0, [writer.rows(first, [{ rows: 3 }]), writer.cut([{ dataset: first, sequence }])])
  }
  const loose = openMemoryStore()
  const store = withPacks(loose)
  const stored: string[] = []
  const watched: ObjectStore = {
    ...loose,
    async put(key, bytes) {
      const outcome = await loose.put(key, bytes)
      if (outcome === 'stored') stored.push(key)
      return outcome
    },
  }
  const { opened, open } = gate()
  let isAsked = false
  const late = over(log, {
    get: async (partition, position) => {
      isAsked = true
      await opened
      return log.get(partition, position)
    },
  })
  // Its checkpoints name another compressor: its blocks are others.
  const { builder } = await start(late, withPacks(watched), { compressor: { ...compressor, name: 'another' } })
  await until('it waits for rows', () => isAsked)
  await buildAll(log, store)
  const head = await readHead(store, first)
  expect(head?.sequence).toBe(11)
  const word = await readCommit(store, first, 3)
  expect(await packChain(store, first, 11)).toBe(4)
  await markSwept(store)
  await sweepChain(store, first, { beforeMs: 0 })
  expect(await loose.list(commitsPrefix(first))).toEqual([])

  open()
  await until('it has lost', () => builder.status().lostRaces === 1)
  await until('it has read all', () => builder.status().partitions[0]?.position === 19)
  await until('it has nothing to do', () => builder.status().partitions[0]?.waitingPlans === 0)
  expect(stored).toContain(commitKey(first, 3))
  expect(builder.status().halted).toEqual([])
  await builder.stop()
  expect(await readHead(store, first)).toEqual(head)
  expect(await readCommit(store, first, 3)).toEqual(word)
  expect(await sweepChain(store, first, { beforeMs: 0 })).toBe(1)
})

/** A builder that has found no chain, and sleeps before it takes the creation, until `open`. */
async function asleep(log: EventLog, shared: ObjectStore) {
  const { opened, open } = gate()
  let sleeps = false
  const list = async (key: string): Promise<readonly string[]> => {
    if (key.startsWith('deletions/')) {
      sleeps = true
      await opened
    }
    return await shared.list(key)
  }
  const late = await start(log, { ...shared, list })
  await until('it sleeps', () => sleeps)
  return { late, open }
}

test('a builder goes on with a dataset that was deleted while it slept, and is restored later', async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const shared = openMemoryStore()
  await log.append(0, [writer.create(first, 'acme/first')])
  const { late, open } = await asleep(log, shared)
  await log.append(0, [writer.rows(first, [{ rows: 3 }]), writer.delete(first)])
  // The other one goes on, so that the floor stays where it is.
  const other = await start(log, shared)
  await drained(log, other)
  open()
  await until('it has read the deletion', () => late.builder.status().partitions[0]?.position === 3)
  await log.append(0, [writer.restore(first, 'acme/first')])
  await drained(log, other)
  await log.append(0, [writer.rows(first, [{ rows: 2 }]), writer.delete(first)])
  await drained(log, late)
  expect(late.builder.status().halted).toEqual([])
  await Promise.all([late.builder.stop(), other.builder.stop()])
  expect(await rowCount(shared, first)).toBe(5)
})

test("a builder goes on with a dataset that was renamed while it slept, and whose name is another one's", async () => {
  const log = openMemoryLog()
  const writer = new TestWriter('w')
  const shared = openMemoryStore()
  await log.append(0, [writer.create(first, 'acme/first')])
  const { late, open } = await asleep(log, shared)
  await log.append(0, [writer.change(first, { alias: 'acme/moved' }), writer.create(second, 'acme/first')])
  const other = await start(log, shared)
  await drained(log, other)
  open()
  const cuts = [
    { dataset: first, sequence: 4 },
    { dataset: second, sequence: 3 },
  ]
  await log.append(0, [writer.rows(first, [{ rows: 3 }]), writer.rows(second, [{ rows: 2 }]), writer.cut(cuts)])
  await drained(log, late)
  expect(late.builder.status().halted).toEqual([])
  await Promise.all([late.builder.stop(), other.builder.stop()])
  expect([await rowCount(shared, first), await rowCount(shared, second)]).toEqual([3, 2])
})
