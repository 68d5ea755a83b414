// Announcements over the commits topic, so that gateways and replicas of other processes hear of commits.
// Listeners of this process are called at once; what comes back from the topic with our own mark is skipped.
// Hints only: when the brokers are away, announcements are dropped: a commit whose announcement is missed is found in the store.

import type { Kafka } from 'kafkajs'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { decodeUtf8, equalBytes, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { type AnnouncementListener, type Announcements, openLocalAnnouncements } from '../../node/log/announcements.ts'
import type { CommitAnnouncement } from '../../node/log/messages.gen.ts'
import { checkCommitAnnouncement } from '../../node/log/messages.ts'
import { createKafka, endConnections, type KafkaConnection, produce, TopicConnections } from './client.ts'
import { describeError, isOutOfRange, within } from './errors.ts'
import { TopicReader } from './reader.ts'
import { topicNames } from './topics.ts'

const markBytes = 16
/** Announcements that wait to be sent at most; the oldest goes first. */
const waitingMost = 10_000
const sendMost = 500
const attemptMs = 10_000
const retryMs = 1_000
const fetchOptions = { maxWaitMs: 500, maxBytes: 1024 * 1024 } as const

export interface KafkaAnnouncementsOptions {
  readonly connection: KafkaConnection
  readonly clock: Clock
  readonly logger: Logger
  /** As for the log, whose opening makes the topic. */
  readonly topicPrefix?: string
}

export interface KafkaAnnouncements extends Announcements {
  /** Sends what waits, for a moment, and stops listening. */
  close(): Promise<void>
}

/** Announcements of all processes that share the topic. Nothing of Kafka's state is awaited or thrown. */
export function openKafkaAnnouncements(options: KafkaAnnouncementsOptions): KafkaAnnouncements {
  return new TopicAnnouncements(options)
}

class TopicAnnouncements implements KafkaAnnouncements {
  readonly #options: KafkaAnnouncementsOptions
  readonly #local: Announcements
  readonly #kafka: Kafka
  readonly #topic: string
  /** Header of each message of this process. */
  readonly #mark = randomBytes(markBytes)
  readonly #stop = new AbortController()
  readonly #listening: Promise<void>
  #waiting: CommitAnnouncement[] = []
  #sending: Promise<void> | undefined
  readonly #producing: TopicConnections

  constructor(options: KafkaAnnouncementsOptions) {
    this.#options = options
    this.#local = openLocalAnnouncements(options.logger)
    this.#kafka = createKafka(options.connection, options.logger)
    this.#topic = topicNames(options.topicPrefix ?? 'proofstream').commits
    this.#producing = new TopicConnections({ kafka: this.#kafka, topic: this.#topic })
    this.#listening = this.#listen()
  }

  async announce(message: CommitAnnouncement, blocks?: readonly Uint8Array[]): Promise<void> {
    await this.#local.announce(message, blocks)
    if (this.#stop.signal.aborted) return
    if (this.#waiting.length >= waitingMost) this.#waiting.shift()
    this.#waiting.push(message)
    this.#sending ??= this.#sendWaiting()
  }

  subscribe(listener: AnnouncementListener): () => void {
    return this.#local.subscribe(listener)
  }

  async close(): Promise<void> {
    await this.#sending
    this.#stop.abort()
    await this.#listening
    await this.#producing.drop()
    endConnections(this.#kafka)
  }

  async #sendWaiting(): Promise<void> {
    const { clock, logger } = this.#options
    await Promise.resolve()
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const group = this.#waiting.splice(0, sendMost)
      try {
        await within(attemptMs, clock, this.#send(group))
      } catch (error) {
        logger.warn({ dropped: group.length, why: describeError(error) }, 'announcements could not be sent')
        void this.#producing.drop()
      }
    }
    this.#sending = undefined
  }

  async #send(group: readonly CommitAnnouncement[]): Promise<void> {
    const messages = group.map((one) => ({
      key: Buffer.from(one.dataset),
      value: utf8(JSON.stringify(one)),
      headers: { sender: Buffer.from(this.#mark) },
    }))
    const leader = await this.#producing.leaderOf(await this.#producing.connected(), 0)
    await produce(leader, { topic: this.#topic, partition: 0, acks: 'leader' }, messages)
  }

  /** Hears from now on. After a failure it goes on where it was, or at the end when that is gone. */
  async #listen(): Promise<void> {
    const { clock, logger } = this.#options
    const { signal } = this.#stop
    const reader = new TopicReader({ kafka: this.#kafka, topic: this.#topic, clock })
    let next: number | undefined
    while (!signal.aborted) {
      try {
        next ??= (await reader.ranges([0])).get(0)?.end ?? 0
        for (const { position, bytes, headers } of await reader.fetch(0, next, fetchOptions)) {
          next = position + 1
          const sender = headers?.['sender']
          if (!(sender instanceof Uint8Array && equalBytes(sender, this.#mark))) await this.#hear(bytes)
        }
      } catch (error) {
        if (isOutOfRange(error)) next = undefined
        logger.debug({ why: describeError(error) }, 'announcements cannot be heard; trying again')
        await clock.sleep(retryMs, signal)
      }
    }
    await reader.close()
  }

  async #hear(bytes: Uint8Array): Promise<void> {
    try {
      const message: unknown = JSON.parse(decodeUtf8(bytes))
      const fault = checkCommitAnnouncement(message)
      // `as`: the schema of the type has just been checked.
      if (fault === undefined) await this.#local.announce(message as CommitAnnouncement)
      else this.#options.logger.debug({ fault }, 'an announcement does not fit its contract')
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'an announcement cannot be read')
    }
  }
}
