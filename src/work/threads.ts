// What both kinds of threads share: how one is started, and how an error of its work is told across. The pool of jobs
// (thread-pool.ts) and conversations (talks.ts) begin here.

import { Worker } from 'node:worker_threads'
import type { ErrorKind } from '../model/error-table.ts'
import { type ErrorDetails, NodeError } from '../model/errors.ts'

/** At its heap limit a thread gets 16 MiB more to end in: what one collection moves must fit, or the process ends too. */
const youngMiB = 12

/** Starts a thread whose heap holds `heapMiB`, without the arrays that it is handed; `entry` lies beside this file. */
export function startThread(entry: 'thread' | 'talk-thread', heapMiB: number): Worker {
  // As TypeScript in a checkout, as JavaScript in the published package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${entry}.${extension}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngMiB },
    execArgv: [],
    env: {},
  })
}

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
