// A builder that comes late: while it holds messages, another one commits them, raises the floor, and the log lets go
// of them. Nothing is lost, so nothing may halt.

import { describe, expect, test } from 'vitest'
import type { EventLog, LogEntry } from '../../src/log/event-log.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { buildAll, datasetId, start, TestWriter, until } from './support.ts'

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
