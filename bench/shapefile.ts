// Polygons from a zipped shapefile: CPU next to that of the same features as GeoJSON, in one run.
// A part of bench/run.ts.

import { crc32, deflateRawSync } from 'node:zlib'
import type { ReaderOptions } from '../src/libraries/formats/format.ts'
import { geojson } from '../src/libraries/formats/geojson/format.ts'
import { shapefile } from '../src/features/shapefile/format.ts'
import { type Limits, limitTable } from '../src/libraries/base/limits.ts'
import { type BenchNode, cpuMicros, startBenchNode } from './machine.ts'
import type { Measure } from './measure.ts'
import { field, reading, readingFields, readingOptions } from './readings.ts'

const rows = 20_000
const vertices = 30
const chunkBytes = 64 * 1024
const runs = 4

type Position = readonly [number, number]
/** Coordinates with all digits, as reprojected ones have, or with seven decimals, as surveyed ones. */
type Digits = 'all' | 'seven'

function ringOf(i: number, digits: Digits): Position[] {
  const round = (value: number): number => (digits === 'all' ? value : Math.round(value * 1e7) / 1e7)
  const ring = Array.from({ length: vertices }, (_, step): Position => {
    return [round((i % 90) + Math.cos(step / 5)), round((i % 80) + Math.sin(step / 5))]
  })
  return [...ring, ring[0] ?? [0, 0]]
}

/** A reading whose names are short enough for a shapefile. */
function propertiesOf(i: number): Record<string, unknown> {
  const { temperature, ...others } = reading(i)
  return { ...others, celsius: temperature }
}

function geoJsonBody(digits: Digits): Uint8Array<ArrayBuffer> {
  const features = Array.from({ length: rows }, (_, i) => {
    const geometry = { type: 'Polygon', coordinates: [ringOf(i, digits)] }
    return JSON.stringify({ type: 'Feature', geometry, properties: propertiesOf(i) })
  })
  return Buffer.from(`{"type":"FeatureCollection","features":[${features.join(',')}]}`)
}

function shpBytes(digits: Digits): Buffer {
  const content = 48 + 16 * (vertices + 1)
  const out = Buffer.alloc(100 + rows * (8 + content))
  out.writeInt32BE(9994, 0)
  out.writeInt32BE(out.length / 2, 24)
  out.writeInt32LE(1000, 28)
  out.writeInt32LE(5, 32)
  for (let i = 0; i < rows; i++) {
    const at = 100 + i * (8 + content)
    out.writeInt32BE(i + 1, at)
    out.writeInt32BE(content / 2, at + 4)
    out.writeInt32LE(5, at + 8)
    out.writeInt32LE(1, at + 44)
    out.writeInt32LE(vertices + 1, at + 48)
    for (const [step, [x, y]] of ringOf(i, digits).toReversed().entries()) {
      out.writeDoubleLE(x, at + 56 + 16 * step)
      out.writeDoubleLE(y, at + 64 + 16 * step)
    }
  }
  return out
}

const cellBytes = 28

function dbfBytes(): Buffer {
  const names = Object.keys(propertiesOf(0))
  const header = 32 + 32 * names.length + 1
  const row = 1 + names.length * cellBytes
  const out = Buffer.alloc(header + rows * row, ' ')
  out.fill(0, 0, header)
  out.writeUInt8(3, 0)
  out.writeUInt32LE(rows, 4)
  out.writeUInt16LE(header, 8)
  out.writeUInt16LE(row, 10)
  for (const [i, name] of names.entries()) {
    out.write(name.slice(0, 10), 32 + 32 * i, 'latin1')
    out.write(typeof propertiesOf(0)[name] === 'number' ? 'N' : 'C', 32 + 32 * i + 11, 'latin1')
    out.writeUInt8(cellBytes, 32 + 32 * i + 16)
  }
  out.writeUInt8(13, header - 1)
  for (let i = 0; i < rows; i++) {
    for (const [column, value] of Object.values(propertiesOf(i)).entries()) {
      out.write(String(value), header + i * row + 1 + column * cellBytes, 'latin1')
    }
  }
  return out
}

function zipOf(files: Readonly<Record<string, Buffer>>): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const packed = deflateRawSync(content)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(8, 4)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(content.length, 18)
    facts.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    const local = [Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed]
    parts.push(...local)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), facts, rest, Buffer.from(name))
    offset += 30 + name.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}

const limits = Object.fromEntries(Object.entries(limitTable).map(([name, { value }]) => [name, value])) as Limits

async function readShapefile(zip: Uint8Array, options: ReaderOptions): Promise<void> {
  const file = {
    bytes: zip.length,
    at: async (start: number, end: number) => zip.subarray(start, end),
    demandCaller: () => {},
  }
  const reader = await shapefile.openFile(file, { limits })
  let read = 0
  for await (const batch of reader.read(options)) read += batch.rows
  if (read !== rows) throw new RangeError(`${read} rows were read`)
}

function readGeoJson(body: Uint8Array, options: ReaderOptions): void {
  const reader = geojson.createReader(options)
  for (let at = 0; at < body.length; at += chunkBytes) reader.push(body.subarray(at, at + chunkBytes))
  reader.finish()
}

async function cpuSeconds(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const spent = process.cpuUsage(before)
  return (spent.user + spent.system) / 1e6
}

/** What a node spends on a body until it is in a block, without `create` the first of them. */
async function nodeSeconds(
  node: BenchNode,
  alias: string,
  type: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<number> {
  const before = cpuMicros(node.pid)
  const headers = { 'content-type': type, prefer: 'wait=30' }
  const answer = await node.call(`/${alias}/ingest?create=true`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (answer.status !== 200) throw new TypeError(`${alias}: ${text.slice(0, 500)}`)
  return (cpuMicros(node.pid) - before) / 1e6
}

/** Two kinds of work in turns: the least of each, as other work on the machine can only add to it. */
async function least(first: () => Promise<number>, second: () => Promise<number>): Promise<readonly [number, number]> {
  let found: readonly [number, number] = [Infinity, Infinity]
  for (let run = 0; run <= runs; run++) {
    const now = [await first(), await second()] as const
    if (run > 0) found = [Math.min(found[0], now[0]), Math.min(found[1], now[1])]
  }
  return found
}

/** How polygons of a shapefile stand to the same polygons as GeoJSON: read alone, and all the way into a block. */
export async function measureShapefile(): Promise<Measure[]> {
  const measures: Measure[] = []
  const fields = readingFields.map(({ name, type }) => ({ name: name === 'temperature' ? 'celsius' : name, type }))
  const options = readingOptions([...fields, field('geometry', { kind: 'String' })])
  const node = await startBenchNode()
  for (const digits of ['all', 'seven'] as const) {
    const text = geoJsonBody(digits)
    const zip = zipOf({ 'a.shp': shpBytes(digits), 'a.dbf': dbfBytes() })
    const [json, shapes] = await least(
      () => cpuSeconds(() => readGeoJson(text, options)),
      () => cpuSeconds(() => readShapefile(zip, options)),
    )
    const [jsonIn, shapesIn] = await least(
      () => nodeSeconds(node, `acme/json-${digits}`, 'application/geo+json', text),
      () => nodeSeconds(node, `acme/shapes-${digits}`, 'application/vnd.esri.shapefile', zip),
    )
    const name = `shapefile polygons, ${digits} digits`
    measures.push({ name: `read ${name}`, value: rows / shapes, unit: 'rows/s' })
    measures.push({ name: `read ${name}, beside GeoJSON`, value: json / shapes, unit: '×' })
    measures.push({
      name: `${name}, into a block, beside GeoJSON`,
      value: jsonIn / shapesIn,
      unit: '×',
      bar: { least: 0.5 },
    })
  }
  await node.remove()
  return measures
}
