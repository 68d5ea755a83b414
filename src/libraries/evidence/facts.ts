// What a verdict on a file about a ledger shows, as plain members: the names by which programs read it.

import { base64Text } from '../base/base64.ts'
import type { ProofFacts } from '../ledger/judge-proof.ts'
import type { ReceiptFacts } from '../ledger/judge-receipt.ts'
import { type HeadFacts, type Witnessed, witnessedText } from '../ledger/open-head.ts'
import type { LedgerVerdict } from './ledger-lines.ts'

type Facts = Readonly<Record<string, unknown>>

export function factsOf(verdict: LedgerVerdict): Facts {
  const missing = 'missing' in verdict ? verdict.missing : undefined
  if (!('facts' in verdict)) return { missing }
  switch (verdict.kind) {
    case 'proof': {
      const quorum = verdict.verdict === 'included' ? verdict.quorum : 'not met'
      return { ...proofMembers(verdict.facts), quorum }
    }
    case 'head':
      return headMembers(verdict.facts)
    case 'statement':
      return { signer: verdict.facts.signer }
    case 'refusal':
      return { missing, ...verdict.facts }
    default:
      return { missing, ...receiptMembers(verdict.facts) }
  }
}

function proofMembers(facts: ProofFacts): Facts {
  const { origin, size, root, index } = facts.ledger
  const ledger = { origin, size, root: base64Text(root), index }
  const of = { kind: facts.kind, ledger, witnessed: witnessedMembers(facts.witnessed) }
  if (facts.kind === 'statement') {
    const { node, time, retired } = facts.statement
    return { ...of, node, time, retired: retired }
  }
  const { dataset, sequence, block, record, signed } = facts
  const shown = record && { value: record.value, index: record.index, count: record.count }
  return { ...of, dataset, sequence, block, record: shown, signed }
}

function headMembers({ ledger: { origin, size, root }, quorum, witnessed }: HeadFacts): Facts {
  const ledger = { origin, size, root: base64Text(root) }
  return { ledger, quorum, witnessed: witnessedMembers(witnessed) }
}

function receiptMembers(facts: ReceiptFacts): Facts {
  const { signer, time, receiptId, status, dataset, bodyHash, block, offsets, promise, head, index, shown } = facts
  const by = promise && new Date(promise.byMs).toISOString()
  const ledger = promise && { origin: promise.ledger, size: head?.ledger.size, index }
  const witnessed = head && witnessedMembers(head.witnessed)
  const claims = { block, bodyHash, status, offsets }
  return {
    signer,
    boundBy: facts.boundBy,
    retired: facts.retired,
    time,
    receiptId,
    status,
    dataset,
    bodyHash,
    block,
    offsets,
    by,
    ledger,
    quorum: head?.quorum,
    witnessed,
    shown,
    // The others are the word of the signer alone.
    claimed: shown && Object.entries(claims).flatMap(([name, value]) => (value && !shown.includes(name) ? [name] : [])),
  }
}

export function witnessedMembers(witnessed: readonly Witnessed[]): { readonly name: string; readonly at: string }[] {
  return witnessed.map((one) => ({ name: one.name, at: witnessedText(one) }))
}
