// Looks into a file before it is sent: what its name does not say (gzip, GeoJSON in a `.json`, a zipped shapefile) is found
// out, and what no node reads is refused. What a body is that the node refuses, the node says. With --format nothing is second-guessed.

import { open } from 'node:fs/promises'
import { constants, gunzipSync } from 'node:zlib'
import { type Look, lookAlike, lookAlikeHint, mapDocumentOf } from '../libraries/formats/look-alike.ts'
import { withFormats } from '../libraries/formats/flags.ts'
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
  if (format === undefined) refuseOther(file, head)
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

/** GeoJSON often has the name `.json`; of other maps the node says what they are. */
function jsonFormat(file: string, head: Buffer): string {
  if (mapDocumentOf(head)?.what.startsWith('a GeoJSON') !== true) return 'json'
  note(`${file} holds GeoJSON: each feature becomes a row. With --format json, the file is one row.`)
  return 'geojson'
}

/** Files of other programs, which no node reads. */
const otherFiles: readonly Look[] = ['sqlite', 'flatgeobuf', 'kml', 'kmz', 'gml', 'shp', 'oldExcel']

/** In the words in which the node would refuse it. Throws CommandFailure (refused). */
function refuseOther(file: string, head: Buffer): void {
  const look = lookAlike(head, '')
  if (look === undefined || !otherFiles.includes(look)) return
  const hint = withFormats((lookAlikeHint(head, '') ?? '').replace(/^The body is/, 'It is'), formatsBut([]).all)
  throw new CommandFailure(exitCodes.refused, `${file} is of a format that is not read.`, { hint })
}
