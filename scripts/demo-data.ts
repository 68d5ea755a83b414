// Makes the files of `demo/` from the public-domain data of the development dependency vega-datasets: airports and flights
// as they are, a week of earthquakes with the columns that people ask for, times as text. Run by hand.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const repository = join(import.meta.dirname, '..')
const data = join(repository, 'node_modules', 'vega-datasets', 'data')

interface Quake {
  readonly properties: Readonly<Record<string, unknown>> & { readonly time: number }
}

const kept = ['mag', 'magType', 'place', 'type', 'status', 'net', 'code', 'nst', 'gap', 'rms', 'url']

const collection: { readonly features: readonly Quake[] } = JSON.parse(
  readFileSync(join(data, 'earthquakes.json'), 'utf8'),
)
const features = collection.features
  .toSorted((a, b) => a.properties.time - b.properties.time)
  .map((feature) => ({
    ...feature,
    properties: {
      event_time: new Date(feature.properties.time).toISOString(),
      ...Object.fromEntries(kept.map((name) => [name, feature.properties[name]])),
    },
  }))

const save = (name: string, bytes: Uint8Array | string): void =>
  writeFileSync(join(repository, 'demo', `${name}.gz`), gzipSync(bytes, { level: 9 }))

save('airports.csv', readFileSync(join(data, 'airports.csv')))
save('flights.csv', readFileSync(join(data, 'flights-airport.csv')))
save('earthquakes.geojson', JSON.stringify({ type: 'FeatureCollection', features }))
