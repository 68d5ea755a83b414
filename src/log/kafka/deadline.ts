// A limit on the time of one exchange with the brokers: the library's own limits add up to more than they say.

import type { Clock } from '../../lib/clock.ts'
import { NodeError } from '../../model/errors.ts'

/** Time to make connections: a frozen broker takes them and says nothing, and the next try asks another one. */
export const connectLimitMs = 3_000

/** What `work` gives, or NodeError `LogUnavailable` after `ms`; `work` then goes on unheard. */
export async function within<T>(ms: number, clock: Clock, work: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const late = async (): Promise<never> => {
    await clock.sleep(ms, stop.signal)
    throw new NodeError('LogUnavailable', `Kafka has not answered within ${ms} ms.`)
  }
  try {
    return await Promise.race([work, late()])
  } finally {
    // With a reason of our own, because one is made with its stack otherwise, for each exchange.
    stop.abort('answered')
  }
}
