// The builder end to end over memory log and memory store: from messages to chains.

import { describe, expect, test } from 'vitest'
import { decodeCheckpoint } from '../../src/chain/checkpoint.ts'
import { sha3Hash } from '../../src/ids/multihash.ts'
import { assert, must } from '../../src/lib/assert.ts'
import type { AddData, MetadataBlock } from '../../src/model/events.ts'
import { decodeBlock } from '../../src/odf/block.ts'
import { readName } from '../../src/store/records.ts'
import { readHead } from '../../src/store/heads.ts'
import { blockKey, checkpointKey } from '../../src/store/layout.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { buildAll, datasetId, quickCuts, schemaOf, start, TestWriter, until, userFields } from './support.ts'

const dataset = datasetId('a')

async function chainOf(store: ObjectStore, id: string): Promise<{ hash: string; block: MetadataBlock }[]> {
  const blocks: { hash: string; block: MetadataBlock }[] = []
  let hash = (await readHead(store, id))?.hash
  while (hash !== undefined) {
    const bytes = must(await store.get(blockKey(id, hash)), 'a block')
    expect(sha3Hash(bytes)).toBe(hash)
    const { block } = decodeBlock(bytes)
    blocks.unshift({ hash, block })
    hash = block.prevBlockHash
  }
  return blocks
}

function lastData(chain: readonly { block: MetadataBlock }[]): AddData {
  const event = must(chain.at(-1), 'a head').block.event
  assert(event.kind === 'AddData', 'the head has data')
  return event
}

describe('a builder', () => {
  test('makes a dataset from a creation and commits rows at a cut', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    await log.append(0, [
      writer.create(dataset, 'Acme/Trips'),
      writer.rows(dataset, [{ rows: 3 }, { rows: 2, key: 'k' }]),
      writer.cut([{ dataset, sequence: 3 }]),
    ])
    const { announced } = await buildAll(log, store)
    const chain = await chainOf(store, dataset)
    expect(chain.map(({ block }) => block.event.kind)).toEqual(['Seed', 'SetDataSchema', 'AddPushSource', 'AddData'])
    const event = lastData(chain)
    expect(event.newData?.offsetInterval).toEqual({ start: 0, end: 4 })
    expect(event.newWatermark).toBe('2026-03-01T00:00:00.004Z')
    const hash = must(event.newCheckpoint, 'a checkpoint').physicalHash
    const checkpoint = decodeCheckpoint(must(await store.get(checkpointKey(dataset, hash)), 'a checkpoint'))
    expect(checkpoint.outcomes.map(({ position, index, status }) => [position, index, status])).toEqual([
      [1, 0, { kind: 'committed', start: 0, end: 2 }],
      [1, 1, { kind: 'committed', start: 3, end: 4 }],
    ])
    expect(checkpoint.next).toBe(3)
    expect((await readName(store, 'acme/trips'))?.alias).toBe('Acme/Trips')
    expect(announced.map(({ sequence, headSequence, next }) => [sequence, headSequence, next])).toEqual([
      [0, 2, 1],
      [3, 3, 3],
    ])
  })

  test('builds nothing for a creation whose name is taken', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    await log.append(0, [writer.create(dataset, 'Acme/Trips')])
    await buildAll(log, store)
    const others = Array.from({ length: 20 }, (_, i) => datasetId(`late ${i}`))
    await log.append(0, [
      ...others.map((id) => writer.create(id, 'acme/TRIPS')),
      writer.create(datasetId('b'), 'acme/b'),
    ])
    await buildAll(log, store)
    expect((await readName(store, 'acme/trips'))?.id).toBe(dataset)
    const folders = [dataset, datasetId('b')].map((id) => id.slice('did:odf:'.length))
    expect((await store.list('datasets')).toSorted()).toEqual(folders.toSorted())
  })

  test('cuts by itself once rows have waited', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    const running = await start(log, store, { options: quickCuts })
    await log.append(0, [writer.create(dataset, 'acme/trips')])
    for (let i = 0; i < 5; i++) {
      await log.append(0, [writer.rows(dataset, [{ wait: true }])])
      await until('a block', () => running.announced.length === i + 2)
    }
    await running.builder.stop()
    const chain = await chainOf(store, dataset)
    expect(chain).toHaveLength(8)
    expect(lastData(chain).newData?.offsetInterval).toEqual({ start: 4, end: 4 })
  })

  test('adds a column with its rows', async () => {
    const log = openMemoryLog()
    const store = openMemoryStore()
    const writer = new TestWriter('w')
    const fields = [...userFields, { name: 'zone', type: { kind: 'Option', inner: { kind: 'String' } } } as const]
    await log.append(0, [
      writer.create(dataset, 'acme/trips'),
      writer.rows(dataset, [{ rows: 3 }]),
      writer.rows(dataset, [{ rows: 2 }], { fields, schema: schemaOf(fields) }),
      writer.cut([{ dataset, sequence: 3 }]),
    ])
    await buildAll(log, store)
    const chain = await chainOf(store, dataset)
    expect(chain.map(({ block }) => block.event.kind).slice(3)).toEqual(['SetDataSchema', 'AddPushSource', 'AddData'])
  })
})
