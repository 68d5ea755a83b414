// The addresses to which clients of InfluxDB write, for a gateway.

import type { FeatureCode } from '../../node/feature.ts'
import { registerInflux } from './influx.ts'
import { registerWrite } from './write.ts'

export const lineProtocol: FeatureCode = {
  routes: {
    gateway: (app, context) => {
      registerWrite(app, context)
      registerInflux(app, context)
    },
  },
}
