// The child's end of a streamed answer: what travels together, and that it waits for its parent.

import { expect, test } from 'vitest'
import type { FromChild } from '../../../src/node/engine/messages.ts'
import { streamWindowBytes } from '../../../src/node/engine/messages.ts'
import { Outbox } from '../../../src/node/engine/process/outbox.ts'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'

const kibibyte = 1024

function open(): { readonly outbox: Outbox; readonly sent: FromChild[]; bytes(): number } {
  const sent: FromChild[] = []
  const clock = { ...systemClock, monotonicMs: () => 0 }
  const outbox = new Outbox(async (message) => void sent.push(message), { clock, stability: 'exact' })
  const sizeOf = (message: FromChild): number => {
    if (message.kind === 'begun') return message.start.first.length
    return message.kind === 'more' ? message.bytes.length : 0
  }
  return { outbox, sent, bytes: () => sent.reduce((sum, message) => sum + sizeOf(message), 0) }
}

test('a small answer is one message, which says that it is all', async () => {
  const { outbox, sent } = open()
  await outbox.write(Uint8Array.of(1, 2))
  await outbox.write(Uint8Array.of(3))
  expect([sent, outbox.sentBytes]).toEqual([[], 0])
  const end = { rows: 2, truncated: false }
  await outbox.end(end)
  expect(sent).toEqual([{ kind: 'begun', start: { stability: 'exact', first: Uint8Array.of(1, 2, 3), end } }])
})

test('an answer without a byte is whole too', async () => {
  const { outbox, sent } = open()
  await outbox.end({ rows: 0, truncated: false })
  expect(sent).toHaveLength(1)
})

test('no more than a window is under way, until the parent takes of it', async () => {
  const { outbox, sent, bytes } = open()
  let written = 0
  const writing = (async () => {
    for (let i = 0; i < 40; i++) {
      await outbox.write(new Uint8Array(100 * kibibyte))
      written++
    }
    await outbox.end({ rows: 40, truncated: true })
  })()
  await systemClock.sleep(20)
  expect(bytes()).toBeLessThanOrEqual(streamWindowBytes)
  expect(bytes()).toBeGreaterThan(streamWindowBytes - 128 * kibibyte)
  const before = written
  await systemClock.sleep(20)
  expect(written).toBe(before)
  while (sent.at(-1)?.kind !== 'ended') {
    outbox.taken(128 * kibibyte)
    await systemClock.sleep(1)
  }
  await writing
  expect([bytes(), sent.at(-1)]).toEqual([4000 * kibibyte, { kind: 'ended', end: { rows: 40, truncated: true } }])
})

test('one that waits for its parent ends when nobody wants more', async () => {
  const { outbox } = open()
  const writing = (async () => {
    for (;;) await outbox.write(new Uint8Array(200 * kibibyte))
  })()
  await systemClock.sleep(10)
  outbox.stop()
  await expect(writing).rejects.toBeInstanceOf(NodeError)
})

test('bytes leave after a while even when they are few', async () => {
  const sent: FromChild[] = []
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const outbox = new Outbox(async (message) => void sent.push(message), { clock, stability: 'pinned' })
  await outbox.write(Uint8Array.of(1))
  nowMs = 150
  await outbox.write(Uint8Array.of(2))
  expect(sent.map(({ kind }) => kind)).toEqual(['begun'])
})
