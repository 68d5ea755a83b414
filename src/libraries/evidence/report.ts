// What is said of a file of evidence, in the order in which every judge says it: the verdict, its rows and what they are about, who
// signed, when, what was checked and what was not. A report is texts alone. The program that shows it decides how it looks, and escapes it.

import type { Relation } from '../proof/explain.ts'
import type { FirstRows } from './rows.ts'

/** The exit code of each verdict (docs/spec/ledger.md). */
export const verdictCodes = {
  verified: 0,
  included: 0,
  signed: 0,
  'promised, not yet due': 0,
  'no evidence': 5,
  altered: 10,
  impossible: 11,
  'promise broken': 12,
  'witness quorum not met': 13,
  'not judged': 14,
} as const

/** Of two exit codes that which counts: nothing hides what is altered or broken, else the larger. */
export function worseCode(one: number, other: number): number {
  const worst = [verdictCodes.altered, verdictCodes['promise broken']].find((code) => code === one || code === other)
  return worst ?? Math.max(one, other)
}

/** The verdict that goes with a code of 10 and more; `failed` for others. */
export function wordOfCode(code: number): string {
  return Object.entries(verdictCodes).find(([, one]) => one === code && one >= verdictCodes.altered)?.[0] ?? 'failed'
}

export type Verdict = keyof typeof verdictCodes

/** A name and a text. */
export type Line = readonly [name: string, text: string]

/** A line of this text, where there is one. */
export function lineIf(name: string, text: string | undefined): Line[] {
  return text === undefined ? [] : [[name, text]]
}

/** The hash of a body, as it is printed of the file that was sent. */
export function bodyLine(hash: string): Line {
  const [, hex] = /^f1220([0-9a-f]{64})$/.exec(hash) ?? []
  return hex === undefined ? ['hash of the body', hash] : ['SHA-256 of the body', hex]
}

export interface ShownRows extends FirstRows {
  /** Of these are the rows that are shown. */
  readonly total: number
}

export interface Report {
  /** What the file is, such as `a signed receipt`. */
  readonly what: string
  readonly verdict: Verdict
  /** The verdict for a person, one line. */
  readonly headline: string
  /** Why, and what to do next, where the verdict is not the whole answer. */
  readonly why: readonly string[]
  readonly rows?: ShownRows
  readonly about: readonly Line[]
  readonly signed: readonly Line[]
  readonly when: readonly Line[]
  readonly checked: readonly string[]
  /** What was not checked, and how it is. */
  readonly open: readonly string[]
  /** What is odd about the file and changes nothing. */
  readonly remarks: readonly string[]
  readonly hashes: readonly Line[]
  /** It is good by itself, and signed by a key that nobody here knows. */
  readonly isOfStranger?: boolean
}

/** `good`, `bad`, or `open`: neither. */
export function toneOf({ verdict, isOfStranger }: Pick<Report, 'verdict' | 'isOfStranger'>): 'good' | 'bad' | 'open' {
  if (verdictCodes[verdict] === 0) return isOfStranger === true ? 'open' : 'good'
  return verdict === 'altered' || verdict === 'promise broken' ? 'bad' : 'open'
}

/** A report that has nothing to say yet beside its verdict. */
export function bareReport(
  said: Pick<Report, 'what' | 'verdict' | 'headline'> & { readonly why?: readonly string[] },
): Report {
  return { why: [], about: [], signed: [], when: [], checked: [], open: [], remarks: [], hashes: [], ...said }
}

const hidden = 'Its content is not shown here, because nobody vouches for it.'

/** Of what is not as it was signed nothing is shown: nobody vouches for it. */
export function alteredReport(what: string, reasons: readonly string[]): Report {
  // Those of a part say it, too.
  const why = reasons.filter((one) => one !== hidden)
  return bareReport({ what, verdict: 'altered', headline: 'Do not trust this file', why: [...why, hidden] })
}

/** Of files that came by mail or through an editor. */
export function changeRemark(changes: readonly string[]): string[] {
  if (changes.length === 0) return []
  return [`A transport of texts has changed the file (${changes.join(', ')}). It was judged by its content.`]
}

/** What is said first of what is good by itself, by the relation of its key to the reader. */
export function unchangedHead(by: Relation): Pick<Report, 'headline' | 'isOfStranger'> {
  const whose = {
    named: ' by the key that you named',
    unknown: ' by a key that nobody here knows',
    self: '',
    known: '',
  }
  return { headline: `Unchanged since it was signed${whose[by]}`, ...(by === 'unknown' && { isOfStranger: true }) }
}

/** The place of an item that is counted from 0, such as `the 4th of 12 rows`. */
export function placeText(index: number, count: number, unit: string): string {
  return count === 1 ? 'the only one' : `the ${nth(index)} of ${count} ${unit}`
}

/** `1st` of 0. */
export function nth(index: number): string {
  const number = index + 1
  return `${number}${(/1\d$/.test(`${number}`) ? undefined : ['th', 'st', 'nd', 'rd'][number % 10]) ?? 'th'}`
}

export const onlyStored = 'That what was recorded is true: a proof binds what was stored, not what happened.'
export const onlySigner = 'No time is shown by anybody but the signer.'
export const unknownTime = 'No time is known: it is not said whose signatures count.'
export const noTime = 'No time is shown: no witness has signed, and there is no time stamp.'
