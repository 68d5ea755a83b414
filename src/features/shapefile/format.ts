// The shapefile as a format of ingest (docs/spec/http.md §6): its features are read as those of NDGeoJSON, so that columns,
// inference and casts are the same. What a fault says of lines and bytes of that text is left out: nobody sent it.

import { Warnings } from '../../libraries/base/warnings.ts'
import { NodeError, type RecordError } from '../../libraries/base/errors.ts'
import type { RecordBatch } from '../../libraries/model/schema.ts'
import type { BodyFile } from '../../libraries/columnar/body-file.ts'
import type {
  FileFormat,
  FileOptions,
  FileReader,
  InferOptions,
  Inferred,
  ReaderOptions,
} from '../../libraries/formats/format.ts'
import { ndgeojson } from '../../libraries/formats/geojson/format.ts'
import { codePageOf } from './code-page.ts'
import { readDbfHeader } from './dbf.ts'
import { malformed, zipHints } from './faults.ts'
import { layerFeatures, type OpenLayer } from './features.ts'
import { type Layer, layerOf } from './layer.ts'
import { demandWgs84 } from './prj.ts'
import { readZip, type ZipEntry } from '../../libraries/formats/zip.ts'
import { EntryBytes } from './entry-bytes.ts'
import { shapefileFacts } from './facts.ts'

/** Most bytes of a .prj or .cpg. */
const smallBytes = 64 * 1024

/** Opens the layer that is asked for. Throws NodeError as `FileFormat.openFile`, and where a layer has to be named. */
export async function openShapefile(
  file: BodyFile,
  { limits, layer: asked, charset }: FileOptions,
): Promise<OpenLayer> {
  const layer = layerOf(await readZip(file, limits, zipHints), asked)
  const prj = await smallText(layer.prj)
  if (prj !== undefined) demandWgs84(prj, layer.name)
  const page = codePageOf({ asked: charset, cpg: await smallText(layer.cpg), language: await languageOf(layer) })
  return { layer, page, hasCrs: prj !== undefined, limits }
}

async function languageOf(layer: Layer): Promise<number> {
  const dbf = new EntryBytes(layer.dbf)
  try {
    return (await readDbfHeader(dbf)).language
  } finally {
    await dbf.close()
  }
}

/** The text of a small file; undefined where it is missing or blank. */
async function smallText(entry: ZipEntry | undefined): Promise<string | undefined> {
  if (entry === undefined) return undefined
  if (entry.bytes > smallBytes) throw malformed(entry.name, `it has ${entry.bytes} bytes, too many for what it is.`)
  let text = ''
  for await (const chunk of entry.read()) text += Buffer.from(chunk).toString('latin1')
  return text.trim() === '' ? undefined : text
}

class ShapefileReader implements FileReader {
  warnings: readonly string[] = []
  readonly #open: OpenLayer

  constructor(open: OpenLayer) {
    this.#open = open
  }

  async infer(options: InferOptions): Promise<Inferred> {
    const inferrer = ndgeojson.createInferrer(options)
    for await (const chunk of layerFeatures(this.#open, new Warnings())) if (!inferrer.push(chunk)) break
    return inferrer.finish()
  }

  async *read(options: ReaderOptions): AsyncGenerator<RecordBatch> {
    try {
      const reader = ndgeojson.createReader(options)
      const cut = new Warnings()
      for await (const chunk of layerFeatures(this.#open, cut)) {
        reader.push(chunk)
        yield* reader.take()
      }
      const { batches, warnings = [] } = reader.finish()
      this.warnings = [...cut.texts, ...warnings]
      yield* batches
    } catch (error) {
      throw withoutText(error)
    }
  }
}

/** The error without places in a text that nobody sent. */
function withoutText(error: unknown): unknown {
  if (!(error instanceof NodeError) || error.details.errors === undefined) return error
  return new NodeError(error.kind, error.message, { ...error.details, errors: error.details.errors.map(ofFile) })
}

function ofFile({ line: _line, byteOffset: _offset, pointer, ...fault }: RecordError): RecordError {
  const column = fault.column ?? /^\/properties\/([^/]+)$/.exec(pointer ?? '')?.[1]
  return column === undefined ? fault : { ...fault, column: column.replaceAll('~1', '/').replaceAll('~0', '~') }
}

export const shapefile: FileFormat = {
  ...shapefileFacts,
  openFile: async (file, options) => new ShapefileReader(await openShapefile(file, options)),
}
