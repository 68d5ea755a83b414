// A keyed batch that was logged, lost its answer, and was logged again after the cut that took the first copy: no block
// ever comes to the second copy's position while the dataset is quiet.

import { afterEach, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.ts'
import { TestWriter } from '../builder/support.ts'
import { ndjson, receiptOf, Rig } from './support.ts'

const open: Rig[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.stop()
})

/** A log with a keyed batch, a cut that takes it, and no builder; and a gateway that knows nothing of the batch. */
async function beforeTheCopy(): Promise<Rig> {
  const first = await new Rig().build()
  open.push(first)
  await first.rows('a/b', [{ n: 1 }], { query: { create: 'true' } })
  await first.pause()
  await first.rows('a/b', [{ n: 2 }], { headers: { 'idempotency-key': 'k', prefer: 'respond-async' } })
  const { name, headSequence } = must(await first.catalog.byAlias('a/b'), 'a dataset')
  const writer = new TestWriter('cutter')
  await first.log.append(0, [writer.cut([{ dataset: name.id, sequence: headSequence + 1 }], Date.now())])
  const second = new Rig({ log: first.log, store: first.store })
  open.push(second)
  return second
}

const keyed = (prefer: string) => ({ headers: { 'idempotency-key': 'k', prefer } })

test('the receipt of the copy says where the batch was committed', async () => {
  const rig = await beforeTheCopy()
  const { receiptId } = await rig.rows('a/b', [{ n: 2 }], keyed('respond-async'))
  await rig.build()
  await expect
    .poll(async () => (await rig.gateway.receipt(receiptId)).receipt)
    .toMatchObject({
      status: 'committed',
      offsets: { start: 1, end: 1 },
    })
})

test('who waits with the copy is told when the wait ends', async () => {
  const rig = await beforeTheCopy()
  const waiting = rig.post('a/b', ndjson([{ n: 2 }]), keyed('wait=1'))
  await rig.build()
  const answer = await waiting
  expect(answer).toMatchObject({ status: 200, replayed: true })
  expect(receiptOf(answer)).toMatchObject({ status: 'committed', offsets: { start: 1, end: 1 } })
})
