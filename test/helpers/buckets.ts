// Buckets for tests: stores over a stub or a server, each under a prefix of its own.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../src/libraries/base/logger.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { Bucket } from '../../src/drivers/s3/bucket.ts'
import { type BucketAddress, connect } from '../../src/drivers/s3/client.ts'
import type { Credentials } from '../../src/drivers/s3/google.ts'
import { openS3Store } from '../../src/drivers/s3/s3-store.ts'
import { tryBucket } from '../../src/drivers/s3/trial.ts'

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
export async function testBucket({
  url,
  prefix,
  logger = silentLogger,
  answerMs = 5_000,
  keys: credentials = async () => testKeys,
  ...given
}: TestBucket): Promise<Bucket> {
  const clock = systemClock
  const address: BucketAddress = {
    endpoint: new URL(url),
    bucket: 'tests',
    region: 'us-east-1',
    pathStyle: true,
    dialect: 'aws',
    ...given,
  }
  const s3 = await connect({ address, credentials, clock, logger, answerMs })
  const hasty = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms / 20, signal) }
  return new Bucket(s3, { ...address, prefix: prefix ?? `p-${process.pid}-${count++}` }, hasty)
}

/** Opens the store in a bucket that needs no trial. */
export async function testStore(bucket: Promise<Bucket>): Promise<ObjectStore> {
  return openS3Store(await bucket, { use: 'write', spoolDir: join(tmpdir(), 'proofstream-test-spool') })
}

/** Tries a bucket as each start does. */
export async function testTrial(
  of: TestBucket,
  { use = 'write', logger = silentLogger }: { readonly use?: 'read' | 'write'; readonly logger?: Logger } = {},
): Promise<void> {
  const keys = async () => ({ ...testKeys, secretAccessKey: 'a wrong one' })
  const asStranger = async () => (await testBucket({ ...of, keys })).s3
  await tryBucket(await testBucket(of), { use, logger, asStranger })
}
