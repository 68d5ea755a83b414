// Opens the store in a bucket: client, credentials, trial, store. What a process loads when its store is there.

import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import type { ObjectStore } from '../object-store.ts'
import { Bucket } from './bucket.ts'
import { type BucketAddress, S3Client } from './client.ts'
import { CredentialSource } from './credentials.ts'
import { Unanswered } from './faults.ts'
import { findKeys, type KeyEnvironment } from './key-sources.ts'
import { openS3Store, type S3StoreOptions } from './s3-store.ts'
import { type Trial, tryBucket } from './trial.ts'

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
  /** For so long a bucket that does not answer is asked again. */
  readonly patienceMs: number
}

const retryMs = 2_000

/** Throws NodeError `StoreUnavailable` where there are no credentials or the bucket does not pass its trial. */
export async function openBucket(options: BucketOptions): Promise<ObjectStore> {
  const { address, prefix, environment, clock, logger, answerMs, writes, patienceMs } = options
  const keys = (): ReturnType<typeof findKeys> => findKeys(environment, address.region, clock.nowMs())
  const credentials = new CredentialSource(keys, { clock, logger })
  const client = new S3Client({ address, credentials, clock, logger, answerMs })
  const bucket = new Bucket(client, prefix, clock)
  try {
    const endMs = clock.monotonicMs() + patienceMs
    const isOver = (error: unknown): boolean => !(error instanceof Unanswered) || clock.monotonicMs() >= endMs
    while (!(await isTried(bucket, { writes, logger }, isOver))) await clock.sleep(retryMs)
    return openS3Store(bucket, options)
  } catch (error) {
    client.close()
    throw error
  }
}

/** False where the bucket did not answer, which is told. Throws as `tryBucket` what is over. */
async function isTried(bucket: Bucket, trial: Trial, isOver: (error: unknown) => boolean): Promise<boolean> {
  try {
    await tryBucket(bucket, trial)
    return true
  } catch (error) {
    if (isOver(error)) throw error
    trial.logger.warn({ err: error }, 'The bucket does not answer; it is asked again')
    return false
  }
}
