// Object store in a bucket of S3, or of a store that speaks its language. An object appears in one step, by a PUT under the
// condition that nothing is there (`create.ts`). What can be read is durable.

import { checkKey, isSegment } from '../../node/store/layout.ts'
import { checkRange, type ObjectStore, onlyReads } from '../../node/store/object-store.ts'
import { bodyOf, withSpooled } from './body.ts'
import type { Bucket } from './bucket.ts'
import type { Dialect } from './client.ts'
import { createObject } from './create.ts'
import { Refused, unreadable } from './faults.ts'
import { Pace } from './pace.ts'

export interface S3StoreOptions {
  readonly use: 'read' | 'write'
  /** Directory on a local disk for large streams while they are sent. */
  readonly spoolDir: string
}

/** Google refuses to replace an object more often. */
const replacedEveryMs: Readonly<Record<Dialect, number>> = { aws: 0, gcs: 1_000 }
/** Objects that are deleted at once. */
const parallelDeletes = 16

/** The store under the prefix of `bucket`, which must have passed its trial (`trial.ts`). */
export function openS3Store(bucket: Bucket, { use, spoolDir }: S3StoreOptions): ObjectStore {
  const reading = readingStore(bucket)
  if (use === 'read') return { ...reading, ...onlyReads }
  const everyMs = replacedEveryMs[bucket.dialect]
  const pace = everyMs === 0 ? undefined : new Pace(bucket.clock, everyMs)
  return {
    ...reading,
    async put(key, bytes) {
      checkKey(key)
      return createObject(bucket, key, await bodyOf(bytes instanceof Uint8Array ? [bytes] : bytes))
    },
    async putStream(chunks, keyOf) {
      return withSpooled(spoolDir, chunks, async (body) => {
        const key = keyOf()
        checkKey(key)
        return createObject(bucket, key, body)
      })
    },
    async replace(key, bytes) {
      checkKey(key)
      const body = await bodyOf([bytes])
      const put = () => bucket.replace(key, body)
      await (pace === undefined ? put() : pace.run(key, put))
    },
    async delete(...keys) {
      for (const key of keys) checkKey(key)
      for (let at = 0; at < keys.length; at += parallelDeletes) {
        await Promise.all(keys.slice(at, at + parallelDeletes).map((key) => bucket.delete(key)))
      }
    },
  }
}

function readingStore(bucket: Bucket): Omit<ObjectStore, 'put' | 'putStream' | 'replace' | 'delete'> {
  const head: Bucket['head'] = async (key) => {
    checkKey(key)
    return bucket.head(key)
  }
  return {
    async get(key) {
      checkKey(key)
      return bucket.get(key)
    },
    async getRange(key, start, end) {
      checkKey(key)
      const mayBeInside = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end > start
      if (mayBeInside) {
        const mostBytes = end - start
        const part = await bucket.part(key, { start, end, mostBytes }).catch((error: unknown) => {
          if (error instanceof Refused && error.status === 416) return 'outside' as const
          throw error
        })
        if (part === undefined) return undefined
        if (part !== 'outside' && part.isPart && part.bytes.length === mostBytes) return part.bytes
      }
      const there = await head(key)
      if (there === undefined) return undefined
      checkRange(start, end, there.sizeBytes)
      if (!mayBeInside) return new Uint8Array(0)
      throw unreadable(`bytes ${start} to ${end} of ${key} are others`)
    },
    size: async (key) => (await head(key))?.sizeBytes,
    modifiedMs: async (key) => (await head(key))?.modifiedMs,
    async list(prefix) {
      checkKey(prefix)
      const names = await bucket.names(prefix)
      return [...names].filter(isSegment).sort()
    },
    makeDurable: async () => {},
    fileOf: () => undefined,
    freeSpace: async () => undefined,
    close: async () => bucket.s3.destroy(),
  }
}
