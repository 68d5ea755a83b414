// Checkpoints as bytes, and what a chain of them remembers.

import { describe, expect, test } from 'vitest'
import { loadDataset } from '../../../src/node/builder/load-dataset.ts'
import {
  type CheckpointContent,
  decodeCheckpoint,
  encodeCheckpoint,
  findCommitted,
  findOutcome,
  firstIdGroup,
} from '../../../src/libraries/odf/chain/checkpoint.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { FoldHarness, snapshotOf } from './fold-harness.ts'
import { buildAll, datasetId, TestWriter } from './support.ts'

const hash = (digit: string): string => `f1620${digit.repeat(64)}`
const content: CheckpointContent = {
  number: 7,
  log: 'log-1',
  partition: 0,
  next: 42,
  moved: -1,
  outcomes: [
    { id: 'one', position: 40, index: 0, status: { kind: 'committed', start: 0, end: 9 } },
    {
      id: 'two',
      position: 41,
      index: 3,
      status: { kind: 'rejected', error: 'SchemaConflict', message: 'no column \'π\' "here"\n' },
    },
  ],
  schemaBlock: { hash: hash('a'), sequence: 1 },
  sourceBlock: { hash: hash('b'), sequence: 2 },
  attempts: [{ writer: 'w', n: 3, positions: [38, 39] }],
  writers: [{ writer: 'w', n: 5 }],
  ids: [{ number: 7, timeMs: 1_772_323_200_000, ids: [{ id: 'one', bodyHash: hash('c') }] }],
  earlier: { previous: hash('d') },
  sliceWriter: 'slice-1, zstd 1.5.7',
}

describe('a checkpoint', () => {
  test('reads as it was written, and is canonical JSON whatever its messages hold', () => {
    for (const message of ['plain', 'quote " and \\ back', 'π ≈ 3', 'tab\t', '\u007f', '🦀']) {
      const variant: CheckpointContent = {
        ...content,
        outcomes: [{ id: 'x', position: 1, index: 0, status: { kind: 'rejected', error: 'HeadMoved', message } }],
      }
      const bytes = encodeCheckpoint(variant)
      expect(bytes).toEqual(canonicalBytes(parseJson(bytes)))
      expect(decodeCheckpoint(bytes)).toEqual(variant)
    }
    expect(decodeCheckpoint(encodeCheckpoint(content))).toEqual(content)
    const arrival = { receivedMs: 1_772_323_200_000, acceptedMs: 1_772_323_200_001, mediaType: 'text/csv' }
    const keyed: CheckpointContent = {
      ...content,
      outcomes: content.outcomes.slice(0, 1).map((one) => ({ ...one, arrival })),
    }
    expect(decodeCheckpoint(encodeCheckpoint(keyed))).toEqual(keyed)
    const mark = { identity: hash('e'), epoch: 2, first: 40, last: 49, bodyHash: hash('c'), stream: 's' }
    const producing: CheckpointContent = {
      ...content,
      producers: { count: 3, from: 2, groups: [{ number: 7, timeMs: 1_772_323_200_000, marks: [mark] }] },
    }
    const bytes = encodeCheckpoint(producing)
    expect(decodeCheckpoint(bytes)).toEqual(producing)
    expect(bytes).toEqual(canonicalBytes(parseJson(bytes)))
    expect(new TextDecoder().decode(bytes)).toContain(
      `"producers":[3,2,[[7,1772323200000,[["${hash('e')}",2,40,49,"${hash('c')}","s"]]]]],"sliceWriter"`,
    )
  })

  test('tells the outcome of a batch by id and position', () => {
    expect(findOutcome(content, 'two', 41)?.status.kind).toBe('rejected')
    expect(findOutcome(content, 'two', 40)).toBeUndefined()
    expect(findCommitted(content, 'one')?.position).toBe(40)
    expect(findCommitted(content, 'two')).toBeUndefined()
  })

  test('is refused when it is none', () => {
    const text = new TextDecoder().decode(encodeCheckpoint(content))
    const bad = [
      '',
      '[]',
      '{}',
      text.replace('"version":1', '"version":2'),
      text.replace('"next":42', '"next":-1'),
      text.replace('"w",5', '"w","5"'),
      text.replace('"partition"', '"producers":[1,2],"partition"'),
      text.slice(1),
    ]
    for (const one of bad) expect(() => decodeCheckpoint(utf8(one))).toThrow(DecodeError)
  })

  test('holds the ids of 64 or 4,096 at the ends of groups', () => {
    expect([0, 62, 63, 64, 127, 4094, 4095, 4096, 8191].map(firstIdGroup)).toEqual([
      0, 62, 0, 64, 64, 4094, 0, 4096, 4096,
    ])
  })
})

/** Counts the reads of a store. */
function counting(store: ObjectStore): { store: ObjectStore; reads: () => number } {
  let reads = 0
  const get = (key: string): Promise<Uint8Array | undefined> => {
    reads++
    return store.get(key)
  }
  return { store: { ...store, get }, reads: () => reads }
}

test('all ids of a chain of 4,200 blocks are found again in a bounded number of objects', async () => {
  const dataset = datasetId('a')
  const writer = new TestWriter('w')
  const log = openMemoryLog()
  const store = openMemoryStore()
  const fold = new FoldHarness()
  const messages = [writer.create(dataset, 'acme/a')]
  for (let i = 0; i < 4_200; i++) {
    // A rejected batch costs no slice, which keeps this fast; every 50th block has a keyed one.
    messages.push(writer.rows(dataset, [i % 50 === 0 ? { key: `k${i}` } : { after: 0 }]))
    messages.push(writer.cut([{ dataset, sequence: 3 + i }]))
  }
  for (const message of messages) await fold.take(message)
  await log.append(0, messages)
  await buildAll(log, store)
  const counted = counting(store)
  const loaded = must(await loadDataset(counted.store, dataset), 'a chain')
  expect(loaded.state.ids.known.size).toBe(84)
  expect(snapshotOf(loaded.state)).toEqual(fold.snapshot())
  expect(counted.reads()).toBeLessThan(160)
})
