// The window against a broker that keeps the rules of MQTT: whatever is stored when, and wherever connections end, each
// message is stored, acknowledged in order and never before it is durable.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Delivery, type Publish, Window } from '../../../src/features/mqtt/window.ts'

const most = { messages: 4, bytes: 100 }
const publish = (id: number | undefined, payload: string, isDup = false): Publish => ({
  id,
  isDup,
  topic: 't',
  payload: Buffer.from(payload),
  lostBytes: 0,
})

test('acknowledgements go out in the order of the messages, when all before them are durable', () => {
  const window = new Window(most)
  const [a, b, c] = [1, 2, 3].map((id) => window.receive(publish(id, `m${id}`)) as Delivery)
  window.settle(b as Delivery, 'stored')
  expect(window.takeAcknowledged()).toEqual([])
  window.settle(a as Delivery, 'stored')
  expect(window.takeAcknowledged()).toEqual([1, 2])
  expect([window.unacknowledged, window.storing]).toEqual([1, 1])
  window.settle(c as Delivery, 'stored')
  expect(window.takeAcknowledged()).toEqual([3])
  expect(window.unacknowledged).toBe(0)
})

test('no more is read than the window has room for, of messages or of bytes', () => {
  const window = new Window(most)
  const all = [1, 2, 3, 4].map((id) => window.receive(publish(id, 'm')) as Delivery)
  expect(window.isFull).toBe(true)
  // The first is still being stored: what follows it may not be acknowledged, and takes its room.
  for (const delivery of all.slice(1)) window.settle(delivery, 'stored')
  expect([window.takeAcknowledged(), window.isFull]).toEqual([[], true])
  window.settle(all[0] as Delivery, 'stored')
  expect([window.takeAcknowledged(), window.isFull]).toEqual([[1, 2, 3, 4], false])
  window.receive(publish(undefined, 'x'.repeat(100)))
  expect(window.isFull).toBe(true)
})

test('a copy of a message without PUBACK is that message; one that only looks like it is not', () => {
  const window = new Window(most)
  const first = window.receive(publish(1, 'm')) as Delivery
  window.reopen(true)
  expect(window.receive(publish(1, 'm', true))).toBeUndefined()
  window.settle(first, 'stored')
  expect(window.takeAcknowledged()).toEqual([1])
  // Its PUBACK is written: this may be another message of the same bytes, which was lost on its way before.
  expect(window.receive(publish(1, 'm', true))).toBeDefined()
  window.reopen(true)
  expect(window.receive(publish(1, 'other', true))).toBeDefined()
  window.reopen(true)
  expect(window.receive(publish(1, 'other'))).toBeDefined()
  // Without the session its packet ids mean nothing.
  window.reopen(false)
  expect(window.receive(publish(1, 'other', true))).toBeDefined()
})

test('what is given up is stored when it comes again', () => {
  const window = new Window(most)
  const first = window.receive(publish(1, 'm')) as Delivery
  window.settle(first, 'given up')
  expect(window.takeAcknowledged()).toEqual([])
  window.reopen(true)
  expect(window.receive(publish(1, 'm', true))).toBeDefined()
})

/** A broker that sends messages `0…` one after another and sends again what has no PUBACK. */
class Broker {
  /** By packet id. */
  readonly sent = new Map<number, string>()
  #next = 0

  /** The next message, or undefined where all ids are taken. */
  send(): Publish | undefined {
    const id = [1, 2, 3, 4, 5].find((one) => !this.sent.has(one))
    if (id === undefined) return undefined
    const payload = String(this.#next++)
    this.sent.set(id, payload)
    return publish(id, payload)
  }

  get count(): number {
    return this.#next
  }
}

test('with any cuts and any order of storing each message is stored once or more, and acknowledged only then', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('send' as const) },
    { weight: 4, arbitrary: fc.nat(10) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('flush' as const, 'flush and cut' as const, 'cut' as const, 'back' as const),
    },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const broker = new Broker()
      const window = new Window({ messages: 100, bytes: 1_000 })
      const storing: Delivery[] = []
      const stored: string[] = []
      let ambiguous = 0
      const receive = (one: Publish): void => {
        const delivery = window.receive(one)
        if (delivery !== undefined) storing.push(delivery)
      }
      const store = (at: number): void => {
        const [delivery] = storing.splice(at % storing.length, 1)
        if (delivery === undefined) return
        stored.push(delivery.payload.toString())
        window.settle(delivery, 'stored')
      }
      const flush = (isLost: boolean): void => {
        for (const id of window.takeAcknowledged()) {
          expect(stored).toContain(broker.sent.get(id))
          if (isLost) ambiguous++
          else broker.sent.delete(id)
        }
      }
      let isConnected = true
      const cut = (): void => {
        isConnected = false
        window.disconnected()
      }
      const back = (): void => {
        isConnected = true
        window.reopen(true)
        for (const [id, payload] of broker.sent) receive(publish(id, payload, true))
      }
      for (const one of steps) {
        if (one === 'back' && !isConnected) back()
        else if (one === 'send' && isConnected) {
          const message = broker.send()
          if (message !== undefined) receive(message)
        } else if (typeof one === 'number') store(one)
        else if (one === 'flush' || one === 'cut' || one === 'flush and cut') {
          if (one !== 'cut') flush(one === 'flush and cut')
          if (one !== 'flush') cut()
        }
      }
      if (!isConnected) back()
      while (storing.length > 0) store(0)
      flush(false)
      expect(broker.sent.size).toBe(0)
      expect(new Set(stored).size).toBe(broker.count)
      // Twice only where a PUBACK was written and lost.
      expect(stored.length - broker.count).toBeLessThanOrEqual(ambiguous)
    }),
    { numRuns: 500 },
  )
})
