// What goes into the engine and comes out of it (statements and what the gate found in them, tables, jobs, answers, who
// asks), the same as it travels between parent and child (v8 serialisation: bytes travel as bytes). engine.ts is the door.

import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import type { ErrorDetails } from '../../libraries/base/errors.ts'
import type { Parameter } from '../../libraries/model/parameters.ts'
import type { DataSchema, OutputSchema } from '../../libraries/model/schema.ts'
import type { FileOptions, FileSource } from '../../libraries/columnar/outputs/file-format.ts'
import type { Column } from '../../libraries/pgwire/catalogue/relations.ts'
import type { NativeEngine } from './native-engine.ts'
import type { Analysis, Judgement, Stability } from '../../libraries/sql/statement.ts'
import type { RowWindow } from '../../libraries/sql/selects.ts'

/** Release of DuckDB that the pinned package carries; the session refuses to start on another. */
export const engineVersion = '1.5.6'

/** Raised whenever the rewriting of statements or the rendering of answers changes bytes: golden proofs show it. */
export const normalizerVersion = 3

/** Language, version of the engine, version of the normaliser. */
export function dialectOf(version: string): string {
  return `SqlDuckDb/${version}-${normalizerVersion}`
}

export const dialect = dialectOf(engineVersion)

/** Threads split no fewer rows, two row groups: one thread finds those while others begin. */
export const splitRows = 262_144

/** A statement to be judged. */
export interface Case {
  readonly sql: string
  readonly tables: readonly Pick<EngineTable, 'parts' | 'schema'>[]
  readonly parameters: readonly Parameter[]
  readonly rows: RowWindow
}

/** What a caller may know of the catalog, as the rows of a table. */
export interface Listing {
  readonly name: string
  readonly columns: readonly Column[]
  /** Rows as JSON text: an array of arrays of texts, integers and nulls. */
  readonly rows: string
  /** Ids of the datasets that it tells of. */
  readonly tells: readonly string[]
}

/** Slices out of a list that only ever grows, as a chain does. Empty when there is no data yet. */
export interface EngineFiles {
  /** Names the list: under one name, the same number is always the same file. */
  readonly list: string
  /** Number after that of the last file. */
  readonly to: number
  /** Numbers of the files that are meant, ascending; all below `to` where there are none. */
  readonly only?: readonly number[]
  /** Absolute path of the Parquet slice with a number below `to`. */
  path(number: number): string
  /** Where the files have to be made: those that a statement is given in place of these, until it has ended. */
  open?(signal: AbortSignal): Promise<OpenedFiles>
}

/** Files that are there until they are closed; `suspect` where a statement over them failed. */
export interface OpenedFiles extends Omit<EngineFiles, 'open'> {
  close(how: 'done' | 'suspect'): void
}

/** A condition up to its value, in SQL. */
export type Bound = readonly [name: string, value: string]

/** The data behind a name of the statement. */
export interface EngineTable {
  readonly parts: readonly string[]
  /** Id of the dataset that the files are of. */
  readonly dataset: string
  readonly files: EngineFiles
  /** Latest full schema (system columns included); undefined: the four system columns alone. */
  readonly schema: DataSchema | undefined
  /** Rows of the files that do not meet all of these do not matter. */
  readonly bounds?: readonly Bound[]
  /** How many rows the files have: plans are made by that, and not by what a process happens to know of them. */
  readonly rows?: number
  /** In place of files: so many rows with their offsets from 0 on, and null in all other columns. */
  readonly offsetsAlone?: number
}

export interface EngineJob {
  readonly analysis: Analysis
  /** One per name of `analysis.tables`. */
  readonly tables: readonly EngineTable[]
  /** Refuse volatile statements and give every other a total order. */
  readonly reproducible: boolean
  /** Give the statement a total order all the same; `whereSplit`: if threads may split it. */
  readonly ordered?: boolean | 'whereSplit'
  /** Name of an output format. */
  readonly dataFormat: string
  readonly wantSchema: boolean
  /** Order of keys in objects of a row: as the columns stand, or sorted by UTF-8 bytes. */
  readonly keyOrder: 'column' | 'canonical'
  /** Escape everything beyond ASCII, as canonical JSON does. */
  readonly ascii: boolean
  readonly skip: number
  readonly limit: number
  /** Of the rows as text; the limit of that name where absent. */
  readonly resultBytes?: number
  /** It was signed before: a decimal of more digits than its type has, which is refused since, is printed as it was. */
  readonly isSigned?: boolean
  /** One for each of `analysis.parameters`; none by default. */
  readonly parameters?: readonly Parameter[]
  /** One for each of `analysis.listings`; none by default. */
  readonly listings?: readonly Listing[]
}

/** A statement whose rows go out as a file while they are found. */
export interface StreamJob extends Pick<EngineJob, 'analysis' | 'tables' | 'skip' | 'parameters' | 'listings'> {
  readonly ordered?: boolean
  /** Name of a file format, and its module where it is of a feature. */
  readonly format: string
  readonly module?: string | undefined
  readonly options: FileOptions
  readonly source?: FileSource | undefined
  /** All rows when undefined. */
  readonly limit: number | undefined
  /** Refuse a statement that does more than filter and project one dataset, whose rows come in the order of offsets. */
  readonly inOffsetOrder: boolean
  /** Nobody sees a byte before the last one is there: an error that comes late is told like an early one. */
  readonly isKept?: boolean
  /** Nothing is run: the format tells what the statement takes and gives. */
  readonly describes?: boolean | undefined
}

/** How a streamed answer ended: whole, as far as `limit` goes. */
export interface StreamEnd {
  readonly rows: number
  /** There were more rows than `limit`. */
  readonly truncated: boolean
}

/** What is known of a streamed answer before its first byte. */
export interface StreamStart {
  readonly stability: Stability
  readonly first: Uint8Array
  /** Set when `first` is all of it. */
  readonly end: StreamEnd | undefined
}

/** The caller of a query. */
export interface EngineCaller {
  /** Callers of one key take turns as one; those that share its first parts share the turn of those. */
  readonly key: readonly string[]
  /** Whether the caller may read a dataset, as rights are now. */
  mayRead(dataset: string): boolean
}

/** Where the bytes of a caller's answers are counted. */
export interface AnswerRoom {
  /** An answer of so many bytes is about to be taken in. Throws NodeError `Saturated`. */
  take(bytes: number): void
}

/** How a job is asked for. */
export interface Asking {
  readonly caller: EngineCaller
  readonly signal: AbortSignal
  /** Absent: the answer is not for a caller. */
  readonly room?: AnswerRoom
  /** Told when a process has the job. */
  readonly begins?: () => void
  /** Its statements may ask the catalogue of PostgreSQL. */
  readonly speaks?: 'postgres'
}

export interface EngineAnswer {
  /** JSON text of the `data` member. */
  readonly data: Uint8Array
  /** Columns of the answer, where they were asked for. */
  readonly schema?: OutputSchema
  readonly rows: number
  /** There were more rows than `limit`. */
  readonly truncated: boolean
  readonly stability: Stability
}

export interface EngineOptions {
  readonly native: NativeEngine
  /** Threads that the statements at work have together. */
  readonly cores: number
  /** Queries of callers at the same time, each in a process of its own. */
  readonly processes: number
  /** Processes that stand ready beside those at work while there is work: 1 where this is absent. */
  readonly spares?: number
  /** Streamed answers at the same time, each in a process of its own beside those. */
  readonly exportSlots: number
  readonly exportMs: number
  /** Of one streamed answer. */
  readonly exportBytes: number
  readonly queryMs: number
  /** For the engine's own buffers; the process is killed at half as much again (at least 512 MiB more). */
  readonly memoryBytes: number
  readonly resultBytes: number
  /** Queries that may wait for a free process. */
  readonly queueLimit: number
  /** Of the room in that queue that others leave free, what one caller may take. */
  readonly callerSharePercent: number
  /** Whether anyone at all may read a dataset, as things are now. */
  readonly isOpen: (dataset: string) => boolean
  /** Directories that the children may read. */
  readonly dataRoots: readonly string[]
  readonly logger: Logger
  readonly clock: Clock
}

/** A table as it travels (node/engine/process/file-lists.ts). */
export interface PlainTable extends Omit<EngineTable, 'files'> {
  readonly list: string
  readonly files:
    | {
        readonly kind: 'all'
        readonly to: number
        /** Paths that follow those of the list that the process holds. */
        readonly more: readonly string[]
        /** Path of the file `to - 1`, where there is one: both ends agree on it. */
        readonly last: string | undefined
      }
    | { readonly kind: 'some'; readonly numbers: readonly number[]; readonly paths: readonly string[] }
}

/** What of a job travels in a form of its own. */
interface PlainTables {
  readonly tables: readonly PlainTable[]
  /** Drop all lists of files first. */
  readonly forget: boolean
}

/** Jobs as they travel. */
export interface PlainJob extends Omit<EngineJob, 'tables'>, PlainTables {
  /** As many as are free for it. Its answer is the same with any number. */
  readonly threads: number
}
export interface PlainStreamJob extends Omit<StreamJob, 'tables'>, PlainTables {}

/** Argument of a process: the state of the files of its engine, =, and the folder of its package. */
export const engineFlag = '--engine='

export interface ChildSettings {
  /** What the binding has to be. */
  readonly engineVersion: string
  readonly memoryBytes: number
  readonly killBytes: number
  readonly resultBytes: number
  readonly exportBytes: number
  readonly dataRoots: readonly string[]
}

/** Bytes of a streamed answer that a process sends ahead of what was taken from its parent. */
export const streamWindowBytes = 1024 * 1024

/** A process is sent one `analyze`, `judge`, `run` or `stream` at a time. */
export type ToChild =
  | { readonly kind: 'settings'; readonly settings: ChildSettings }
  | ({ readonly kind: 'analyze' } & Pick<Analysis, 'sql' | 'speaks'>)
  | { readonly kind: 'judge'; readonly of: Case }
  | { readonly kind: 'run'; readonly job: PlainJob }
  | { readonly kind: 'stream'; readonly job: PlainStreamJob }
  /** So many bytes of a streamed answer are out of the parent's hands. */
  | { readonly kind: 'taken'; readonly bytes: number }
  | { readonly kind: 'interrupt' }
  /** Whether the rest of an answer is to be sent. */
  | { readonly kind: 'rest'; readonly wanted: boolean }

export interface PlainError {
  readonly kind: ErrorKind
  readonly message: string
  readonly details: ErrorDetails
  /** What the operator reads of a failure that is no caller's fault. */
  readonly reason?: string
  /** The engine may be in any state: the process is not used again. */
  readonly broken: boolean
}

/**
 * What `first` lacks of `data` comes in pieces, so that the parent's loop never stalls on one message, and only when the
 * parent has said that it has room for it.
 */
export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'analysis'; readonly analysis: Analysis }
  | { readonly kind: 'judged'; readonly judgement: Judgement }
  | {
      readonly kind: 'answer'
      readonly rows: number
      readonly truncated: boolean
      readonly stability: Stability
      readonly schema: OutputSchema | undefined
      readonly dataBytes: number
      readonly first: Uint8Array
    }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** The first bytes of a streamed answer; then `more`, and `ended` unless these were all. */
  | { readonly kind: 'begun'; readonly start: StreamStart }
  | { readonly kind: 'more'; readonly bytes: Uint8Array }
  | { readonly kind: 'ended'; readonly end: StreamEnd }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'overgrown' }
  /** Before an answer, or at rest: memory does not come back, so the next query should find a fresh process. */
  | { readonly kind: 'worn' }

/** The pattern that matches `path` alone: the engine takes every path for one. */
export function patternOf(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]')
}
