// What the verify page says of files about a ledger: proofs in both forms, signed receipts and refusals, signed heads. All of it is
// judged in the page, by the policy in its field, and nobody is asked.

import { DecodeError } from '../../../libraries/base/errors.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { jsonText } from '../../../libraries/base/json/json.ts'
import { systemClock } from '../../../libraries/base/clock.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { type HeadFacts, judgeFile, type ReceiptFacts } from '../../../libraries/ledger/judge-file.ts'
import type { ProofFacts } from '../../../libraries/ledger/judge-proof.ts'
import type { SignedRefusal } from '../../../libraries/ledger/judge-receipt.ts'
import { type Witnessed, witnessedText } from '../../../libraries/ledger/open-head.ts'
import { parsePolicy, type Policy, type Quorum } from '../../../libraries/ledger/policy.ts'
import { element } from './element.ts'

export interface Shown {
  readonly tone: 'good' | 'bad' | 'unjudged'
  readonly headline: string
  readonly content: readonly HTMLElement[]
}

/** What the reader has said: a policy, and who must have signed. Empty where nothing was. */
interface Trust {
  readonly policy: string
  readonly signer: string
}

/** Undefined for a file of another kind: an answer, a bundle. Does not throw. */
export function judgeLedgerFile(bytes: Uint8Array, { policy: text, signer }: Trust): Shown | undefined {
  const { policy, reason } = policyOf(text)
  const named = signer === '' ? undefined : signer
  const judged = judgeFile(bytes, { policy, signer: named, nowMs: systemClock.nowMs() })
  if (judged.kind === 'other') return undefined
  if (judged.verdict === 'altered') return bad(judged.reason)
  if (judged.verdict === 'impossible') {
    if (!('missing' in judged)) return unjudged(judged.reason)
    if (judged.missing === 'policy') return unjudged(reason ?? judged.reason)
    if (judged.kind !== 'receipt' || judged.facts === undefined) return unjudged(inLedger)
    return {
      tone: 'unjudged',
      headline: '? Signed, and the promise was due',
      content: ofReceipt(judged.facts, inLedger),
    }
  }
  if (judged.verdict === 'witness quorum not met') {
    const facts =
      judged.kind === 'proof' ? proofLines(judged.facts) : judged.kind === 'head' ? headLines(judged.facts) : []
    const why = element('p', '', judged.reason ?? '')
    return { tone: 'unjudged', headline: '? Witness quorum not met', content: [why, list(facts)] }
  }
  const good = (headline: string, ...content: readonly HTMLElement[]): Shown => ({ tone: 'good', headline, content })
  const unchanged = `✓ Unchanged since it was signed${named === undefined ? '' : ' by the key that you named'}`
  switch (judged.kind) {
    case 'proof':
      return good(`✓ Included in the ledger${alone(judged.quorum)}`, list(proofLines(judged.facts)), meaning())
    case 'head':
      return good(`✓ A head that is signed${alone(judged.facts.quorum)}`, list(headLines(judged.facts)))
    case 'statement':
      return good(unchanged, list([['signer', judged.facts.signer]]))
    case 'refusal':
      return good(unchanged, list(refusalLines(judged.facts)))
    default: {
      const isPromised = judged.verdict === 'promised, not yet due'
      if (isPromised || judged.verdict === 'signed') {
        return good(isPromised ? '✓ Promised, not yet due' : unchanged, ...ofReceipt(judged.facts, judged.reason))
      }
      const isBroken = judged.verdict === 'promise broken'
      const content = ofReceipt(judged.facts, judged.reason)
      return isBroken ? { tone: 'bad', headline: '✗ The promise was broken', content } : good(unchanged, ...content)
    }
  }
}

const inLedger = 'Whether the promise was kept is seen in the ledger itself: proofstream verify FILE --policy FILE.'

/** The policy, or why there is none. */
export function policyOf(text: string): { readonly policy?: Policy; readonly reason?: string } {
  if (text.trim() === '') return { reason: 'Whom to trust is not in the file: give a policy, and check again.' }
  try {
    return { policy: parsePolicy(utf8(text.endsWith('\n') ? text : `${text}\n`)) }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { reason: `The policy cannot be read: ${error.message}` }
  }
}

function ofReceipt({ signer, status, dataset, block, promise }: ReceiptFacts, about = ''): HTMLElement[] {
  const facts = list([
    ['status', status],
    ['dataset', dataset],
    ...(block === undefined ? [] : [['block', `${block.hash}, sequence ${block.sequence}`] as const]),
    ...(promise === undefined ? [] : [['promise', `an entry of ${promise.ledger}`] as const]),
    ['signer', signer],
  ])
  return about === '' ? [facts] : [facts, element('p', '', about)]
}

function refusalLines({ signer, dataset, kind, time }: SignedRefusal): Pair[] {
  return [
    ['refused', kind],
    ['dataset', dataset],
    ['time', time],
    ['signer', signer],
  ]
}

function headLines({ ledger, witnessed }: HeadFacts): Pair[] {
  return [['ledger', `${ledger.origin}, ${ledger.size} entries`], ...witnessLines(witnessed)]
}

type Pair = readonly [name: string, text: string]

function proofLines({ kind, dataset, sequence, block, record, ledger, witnessed }: ProofFacts): Pair[] {
  const { origin, size, index } = ledger
  return [
    ...(record === undefined ? [] : [[kind, jsonText(record.value)] as const]),
    ...(record === undefined ? [] : [['place', `${record.index + 1} of ${record.count} in its block`] as const]),
    ...(block === undefined ? [] : [['block', block] as const]),
    ['dataset', `${dataset}, block ${sequence} of its chain`],
    ['ledger', `${origin}: entry ${index} of ${size}`],
    ...witnessLines(witnessed),
  ]
}

function witnessLines(witnessed: readonly Witnessed[]): Pair[] {
  return witnessed.map((one) => ['witness', `${one.name}, at ${witnessedText(one)}`])
}

function alone(quorum: Quorum): string {
  return quorum === 'met' ? ', as its witnesses saw it' : ', by the word of its node alone'
}

function meaning(): HTMLElement {
  const text = 'It was shown in this history at that time. Whether what it says is true, no proof can tell.'
  return element('p', 'hint', text)
}

function list(pairs: readonly Pair[]): HTMLElement {
  return element(
    'dl',
    '',
    ...pairs.flatMap(([name, text]) => [element('dt', '', name), element('dd', '', cleanText(text))]),
  )
}

function bad(reason: string): Shown {
  return { tone: 'bad', headline: '✗ Do not trust this file', content: [element('p', 'hint', cleanText(reason))] }
}

function unjudged(reason: string): Shown {
  return { tone: 'unjudged', headline: '? Cannot be judged here', content: [element('p', '', cleanText(reason))] }
}
