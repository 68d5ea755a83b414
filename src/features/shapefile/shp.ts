// The .shp of a shapefile: its header, and its records one after the other; the .shx, where there is one, says where each
// begins. Source: https://www.esri.com/content/dam/esrisites/sitecore-archive/Files/Pdfs/library/whitepapers/pdfs/shapefile.pdf

import { NodeError } from '../../libraries/base/errors.ts'
import { shown } from '../../libraries/formats/zip.ts'
import { malformed } from './faults.ts'
import type { EntryBytes } from './entry-bytes.ts'

const headerBytes = 100
const fileCode = 9994
const version = 1000
/** Sizes and offsets are counted in words of 16 bits. */
const wordBytes = 2
const recordHeaderBytes = 8
const indexBytes = 8

/** What coordinates a shape has beside x and y. */
export type Dimensions = 'xy' | 'xyz' | 'xym'
export type ShapeKind = 'null' | 'point' | 'multipoint' | 'polyline' | 'polygon'

export interface ShapeType {
  readonly code: number
  readonly kind: ShapeKind
  /** `xyz` may have measures too. */
  readonly dimensions: Dimensions
}

const kinds: Readonly<Record<number, ShapeKind>> = { 1: 'point', 3: 'polyline', 5: 'polygon', 8: 'multipoint' }

function shapeType(code: number): ShapeType | undefined {
  if (code === 0) return { code, kind: 'null', dimensions: 'xy' }
  const kind = kinds[code % 10]
  const dimensions = (['xy', 'xyz', 'xym'] as const)[Math.floor(code / 10)]
  return kind === undefined || dimensions === undefined ? undefined : { code, kind, dimensions }
}

export interface ShpHeader {
  readonly type: ShapeType
  /** Size of the file as it says itself. */
  readonly bytes: number
}

/** Reads the header of a .shp or .shx. Throws NodeError `MalformedBody`, `RecordsDoNotFit` for a type that is not read. */
export async function readShpHeader(file: EntryBytes): Promise<ShpHeader> {
  const bytes = await file.next(headerBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (view.getInt32(0, false) !== fileCode || view.getInt32(28, true) !== version) {
    throw malformed(file.name, 'it does not begin as a shapefile does.')
  }
  const size = view.getInt32(24, false) * wordBytes
  if (size < headerBytes || size > file.size) {
    throw malformed(file.name, `its header says that it has ${size} bytes, and it has ${file.size}.`)
  }
  const code = view.getInt32(32, true)
  const type = shapeType(code)
  if (type !== undefined) return { type, bytes: size }
  if (code !== 31) throw malformed(file.name, `its shapes are of type ${code}, which there is not.`)
  throw new NodeError(
    'RecordsDoNotFit',
    `${shown(file.name)}: its shapes are MultiPatches, which GeoJSON does not have. Nothing was stored.`,
    { hint: 'Make polygons of them: ogr2ogr -nlt MULTIPOLYGON out.shp in.shp.' },
  )
}

/** The records of a .shp in order. */
export class Shapes {
  /** The content of the record last read: [start, end) of `bytes`; valid until the next record is fetched. */
  start = 0
  end = 0
  /** Where that record begins in the file. */
  offset = 0
  readonly #shp: EntryBytes
  readonly #shx: EntryBytes | undefined
  /** Size of the .shp as its header has it. */
  readonly #size: number
  readonly #mostBytes: number
  readonly #rows: number

  /** Both files are read behind their headers. Throws NodeError `MalformedBody` unless the .shx lists `rows` records. */
  constructor(shp: EntryBytes, shx: EntryBytes | undefined, facts: ShapesFacts) {
    this.#shp = shp
    this.#shx = shx
    this.#size = facts.header.bytes
    this.#mostBytes = facts.mostBytes
    this.#rows = facts.rows
    const listed = facts.indexHeader === undefined ? facts.rows : (facts.indexHeader.bytes - headerBytes) / indexBytes
    if (shx !== undefined && listed !== facts.rows) {
      throw malformed(shx.name, `it lists ${Math.floor(listed)} shapes, and the .dbf has ${facts.rows} rows.`)
    }
  }

  get bytes(): Uint8Array {
    return this.#shp.bytes
  }

  /** Moves to the next record, which belongs to row `row`; false when it has to be fetched first. Throws as `fetch`. */
  take(row: number): boolean {
    if (this.#shx !== undefined || this.#shp.taken >= this.#size) return false
    if (!this.#shp.take(recordHeaderBytes)) return false
    const bytes = this.#contentBytes(row)
    if (this.#shp.take(bytes)) return this.#set(bytes)
    this.#pending = bytes
    return false
  }

  /** Size of a content whose header has been taken. */
  #pending: number | undefined

  /** Fetches the next record. Throws NodeError `MalformedBody` where there is none, or it does not fit; `RecordsDoNotFit` where it is too large. */
  async fetch(row: number): Promise<void> {
    if (this.#pending === undefined) {
      if (this.#shx !== undefined) await this.#seek(this.#shx, row)
      if (this.#shp.taken >= this.#size) {
        throw malformed(this.#shp.name, `it has ${row} shapes, and the .dbf has ${this.#rows} rows.`)
      }
      await this.#shp.next(recordHeaderBytes)
    }
    const bytes = this.#pending ?? this.#contentBytes(row)
    this.#pending = undefined
    await this.#shp.next(bytes)
    this.#set(bytes)
  }

  /** Throws NodeError `MalformedBody` when there are more records than rows. */
  finish(): void {
    if (this.#shx !== undefined || this.#shp.taken === this.#size) return
    throw malformed(this.#shp.name, `it has more shapes than the .dbf has rows (${this.#rows}).`)
  }

  /** Moves to where the .shx says that the next record begins. */
  async #seek(shx: EntryBytes, row: number): Promise<void> {
    const index = await shx.next(indexBytes)
    const offset = new DataView(index.buffer, index.byteOffset, indexBytes).getInt32(0, false) * wordBytes
    const { taken } = this.#shp
    if (offset < taken) {
      const hint = 'Write the layer anew: ogr2ogr out.shp in.shp.'
      throw malformed(shx.name, `shape ${row} does not begin behind the one before it.`, hint)
    }
    if (offset > this.#size) throw malformed(shx.name, `shape ${row} begins behind the end of the .shp.`)
    await this.#shp.skip(offset - taken)
  }

  /** The size that the header just taken gives its record. */
  #contentBytes(row: number): number {
    const { bytes, at, taken, name } = this.#shp
    this.offset = taken - recordHeaderBytes
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, recordHeaderBytes)
    const size = view.getInt32(4, false) * wordBytes
    if (size < 4 || taken + size > this.#size) {
      throw malformed(name, `shape ${row} (at byte ${this.offset}) has a length of ${size} bytes, which does not fit.`)
    }
    if (size > this.#mostBytes) {
      const message = `The shape has ${size} bytes; at most ${this.#mostBytes} are allowed.`
      throw new NodeError('RecordsDoNotFit', `Record ${row}: ${message} Nothing was stored.`, {
        errors: [{ record: row, kind: 'RecordTooLarge', message }],
        errorsTotal: 1,
      })
    }
    return size
  }

  #set(bytes: number): true {
    this.start = this.#shp.at
    this.end = this.start + bytes
    return true
  }
}

export interface ShapesFacts {
  readonly header: ShpHeader
  /** Of the .shx. */
  readonly indexHeader: ShpHeader | undefined
  /** Rows of the .dbf: there are as many records. */
  readonly rows: number
  /** Largest record. */
  readonly mostBytes: number
}
