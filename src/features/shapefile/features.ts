// The features of a layer as GeoJSON text, one a line: each row of the .dbf with the shape of the .shp at the same place.
// Both files are inflated side by side while they are read; deleted rows and their shapes are passed over, as GDAL does.

import { defined } from '../../libraries/base/collections.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import type { Warnings } from '../../libraries/base/warnings.ts'
import { FaultLog } from '../../libraries/formats/fault-log.ts'
import { JsonText } from '../../libraries/base/json/json-text.ts'
import { RowWriter } from './cells.ts'
import type { CodePage } from './code-page.ts'
import { isDeleted, readDbfFields, readDbfHeader } from './dbf.ts'
import type { RecordFault, ShapefileLimits } from './faults.ts'
import { writeGeometry, writeMeasures } from './geometry-text.ts'
import type { Layer } from './layer.ts'
import { unknownCrs, wrongCrsHint } from './prj.ts'
import { isFault, readShape, type Shape, ShapeBuffers, type ShapeFault } from './shape.ts'
import { readShpHeader, Shapes, type ShapeType } from './shp.ts'
import { EntryBytes } from './entry-bytes.ts'

const chunkBytes = 256 * 1024

const head = utf8('{"type":"Feature","geometry":')
const nullText = utf8('null')
const beforeProperties = utf8(',"properties":')
const beforeMeasures = utf8(',"m":')
const featureEnd = utf8('}\n')
const cutText = 'ends in the middle of a character, where it was cut; that character is left out'

/** A layer whose small files have been read. */
export interface OpenLayer {
  readonly layer: Layer
  readonly page: CodePage
  /** True when a .prj says that coordinates are degrees of WGS 84. */
  readonly hasCrs: boolean
  readonly limits: ShapefileLimits
}

/** The files of a layer while they are read. */
interface Files {
  readonly dbf: EntryBytes
  readonly shp: EntryBytes
  readonly shx: EntryBytes | undefined
}

/**
 * The features in chunks of about 256 KiB, each line a Feature: geometry by RFC 7946, properties by the .dbf, measures as
 * the member `m`. Throws NodeError `RecordsDoNotFit` with at most 100 faults after the last record, `MalformedBody` where
 * a file is damaged, `UnsupportedCrs` where nothing says the system of coordinates that are no degrees.
 */
export async function* layerFeatures(open: OpenLayer, warnings: Warnings): AsyncGenerator<Uint8Array> {
  const { layer } = open
  const files: Files = {
    dbf: new EntryBytes(layer.dbf),
    shp: new EntryBytes(layer.shp),
    shx: layer.shx === undefined ? undefined : new EntryBytes(layer.shx),
  }
  const all = [files.dbf, files.shp, ...(files.shx === undefined ? [] : [files.shx])]
  try {
    yield* features(open, files, warnings)
    // The checksums of files are known at their ends.
    for (const file of all) await file.drain()
  } finally {
    for (const file of all) await file.close()
  }
}

async function* features(open: OpenLayer, { dbf, shp, shx }: Files, warnings: Warnings): AsyncGenerator<Uint8Array> {
  const header = await readDbfHeader(dbf)
  const { rows, rowBytes } = header
  const fields = await readDbfFields(dbf, header, open.page, open.limits)
  for (const { name, isCut } of fields) if (isCut) warnings.add(`The name of column '${name}' ${cutText}`)
  const shpHeader = await readShpHeader(shp)
  const indexHeader = shx === undefined ? undefined : await readShpHeader(shx)
  const shapes = new Shapes(shp, shx, { header: shpHeader, indexHeader, rows, mostBytes: open.limits.recordBytes })
  const writer = new FeatureWriter(open, shpHeader.type, new RowWriter(fields, open.page, dbf.name), warnings)
  for (let row = 0; row < rows; row++) {
    if (!dbf.take(rowBytes)) await dbf.next(rowBytes)
    if (!shapes.take(row)) await shapes.fetch(row)
    if (isDeleted(dbf.bytes, dbf.at)) continue
    for (const _ of writer.write(shapes, dbf)) await nextTurn()
    if (writer.out.at < chunkBytes) continue
    yield* pieces(writer.takeOut())
    await nextTurn()
  }
  shapes.finish()
  yield* pieces(writer.takeOut())
  writer.demandRight()
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

/** Writes features, and notes those that are none. */
class FeatureWriter {
  out = new JsonText(chunkBytes + chunkBytes / 4)
  readonly #open: OpenLayer
  readonly #type: ShapeType
  readonly #rows: RowWriter
  readonly #warnings: Warnings
  readonly #faults = new FaultLog()
  readonly #buffers = new ShapeBuffers()
  #records = 0

  constructor(open: OpenLayer, type: ShapeType, rows: RowWriter, warnings: Warnings) {
    this.#open = open
    this.#type = type
    this.#rows = rows
    this.#warnings = warnings
  }

  /** Adds a feature. Yields where other work may be done. Throws NodeError `UnsupportedCrs`. */
  *write(shapes: Shapes, dbf: EntryBytes): Generator<void> {
    const { out } = this
    const before = out.at
    const record = this.#records++
    const shape = yield* readShape(this.#type, shapes.bytes, {
      start: shapes.start,
      end: shapes.end,
      buffers: this.#buffers,
    })
    const shapeFault = shape !== undefined && isFault(shape) ? shape : undefined
    out.raw(head)
    let measured: Shape | undefined
    if (shape === undefined || isFault(shape)) out.raw(nullText)
    else {
      measured = shape
      yield* writeGeometry(out, shape)
    }
    out.raw(beforeProperties)
    const cellFault = this.#rows.write(out, dbf.bytes, dbf.at)
    for (const column of this.#rows.cut) this.#warnings.add(`A text of column '${column}' ${cutText}`, record)
    if (measured?.m !== undefined) {
      out.raw(beforeMeasures)
      yield* writeMeasures(out, measured, measured.m)
    }
    out.raw(featureEnd)
    if (shapeFault !== undefined) this.#note(this.#withHint(shapeFault), record)
    if (cellFault !== undefined) this.#note(cellFault, record)
    if (shapeFault !== undefined || cellFault !== undefined) out.at = before
  }

  /** The lines so far; they are forgotten. */
  takeOut(): Uint8Array {
    const { bytes, at } = this.out
    this.out = new JsonText(chunkBytes + chunkBytes / 4)
    return bytes.subarray(0, at)
  }

  /** Throws NodeError `RecordsDoNotFit` where there were faults. */
  demandRight(): void {
    if (this.#faults.total > 0) throw this.#faults.toError(false)
  }

  #withHint(fault: ShapeFault): RecordFault {
    const { hasCrs, layer } = this.#open
    if (fault.outOfRange !== true) return fault
    if (!hasCrs) throw unknownCrs(layer.name, fault.message)
    return { ...fault, hint: wrongCrsHint(layer.name) }
  }

  #note({ kind, message, column, excerpt, hint }: RecordFault, record: number): void {
    this.#faults.hint ??= hint
    this.#faults.addBare({
      record,
      kind,
      message,
      ...defined({ column, excerpt }),
    })
  }
}
