// Records of names: who has one, and what later generations of it say.

import { describe, expect, test } from 'vitest'
import { type Deletion, nameCodec, type NameRecord } from '../../../src/libraries/odf/chain/records.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { generationKey, nameKey } from '../../../src/node/store/layout.ts'
import * as names from '../../../src/node/store/names.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

const id = `did:odf:fed01${'ab'.repeat(32)}`
const record: NameRecord = { id, alias: 'Acme/Temps', log: 'log-1', partition: 0, visibility: 'public' }

describe('a name', () => {
  test('belongs to the first dataset that takes it, in any letter case', async () => {
    const store = openMemoryStore()
    expect(await names.putName(store, record)).toEqual({ outcome: 'won' })
    const other = { ...record, id: id.replaceAll('ab', 'cd'), alias: 'ACME/TEMPS' }
    expect(await names.putName(store, other)).toEqual({ outcome: 'lost', inForce: record })
    expect(await names.readName(store, 'acme/tEmps')).toEqual(record)
    expect(await names.readName(store, 'acme/other')).toBeUndefined()
  })

  test('has rules of ingest where they are set, and none that is not known', () => {
    const set: NameRecord = {
      ...record,
      ingest: { eventTime: 'ts', eventTimeUnit: 'ms', flatten: true, dedupe: 'body' },
    }
    const bytes = nameCodec.encode(set)
    expect(nameCodec.decode(bytes)).toEqual(set)
    for (const ingest of ['{}', '{"flatten":false}', '{"eventTimeUnit":"min"}', '{"preset":"ttn"}', '{"records":1}']) {
      const text = new TextDecoder().decode(bytes).replace(/"ingest":\{[^}]*\}/, `"ingest":${ingest}`)
      expect(() => nameCodec.decode(utf8(text))).toThrow(DecodeError)
    }
  })

  test('has a freshness where it is set, and is the bytes of before where it is not', () => {
    const text = (one: NameRecord): string => new TextDecoder().decode(nameCodec.encode(one))
    const plain = `"alias":"Acme/Temps","id":"${id}","log":"log-1","partition":0,"visibility":"public"}`
    expect(text(record)).toBe(`{${plain}`)
    expect(nameCodec.decode(utf8(`{${plain}`))).toEqual(record)
    const set = { ...record, freshnessMs: 5_000 }
    expect(nameCodec.decode(nameCodec.encode(set))).toEqual(set)
  })

  test('that stands under another is an error', async () => {
    const store = openMemoryStore()
    await store.put(nameKey('acme/b'), nameCodec.encode(record))
    await expect(names.readName(store, 'acme/b')).rejects.toThrow(DecodeError)
    await expect(names.putName(store, { ...record, alias: 'acme/b' })).rejects.toThrow(DecodeError)
  })

  test('is listed in lower case by account and dataset', async () => {
    const store = openMemoryStore()
    for (const alias of ['b/x', 'A/z', 'A/y']) await names.putName(store, { ...record, alias })
    expect(await names.listNames(store)).toEqual(['a/y', 'a/z', 'b/x'])
  })
})

describe('a changed name', () => {
  const of = (sequence: number): Parameters<typeof names.changeName>[1] => ({ id, alias: 'acme/TEMPS', sequence })

  test('is a generation of its own, in exactly these bytes, and the creation stays', async () => {
    const store = openMemoryStore()
    await names.putName(store, record)
    const changed = { ...record, visibility: 'private', changed: 7 }
    expect(await names.changeName(store, of(7), { visibility: 'private' })).toEqual(changed)
    expect(await names.readName(store, 'ACME/temps')).toEqual(changed)
    expect(generationKey('Acme/Temps', 1)).toBe('aliases/acme/temps/1')
    expect(new TextDecoder().decode(await store.get('aliases/acme/temps/1'))).toBe(
      `{"name":{"alias":"Acme/Temps","changed":7,"id":"${id}","log":"log-1","partition":0,"visibility":"private"},"state":"is"}`,
    )
    expect(await store.get(nameKey('acme/temps'))).toEqual(nameCodec.encode(record))
    expect(await names.listNames(store)).toEqual(['acme/temps'])
    expect(await names.listChangedNames(store)).toEqual(['acme/temps'])
  })

  test('is changed once by each block, and by no earlier one after it', async () => {
    const store = openMemoryStore()
    await names.putName(store, record)
    await names.changeName(store, of(7), { freshnessMs: 500, ingest: { dedupe: 'id' } })
    for (const sequence of [7, 3]) await names.changeName(store, of(sequence), { visibility: 'private' })
    expect(await names.generationOf(store, 'acme/temps')).toBe(1)
    expect(await names.readName(store, 'acme/temps')).toMatchObject({ visibility: 'public', changed: 7 })
    await names.changeName(store, of(9), { freshnessMs: 0, ingest: {} })
    expect(await names.readName(store, 'acme/temps')).toEqual({ ...record, changed: 9 })
  })

  test('keeps what writers at the same time have set, each as its own generation', async () => {
    const store = openMemoryStore()
    await names.putName(store, record)
    // Two builders that both have block 5, then one with block 6.
    await Promise.all(
      [5, 5, 6].map((sequence) => names.changeName(store, of(sequence), { freshnessMs: sequence * 100 })),
    )
    expect(await names.readName(store, 'acme/temps')).toMatchObject({ freshnessMs: 600, changed: 6 })
    expect(await names.generationOf(store, 'acme/temps')).toBeLessThanOrEqual(2)
  })

  test('is not that of another dataset', async () => {
    const store = openMemoryStore()
    expect(await names.changeName(store, of(1), { visibility: 'private' })).toBeUndefined()
    await names.putName(store, { ...record, id: id.replaceAll('ab', 'cd') })
    expect(await names.changeName(store, of(1), { visibility: 'private' })).toBeUndefined()
    expect(await names.readName(store, 'acme/temps')).toMatchObject({ visibility: 'public' })
  })
})

test('the generation that holds is found from any one that is known, with few reads', async () => {
  for (let last = 0; last <= 20; last++) {
    const there = new Set(Array.from({ length: last }, (_, i) => generationKey('acme/temps', i + 1)))
    for (let known = 0; known <= last; known++) {
      let reads = 0
      const get = async (key: string) => (reads++, there.has(key) ? new Uint8Array() : undefined)
      expect(await names.generationOf({ get }, 'acme/temps', known)).toBe(last)
      expect(reads).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(last - known + 1)))
    }
  }
})

// A builder may come late with a restoration that another has committed.
test('a dataset that was deleted again stays deleted, under whatever name it was to be restored', async () => {
  const store = openMemoryStore()
  const times = { at: '2026-03-01T00:00:00.000Z', until: '2026-03-08T00:00:00.000Z' }
  await names.putName(store, record)
  await names.deleteName(store, { id, alias: record.alias, sequence: 3 }, times, {
    log: 'log-1',
    partition: 0,
    position: 5,
  })
  const deletion = must(await names.readDeletion(store, id), 'it is deleted')
  const restored = await names.claimName(store, deletion.name, { alias: record.alias, sequence: 4 })
  expect(restored).toMatchObject({ id, changed: 4 })
  // Repeated before it was noted, and after.
  expect(await names.claimName(store, deletion.name, { alias: record.alias, sequence: 4 })).toEqual(restored)
  await names.putRestored(store, id, 4, record.alias)
  expect(await names.claimName(store, deletion.name, { alias: record.alias, sequence: 4 })).toEqual(restored)
  await names.deleteName(store, { id, alias: record.alias, sequence: 6 }, times, {
    log: 'log-1',
    partition: 0,
    position: 9,
  })
  for (const alias of [record.alias, 'acme/other']) {
    expect(await names.claimName(store, deletion.name, { alias, sequence: 4 })).toBeUndefined()
    expect(await names.readName(store, alias)).toBeUndefined()
  }
  expect(await names.readDeletion(store, id)).toMatchObject({ name: { alias: record.alias } })
})

test('a restoration that comes before the deletion has freed the name is not undone by that', async () => {
  const store = openMemoryStore()
  await names.putName(store, record)
  const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' }
  const freedAt = { log: 'log-1', partition: 0, position: 1 }
  const deleted = { id, alias: record.alias, sequence: 5 }
  // Its writer stops between the two records of the deletion.
  const stops: ObjectStore = {
    ...store,
    put: (key, bytes) => (key.startsWith('aliases/') ? Promise.reject(new Error('stopped')) : store.put(key, bytes)),
  }
  await expect(names.deleteName(stops, deleted, times, freedAt)).rejects.toThrow('stopped')
  const deletion = must(await names.readDeletion(store, id), 'a deletion')
  const restored = await names.claimName(store, deletion.name, { alias: record.alias, sequence: 6 })
  await names.deleteName(store, deleted, times, freedAt)
  expect(await names.readName(store, record.alias)).toEqual(restored)
})

test('what is found of a name is durable before anything goes on from it', async () => {
  const store = openMemoryStore()
  const durable = new Set<string>()
  const watched: ObjectStore = { ...store, makeDurable: async (prefix) => void durable.add(prefix) }
  const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' }
  const freedAt = { log: 'log-1', partition: 0, position: 1 }
  const deletion: Deletion = { state: 'deleted', name: record, ...times }
  const of = (sequence: number) => ({ id, alias: record.alias, sequence })
  await names.putName(store, record)
  const steps = [
    () => names.putName(watched, record),
    () => names.changeName(watched, of(3), { visibility: 'private' }),
    () => names.changeName(watched, of(3), { visibility: 'private' }),
    () => names.deleteName(watched, of(5), times, freedAt),
    () => names.deleteName(watched, of(5), times, freedAt),
    () => names.claimName(watched, deletion.name, of(6)),
    () => names.claimName(watched, deletion.name, of(6)),
  ]
  for (const [i, step] of steps.entries()) {
    durable.clear()
    await step()
    expect([...durable]).toEqual([i < 2 ? 'names/acme' : 'aliases/acme/temps'])
  }
})

test('a builder that finds a name freed makes that durable before it goes on', async () => {
  const store = openMemoryStore()
  const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' }
  await names.putName(store, record)
  await names.deleteName(store, { id, alias: record.alias, sequence: 5 }, times, {
    log: 'log-1',
    partition: 0,
    position: 1,
  })
  const durable: string[] = []
  const watched: ObjectStore = { ...store, makeDurable: async (prefix) => void durable.push(prefix) }
  await names.settleDeletion(watched, id)
  expect(durable).toEqual([`deletions/${id.slice(id.lastIndexOf(':') + 1)}`, 'aliases/acme/temps'])
})
