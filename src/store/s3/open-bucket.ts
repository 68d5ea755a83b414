// Opens the store in a bucket: client, credentials, trial, store. What a process loads when its store is there.

import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ObjectStore } from '../object-store.ts'
import { Bucket } from './bucket.ts'
import { type BucketAddress, S3Client } from './client.ts'
import { CredentialSource } from './credentials.ts'
import { findKeys, type KeyEnvironment } from './key-sources.ts'
import { openS3Store, type S3StoreOptions } from './s3-store.ts'
import { tryBucket } from './trial.ts'

export interface BucketOptions extends S3StoreOptions {
  readonly address: BucketAddress
  /** Begins every key in the bucket; empty for all of it. */
  readonly prefix: string
  /** Says where credentials are. */
  readonly environment: KeyEnvironment
  readonly clock: Clock
  readonly logger: Logger
  /** Time for one request beside that for its bytes. */
  readonly answerMs: number
}

/** Throws NodeError `StoreUnavailable` where there are no credentials or the bucket does not pass its trial. */
export async function openBucket(options: BucketOptions): Promise<ObjectStore> {
  const { address, prefix, environment, clock, logger, answerMs, writes } = options
  const keys = (): ReturnType<typeof findKeys> => findKeys(environment, address.region, clock.nowMs())
  const credentials = new CredentialSource(keys, { clock, logger })
  const client = new S3Client({ address, credentials, clock, logger, answerMs })
  const bucket = new Bucket(client, prefix, clock)
  try {
    await tryBucket(bucket, { writes, logger })
    return openS3Store(bucket, options)
  } catch (error) {
    client.close()
    throw error
  }
}
