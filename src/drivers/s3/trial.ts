// The trial of a bucket before it is used as a store: whether what Proofstream rests on holds there. Conditional writes are
// tried by writers at the same time, because a store that looks first and writes afterwards passes every trial of one writer.
// A trial that was passed is evidence, not proof: the links of chains remain the judge.

import type { S3 } from '@aws-sdk/client-s3'
import { randomText, sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { equalBytes, utf8 } from '../../libraries/base/bytes.ts'
import { systemClock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type Body, bodyOf } from './body.ts'
import { attemptsMost, type Bucket } from './bucket.ts'
import { createOnce, type Outcome } from './create.ts'
import { Refused } from './faults.ts'

/** Keys that writers contend for, at the same time, and writers of each; together no more than there are connections. */
const contendedKeys = 8
const keysAtOnce = 4
const writersOfKey = 16
/** Until the bodies of all writers but for their ends have certainly arrived. */
const gatherMs = 20
const gatherMostMs = 2_000

export interface Trial {
  readonly use: 'read' | 'write'
  readonly logger: Logger
  /** A client whose signatures are wrong. */
  readonly asStranger: () => Promise<S3>
}

/**
 * Resolves when `bucket` can be used. What it writes lies under `selftest/` and is removed again. Throws NodeError
 * `StoreUnavailable`, which says what does not hold and what to do.
 */
export async function tryBucket(bucket: Bucket, { use, logger, asStranger }: Trial): Promise<void> {
  const place = `selftest/${randomText(12)}`
  await tryReading(bucket, place)
  if (use === 'read') return
  const keys: string[] = []
  const keyOf = (name: string): string => {
    keys.push(`${place}/${name}`)
    return `${place}/${name}`
  }
  try {
    const stored = [await tryCondition(bucket, keyOf('condition'))]
    for (let at = 0; at < contendedKeys; at += keysAtOnce) {
      const names = Array.from({ length: keysAtOnce }, (_, i) => `race-${at + i}`)
      stored.push(...(await tryRaces(bucket, names, keyOf)))
    }
    await tryListing(bucket, place, stored)
    if (!(await checksHashes(bucket, keyOf('mangled')))) await trySignatures(bucket, asStranger, logger)
  } finally {
    await remove(bucket, keys, logger)
  }
}

type KeyOf = (name: string) => string

/** A missing key must be told from one that may not be read, and the bucket must list. */
async function tryReading(bucket: Bucket, place: string): Promise<void> {
  await bucket.get(`${place}/missing`)
  await bucket.names(place)
}

/** The condition holds for one writer after the other, whatever the bytes are. Resolves with the key. */
async function tryCondition(bucket: Bucket, key: string): Promise<string> {
  const put = async (text: string, { isFirst = false } = {}): Promise<Outcome> => {
    for (let attempt = 1; ; attempt++) {
      const outcome = await createOnce(bucket, key, await bodyOf([utf8(text)]))
      // Nobody else writes there: a conflict before anything is there stored nothing, and is tried again.
      if (outcome.kind !== 'unknown' && !(isFirst && outcome.kind === 'conflict')) return outcome
      if (attempt === attemptsMost) throw outcome.error
      await bucket.pause(attempt)
    }
  }
  await put('first', { isFirst: true })
  for (const text of ['second', 'first']) {
    const { kind } = await put(text)
    if (kind === 'created') throw refusal('ignores the condition that nothing is there, and writes')
  }
  const there = await bucket.get(key)
  if (there === undefined || !equalBytes(there, utf8('first'))) throw refusal('does not have what was created first')
  return key
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
  const writers = Array.from({ length: writersOfKey }, (_, i) => utf8(`writer ${i} `.repeat(200)))
  const outcomes = await Promise.all(
    writers.map((bytes) => {
      const { body, leave } = gate.held(bytes)
      return createOnce(bucket, key, body).finally(leave)
    }),
  )
  const winners = writers.filter((_, i) => outcomes[i]?.kind === 'created')
  if (winners.length > 1) throw refusal(`let ${winners.length} of ${writersOfKey} writers at the same time win`)
  const there = await bucket.get(key)
  if (there === undefined && winners.length === 0) {
    const open = outcomes.find(({ kind }) => kind === 'unknown')
    if (open?.kind === 'unknown') return open.error
    throw refusal('lets none of several writers at the same time win')
  }
  const candidates = winners.length === 0 ? writers : winners
  if (there !== undefined && candidates.some((bytes) => equalBytes(there, bytes))) return undefined
  throw refusal('lost what the winner of a race wrote')
}

/** Holds the last byte of each body back until all others have arrived, or the slowest have had their time. */
class Gate {
  #missing: number
  #arrived: () => void = () => {}
  readonly #opened: Promise<void>

  constructor(bodies: number) {
    this.#missing = bodies
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve
    })
    const gathered = arrived.then(() => systemClock.sleep(gatherMs))
    this.#opened = Promise.race([gathered, systemClock.sleep(gatherMostMs)])
  }

  /** A body of `bytes`; `leave` says that nobody need wait for it any more. */
  held(bytes: Uint8Array): { readonly body: Body; readonly leave: () => void } {
    let isAwaited = true
    const leave = (): void => {
      if (isAwaited && --this.#missing === 0) this.#arrived()
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
  const part = await bucket.part(keys[0] ?? '', { start: 1, end: 5 })
  if (part?.isPart !== true || part.bytes.length !== 4) throw refusal('does not give parts of objects')
}

/** True where a body that is not what its hash says is refused. Nothing rests on it, for what is read is hashed again. */
async function checksHashes(bucket: Bucket, key: string): Promise<boolean> {
  const body = { ...(await bodyOf([utf8('one')])), sha256: sha256Hex(utf8('two')) }
  const isTaken = await isDone(bucket, () => bucket.put(key, body, 'none'))
  return !isTaken && (await bucket.get(key)) === undefined
}

/**
 * A store that looks at signatures neither is an emulator for tests: some of those let two writers win too rarely to be
 * caught by races.
 */
async function trySignatures(bucket: Bucket, asStranger: Trial['asStranger'], logger: Logger): Promise<void> {
  const stranger = await asStranger()
  const { Bucket } = bucket.at('')
  const isSeen = await isDone(bucket, () => bucket.send('a listing', () => stranger.listObjectsV2({ Bucket })))
  stranger.destroy()
  if (isSeen) throw refusal('checks neither signatures nor the hashes of bodies, as emulators for tests do')
  const what = 'the store keeps bodies that are not what their hash says; damage on the way is found when they are read'
  logger.warn({}, what)
}

/** True where the store does it, false where it refuses; repeated while the store is busy. Throws what the last attempt threw. */
async function isDone(bucket: Bucket, send: () => Promise<unknown>): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await send()
      return true
    } catch (error) {
      if (error instanceof Refused && error.status < 500 && ![408, 429].includes(error.status)) return false
      if (attempt === attemptsMost) throw error
    }
    await bucket.pause(attempt)
  }
}

async function remove(bucket: Bucket, keys: readonly string[], logger: Logger): Promise<void> {
  const outcomes = await Promise.allSettled(keys.map((key) => bucket.delete(key)))
  const failed = outcomes.find(({ status }) => status === 'rejected')
  if (failed !== undefined) logger.warn({ keys }, 'what the trial of the store wrote could not be removed')
}

function refusal(what: string): NodeError {
  return new NodeError('StoreUnavailable', `The store cannot be used: it ${what}.`, {
    hint: 'Use a store with atomic conditional writes, or condition=gcs in --store for one of Google.',
  })
}
