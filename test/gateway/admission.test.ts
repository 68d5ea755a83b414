// Who is let in: what the node can hold, what of it one caller may, and that others always find room.

import { describe, expect, test } from 'vitest'
import { type AdmissionLimits, type Admitted, AdmissionQueue } from '../../src/gateway/admission.ts'
import { type CallerRateLimits, CallerRates } from '../../src/gateway/caller-rates.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { defaultLimits } from '../../src/lib/limits.ts'

const MiB = 1024 * 1024

function queueOf(limits: Partial<AdmissionLimits>): AdmissionQueue {
  return new AdmissionQueue({ openIngestBytes: 100, openIngestRequests: 1000, callerIngestShare: 100, ...limits })
}

function refusal(kind: string, name: string): object {
  return expect.objectContaining({
    kind,
    details: expect.objectContaining({ limit: expect.objectContaining({ name }) }),
  })
}

const full = refusal('Saturated', 'openIngestBytes')
const overShare = refusal('QuotaExceeded', 'callerIngestShare')

/** Bodies of `caller` until one is refused; how many were let in, and the kind of refusal. */
function flood(queue: AdmissionQueue, caller: string, bytes: number): { open: Admitted[]; kind: unknown } {
  const open: Admitted[] = []
  for (;;) {
    try {
      open.push(queue.enter(caller, bytes))
    } catch (error) {
      return { open, kind: error instanceof Error && 'kind' in error ? error.kind : error }
    }
  }
}

describe('the node', () => {
  test('holds bodies up to the limit and lets go of what they took, once', () => {
    const queue = queueOf({})
    const one = queue.enter('a', 60)
    expect(() => queue.enter('b', 41)).toThrow(full)
    const two = queue.enter('b', 40)
    one.leave()
    one.leave()
    expect([queue.openBytes, queue.openRequests]).toEqual([40, 1])
    two.leave()
    expect([queue.openBytes, queue.openRequests]).toEqual([0, 0])
  })

  test('lets one body in alone, however large', () => {
    const queue = queueOf({})
    const large = queue.enter('a', 1000)
    large.grow(5000)
    expect(() => queue.enter('b', 1)).toThrow(full)
    large.leave()
    queue.enter('b', 1).leave()
    expect(queue.openBytes).toBe(0)
  })

  test('counts a body that grows, and refuses it when there is no more room', () => {
    const queue = queueOf({})
    const one = queue.enter('a', 10)
    const two = queue.enter('b', 10)
    one.grow(5)
    one.grow(90)
    expect(queue.openBytes).toBe(100)
    expect(() => two.grow(11)).toThrow(full)
    two.leave()
    one.grow(500)
    one.leave()
    expect(queue.openBytes).toBe(0)
  })

  test('counts at most 32 MiB of a body, because the rest of it lies in a file', () => {
    const queue = queueOf({ openIngestBytes: 64 * MiB })
    const giant = queue.enter('a', 900 * MiB)
    queue.enter('b', 32 * MiB)
    expect(queue.openBytes).toBe(932 * MiB)
    expect(() => queue.enter('c', 1)).toThrow(full)
    giant.leave()
    queue.enter('c', 32 * MiB).leave()
  })

  test('holds as many requests as its limit says, to the last', () => {
    const queue = queueOf({ openIngestRequests: 3 })
    const first = queue.enter('a', 1)
    queue.enter('b', 1)
    queue.enter('c', 1)
    expect(() => queue.enter('d', 1)).toThrow(refusal('Saturated', 'openIngestRequests'))
    first.leave()
    queue.enter('d', 1)
  })
})

describe('a caller', () => {
  test('holds at most its share of what the others leave free', () => {
    const queue = queueOf({ callerIngestShare: 50 })
    expect(flood(queue, 'a', 1)).toMatchObject({ open: { length: 50 }, kind: 'QuotaExceeded' })
    expect(flood(queue, 'b', 1)).toMatchObject({ open: { length: 25 }, kind: 'QuotaExceeded' })
    expect(() => queue.enter('a', 1)).toThrow(overShare)
  })

  test('with thousands of connections leaves room for the requests of others', () => {
    const queue = new AdmissionQueue(defaultLimits())
    expect(flood(queue, 'noisy', 1)).toMatchObject({ open: { length: 2048 }, kind: 'QuotaExceeded' })
    expect(flood(queue, 'noisy too', 1)).toMatchObject({ open: { length: 1024 }, kind: 'QuotaExceeded' })
    queue.enter('quiet', 100)
  })

  test('with huge bodies leaves room for the small ones of others', () => {
    const queue = new AdmissionQueue(defaultLimits())
    const { open, kind } = flood(queue, 'bulk', 40 * MiB)
    expect([open.length, kind]).toEqual([8, 'QuotaExceeded'])
    for (const body of open) body.grow(1024 * MiB)
    for (let i = 0; i < 1000; i++) queue.enter(`device ${i}`, 100)
  })

  test('may send one body whatever its share, while the node has room', () => {
    const queue = queueOf({ callerIngestShare: 1 })
    queue.enter('a', 60)
    queue.enter('b', 40)
    expect(() => queue.enter('c', 1)).toThrow(full)
  })

  test('is refused the body that grows over its share, and what it holds is counted right after that', () => {
    const queue = queueOf({ callerIngestShare: 50 })
    const one = queue.enter('a', 10)
    const two = queue.enter('a', 10)
    expect(() => two.grow(41)).toThrow(overShare)
    two.grow(40)
    one.leave()
    two.leave()
    expect([queue.openBytes, queue.openRequests]).toEqual([0, 0])
  })
})

describe('the rates of a caller', () => {
  function ratesOf(limits: Partial<CallerRateLimits>): { rates: CallerRates; pass: (ms: number) => void } {
    let nowMs = 0
    const clock = { ...systemClock, monotonicMs: () => nowMs }
    const rates = new CallerRates({ callerRequestRate: 0, callerByteRate: 0, ...limits }, clock)
    return { rates, pass: (ms) => (nowMs += ms) }
  }

  function waitSeconds(rates: CallerRates, caller: string): unknown {
    try {
      rates.take(caller)
      return 0
    } catch (error) {
      const { kind, details } = error as { kind: string; details: { retryAfterSeconds: number } } // a NodeError
      return kind === 'QuotaExceeded' ? details.retryAfterSeconds : error
    }
  }

  test('let ten seconds of batches through at once, then as many as come free, each caller by itself', () => {
    const { rates, pass } = ratesOf({ callerRequestRate: 2 })
    for (let i = 0; i < 20; i++) rates.take('a')
    expect(waitSeconds(rates, 'a')).toBe(1)
    expect(waitSeconds(rates, 'b')).toBe(0)
    pass(499)
    expect(waitSeconds(rates, 'a')).toBe(1)
    pass(1)
    expect([waitSeconds(rates, 'a'), waitSeconds(rates, 'a')]).toEqual([0, 1])
    pass(3_600_000)
    for (let i = 0; i < 20; i++) rates.take('a')
    expect(waitSeconds(rates, 'a')).toBe(1)
  })

  test('take the bytes of a batch when they are known, and say when they are paid', () => {
    const { rates, pass } = ratesOf({ callerByteRate: 100 })
    rates.take('a')
    rates.spend('a', 1_000)
    expect(waitSeconds(rates, 'a')).toBe(0)
    rates.spend('a', 700)
    expect(waitSeconds(rates, 'a')).toBe(7)
    pass(6_990)
    expect(waitSeconds(rates, 'a')).toBe(1)
    pass(11)
    expect(waitSeconds(rates, 'a')).toBe(0)
  })

  test('are none unless they are set', () => {
    const { rates } = ratesOf({})
    for (let i = 0; i < 100_000; i++) rates.take('a')
    rates.spend('a', Number.MAX_SAFE_INTEGER)
    expect(waitSeconds(rates, 'a')).toBe(0)
  })

  test('forget callers who have been quiet, and no one else', () => {
    const { rates, pass } = ratesOf({ callerRequestRate: 1, callerByteRate: 1 })
    rates.spend('in debt', 1_000)
    for (let i = 0; i < 10_000; i++) rates.take(`caller ${i}`)
    pass(10_000)
    for (let i = 0; i < 10; i++) rates.take('busy')
    expect([waitSeconds(rates, 'busy'), waitSeconds(rates, 'in debt')]).toEqual([1, 980])
  })
})
