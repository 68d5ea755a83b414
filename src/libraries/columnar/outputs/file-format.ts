// What a file format of answers is: its names, and a writer that turns batches of columns into bytes, piece by piece.
// One folder of outputs/ for each; formats.ts lists them. Pure.

import { NodeError } from '../../base/errors.ts'
import { type DataType, type Field, innerType, optional, type RecordBatch, noZone } from '../../model/schema.ts'

/** A column of an answer. Every column of an answer may hold nulls. */
export interface FileColumn {
  readonly name: string
  /** Not an Option. A Timestamp without `timezone` is the engine's timestamp without zone. */
  readonly type: DataType
  /**
   * What the type does not tell. `json`: text that is JSON, a value of a type that holds others, with the tokens of the
   * JSON layouts. `integer`: a Decimal that stands for an integer of 128 bits.
   */
  readonly means: 'value' | 'json' | 'integer'
  /** What the engine calls the type of plain values: it has several that are text here. */
  readonly engineType?: string
}

/** Where the rows of a file are from, for formats that say so. */
export interface FileSource {
  readonly heads: readonly { readonly alias: string; readonly block: string }[]
  /** The address that gives its rows with a proof, but for their number (signed-rows.ts), of so many rows at most. */
  readonly address: string | undefined
  readonly mostRows: number
  /** Why there is no address. */
  readonly reason: string
}

/** What a writer is handed beside the caller's choices. */
export interface FileTools {
  /** Zstandard. */
  readonly compress: (bytes: Uint8Array) => Uint8Array
  /** Text in UTF-8 as the bytes of the character set that was chosen. Throws NodeError `InvalidParameter`. */
  readonly encode?: ((text: Uint8Array) => Uint8Array) | undefined
  /** Given where the format tells it. */
  readonly source?: FileSource | undefined
  /** Given where a statement is described and not run: what it takes; `column` is absent where nothing tells its type. */
  readonly parameterTypes?: readonly { readonly name: string; readonly column: FileColumn | undefined }[] | undefined
}

/** What a caller may choose of a file. */
export interface FileOptions {
  /** Csv: text that spreadsheets would take for a formula gets an apostrophe in front. */
  readonly escapeFormulas: boolean
  /** The column that holds geometry as GeoJSON text; undefined: the one named `geometry`, where there is one. */
  readonly geometry: string | undefined
  /** Csv: one character of ASCII between cells; a comma by default. */
  readonly delimiter?: string
  /** Csv: the decimal sign of numbers; a point by default. */
  readonly decimal?: ','
  /** Csv: the character set, as the Encoding Standard names it; UTF-8 by default. */
  readonly charset?: string
  /** Csv: it begins with a byte order mark. */
  readonly bom?: boolean
  readonly postgres?: PostgresForm | undefined
}

/** Of rows in PostgreSQL's protocol. */
export interface PostgresForm {
  /** In binary form: one for all columns or one for each; none by default. */
  readonly binaryColumns?: readonly boolean[]
  /** Types of columns, by their oids, that a client reads values by, whatever the answer has; none: those of the answer. */
  readonly told?: readonly number[] | undefined
  /** COPY: the names of the columns are the first row. */
  readonly header?: boolean
}

/** A file that is being written. Its pieces follow one another; none is used again by the writer. */
export interface FileWriter {
  /** The columns are those that `begin` was given. */
  rows(batch: RecordBatch): Iterable<Uint8Array>
  /** What still waits, and the end of the file. */
  end(): Iterable<Uint8Array>
}

/** What is known of a format without its code. */
export interface FileFacts {
  readonly kind: 'file'
  /** As requests and documents name it. */
  readonly name: string
  /** Other spellings in requests. */
  readonly spellings: readonly string[]
  /** The first is what answers say, with its parameters; all are known in `Accept`. */
  readonly mediaTypes: readonly string[]
  /** Of file names, without the dot. */
  readonly extension: string
  /** Columns that the node fills (offset, op, system_time) are in it when a whole dataset is asked for. */
  readonly hasSystemColumns: boolean
  /** What a caller may choose of it. */
  readonly choices: readonly (keyof FileOptions)[]
  /** Lists of plain values are List columns; else they come as JSON text, as structs, maps and unions always do. */
  readonly hasLists: boolean
  /** Readers take it in parts, from anywhere in it, and need its length for that. */
  readonly isReadInParts?: boolean
  /** It holds no more rows than this. */
  readonly mostRows?: number
  /** The file says where its rows are from. */
  readonly tellsSource?: boolean
  /** Of a feature: URL of the module that exports it as a FileFormat. The process that writes it loads that one alone. */
  readonly module?: string
}

export interface FileFormat extends FileFacts {
  /** Throws NodeError `InvalidParameter` or `QueryNotAllowed` for columns that the format cannot hold. */
  begin(columns: readonly FileColumn[], options: FileOptions, tools: FileTools): FileWriter
}

/** The columns as fields. */
export function fieldsOf(columns: readonly FileColumn[]): Field[] {
  return columns.map(({ name, type }) => ({ name, type: optional(withZone(type)) }))
}

function withZone(type: DataType): DataType {
  if (type.kind === 'List') return { ...type, itemType: optional(withZone(innerType(type.itemType))) }
  return type.kind === 'Timestamp' ? { ...type, timezone: type.timezone ?? noZone } : type
}

/** The refusal of rows that a format has no place for. */
export function tooManyRows({ name, mostRows }: FileFacts): NodeError {
  return tooLarge(`${name} holds at most ${mostRows} rows.`)
}

/** The refusal of what a format has no place for. */
export function tooLarge(what: string): NodeError {
  const hint = 'Ask for fewer rows or columns, for a part of a long text, or for another format.'
  return new NodeError('ResultTooLarge', what, { hint })
}
