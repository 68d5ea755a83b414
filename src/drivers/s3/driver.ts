// A bucket as the store, behind the interface of drivers.

import { systemClock as clock } from '../../libraries/base/clock.ts'
import type { StoreDriverCode } from '../../node/driver.ts'
import { openBucket } from './open-bucket.ts'
import type { BucketConfig } from './options.ts'

export const s3: StoreDriverCode<BucketConfig> = {
  open: ({ bucket, prefix, condition, endpoint, region, pathStyle }, opening) =>
    openBucket({ ...opening, address: { endpoint, bucket, region, pathStyle, dialect: condition }, prefix, clock }),
}
