// Repeats of keyed batches: of one that another process took long ago; of one whose answer was lost, logged again after
// the cut that took the first copy; of one that the dataset has forgotten.

import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'
import { TestWriter } from '../builder/support.ts'
import { ndjson, receiptOf, type Rig, rigOf, withDataset } from './support.ts'

const keyedBy = (prefer: string) => ({ headers: { 'idempotency-key': 'k', prefer } })

const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 }
const bodies = {
  one: '{"n":1,"text":"a"}',
  few: '{"n":1,"text":"a"}\n{"n":2,"text":"b"}\n',
  parts: Array.from({ length: 3_000 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(400)}"}`).join('\n'),
} as const

const aBody = fc.constantFrom<keyof typeof bodies>('one', 'few', 'parts')

test('a repeat after a restart has the receipt of the first one, id and times included', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aBody, { minLength: 1, maxLength: 4 }), fc.boolean(), async (sent, isAsync) => {
      const first = await rigOf().build()
      await first.rows('a/b', [{ n: 0, text: '' }], { query: { create: 'true', integers: 'float64' } })
      const keyed = (i: number, more = {}) => ({ headers: { 'idempotency-key': `k${i}`, ...more } })
      const prefer = isAsync ? { prefer: 'respond-async' } : {}
      // At once, so that small ones share a message.
      const answers = await Promise.all(sent.map((name, i) => first.post('a/b', bodies[name], keyed(i, prefer))))
      await first.pause()
      // The log has let go of all that is in blocks.
      const second = rigOf({ log: openMemoryLog({ id: first.log.id }), store: first.store, clock: later })
      for (const [i, name] of sent.entries()) {
        const mine = receiptOf(must(answers[i], 'an answer'))
        const { receipt } = await second.gateway.receipt(mine.receiptId)
        const repeat = await second.post('a/b', bodies[name], keyed(i))
        expect(repeat).toMatchObject({ status: 200, replayed: true })
        expect(receiptOf(repeat)).toEqual(receipt)
        expect(receiptOf(repeat)).toMatchObject({ receiptId: mine.receiptId, status: 'committed' })
        const { received, accepted, committed } = receiptOf(repeat).times
        expect(mine.times).toMatchObject({ received, accepted })
        expect([received, accepted].toSorted()).toEqual([received, accepted])
        expect(accepted <= (committed ?? '')).toBe(true)
      }
      for (const rig of [first, second]) await rig.stop()
    }),
    { numRuns: 8 },
  )
})

test('also where the repeat calls the same bytes by another media type', async () => {
  const first = await rigOf().build()
  const query = { create: 'true' }
  const mine = await first.post('a/b', bodies.one, { query, headers: { 'idempotency-key': 'k' } })
  const second = rigOf({ log: first.log, store: first.store })
  const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' }
  expect(receiptOf(await second.post('a/b', bodies.one, { headers }))).toEqual(receiptOf(mine))
})

/** A log with a keyed batch, a cut that takes it, and no builder; and a gateway that knows nothing of the batch. */
async function beforeTheCopy(): Promise<Rig> {
  const first = await withDataset()
  await first.pause()
  await first.rows('a/b', [{ n: 2 }], { headers: { 'idempotency-key': 'k', prefer: 'respond-async' } })
  const { name, headSequence } = must(await first.catalog.byAlias('a/b'), 'a dataset')
  const writer = new TestWriter('cutter')
  await first.log.append(0, [writer.cut([{ dataset: name.id, sequence: headSequence + 1 }], Date.now())])
  return rigOf({ log: first.log, store: first.store })
}

test('the receipt of the copy says where the batch was committed', async () => {
  const rig = await beforeTheCopy()
  const { receiptId } = await rig.rows('a/b', [{ n: 2 }], keyedBy('respond-async'))
  await rig.build()
  await expect
    .poll(async () => (await rig.gateway.receipt(receiptId)).receipt)
    .toMatchObject({ status: 'committed', offsets: { start: 1, end: 1 } })
})

test('who waits with the copy is told when the wait ends', async () => {
  const rig = await beforeTheCopy()
  const waiting = rig.post('a/b', ndjson([{ n: 2 }]), keyedBy('wait=1'))
  await rig.build()
  const answer = await waiting
  expect(answer).toMatchObject({ status: 200, replayed: true })
  expect(receiptOf(answer)).toMatchObject({ status: 'committed', offsets: { start: 1, end: 1 } })
})

/** A gateway that has taken a keyed batch, now in a block; and how many messages of rows its log holds. */
async function afterKeyed(): Promise<{ rig: Rig; logged: () => Promise<number> }> {
  const rig = await withDataset()
  await rig.rows('a/b', [{ n: 2 }], keyedBy('respond-async'))
  await rig.pause()
  const logged = async (): Promise<number> => (await rig.headers()).filter(({ kind }) => kind === 'rows').length
  return { rig, logged }
}

test('a repeat of a batch that the chain remembers, or has not read, is not logged', async () => {
  const { rig, logged } = await afterKeyed()
  const before = await logged()
  await rig.rows('a/b', [{ n: 2 }], keyedBy('respond-async'))
  const other = { headers: { 'idempotency-key': 'other', prefer: 'respond-async' } }
  await rig.rows('a/b', [{ n: 3 }], other)
  await rig.rows('a/b', [{ n: 3 }], other)
  expect(await logged()).toBe(before + 1)
})

test('one that the chain has forgotten is a new batch', async () => {
  const { rig, logged } = await afterKeyed()
  const before = await logged()
  vi.spyOn(rig.outcomes, 'known').mockResolvedValue(undefined)
  await rig.rows('a/b', [{ n: 2 }], keyedBy('respond-async'))
  expect(await logged()).toBe(before + 1)
})
