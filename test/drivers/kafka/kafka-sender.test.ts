// How appends become sends, without a broker: grouping, order, repeating, deadlines, and what is said of each outcome.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { PartitionSender, type SenderDeps } from '../../../src/drivers/kafka/sender.ts'
import { HaltError } from '../../../src/libraries/base/errors.ts'

const bytes = (length: number, fill = 1): Uint8Array => new Uint8Array(length).fill(fill)
const problem = (members: object): Error => Object.assign(new RangeError('as the client says'), members)

/** What the broker has answered to the request itself. */
const answer = (type: string): Error => problem({ name: 'KafkaJSProtocolError', type })
const refusedConnection = problem({ name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' })

/** Time that passes only while someone sleeps. */
function fakeClock(): Clock & { ms: number } {
  const clock = {
    ms: 0,
    nowMs: () => clock.ms,
    monotonicMs: () => clock.ms,
    sleep: async (ms: number) => {
      clock.ms += ms
    },
  }
  return clock
}

function senderOf(send: SenderDeps['send'], more: Partial<SenderDeps> = {}): PartitionSender {
  return new PartitionSender({
    partition: 0,
    end: 0,
    clock: fakeClock(),
    logger: silentLogger,
    send,
    find: async () => undefined,
    peek: async () => undefined,
    onHalt: () => {},
    ...more,
  })
}

/** A partition that stores all it is sent; `sizes` are the numbers of messages of each send. */
function partition(): { send: SenderDeps['send']; sizes: number[]; stored: Uint8Array[] } {
  const stored: Uint8Array[] = []
  const sizes: number[] = []
  return {
    stored,
    sizes,
    send: async (messages) => {
      await Promise.resolve()
      sizes.push(messages.length)
      stored.push(...messages)
      return stored.length - messages.length
    },
  }
}

describe('a sender', () => {
  test('puts calls of one turn into one batch and keeps their order', async () => {
    const { send, sizes, stored } = partition()
    const sender = senderOf(send)
    const firsts = await Promise.all([1, 2, 3].map((fill) => sender.append([bytes(10, fill), bytes(10, fill)], false)))
    expect(firsts).toEqual([0, 2, 4])
    expect(sizes).toEqual([6])
    expect(stored.map(([first]) => first)).toEqual([1, 1, 2, 2, 3, 3])
    expect(sender.end).toBe(6)
  })

  test('fills a batch with at most 64 messages and 900,000 bytes, and never splits a call', async () => {
    const { send, sizes } = partition()
    const sender = senderOf(send)
    await Promise.all(Array.from({ length: 100 }, () => sender.append([bytes(1)], false)))
    expect(sizes).toEqual([64, 36])
    await Promise.all(Array.from({ length: 4 }, () => sender.append([bytes(200_000), bytes(200_000)], false)))
    expect(sizes.slice(2)).toEqual([4, 4])
    await Promise.all([1, 2].map(() => sender.append([bytes(950_000)], false)))
    expect(sizes.slice(4)).toEqual([1, 1])
  })

  test('lets a call go ahead of those that wait, but not of its own kind', async () => {
    const { send, stored } = partition()
    const sender = senderOf(send)
    const first = sender.append([bytes(500_000, 1)], false)
    const waiting = [2, 3].map((fill) => sender.append([bytes(600_000, fill)], false))
    const ahead = [8, 9].map((fill) => sender.append([bytes(10, fill)], true))
    await Promise.all([first, ...waiting, ...ahead])
    expect(stored.map(([fill]) => fill)).toEqual([8, 9, 1, 2, 3])
  })

  test.each([[[bytes(1_100_000)]], [Array.from({ length: 65 }, () => bytes(1))], [[bytes(500_000), bytes(500_000)]]])(
    'refuses what no batch can hold, and nothing else',
    async (messages) => {
      const { send, sizes } = partition()
      const sender = senderOf(send)
      await expect(sender.append(messages, false)).rejects.toMatchObject({ kind: 'BodyTooLarge' })
      expect(await sender.append([bytes(1)], false)).toBe(0)
      expect(sizes).toEqual([1])
    },
  )

  test('refuses more than it may hold, and takes calls again when there is room', async () => {
    const { send } = partition()
    const sender = senderOf(send)
    const calls = Array.from({ length: 70 }, () => sender.append([bytes(1_000_000)], false))
    const settled = await Promise.allSettled(calls)
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused).toEqual(
      refused.map(() => expect.objectContaining({ reason: expect.objectContaining({ kind: 'Saturated' }) })),
    )
    expect(await sender.append([bytes(1)], false)).toBe(settled.length - refused.length)
  })

  test('repeats the same bytes until it hears where they are', async () => {
    const sent: (readonly Uint8Array[])[] = []
    const sender = senderOf(async (messages) => {
      sent.push(messages)
      if (sent.length === 1) throw problem({ name: 'KafkaJSConnectionError', code: 'ECONNRESET' })
      return sent.length === 2 ? { unsent: problem({}) } : 0
    })
    expect(await sender.append([bytes(3)], false)).toBe(0)
    expect(sent).toHaveLength(3)
    expect(sent.every((messages) => messages === sent[0])).toBe(true)
  })

  test('gives the place of the first copy when an attempt without an answer has left one', async () => {
    let sends = 0
    const spans: unknown[] = []
    const send: SenderDeps['send'] = async () => {
      if (++sends === 1) throw problem({ type: 'REQUEST_TIMED_OUT' })
      return 7
    }
    const find: SenderDeps['find'] = async (span) => {
      spans.push(span)
      return 4
    }
    const sender = senderOf(send, { end: 3, find })
    expect(await sender.append([bytes(3)], false)).toBe(4)
    expect(spans).toEqual([{ from: 3, below: 7 }])
    expect(sender.end).toBe(8)
  })

  test.each([
    ['refused for want of replicas', 'LogUnavailable', answer('NOT_ENOUGH_REPLICAS')],
    ['taken by one that leads no more', 'OutcomeUnknown', answer('NOT_LEADER_FOR_PARTITION')],
    ['taken, or not, over a connection that is refused now', 'OutcomeUnknown', refusedConnection],
    ['refused in a failure of something else', 'OutcomeUnknown', problem({ cause: answer('NOT_ENOUGH_REPLICAS') })],
    ['timed out', 'OutcomeUnknown', problem({ cause: problem({ type: 'REQUEST_TIMED_OUT' }) })],
    ['a plain error', 'OutcomeUnknown', problem({})],
  ])('says of what was %s for 15 s: %s', async (_what, kind, error) => {
    let sends = 0
    const clock = fakeClock()
    const send = async (): Promise<never> => {
      sends++
      throw error
    }
    await expect(senderOf(send, { clock }).append([bytes(1)], false)).rejects.toMatchObject({ kind })
    expect(sends).toBeGreaterThan(10)
    expect(clock.ms).toBeGreaterThan(13_000)
    expect(clock.ms).toBeLessThanOrEqual(15_000)
  })

  test('sends no second time what is refused for good', async () => {
    let sends = 0
    const sender = senderOf(async () => {
      sends++
      throw answer('TOPIC_AUTHORIZATION_FAILED')
    })
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    expect(sends).toBe(1)
  })

  test('says that the outcome is unknown when a refusal follows an attempt without an answer', async () => {
    let sends = 0
    const sender = senderOf(async () => {
      throw ++sends === 1 ? problem({ code: 'EPIPE' }) : answer('TOPIC_AUTHORIZATION_FAILED')
    })
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
  })

  test('says "nothing was stored" only when each attempt ended before sending or by a refusal of the broker itself', async () => {
    const words = fc.constantFrom(
      'NOT_ENOUGH_REPLICAS',
      'UNKNOWN_TOPIC_OR_PARTITION',
      'REQUEST_TIMED_OUT',
      'ECONNREFUSED',
    )
    const names = fc.constantFrom('KafkaJSProtocolError', 'KafkaJSConnectionError', 'KafkaJSNumberOfRetriesExceeded')
    const failure = fc
      .record({ name: names, type: words, code: words, isWrapped: fc.boolean() })
      .map(({ isWrapped, ...one }) =>
        isWrapped ? problem({ name: 'KafkaJSError', cause: problem(one) }) : problem(one),
      )
    const attempt = fc.record({ error: failure, wasSent: fc.boolean() })
    const isRefusal = ({ name, type }: { name?: string; type?: string }): boolean =>
      name === 'KafkaJSProtocolError' && type === 'NOT_ENOUGH_REPLICAS'
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 5 }), async (attempts) => {
        let sends = 0
        const sender = senderOf(async () => {
          const { error, wasSent } = attempts[sends++] ?? { error: refusedConnection, wasSent: false }
          if (wasSent) throw error
          return { unsent: error }
        })
        const known = attempts.every(({ error, wasSent }) => !wasSent || isRefusal(error))
        const kind = known ? 'LogUnavailable' : 'OutcomeUnknown'
        await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind })
      }),
    )
  })

  test('gives no position of a copy that may be the second one', async () => {
    let sends = 0
    let looks = 0
    const send: SenderDeps['send'] = async () => {
      if (++sends === 1) throw problem({ code: 'EPIPE' })
      return 7
    }
    const find: SenderDeps['find'] = async () => {
      if (++looks < 4) throw problem({ code: 'ECONNREFUSED' })
      return 4
    }
    expect(await senderOf(send, { end: 3, find }).append([bytes(3)], false)).toBe(4)
    sends = 0
    const never = senderOf(send, { end: 3, find: async () => Promise.reject(problem({ code: 'ECONNREFUSED' })) })
    await expect(never.append([bytes(3)], false)).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    expect(never.end).toBe(8)
  })

  test('refuses without sending what has waited for more than 15 s', async () => {
    const clock = fakeClock()
    const sent: number[] = []
    const sender = senderOf(
      async ([message]) => {
        sent.push(message?.[0] ?? 0)
        clock.ms += 10_000
        return sent.length - 1
      },
      { clock },
    )
    const calls = [1, 2, 3].map((fill) => sender.append([bytes(800_000, fill)], false))
    const settled = await Promise.allSettled(calls)
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(settled[2]).toMatchObject({ reason: { kind: 'LogUnavailable' } })
    expect(sent).toEqual([1, 2])
  })

  test('stops for good when the log is found to be another one before anything is sent', async () => {
    const halts: HaltError[] = []
    const send = async (): Promise<never> => {
      throw new HaltError('LogReplaced', 'the brokers belong to another cluster')
    }
    const sender = senderOf(send, { onHalt: (error) => halts.push(error) })
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    expect(halts).toHaveLength(1)
  })

  test('stops for good when a place is acknowledged that was taken before', async () => {
    const halts: HaltError[] = []
    let next = 20
    const sender = senderOf(async () => next, { end: 20, onHalt: (error) => halts.push(error) })
    expect(await sender.append([bytes(1)], false)).toBe(20)
    next = 20
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'OutcomeUnknown' })
    next = 90
    await expect(sender.append([bytes(1)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    expect(halts.map(({ reason }) => reason)).toEqual(['LogReplaced'])
  })

  test('stops after 30 s when another message stands where it stored one', async () => {
    const clock = fakeClock()
    const { send, sizes, stored } = partition()
    const halts: HaltError[] = []
    const peek = async (position: number): Promise<Uint8Array | undefined> => stored[position]
    const sender = senderOf(send, { clock, peek, onHalt: (halt) => halts.push(halt) })
    await sender.append([bytes(10, 1)], false)
    clock.ms += 31_000
    await sender.append([bytes(10, 2)], false)
    // What comes after does not hide it.
    stored[1] = bytes(10, 9)
    await sender.append([bytes(10, 3)], false)
    clock.ms += 31_000
    await expect(sender.append([bytes(10, 4)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    await expect(sender.append([bytes(10, 5)], false)).rejects.toMatchObject({ kind: 'LogUnavailable' })
    expect(halts).toMatchObject([{ reason: 'LogReplaced' }])
    expect(sizes).toEqual([1, 1, 1])
  })

  test('goes on when its messages cannot be looked at, or are gone', async () => {
    const clock = fakeClock()
    const { send, sizes } = partition()
    const answers = [async () => undefined, () => Promise.reject(problem({}))]
    const sender = senderOf(send, { clock, peek: () => (answers.shift() ?? (async () => undefined))() })
    for (let n = 0; n < 3; n++) {
      await sender.append([bytes(10, n)], false)
      clock.ms += 31_000
    }
    expect(sizes).toEqual([1, 1, 1])
  })
})
