// Flattens GeoJSON points, such as those of the USGS earthquake feed, into one JSON record a line:
//   node to-records.mjs < earthquakes.geojson | curl … --data-binary @-

import { json } from 'node:stream/consumers'

const { features } = await json(process.stdin)
for (const { id, properties, geometry } of features) {
  const [longitude, latitude, depth] = geometry.coordinates
  // The feed has its times in milliseconds.
  const { mag, place, time, event_time = new Date(time).toISOString() } = properties
  process.stdout.write(`${JSON.stringify({ event_time, id, mag, place, longitude, latitude, depth })}\n`)
}
