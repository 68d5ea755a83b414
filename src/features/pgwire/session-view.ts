// What the parts of a session see of it.

import type { Caller } from '../../node/answers/pin.ts'
import type { ReplicaContext } from '../../node/http/context.ts'
import type { SessionSettings } from '../../libraries/pgwire/settings.ts'
import type { Transaction } from '../../libraries/pgwire/transaction.ts'
import type { Login } from './login.ts'
import type { Portals } from './portals.ts'
import type { Wire } from './wire.ts'

export interface SessionParts {
  readonly context: ReplicaContext
  readonly wire: Wire
  readonly login: Login
  readonly settings: SessionSettings
  /** Of the database that it is connected to; undefined for all accounts. */
  readonly account: string | undefined
  /** The number that its client cancels it with. */
  readonly processId: number
  /** Where this node is reached over HTTP. */
  readonly address: string
}

/** A statement that runs for its caller. */
export interface Running {
  readonly caller: Caller
  readonly ending: AbortController
}

export interface SessionView {
  readonly parts: SessionParts
  readonly transaction: Transaction
  readonly portals: Portals
  /** A text of several statements runs, which is a transaction of its own. */
  readonly isText: boolean
  /** Of the statement before, for `proofstream_proof()`. */
  lastProof: string | undefined
  /** Does `work` as the caller, within his time. His token is looked at again. */
  running<T>(work: (running: Running) => Promise<T>, ending?: AbortController): Promise<T>
  /** As PREPARE says. */
  prepare(name: string, sql: string, types: readonly number[]): Promise<void>
  /** Tells the client what he does not wait for. */
  readonly notice: (word: 'NOTICE' | 'WARNING', state: string, message: string) => void
  /** Tells the client of settings that have changed. */
  readonly tell: (names: readonly string[]) => void
}
