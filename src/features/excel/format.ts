// The workbook as a format of ingest (docs/spec/http.md §6): one sheet of it is read front to back, its cells go into columns as
// those of CSV do.

import { Warnings } from '../../libraries/base/warnings.ts'
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
import { readZip } from '../../libraries/formats/zip.ts'
import { excelFacts } from './facts.ts'
import { zipHints } from './faults.ts'
import { SheetInferrer } from './inferrer.ts'
import { SheetRows } from './rows.ts'
import { type CellSink, SheetReader } from './sheet.ts'
import { SharedStrings } from './strings.ts'
import { otherWorkbook, readWorkbook, type Workbook } from './workbook.ts'

class ExcelReader implements FileReader {
  warnings: readonly string[] = []
  readonly #book: Workbook
  readonly #strings: SharedStrings

  constructor(book: Workbook, strings: SharedStrings) {
    this.#book = book
    this.#strings = strings
  }

  async infer(options: InferOptions): Promise<Inferred> {
    const { sheet } = this.#book
    const inferrer = new SheetInferrer(options, sheet.name)
    const cells = this.#cells(inferrer, new Warnings())
    for await (const chunk of sheet.entry.read()) {
      cells.push(chunk)
      if (inferrer.isDone) return inferrer.finish()
    }
    cells.finish()
    return inferrer.finish()
  }

  async *read(options: ReaderOptions): AsyncGenerator<RecordBatch> {
    const { sheet, hidden } = this.#book
    const rows = new SheetRows(options, sheet.name)
    const warnings = new Warnings()
    if (hidden.length > 0) warnings.add(`Hidden sheets are not read: ${hidden.join(', ')}`)
    const cells = this.#cells(rows, warnings)
    for await (const chunk of sheet.entry.read()) {
      cells.push(chunk)
      yield* rows.columns.take()
    }
    cells.finish()
    const last = rows.finish()
    this.warnings = [...warnings.texts, ...rows.columns.warnings.texts]
    yield* last
  }

  #cells(sink: CellSink, warnings: Warnings): SheetReader {
    return new SheetReader(this.#book, { strings: this.#strings, warnings, sink })
  }
}

async function openWorkbook(file: BodyFile, { limits, sheet }: FileOptions): Promise<FileReader> {
  const other = otherWorkbook(await file.at(0, 8))
  if (other !== undefined) throw other
  const book = await readWorkbook(await readZip(file, limits, zipHints), sheet)
  return new ExcelReader(book, await SharedStrings.read(book.strings))
}

export const excel: FileFormat = { ...excelFacts, openFile: openWorkbook }
