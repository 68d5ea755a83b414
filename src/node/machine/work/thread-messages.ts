// What is said between a pool and its threads: jobs, tasks, answers, errors of the work.

import type { ErrorKind } from '../../../libraries/base/error-table.ts'
import { type ErrorDetails, NodeError } from '../../../libraries/base/errors.ts'
import type { JobKind } from './jobs.ts'
import type { Beginning, TaskKind, Tasks } from './tasks.ts'

/** `begin` has no answer: what is wrong with it is told when the task is first spoken to. */
export type ToThread =
  | { readonly kind: 'job'; readonly job: JobKind; readonly pieces: readonly Uint8Array[]; readonly settings: unknown }
  | { readonly kind: 'begin'; readonly beginning: Beginning }
  | { readonly kind: 'say'; readonly message: Tasks[TaskKind]['to'] }

/** Of a job its result, of a task what it says. */
export type FromThread = { readonly kind: 'answer'; readonly answer: unknown } | ToldError

/** An error of the work, as a thread tells it. */
export type ToldError =
  | {
      readonly kind: 'failed'
      readonly error: { readonly kind: ErrorKind; readonly message: string; readonly details: ErrorDetails }
    }
  /** The work threw what is no answer to a caller. */
  | { readonly kind: 'broken'; readonly reason: string }

export function toldError(error: unknown): ToldError {
  if (!(error instanceof NodeError)) return { kind: 'broken', reason: String(error) }
  const { cause: _, ...details } = error.details
  return { kind: 'failed', error: { kind: error.kind, message: error.message, details } }
}

/** The error of the work again, in the thread that asked. */
export function nodeErrorOf({ error }: Extract<ToldError, { kind: 'failed' }>): NodeError {
  return new NodeError(error.kind, error.message, error.details)
}
