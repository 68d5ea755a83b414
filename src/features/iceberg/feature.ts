// The catalog of Iceberg tables over the datasets of a replica.

import type { FeatureCode } from '../../node/feature.ts'
import { registerIceberg } from './routes.ts'

export const iceberg: FeatureCode = { routes: { replica: registerIceberg } }
