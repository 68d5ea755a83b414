// What is said of the proof that a ledger has a block, a batch, a row or a statement.

import { base64Text } from '../base/base64.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import type { BlockFacts, BoundTimestamp, ProofFacts } from '../ledger/judge-proof.ts'
import {
  datasetLines,
  headIsSigned,
  type Known,
  type LedgerVerdict,
  notJudged,
  policyAdvice,
  quorumText,
  sentence,
  signerLines,
  timesOf,
  whose,
  witnessLines,
} from './ledger-lines.ts'
import { bareReport, type Line, onlyStored, type Report } from './report.ts'
import { firstCell } from './rows.ts'

const nodeSays = 'The name of the dataset and when the block was made: that is the word of the signer.'

type ProofVerdict = Exclude<LedgerVerdict & { readonly kind: 'proof' }, { readonly verdict: 'altered' | 'impossible' }>

export function proofReport(what: string, verdict: ProofVerdict, known: Known): Report {
  const facts = 'facts' in verdict ? verdict.facts : verdict.said
  const { ledger } = facts
  const shown = { ...bareReport({ what, ...proofHead(verdict, known) }), ...aboutProof(facts, known) }
  const place = 'Its hashes lead from the entry to the root of the head.'
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
      place,
      ...(facts.kind === 'statement'
        ? ['The statement is that of the entry, and signed by its node.']
        : [`The ${facts.kind} is that of the entry.`]),
      ...(isJudged ? [headIsSigned] : []),
    ],
    open: [
      ...(signed === undefined ? [] : [...whose(signed, known), nodeSays]),
      ...(isJudged ? [] : ['Whether the ledger has signed the head, and which witnesses have.']),
      ...stampAdvice(verdict.stamp, known),
      onlyStored,
    ],
    hashes: [...shown.hashes, ['root of the ledger', base64Text(ledger.root)]],
  }
}

function proofHead(verdict: ProofVerdict, known: Known): Pick<Report, 'verdict' | 'headline' | 'why'> {
  switch (verdict.verdict) {
    case 'included':
      return { verdict: 'included', headline: `Included in the ledger${quorumText(verdict.quorum)}`, why: [] }
    case 'not judged':
      return {
        verdict: 'not judged',
        headline: notJudged,
        why: policyAdvice(verdict.reason, verdict.said.ledger.origin, known),
      }
    case 'witness quorum not met':
      return { verdict: verdict.verdict, headline: 'Witness quorum not met', why: [sentence(verdict.reason)] }
  }
}

function aboutProof(
  facts: ProofFacts,
  known: Known,
): Pick<Report, 'about' | 'signed' | 'when' | 'hashes'> & Partial<Pick<Report, 'rows'>> {
  const { ledger } = facts
  const entry: Line = ['entry', `${ledger.index} of ${ledger.size} of ${ledger.origin}`]
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
  const place: Line[] = record === undefined ? [] : [['place', `${record.index + 1} of ${record.count} in its block`]]
  return {
    about: [
      ...(signed === undefined
        ? [['dataset', dataset] as const]
        : datasetLines(dataset, signed.dataset, signed, known)),
      ['block', `${sequence} of its chain`],
      ...(kind === 'batch' ? batchLines(facts) : []),
      ...place,
      entry,
    ],
    ...(kind === 'row' && record !== undefined && { rows: rowOf(record.value) }),
    signed: signed === undefined ? [] : signerLines(signed, known),
    when: signed === undefined ? [] : [['block made', signed.blockTime]],
    hashes: [
      ...(block === undefined ? [] : [['block', block] as const]),
      ...(kind === 'batch'
        ? [...lineOf('body', record?.value.get('bodyHash')), ...lineOf('batch', record?.value.get('id'))]
        : []),
    ],
  }
}

const batchNames = { batch: 'status', error: 'error' } as const

/** What the record of a batch says, in one order; its hashes are told last. */
function batchLines({ record }: BlockFacts): Line[] {
  const value = record?.value
  const offsets = value?.get('offsets')
  const [start, end] = offsets instanceof Map ? [offsets.get('start'), offsets.get('end')] : []
  return [
    ...Object.entries(batchNames).flatMap(([name, member]) => lineOf(name, value?.get(member))),
    ...(start === undefined || end === undefined
      ? []
      : [['rows', `offsets ${firstCell(start)} to ${firstCell(end)}`] as const]),
  ]
}

function lineOf(name: string, value: JsonValue | undefined): Line[] {
  return value === undefined ? [] : [[name, firstCell(value)]]
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
