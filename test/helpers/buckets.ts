// Buckets for tests: stores over a stub or a server, each under a prefix of its own.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { type Logger, silentLogger } from '../../src/lib/logger.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { Bucket } from '../../src/store/s3/bucket.ts'
import { type BucketAddress, S3Client } from '../../src/store/s3/client.ts'
import { CredentialSource } from '../../src/store/s3/credentials.ts'
import { openS3Store, type S3StoreOptions } from '../../src/store/s3/s3-store.ts'
import type { Credentials } from '../../src/store/s3/sign.ts'

export const testKeys: Credentials = { accessKeyId: 'tester', secretAccessKey: 'secret of the tester' }

export interface TestBucket extends Partial<Omit<BucketAddress, 'endpoint'>> {
  readonly url: string
  readonly prefix?: string
  readonly logger?: Logger
  readonly answerMs?: number
  readonly keys?: () => Promise<Credentials>
}

let count = 0

/** A bucket under a prefix that no other call has, unless it is given; pauses between attempts are short. */
export function testBucket({
  url,
  prefix,
  logger = silentLogger,
  answerMs = 5_000,
  keys,
  ...address
}: TestBucket): Bucket {
  const clock = systemClock
  const credentials = new CredentialSource(keys ?? (async () => testKeys), { clock, logger })
  const client = new S3Client({
    address: {
      endpoint: new URL(url),
      bucket: 'tests',
      region: 'us-east-1',
      pathStyle: true,
      dialect: 'aws',
      ...address,
    },
    credentials,
    clock,
    logger,
    answerMs,
  })
  const hasty = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 20, signal) }
  return new Bucket(client, prefix ?? `p-${process.pid}-${count++}`, hasty)
}

export function testStore(bucket: Bucket, writes: S3StoreOptions['writes'] = 'conditional'): ObjectStore {
  return openS3Store(bucket, { writes, spoolDir: join(tmpdir(), 'proofstream-test-spool') })
}
