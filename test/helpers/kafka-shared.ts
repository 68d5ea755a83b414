// Logs on the broker that all Kafka tests share: each test has topics of its own.

import { randomUUID } from 'node:crypto'
import type { Admin } from 'kafkajs'
import { inject } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../src/libraries/base/logger.ts'
import { createKafka } from '../../src/drivers/kafka/client.ts'
import type { KafkaLogOptions } from '../../src/drivers/kafka/kafka-log.ts'
import { topicNames } from '../../src/drivers/kafka/topics.ts'
import type { SharedKafka } from '../kafka/global-setup.ts'

/** True when the machine cannot run a broker; the setup has said so loudly. */
export const noKafka: boolean = inject('kafka') === null

/** The shared broker. */
export function sharedKafka(): SharedKafka {
  return must(inject('kafka') ?? undefined, 'a broker runs')
}

/** A prefix that no other test uses. */
export function newPrefix(): string {
  return `t-${randomUUID()}`
}

/** The log of a node with these topics, in `brokers`. */
export function kafkaUrl(topicPrefix: string, partitions = 8, brokers = sharedKafka().broker): string {
  return `kafka://${brokers}/${topicPrefix}?partitions=${partitions}`
}

/** Options of a log with topics of its own and one partition. */
export function kafkaLogOptions(more: Partial<KafkaLogOptions> = {}): KafkaLogOptions {
  return {
    connection: { brokers: [sharedKafka().broker] },
    clock: systemClock,
    logger: silentLogger,
    topicPrefix: newPrefix(),
    partitions: 1,
    ...more,
  }
}

/** A connected admin of the shared broker, to be disconnected. */
export async function sharedAdmin(): Promise<Admin> {
  const admin = createKafka({ brokers: [sharedKafka().broker] }, silentLogger).admin()
  await admin.connect()
  return admin
}

/** The records topic of a log. */
export function recordsTopic({ topicPrefix = '' }: Pick<KafkaLogOptions, 'topicPrefix'>): string {
  return topicNames(topicPrefix).records
}

/** A logger that keeps what is said. */
export function listeningLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const keep = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
  }
  return { logger: { debug() {}, info: keep, warn: keep, error: keep }, lines }
}
