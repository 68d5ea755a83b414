// Logs of OpenTelemetry's programs, for a gateway.

import type { FeatureCode } from '../../node/feature.ts'
import { registerOtlp } from './routes.ts'

export const otlp: FeatureCode = { routes: { gateway: registerOtlp } }
