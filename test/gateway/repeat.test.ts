// A repeat of a keyed batch that another process took long ago: it gets the receipt of the first one, id and times too,
// from the chain alone.

import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { receiptOf, Rig } from './support.ts'

const open: Rig[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.stop()
})

function rigOf(more: ConstructorParameters<typeof Rig>[0] = {}): Rig {
  const rig = new Rig(more)
  open.push(rig)
  return rig
}

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
      for (const rig of open.splice(0)) await rig.stop()
    }),
    { numRuns: 8 },
  )
}, 60_000)

test('also where the repeat calls the same bytes by another media type', async () => {
  const first = await rigOf().build()
  const query = { create: 'true' }
  const mine = await first.post('a/b', bodies.one, { query, headers: { 'idempotency-key': 'k' } })
  const second = rigOf({ log: first.log, store: first.store })
  const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' }
  expect(receiptOf(await second.post('a/b', bodies.one, { headers }))).toEqual(receiptOf(mine))
})
