// The gateway over a real builder: keys, replays in every state, If-Match, races, restarts, a builder that lags.

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { viewOf } from '../../../src/node/catalog/dataset-chain.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import type { RowsHeader } from '../../../src/node/log/messages.gen.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { kindOf, ndjson, type Post, receiptOf, type Rig, rigOf, withDataset } from './support.ts'

const keyed = (key: string, more: Record<string, string> = {}): Post => ({
  headers: { 'idempotency-key': key, ...more },
})
const soon = { prefer: 'respond-async' }

async function rowsOf(rig: Rig): Promise<number> {
  return must(await rig.catalog.byAlias('a/b'), 'a dataset').head.rows
}

describe('a batch', () => {
  test('is in a block when the caller has waited, with its offsets', async () => {
    const rig = await withDataset()
    const answer = await rig.post('a/b', ndjson([{ n: 2 }, { n: 3 }]))
    expect(answer).toMatchObject({ status: 200, replayed: false, preferenceApplied: 'wait=20' })
    expect(receiptOf(answer)).toMatchObject({
      status: 'committed',
      records: { received: 2, committed: 2, duplicates: 0 },
      offsets: { start: 1, end: 2 },
    })
  })

  test('is durable and not yet in a block when the caller does not wait', async () => {
    const rig = await withDataset()
    await rig.pause()
    const answer = await rig.post('a/b', ndjson([{ n: 2 }]), { headers: soon })
    expect(answer).toMatchObject({ status: 202, preferenceApplied: 'respond-async' })
    const receipt = receiptOf(answer)
    expect(receipt).toMatchObject({ status: 'accepted', records: { received: 1, committed: 0 } })
    expect((await rig.gateway.receipt(receipt.receiptId)).receipt.status).toBe('accepted')
    await rig.build()
    await rig.pause()
    const now = await rig.gateway.receipt(receipt.receiptId)
    expect(now.receipt).toMatchObject({ status: 'committed', offsets: { start: 1, end: 1 } })
  })

  test('answers 202 when the builder lags behind the wait that was asked for', async () => {
    const rig = await withDataset()
    await rig.pause()
    const answer = await rig.post('a/b', ndjson([{ n: 2 }]), { headers: { prefer: 'wait=1' } })
    expect(answer).toMatchObject({ status: 202, preferenceApplied: 'wait=1' })
  })

  test('without records is committed with nothing stored, and judged all the same', async () => {
    const rig = await withDataset()
    const before = (await rig.headers()).length
    const answer = await rig.post('a/b', '\n\n')
    expect(receiptOf(answer)).toMatchObject({ status: 'committed', records: { received: 0, committed: 0 } })
    expect(answer.status).toBe(200)
    expect(await kindOf(rig.post('a/b', '\n', { headers: { 'if-match': `f1620${'0'.repeat(64)}` } }))).toBe('HeadMoved')
    expect((await rig.headers()).length).toBe(before)
    const { receipt } = await rig.gateway.receipt(receiptOf(answer).receiptId)
    expect(receipt).toMatchObject({ status: 'committed', records: { received: 0 } })
  })

  test('without records makes no dataset', async () => {
    const rig = await rigOf().build()
    expect(await kindOf(rig.post('a/b', '', { query: { create: 'true' } }))).toBe('NothingToInfer')
    expect(await rig.headers()).toEqual([])
  })

  test('that does not fit leaves nothing in the log', async () => {
    const rig = await withDataset()
    const before = (await rig.headers()).length
    expect(await kindOf(rig.post('a/b', ndjson([{ n: 2 }, { n: 'x' }])))).toBe('RecordsDoNotFit')
    expect((await rig.headers()).length).toBe(before)
  })

  test('of more than a part goes as parts and comes back whole', async () => {
    const rig = await withDataset()
    const rows = Array.from({ length: 40_000 }, (_, n) => ({ n, text: `row ${n} ${'x'.repeat(20)}` }))
    const receipt = await rig.rows('a/b', rows, { query: { unknownFields: 'add' } })
    expect(receipt).toMatchObject({ status: 'committed', offsets: { start: 1, end: 40_000 } })
    const parts = (await rig.headers()).filter((header) => header.kind === 'rows' && header.part !== undefined)
    expect(parts.length).toBeGreaterThan(1)
  })
})

describe('refusals before anything is read', () => {
  test('a volume without room for rows is 507, asked with what is in flight', async () => {
    const asked: number[] = []
    let hasRoom = true
    const rig = await withDataset({
      hasRoom: async (bytes) => {
        asked.push(bytes)
        return hasRoom
      },
    })
    hasRoom = false
    const before = (await rig.headers()).length
    const body = ndjson([{ n: 2 }])
    expect(await kindOf(rig.post('a/b', body))).toBe('StorageFull')
    expect(asked.at(-1)).toBe(body.length)
    expect((await rig.headers()).length).toBe(before)
    hasRoom = true
    expect((await rig.rows('a/b', [{ n: 2 }])).status).toBe('committed')
  })

  test('a body that turns out larger than it said is asked about again', async () => {
    const rig = await withDataset({ hasRoom: async (bytes) => bytes < 100_000 })
    const before = (await rig.headers()).length
    const body = gzipSync(ndjson(Array.from({ length: 20_000 }, (_, n) => ({ n }))))
    expect(body.length).toBeLessThan(100_000)
    expect(await kindOf(rig.post('a/b', body, { headers: { 'content-encoding': 'gzip' } }))).toBe('StorageFull')
    expect((await rig.headers()).length).toBe(before)
  })

  test('a halted dataset, a dataset of another log and a node that shuts down take no rows', async () => {
    const halted = rigOf({ haltOf: () => 'ChainBroken: a block is missing' })
    const rig = await withDataset({ log: halted.log })
    const other = rigOf({ store: rig.store })
    expect(await kindOf(other.rows('a/b', [{ n: 1 }]))).toBe('OtherLog')
    const stopped = rigOf({ log: rig.log, store: rig.store, haltOf: () => 'ChainBroken: a block is missing' })
    expect(await kindOf(stopped.rows('a/b', [{ n: 1 }]))).toBe('LogUnavailable')
    rig.gateway.drain()
    expect(await kindOf(rig.rows('a/b', [{ n: 1 }]))).toBe('Draining')
    expect(await rowsOf(rig)).toBe(1)
  })
})

describe('an idempotency key', () => {
  test('gives the first receipt again, in whatever state the first batch is', async () => {
    const rig = await withDataset()
    const body = ndjson([{ n: 2 }])
    await rig.pause()
    const underWay = await Promise.all([1, 2, 3].map(() => rig.post('a/b', body, keyed('k', soon))))
    expect(underWay.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(underWay.map((answer) => receiptOf(answer).log.position)).size).toBe(1)
    const accepted = await rig.post('a/b', body, keyed('k', soon))
    expect(accepted).toMatchObject({ status: 202, replayed: true })
    await rig.build()
    const committed = await rig.post('a/b', body, keyed('k'))
    expect(committed).toMatchObject({ status: 200, replayed: true })
    expect(receiptOf(committed)).toMatchObject({
      status: 'committed',
      offsets: { start: 1, end: 1 },
      idempotencyKey: 'k',
    })
    expect(await rig.post('a/b', body, keyed('k', soon))).toMatchObject({ status: 200, replayed: true })
    expect(await rowsOf(rig)).toBe(2)
  })

  test('is remembered by a process that starts later, and before its block is there', async () => {
    const rig = await withDataset()
    const body = ndjson([{ n: 2 }])
    const first = receiptOf(await rig.post('a/b', body, keyed('k')))
    const later = rigOf({ log: rig.log, store: rig.store })
    const again = await later.post('a/b', body, keyed('k'))
    expect(again).toMatchObject({ status: 200, replayed: true })
    expect(receiptOf(again)).toMatchObject({ offsets: { start: 1, end: 1 }, log: first.log })

    await rig.pause()
    await rig.post('a/b', body, keyed('late', soon))
    const another = rigOf({ log: rig.log, store: rig.store })
    const accepted = receiptOf(await another.post('a/b', body, keyed('late', soon)))
    await another.build()
    await another.pause()
    const { receipt } = await another.gateway.receipt(accepted.receiptId)
    expect(receipt).toMatchObject({ status: 'committed', offsets: { start: 2, end: 2 } })
    expect(await rowsOf(another)).toBe(3)
  })

  test('with another body is refused, before and after its block', async () => {
    const rig = await withDataset()
    await rig.pause()
    await rig.rows('a/b', [{ n: 2 }], keyed('k', soon))
    expect(await kindOf(rig.rows('a/b', [{ n: 3 }], keyed('k', soon)))).toBe('IdempotencyKeyReused')
    await rig.build()
    await rig.pause()
    const later = rigOf({ log: rig.log, store: rig.store })
    expect(await kindOf(later.rows('a/b', [{ n: 3 }], keyed('k', soon)))).toBe('IdempotencyKeyReused')
  })

  test('used by two processes for two bodies at once belongs to the one that came first in the log', async () => {
    const rig = await withDataset()
    await rig.pause()
    const other = rigOf({ log: rig.log, store: rig.store })
    await rig.rows('a/b', [{ n: 2 }], keyed('k', soon))
    const second = receiptOf(await other.post('a/b', ndjson([{ n: 3 }]), keyed('k', soon)))
    await rig.build()
    await rig.pause()
    const { receipt } = await other.gateway.receipt(second.receiptId)
    expect(receipt).toMatchObject({ status: 'rejected', errors: [{ kind: 'IdempotencyKeyReused' }] })
    expect(receipt.times.committed).toBeUndefined()
    expect(await rowsOf(rig)).toBe(2)
  })

  test('is one per token', async () => {
    const rig = await withDataset()
    const one = await rig.rows('a/b', [{ n: 2 }], { ...keyed('k'), token: 'one' })
    const two = await rig.rows('a/b', [{ n: 3 }], { ...keyed('k'), token: 'two' })
    expect([one.offsets, two.offsets]).toEqual([
      { start: 1, end: 1 },
      { start: 2, end: 2 },
    ])
  })

  test('is free again after its batch was rejected, for another body too', async () => {
    const rig = await withDataset()
    const head = must(await rig.catalog.byAlias('a/b'), 'a dataset').head.hash
    await rig.pause()
    await rig.rows('a/b', [{ n: 2 }], { headers: soon })
    const refused = await rig.rows('a/b', [{ n: 3 }], keyed('k', { ...soon, 'if-match': head }))
    await rig.build()
    await rig.pause()
    expect((await rig.gateway.receipt(refused.receiptId)).receipt).toMatchObject({
      status: 'rejected',
      errors: [{ kind: 'HeadMoved' }],
    })
    await rig.build()
    expect(await rig.post('a/b', ndjson([{ n: 4 }]), keyed('k'))).toMatchObject({ status: 200, replayed: false })
    expect(await rowsOf(rig)).toBe(3)
  })

  test('is free again after its append has failed', async () => {
    const rig = await withDataset()
    let isFull = true
    const log = Object.create(rig.log) as typeof rig.log
    log.append = (...args) => {
      if (isFull) return Promise.reject(new NodeError('StorageFull', 'The volume of the log is full.'))
      return rig.log.append(...args)
    }
    const full = rigOf({ log, store: rig.store })
    const answers = [1, 2].map(() => kindOf(full.rows('a/b', [{ n: 2 }], keyed('k', soon))))
    expect(await Promise.all(answers)).toEqual(['StorageFull', 'StorageFull'])
    isFull = false
    expect((await full.post('a/b', ndjson([{ n: 3 }]), keyed('k', soon))).replayed).toBe(false)
  })
})

describe('If-Match', () => {
  test('takes the head in any spelling and quotes, and refuses what is not the head', async () => {
    const rig = await withDataset()
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    const first = chain.head.hash
    for (const ifMatch of [() => chain.head.hash, () => `"${chain.head.hash}"`, () => chain.head.hash.toUpperCase()]) {
      expect((await rig.rows('a/b', [{ n: 2 }], { headers: { 'if-match': ifMatch() } })).status).toBe('committed')
    }
    for (const stale of [first, `f1620${'0'.repeat(64)}`, 'no-hash']) {
      const refused = rig.rows('a/b', [{ n: 2 }], { headers: { 'if-match': stale } })
      await expect(refused).rejects.toMatchObject({ kind: 'HeadMoved', details: { extra: { head: chain.head.hash } } })
    }
    expect(await rowsOf(rig)).toBe(4)
  })

  test('lets one of several callers through who name the same head', async () => {
    const rig = await withDataset()
    const head = must(await rig.catalog.byAlias('a/b'), 'a dataset').head.hash
    const kinds = await Promise.all(
      [2, 3, 4].map((n) => kindOf(rig.rows('a/b', [{ n }], { headers: { 'if-match': head } }))),
    )
    expect(kinds.filter((kind) => kind === 'no error')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'HeadMoved')).toHaveLength(2)
    expect(await rowsOf(rig)).toBe(2)
  })

  test('counts rows as a move that came before in the log and are in no block yet', async () => {
    const rig = await withDataset()
    const head = must(await rig.catalog.byAlias('a/b'), 'a dataset').head.hash
    await rig.pause()
    await rig.rows('a/b', [{ n: 2 }], { headers: soon })
    const waiting = kindOf(rig.rows('a/b', [{ n: 3 }], { headers: { 'if-match': head } }))
    await rig.build()
    expect(await waiting).toBe('HeadMoved')
    expect(await rowsOf(rig)).toBe(2)
  })

  test('on a dataset that is not there makes none', async () => {
    const rig = await rigOf().build()
    const post = { query: { create: 'true' }, headers: { 'if-match': `f1620${'0'.repeat(64)}` } }
    expect(await kindOf(rig.rows('a/b', [{ n: 1 }], post))).toBe('HeadMoved')
    expect(await rig.headers()).toEqual([])
  })
})

describe('a dataset that two callers create at once', () => {
  const create = { query: { create: 'true' } }

  test('has the columns of both', async () => {
    const rig = await rigOf().build()
    const receipts = await Promise.all([
      rig.rows('a/b', [{ n: 1 }], create),
      rig.rows('A/B', [{ text: 'x' }], create),
      rig.rows('a/b', [{ n: 2, text: 'y' }], create),
    ])
    expect(receipts.map(({ status }) => status)).toEqual(['committed', 'committed', 'committed'])
    expect(new Set(receipts.map(({ dataset }) => dataset.id)).size).toBe(1)
    const view = viewOf(must(await rig.catalog.byAlias('a/b'), 'a dataset'))
    expect(new Set(view.schema?.fields.slice(4).map(({ name }) => name))).toEqual(new Set(['n', 'text']))
    expect(view.rows).toBe(3)
  })

  test('keeps the type of the first; rows of another type are refused', async () => {
    const rig = await rigOf().build()
    const kinds = await Promise.all([
      kindOf(rig.rows('a/b', [{ n: 1 }], create)),
      kindOf(rig.rows('a/b', [{ n: 'x' }], create)),
    ])
    expect(new Set(kinds)).toEqual(new Set(['RecordsDoNotFit', 'no error']))
    expect(await rowsOf(rig)).toBe(1)
  })

  test('gets no columns from a caller who asks for none', async () => {
    const rig = await rigOf().build()
    const kinds = await Promise.all([
      kindOf(rig.rows('a/b', [{ n: 1 }], create)),
      kindOf(rig.rows('a/b', [{ text: 'x' }], { query: { create: 'true', unknownFields: 'reject' } })),
    ])
    expect(kinds).toContain('no error')
    const fields = viewOf(must(await rig.catalog.byAlias('a/b'), 'a dataset')).schema?.fields ?? []
    expect(fields).toHaveLength(5)
  })
})

describe('columns that two gateways add at once', () => {
  const add = { query: { unknownFields: 'add' }, headers: soon }
  // No builder runs while these are posted: the gateway's wait for their block is short.
  const clock = {
    ...systemClock,
    monotonicMs: () => 100 * systemClock.monotonicMs(),
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal),
  }

  test.each([
    ['of one name and type are one column', { x: 1.5 }, { x: 2.5 }, ['committed', 'committed'], ['n', 'x']],
    ['of two names are both there', { x: 1 }, { y: 'a' }, ['committed', 'committed'], ['n', 'x', 'y']],
    ['of one name and two types: the first one counts', { x: 1 }, { x: 'a' }, ['committed', 'rejected'], ['n', 'x']],
    ['that differ in case alone: the first one counts', { x: 1 }, { X: 1 }, ['committed', 'rejected'], ['n', 'x']],
  ])('%s', async (_, one, two, statuses, names) => {
    const rig = await withDataset({ clock })
    const other = rigOf({ log: rig.log, store: rig.store, clock })
    await rig.pause()
    const receipts = [await rig.rows('a/b', [one], add), await other.rows('a/b', [two], add)]
    await rig.build()
    await rig.pause()
    const now = await Promise.all(receipts.map(({ receiptId }) => rig.gateway.receipt(receiptId)))
    expect(now.map(({ receipt }) => receipt.status)).toEqual(statuses)
    expect(now.map(({ receipt }) => receipt.errors?.[0]?.kind)).toEqual(
      statuses.map((status) => (status === 'rejected' ? 'SchemaConflict' : undefined)),
    )
    const chain = must(await rig.catalog.byAlias('a/b'), 'a dataset')
    expect(
      viewOf(chain)
        .schema?.fields.slice(4)
        .map(({ name }) => name),
    ).toEqual(names)
  })

  test('do not disturb rows that were parsed before and are logged after', async () => {
    const rig = await withDataset({ clock })
    await rig.pause()
    await rig.rows('a/b', [{ n: 2, x: 1 }], add)
    const old = await rig.rows('a/b', [{ n: 3 }], { headers: soon })
    await rig.build()
    await rig.pause()
    expect((await rig.gateway.receipt(old.receiptId)).receipt.status).toBe('committed')
  })

  test('are sent once: when the block is there, rows with the column bring no schema', async () => {
    const rig = await withDataset()
    const wait = { query: { unknownFields: 'add' } }
    await rig.rows('a/b', [{ n: 2, x: 1 }], wait)
    await rig.rows('a/b', [{ n: 3, x: 2 }], wait)
    const rows = (await rig.headers()).filter((header): header is RowsHeader => header.kind === 'rows')
    expect(rows.map(({ schema }) => schema !== undefined)).toEqual([false, true, false])
  })
})
