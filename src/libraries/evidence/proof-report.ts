// What is said of the proof that a ledger has a block, a batch, a row or a statement.

import { base64Text } from '../base/base64.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import type { BlockFacts, BoundTimestamp, ProofFacts } from '../ledger/judge-proof.ts'
import {
  byHead,
  datasetLines,
  headIsSigned,
  type Known,
  type LedgerVerdict,
  signerLines,
  timesOf,
  whatBody,
  whose,
  witnessLines,
} from './ledger-lines.ts'
import { bareReport, bodyLine, type Line, lineIf, onlyStored, placeText, type Report } from './report.ts'
import { firstCell } from './rows.ts'

const nodeSays = 'The name of the dataset and when the block was made: that is the word of the signer.'

type ProofVerdict = Exclude<LedgerVerdict & { readonly kind: 'proof' }, { readonly verdict: 'altered' | 'impossible' }>

export function proofReport(what: string, verdict: ProofVerdict, known: Known): Report {
  const facts = 'facts' in verdict ? verdict.facts : verdict.said
  const { ledger } = facts
  const of = { origin: ledger.origin, quorum: 'quorum' in verdict ? verdict.quorum : 'none', known } as const
  const head = byHead(verdict, 'Included in the ledger', of)
  const shown = { ...bareReport({ what, ...head }), ...aboutProof(facts, known) }
  const isJudged = verdict.verdict !== 'not judged'
  const signed = facts.kind === 'statement' ? undefined : facts.signed
  return {
    ...shown,
    signed: [
      ...shown.signed,
      ['ledger', isJudged ? `${ledger.origin}, a key of the policy` : `${ledger.origin}, it says; nobody has looked`],
    ],
    when: timesOf([...shown.when, ...witnessLines(facts.witnessed)], { stamp: verdict.stamp, known, isJudged }),
    checked: [
      'Its hashes lead from the entry to the root of the head.',
      ...(facts.kind === 'statement'
        ? ['The statement is that of the entry, and signed by its node.']
        : [`The ${facts.kind} is that of the entry.`]),
      ...(isJudged ? [headIsSigned] : []),
    ],
    open: [
      ...(signed === undefined ? [] : [...whose(signed, known), nodeSays]),
      ...(isJudged ? [] : ['Whether the ledger has signed the head, and which witnesses have.']),
      ...stampAdvice(verdict.stamp, known),
      ...(facts.kind === 'batch' && facts.record?.value.has('bodyHash') ? [whatBody] : []),
      onlyStored,
    ],
    hashes: [...shown.hashes, ['root of the ledger', base64Text(ledger.root)]],
  }
}

function aboutProof(
  facts: ProofFacts,
  known: Known,
): Pick<Report, 'about' | 'signed' | 'when' | 'hashes'> & Partial<Pick<Report, 'rows'>> {
  const { ledger } = facts
  const entry: Line = ['entry', `${placeText(ledger.index, ledger.size, 'entries')} of ${ledger.origin}`]
  if (facts.kind === 'statement') {
    const { node, time, retired } = facts.statement
    return {
      about: [['node', node], ...retired.map((one): Line => [`${one.why} at ${one.at}`, one.node]), entry],
      signed: [['node', node]],
      when: [['stated', time]],
      hashes: [],
    }
  }
  const { kind, dataset, sequence, block, record, signed } = facts
  const place = record && `${placeText(record.index, record.count, kind === 'batch' ? 'batches' : 'rows')} of its block`
  return {
    about: [
      ...(signed === undefined ? lineIf('dataset', dataset) : datasetLines(dataset, signed.dataset, signed, known)),
      ['block', `sequence ${sequence} of its chain`],
      ...(kind === 'batch' ? batchLines(facts) : []),
      ...lineIf(kind === 'batch' ? 'place' : 'row', place),
      entry,
    ],
    ...(kind === 'row' && record !== undefined && { rows: rowOf(record.value) }),
    signed: signed === undefined ? [] : signerLines(signed, known),
    when: lineIf('block made', signed?.blockTime),
    hashes: [...lineIf('block', block), ...(kind === 'batch' ? lineOf('batch', record?.value.get('id')) : [])],
  }
}

/** What the record of a batch says, in one order; its hashes are told last. */
function batchLines({ record }: BlockFacts): Line[] {
  const value = record?.value
  const body = value?.get('bodyHash')
  const offsets = value?.get('offsets')
  const [start, end] = offsets instanceof Map ? [offsets.get('start'), offsets.get('end')] : []
  const hasRows = start !== undefined && end !== undefined
  return [
    ...lineOf('batch', value?.get('status')),
    ...lineOf('error', value?.get('error')),
    ...lineIf('rows', hasRows ? `offsets ${firstCell(start)} to ${firstCell(end)}` : undefined),
    ...(body === undefined ? [] : [bodyLine(firstCell(body))]),
  ]
}

function lineOf(name: string, value: JsonValue | undefined): Line[] {
  return lineIf(name, value === undefined ? undefined : firstCell(value))
}

/** Both forms of a proof have the same order of columns. */
function rowOf(record: JsonObject): NonNullable<Report['rows']> {
  const columns = [...record.keys()].sort()
  return { columns, rows: [columns.map((name) => firstCell(record.get(name)))], total: 1 }
}

function stampAdvice(stamp: BoundTimestamp | undefined, known: Known): string[] {
  if (stamp === undefined || known.stamp !== undefined) return []
  return ['The time stamp: proofstream verify FILE --tsa-ca CA.pem, with the certificate of its authority.']
}
