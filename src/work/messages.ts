// What the main thread and a thread of the pool tell each other.

import type { ErrorKind } from '../model/error-table.ts'
import type { ErrorDetails } from '../model/errors.ts'
import type { JobKind } from './jobs.ts'

export interface ToThread {
  readonly kind: JobKind
  readonly pieces: readonly Uint8Array[]
  readonly settings: unknown
}

export type FromThread =
  | { readonly kind: 'done'; readonly result: unknown }
  | {
      readonly kind: 'failed'
      readonly error: { readonly kind: ErrorKind; readonly message: string; readonly details: ErrorDetails }
    }
  /** The job threw what is no answer to a caller. */
  | { readonly kind: 'broken'; readonly reason: string }
