// The store in a bucket, over a stub: what every store must do, in both dialects.

import { afterAll, beforeAll } from 'vitest'
import { startS3Stub, type S3Stub } from '../../adapters/s3-stub.ts'
import { testBucket, testStore } from '../../helpers/buckets.ts'
import { describeObjectStore } from '../../node/store/contract-suite.ts'

let stub: S3Stub
beforeAll(async () => {
  stub = await startS3Stub({ pageKeys: 7 })
})
afterAll(() => stub.close())

describeObjectStore('bucket', async () => testStore(testBucket({ url: stub.url })))
describeObjectStore('bucket of Google', async () => testStore(testBucket({ url: stub.url, dialect: 'gcs' })))
