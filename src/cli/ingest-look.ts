// Looks into a file before it is sent: what its name does not say (gzip, GeoJSON in a `.json`, a zipped shapefile) is found
// out, and what no node reads is refused with the command that makes it readable. With --format nothing is second-guessed.

import { open } from 'node:fs/promises'
import { constants, gunzipSync } from 'node:zlib'
import {
  type Look,
  lookAlike,
  lookAlikeHint,
  type MapDocument,
  mapDocumentOf,
} from '../libraries/formats/look-alike.ts'
import { formatsBut } from '../app/formats.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'

/** What is known of a file that is to be sent. */
export interface Named {
  /** By its name; undefined where that does not tell. */
  readonly format: string | undefined
  readonly contentEncoding: string | undefined
}

/** Bytes that are looked at. */
const lookBytes = 64 * 1024

/** `named` with what the bytes at `path` tell. Throws CommandFailure (refused) for what no node reads. */
export async function lookInside(file: string, path: string, named: Named): Promise<Named> {
  const start = await headOf(path)
  const look = lookAlike(start, '')
  const found = look === 'gzip' || look === 'zstd' ? look : undefined
  const contentEncoding = named.contentEncoding ?? found
  if (named.contentEncoding === undefined && found !== undefined) note(`${file} is ${found}: sent as such.`)
  const head = contentEncoding === 'gzip' ? inflatedHead(start) : start
  // What is inside of other encodings is the node's to say.
  if (contentEncoding !== undefined && contentEncoding !== 'gzip') return { ...named, contentEncoding }
  const format = named.format ?? formatOfBytes(head)
  if (format === 'json') return { contentEncoding, format: jsonFormat(file, head) }
  refuse(file, head, format)
  return { contentEncoding, format }
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(lookBytes), 0, lookBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** As much as can be inflated of the beginning of a gzip file; nothing where it is damaged. */
function inflatedHead(start: Buffer): Buffer {
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 2 ** 27 }).subarray(0, lookBytes)
  } catch {
    return Buffer.alloc(0)
  }
}

/** The format of a file that names itself in its first bytes. */
function formatOfBytes(head: Buffer): string | undefined {
  const look = lookAlike(head, '')
  if (look === 'parquet' || look === 'arrow' || look === 'excel') return look
  return look === 'zip' && /\.(?:shp|shx|dbf)\b/i.test(head.toString('latin1')) ? 'shapefile' : undefined
}

/** GeoJSON often has the name `.json`. */
function jsonFormat(file: string, head: Buffer): string {
  const map = mapDocumentOf(head)
  if (map === undefined) {
    refuse(file, head, 'json')
    return 'json'
  }
  if (!map.what.startsWith('a GeoJSON')) {
    throw refusal(file, `is ${map.what}; its shapes must be GeoJSON first.`, mapHints[map.what] ?? map.hint)
  }
  note(`${file} holds GeoJSON: each feature becomes a row. With --format json, the file is one row.`)
  return 'geojson'
}

const mapHints: Partial<Record<MapDocument['what'], string>> = {
  TopoJSON: 'topo2geo of the npm package topojson-client writes each of its objects as GeoJSON.',
  'Esri JSON': 'Ask its server for f=geojson, or: ogr2ogr -f GeoJSON OUT.geojson FILE.',
}

function refuse(file: string, head: Buffer, format: string | undefined): void {
  const look = head.length === 0 ? undefined : lookAlike(head, format ?? '')
  if (head.length > 0 && lookAlike(head, '') === 'oldExcel')
    throw refusal(file, 'is an old or encrypted Excel workbook.', `Save it as .xlsx, or: ${toCsv(file)}`)
  if (format === undefined && look !== undefined && otherFiles.includes(look)) {
    throw refusal(file, 'is of a format that is not read.', asFile(lookAlikeHint(head, '') ?? ''))
  }
  if (look === undefined || format === undefined) return
  const told = tellings[look]
  if (told === undefined) return
  throw refusal(file, told.what, `${told.hint(file)} ${asItIs(format)}`.trim())
}

/** Files of other programs, of which the node would say the same. */
const otherFiles: readonly Look[] = ['sqlite', 'flatgeobuf', 'kml', 'kmz', 'gml', 'shp']

/** A sentence about a body, as one about a file. */
function asFile(hint: string): string {
  return hint.replace(/^The body is/, 'It is').replace(/, and send that as (?:\S+)\.$/, ', and ingest that.')
}

interface Telling {
  readonly what: string
  readonly hint: (file: string) => string
}

/** What is told of files that do not look like what they are called; others are left to the node. */
const tellings: Partial<Record<Look, Telling>> = {
  tabs: { what: 'has tabs between its cells.', hint: () => 'Say --format tsv.' },
  commas: { what: 'has commas between its cells.', hint: () => 'Say --format csv.' },
  cells: { what: 'holds rows of text.', hint: () => 'Say --format csv.' },
  tabbedCells: { what: 'holds rows of text.', hint: () => 'Say --format tsv.' },
  lines: { what: 'holds one JSON object a line.', hint: () => 'Say --format ndjson.' },
  document: { what: 'holds one JSON document.', hint: () => 'Say --format json.' },
  parquet: { what: 'is a Parquet file.', hint: () => 'Say --format parquet.' },
  arrow: { what: 'is an Arrow file.', hint: () => 'Say --format arrow.' },
  excel: { what: 'is an Excel workbook.', hint: () => 'Say --format excel.' },
  html: { what: 'is an HTML page: was it the answer of a server that had no data?', hint: () => '' },
  xml: { what: 'is XML.', hint: () => 'Convert it to CSV or JSON.' },
  zip: {
    what: 'is a zip.',
    hint: () => 'Say --format shapefile if it holds one; else unpack it and send what is inside.',
  },
}

function refusal(file: string, what: string, hint: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, `${file} ${what}`, { hint })
}

function asItIs(format: string): string {
  const isText = formatsBut([]).all.some(({ name, kind }) => name === format && kind === 'stream')
  return isText ? `(--format ${format} sends it as it is.)` : ''
}

function toCsv(file: string): string {
  return `soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76' ${shell(file)}`
}

/** A name as an argument of a shell. */
function shell(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}
