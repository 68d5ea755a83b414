// What the reports on files about a ledger share: what is known beside the verdict, whose key has signed, and when.

import type { FileVerdict } from '../ledger/judge-file.ts'
import type { BoundTimestamp } from '../ledger/judge-proof.ts'
import type { SignerFacts } from '../ledger/judge-receipt.ts'
import { type Witnessed, witnessedText } from '../ledger/open-head.ts'
import type { Quorum } from '../ledger/policy.ts'
import type { NamedKeys } from './keys.ts'
import { type Line, noTime, onlySigner, unknownTime } from './report.ts'

export type LedgerVerdict = Exclude<FileVerdict, { readonly kind: 'other' }>

/** What is known beside the verdict. */
export interface Known {
  /** Where it may be had; undefined where nobody knows. */
  readonly node?: string | undefined
  /** The reader has named the key that must have signed. */
  readonly isNamed: boolean
  /** Whose keys are known. */
  readonly keys?: NamedKeys | undefined
  /** Remarks on what stands in the file beside what is signed. */
  readonly beside?: readonly string[]
  /** What a transport of texts has changed. */
  readonly changes?: readonly string[]
  /** What came of a time stamp that was checked. */
  readonly stamp?: { readonly at: string; readonly authority: string }
}

/** Begins with a capital and ends with a full stop. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`
}

export function unchanged({ isNamed }: Known): string {
  return `Unchanged since it was signed${isNamed ? ' by the key that you named' : ''}`
}

/** What a reader does who has said nothing of whom to trust. */
export function policyAdvice(reason: string, origin: string, { node }: Pick<Known, 'node'>): string[] {
  const host = node ?? hostOf(origin)
  const where =
    host === undefined ? 'the node that the file comes from has it at /ledger/policy' : `${host}/ledger/policy`
  return [
    sentence(reason),
    `A policy is two lines: "log" names the key of the ledger, "quorum" how many witnesses must have signed. Of the node itself: ${where}.`,
    'That is the word of the node about itself: compare it with what its witnesses, its operator or an earlier reader have. Then check again with it.',
  ]
}

export const headIsSigned = 'The head is signed by the ledger, with the key that the policy has for it.'

export const signatureIsGood = 'The signature is good, by the strictest rule.'

export const notJudged = 'Not judged: whom to trust is yours to say'

export function quorumText(quorum: Quorum): string {
  return quorum === 'met' ? ', as its witnesses saw it' : ', by the word of its node alone'
}

export function witnessLines(witnessed: readonly Witnessed[]): Line[] {
  return witnessed.map((one) => [`witness ${one.name}`, witnessedText(one)])
}

export function timesOf(
  lines: readonly Line[],
  {
    stamp,
    known,
    isJudged,
  }: { readonly stamp?: BoundTimestamp | undefined; readonly known: Known; readonly isJudged: boolean },
): Line[] {
  const stamped: Line[] =
    known.stamp !== undefined
      ? [['time stamp', `${known.stamp.at}, by ${known.stamp.authority}`]]
      : stamp === undefined
        ? []
        : [['time stamp', 'there, and not checked']]
  const all = [...lines, ...stamped]
  if (known.stamp !== undefined || all.some(([name]) => name.startsWith('witness '))) return all
  return [...all, ['', all.length === 0 ? (isJudged ? noTime : unknownTime) : onlySigner]]
}

export function signerLines(
  { signer, boundBy, retired }: SignerFacts & { readonly signer: string },
  { isNamed, keys }: Known,
): Line[] {
  const by = [
    ...(isNamed ? ['the key that you named'] : []),
    ...(typeof boundBy === 'object' ? [`entry ${boundBy.index} of ${boundBy.ledger} names it as the node`] : []),
    ...(keys?.has(signer) ? [keys.get(signer) ?? ''] : []),
  ]
  return [
    ['key', signer],
    ...[...new Set(by.length === 0 ? ['not identified: no key was named to compare it with'] : by)].map(
      (text): Line => ['whose', text],
    ),
    ...(retired === undefined ? [] : [[retired.why === 'leaked' ? 'leaked' : 'changed', `at ${retired.at}`] as const]),
  ]
}

export function whose(signed: Signed, known: Known): string[] {
  if (isKnown(signed, known)) return []
  return ['Whose key it is: anyone can make one. Compare it with one that the signer has told you by another way.']
}

type Signed = SignerFacts & { readonly signer: string }

function isKnown({ signer, boundBy }: Signed, { isNamed, keys }: Known): boolean {
  return isNamed || boundBy !== undefined || keys?.has(signer) === true
}

/** A dataset, by its name first where it is known whose word that is. */
export function datasetLines(did: string, name: string | undefined, signed: Signed, known: Known): Line[] {
  if (name === undefined) return [['dataset', did]]
  if (isKnown(signed, known)) return [['dataset', `${name} (${did})`]]
  return [
    ['dataset', did],
    ['called', `${name}, by its signer`],
  ]
}

/** Where the node of a ledger is, by the name of the ledger; undefined where that is no host. */
export function hostOf(origin: string): string | undefined {
  const host = origin.split('/')[0] ?? ''
  return /^[A-Za-z0-9.-]+(?::[0-9]+)?$/.test(host) && !host.endsWith('.invalid') ? `https://${host}` : undefined
}
