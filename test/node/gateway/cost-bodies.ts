// Bodies that are made to cost much, in every format: rows that bring few of many columns, and what each format has to say
// much with little. Columns are those of `wideFields`.

import * as arrow from 'apache-arrow'
import fc from 'fast-check'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import type { DataType, Field } from '../../../src/libraries/model/schema.ts'
import { optionalField } from '../../libraries/formats/reading.ts'
import { numbersBook, sharedTexts } from '../../features/excel/reading.ts'
import { zipOf } from '../../features/shapefile/zips.ts'
import { craft, repeated, withLength } from '../../libraries/columnar/parquet/craft.ts'
import type { Body } from './cost-rig.ts'

const kinds: Readonly<Record<string, DataType>> = {
  f: { kind: 'Float64' },
  i: { kind: 'Int64' },
  s: { kind: 'String' },
  d: { kind: 'Decimal', precision: 38, scale: 2 },
  b: { kind: 'Bool' },
}
const kindColumns = 370

/** `f0`, `f1`, … and so on for each kind of column: 1,850. */
export function wideFields(prefix = ''): Field[] {
  return Object.entries(kinds).flatMap(([letter, type]) =>
    Array.from({ length: kindColumns }, (_, i) => optionalField(`${prefix}${letter}${i}`, type)),
  )
}

type Row = Readonly<Record<string, number | string | boolean>>

function valueOf(letter: string): number | string | boolean {
  return letter === 's' ? '' : letter === 'b' ? true : 1
}

/** Columns by number, of one kind after the other. */
function columnAt(letter: string, i: number): readonly [string, number | string | boolean] {
  const all = Object.keys(kinds)
  const other = all[(all.indexOf(letter) + Math.floor(i / kindColumns)) % all.length] ?? 'f'
  return [`${other}${i % kindColumns}`, valueOf(other)]
}

/** As many as can be, or any number: what costs most is at the ends. */
function upTo(most: number, least = 1): fc.Arbitrary<number> {
  return fc.oneof(fc.constant(most), fc.integer({ min: least, max: most }))
}

const letters = fc.constantFrom(...Object.keys(kinds))
const columns = kindColumns * Object.keys(kinds).length

/** Each row brings another column, until the columns are used up. */
export function diagonal(letter: string, count: number): Row[] {
  return Array.from({ length: count }, (_, i) => Object.fromEntries([columnAt(letter, i % columns)]))
}

const diagonals = fc.tuple(letters, fc.oneof(upTo(724), upTo(4_000))).map(([letter, count]) => diagonal(letter, count))

/** One row brings many columns, the others nothing. */
const corners = fc
  .tuple(letters, upTo(columns), upTo(4_000, 0))
  .map(([letter, width, count]): Row[] => [
    Object.fromEntries(Array.from({ length: width }, (_, i) => columnAt(letter, i))),
    ...Array.from({ length: count }, () => ({})),
  ])

/** Values that fit no column, or names of none, however long. */
const misfits = fc
  .tuple(fc.constantFrom('f', 'i', 'd', 'b', 'x', '~"', '\u0001'), upTo(5_000), upTo(300))
  .map(([name, length, count]) =>
    Array.from({ length: count }, (_, i): Row =>
      name.length === 1 && name in kinds ? { [`${name}${i}`]: 'text' } : { [name.repeat(length)]: i },
    ),
  )

const texts = fc
  .tuple(upTo(30_000, 0), upTo(50))
  .map(([length, count]) => Array.from({ length: count }, (): Row => ({ s0: '"'.repeat(length) })))

const newColumns = fc
  .tuple(upTo(120), upTo(200))
  .map(([count, length]): Row[] => [
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${'n'.repeat(length)}${i}`, `9007199254740993${i}`])),
  ])

export const rows: fc.Arbitrary<readonly Row[]> = fc.oneof(diagonals, corners, misfits, texts, newColumns)

function lineOf(row: Row): string {
  return JSON.stringify(row)
}

function cellsOf(row: Row, names: readonly string[], separator: string): string {
  return names
    .map((name) => (row[name] === undefined ? '' : `"${String(row[name]).replaceAll('"', '""')}"`))
    .join(separator)
}

/** Cells are all there in each row: fewer rows. */
function tableOf(all: readonly Row[], separator: string): string {
  const some = all.slice(0, 200)
  const names = [...new Set(some.flatMap((row) => Object.keys(row)))]
  const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(separator)
  return `${[header, ...some.map((row) => cellsOf(row, names, separator))].join('\n')}\n`
}

function featureOf(row: Row): string {
  return `{"type":"Feature","geometry":null,"properties":${lineOf(row)}}`
}

function pointOf(row: Row): string {
  const fields = Object.entries(row).map(([name, value]) => {
    const text = typeof value === 'string' ? `"${value.replaceAll('"', '\\"')}"` : String(value)
    return `${name.replaceAll(/[ ,=]/g, '\\$&')}=${/^i\d/.test(name) && typeof value === 'number' ? `${text}i` : text}`
  })
  return fields.length === 0 ? '# nothing' : `m ${fields.join(',')}`
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80)
  return [...bytes, rest]
}

/** A field of protobuf that holds bytes. */
function field(number: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = concatBytes(parts)
  return concatBytes([Uint8Array.from([8 * number + 2, ...varint(bytes.length)]), bytes])
}

function attribute(name: string, value: number | string | boolean): Uint8Array {
  const [text, whole] = [field(1, utf8(String(value))), Uint8Array.from([8 * 3, ...varint(Number(value))])]
  return field(
    6,
    field(1, utf8(name)),
    field(2, typeof value === 'number' ? whole : typeof value === 'boolean' ? Uint8Array.of(16, 1) : text),
  )
}

/** What a resource says, and how often its scopes stand. */
interface Around {
  readonly resource: string
  readonly scopes: number
}

function protobufOf(all: readonly Row[], { resource, scopes }: Around): Uint8Array {
  const records = all.map((row) => field(2, ...Object.entries(row).map(([name, value]) => attribute(name, value))))
  const scope = field(2, field(1, field(1, utf8(resource))), ...records)
  return field(
    1,
    field(1, field(1, field(1, utf8('a')), field(2, field(1, utf8(resource))))),
    ...Array.from({ length: scopes }, () => scope),
  )
}

function exportOf(all: readonly Row[], { resource, scopes }: Around): string {
  const value = (of: number | string | boolean): unknown =>
    typeof of === 'string' ? { stringValue: of } : typeof of === 'boolean' ? { boolValue: of } : { intValue: of }
  const records = all.map((row) => ({
    attributes: Object.entries(row).map(([key, of]) => ({ key, value: value(of) })),
  }))
  const scope = JSON.stringify({ scope: { name: resource }, logRecords: records })
  const attributes = JSON.stringify([{ key: 'a', value: { stringValue: resource } }])
  return `{"resourceLogs":[{"resource":{"attributes":${attributes}},"scopeLogs":[${Array.from({ length: scopes }, () => scope).join(',')}]}]}`
}

const ways = fc.record({
  encoding: fc.constantFrom(undefined, 'gzip', 'zstd'),
  unknownFields: fc.constantFrom('reject', 'ignore', 'add'),
})

function bodies(
  format: string,
  bytes: fc.Arbitrary<string | Uint8Array>,
  more: Readonly<Record<string, string>> = {},
): fc.Arbitrary<Body> {
  return fc.tuple(bytes, ways).map(([body, { encoding, unknownFields }]) => ({
    format,
    bytes: typeof body === 'string' ? utf8(body) : body,
    query: { ...(unknownFields === 'reject' ? {} : { unknownFields }), ...more },
    ...(encoding === undefined ? {} : { encoding: encoding as 'gzip' | 'zstd' }),
  }))
}

/** Objects in objects whose names are long, said once for many members. */
const nested = fc
  .tuple(upTo(20_000), upTo(2_000), fc.constantFrom('1', '{}', 'null', '{"a":{}}'), upTo(6))
  .map(([length, count, value, depth]) => {
    const members = Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join(',')
    const name = `{"${'p'.repeat(Math.ceil(length / depth))}":`
    return `${name.repeat(depth)}{${members}}${'}'.repeat(depth)}`
  })

const doubled = fc
  .tuple(fc.constantFrom('f0', 'x', 'x'.repeat(2_000)), upTo(500))
  .map(([name, count]) => `{${Array.from({ length: count }, () => `"${name}":1`).join(',')}}`)

const around: fc.Arbitrary<Around> = fc.record({
  resource: upTo(20_000, 0).map((length) => 'r'.repeat(length)),
  scopes: upTo(10),
})

const empty = upTo(20_000).map((count) => Array.from({ length: count }, (): Row => ({})))

/** Bodies of each format whose records follow one another. */
export const streamBodies: Readonly<Record<string, fc.Arbitrary<Body>>> = {
  csv: bodies(
    'csv',
    rows.map((all) => tableOf(all, ',')),
  ),
  tsv: bodies(
    'tsv',
    rows.map((all) => tableOf(all, '\t')),
  ),
  json: fc.oneof(
    bodies(
      'json',
      rows.map((all) => JSON.stringify(all)),
    ),
    bodies(
      'json',
      fc
        .tuple(rows, upTo(50_000, 0))
        .map(([all, length]) => `{"a":[{"x":"${'x'.repeat(length)}","b":${JSON.stringify(all)}}]}`),
      { records: '/a/*/b' },
    ),
    bodies('json', nested, { flatten: 'true' }),
  ),
  ndjson: fc.oneof(
    bodies(
      'ndjson',
      rows.map((all) => `${all.map(lineOf).join('\n')}\n`),
    ),
    bodies(
      'ndjson',
      empty.map((all) => '{}\n'.repeat(all.length)),
    ),
    bodies('ndjson', nested, { flatten: 'true' }),
    bodies('ndjson', doubled),
  ),
  geojson: bodies(
    'geojson',
    rows.map((all) => `{"type":"FeatureCollection","features":[${all.map(featureOf).join(',')}]}`),
  ),
  ndgeojson: fc.oneof(
    bodies(
      'ndgeojson',
      rows.map((all) => `${all.map(featureOf).join('\n')}\n`),
    ),
    bodies(
      'ndgeojson',
      nested.map((object) => `{"type":"Feature","geometry":null,"properties":${object}}`),
      { flatten: 'true' },
    ),
  ),
  'line-protocol': bodies(
    'line-protocol',
    rows.map((all) => `${all.map(pointOf).join('\n')}\n`),
  ),
  'otlp-json': bodies(
    'otlp-json',
    fc.tuple(fc.oneof(rows, empty), around).map(([all, of]) => exportOf(all, of)),
    { flatten: 'true' },
  ),
  'otlp-protobuf': bodies(
    'otlp-protobuf',
    fc.tuple(fc.oneof(rows, empty), around).map(([all, of]) => protobufOf(all, of)),
    { flatten: 'true' },
  ),
}

const repeats = fc.tuple(upTo(100_000, 0), upTo(2_000_000))

/** One text, a number of times, by a dictionary: into a column of texts, or of numbers. */
function dictionaryFile(column: string, [length, count]: readonly [number, number]): Uint8Array {
  const pages = [
    { kind: 'dictionary' as const, entries: 1, body: withLength(new Uint8Array(length).fill(0x61)) },
    { entries: count, encoding: 8, body: concatBytes([Uint8Array.of(1), repeated(0, count)]) },
  ]
  return craft({
    schema: [{ name: column, type: 6, repetition: 0, converted: 0 }],
    groups: [{ rows: count, chunks: [{ pages, type: 6, values: count }] }],
  })
}

/** One number, a number of times, in each of many columns. */
function numbersFile(width: number, count: number): Uint8Array {
  const pages = [
    { kind: 'dictionary' as const, entries: 1, body: new Uint8Array(8) },
    { entries: count, encoding: 8, body: concatBytes([Uint8Array.of(1), repeated(0, count)]) },
  ]
  return craft({
    schema: Array.from({ length: width }, (_, i) => ({ name: `i${i}`, type: 2, repetition: 0 })),
    groups: [{ rows: count, chunks: Array.from({ length: width }, () => ({ pages, type: 2, values: count })) }],
  })
}

/** A list of equal items in one row. */
function listFile(items: number): Uint8Array {
  const repetition = concatBytes([repeated(0, 1), repeated(1, items - 1)])
  const body = concatBytes([withLength(repetition), withLength(repeated(2, items))])
  return craft({
    schema: [
      { name: 's0', repetition: 1, children: 1, converted: 3 },
      { name: 'list', repetition: 2, children: 1 },
      { name: 'item', type: 1, repetition: 1 },
    ],
    rootChildren: 1,
    groups: [{ rows: 1, chunks: [{ pages: [{ entries: items, body }], type: 1, values: items }] }],
  })
}

function dictionaryStream(column: string, [length, count]: readonly [number, number]): Uint8Array {
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())
  const dictionary = arrow.vectorFromArray(['a'.repeat(length)], new arrow.Utf8())
  const data = arrow.makeData({ type, length: count, nullCount: 0, data: new Int8Array(count), dictionary })
  return arrow.tableToIPC(new arrow.Table({ [column]: new arrow.Vector([data]) }), 'stream')
}

function nullStream(column: string, count: number): Uint8Array {
  const data = arrow.makeData({ type: new arrow.Null(), length: count })
  return arrow.tableToIPC(new arrow.Table({ [column]: new arrow.Vector([data]) }), 'stream')
}

const wgs84 = utf8(
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]',
)

/** Rows without a shape, of columns of one digit, or of none at all. */
function shapefileOf(width: number, digits: number, count: number): Body {
  const dbf = Buffer.alloc(32 + 32 * width + 1 + count * (1 + digits * width), ' ')
  dbf.fill(0, 0, 32 + 32 * width)
  dbf[0] = 3
  dbf.writeUInt32LE(count, 4)
  dbf.writeUInt16LE(33 + 32 * width, 8)
  dbf.writeUInt16LE(1 + digits * width, 10)
  for (let i = 0; i < width; i++) {
    dbf.write(`f${i}`, 32 + 32 * i)
    dbf.write('N', 32 + 32 * i + 11)
    dbf[32 + 32 * i + 16] = digits
  }
  dbf[32 + 32 * width] = 0x0d
  if (digits > 0) dbf.write('1'.repeat(width), 34 + 32 * width)
  const shp = Buffer.alloc(100 + 12 * count)
  shp.writeInt32BE(9994, 0)
  shp.writeInt32BE(shp.length / 2, 24)
  shp.writeInt32LE(1000, 28)
  shp.writeInt32LE(1, 32)
  for (let i = 0; i < count; i++) {
    shp.writeInt32BE(i + 1, 100 + 12 * i)
    shp.writeInt32BE(2, 104 + 12 * i)
  }
  const files = { 'a.shp': shp, 'a.dbf': dbf, 'a.prj': wgs84 }
  const bytes = zipOf(Object.entries(files).map(([name, content]) => ({ name, content })))
  return { format: 'shapefile', bytes, inflated: shp.length + dbf.length + wgs84.length }
}

/** Bodies of each format that is a file. */
export const fileBodies: Readonly<Record<string, fc.Arbitrary<Body>>> = {
  parquet: fc.oneof(
    bodies(
      'parquet',
      repeats.map((of) => dictionaryFile('s0', of)),
    ),
    bodies(
      'parquet',
      repeats.map((of) => dictionaryFile('f0', of)),
    ),
    bodies(
      'parquet',
      fc.tuple(upTo(kindColumns), upTo(100_000)).map(([width, count]) => numbersFile(width, count)),
    ),
    bodies('parquet', upTo(5_000_000, 2).map(listFile)),
  ),
  arrow: fc.oneof(
    bodies(
      'arrow',
      repeats.map((of) => dictionaryStream('s0', of)),
    ),
    bodies(
      'arrow',
      repeats.map((of) => dictionaryStream('f0', of)),
    ),
    bodies(
      'arrow',
      upTo(200_000_000).map((count) => nullStream('s0', count)),
    ),
  ),
  excel: fc.oneof(
    bodies('excel', repeats.map(sharedTexts)),
    bodies('excel', fc.tuple(upTo(kindColumns), upTo(2_000)).map(numbersBook)),
  ),
  shapefile: fc
    .tuple(upTo(kindColumns), fc.constantFrom(0, 1), upTo(5_000))
    .map(([width, digits, count]) => shapefileOf(width, digits, count)),
}
