// What goes into the engine and comes out of it: statements and what the gate found in them, tables, jobs, answers,
// options; who asks. engine.ts is the door.

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { TextPosition } from '../model/errors.ts'
import type { OutputSchema } from '../model/output-schema.ts'
import type { DataSchema } from '../model/schema.ts'
import type { Stability } from './stability.ts'

/** A construct of a statement and where it stands. */
export interface Construct {
  readonly construct: string
  /** Absent where the engine does not tell. */
  readonly position?: TextPosition
}

/** A name in a FROM clause that no CTE explains; each distinct spelling once, at its first place. */
export interface TableName {
  /** `['acme/trips']` or `['acme', 'trips']`, without quotes. */
  readonly parts: readonly string[]
  /** Parts joined by a dot. */
  readonly text: string
  readonly position?: TextPosition
}

/** What the gate found in a statement that it let through. Plain data. */
export interface Analysis {
  /** The statement as sent. */
  readonly sql: string
  readonly tables: readonly TableName[]
  /** The first construct that makes the statement irreproducible, if any. */
  readonly volatile: Construct | undefined
}

/** A run of slices out of a list that only ever grows, as a chain does. Empty when there is no data yet. */
export interface EngineFiles {
  /** Names the list: under one name, the same number is always the same file. */
  readonly list: string
  /** Number of the first file. */
  readonly from: number
  /** Number after that of the last file. */
  readonly to: number
  /** Absolute path of the Parquet slice with a number below `to`. */
  path(number: number): string
}

/** The data behind a name of the statement. */
export interface EngineTable {
  readonly parts: readonly string[]
  /** Id of the dataset that the files are of. */
  readonly dataset: string
  readonly files: EngineFiles
  /** Latest full schema (system columns included); undefined: the four system columns alone. */
  readonly schema: DataSchema | undefined
}

export interface EngineJob {
  readonly analysis: Analysis
  /** One per name of `analysis.tables`. */
  readonly tables: readonly EngineTable[]
  /** Refuse volatile statements and give every other a total order. */
  readonly reproducible: boolean
  readonly dataFormat: 'JsonAos' | 'JsonAoa' | 'JsonSoa'
  readonly wantSchema: boolean
  /** Order of keys in objects of a row: as the columns stand, or sorted by UTF-8 bytes. */
  readonly keyOrder: 'column' | 'canonical'
  /** Escape everything beyond ASCII, as canonical JSON does. */
  readonly ascii: boolean
  readonly skip: number
  readonly limit: number
}

/** Who asks. */
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
  /** Queries of callers at the same time, each in a process of its own. */
  readonly processes: number
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
