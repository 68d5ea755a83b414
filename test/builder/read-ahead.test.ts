// Chains that are read before their messages come: many at once, and a fault is met by whose it is.

import { expect, test } from 'vitest'
import { must } from '../../src/lib/assert.ts'
import { readHead } from '../../src/store/heads.ts'
import { blockKey } from '../../src/store/layout.ts'
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
  let inFlight = 0
  let most = 0
  const slow = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== 'get') return typeof member === 'function' ? (member.bind(target) as unknown) : member
      return async (key: string) => {
        most = Math.max(most, ++inFlight)
        await new Promise((resolve) => setTimeout(resolve, 2))
        inFlight--
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

test('a chain that cannot be read ahead halts its dataset, and no other', async () => {
  const log = openMemoryLog()
  const store = openMemoryStore()
  const writer = new TestWriter('w')
  const [good = '', bad = ''] = ['good', 'bad'].map(datasetId)
  await log.append(0, [writer.create(good, 'acme/good'), writer.create(bad, 'acme/bad')])
  await buildAll(log, store)
  await store.delete(blockKey(bad, must(await readHead(store, bad), 'a head').hash))
  await log.append(0, [writer.rows(bad, [{ rows: 2 }]), writer.rows(good, [{ rows: 3 }])])
  const { builder } = await start(log, store)
  await until('the log has been read', () => builder.openRows() === 3)
  expect(builder.status().halted).toMatchObject([{ dataset: bad, reason: 'ChainBroken' }])
  await builder.stop()
})
