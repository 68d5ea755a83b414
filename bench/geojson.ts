// Reading GeoJSON points: rows per second of CPU next to NDJSON of the same properties, in one run.
// A part of bench/run.ts.

import type { ReaderOptions } from '../src/libraries/formats/format.ts'
import type { StreamFormat } from '../src/libraries/formats/format.ts'
import { geojson, ndgeojson } from '../src/libraries/formats/geojson/format.ts'
import { ndjson } from '../src/libraries/formats/json/format.ts'
import type { Measure } from './measure.ts'
import { field, reading, readingFields, readingOptions } from './readings.ts'

const rows = 100_000
const chunkBytes = 64 * 1024
const runs = 15

function pointOf(i: number): object {
  const coordinates = [
    (((i * 7_654_321) % 3_600_000) - 1_800_000) / 10_000,
    (((i * 1_234_567) % 1_800_000) - 900_000) / 10_000,
  ]
  return { type: 'Feature', geometry: { type: 'Point', coordinates }, properties: reading(i) }
}

function polygonOf(i: number): object {
  const corner = (step: number): number[] => [(i % 90) + Math.cos(step / 5), (i % 80) + Math.sin(step / 5)]
  const ring = Array.from({ length: 30 }, (_, step) => corner(step))
  const coordinates = [[...ring, ring[0]]]
  return { type: 'Feature', geometry: { type: 'Polygon', coordinates }, properties: reading(i) }
}

interface Body {
  readonly name: string
  readonly format: StreamFormat
  readonly rows: number
  readonly bytes: Uint8Array
  readonly options: ReaderOptions
}

function bodies(): readonly Body[] {
  const spatial = readingOptions([...readingFields, field('geometry', { kind: 'String' })])
  const lines = (count: number, make: (i: number) => object): string[] =>
    Array.from({ length: count }, (_, i) => JSON.stringify(make(i)))
  const points = lines(rows, pointOf)
  const polygons = lines(rows / 10, polygonOf)
  const collection = (features: readonly string[]): Uint8Array =>
    Buffer.from(`{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  const records = Buffer.from(lines(rows, reading).join('\n'))
  return [
    { name: 'ndjson', format: ndjson, rows, bytes: records, options: readingOptions(readingFields) },
    { name: 'geojson points', format: geojson, rows, bytes: collection(points), options: spatial },
    { name: 'ndgeojson points', format: ndgeojson, rows, bytes: Buffer.from(points.join('\n')), options: spatial },
    { name: 'geojson polygons', format: geojson, rows: rows / 10, bytes: collection(polygons), options: spatial },
  ]
}

function cpuSeconds({ format, bytes, options }: Body): number {
  const before = process.cpuUsage()
  const reader = format.createReader(options)
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes))
  reader.finish()
  const spent = process.cpuUsage(before)
  return (spent.user + spent.system) / 1e6
}

interface GeoFigure {
  readonly name: string
  readonly rowsPerSecond: number
  readonly megabytesPerSecond: number
  /** Rows per second in parts of those of NDJSON without geometry. */
  readonly ratio: number
}

/** The bodies take turns, and the least of each counts: other work on the machine can only add to it. */
function geoJsonFigures(): GeoFigure[] {
  const made = bodies()
  const seconds = made.map((): number[] => [])
  for (let run = 0; run <= runs; run++) {
    for (const [i, body] of made.entries()) {
      const spent = cpuSeconds(body)
      if (run > 0) seconds[i]?.push(spent)
    }
  }
  const least = seconds.map((values) => Math.min(...values))
  const yardstick = rows / (least[0] ?? Number.NaN)
  return made.map(({ name, rows: count, bytes }, i) => {
    const spent = least[i] ?? Number.NaN
    const rowsPerSecond = count / spent
    return { name, rowsPerSecond, megabytesPerSecond: bytes.length / 1e6 / spent, ratio: rowsPerSecond / yardstick }
  })
}

/** Rows and bytes that each body is read at, and how GeoJSON points stand to NDJSON of the same readingFields. */
export async function measureGeoJson(): Promise<Measure[]> {
  return geoJsonFigures().flatMap(({ name, rowsPerSecond, megabytesPerSecond, ratio }): Measure[] => [
    { name: `read ${name}`, value: rowsPerSecond, unit: 'rows/s' },
    { name: `read ${name}`, value: megabytesPerSecond, unit: 'MB/s' },
    ...(name.endsWith('points')
      ? [{ name: `${name} beside NDJSON`, value: ratio, unit: '×', bar: { least: 0.6 } }]
      : []),
  ])
}
