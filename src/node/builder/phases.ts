// The phases of a dataset in the memory of a builder, and which may follow each. worker.ts says what is done in them.

import type { HaltReason } from '../../libraries/base/errors.ts'

/** Why a dataset stopped, and its first message that is not committed. */
export interface DatasetHalt {
  readonly reason: HaltReason
  readonly what: string
  readonly position: number
  /** The message at fault, where there is one: an operator may reject it. */
  readonly message?: number
}

/** `replayFrom`: first message to fold again, which the log has to keep until then. */
export type Phase =
  | { readonly name: 'loading' | 'following' | 'committing' }
  | { readonly name: 'stale' | 'rebasing'; readonly replayFrom: number }
  | { readonly name: 'halted'; readonly halt: DatasetHalt }

/** Which phases may follow each. */
export const transitions: Readonly<Record<Phase['name'], readonly Phase['name'][]>> = {
  loading: ['following', 'halted'],
  following: ['committing', 'stale', 'halted'],
  committing: ['following', 'stale', 'halted'],
  stale: ['rebasing', 'halted'],
  rebasing: ['following', 'committing', 'stale', 'halted'],
  halted: ['stale'],
}
