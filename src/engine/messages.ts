// What parent and child say to each other over the IPC channel (v8 serialisation: bytes travel as bytes).

import type { ErrorDetails } from '../model/errors.ts'
import type { ErrorKind } from '../model/error-table.ts'
import type { OutputSchema } from '../model/output-schema.ts'
import type { Analysis, EngineJob, EngineTable } from './engine-job.ts'
import type { Stability } from './stability.ts'

/** A table whose list of files is sent once to each process (file-lists.ts). */
export interface PlainTable {
  readonly parts: readonly string[]
  readonly schema: EngineTable['schema']
  readonly list: string
  readonly from: number
  readonly to: number
  /** Paths that follow those of the list that the process holds. */
  readonly more: readonly string[]
  /** Path of the file `to - 1`, where there is one: both ends agree on it. */
  readonly last: string | undefined
}

/** A job as it travels. */
export interface PlainJob extends Omit<EngineJob, 'tables'> {
  readonly tables: readonly PlainTable[]
  /** Drop all lists of files first. */
  readonly forget: boolean
}

export interface ChildSettings {
  readonly memoryBytes: number
  readonly killBytes: number
  readonly resultBytes: number
  readonly dataRoots: readonly string[]
}

export type ToChild =
  | { readonly kind: 'settings'; readonly settings: ChildSettings }
  | { readonly kind: 'analyze'; readonly id: number; readonly sql: string }
  | { readonly kind: 'run'; readonly id: number; readonly job: PlainJob }
  | { readonly kind: 'interrupt' }
  /** Whether the rest of an answer is to be sent. */
  | { readonly kind: 'rest'; readonly id: number; readonly wanted: boolean }

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
  | { readonly kind: 'analysis'; readonly id: number; readonly analysis: Analysis }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly rows: number
      readonly truncated: boolean
      readonly stability: Stability
      readonly schema: OutputSchema | undefined
      readonly dataBytes: number
      readonly first: Uint8Array
    }
  | { readonly kind: 'piece'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly id: number; readonly error: PlainError }
  | { readonly kind: 'overgrown' }
  /** Before an answer: memory did not come back, so the next query should find a fresh process. */
  | { readonly kind: 'worn' }
