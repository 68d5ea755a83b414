// Kafka as the log of an installation: its topics, announcements and the sharing of partitions, behind the interface of drivers.

import { readFile } from 'node:fs/promises'
import { systemClock as clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type Logger, silentLogger } from '../../libraries/base/logger.ts'
import type { LogDriverCode, Opening, OpenedLog, Streams } from '../../node/driver.ts'
import type { EventLog } from '../../node/log/event-log.ts'
import { openKafkaAnnouncements } from './announcements.ts'
import { openKafkaAssignment } from './assignment.ts'
import { createKafka, type KafkaConnection } from './client.ts'
import { connectionHint } from './errors.ts'
import { inspectKafka } from './inspect.ts'
import { type KafkaLog, openKafkaLog } from './kafka-log.ts'
import type { KafkaConfig, KafkaLogin } from './options.ts'
import { applyTopics, compareTopics, describeBrokers, topicNames } from './topics.ts'

/** A log that takes longer to say where it ends is not there for an accept either. */
const logAnswerMs = 2_000

export const kafka: LogDriverCode<KafkaConfig> = {
  open,
  openLog: openTopics,
  streams: openStreams,
  inspect: async (options) => await inspectKafka(() => openStreams(options, silentLogger)),
}

async function open(options: KafkaConfig, isReader: boolean, { logger, opened }: Opening): Promise<OpenedLog> {
  const { topicPrefix } = options
  const log = isReader ? undefined : await openTopics(options, logger)
  if (log !== undefined) opened.push(() => log.close())
  const connection = await connectionOf(options)
  const announcements = openKafkaAnnouncements({ connection, clock, logger, topicPrefix })
  opened.push(() => announcements.close())
  const without = { aging: undefined, assignment: undefined, facts: {}, fault: async () => undefined }
  if (log === undefined) return { ...without, log, announcements }
  const { replicas, partitions } = log
  const caution = `with ${replicas} of 3 replicas a loss of power may lose logged rows`
  if (replicas < 3) logger.warn({ replicas }, caution)
  return {
    log,
    aging: log,
    announcements,
    assignment: (store) => {
      const group = `${topicPrefix}.builders.${store}`
      return openKafkaAssignment({ connection, clock, logger, topicPrefix, partitions, group })
    },
    facts: { replicas, ...(replicas < 3 ? { caution } : {}) },
    fault: async () => log.fault() ?? (await silenceOf(log)),
  }
}

/** Opens the log in the topics of a prefix. Throws as `openKafkaLog`. */
async function openTopics(options: KafkaConfig, logger: Logger): Promise<KafkaLog> {
  const { topicPrefix, partitions } = options
  return openKafkaLog({ connection: await connectionOf(options), clock, logger, topicPrefix, partitions })
}

/** Says so when the log does not answer in time. */
async function silenceOf(log: EventLog): Promise<string | undefined> {
  const ended = new AbortController()
  const range = log.range(0)
  const answer = range.then(() => undefined).catch(() => 'the log cannot be reached')
  const silence = clock.sleep(logAnswerMs, ended.signal).then(() => 'the log does not answer')
  return Promise.race([answer, silence]).finally(() => ended.abort())
}

/** The topics of an installation; what it returns throws NodeError `LogUnavailable`. */
async function openStreams(config: KafkaConfig, logger: Logger): Promise<Streams> {
  const { brokers, topicPrefix, partitions } = config
  const client = createKafka(await connectionOf(config), logger)
  const options = { kafka: client, logger, names: topicNames(topicPrefix), partitions }
  const told = (cause: unknown): never => {
    const hint = connectionHint(cause)
    throw new NodeError('LogUnavailable', `Kafka at ${brokers.join(', ')} cannot be used.`, { hint, cause })
  }
  return {
    cluster: () => describeBrokers(client).catch(told),
    compare: () => compareTopics(options).catch(told),
    apply: () => applyTopics(options).catch(told),
  }
}

async function connectionOf({ brokers, login, tls }: KafkaConfig): Promise<KafkaConnection> {
  const pem = Object.entries(tls ?? {}).map(async ([name, path]) => [name, await readFile(path, 'utf8')] as const)
  return {
    brokers,
    ...(login && { sasl: { ...login, password: await passwordOf(login.password) } }),
    ...(tls && { tls: Object.fromEntries(await Promise.all(pem)) }),
  }
}

async function passwordOf(given: KafkaLogin['password']): Promise<string> {
  // An editor ends a file with a line end, which is no part of it.
  return 'text' in given ? given.text : (await readFile(given.file, 'utf8')).replace(/\r?\n$/, '')
}
