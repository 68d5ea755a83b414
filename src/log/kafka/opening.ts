// Opening what lies in Kafka: brokers that are not there yet are tried for a minute, and an operator is told so at once
// and now and then, not at every try.

import type { Kafka } from 'kafkajs'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { NodeError } from '../../model/errors.ts'
import { createKafka, type KafkaConnection } from './client.ts'
import { isConfigurationError } from './errors.ts'
import { connectionHint } from './topics.ts'

/** How long brokers that cannot be reached are tried. */
const openMs = 60_000
const retryMs = 500
const tellMs = 10_000

export interface OpeningOptions {
  readonly connection: KafkaConnection
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * What `open` makes of a client. Throws NodeError `LogUnavailable` after a minute of trying, or at once when the brokers
 * refuse this client; `InvalidParameter` as `open` throws it.
 */
export async function openPatiently<T>(options: OpeningOptions, open: (kafka: Kafka) => Promise<T>): Promise<T> {
  const { connection, clock, logger } = options
  const { brokers } = connection
  let isOpen = false
  // The client has a line for each connection that it tries.
  const warn: Logger['warn'] = (fields, message) =>
    isOpen ? logger.warn(fields, message) : logger.debug(fields, message)
  const kafka = createKafka(connection, {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn,
    error: (fields, message) => logger.error(fields, message),
  })
  const endMs = clock.monotonicMs() + openMs
  let tellAtMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      const opened = await open(kafka)
      isOpen = true
      return opened
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'InvalidParameter') throw error
      const why = connectionHint(error)
      const nowMs = clock.monotonicMs()
      if (isConfigurationError(error) || nowMs + retryMs > endMs) {
        const message = `Kafka at ${brokers.join(', ')} cannot be used.`
        throw new NodeError('LogUnavailable', message, { hint: why, cause: error })
      }
      if (nowMs >= tellAtMs) {
        const secondsLeft = Math.ceil((endMs - nowMs) / 1000)
        logger.warn({ brokers, why }, `Kafka cannot be reached; trying for ${secondsLeft} s more`)
        tellAtMs = nowMs + tellMs
      }
      await clock.sleep(retryMs)
    }
  }
}
