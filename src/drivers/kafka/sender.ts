// Appending to the topic. `PartitionSender`: calls wait in a bounded queue, share record batches, and one batch is in
// flight at a time. The same bytes are sent until the broker has said where they are, or the deadline has passed: then
// the outcome is unknown. A copy that a lost acknowledgement leaves behind is void to its readers
// (docs/spec/protocol.md §1). `TopicWriter` makes one attempt.

import type { Broker } from 'kafkajs'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { AppendQueue } from '../../node/log/append-queue.ts'
import { produce, type TopicAddress, TopicConnections } from './client.ts'
import {
  backoff,
  connectLimitMs,
  describeError,
  isAnswer,
  isConfigurationError,
  isSilence,
  type SendVerdict,
  sendVerdict,
  within,
} from './errors.ts'

/** Most messages and bytes of one record batch. */
export const batchMessages = 64
export const batchBytes = 900_000
/** Most bytes of one message: what `max.message.bytes` of the topic leaves it. */
export const messageBytesMost = 1_048_000
/** Time in which a call is stored or its outcome is unknown. */
const deadlineMs = 15_000
/** How often a writer looks whether a message that it stored before is still there. */
const anchorMs = 30_000
/** Most bytes that wait in one partition. */
const queueBytes = 64 * 1024 * 1024

/** An attempt that reached no broker. */
export interface Unsent {
  readonly unsent: unknown
}

export interface SenderDeps {
  readonly partition: number
  /** End of the partition when it was opened: whatever is stored from now on lies there or above. */
  readonly end: number
  readonly clock: Clock
  readonly logger: Logger
  /** One attempt: the position of the first message, or why nothing was sent. Throws when that is not known. */
  readonly send: (messages: readonly Uint8Array[]) => Promise<number | Unsent>
  /** Position in [from, below) at which `messages` lie already, if they do. */
  readonly find: (span: { from: number; below: number }, messages: readonly Uint8Array[]) => Promise<number | undefined>
  /** The message at `position` as the broker has it now, or undefined when it is not there. Throws when it does not say. */
  readonly peek: (position: number) => Promise<Uint8Array | undefined>
  /** Called once when the partition has answered what cannot be: it is not the one that was opened. */
  readonly onHalt: (error: HaltError) => void
}

/** What one attempt has brought: the position of the first message, or why none. */
type Attempt =
  | { readonly first: number }
  | { readonly first: undefined; readonly verdict: SendVerdict; readonly cause: unknown }

export class PartitionSender {
  readonly #deps: SenderDeps
  readonly #queue: AppendQueue
  #end: number
  /** A message that was stored: by it the partition is known again. */
  #anchor: { readonly position: number; readonly bytes: Uint8Array; readonly atMs: number } | undefined
  #halt: HaltError | undefined

  constructor(deps: SenderDeps) {
    this.#deps = deps
    this.#end = deps.end
    this.#queue = new AppendQueue({ bytesMost: queueBytes, clock: deps.clock, storeNext: () => this.#storeNext() })
  }

  /** Position after the last message that is known to be stored. */
  get end(): number {
    return this.#end
  }

  /** Stores `messages` in order, contiguously, and resolves with the position of the first. Throws as `EventLog.append`. */
  append(messages: readonly Uint8Array[], ahead: boolean): Promise<number> {
    let bytes = 0
    for (const message of messages) bytes += message.length
    if (messages.length > batchMessages || (messages.length > 1 && bytes > batchBytes) || bytes > messageBytesMost) {
      return Promise.reject(tooLarge(messages.length, bytes))
    }
    if (this.#halt !== undefined) return Promise.reject(replaced(this.#halt))
    return this.#queue.add(messages, bytes, { ahead })
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /** Stores the next appends, as many as one batch has room for; those that have waited too long are refused. */
  async #storeNext(): Promise<void> {
    let count = 0
    let bytes = 0
    const nowMs = this.#deps.clock.monotonicMs()
    const group = this.#queue.take((call) => {
      if (nowMs - call.atMs > deadlineMs) return unavailable('Kafka did not take the rows in time; nothing was stored.')
      const fits = count + call.messages.length <= batchMessages && bytes + call.bytes <= batchBytes
      if (count > 0 && !fits) return 'wait'
      count += call.messages.length
      bytes += call.bytes
      return 'take'
    })
    if (group.length === 0) return
    const messages = group.flatMap((call) => call.messages)
    try {
      let first = await this.#storeBytes(messages)
      for (const call of group) {
        call.resolve(first)
        first += call.messages.length
      }
    } catch (error) {
      const told = error instanceof NodeError ? error : unavailable('The log cannot be written.', error)
      for (const call of group) call.reject(told)
    }
  }

  /** Sends until the position is known, the broker refuses, or the deadline has passed. */
  async #storeBytes(messages: readonly Uint8Array[]): Promise<number> {
    const { partition, clock, logger } = this.#deps
    const endMs = clock.monotonicMs() + deadlineMs
    const other = await this.#checkAnchor()
    if (other !== undefined) {
      this.#stop(other)
      throw replaced(other)
    }
    const from = this.#end
    let mayBeStored = false
    const pauseMs = backoff()
    for (;;) {
      const attempt = await this.#attempt(messages)
      if (attempt.first !== undefined) {
        this.#acknowledge(attempt.first, messages)
        return mayBeStored ? this.#firstCopy(attempt.first, messages, { from, endMs }) : attempt.first
      }
      const { verdict, cause } = attempt
      if (cause instanceof HaltError) {
        const told = this.#stop(cause)
        throw mayBeStored ? told : replaced(cause)
      }
      mayBeStored ||= verdict === 'unknown'
      if (verdict === 'refused')
        throw mayBeStored ? outcomeUnknown(cause) : unavailable('Kafka refuses the rows.', cause)
      logger.warn({ partition, why: describeError(cause) }, 'Kafka has not acknowledged messages; they are sent again')
      const jitteredMs = pauseMs() * (0.5 + (randomBytes(1)[0] ?? 0) / 512)
      if (clock.monotonicMs() + jitteredMs >= endMs) {
        throw mayBeStored ? outcomeUnknown(cause) : unavailable('Kafka cannot be reached; nothing was stored.', cause)
      }
      await clock.sleep(jitteredMs)
    }
  }

  /** Why this is not the partition that was written before: only its messages tell a topic that was deleted and made again. */
  async #checkAnchor(): Promise<HaltError | undefined> {
    const { clock, peek, partition } = this.#deps
    const anchor = this.#anchor
    if (anchor === undefined || clock.monotonicMs() - anchor.atMs < anchorMs) return undefined
    try {
      const found = await peek(anchor.position)
      // A message that is gone may have been deleted in its time.
      if (found === undefined || equalBytes(found, anchor.bytes)) this.#anchor = undefined
      else return new HaltError('LogReplaced', `message ${anchor.position} is not the one that was stored there`)
    } catch (error) {
      this.#deps.logger.warn({ partition, why: describeError(error) }, 'the log could not be checked before writing')
    }
    return undefined
  }

  async #attempt(messages: readonly Uint8Array[]): Promise<Attempt> {
    try {
      const sent = await this.#deps.send(messages)
      if (typeof sent === 'number') return { first: sent }
      const verdict = isConfigurationError(sent.unsent) ? 'refused' : 'absent'
      return { first: undefined, verdict, cause: sent.unsent }
    } catch (cause) {
      return { first: undefined, verdict: sendVerdict(cause), cause }
    }
  }

  /** Keeps in mind that messages are stored at `first`. */
  #acknowledge(first: number, messages: readonly Uint8Array[]): void {
    if (first < this.#end) {
      const { partition } = this.#deps
      const told = `partition ${partition} acknowledged position ${first}, but had messages below ${this.#end} already`
      throw this.#stop(new HaltError('LogReplaced', told))
    }
    this.#end = first + messages.length
    const bytes = messages.at(-1)
    if (bytes !== undefined) this.#anchor ??= { position: this.#end - 1, bytes, atMs: this.#deps.clock.monotonicMs() }
  }

  /**
   * Where an earlier attempt has left messages that are stored at `first`, or `first`: the first copy counts, and by its
   * position the batches are found. While the log cannot be read, the outcome is not known.
   */
  async #firstCopy(
    first: number,
    messages: readonly Uint8Array[],
    { from, endMs }: { readonly from: number; readonly endMs: number },
  ): Promise<number> {
    const { clock, find, logger } = this.#deps
    const pauses = backoff()
    while (first > from) {
      try {
        return (await find({ from, below: first }, messages)) ?? first
      } catch (error) {
        logger.warn({ why: describeError(error) }, 'the first copy of a repeated message could not be looked for')
        const pauseMs = pauses()
        if (clock.monotonicMs() + pauseMs >= endMs) throw outcomeUnknown(error)
        await clock.sleep(pauseMs)
      }
    }
    return first
  }

  #stop(error: HaltError): NodeError {
    this.#halt = error
    this.#deps.onHalt(error)
    this.#queue.rejectAll(() => replaced(error))
    return outcomeUnknown(error)
  }
}

function unavailable(message: string, cause?: unknown): NodeError {
  const hint = cause === undefined ? {} : { hint: describeError(cause) }
  return new NodeError('LogUnavailable', message, { ...hint, retryAfterSeconds: 5, cause })
}

function replaced(halt: HaltError): NodeError {
  return unavailable('The log takes no more: it is not the one that was opened.', halt)
}

function outcomeUnknown(cause: unknown): NodeError {
  return new NodeError('OutcomeUnknown', 'Kafka did not say whether the rows are stored.', {
    hint: 'Repeat the request with the same Idempotency-Key.',
    cause,
  })
}

function tooLarge(messages: number, bytes: number): NodeError {
  return new NodeError('BodyTooLarge', `A message of ${bytes} bytes (${messages} parts) does not fit into the log.`, {
    limit: { name: 'messageBytes', value: messageBytesMost, unit: 'bytes' },
  })
}

/** A request that takes longer is given up, and its connections with it. */
const attemptMs = 10_000
/** How often a writer looks whether cluster and topic are still the same. */
const checkMs = 30_000

export interface WriterOptions extends TopicAddress {
  readonly clock: Clock
  /** Throws HaltError `LogReplaced` when the brokers or the topic are not those that were opened. */
  readonly checkIdentity: () => Promise<void>
}

/**
 * Sends to one topic over connections of its own. Finding and reaching the leader is a step before the request, and the
 * request is one exchange that the library does not repeat: so it is known whether a failure came before anything was
 * sent, and what is thrown after that is never the failure of a later connection.
 */
export class TopicWriter {
  readonly #options: WriterOptions
  readonly #connections: TopicConnections
  /** An attempt has failed: who leads the partitions is asked again. */
  #isStale = false
  #checkedAtMs = 0

  constructor(options: WriterOptions) {
    this.#options = options
    this.#connections = new TopicConnections(options)
  }

  /**
   * One attempt: the position of the first message, or why nothing was sent. What it throws was met after the request
   * was given to the connection: `sendVerdict` says what that means. Throws HaltError `LogReplaced` before sending.
   */
  async send(partition: number, messages: readonly Uint8Array[]): Promise<number | Unsent> {
    const { topic, clock } = this.#options
    let leader: Broker
    try {
      leader = await within(attemptMs, clock, this.#leader(partition))
      // The library would connect again as a part of sending.
      if (!leader.isConnected()) throw new NodeError('LogUnavailable', 'The connection to Kafka has just ended.')
    } catch (error) {
      if (error instanceof HaltError) throw error
      this.#isStale = true
      return { unsent: error }
    }
    try {
      const values = messages.map((value) => ({ value }))
      return await within(attemptMs, clock, produce(leader, { topic, partition, acks: 'all' }, values))
    } catch (error) {
      this.#isStale = true
      this.#checkedAtMs = Number.NEGATIVE_INFINITY
      if (!isAnswer(error) && isSilence(error)) void this.close()
      throw error
    }
  }

  /** Ends the connections: the next attempt makes new ones. A silent broker may keep it waiting without end. */
  close(): Promise<void> {
    return this.#connections.drop()
  }

  /** The connected leader of a partition, once cluster and topic are known to be the same. */
  async #leader(partition: number): Promise<Broker> {
    const { clock, checkIdentity } = this.#options
    if (!this.#connections.isOpen || clock.monotonicMs() - this.#checkedAtMs > checkMs) {
      await checkIdentity()
      this.#checkedAtMs = clock.monotonicMs()
    }
    const cluster = await within(connectLimitMs, clock, this.#connections.connected())
    if (this.#isStale) {
      const refreshing = cluster.refreshMetadata().catch((error: unknown) => {
        void this.close()
        throw error
      })
      await within(connectLimitMs, clock, refreshing)
      this.#isStale = false
    }
    return this.#connections.leaderOf(cluster, partition)
  }
}
