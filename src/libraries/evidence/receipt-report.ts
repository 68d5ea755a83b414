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
  whose,
  witnessLines,
} from './ledger-lines.ts'
import { bareReport, type Line, onlySigner, onlyStored, type Report } from './report.ts'

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
      ...(head === undefined || index === undefined
        ? []
        : [`The promised block is entry ${index} of ${head.ledger.size} of the ledger.`]),
      ...(shown === undefined ? [] : [`The ledger shows: ${shown.join(', ')}.`]),
    ],
    open: [
      ...whose(facts, known),
      ...(shown?.length === 2
        ? ['Which body, status and offsets: that is the word of the signer. The proof of the batch shows it.']
        : []),
      onlyStored,
    ],
    hashes: [
      ['body', facts.bodyHash],
      ...(facts.block === undefined ? [] : [['block', facts.block.hash] as const]),
      ['receipt', facts.receiptId],
    ],
  }
}

function receiptHead(verdict: ReceiptVerdict, known: Known): Pick<Report, 'verdict' | 'headline' | 'why'> {
  switch (verdict.verdict) {
    case 'included':
      return { verdict: 'included', headline: 'The promise was kept', why: [] }
    case 'signed':
      return { verdict: 'signed', headline: unchanged(known), why: [] }
    case 'promised, not yet due':
      return { verdict: verdict.verdict, headline: 'Promised, not yet due', why: [sentence(verdict.reason)] }
    case 'promise broken':
      return { verdict: verdict.verdict, headline: 'The promise was broken', why: [sentence(verdict.reason)] }
    case 'witness quorum not met':
      return { verdict: verdict.verdict, headline: 'Witness quorum not met', why: [sentence(verdict.reason)] }
    case 'not judged': {
      const { missing, reason, facts } = verdict
      const origin = facts.promise?.ledger ?? ''
      if (missing === 'policy')
        return { verdict: verdict.verdict, headline: notJudged, why: policyAdvice(reason, origin, known) }
      const isOpen = isOpenPromise(verdict)
      return {
        verdict: verdict.verdict,
        headline: missing === 'ledger' ? dueHeadline : 'Signed, and not judged',
        why: [sentence(reason), ...(isOpen ? [howToSettle(facts.receiptId, origin, known)] : [])],
      }
    }
  }
}

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
  const { dataset, alias, status, block, offsets, promise } = facts
  return [
    ...datasetLines(dataset, alias, facts, known),
    ['batch', status],
    ...(block === undefined ? [] : [['block', `${block.sequence} of its chain`] as const]),
    ...(offsets === undefined ? [] : [['rows', `offsets ${offsets.start} to ${offsets.end}`] as const]),
    ...(promise === undefined ? [] : [['promise', `the block is an entry of ${promise.ledger}`] as const]),
  ]
}

function receiptTimes({ time, promise, head }: ReceiptFacts): Line[] {
  const seen = witnessLines(head?.witnessed ?? [])
  return [
    ['signed', time],
    ...(promise === undefined ? [] : [['promised by', new Date(promise.byMs).toISOString()] as const]),
    ...(seen.length === 0 ? [['', onlySigner] as const] : seen),
  ]
}
