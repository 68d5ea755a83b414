// Flattens a GeoJSON file of points (the USGS earthquake feed) into one JSON record a line:
//   node to-records.mjs earthquakes.json | curl … --data-binary @-

import { readFileSync } from 'node:fs'

const { features } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
for (const { id, properties, geometry } of features) {
  const [longitude, latitude, depth] = geometry.coordinates
  const { mag, place, time } = properties
  const record = { event_time: new Date(time).toISOString(), id, mag, place, longitude, latitude, depth }
  process.stdout.write(`${JSON.stringify(record)}\n`)
}
