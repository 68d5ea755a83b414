// What is said of a signed receipt, and of what became of its promise.

import type { FileVerdict } from '../ledger/judge-file.ts'
import type { ReceiptFacts } from '../ledger/judge-receipt.ts'
import {
  datasetLines,
  hostOf,
  type Known,
  type LedgerVerdict,
  notJudged,
  policyAdvice,
  sentence,
  signatureIsGood,
  signerLines,
  unchanged,
  whatBody,
  whose,
  witnessLines,
} from './ledger-lines.ts'
import { bareReport, bodyLine, type Line, lineIf, onlySigner, onlyStored, placeText, type Report } from './report.ts'

type ReceiptVerdict = Exclude<
  LedgerVerdict & { readonly kind: 'receipt' | 'broken promise' },
  { readonly verdict: 'altered' | 'impossible' }
>

export function receiptReport(what: string, verdict: ReceiptVerdict, known: Known): Report {
  const { facts } = verdict
  const { head, index, shown } = facts
  return {
    ...bareReport({ what, ...receiptHead(verdict, known) }),
    about: receiptLines(facts, known),
    signed: signerLines(facts, known),
    when: receiptTimes(facts),
    checked: [
      signatureIsGood,
      ...(head === undefined || index === undefined || shown === undefined
        ? []
        : [
            `The promised block is ${placeText(index, head.ledger.size, 'entries')} of the ledger.`,
            `The ledger shows: ${shown.join(', ').replace('bodyHash', 'hash of the body')}.`,
          ]),
    ],
    open: [
      ...whose(facts, known),
      ...(shown?.length === 2
        ? ['Which body, status and offsets: that is the word of the signer. The proof of the batch shows it.']
        : []),
      whatBody,
      onlyStored,
    ],
    hashes: [...lineIf('block', facts.block?.hash), ['receipt', facts.receiptId]],
  }
}

function receiptHead(
  verdict: ReceiptVerdict,
  known: Known,
): Pick<Report, 'verdict' | 'headline' | 'why' | 'isOfStranger'> {
  const { verdict: word, facts } = verdict
  const why = 'reason' in verdict ? [sentence(verdict.reason)] : []
  if (word === 'signed') return { verdict: word, ...unchanged(facts, known), why }
  if (word === 'included' && facts.inTime === undefined)
    return { verdict: word, headline: 'The promised block is in the ledger', why: [sinceWhen] }
  if (word !== 'not judged') return { verdict: word, headline: headlines[word], why }
  const { missing, reason } = verdict
  const origin = facts.promise?.ledger ?? ''
  if (missing === 'policy') return { verdict: word, headline: notJudged, why: policyAdvice(reason, origin, known) }
  const settles = isOpenPromise(verdict) ? [howToSettle(facts.receiptId, origin, known)] : []
  return {
    verdict: word,
    headline: missing === 'ledger' ? dueHeadline : 'Signed, and not judged',
    why: [...why, ...settles],
  }
}

const headlines = {
  included: 'The promise was kept',
  'promised, not yet due': 'Promised, not yet due',
  'promise broken': 'The promise was broken',
  'witness quorum not met': 'Witness quorum not met',
} as const

const sinceWhen =
  'Nothing that was looked at shows since when. A head with it that enough witnesses signed by the deadline would.'
const dueHeadline = 'Not judged: the promise is due, and nothing here shows whether it was kept'

/** Whether the proof of its batch would settle what became of it. */
export function isOpenPromise(verdict: FileVerdict): verdict is ReceiptVerdict & { readonly verdict: 'not judged' } {
  if (verdict.kind !== 'receipt' || verdict.verdict !== 'not judged' || verdict.missing === 'policy') return false
  return verdict.facts.promise !== undefined && verdict.facts.retired === undefined
}

function howToSettle(receiptId: string, origin: string, { node }: Known): string {
  const path = `/receipts/${receiptId}/proof`
  const where = node ?? hostOf(origin)
  const ask = where === undefined ? `the node that gave it has that at ${path}` : `${where}${path}`
  return `The proof of its batch settles it, checked together with this file: ${ask}`
}

function receiptLines(facts: ReceiptFacts, known: Known): Line[] {
  const { dataset, alias, status, block, offsets, promise, bodyHash } = facts
  return [
    ...datasetLines(dataset, alias, facts, known),
    ['batch', status],
    ...lineIf('block', block && `sequence ${block.sequence} of its chain`),
    ...lineIf('rows', offsets && `offsets ${offsets.start} to ${offsets.end}`),
    ...lineIf('promise', promise && `the block is an entry of ${promise.ledger}`),
    bodyLine(bodyHash),
  ]
}

function receiptTimes({ time, promise, head, inTime = head }: ReceiptFacts): Line[] {
  const seen = witnessLines(inTime?.witnessed ?? [])
  return [
    ['signed', time],
    ...lineIf('deadline', promise && new Date(promise.byMs).toISOString()),
    ...(seen.length === 0 ? [['', onlySigner] as const] : seen),
  ]
}
