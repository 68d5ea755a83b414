// Object store in a bucket of S3, or of a store that speaks its language. An object appears in one step, by a PUT under the
// condition that nothing is there (`create.ts`). What can be read is durable.

import { checkKey, isSegment } from '../layout.ts'
import { checkRange, type ObjectStore, onlyReads } from '../object-store.ts'
import { type Body, bodyOf, withSpooled } from './body.ts'
import type { Bucket } from './bucket.ts'
import { createObject, ifAbsent } from './create.ts'
import { faultOf, type S3Answer } from './faults.ts'
import { Pace } from './pace.ts'
import type { Dialect } from './sign.ts'

export interface S3StoreOptions {
  /**
   * `conditional`: the store decides who is first. `alone`: nobody else writes, as an operator has promised, and this process
   * looks before it writes. `reader`: nothing is written.
   */
  readonly writes: 'conditional' | 'alone' | 'reader'
  /** Directory on a local disk for large streams while they are sent. */
  readonly spoolDir: string
}

/** Google refuses to replace an object more often. */
const replacedEveryMs: Readonly<Record<Dialect, number>> = { aws: 0, gcs: 1_000 }
/** Objects that are deleted at once. */
const parallelDeletes = 16

/** The store under the prefix of `bucket`, which must have passed its trial (`trial.ts`). */
export function openS3Store(bucket: Bucket, { writes, spoolDir }: S3StoreOptions): ObjectStore {
  const create = writes === 'alone' ? createAlone(bucket) : createConditionally(bucket)
  const reading = readingStore(bucket)
  const everyMs = replacedEveryMs[bucket.client.dialect]
  const pace = everyMs === 0 ? undefined : new Pace(bucket.clock, everyMs)
  if (writes === 'reader') return { ...reading, ...onlyReads }
  return {
    ...reading,
    async put(key, bytes) {
      checkKey(key)
      return create(key, await bodyOf(bytes instanceof Uint8Array ? [bytes] : bytes))
    },
    async putStream(chunks, keyOf) {
      return withSpooled(spoolDir, chunks, async (body) => {
        const key = keyOf()
        checkKey(key)
        return create(key, body)
      })
    },
    async replace(key, bytes) {
      checkKey(key)
      const body = await bodyOf([bytes])
      const put = () => bucket.ask({ method: 'PUT', key, body })
      await (pace === undefined ? put() : pace.run(key, put))
    },
    async delete(...keys) {
      for (const key of keys) checkKey(key)
      for (let at = 0; at < keys.length; at += parallelDeletes) {
        await Promise.all(keys.slice(at, at + parallelDeletes).map((key) => bucket.ask({ method: 'DELETE', key })))
      }
    },
  }
}

type Create = (key: string, body: Body) => Promise<'stored' | 'exists'>

function createConditionally(bucket: Bucket): Create {
  const headers = ifAbsent[bucket.client.dialect]
  return (key, body) => createObject(bucket, key, { body, headers })
}

/** Puts of one key wait for each other; each looks first. */
function createAlone(bucket: Bucket): Create {
  const running = new Map<string, Promise<unknown>>()
  const create: Create = async (key, body) => {
    const { status } = await bucket.ask({ method: 'HEAD', key })
    return status === 404 ? createObject(bucket, key, { body, headers: {} }) : 'exists'
  }
  return (key, body) => {
    const mine = (running.get(key) ?? Promise.resolve()).then(() => create(key, body))
    const ended = mine
      .catch(() => undefined)
      .finally(() => {
        if (running.get(key) === ended) running.delete(key)
      })
    running.set(key, ended)
    return mine
  }
}

function readingStore(bucket: Bucket): Omit<ObjectStore, 'put' | 'putStream' | 'replace' | 'delete'> {
  const head = async (key: string): Promise<S3Answer | undefined> => {
    checkKey(key)
    const answer = await bucket.ask({ method: 'HEAD', key })
    return answer.status === 404 ? undefined : answer
  }
  const size = async (key: string): Promise<number | undefined> => {
    const answer = await head(key)
    return answer && numberOf(answer, answer.headers['content-length'])
  }
  return {
    async get(key) {
      checkKey(key)
      const { status, body } = await bucket.ask({ method: 'GET', key })
      return status === 404 ? undefined : body
    },
    async getRange(key, start, end) {
      checkKey(key)
      const mayBeInside = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end > start
      const headers = { range: `bytes=${start}-${end - 1}` }
      const mostBytes = end - start
      const answer = mayBeInside ? await bucket.ask({ method: 'GET', key, headers, mostBytes }) : undefined
      if (answer?.status === 404) return undefined
      if (answer?.status === 206 && answer.body.length === end - start) return answer.body
      const there = await size(key)
      if (there === undefined) return undefined
      checkRange(start, end, there)
      if (answer === undefined) return new Uint8Array(0)
      throw faultOf(`bytes ${start} to ${end} of ${key}`, answer)
    },
    size,
    async modifiedMs(key) {
      const answer = await head(key)
      return answer && numberOf(answer, Date.parse(String(answer.headers['last-modified'])))
    },
    async list(prefix) {
      checkKey(prefix)
      const names = await bucket.names(prefix)
      return [...names].filter(isSegment).sort()
    },
    makeDurable: async () => {},
    fileOf: () => undefined,
    freeSpace: async () => undefined,
    close: async () => bucket.client.close(),
  }
}

function numberOf(answer: S3Answer, value: unknown): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw faultOf('HEAD without length or date', answer)
}
