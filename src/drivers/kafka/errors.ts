// What an error of kafkajs says about the messages that were sent. The library wraps errors in errors, marks what can
// be repeated as not to be repeated, and now and then throws a plain Error: only what is known to refuse is trusted.
// Also the limits on exchanges with the brokers, and the pauses between tries.

import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'

/**
 * `refused`: not stored, and repeating is of no use. `absent`: not stored by this attempt; a repetition may succeed.
 * `unknown`: it may or may not be stored.
 */
export type SendVerdict = 'refused' | 'absent' | 'unknown'

const refusedTypes = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_REQUIRED_ACKS',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
])
const refusedNames = new Set(['KafkaJSSASLAuthenticationError', 'KafkaJSNotImplemented'])
/**
 * What a leader answers only before it appends. Not among them: that it leads no more or does not know the partition,
 * which it also says of messages that it has appended and that its followers may have.
 */
const absentTypes = new Set(['NOT_ENOUGH_REPLICAS'])

/**
 * What a failed request to store tells. Only the broker's own answer to that request says that nothing is stored: what
 * fails at the connection, before, meanwhile or after it, says nothing.
 */
export function sendVerdict(error: unknown): SendVerdict {
  // mutant: a lost answer counts as nothing stored
  if (!isAnswer(error)) return 'unknown'
  if (refusedTypes.has(textOf(error, 'type'))) return 'refused'
  return absentTypes.has(textOf(error, 'type')) ? 'absent' : 'unknown'
}

/** True for what a broker has answered to the request itself, not wrapped into a failure of something else. */
export function isAnswer(error: unknown): error is object {
  return typeof error === 'object' && error !== null && textOf(error, 'name') === 'KafkaJSProtocolError'
}

/** True when nothing will help but another configuration. */
export function isConfigurationError(error: unknown): boolean {
  return [...chainOf(error)].some((one) => refusedTypes.has(one.type) || refusedNames.has(one.name))
}

/** True for a position that the partition does not have. */
export function isOutOfRange(error: unknown): boolean {
  return hasType(error, 'OFFSET_OUT_OF_RANGE')
}

/** True when a broker has not answered in time: its connection may be dead without anyone knowing. */
export function isSilence(error: unknown): boolean {
  if (error instanceof NodeError) return true
  return [...chainOf(error)].some((one) => one.name === 'KafkaJSRequestTimeoutError')
}

/** True when an error, or one that it wraps, is the broker's answer `type`. */
export function hasType(error: unknown, type: string): boolean {
  return [...chainOf(error)].some((one) => one.type === type)
}

/** Names, answers and messages of an error and all that it wraps, for a person. */
export function describeError(error: unknown): string {
  const words = [...chainOf(error)].map(({ name, type, message }) => `${type || name}: ${message}`)
  return words.length === 0 ? String(error) : words.join(' < ')
}

interface Link {
  readonly name: string
  readonly type: string
  readonly message: string
}

const depthMost = 8

function* chainOf(error: unknown, depth = 0): Generator<Link> {
  if (typeof error !== 'object' || error === null || depth > depthMost) return
  yield {
    name: textOf(error, 'name'),
    type: textOf(error, 'type'),
    message: textOf(error, 'message'),
  }
  if ('cause' in error) yield* chainOf(error.cause, depth + 1)
  if ('originalError' in error) yield* chainOf(error.originalError, depth + 1)
  if ('errors' in error && Array.isArray(error.errors)) {
    for (const one of error.errors) yield* chainOf(one, depth + 1)
  }
}

function textOf(value: object, member: string): string {
  const found: unknown = Reflect.get(value, member)
  return typeof found === 'string' ? found : ''
}

/** Time to make connections: a frozen broker takes them and says nothing, and the next try asks another one. */
export const connectLimitMs = 3_000

/**
 * What `work` gives, or NodeError `LogUnavailable` after `ms`; `work` then goes on unheard.
 * The library's own limits add up to more than they say.
 */
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

/** A function that tells the pause before the next try, in milliseconds: twice the one before, up to a second. */
export function backoff(): () => number {
  let nextMs = 50
  return () => {
    const pauseMs = nextMs
    nextMs = Math.min(2 * pauseMs, 1_000)
    return pauseMs
  }
}

/** What to tell an operator whose brokers cannot be reached or refuse this client. */
export function connectionHint(error: unknown): string {
  const text = describeError(error)
  if (/Closed connection|socket disconnected/i.test(text)) {
    return `${text}. The broker closed the connection: check that TLS and user of --log fit its listener.`
  }
  return text
}
