// What this format is, without its code, which is loaded for the first body of it.

import type { StreamFacts } from '../../libraries/formats/format.ts'

export const lineProtocolFacts: StreamFacts = {
  kind: 'stream',
  name: 'line-protocol',
  title: 'Line protocol',
  mediaTypes: ['text/x-line-protocol'],
  extensions: ['lp'],
  about: "InfluxDB's: measurement, tags, fields, timestamp",
  example: 'weather,station=s1 celsius=21.5,wet=f 1769860800000000000\n',
  isLines: true,
  hasOwnTime: true,
}
