// OGC API Features over the datasets of a replica.

import type { FeatureCode } from '../../node/feature.ts'
import { registerOgc } from './routes.ts'

export const ogc: FeatureCode = { routes: { replica: registerOgc } }
