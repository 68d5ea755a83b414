// The connection to one bucket: the SDK of AWS, which addresses, signs and sends, and finds the keys. It is a package that is
// installed only where there are buckets. Nothing is repeated in it: what may be is known above.

import type { S3, S3ClientConfig } from '@aws-sdk/client-s3'
import { defined } from '../../libraries/base/collections.ts'
import { hasCode } from '../../node/machine/disk/files.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type Credentials, googleSigner } from './google.ts'
import { guarded } from './guarded.ts'

/** How a store is told to write only where nothing is, and whose names its requests have. */
export type Dialect = 'aws' | 'gcs'

/** A bucket, and how requests are addressed to it. */
export interface BucketAddress {
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  /** The bucket is the first segment of the path; otherwise the first label of the host. */
  readonly pathStyle: boolean
  readonly dialect: Dialect
}

export interface ClientOptions {
  readonly address: BucketAddress
  readonly clock: Clock
  readonly logger: Logger
  /** Time for one request beside that for its bytes. */
  readonly answerMs: number
  /** By default they are looked for where AWS's own programs do. */
  readonly credentials?: () => Promise<Credentials>
}

const socketsMost = 64
const packageName = '@aws-sdk/client-s3'

/** Throws NodeError `InvalidParameter` where the package is not installed. */
export async function connect(options: ClientOptions): Promise<S3> {
  const { address, answerMs, clock, logger, credentials } = options
  const sdk = await loadSdk()
  const config: S3ClientConfig = {
    endpoint: address.endpoint.href,
    region: address.region,
    forcePathStyle: address.pathStyle,
    maxAttempts: 1,
    // The hash of the body, which is signed, says what checksums would.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    disableS3ExpressSessionAuth: true,
    retryMode: 'standard',
    // It warns of each request that it does not repeat.
    logger: { debug() {}, info() {}, error() {}, warn: (text: string) => logger.debug({}, text) },
    requestHandler: {
      httpAgent: { keepAlive: true, maxSockets: socketsMost },
      httpsAgent: { keepAlive: true, maxSockets: socketsMost },
    },
    ...defined({ credentials }),
    ...(address.dialect === 'gcs'
      ? { signer: googleSigner(() => s3.config.credentials(), address.region, clock) }
      : {}),
  }
  // What the sources of keys are told: files are read again when keys are asked for again.
  const s3: S3 = new sdk.S3(Object.assign(config, { ignoreCache: true }))
  s3.config.requestHandler = guarded(s3.config.requestHandler, { answerMs, clock })
  s3.middlewareStack.add((next) => (args) => next(withHash(args)), { step: 'build', name: 'withHash' })
  return s3
}

async function loadSdk(): Promise<typeof import('@aws-sdk/client-s3')> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (cause) {
    if (!hasCode(cause, 'ERR_MODULE_NOT_FOUND')) throw cause
    throw new NodeError(
      'InvalidParameter',
      `A store in a bucket needs the package ${packageName}, which is not here.`,
      {
        hint: `Install it beside Proofstream: npm install ${packageName}@3`,
        cause,
      },
    )
  }
}

/** A stream says what its bytes hash to; by itself the SDK would leave it unsigned. */
function withHash<T extends { readonly request: unknown }>(args: T): T {
  const { body, headers } = args.request as { body?: { sha256?: string }; headers: Record<string, string> } // as of HTTP
  if (body?.sha256 !== undefined) headers['x-amz-content-sha256'] = body.sha256
  return args
}
