// Chains that are read before their messages come: many at once, and a fault is met by whose it is.

import { expect, test } from 'vitest'
import type { LoadedDataset } from '../../src/builder/load-dataset.ts'
import { ReadAhead } from '../../src/builder/session.ts'
import { HaltError } from '../../src/model/errors.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { buildAll, datasetId, start, TestWriter, until } from './support.ts'

test('a restart reads the chains behind the floor many at once', async () => {
  const log = openMemoryLog()
  const store = openMemoryStore()
  const writer = new TestWriter('w')
  const ids = Array.from({ length: 60 }, (_, i) => datasetId(`d${i}`))
  await log.append(
    0,
    ids.map((id, i) => writer.create(id, `acme/d${i}`)),
  )
  await (await buildAll(log, store)).builder.stop()
  await log.append(
    0,
    ids.map((id) => writer.rows(id, [{ rows: 3 }])),
  )
  let underWay = 0
  let most = 0
  const slow = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== 'get') return typeof member === 'function' ? (member.bind(target) as unknown) : member
      return async (key: string) => {
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => setTimeout(resolve, 2))
        underWay--
        return target.get(key)
      }
    },
  })
  const { builder } = await start(log, slow)
  await until('the log has been read', () => builder.status().partitions[0]?.caughtUp === true)
  expect(builder.openRows()).toBe(180)
  await builder.stop()
  expect(most).toBeGreaterThan(8)
})

test('what cannot be read is told to who comes to its message, and to nobody else', async () => {
  const writer = new TestWriter('w')
  const [good, bad] = ['good', 'bad'].map(datasetId)
  const reads: string[] = []
  const read = async (id: string): Promise<LoadedDataset | undefined> => {
    reads.push(id)
    if (id === bad) throw new HaltError('ChainBroken', 'the chain is broken')
    return undefined
  }
  const ahead = new ReadAhead({ read, decode: () => ({ kind: 'foreign' }) })
  const entries = [good, bad].map((id = '', position) => ({ position, bytes: writer.create(id, 'acme/a') }))
  expect([...ahead.messages(entries, () => true)].map(({ dataset }) => dataset)).toEqual([good, bad])
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(await ahead.take(good ?? '')).toBe(undefined)
  expect(reads).toHaveLength(2)
  await expect(ahead.take(bad ?? '')).rejects.toThrow('the chain is broken')
  // Once: later it is read again.
  await expect(ahead.take(bad ?? '')).rejects.toThrow('the chain is broken')
  expect(reads).toHaveLength(3)
})

test('a message that cannot be decoded is judged when its turn comes', () => {
  const message = new TestWriter('w').create(datasetId('a'), 'acme/a')
  const torn = message.with(message.length - 1, (message.at(-1) ?? 0) ^ 1)
  const asked: number[] = []
  const decode = ({ position }: { position: number }): { kind: 'foreign' } => {
    asked.push(position)
    return { kind: 'foreign' }
  }
  const ahead = new ReadAhead({ read: async () => undefined, decode })
  const [decoded] = [...ahead.messages([{ position: 7, bytes: torn }], () => true)]
  expect([decoded?.dataset, asked]).toEqual([undefined, []])
  expect([decoded?.message(), asked]).toEqual([{ kind: 'foreign' }, [7]])
})
