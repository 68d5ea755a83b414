// What the reports on files about a ledger share: what is known beside the verdict, whose key has signed, and when.

import type { FileVerdict } from '../ledger/judge-file.ts'
import type { BoundTimestamp } from '../ledger/judge-proof.ts'
import type { SignerFacts } from '../ledger/judge-receipt.ts'
import { type Witnessed, witnessedText } from '../ledger/open-head.ts'
import type { Quorum } from '../ledger/policy.ts'
import type { NamedKeys } from './keys.ts'
import { type Line, lineIf, noTime, nth, onlySigner, type Report, unchangedHead, unknownTime } from './report.ts'

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

export function unchanged(signed: Signed, known: Known): Pick<Report, 'headline' | 'isOfStranger'> {
  return unchangedHead(known.isNamed ? 'named' : isKnown(signed, known) ? 'known' : 'unknown')
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

type OfHead = Extract<LedgerVerdict, { readonly kind: 'proof' | 'head' }>

/** What is said first of what hangs on a head, which is `good` where the head is. */
export function byHead(
  verdict: Exclude<OfHead, { readonly verdict: 'altered' | 'impossible' }>,
  good: string,
  { origin, quorum, known }: { readonly origin: string; readonly quorum: Quorum; readonly known: Known },
): Pick<Report, 'verdict' | 'headline' | 'why'> {
  const { verdict: word } = verdict
  if (word === 'included' || word === 'signed') return { verdict: word, headline: good + quorumText(quorum), why: [] }
  const { reason = '' } = verdict
  if (word === 'not judged') return { verdict: word, headline: notJudged, why: policyAdvice(reason, origin, known) }
  return { verdict: word, headline: 'Witness quorum not met', why: [sentence(reason)] }
}

export function quorumText(quorum: Quorum): string {
  return quorum === 'met' ? ', as its witnesses saw it' : ', by the word of its node alone'
}

export function witnessLines(witnessed: readonly Witnessed[]): Line[] {
  return witnessed.map((one) => [`witness ${one.name}`, witnessedText(one)])
}

export function timesOf(
  lines: readonly Line[],
  { stamp, known, isJudged }: { readonly stamp?: BoundTimestamp | undefined; known: Known; isJudged: boolean },
): Line[] {
  const checked = known.stamp && `${known.stamp.at}, by ${known.stamp.authority}`
  const stamped = lineIf('time stamp', checked ?? (stamp && 'there, and not checked'))
  const all = [...lines, ...stamped]
  if (known.stamp !== undefined || all.some(([name]) => name.startsWith('witness '))) return all
  return [...all, ['', all.length === 0 ? (isJudged ? noTime : unknownTime) : onlySigner]]
}

const notIdentified = 'not identified: no key was named to compare it with'

export function signerLines({ signer, boundBy, retired }: Signed, { isNamed, keys }: Known): Line[] {
  const by = [
    isNamed ? 'the key that you named' : undefined,
    typeof boundBy === 'object'
      ? `the ${nth(boundBy.index)} entry of ${boundBy.ledger} names it as the node`
      : undefined,
    keys?.get(signer),
  ].filter((text) => text !== undefined)
  const gone = retired?.why === 'leaked' ? 'leaked' : 'changed'
  return [
    ['key', signer],
    ...[...new Set(by.length === 0 ? [notIdentified] : by)].map((text): Line => ['whose', text]),
    ...lineIf(gone, retired && `at ${retired.at}`),
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
export function datasetLines(did: string | undefined, name: string | undefined, signed: Signed, known: Known): Line[] {
  const id = lineIf('dataset', did)
  if (name === undefined) return id
  if (!isKnown(signed, known)) return [...id, ['called', `${name}, by its signer`]]
  return [['dataset', did === undefined ? name : `${name} (${did})`]]
}

export const whatBody = 'What the body was: sha256sum FILE prints this hash of the file that was sent, byte for byte.'

/** Where the node of a ledger is, by the name of the ledger; undefined where that is no host. */
export function hostOf(origin: string): string | undefined {
  const host = origin.split('/')[0] ?? ''
  return /^[A-Za-z0-9.-]+(?::[0-9]+)?$/.test(host) && !host.endsWith('.invalid') ? `https://${host}` : undefined
}
