// What `verify` says of a file of evidence, and the steps that its kinds share: which key has signed, and whether the head is good by the policy.

import type { JsonObject } from '../index.ts'
import { type OpenedHead, openHead, type Witnessed } from '../libraries/ledger/open-head.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, type ExitCode, exitCodes } from './failure.ts'
import { objectOf } from './json-values.ts'
import type { KnownPolicy } from './ledger-policy.ts'

/** What is said of a file. */
export interface Judged {
  readonly verdict: string
  readonly code: ExitCode
  /** Why, where the code is not 0, or what is still open. */
  readonly reason?: string | undefined
  /** What the file shows. */
  readonly facts?: Parameters<typeof objectOf>[0]
}

/** What the files are judged with. */
export interface Judging {
  readonly context: CommandContext
  readonly options: { readonly offline?: boolean; readonly signer?: string }
  /** Throws CommandFailure where there is none. */
  readonly policy: () => Promise<KnownPolicy>
  readonly nowMs: number
}

/** A document whose signature is good. */
export function signed(signer: string, { options }: Pick<Judging, 'options'>, facts: Judged['facts']): Judged {
  const fault = signerFault(signer, options)
  if (fault !== undefined) return { ...fault, facts: { signer } }
  const reason =
    options.signer === undefined ? `It is signed by ${signer}. Name the signer you expect with --signer.` : undefined
  return { verdict: 'signed', code: exitCodes.done, reason, facts: { signer, ...facts } }
}

/** Undefined where the signer is the one that is expected, or none is. */
export function signerFault(signer: string, options: Judging['options']): Judged | undefined {
  if (options.signer === undefined || options.signer === signer) return undefined
  const reason = `It is signed by ${signer}, not by ${options.signer}.`
  return { verdict: 'altered', code: exitCodes.verificationFailed, reason }
}

export function witnessedMembers(witnessed: readonly Witnessed[]): JsonObject[] {
  return witnessed.map(({ name, at }) => objectOf({ name, at: new Date(at * 1000).toISOString() }))
}

/** A head that is opened. Throws CommandFailure otherwise. */
export function openedHead(bytes: Uint8Array, { policy, name }: KnownPolicy): OpenedHead & { readonly ok: true } {
  const opened = openHead(bytes, policy)
  if (opened.ok) return opened
  const code = opened.fault === 'unknown' ? exitCodes.verificationImpossible : exitCodes.verificationFailed
  throw new CommandFailure(code, `The head is not good by the policy ${name}: ${opened.reason}.`)
}
