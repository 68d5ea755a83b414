// What tasks are: how each begins, what is said to it, and what it answers; pure work of values. Its code is loaded where
// it begins, so that a thread starts in a few milliseconds.

import type { Field } from '../../../libraries/model/schema.ts'
import type { BodySettings, FromBodyRows, ToBodyRows } from './body-task.ts'
import type { Compress, FromSliceColumns, ToSliceColumns } from './column-task.ts'
import type { Handover } from './handover.ts'
import type { FromRows, RowsSettings, ToRows } from './rows-task.ts'

export interface Tasks {
  /** The columns of a slice, hashed and encoded (column-task.ts). */
  readonly columns: {
    readonly settings: readonly Field[]
    readonly to: ToSliceColumns
    readonly from: FromSliceColumns
  }
  /** The rows of a large batch in the log, in encoded row groups (rows-task.ts). */
  readonly rows: { readonly settings: RowsSettings; readonly to: ToRows; readonly from: FromRows }
  /** The rows of a body, read block after block (body-task.ts). */
  readonly body: { readonly settings: BodySettings; readonly to: ToBodyRows; readonly from: FromBodyRows }
}

export type TaskKind = keyof Tasks

/** The beginning of a task. */
export type Beginning = { [K in TaskKind]: { readonly task: K; readonly settings: Tasks[K]['settings'] } }[TaskKind]

/** A task that has begun. */
export interface TaskWork {
  /** The answer, which may hand memory over. */
  take(message: Tasks[TaskKind]['to'], over: Handover): Tasks[TaskKind]['from'] | Promise<Tasks[TaskKind]['from']>
}

export async function beginTask(beginning: Beginning, compress: Compress): Promise<TaskWork> {
  if (beginning.task === 'columns') {
    const { ColumnTask } = await import('./column-task.ts')
    // `as`: the beginning names the task, and the types of `Tasks` say which messages it takes.
    return new ColumnTask(beginning.settings, compress) as TaskWork
  }
  if (beginning.task === 'rows') {
    const { RowsTask } = await import('./rows-task.ts')
    // `as`: the same.
    return new RowsTask(beginning.settings, compress) as TaskWork
  }
  const { BodyTask, loadFormat } = await import('./body-task.ts')
  // `as`: the same.
  return new BodyTask(await loadFormat(beginning.settings.format), beginning.settings) as TaskWork
}
