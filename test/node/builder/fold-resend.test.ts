// Resends and large batches in the fold: what counts, what is dropped, what a checkpoint keeps.

import { beforeEach, describe, expect, test } from 'vitest'
import { FoldHarness } from './fold-harness.ts'
import { datasetId, TestWriter } from './support.ts'

const dataset = datasetId('a')
let fold: FoldHarness
let writer: TestWriter

beforeEach(async () => {
  fold = new FoldHarness()
  writer = new TestWriter('w')
  await fold.take(writer.create(dataset, 'acme/trips'))
})

const cut = (sequence: number, timeMs?: number): Uint8Array => writer.cut([{ dataset, sequence }], timeMs)

describe('a resend', () => {
  test('has no effect, whether committed, open or rejected', async () => {
    const open = writer.rows(dataset, [{}])
    const bad = writer.rows(dataset, [{ after: 0 }])
    await fold.takeAll([open, bad])
    const before = fold.snapshot()
    expect(await fold.takeAll([open, bad])).toEqual([{ effect: 'dropped' }, { effect: 'dropped' }])
    expect(fold.snapshot()).toEqual(before)
    await fold.take(cut(3))
    const after = fold.snapshot()
    await fold.takeAll([open, bad])
    expect(fold.snapshot()).toEqual(after)
  })

  test('of a part has no effect', async () => {
    const [one, two, three] = writer.parts(dataset, { rows: 100 }, 3)
    const results = await fold.takeAll([one, one, two, one, two, three, three].filter((part) => part !== undefined))
    expect(results.map(({ effect }) => effect)).toEqual([
      'changed',
      'dropped',
      'changed',
      'dropped',
      'dropped',
      'changed',
      'dropped',
    ])
    expect(fold.state.open?.rows).toBe(100)
  })

  test('is known of the 64 writers heard last', async () => {
    const first = new TestWriter('first').rows(dataset, [{}])
    await fold.take(first)
    for (let i = 0; i < 63; i++) await fold.take(new TestWriter(`w${i}`).rows(dataset, [{}]))
    expect((await fold.take(first)).effect).toBe('dropped')
    await fold.take(new TestWriter('one more').rows(dataset, [{}]))
    expect((await fold.take(first)).effect).toBe('changed')
    expect(fold.state.writers.size).toBe(64)
  })
})

describe('a large batch', () => {
  test('counts as one batch once its last part has come, among other messages', async () => {
    const [one, two] = writer.parts(dataset, { rows: 50 }, 2)
    const other = new TestWriter('other')
    await fold.takeAll([one ?? new Uint8Array(), other.rows(dataset, [{ rows: 2 }])])
    expect(fold.state.open?.rows).toBe(2)
    await fold.take(two ?? new Uint8Array())
    expect(fold.state.open?.outcomes.map(({ position, index, status }) => [position, index, status])).toEqual([
      [2, 0, { kind: 'committed', start: 0, end: 1 }],
      [3, 0, { kind: 'committed', start: 2, end: 51 }],
    ])
    expect(fold.state.open?.sources.at(-1)).toEqual({ positions: [1, 3], ranges: [0, 50] })
  })

  test('with a missing part is dropped', async () => {
    const [one, , three] = writer.parts(dataset, { rows: 50 }, 3)
    await fold.take(one ?? new Uint8Array())
    const before = fold.snapshot()
    expect(await fold.take(three ?? new Uint8Array())).toEqual({ effect: 'dropped' })
    expect(fold.snapshot()).toEqual(before)
  })

  test('that is aborted leaves nothing but a call for a cut, and later parts are dropped', async () => {
    const [one, two] = writer.parts(dataset, { rows: 50 }, 2)
    const attempt = { writer: writer.writer, n: writer.n - 1 }
    await fold.takeAll([one ?? new Uint8Array(), writer.abort(dataset, attempt)])
    expect(fold.state.attempts.size).toBe(0)
    expect(fold.state.open).toMatchObject({ rows: 0, outcomes: [] })
    expect(await fold.take(two ?? new Uint8Array())).toEqual({ effect: 'dropped' })
    expect(await fold.take(writer.abort(dataset, attempt))).toEqual({ effect: 'dropped' })
    expect((await fold.take(cut(3))).plan).toMatchObject({ rows: 0, sequence: 3 })
  })

  test('keeps its open parts in the checkpoint of a block that ends meanwhile, even by its own last part', async () => {
    const other = new TestWriter('other')
    const parts = writer.parts(dataset, { rows: 262_144 }, 3)
    await fold.takeAll([other.rows(dataset, [{}]), ...parts.slice(0, 2)])
    await fold.takeAll([cut(3), other.rows(dataset, [{}])])
    const name = { writer: writer.writer, n: 2 }
    expect(fold.dataPlans[0]?.checkpoint.attempts).toEqual([{ ...name, positions: [2, 3] }])
    await fold.take(parts[2] ?? new Uint8Array())
    expect(fold.dataPlans[1]?.checkpoint.attempts).toEqual([{ ...name, positions: [2, 3] }])
    expect(fold.dataPlans[1]).toMatchObject({ rows: 1, next: 6 })
    expect(fold.state.attempts.size).toBe(0)
  })

  test('first complete attempt of an id counts, the second is a duplicate that still calls for a cut', async () => {
    const again = new TestWriter('again')
    const first = writer.parts(dataset, { rows: 9, key: 'k' }, 2)
    const second = again.parts(dataset, { rows: 9, key: 'k' }, 2)
    await fold.takeAll([first[0], second[0], second[1], first[1]].filter((part) => part !== undefined))
    expect(fold.state.open?.rows).toBe(9)
    expect(fold.state.open?.outcomes).toHaveLength(1)
    expect(fold.state.attempts.size).toBe(0)
  })
})
