// Numbered streams in the fold: what of a range is taken, what a checkpoint remembers, and that no order of senders, cuts
// and repeats loses a record or takes one twice.

import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { endProducers, type ProducerMemory, restoreProducers } from '../../../src/node/builder/producer-memory.ts'
import { firstIdGroup } from '../../../src/libraries/odf/chain/checkpoint.ts'
import type { RejectRecord } from '../../../src/libraries/odf/chain/records.ts'
import type { ProducersHeld } from '../../../src/libraries/odf/chain/producers.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { encodeMessage } from '../../../src/node/log/messages.ts'
import { FoldHarness } from './fold-harness.ts'
import { batchOf, datasetId, TestWriter } from './support.ts'

const dataset = datasetId('a')
let fold: FoldHarness
let writer: TestWriter

beforeEach(async () => {
  fold = new FoldHarness()
  writer = new TestWriter('w')
  await fold.take(writer.create(dataset, 'acme/trips'))
})

/** Names of streams in a message have 22 characters. */
const named = (name: string): string => name.padEnd(22, '-')

interface Range {
  /** Its stream; a first range says after which one. */
  readonly of?: string
  readonly begins?: { readonly after?: string }
  readonly epoch?: number
  readonly first: number
  readonly last: number
  readonly rows?: number
  readonly body?: string
  readonly id?: string
}

const spec = ({ of = 'A', begins, epoch = 0, first, last, rows = last - first + 1, body, id = 'p' }: Range) => ({
  rows,
  body: body ?? `${first} to ${last}`,
  producer: {
    id,
    epoch,
    first,
    last,
    stream: named(of),
    ...(begins === undefined ? {} : { begins: begins.after === undefined ? {} : { after: named(begins.after) } }),
  },
})
const gap = (expected: number) => ({
  kind: 'rejected',
  error: 'SequenceGap',
  message: `The producer's next number is ${expected}.`,
})
const fenced = { kind: 'rejected', error: 'ProducerFenced', message: 'Another stream of the producer has begun.' }
const send = (...ranges: readonly Range[]) => fold.take(writer.rows(dataset, ranges.map(spec)))

describe('a range of records', () => {
  test('may begin anywhere, and goes on without a gap', async () => {
    await send({ begins: {}, first: 7, last: 9 })
    await send({ first: 11, last: 12 })
    await send({ first: 10, last: 10 })
    expect(fold.statuses()).toEqual([
      { kind: 'committed', start: 0, end: 2 },
      gap(10),
      { kind: 'committed', start: 3, end: 3 },
    ])
  })

  test('is a duplicate at or below the last number, and refused where the last range had other bytes', async () => {
    await send({ begins: {}, first: 0, last: 3 })
    await send({ first: 4, last: 9 })
    expect((await send({ first: 4, last: 9 })).effect).toBe('duplicate')
    expect((await send({ first: 0, last: 3, body: 'other' })).effect).toBe('duplicate')
    expect((await send({ first: 2, last: 5 })).effect).toBe('duplicate')
    await send({ first: 4, last: 9, body: 'other' })
    expect(fold.statuses().at(-1)).toMatchObject({ kind: 'rejected', error: 'IdempotencyKeyReused' })
    expect(fold.state.open?.rows).toBe(10)
  })

  test('is never split: one that is there in part is refused as a whole', async () => {
    await send({ begins: {}, first: 0, last: 9 })
    await send({ first: 1, last: 14 })
    await send({ of: 'B', begins: { after: 'A' }, first: 9, last: 12 })
    // Numbers may be given up.
    await send({ first: 10, last: 15, rows: 2 })
    expect(fold.statuses().slice(1)).toEqual([gap(10), gap(10), { kind: 'committed', start: 10, end: 11 }])
  })

  test('counts within its message too', async () => {
    await send({ begins: {}, first: 0, last: 1 }, { first: 2, last: 3 }, { first: 1, last: 4 }, { first: 4, last: 4 })
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['committed', 'committed', 'rejected', 'committed'])
    expect(fold.state.open?.sources).toEqual([{ positions: [1], ranges: [0, 4, 8, 9] }])
  })

  test('begins a stream after the one that it names alone, and ends that one', async () => {
    await send({ begins: {}, first: 0, last: 3 })
    await send({ of: 'B', begins: {}, first: 4, last: 5 })
    await send({ of: 'B', first: 4, last: 5 })
    await send({ of: 'B', begins: { after: 'A' }, first: 4, last: 5 })
    await send({ first: 6, last: 7 })
    await send({ of: 'C', begins: { after: 'A' }, first: 6, last: 7 })
    await send({ of: 'B', first: 6, last: 6 })
    expect(fold.statuses().slice(1)).toEqual([
      fenced,
      fenced,
      { kind: 'committed', start: 4, end: 5 },
      fenced,
      fenced,
      { kind: 'committed', start: 6, end: 6 },
    ])
  })

  test('whose records are there begins its stream without an outcome, and calls for a block', async () => {
    await send({ begins: {}, first: 0, last: 3 })
    await fold.take(writer.cut([{ dataset, sequence: fold.state.nextSequence }]))
    const wait = { ...batchOf(spec({ of: 'B', begins: { after: 'A' }, first: 2, last: 3 }), dataset), wait: true }
    expect(await fold.take(writer.rows(dataset, [{ rows: 2 }], { batches: [wait] }))).toMatchObject({
      effect: 'changed',
      waits: 'stream',
    })
    await fold.take(writer.cut([{ dataset, sequence: fold.state.nextSequence }]))
    const { rows, checkpoint } = must(fold.dataPlans.at(-1), 'a block')
    expect([rows, checkpoint.outcomes]).toEqual([0, []])
    // Numbers and hash are those of the last range that was taken.
    expect(checkpoint.producers?.groups.flatMap(({ marks }) => marks)).toMatchObject([
      { first: 0, last: 3, stream: named('B') },
    ])
    await send({ first: 4, last: 4 })
    await send({ of: 'B', first: 4, last: 5 })
    expect(fold.statuses()).toEqual([fenced, { kind: 'committed', start: 4, end: 5 }])
  })

  test('that goes on with a stream which never began is refused', async () => {
    await send({ first: 0, last: 1 })
    await send({ begins: {}, first: 0, last: 1 })
    await send({ epoch: 1, first: 2, last: 2 })
    expect(fold.statuses()).toMatchObject([
      { kind: 'rejected', error: 'SequenceGap' },
      { kind: 'committed' },
      { kind: 'rejected', error: 'SequenceGap' },
    ])
  })

  test('of a higher epoch starts anew and fences the lower ones off', async () => {
    await send({ begins: {}, first: 5, last: 9 })
    await send({ of: 'B', begins: {}, epoch: 3, first: 0, last: 1 })
    await send({ epoch: 2, first: 10, last: 10 })
    await send({ of: 'B', epoch: 3, first: 2, last: 2 })
    expect(fold.statuses().slice(1)).toEqual([
      { kind: 'committed', start: 5, end: 6 },
      { kind: 'rejected', error: 'ProducerFenced', message: 'The producer has a higher epoch: 3.' },
      { kind: 'committed', start: 7, end: 7 },
    ])
  })

  test('is of its token and id', async () => {
    await send({ begins: {}, first: 5, last: 9 }, { begins: {}, id: 'q', first: 0, last: 1 })
    const other = { ...batchOf(spec({ begins: {}, first: 0, last: 0 }), dataset), token: 'token-2' }
    await fold.take(writer.rows(dataset, [{}], { batches: [other] }))
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed'])
  })

  test('uses its numbers up where an operator rejects it, so that the stream goes on', async () => {
    const rejects = fold.source.rejects as Map<number, RejectRecord> // the test's own
    rejects.set(1, { dataset, reason: 'not ours', by: 'ops', at: '2026-03-01T00:00:00.000Z' })
    await send({ begins: {}, first: 0, last: 3 })
    await send({ first: 4, last: 5 })
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['rejected', 'committed'])
  })
})

test('a message whose range has fewer numbers than rows, or a key too, is never written', () => {
  const batch = batchOf(spec({ first: 0, last: 0, rows: 2 }), dataset)
  const header = {
    kind: 'rows' as const,
    writer: writer.writer,
    n: 9,
    at: batch.receivedAt,
    dataset,
    schemaSequence: 1,
  }
  expect(() => encodeMessage({ ...header, batches: [batch] })).toThrow('fewer numbers')
  const keyed = { ...batchOf(spec({ first: 0, last: 0 }), dataset), key: 'k' }
  expect(() => encodeMessage({ ...header, batches: [keyed] })).toThrow('a key beside a producer')
})

/** Connections of one producer: each is opened, begins at a number and goes on in pieces; steps of all are mixed. */
const connections = fc.record({
  senders: fc.array(
    fc.record({ from: fc.nat(30), pieces: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }) }),
    { minLength: 1, maxLength: 5 },
  ),
  order: fc.array(fc.nat(4), { maxLength: 60 }),
  cutEvery: fc.integer({ min: 1, max: 5 }),
})

test('connections of one producer, mixed in any way, leave whole ranges of one after another, each number once', async () => {
  await fc.assert(
    fc.asyncProperty(connections, async ({ senders, order, cutEvery }) => {
      fold = new FoldHarness()
      await fold.take(writer.create(dataset, 'acme/trips'))
      // The model: which stream is the current one, and the number that comes next.
      let current: string | undefined
      let expected: number | undefined
      const streams = senders.map(({ from, pieces }, at) => {
        let next = from
        const ranges = pieces.map((rows) => ({ first: next, last: (next += rows) - 1 }))
        return { name: `S${at}`, ranges, begins: undefined as { after?: string } | undefined, hasBegun: false }
      })
      for (const [step, turn] of order.entries()) {
        const stream = must(streams[turn % streams.length], 'a stream')
        if (stream.begins === undefined) {
          stream.begins = current === undefined ? {} : { after: current }
          continue
        }
        const range = stream.ranges.shift()
        if (range === undefined) continue
        const before = fold.state.nextOffset
        await send({ of: stream.name, ...(stream.hasBegun ? {} : { begins: stream.begins }), ...range })
        const isCurrent = current === (stream.hasBegun ? stream.name : stream.begins.after)
        const isWhole = expected === undefined || range.first === expected || range.last < expected
        const isNew = isCurrent && (expected === undefined || range.first === expected)
        expect(fold.state.nextOffset - before).toBe(isNew ? range.last - range.first + 1 : 0)
        if (isNew) expected = range.last + 1
        if (isCurrent && isWhole) current = stream.name
        stream.hasBegun = true
        if (step % cutEvery === 0) await fold.take(writer.cut([{ dataset, sequence: fold.state.nextSequence }]))
      }
    }),
    { numRuns: 300 },
  )
})

describe('memory of producers', () => {
  const hourMs = 3_600_000

  /** Checkpoints of a dataset whose blocks are heard of by these producers, and the memory at the end. */
  function history(blocks: readonly (readonly string[])[], everyMs: number) {
    const memory: ProducerMemory = { ended: new Map(), open: new Map() }
    const checkpoints: (ProducersHeld | undefined)[] = []
    for (const [number, heard] of blocks.entries()) {
      for (const name of heard) {
        const identity = sha3Hash(utf8(name))
        memory.open.delete(identity)
        memory.open.set(identity, { identity, epoch: 0, first: number, last: number, bodyHash: identity, stream: 's' })
      }
      checkpoints.push(endProducers(memory, number, number * everyMs))
    }
    return { memory, checkpoints }
  }

  /** As a restart finds it from the last checkpoint, by the links that ids go by; and how many it read. */
  function restored(checkpoints: readonly (ProducersHeld | undefined)[], everyMs: number) {
    const head = checkpoints.length - 1
    const last = checkpoints[head]
    if (last === undefined) return { memory: undefined, reads: 1 }
    let groups = [...last.groups]
    let reads = 1
    for (let number = head; firstIdGroup(number) > last.from; reads++) {
      number = firstIdGroup(number) - 1
      groups = [...(checkpoints[number]?.groups ?? []), ...groups]
    }
    return { memory: restoreProducers({ from: last.from, groups }, head * everyMs), reads }
  }

  test('is the same after a restart anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }), { minLength: 1, maxLength: 200 }),
        (blocks) => {
          const { memory, checkpoints } = history(blocks, hourMs)
          const ended = [...(restored(checkpoints, hourMs).memory?.ended ?? [])]
          expect(ended).toEqual([...memory.ended])
          expect(checkpoints.at(-1)?.count ?? 0).toBe(memory.ended.size)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('keeps the last 10,000 producers and all of the last 7 days, also across a restart', () => {
    const names = (from: number, count: number) => Array.from({ length: count }, (_, i) => `p${from + i}`)
    // 30 new ones in each of 400 blocks, two hours apart; some are heard of again and again.
    const blocks = Array.from({ length: 400 }, (_, number) => [...names(30 * number, 30), `p${number % 7}`])
    const { memory, checkpoints } = history(blocks, 2 * hourMs)
    expect(memory.ended.size).toBe(10_000)
    expect(memory.ended.has(sha3Hash(utf8('p3')))).toBe(true)
    expect(memory.ended.has(sha3Hash(utf8('p40')))).toBe(false)
    expect([...must(restored(checkpoints, 2 * hourMs).memory, 'a memory').ended]).toEqual([...memory.ended])
    // The same within a minute: nobody is forgotten.
    expect(history(blocks, 100).memory.ended.size).toBe(12_000)
  })

  test('of a producer that is long unheard is found in few checkpoints', () => {
    const { memory, checkpoints } = history([['old'], ...Array.from({ length: 9_000 }, () => ['new'])], hourMs)
    const { memory: found, reads } = restored(checkpoints, hourMs)
    expect([...must(found, 'a memory').ended]).toEqual([...memory.ended])
    expect(reads).toBeLessThan(130)
  })
})
