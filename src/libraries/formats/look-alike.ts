// What a body is by the look of its first bytes, where that is not what it was sent as: for the hint of a refusal, and
// to refuse maps that came as plain JSON. A guess: it never makes a body acceptable. Pure.

import { isUtf8 } from 'node:buffer'
import { ownValue } from '../base/collections.ts'
import { openTail } from './utf8-watch.ts'

/** As much as is looked at. */
export const headBytes = 16 * 1024
/** As much as lines and separators need. */
const fewBytes = 2048

const latin1 = new TextDecoder('latin1')

/** What a body looks like that is not what it was sent as. */
export type Look = keyof typeof hints

/** What to do about a map in another form: its features as lines. */
function featureLines(what: string, file: string): string {
  const line = `ogr2ogr -f GeoJSONSeq -t_srs EPSG:4326 out.geojsons ${file}`
  return `The body is ${what}: ${line}, and send that as application/geo+json-seq.`
}

const excelType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** What to do about each, in words of the HTTP interface. */
const hints = {
  gzip: 'The body is gzip. Send Content-Encoding: gzip, or unpack it.',
  zstd: 'The body is zstd. Send Content-Encoding: zstd, or unpack it.',
  zip: 'The body is a zip. Send a zipped shapefile as application/vnd.esri.shapefile. Unpack others and send what is inside.',
  excel: `The body is an Excel workbook: send it as ${excelType}.`,
  oldExcel:
    'The body is an old or encrypted Excel workbook: save it as .xlsx without a password, or the sheet as CSV (UTF-8).',
  parquet: 'The body is a Parquet file: send it as application/vnd.apache.parquet.',
  arrow: 'The body is an Arrow file: send it as application/vnd.apache.arrow.file.',
  utf16: 'The body is UTF-16: say charset=utf-16le or charset=utf-16be.',
  html: 'The body is an HTML page: was it the answer of a server that had no data?',
  sqlite: featureLines('a GeoPackage or another SQLite file', 'in.gpkg LAYER'),
  flatgeobuf: featureLines('FlatGeobuf', 'in.fgb'),
  kml: featureLines('KML', 'in.kml'),
  kmz: featureLines('KMZ', 'in.kmz'),
  gml: featureLines('GML', 'in.gml'),
  xml: 'The body is XML: convert it to CSV or JSON.',
  shp: 'The body is the .shp of a shapefile: zip it with its .dbf, .shx and .prj, and send that as application/vnd.esri.shapefile.',
  latin1: 'The text is not UTF-8: name its character set, such as charset=windows-1252.',
  semicolons:
    'The cells are separated by semicolons: say delimiter=%3B, and decimal=%2C if numbers have decimal commas.',
  tabs: 'The cells are separated by tabs: say delimiter=tab, or send it as text/tab-separated-values.',
  commas: 'The cells are separated by commas: send it as text/csv.',
  cells: 'The body is rows of text: send it as text/csv.',
  tabbedCells: 'The body is rows of text: send it as text/tab-separated-values.',
  lines: 'The body has one JSON object a line: send it as application/x-ndjson.',
  document: 'The body is one JSON document: send it as application/json.',
  returns: "Its lines end in carriage returns alone, as on an old Mac. Write line feeds: tr '\\r' '\\n' < IN > OUT.",
  oneLine: 'The body has no line end: curl --data leaves line ends out, --data-binary keeps them.',
} as const

/** Files that name themselves in their first bytes, and the format that they are. */
const magics: readonly (readonly [hex: string, look: Look, format?: string])[] = [
  ['1f8b', 'gzip'],
  ['28b52ffd', 'zstd'],
  ['504b0304', 'zip', 'shapefile'],
  ['d0cf11e0a1b11ae1', 'oldExcel'],
  ['50415231', 'parquet', 'parquet'],
  ['4152524f5731', 'arrow', 'arrow'],
  ['53514c69746520666f726d61742033', 'sqlite'],
  ['666762', 'flatgeobuf'],
  ['0000270a', 'shp'],
  ['fffe', 'utf16'],
  ['feff', 'utf16'],
]

/** Media types of files that are not read, whose programs write one that is. */
const otherTypes: Readonly<Record<string, Look>> = {
  'application/geopackage+sqlite3': 'sqlite',
  'application/vnd.sqlite3': 'sqlite',
  'application/x-sqlite3': 'sqlite',
  'application/flatgeobuf': 'flatgeobuf',
  'application/vnd.flatgeobuf': 'flatgeobuf',
  'application/vnd.google-earth.kml+xml': 'kml',
  'application/vnd.google-earth.kmz': 'kmz',
  'application/gml+xml': 'gml',
  'application/vnd.ms-excel': 'oldExcel',
}

/** By the ending of a file's name, as what it is sent to be told what to do. */
export const otherEndings: Readonly<Record<string, string>> = {
  gpkg: 'application/geopackage+sqlite3',
  fgb: 'application/flatgeobuf',
  kml: 'application/vnd.google-earth.kml+xml',
  kmz: 'application/vnd.google-earth.kmz',
  gml: 'application/gml+xml',
  shp: 'application/vnd.esri.shapefile',
  xls: 'application/vnd.ms-excel',
}

/** What to do about a body of a media type that is not read; undefined where that is not known. */
export function otherTypeHint(mediaType: string): string | undefined {
  const look = ownValue(otherTypes, mediaType)
  return look && hints[look]
}

/**
 * What to do about a body that was refused as `format`, by how it begins; undefined when it looks like it. `isWhole`: nothing comes
 * after what is seen.
 */
export function lookAlikeHint(head: Uint8Array, format: string, isWhole = true): string | undefined {
  const look = lookAlike(head, format)
  // Of a body that goes on, nobody knows whether it has a line end.
  return look === undefined || (look === 'oneLine' && !isWhole) ? undefined : hints[look]
}

/** What a body that was named as `format` looks like by its first bytes; undefined when it looks like it. */
export function lookAlike(head: Uint8Array, format: string): Look | undefined {
  const start = Buffer.from(head.subarray(0, 16)).toString('hex')
  const magic = magics.find(([hex]) => start.startsWith(hex))
  if (magic !== undefined) {
    const look = lookInside(head, magic[1])
    return format === (look === 'excel' ? look : magic[2]) ? undefined : look
  }
  const text = startOf(head, fewBytes)
  if (/^<(?:!doctype html|html|head|body)\b/i.test(text)) return 'html'
  if (/^<(?:\?xml|[a-z:]+[ >])/i.test(text)) return lookOfXml(text)
  // Files that are no text.
  if (format === 'otlp-protobuf' || format === 'excel' || magics.some(([, , own]) => own === format)) return undefined
  if (!isWholeUtf8(head)) return 'latin1'
  const line = endOfLines(head)
  if (line === 'returns') return line
  return format === 'csv' || format === 'tsv' ? lookOfCells(text, format, line) : lookOfJson(text, format, line)
}

/** What is wrong with the line ends of all that is seen; of a body that goes on, nobody knows whether it has any. */
function endOfLines(head: Uint8Array): 'returns' | 'oneLine' | undefined {
  const text = latin1.decode(head)
  const inside = text.trimEnd()
  if (inside.includes('\n')) return undefined
  if (/\r[^\r]/.test(inside)) return 'returns'
  return head.length < headBytes && !text.includes('\n') ? 'oneLine' : undefined
}

/** Workbooks are zips, whose first names tell them. */
function lookInside(head: Uint8Array, look: Look): Look {
  return look === 'zip' && /\[Content_Types\]\.xml|xl\/\w/.test(latin1.decode(head)) ? 'excel' : look
}

function lookOfXml(text: string): Look {
  if (/<kml\b/i.test(text)) return 'kml'
  return /opengis\.net\/gml\b/i.test(text) ? 'gml' : 'xml'
}

/** The first `bytes` as text, one character a byte, without a byte order mark and white space before it. */
function startOf(head: Uint8Array, bytes: number): string {
  return latin1
    .decode(head.subarray(0, bytes))
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
}

function lookOfCells(text: string, format: 'csv' | 'tsv', ends: Look | undefined): Look | undefined {
  if (/^\[\s*[{\]]/.test(text)) return 'document'
  if (text.startsWith('{')) return isLines(text) ? 'lines' : 'document'
  const line = (/^[^\r\n]*/.exec(text)?.[0] ?? '').replaceAll(/"(?:[^"]|"")*"/g, '')
  const count = (separator: string): number => line.split(separator).length - 1
  const [semicolons, tabs, commas] = [count(';'), count('\t'), count(',')]
  if (semicolons > commas && semicolons > tabs) return 'semicolons'
  const separator = format === 'tsv' ? tabs : commas
  if (format === 'tsv' ? commas > tabs : tabs > commas) return format === 'tsv' ? 'commas' : 'tabs'
  return separator > 0 ? ends : undefined
}

function lookOfJson(text: string, format: string, ends: Look | undefined): Look | undefined {
  const line = (/^[^\n]*/.exec(text)?.[0] ?? '').trimEnd()
  if (/^(?:"[^"]*"|[\w .:+-]+)(?:[,;\t](?:"[^"]*"|[\w .:+-]*))+$/.test(line)) {
    return line.includes('\t') && !line.includes(',') ? 'tabbedCells' : 'cells'
  }
  if (format === 'ndjson' && (line.startsWith('[') || line === '{')) return 'document'
  if (format === 'ndjson' && /\}\s*\{/.test(line) && ends !== undefined) return ends
  return format === 'json' && isLines(text) ? 'lines' : undefined
}

/** True when the first two lines are objects. */
function isLines(text: string): boolean {
  const [first = '', second = ''] = text
    .split('\n', 8)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return first.startsWith('{') && first.endsWith('}') && second.startsWith('{')
}

function isWholeUtf8(head: Uint8Array): boolean {
  return isUtf8(head.subarray(0, head.length - (head.length < headBytes ? 0 : openTail(head))))
}

/** A body that is no rows, and what to do about it. */
export interface OtherDocument {
  readonly what: string
  readonly hint: string
}

/** The page or the XML that a body of cells is: its first line is no header of anything. */
export function markupOf(head: Uint8Array): OtherDocument | undefined {
  const text = startOf(head, fewBytes)
  if (/^<(?:!doctype html|html)\b/i.test(text)) return { what: 'an HTML page', hint: hints.html }
  return /^<(?:\?xml|kml)\b/i.test(text) ? { what: 'XML', hint: hints[lookOfXml(text)] } : undefined
}

/** A document whose rows are inside of it, and the members that a dataset would hold it by. */
export interface MapDocument extends OtherDocument {
  readonly what: 'a GeoJSON FeatureCollection' | 'a GeoJSON Feature' | 'TopoJSON' | 'Esri JSON'
  readonly member: 'features' | 'geometry' | 'objects'
}

const collection: MapDocument = {
  what: 'a GeoJSON FeatureCollection',
  member: 'features',
  hint: 'Send it as application/geo+json: each feature becomes a row.',
}
const feature: MapDocument = {
  what: 'a GeoJSON Feature',
  member: 'geometry',
  hint: 'Send it as application/geo+json, or one a line as application/geo+json-seq: its properties become columns.',
}
const esri: MapDocument = {
  what: 'Esri JSON',
  member: 'features',
  hint: 'Ask its server for f=geojson, or convert it (ogr2ogr -f GeoJSON), and send that as application/geo+json.',
}
const topology: MapDocument = {
  what: 'TopoJSON',
  member: 'objects',
  hint: 'Convert it to GeoJSON (topo2geo, ogr2ogr) and send that as application/geo+json.',
}

/** The map that a JSON text is, by the members at its top as far as `head` shows them. */
export function mapDocumentOf(head: Uint8Array): MapDocument | undefined {
  // Most bodies are arrays, and need no look.
  if (!startOf(head, 64).startsWith('{')) return undefined
  const text = startOf(head, headBytes)
  if (!/"(?:Feature|FeatureCollection|Topology|features)"/.test(text)) return undefined
  const top = topMembers(text)
  const type = top.get('type')
  if (type === '"FeatureCollection"') return collection
  if (type === '"Feature"' && top.has('geometry')) return feature
  if (type === '"Topology"' && (top.has('objects') || top.has('arcs') || top.has('transform'))) return topology
  const features = top.get('features')
  if (type !== undefined || features === undefined || !/^\[\s*\{/.test(features)) return undefined
  const isEsri = top.get('geometryType')?.startsWith('"esriGeometry') === true
  if (isEsri || /^\[\s*\{\s*"attributes"\s*:/.test(features)) return esri
  // A long first feature hides what stands behind it.
  const isCut = head.length >= headBytes
  const tells = isCut ? /"(?:type"\s*:\s*"Feature"|(?:geometry|properties)"\s*:\s*[{n])/ : /"type"\s*:\s*"Feature"/
  return tells.test(features) ? collection : undefined
}

/** Members at the top of an object, in the order they come: name → text of the value, cut where `text` ends. */
function topMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  // A text that the bytes cut is one token: to look into it would take quadratic time.
  const token = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[{}[\],:]|[^\s"{}[\],:]+/g
  let depth = 0
  let name: string | undefined
  let valueAt = -1
  for (const { 0: found, index } of text.matchAll(token)) {
    if (depth === 0 && found !== '{') return members
    if (depth === 1 && valueAt < 0) {
      if (found === ':') valueAt = index + 1
      else if (found.startsWith('"')) name = found.slice(1, -1)
    }
    if (found === '{' || found === '[') depth += 1
    else if (found === '}' || found === ']') depth -= 1
    if ((depth === 1 && found === ',') || depth === 0) {
      if (name !== undefined && valueAt >= 0) members.set(name, text.slice(valueAt, index).trim())
      name = undefined
      valueAt = -1
      if (depth === 0) return members
    }
  }
  if (name !== undefined && valueAt >= 0) members.set(name, text.slice(valueAt).trim())
  return members
}
