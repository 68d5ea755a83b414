// What tasks are: how each begins, what is said to it, and what it answers; pure work of values. Its code is loaded where
// it begins, so that a thread starts in a few milliseconds.

import type { ParsedBody, ReaderOptions, StreamFormat } from '../formats/format.ts'
import type { SentFacts, SentRowsOptions } from '../formats/sent-rows.ts'
import type { Column, Field } from '../model/schema.ts'
import type { ColumnChunk } from '../parquet/write-slice.ts'

export interface Tasks {
  /** The columns of a slice, hashed and encoded (column-task.ts). */
  readonly columns: {
    readonly settings: readonly Field[]
    readonly to: ToSliceColumns
    readonly from: FromSliceColumns
  }
  /** The rows of a body, read block after block (body-task.ts). */
  readonly body: { readonly settings: BodySettings; readonly to: ToBodyRows; readonly from: FromBodyRows }
}

export type TaskKind = keyof Tasks

/** The beginning of a task. */
export type Beginning = { [K in TaskKind]: { readonly task: K; readonly settings: Tasks[K]['settings'] } }[TaskKind]

/** A task that has begun. */
export interface TaskWork {
  take(message: Tasks[TaskKind]['to']): Tasks[TaskKind]['from']
}

/** Zstandard. */
export type Compress = (bytes: Uint8Array) => Uint8Array

export async function beginTask(beginning: Beginning, compress: Compress): Promise<TaskWork> {
  // Whoever has begun says what belongs to it: the types of `Task` see to that.
  if (beginning.task === 'columns') {
    const { ColumnTask } = await import('./column-task.ts')
    return new ColumnTask(beginning.settings, compress) as TaskWork
  }
  const { BodyTask, loadFormat } = await import('./body-task.ts')
  return new BodyTask(await loadFormat(beginning.settings.format), beginning.settings) as TaskWork
}

/** Rows of a column by the place of its field, or the end of all rows. */
export type ToSliceColumns =
  | { readonly kind: 'rows'; readonly columns: ReadonlyMap<number, Column> }
  | { readonly kind: 'end' }

/** Chunks for rows, digests for the end, by place. */
export type FromSliceColumns =
  | { readonly kind: 'chunks'; readonly chunks: ReadonlyMap<number, ColumnChunk> }
  | { readonly kind: 'digests'; readonly digests: ReadonlyMap<number, Uint8Array> }

export interface BodySettings {
  readonly format: Pick<StreamFormat, 'name' | 'module'>
  readonly options: ReaderOptions
  readonly sent: SentRowsOptions
  /** Columns that rows may have: event time, then user columns. */
  readonly fields: readonly Field[]
}

/** Rows as record batch messages of an Arrow stream of the columns that they bring, each in memory of its own. */
export interface RowMessages {
  readonly rows: number
  /** What the rows take as columns. */
  readonly bytes: number
  readonly cells: number
  /** Places of the columns that they bring, among those of the settings. */
  readonly places: readonly number[]
  readonly messages: readonly Uint8Array[]
}

/** The next bytes, or the end of the body. */
export type ToBodyRows = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | { readonly kind: 'end' }

/** Rows that are complete, and the memory of the bytes. `ended` answers the end; its rows are the last. */
export interface FromBodyRows {
  readonly block?: Uint8Array
  readonly rows: readonly RowMessages[]
  readonly fits: boolean
  readonly ended?: Omit<ParsedBody, 'batches'> & SentFacts
}
