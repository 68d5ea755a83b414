// Numbered streams in the fold: what of a range is taken, what a checkpoint remembers, and that no order of senders, cuts
// and repeats loses a record or takes one twice.

import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { endProducers, type ProducerMemory, restoreProducers } from '../../src/builder/producer-memory.ts'
import { firstIdGroup } from '../../src/chain/checkpoint.ts'
import type { RejectRecord } from '../../src/chain/records.ts'
import type { ProducersHeld } from '../../src/chain/producers.ts'
import { sha3Hash } from '../../src/ids/identifiers.ts'
import { must } from '../../src/lib/assert.ts'
import { utf8 } from '../../src/lib/bytes.ts'
import { encodeMessage } from '../../src/log/messages.ts'
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

interface Range {
  readonly epoch?: number
  readonly first: number
  readonly last: number
  readonly rows?: number
  readonly body?: string
  readonly id?: string
}

const spec = ({ epoch = 0, first, last, rows = last - first + 1, body, id = 'p' }: Range) => ({
  rows,
  body: body ?? `${first} to ${last}`,
  producer: { id, epoch, first, last },
})
const send = (...ranges: readonly Range[]) => fold.take(writer.rows(dataset, ranges.map(spec)))

describe('a range of records', () => {
  test('may begin anywhere, and goes on without a gap', async () => {
    await send({ first: 7, last: 9 })
    await send({ first: 11, last: 12 })
    await send({ first: 10, last: 10 })
    expect(fold.statuses()).toEqual([
      { kind: 'committed', start: 0, end: 2 },
      { kind: 'rejected', error: 'SequenceGap', message: "The producer's next number is 10." },
      { kind: 'committed', start: 3, end: 3 },
    ])
  })

  test('is a duplicate at or below the last number, and refused where the last range had other bytes', async () => {
    await send({ first: 0, last: 3 })
    await send({ first: 4, last: 9 })
    expect((await send({ first: 4, last: 9 })).effect).toBe('duplicate')
    expect((await send({ first: 0, last: 3, body: 'other' })).effect).toBe('duplicate')
    expect((await send({ first: 2, last: 5 })).effect).toBe('duplicate')
    await send({ first: 4, last: 9, body: 'other' })
    expect(fold.statuses().at(-1)).toMatchObject({ kind: 'rejected', error: 'IdempotencyKeyReused' })
    expect(fold.state.open?.rows).toBe(10)
  })

  test('that is cut otherwise is taken without what is there', async () => {
    await send({ first: 0, last: 9 })
    // 14 numbers, of which the first two were given up: twelve rows, of which seven are there.
    await send({ first: 1, last: 14, rows: 12 })
    expect(fold.statuses().at(-1)).toEqual({ kind: 'committed', start: 10, end: 14 })
    expect(fold.state.open?.sources.at(-1)?.ranges).toEqual([7, 12])
    // Numbers that were given up are used up.
    await send({ first: 13, last: 18, rows: 2 })
    expect(fold.state.open?.sources.at(-1)?.ranges).toEqual([0, 2])
  })

  test('counts within its message too', async () => {
    await send({ first: 0, last: 1 }, { first: 2, last: 3 }, { first: 1, last: 4 }, { first: 6, last: 6 })
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed', 'rejected'])
    expect(fold.state.open?.sources).toEqual([{ positions: [1], ranges: [0, 4, 7, 8] }])
  })

  test('of a higher epoch starts anew and fences the lower ones off', async () => {
    await send({ first: 5, last: 9 })
    await send({ epoch: 3, first: 0, last: 1 })
    await send({ epoch: 2, first: 10, last: 10 })
    await send({ epoch: 3, first: 2, last: 2 })
    expect(fold.statuses().slice(1)).toEqual([
      { kind: 'committed', start: 5, end: 6 },
      { kind: 'rejected', error: 'ProducerFenced', message: 'The producer has a higher epoch: 3.' },
      { kind: 'committed', start: 7, end: 7 },
    ])
  })

  test('is of its token and id', async () => {
    await send({ first: 5, last: 9 }, { id: 'q', first: 0, last: 1 })
    const other = { ...batchOf(spec({ first: 0, last: 0 }), dataset), token: 'token-2' }
    await fold.take(writer.rows(dataset, [{}], { batches: [other] }))
    expect(fold.statuses().map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed'])
  })

  test('uses its numbers up where an operator rejects it, so that the stream goes on', async () => {
    const rejects = fold.source.rejects as Map<number, RejectRecord> // the test's own
    rejects.set(1, { dataset, reason: 'not ours', by: 'ops', at: '2026-03-01T00:00:00.000Z' })
    await send({ first: 0, last: 3 })
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

/** What senders of one stream do: each begins at a number and goes on from there in pieces; steps of all are mixed. */
const sendings = fc.record({
  senders: fc.array(
    fc.record({ from: fc.nat(30), pieces: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }) }),
    { minLength: 1, maxLength: 5 },
  ),
  order: fc.array(fc.nat(4), { maxLength: 40 }),
  cutEvery: fc.integer({ min: 1, max: 5 }),
})

test('senders of one stream, mixed in any way, leave each record once and in order, up to the last that was taken', async () => {
  await fc.assert(
    fc.asyncProperty(sendings, async ({ senders, order, cutEvery }) => {
      fold = new FoldHarness()
      await fold.take(writer.create(dataset, 'acme/trips'))
      const queues = senders.map(({ from, pieces }) => {
        let next = from
        return pieces.map((rows) => ({ first: next, last: (next += rows) - 1 }))
      })
      const taken: number[] = []
      let expected: number | undefined
      for (const [step, turn] of order.entries()) {
        const range = queues[turn % queues.length]?.shift()
        if (range === undefined) continue
        const before = fold.state.nextOffset
        await send(range)
        const rows = fold.state.nextOffset - before
        // The rows that were taken are the last ones of the range.
        for (let number = range.last - rows + 1; number <= range.last; number++) taken.push(number)
        const isNext = expected === undefined || (range.first <= expected && range.last >= expected)
        expect(rows).toBe(isNext ? range.last - (expected ?? range.first) + 1 : 0)
        if (isNext) expected = range.last + 1
        if (step % cutEvery === 0) await fold.take(writer.cut([{ dataset, sequence: fold.state.nextSequence }]))
      }
      const [first = 0] = taken
      expect(taken).toEqual(taken.map((_, at) => first + at))
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
        memory.open.set(identity, { identity, epoch: 0, first: number, last: number, bodyHash: identity })
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
