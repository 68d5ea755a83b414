// Opens the store in a bucket: client, trial, store. What a process loads when its store is there.

import type { Logger } from '../../libraries/base/logger.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { Bucket } from './bucket.ts'
import { type ClientOptions, connect } from './client.ts'
import { Unanswered } from './faults.ts'
import type { Credentials } from './google.ts'
import { openS3Store, type S3StoreOptions } from './s3-store.ts'
import { tryBucket } from './trial.ts'

export interface BucketOptions extends S3StoreOptions, Omit<ClientOptions, 'credentials'> {
  /** Begins every key in the bucket; empty for all of it. */
  readonly prefix: string
  /** For so long a bucket that does not answer is asked again. */
  readonly patienceMs: number
}

const retryMs = 2_000
/** Clocks that differ by more are worth a warning. */
const skewWarnMs = 60_000

/**
 * Throws NodeErrors `StoreUnavailable` where there are no credentials or the bucket does not pass its trial, and
 * `InvalidParameter` where the package for buckets is not installed.
 */
export async function openBucket(options: BucketOptions): Promise<ObjectStore> {
  const { address, prefix, clock, logger, patienceMs } = options
  const s3 = await connect(options)
  const bucket = new Bucket(s3, { ...address, prefix }, clock)
  const wrong = async (): Promise<Credentials> => ({
    ...(await s3.config.credentials()),
    secretAccessKey: 'a wrong one',
  })
  const asStranger = (): ReturnType<typeof connect> => connect({ ...options, credentials: wrong })
  try {
    const endMs = clock.monotonicMs() + patienceMs
    const isOver = (error: unknown): boolean => !(error instanceof Unanswered) || clock.monotonicMs() >= endMs
    while (!(await isTried(() => tryBucket(bucket, { ...options, asStranger }), isOver, logger))) {
      await clock.sleep(retryMs)
    }
    const { systemClockOffset } = s3.config
    if (Math.abs(systemClockOffset) > skewWarnMs) {
      const seconds = Math.round(systemClockOffset / 1000)
      logger.warn({ seconds }, "the store's clock is ahead of this machine's by so many seconds; requests go by it")
    }
    return openS3Store(bucket, options)
  } catch (error) {
    s3.destroy()
    throw error
  }
}

/** False where the bucket did not answer, which is told. Throws as `tryBucket` what is over. */
async function isTried(
  trial: () => Promise<void>,
  isOver: (error: unknown) => boolean,
  logger: Logger,
): Promise<boolean> {
  try {
    await trial()
    return true
  } catch (error) {
    if (isOver(error)) throw error
    logger.warn({ err: error }, 'The bucket does not answer; it is asked again')
    return false
  }
}
