// What is said of a file about a ledger: a proof, a head, a statement, a refusal, a receipt and what became of its promise.

import { base64Text } from '../base/base64.ts'
import type { LedgerFile } from '../ledger/file-kind.ts'
import {
  byHead,
  datasetLines,
  headIsSigned,
  type Known,
  type LedgerVerdict,
  sentence,
  signatureIsGood,
  signerLines,
  timesOf,
  unchanged,
  whatBody,
  whose,
  witnessLines,
} from './ledger-lines.ts'
import { proofReport } from './proof-report.ts'
import { receiptReport } from './receipt-report.ts'
import { alteredReport, bareReport, bodyLine, changeRemark, type Line, onlySigner, type Report } from './report.ts'

const names: Readonly<Record<LedgerVerdict['kind'], string>> = {
  proof: 'a proof of a ledger',
  head: 'a signed head of a ledger',
  statement: 'a statement of a node about itself',
  refusal: 'a signed refusal of a batch',
  receipt: 'a signed receipt of a batch',
  'broken promise': 'a receipt with what shows that its promise was broken',
  'too large': 'JSON about a ledger',
}

export function ledgerReport(verdict: LedgerVerdict, known: Known): Report {
  const { changes = [], beside = [] } = known
  const isTold = verdict.verdict !== 'altered'
  return {
    ...reportOf(verdict, known),
    remarks: [...changeRemark(changes), ...(isTold ? beside : [])],
  }
}

/** On what stands in a file beside what is signed: nothing was judged by it. */
export function unsignedRemarks(file: LedgerFile): string[] {
  const policy = file.kind === 'receipt' ? file.withProofs?.get('policy') : undefined
  const within = 'within' in file ? file.within : undefined
  const lines = typeof policy === 'string' ? policy.split('\n').filter((line) => line.trim() !== '') : []
  return [
    ...(within === undefined
      ? []
      : [`Only its member "${within}" is signed. Nobody vouches for the rest of the file.`]),
    ...(typeof policy === 'string'
      ? [`The sender suggests a policy. It counts for nothing unless you give it yourself: ${lines.join(' | ')}`]
      : []),
  ]
}

function reportOf(verdict: LedgerVerdict, known: Known): Report {
  const what = nameOf(verdict)
  if (verdict.verdict === 'altered') return alteredReport(what, [notSigned, sentence(verdict.reason)])
  if (verdict.verdict === 'impossible') {
    return bareReport({
      what,
      verdict: 'impossible',
      headline: 'Cannot be judged here',
      why: [sentence(verdict.reason)],
    })
  }
  switch (verdict.kind) {
    case 'proof':
      return proofReport(what, verdict, known)
    case 'head':
      return headReport(what, verdict, known)
    case 'statement': {
      const { signer, time, ledger, retired } = verdict.facts
      return {
        ...bareReport({ what, verdict: 'signed', ...unchanged({ signer }, known) }),
        about: [
          ['ledger', ledger.origin],
          ...retired.map(({ node, why, at }): Line => ['former key', `${node}, ${why} at ${at}`]),
        ],
        signed: signerLines({ signer }, known),
        when: [
          ['signed', time],
          ['', onlySigner],
        ],
        checked: [signatureIsGood],
        open: [...whose({ signer }, known), 'Whether it is an entry of that ledger: the proof of it says so.'],
      }
    }
    case 'refusal':
      return refusalReport(what, verdict, known)
    default:
      return receiptReport(what, verdict, known)
  }
}

function nameOf(verdict: LedgerVerdict): string {
  if (verdict.kind !== 'proof') return names[verdict.kind]
  const facts = 'facts' in verdict ? verdict.facts : 'said' in verdict ? verdict.said : undefined
  return facts === undefined ? names.proof : `a proof that a ledger has a ${facts.kind}`
}

const notSigned = 'It is not what was signed by a key that counts, or it contradicts itself.'

type HeadVerdict = Exclude<LedgerVerdict & { readonly kind: 'head' }, { readonly verdict: 'altered' | 'impossible' }>

function headReport(what: string, verdict: HeadVerdict, known: Known): Report {
  const { ledger, quorum, witnessed } = verdict.verdict === 'not judged' ? verdict.said : verdict.facts
  const { origin, size, root } = ledger
  const isJudged = verdict.verdict !== 'not judged'
  return {
    ...bareReport({ what, ...byHead(verdict, 'A head that is signed', { origin, quorum, known }) }),
    about: [
      ['ledger', origin],
      ['entries', String(size)],
    ],
    signed: isJudged ? [['ledger', `${origin}, a key of the policy`]] : [],
    when: timesOf(witnessLines(witnessed), { known, isJudged }),
    checked: isJudged ? [headIsSigned] : [],
    open: [
      ...(isJudged ? [] : ['Whether the ledger has signed it, and which witnesses have.']),
      'What its entries say: the ledger itself has them.',
    ],
    hashes: [['root', base64Text(root)]],
  }
}

type RefusalVerdict = Exclude<
  LedgerVerdict & { readonly kind: 'refusal' },
  { readonly verdict: 'altered' | 'impossible' }
>

function refusalReport(what: string, verdict: RefusalVerdict, known: Known): Report {
  const { facts } = verdict
  const isGood = verdict.verdict === 'signed'
  return {
    ...bareReport({
      what,
      verdict: verdict.verdict,
      ...(isGood ? unchanged(facts, known) : { headline: 'Signed, and not judged' }),
      why: isGood ? [] : [sentence(verdict.reason)],
    }),
    about: [
      ...datasetLines(facts.dataset, facts.alias, facts, known),
      ['refused as', facts.kind],
      ...facts.reasons.slice(0, 3).map((text): Line => ['because', text]),
      bodyLine(facts.bodyHash),
    ],
    signed: signerLines(facts, known),
    when: [
      ['signed', facts.time],
      ['', onlySigner],
    ],
    checked: [signatureIsGood],
    open: [...whose(facts, known), 'What this kind of refusal means: every node says it at /errors.', whatBody],
  }
}
