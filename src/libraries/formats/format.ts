// What a format of ingest is: its names, and how bytes in it become typed columns. `registry.ts` lists the formats; the
// gateway pushes the chunks of a body into the reader of a stream as they arrive, or again from its spool; a file, whose
// parts lie anywhere in it, is opened when it is complete.

import type { RecordEnds } from './line-ends.ts'
import type { BodyFile } from '../columnar/body-file.ts'
import type { Limits } from '../base/limits.ts'
import type { RecordError } from '../base/errors.ts'
import type { DataType, Field, RecordBatch, Vocabulary } from '../model/schema.ts'
import type { CellBound } from './cell-bound.ts'
import type { Dialect } from './dialect/dialect.ts'
import type { FieldPlace } from './field-place.ts'
import type { ParameterName } from './parameters.ts'
import type { WantedRecords } from './presets.ts'

/** One folder of `formats/` makes one or two of these. */
export type Format = StreamFormat | FileFormat

/** What a format is, without its code; everything that is said about formats elsewhere is read here. */
export type FormatFacts = StreamFacts | FileFacts

interface FormatNames {
  /** What `--format` and the code say: lower case. */
  readonly name: string
  /** What prose says. */
  readonly title: string
  /** Without parameters; the first is canonical: what `/info`, receipts and the command line use. */
  readonly mediaTypes: readonly [string, ...string[]]
  /** Of file names, lower case, without the dot. */
  readonly extensions: readonly string[]
  /** What a body is, to follow a semicolon. */
  readonly about: string
  /** True when the first line may be a header, as the parameter `header` of the media type says. */
  readonly hasHeader?: boolean
  /** Parameters that count for this format and not for all. */
  readonly parameters?: readonly ParameterName[]
}

export interface StreamFacts extends FormatNames {
  readonly kind: 'stream'
  /** A small body, for documentation; empty where it is no text. */
  readonly example: string
  /** True when a record ends with its line, so that input without an end can be cut into batches. */
  readonly isLines: boolean
  /** Where records may have objects inside: in any member, or among the properties of a feature. */
  readonly nesting?: 'objects' | 'features'
  /** True when a body may be an object that has the records in an array inside. */
  readonly hasRecords?: boolean
  /** True when records have their event time in a place of its own, a number of nanoseconds unless a unit is said. */
  readonly hasOwnTime?: boolean
  /** Where records end in a body without end, after its header; absent where streams of the format are not taken. */
  readonly ends?: (header: Uint8Array, dialect?: Dialect) => RecordEnds
}

/** A format whose records are read one after the other. */
export interface StreamFormat extends StreamFacts {
  /** URL of the module that exports this object: a thread that reads a body loads that one alone. */
  readonly module: string
  /** A reader of one body. Cheap to make when `options.fields` is an array seen before. */
  readonly createReader: (options: ReaderOptions) => RecordReader
  /** An inferrer for one body. */
  readonly createInferrer: (options: InferOptions) => Inferrer
}

/** A format of which streams are taken. */
export type EndlessFormat = StreamFormat & Required<Pick<StreamFormat, 'ends'>>

export interface FileFacts extends FormatNames {
  readonly kind: 'file'
}

/** A format whose body has to be complete before it is read. */
export interface FileFormat extends FileFacts {
  /** Looks at what the file says of itself. Throws NodeError `MalformedBody`, `UnsupportedEncoding`, `UnsupportedCrs`. */
  readonly openFile: (file: BodyFile, options: FileOptions) => Promise<FileReader>
}

export interface FileOptions {
  readonly limits: Limits
  /** Which of several layers, or sheets. */
  readonly layer?: string
  readonly sheet?: string
  /** The character set of texts, where the file does not say it or is wrong. */
  readonly charset?: string
}

/** A file that is open. Both methods may be called again; each reads from the start. */
export interface FileReader {
  /** The columns that the file suggests. Throws NodeError `InvalidColumnName`, `RecordsDoNotFit`, `MalformedBody`. */
  infer(options: InferOptions): Promise<Inferred>
  /**
   * The rows in order, as batches like those of `ParsedBody`. Throws NodeError `RecordsDoNotFit` with at most 100 faults
   * and their total, after the last row has been judged; `MalformedBody` where the file is damaged.
   */
  read(options: ReaderOptions): AsyncIterable<RecordBatch>
  /** What was changed or is doubted of the rows last read (libraries/base/warnings.ts); complete after the last of them. */
  readonly warnings?: readonly string[]
}

export type CsvHeader = 'present' | 'absent'
export type EpochUnit = 's' | 'ms' | 'us' | 'ns'

/** What readers and inferrers share. */
export interface FormatOptions {
  /** Names of the system columns; the first three may not stand in the input. */
  readonly vocabulary: Vocabulary
  /** Zone of times without one (base/zone.ts); absent: they are faults. */
  readonly timeZone?: string
  /** What a local time is that clocks repeat; absent: a fault. */
  readonly ambiguous?: 'earlier' | 'later' | 'ordered'
  /** How cells are spelt, of formats that have such. */
  readonly dialect?: Dialect
  /** Character set of texts, as the Encoding Standard names it; absent: UTF-8. */
  readonly charset?: string
  /** Where records have their event time; absent: under the name of the event-time column. */
  readonly eventTime?: FieldPlace
  /** Objects in objects are columns of their own, their names joined by underscores. */
  readonly flatten?: boolean
  /** Where in the body the array of records is; `*` stands for each element of an array. Absent: the body is it. */
  readonly records?: readonly string[]
  /** Which objects of JSON are records; absent: all. */
  readonly only?: WantedRecords
  /** True where a record without event time is a fault. */
  readonly demandsEventTime?: boolean
  /** Numeric event times are epochs of this unit; absent: event times are text. */
  readonly eventTimeUnit?: EpochUnit
  /** What JSON integers become; absent: by the evidence (docs/spec/http.md §6). With `float64` long ones may be rounded. */
  readonly integers?: 'int64' | 'float64' | 'numbers'
  /** Says whether the first record of a CSV body is a header; absent: docs/spec/http.md §6 decides. */
  readonly csvHeader?: CsvHeader
  /** Largest record, in bytes without its line end. */
  readonly recordBytes: number
  /** Deepest nesting of JSON, the record itself being level 1. */
  readonly jsonDepth: number
}

export interface ReaderOptions extends FormatOptions {
  /**
   * User columns of the dataset in schema order, without system columns; with the event-time column, at its place,
   * where the schema declares it. Pass the same array for the same schema: tables are cached by its identity.
   */
  readonly fields: readonly Field[]
  /** Type of the event-time column: Timestamp or Date, without Option. */
  readonly eventTimeType: DataType
  readonly unknownFields: 'reject' | 'ignore'
  /** True where records that can be read and do not fit are left out and told, for formats that do so. */
  readonly leavesOutMisfits?: boolean
  /** Columns that `Inferred.valueless` left out of the schema: they may stand in the input without a value. */
  readonly valueless?: readonly string[]
  /** What rows may cost, of formats that are no files. */
  readonly cells?: CellBound
}

/** A body whose every record fits. */
export interface ParsedBody {
  readonly records: number
  /**
   * The rows in order of arrival, without those of `take`, at most 16,384 or about 1 MiB of input a batch; empty when
   * there are none. Columns: event time (nullable here; the gateway fills it), then the user columns in schema order.
   */
  readonly batches: readonly RecordBatch[]
  /** CSV only: whether the first record was taken as a header. */
  readonly csvHeader?: CsvHeader
  /** Records that were left out, the first hundred of them; absent where there were none. */
  readonly misfits?: Misfits
  /** What was changed or is doubted (libraries/base/warnings.ts). */
  readonly warnings?: readonly string[]
  /** Rows whose event time is an epoch in January 1970, where there are some: its unit may be wrong. */
  readonly earlyRows?: number
  /** Lines that were left out, where there were some. */
  readonly skipped?: SkippedLines
}

/** Lines that are no records: those of `skipRows`, and comments, with the first of each. */
export interface SkippedLines {
  readonly rows: number
  readonly comments: number
  readonly first: { readonly rows?: string; readonly comments?: string }
}

export interface Misfits {
  readonly errors: readonly RecordError[]
  readonly total: number
}

/** Reads one body. A reader that has thrown is used up. Faults say where: line and byte, row, or path, as the format has them. */
export interface RecordReader {
  /** True as long as every record fits and names nothing but columns; the readers of GeoJSON never say so. */
  readonly fits: boolean
  /**
   * The next bytes of the body; they are not kept. Throws NodeError once nothing after them can be judged:
   * `MalformedBody`, or `RecordsDoNotFit` with the faults so far.
   */
  push(chunk: Uint8Array): void
  /** The batches that are complete so far; the reader forgets them, so that a long body need not be held in memory. */
  take(): readonly RecordBatch[]
  /** The end of the body. Throws NodeError `RecordsDoNotFit` with at most 100 faults and their total. */
  finish(): ParsedBody
}

export interface InferOptions extends FormatOptions {
  /** User columns that the dataset has already, without system columns and event time; absent: none. */
  readonly known?: readonly Field[]
  /** Type of the event-time column that the dataset has already; absent: it is inferred. */
  readonly eventTimeType?: DataType
  /** Most columns of a dataset, system columns not counted. */
  readonly columns: number
}

export interface Inferred {
  /** Records of the sample, faulty ones included. */
  readonly records: number
  /** `known`, then the new columns (all optional) in order of first appearance; without the event-time column. */
  readonly fields: readonly Field[]
  /** The new columns alone. */
  readonly added: readonly Field[]
  readonly eventTimeType: DataType
  /** How many of `fields` came before the event-time column; absent when the sample has no such column. */
  readonly eventTimePosition?: number
  /** New columns without any value so far: not in `fields`; hand them to the reader of the same body. */
  readonly valueless: readonly string[]
  /** CSV only. */
  readonly csvHeader?: CsvHeader
  /** The column that is the event time, as the body names it; it is not in `fields`. Hand it to the reader of the same body. */
  readonly eventTime?: string
  /** New columns of texts that look like times, and are none as they are read. */
  readonly unread?: readonly UnreadTimes[]
  /** New columns of days and times that have no value in some records. */
  readonly sparse?: readonly string[]
  /** What was guessed and may be wrong (libraries/base/warnings.ts). */
  readonly warnings?: readonly string[]
}

/** A column of texts that look like times, with the first of them. */
export interface UnreadTimes {
  readonly name: string
  readonly texts: readonly string[]
  /** A pattern of the request counts for it. */
  readonly isPatterned: boolean
}

/** Looks at the first 10,000 records of a body. Faulty records are passed over: the reader reports them. */
export interface Inferrer {
  /** The next bytes; false once it has seen enough. Throws NodeError `InvalidColumnName`, `RecordsDoNotFit`. */
  push(chunk: Uint8Array): boolean
  /** The schema that the sample suggests; with `records` 0 there was nothing to infer from. */
  finish(): Inferred
}
