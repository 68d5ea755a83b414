// Arrow streams and files (Feather version 2) as a format of ingest: opened here, read batch by batch, and matched and cast by
// columnar.ts. Messages come from messages.ts, their buffers from bodies.ts, values from arrays.ts, columns from pieces.ts.
// Source: Apache Arrow columnar format, https://arrow.apache.org/docs/format/Columnar.html

import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { messageHeaders } from '../../columnar/arrow/ipc-schema.ts'
import { must } from '../../base/assert.ts'
import { sameValue } from '../../base/compare.ts'
import type { Limits } from '../../base/limits.ts'
import { NodeError } from '../../base/errors.ts'
import type { RecordBatch } from '../../model/schema.ts'
import { CellCount } from '../../columnar/file-limits.ts'
import { type ColumnarFile, ColumnarReader, type HeldAsText } from '../columnar.ts'
import type { BodyFile } from '../../columnar/body-file.ts'
import type { FileFormat } from '../format.ts'
import { ArrayReader } from '../../columnar/foreign-arrow/arrays.ts'
import { Body } from '../../columnar/foreign-arrow/bodies.ts'
import { at, damaged, shown, told, unsupported } from '../../columnar/foreign-arrow/faults.ts'
import { type ArrowSource, type IpcMessage, openArrowSource, Window } from '../../columnar/foreign-arrow/messages.ts'
import { Dictionary } from '../../columnar/foreign-arrow/nested-values.ts'
import { type BatchColumn, pieces } from '../../columnar/foreign-arrow/pieces.ts'
import { readSchema } from '../../columnar/foreign-arrow/schema.ts'
import { type ArrowField, childrenOf, columnField, isNested, refusalOf } from '../../columnar/foreign-arrow/types.ts'
import { arrowFacts } from './facts.ts'

const MiB = 1024 * 1024
const zstd = promisify(zstdDecompress)

function inflateZstd(data: Uint8Array, bytes: number): Promise<Uint8Array> {
  return zstd(data, { maxOutputLength: bytes, chunkSize: Math.min(Math.max(bytes, 64), MiB) })
}

/** Most bytes that the dictionaries of the columns that are read may take together. */
const maxDictionaryBytes = 256 * MiB
/** Of a day as event time. */
const leastRowBytes = 4

export const arrow: FileFormat = {
  ...arrowFacts,
  openFile: async (file, { limits }) => new ColumnarReader(await openArrow(file, limits)),
}

/**
 * Opens an Arrow stream or file, whichever it is, and reads through the heads of its messages. Struct, list and map columns are
 * JSON text. Throws NodeError `MalformedBody`, `UnsupportedEncoding` with column and record batch, `RecordsDoNotFit` for too
 * many columns, `BodyTooLarge` for more rows than there is room for; so do the batches, also for more values
 * than a file of its size may have.
 */
export async function openArrow(
  file: BodyFile,
  limits: Pick<Limits, 'columns' | 'columnBytes' | 'inflatedRatio' | 'recordBytes'>,
): Promise<ColumnarFile> {
  const window = new Window(file, inflateZstd)
  const source = await openArrowSource(window)
  const { reader, table } = source.schema
  const fields = await at({}, () => readSchema(reader, table, limits.columns))
  const types = await at({}, () => dictionaryTypes(fields))
  const rows = await countRows(source, types)
  demandRoom(rows, limits)
  const { recordBytes, inflatedRatio } = limits
  const geometry = fields.findIndex(({ type }) => type.kind === 'geometry')
  return {
    fields: fields.map(columnField),
    rows,
    refused: refusedColumns(fields),
    texts: new Map(
      fields.flatMap(({ type }, at): [number, HeldAsText][] => {
        if (type.kind === 'geometry') return [[at, 'geometries']]
        return isNested(type) ? [[at, 'structs, lists or maps']] : []
      }),
    ),
    ...(geometry < 0 ? {} : { geometry }),
    batches: (columns) => {
      const cells = new CellCount(file.bytes, inflatedRatio)
      return readBatches({ window, source, fields, types, recordBytes, cells }, columns)
    },
  }
}

function refusedColumns(fields: readonly ArrowField[]): Map<number, NodeError> {
  const refused = new Map<number, NodeError>()
  for (const [index, { name, type }] of fields.entries()) {
    const refusal = refusalOf(type)
    if (refusal !== undefined) {
      refused.set(index, refusal instanceof NodeError ? refusal : told(refusal, { column: name }))
    }
  }
  return refused
}

/** The fields whose values are in the dictionary of an id, by id. */
type DictionaryTypes = ReadonlyMap<number | bigint, ArrowField>

function dictionaryTypes(fields: readonly ArrowField[]): DictionaryTypes {
  const types = new Map<number | bigint, ArrowField>()
  const visit = ({ name, type, dictionary }: ArrowField, column: string): void => {
    if (dictionary !== undefined) {
      const known = types.get(dictionary.id)
      // That two of one id are alike also keeps a dictionary from having itself inside.
      if (known !== undefined && !sameValue(known.type, type)) {
        unsupported(`has columns of other types with one dictionary: ${shown(known.name)} and ${shown(column)}`)
      }
      types.set(dictionary.id, { name, type })
    }
    for (const child of childrenOf(type)) visit(child, column)
  }
  for (const field of fields) visit(field, field.name)
  return types
}

async function countRows(source: ArrowSource, types: DictionaryTypes): Promise<number> {
  let rows = 0
  for await (const message of source.messages()) {
    await at({}, () => {
      const { reader, member, header } = message
      if (member === messageHeaders.recordBatch) rows += Number(reader.u64Field(header, 0))
      else if (member !== messageHeaders.dictionaryBatch)
        unsupported(`has a message of kind ${member}, which is not a table`)
      else if (!types.has(reader.u64Field(header, 0))) damaged('has a dictionary that no column uses')
    })
  }
  return rows
}

/** Refuses at once what would be refused after a long time: each row has an event time at least. */
function demandRoom(rows: number, { columnBytes }: Pick<Limits, 'columnBytes'>): void {
  if (rows * leastRowBytes <= columnBytes) return
  throw new NodeError('BodyTooLarge', `The body has ${rows} rows, which take more than ${columnBytes} bytes.`, {
    hint: 'Send them in smaller batches.',
    limit: { name: 'columnBytes', value: columnBytes, unit: 'bytes' },
  })
}

interface OpenArrow {
  readonly window: Window
  readonly source: ArrowSource
  readonly fields: readonly ArrowField[]
  readonly types: DictionaryTypes
  readonly recordBytes: number
  readonly cells: CellCount
}

async function* readBatches(open: OpenArrow, columns: readonly number[]): AsyncGenerator<RecordBatch> {
  const dictionaries = new OpenDictionaries(open, columns)
  let [batch, firstRecord] = [0, 0]
  for await (const message of open.source.messages()) {
    if (message.member === messageHeaders.dictionaryBatch) {
      await dictionaries.add(message)
      continue
    }
    const number = batch++
    const body = await at({ batch: number }, () => new Body(open.window, message, message.header))
    const read = await readColumns(open, { body, dictionaries, columns, batch: number })
    const place = { rows: body.rows, batch: number, firstRecord, recordBytes: open.recordBytes }
    for await (const piece of pieces(read, place)) {
      open.cells.takeBatch(piece)
      yield piece
      open.window.demandCaller()
    }
    firstRecord += body.rows
  }
}

interface BatchToRead {
  readonly body: Body
  readonly dictionaries: OpenDictionaries
  readonly columns: readonly number[]
  readonly batch: number
}

async function readColumns({ fields }: OpenArrow, of: BatchToRead): Promise<BatchColumn[]> {
  const { body, dictionaries, columns, batch } = of
  const arrays = new ArrayReader(body, dictionaries.byId)
  const wanted = new Set(columns)
  const made = new Map<number, BatchColumn>()
  for (const [index, field] of fields.entries()) {
    await at({ column: field.name, batch }, async () => {
      if (!wanted.has(index)) return arrays.skip(field)
      const values = await arrays.read(field, body.rows)
      made.set(index, { field: columnField(field), values, isNested: isNested(field.type) })
    })
  }
  await at({ batch }, () => body.end())
  return columns.map((index) => must(made.get(index), 'a column that was read'))
}

/** The dictionaries of the columns that are read, as the messages so far have made them. */
class OpenDictionaries {
  readonly byId = new Map<number | bigint, Dictionary>()
  readonly #open: OpenArrow
  readonly #wanted: DictionaryTypes
  readonly #bytes = new Map<number | bigint, number>()
  #heldBytes = 0

  constructor(open: OpenArrow, columns: readonly number[]) {
    this.#open = open
    this.#wanted = dictionaryTypes(columns.map((index) => must(open.fields[index], 'a field')))
  }

  /** Takes a dictionary, or what comes to one. */
  async add(message: IpcMessage): Promise<void> {
    const { reader, header } = message
    const id = reader.u64Field(header, 0)
    const field = this.#wanted.get(id)
    if (field === undefined) return
    await at({ column: field.name }, async () => {
      const known = this.byId.get(id)
      const isDelta = reader.u8Field(header, 2) !== 0
      if (!isDelta && known !== undefined && !this.#open.source.mayReplace) damaged('has two dictionaries in one file')
      const dataAt = reader.offset(header, 1)
      if (dataAt === 0) return damaged('has a dictionary without values')
      const body = new Body(this.#open.window, message, reader.table(header, dataAt))
      const values = await new ArrayReader(body, this.byId).read(field, body.rows)
      body.end()
      const dictionary = isDelta && known !== undefined ? known : new Dictionary()
      dictionary.add(values)
      this.byId.set(id, dictionary)
      this.#hold(id, body.heldBytes + (dictionary === known ? (this.#bytes.get(id) ?? 0) : 0))
    })
  }

  #hold(id: number | bigint, bytes: number): void {
    this.#heldBytes += bytes - (this.#bytes.get(id) ?? 0)
    this.#bytes.set(id, bytes)
    if (this.#heldBytes > maxDictionaryBytes)
      unsupported(`has dictionaries of more than ${maxDictionaryBytes / MiB} MiB`)
  }
}
