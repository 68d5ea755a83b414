// The drivers: logs and stores beside the node's own, which are directories. To add one, make its folder and its row here.

import { kafkaOptions } from '../drivers/kafka/options.ts'
import { bucketOptions } from '../drivers/s3/options.ts'
import type { LogDriver, StoreDriver } from '../node/driver.ts'

/** The scheme of `--log` names one. */
export const logDrivers: readonly LogDriver[] = [
  { options: kafkaOptions, load: async () => (await import('../drivers/kafka/driver.ts')).kafka },
]

/** The scheme of `--store` names one. */
export const storeDrivers: readonly StoreDriver[] = [
  { options: bucketOptions, load: async () => (await import('../drivers/s3/driver.ts')).s3 },
]
