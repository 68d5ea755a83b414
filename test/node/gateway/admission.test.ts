// Who is let in: what the node can hold, what of it one caller may, in which order those who wait come in, and that
// others always find room.

import { describe, expect, test } from 'vitest'
import { type AdmissionLimits, AdmissionQueue, type Admitted } from '../../../src/node/gateway/admission.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'

const MiB = 1024 * 1024

/** A queue on a clock that stands still until time passes. */
class Rig {
  readonly queue: AdmissionQueue
  #nowMs = 0
  readonly #sleeping: { readonly atMs: number; readonly wake: () => void }[] = []

  constructor(limits: Partial<AdmissionLimits> = {}) {
    const clock: Clock = {
      ...systemClock,
      monotonicMs: () => this.#nowMs,
      sleep: (ms) => new Promise((wake) => this.#sleeping.push({ atMs: this.#nowMs + ms, wake })),
    }
    this.queue = new AdmissionQueue({ ...defaultLimits(), ...limits }, clock)
  }

  async pass(ms: number): Promise<void> {
    for (const endMs = this.#nowMs + ms; this.#nowMs < endMs;) {
      this.#nowMs = Math.min(endMs, ...this.#sleeping.map(({ atMs }) => atMs).filter((atMs) => atMs > this.#nowMs))
      for (const { atMs, wake } of this.#sleeping.splice(0)) {
        if (atMs <= this.#nowMs) wake()
        else this.#sleeping.push({ atMs, wake })
      }
      await settle()
    }
  }

  /** Lets a body in that finds room at once. */
  async enter(caller: string, bytes: number): Promise<Admitted> {
    const entering = this.queue.enter(caller, bytes)
    if (this.queue.waitingRequests > 0) throw new Error(`${caller} has to wait`)
    return entering
  }

  /** What keeps a body out for as long as a request waits. */
  async refusal(caller: string, bytes: number): Promise<unknown[]> {
    const refused = this.queue.enter(caller, bytes).then(() => ['let in'], told)
    await this.pass(2_100)
    return refused
  }

  /** Bodies of `caller` until one has to wait, which is then refused. */
  async flood(caller: string, bytes: number): Promise<{ open: Admitted[]; told: unknown }> {
    const open: Admitted[] = []
    for (;;) {
      const entering = this.queue.enter(caller, bytes)
      if (this.queue.waitingRequests > 0) {
        const refused = entering.then(() => ['let in'], told)
        await this.pass(2_100)
        return { open, told: await refused }
      }
      open.push(await entering)
    }
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

function told(error: unknown): unknown[] {
  const { kind, details } = error as { kind: string; details: { limit: { name: string }; retryAfterSeconds: number } } // a NodeError
  return [kind, details.limit.name, details.retryAfterSeconds]
}

const full = ['Saturated', 'openIngestBytes', 1]
const overShare = ['QuotaExceeded', 'callerShare', 1]
const tight = { openIngestBytes: 100, callerShare: 100 }

describe('the node', () => {
  test('holds bodies up to the limit and lets go of what they took, once', async () => {
    const rig = new Rig(tight)
    const one = await rig.enter('a', 60)
    expect(await rig.refusal('b', 41)).toEqual(full)
    const two = await rig.enter('b', 40)
    one.leave()
    one.leave()
    expect([rig.queue.openBytes, rig.queue.openRequests]).toEqual([40, 1])
    two.leave()
    expect([rig.queue.openBytes, rig.queue.openRequests]).toEqual([0, 0])
  })

  test('lets one body in alone, however large', async () => {
    const rig = new Rig(tight)
    const large = await rig.enter('a', 1000)
    large.grow(5000)
    expect(await rig.refusal('b', 1)).toEqual(full)
    large.leave()
    const small = await rig.enter('b', 1)
    small.leave()
    expect(rig.queue.openBytes).toBe(0)
  })

  test('counts a body that grows, and refuses it when there is no more room', async () => {
    const rig = new Rig(tight)
    const one = await rig.enter('a', 10)
    const two = await rig.enter('b', 10)
    one.grow(5)
    one.grow(90)
    expect(rig.queue.openBytes).toBe(100)
    expect(() => two.grow(11)).toThrow(expect.objectContaining({ kind: 'Saturated' }))
    two.leave()
    one.grow(500)
    one.leave()
    expect(rig.queue.openBytes).toBe(0)
  })

  test('counts at most 32 MiB of a body, because the rest of it lies in a file', async () => {
    const rig = new Rig({ ...tight, openIngestBytes: 64 * MiB })
    const giant = await rig.enter('a', 900 * MiB)
    await rig.enter('b', 32 * MiB)
    giant.grow(901 * MiB)
    expect(rig.queue.openBytes).toBe(933 * MiB)
    expect(await rig.refusal('c', 1)).toEqual(full)
    giant.leave()
    await rig.enter('c', 32 * MiB)
  })

  test('holds as many requests as its limit says, to the last', async () => {
    const rig = new Rig({ openIngestRequests: 3 })
    const first = await rig.enter('a', 1)
    await rig.enter('b', 1)
    await rig.enter('c', 1)
    expect(await rig.refusal('d', 1)).toEqual(['Saturated', 'openIngestRequests', 1])
    first.leave()
    await rig.enter('d', 1)
  })
})

describe('a caller', () => {
  test('holds at most its share of what the others leave free', async () => {
    const rig = new Rig({ openIngestBytes: 100 })
    expect(await rig.flood('a', 1)).toMatchObject({ open: { length: 50 }, told: overShare })
    expect(await rig.flood('b', 1)).toMatchObject({ open: { length: 25 }, told: overShare })
    expect(await rig.refusal('a', 1)).toEqual(overShare)
  })

  test('with thousands of connections leaves room for the requests of others', async () => {
    const rig = new Rig()
    expect(await rig.flood('noisy', 1)).toMatchObject({ open: { length: 2048 }, told: overShare })
    expect(await rig.flood('noisy too', 1)).toMatchObject({ open: { length: 1024 }, told: overShare })
    await rig.enter('quiet', 100)
  })

  test('with huge bodies leaves room for the small ones of others', async () => {
    const rig = new Rig()
    const { open, told: why } = await rig.flood('bulk', 40 * MiB)
    expect([open.length, why]).toEqual([8, overShare])
    for (const body of open) body.grow(1024 * MiB)
    for (let i = 0; i < 1000; i++) await rig.enter(`device ${i}`, 100)
  })

  test('may send one body whatever its share, while the node has room', async () => {
    const rig = new Rig({ openIngestBytes: 100, callerShare: 1 })
    await rig.enter('a', 60)
    await rig.enter('b', 40)
    expect(await rig.refusal('c', 1)).toEqual(full)
  })

  test('is refused the body that grows over its share, and what it holds is counted right after that', async () => {
    const rig = new Rig({ openIngestBytes: 100 })
    const one = await rig.enter('a', 10)
    const two = await rig.enter('a', 10)
    expect(() => two.grow(41)).toThrow(expect.objectContaining({ kind: 'QuotaExceeded' }))
    two.grow(40)
    one.leave()
    two.leave()
    expect([rig.queue.openBytes, rig.queue.openRequests]).toEqual([0, 0])
  })
})

describe('those who wait', () => {
  test('come in one of each caller in turn, however many one caller has waiting', async () => {
    const rig = new Rig({ openIngestRequests: 1 })
    let open = await rig.enter('busy', 1)
    const order: string[] = []
    const wait = (caller: string): void => {
      void rig.queue.enter(caller, 1).then((admitted) => {
        order.push(caller)
        open = admitted
      })
    }
    for (let i = 0; i < 1000; i++) wait('noisy')
    for (const caller of ['one', 'two', 'one', 'three']) wait(caller)
    for (let i = 0; i < 8; i++) {
      open.leave()
      await settle()
    }
    expect(order).toEqual(['noisy', 'one', 'two', 'three', 'noisy', 'one', 'noisy', 'noisy'])
    expect(rig.queue.waitingRequests).toBe(996)
  })

  test('come in when there is room for them, not later than others of their caller', async () => {
    const rig = new Rig(tight)
    const first = await rig.enter('a', 90)
    const order: number[] = []
    for (const bytes of [80, 5]) void rig.queue.enter('b', bytes).then(() => order.push(bytes))
    await rig.pass(500)
    expect(order).toEqual([])
    first.leave()
    await settle()
    expect(order).toEqual([80, 5])
  })

  test('are refused after two seconds, and at once when too many wait already', async () => {
    const rig = new Rig({ openIngestRequests: 1 })
    await rig.enter('a', 1)
    const outcomes: unknown[] = []
    for (let i = 0; i < 16_384; i++) void rig.queue.enter('b', 1).catch((error: unknown) => outcomes.push(told(error)))
    await expect(rig.queue.enter('c', 1)).rejects.toMatchObject({ kind: 'Saturated' })
    await rig.pass(1_900)
    expect(outcomes).toHaveLength(0)
    await rig.pass(200)
    expect(outcomes).toHaveLength(16_384)
    expect([rig.queue.waitingRequests, rig.queue.openRequests]).toEqual([0, 1])
  })
})

describe('the memory for bodies', () => {
  const limits = { openIngestBytes: 1024 * MiB, callerShare: 100 }

  test('bounds what one body and all together may come to take, and a body that grows', async () => {
    const rig = new Rig({ ...limits, bodyMemoryBytes: 188 * MiB })
    // Not at any time: it is told so at once.
    await expect(rig.queue.enter('a', 245 * MiB)).rejects.toMatchObject({
      kind: 'BodyTooLarge',
      message: `The body takes more memory than this node has for bodies, as one of ${23.5 * MiB} bytes or ${11.75 * MiB} cells would.`,
      details: {
        hint: 'Send fewer records at a time, or give the node 896 MiB.',
        limit: { name: 'bodyMemoryBytes', value: 188 * MiB, unit: 'bytes' },
      },
    })
    const first = await rig.enter('a', 20 * MiB)
    expect(await rig.refusal('b', 10 * MiB)).toEqual(['Saturated', 'bodyMemoryBytes', 1])
    first.leave()
    const growing = await rig.enter('b', MiB)
    growing.grow(23 * MiB)
    expect(() => growing.grow(24 * MiB)).toThrow(/more memory than this node has/)
    growing.leave()
    const again = await rig.enter('c', 23 * MiB)
    again.leave()
  })

  test('lets the largest bodies in where a row group has room, one beside the other where two have', async () => {
    const one = new Rig({ ...limits, bodyMemoryBytes: 512 * MiB })
    const held = await one.enter('a', 256 * MiB)
    expect(await one.refusal('b', 64 * MiB)).toEqual(['Saturated', 'bodyMemoryBytes', 1])
    held.leave()
    const two = new Rig({ ...limits, bodyMemoryBytes: 1024 * MiB })
    await two.enter('a', 256 * MiB)
    await two.enter('b', 256 * MiB)
  })
})
