// The trial of a bucket before it is used as a store: whether what Proofstream rests on holds there. Conditional writes are
// tried by writers at the same time, because a store that looks first and writes afterwards passes every trial of one writer.
// A trial that was passed is evidence, not proof: the links of chains remain the judge.

import { randomText, sha256Hex } from '../../ids/native-crypto.ts'
import { equalBytes, utf8 } from '../../lib/bytes.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { NodeError } from '../../model/errors.ts'
import { type Body, bodyOf } from './body.ts'
import { attemptsMost, type Bucket, nameOf } from './bucket.ts'
import type { S3Request } from './client.ts'
import { ifAbsent } from './create.ts'
import { errorCodeOf, faultOf, mayPass, type S3Answer, Unanswered } from './faults.ts'
import type { S3StoreOptions } from './s3-store.ts'

/** Keys that writers contend for, at the same time, and writers of each; together no more than there are connections. */
const contendedKeys = 8
const keysAtOnce = 4
const writersOfKey = 16
/** Until the bodies of all writers but for their ends have certainly arrived. */
const gatherMs = 20
const gatherMostMs = 2_000

export interface Trial {
  readonly writes: S3StoreOptions['writes']
  readonly logger: Logger
}

/**
 * Resolves when `bucket` can be used. What it writes lies under `selftest/` and is removed again. Throws NodeError
 * `StoreUnavailable`, which says what does not hold and what to do.
 */
export async function tryBucket(bucket: Bucket, { writes, logger }: Trial): Promise<void> {
  const place = `selftest/${randomText(12)}`
  await tryReading(bucket, place)
  if (writes === 'reader') return
  const keys: string[] = []
  const keyOf = (name: string): string => {
    keys.push(`${place}/${name}`)
    return `${place}/${name}`
  }
  try {
    const stored = writes === 'alone' ? [await tryPlain(bucket, keyOf, logger)] : await tryConditions(bucket, keyOf)
    await tryListing(bucket, place, stored)
    await tryHashes(bucket, keyOf('mangled'), logger)
  } finally {
    await remove(bucket, keys, logger)
  }
}

type KeyOf = (name: string) => string

async function tryPlain(bucket: Bucket, keyOf: KeyOf, logger: Logger): Promise<string> {
  logger.warn(
    {},
    'the store has no conditional writes by --s3-single-writer: a second process that writes forks chains',
  )
  const key = keyOf('plain')
  await bucket.ask({ method: 'PUT', key, body: await textBody('plain') })
  return key
}

/** Resolves with the keys that there are now. */
async function tryConditions(bucket: Bucket, keyOf: KeyOf): Promise<readonly string[]> {
  const stored = [keyOf('condition')]
  await tryCondition(bucket, stored[0] ?? '')
  for (let at = 0; at < contendedKeys; at += keysAtOnce) {
    const names = Array.from({ length: keysAtOnce }, (_, i) => `race-${at + i}`)
    stored.push(...(await tryRaces(bucket, names, keyOf)))
  }
  return stored
}

/** A missing key must be told from one that may not be read, and the bucket must list. */
async function tryReading(bucket: Bucket, place: string): Promise<void> {
  const request = { method: 'GET', key: `${place}/missing` } as const
  const answer = await bucket.ask(request)
  if (answer.status !== 404) throw faultOf(nameOf(request), answer)
  await bucket.names(place)
}

/** The condition holds for one writer after the other, whatever the bytes are. */
async function tryCondition(bucket: Bucket, key: string): Promise<void> {
  const [first, second] = ['first', 'second']
  const headers = ifAbsent[bucket.client.dialect]
  const put = async (text: string): Promise<S3Answer> => {
    const request = { method: 'PUT', key, headers, body: await textBody(text) } as const
    for (let attempt = 1; ; attempt++) {
      const answer = await answerTo(bucket, request)
      if (!(answer instanceof Unanswered) && (attempt === attemptsMost || !mayPass(answer))) return answer
      if (answer instanceof Unanswered && attempt === attemptsMost) throw answer
      await bucket.pause(attempt)
    }
  }
  const created = await put(first)
  if (created.status >= 300 && created.status !== 412) {
    const isForeign = created.status === 501 || errorCodeOf(created) === 'NotImplemented'
    throw isForeign ? refusal('refuses conditional writes') : faultOf(`PUT ${key}`, created)
  }
  for (const text of [second, first]) {
    const { status } = await put(text)
    if (status < 300) throw refusal('ignores the condition that nothing is there, and writes')
    if (status !== 412 && status !== 409) throw refusal(`answers ${status} in place of 412 where something is there`)
  }
  const { status, body } = await bucket.ask({ method: 'GET', key })
  if (status !== 200 || !equalBytes(body, utf8(first))) throw refusal('does not have what was created first')
}

/** Of writers of each of some keys at the same time exactly one wins, and what it wrote is there. Resolves with those keys. */
async function tryRaces(bucket: Bucket, names: readonly string[], keyOf: KeyOf): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt++) {
    const keys = names.map((name) => keyOf(`${name}-${attempt}`))
    const gate = new Gate(keys.length * writersOfKey)
    const undecided = (await Promise.all(keys.map((key) => race(bucket, key, gate)))).find((one) => one !== undefined)
    if (undecided === undefined) return keys
    if (attempt === attemptsMost) throw undecided
    await bucket.pause(attempt)
  }
}

/** Undefined, or why the race had no winner though nothing is wrong with it: the store was busy, or answers were lost. */
async function race(bucket: Bucket, key: string, gate: Gate): Promise<NodeError | undefined> {
  const headers = ifAbsent[bucket.client.dialect]
  const writers = Array.from({ length: writersOfKey }, (_, i) => utf8(`writer ${i} `.repeat(200)))
  const answers = await Promise.all(
    writers.map((bytes) => {
      const { body, leave } = gate.held(bytes)
      return answerTo(bucket, { method: 'PUT', key, headers, body }).finally(leave)
    }),
  )
  const winners = writers.filter((_, i) => isSuccess(answers[i]))
  if (winners.length > 1) throw refusal(`let ${winners.length} of ${writersOfKey} writers at the same time win`)
  const { status, body } = await bucket.ask({ method: 'GET', key })
  if (status === 404 && winners.length === 0) {
    const open = answers.find((answer) => answer instanceof Unanswered || mayPass(answer))
    if (open === undefined) throw refusal('lets none of several writers at the same time win')
    return open instanceof Unanswered ? open : faultOf(`PUT ${key}`, open)
  }
  const candidates = winners.length === 0 ? writers : winners
  if (!candidates.some((bytes) => equalBytes(body, bytes))) throw refusal('lost what the winner of a race wrote')
  return undefined
}

function isSuccess(answer: S3Answer | Unanswered | undefined): boolean {
  return answer !== undefined && !(answer instanceof Unanswered) && answer.status < 300
}

function answerTo(bucket: Bucket, request: S3Request): Promise<S3Answer | Unanswered> {
  return bucket.send(request).catch((error: unknown) => {
    if (error instanceof Unanswered) return error
    throw error
  })
}

/** Holds the last byte of each body back until all others have arrived, or the slowest have had their time. */
class Gate {
  #missing: number
  readonly #opened: Promise<void>
  #open: () => void = () => {}

  constructor(bodies: number) {
    this.#missing = bodies
    const arrived = new Promise<void>((resolve) => {
      this.#open = resolve
    }).then(() => systemClock.sleep(gatherMs))
    this.#opened = Promise.race([arrived, systemClock.sleep(gatherMostMs)])
  }

  /** A body of `bytes`; `leave` says that nobody need wait for it any more. */
  held(bytes: Uint8Array): { readonly body: Body; readonly leave: () => void } {
    let isAwaited = true
    const leave = (): void => {
      if (isAwaited && --this.#missing === 0) this.#open()
      isAwaited = false
    }
    const opened = this.#opened
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, -1)
      leave()
      await opened
      yield bytes.subarray(-1)
    }
    return { body: { sizeBytes: bytes.length, sha256: sha256Hex(bytes), pieces }, leave }
  }
}

/** What was written is listed at once, and parts of it can be read. */
async function tryListing(bucket: Bucket, place: string, keys: readonly string[]): Promise<void> {
  const names = await bucket.names(place)
  const missing = keys.filter((key) => !names.has(key.slice(place.length + 1)))
  if (missing.length > 0) throw refusal('does not list what was just written')
  const [key = ''] = keys
  const { status, body } = await bucket.ask({ method: 'GET', key, headers: { range: 'bytes=1-4' } })
  if (status !== 206 || body.length !== 4) throw refusal('does not give parts of objects')
}

/**
 * Bodies that are not what their hash says should be refused; nothing rests on it, for what is read is hashed again. A store
 * that looks at signatures neither is an emulator for tests: some of those let two writers win too rarely to be caught here.
 */
async function tryHashes(bucket: Bucket, key: string, logger: Logger): Promise<void> {
  const body = { ...(await textBody('one')), sha256: sha256Hex(utf8('two')) }
  const { status } = await clearAnswer(bucket, () => bucket.send({ method: 'PUT', key, body }))
  const left = await bucket.ask({ method: 'GET', key })
  if (status >= 300 && left.status === 404) return
  const stranger = bucket.client.asStranger()
  const seen = await clearAnswer(bucket, () => stranger.send({ method: 'GET' })).finally(() => stranger.close())
  if (seen.status < 300) throw refusal('checks neither signatures nor the hashes of bodies, as emulators for tests do')
  const what = 'the store keeps bodies that are not what their hash says; damage on the way is found when they are read'
  logger.warn({ status }, what)
}

/** The first answer that is none of a store that is busy. Throws what the last attempt threw. */
async function clearAnswer(bucket: Bucket, send: () => Promise<S3Answer>): Promise<S3Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send().catch((error: unknown) => {
      if (error instanceof Unanswered && attempt < attemptsMost) return undefined
      throw error
    })
    const isClear = answer !== undefined && answer.status < 500 && ![408, 429].includes(answer.status)
    if (isClear || (answer !== undefined && attempt === attemptsMost)) return answer
    await bucket.pause(attempt)
  }
}

async function remove(bucket: Bucket, keys: readonly string[], logger: Logger): Promise<void> {
  const outcomes = await Promise.allSettled(keys.map((key) => bucket.ask({ method: 'DELETE', key })))
  const failed = outcomes.find(({ status }) => status === 'rejected')
  if (failed !== undefined) logger.warn({ keys }, 'what the trial of the store wrote could not be removed')
}

function textBody(text: string): Promise<Body> {
  return bodyOf([utf8(text)])
}

function refusal(what: string): NodeError {
  return new NodeError('StoreUnavailable', `The store cannot be used: it ${what}.`, {
    hint:
      'Use a store with atomic conditional writes, or the other --s3-condition. Where one process alone ever writes, ' +
      '--s3-single-writer does without them.',
  })
}
