// What the verify page says of files about a ledger: proofs in both forms, signed receipts and refusals, signed heads. All of it is
// judged in the page, by the policy in its field, and nobody is asked.

import { DecodeError } from '../../../libraries/base/errors.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { jsonText } from '../../../libraries/base/json/json.ts'
import { systemClock } from '../../../libraries/base/clock.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { kindOfFile } from '../../../libraries/ledger/file-kind.ts'
import { judgeFile } from '../../../libraries/ledger/judge-file.ts'
import type { ProofFacts } from '../../../libraries/ledger/judge-proof.ts'
import { besideOf, type ReceiptFacts, type SignerFacts } from '../../../libraries/ledger/judge-receipt.ts'
import { type HeadFacts, type Witnessed, witnessedText } from '../../../libraries/ledger/open-head.ts'
import { parsePolicy, type Policy, type Quorum } from '../../../libraries/ledger/policy.ts'
import type { SignedRefusal } from '../../../libraries/ledger/signed-receipt.ts'
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

/** Of several files a receipt is judged, else the first; the others are beside it. Undefined for answers, bundles. Does not throw. */
export function judgeLedgerFiles(files: readonly Uint8Array[], { policy: text, signer }: Trust): Shown | undefined {
  const [first = utf8('')] = files
  if (kindOfFile(first).kind === 'other') return undefined
  const { policy, reason } = policyOf(text)
  const named = signer === '' ? undefined : signer
  const bytes = files.find((one) => ['receipt', 'broken promise', 'refusal'].includes(kindOfFile(one).kind)) ?? first
  const others = files.filter((one) => one !== bytes)
  const trust = { policy, signer: named, nowMs: systemClock.nowMs() }
  const judged = judgeFile(bytes, trust, { beside: besideOf(others, policy) })
  if (judged.kind === 'other') return undefined
  if (judged.verdict === 'altered') return bad(judged.reason)
  if (judged.verdict === 'impossible') return unjudged(judged.reason)
  if (judged.verdict === 'not judged') {
    if (judged.missing === 'policy') return unjudged(reason ?? judged.reason)
    const why = judged.missing === 'signer' ? judged.reason : `${judged.reason} ${inLedger}`
    const content = judged.kind === 'refusal' ? ofRefusal(judged.facts, why) : ofReceipt(judged.facts, why)
    return { tone: 'unjudged', headline: '? Signed, and not judged', content }
  }
  if (judged.verdict === 'witness quorum not met') {
    const facts =
      judged.kind === 'proof'
        ? proofLines(judged.facts)
        : judged.kind === 'head'
          ? headLines(judged.facts)
          : receiptLines(judged.facts)
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
      return good(unchanged, ...ofRefusal(judged.facts))
    default: {
      const content = ofReceipt(judged.facts, 'reason' in judged ? judged.reason : '')
      if (judged.verdict === 'promised, not yet due') return good('✓ Promised, not yet due', ...content)
      if (judged.verdict === 'included') return good('✓ The promise was kept', ...content)
      if (judged.verdict === 'signed') return good(unchanged, ...content)
      return { tone: 'bad', headline: '✗ The promise was broken', content }
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

const ofReceipt = (facts: ReceiptFacts, about = ''): HTMLElement[] => withReason(receiptLines(facts), about)

function withReason(pairs: readonly Pair[], about: string): HTMLElement[] {
  const shown = list(pairs)
  return about === '' ? [shown] : [shown, element('p', '', cleanText(about))]
}

function receiptLines({ status, dataset, block, promise, shown, ...signed }: ReceiptFacts): Pair[] {
  return [
    ['status', status],
    ['dataset', dataset],
    ...(block === undefined ? [] : [['block', `${block.hash}, sequence ${block.sequence}`] as const]),
    ...(promise === undefined ? [] : [['promise', `an entry of ${promise.ledger}`] as const]),
    ...(shown === undefined ? [] : [['shown by the ledger', shown.join(', ')] as const]),
    ...signerLines(signed),
  ]
}

function signerLines({ signer, boundBy, retired }: SignerFacts & { readonly signer: string }): Pair[] {
  const by = typeof boundBy === 'object' ? `entry ${boundBy.index} of ${boundBy.ledger}` : boundBy && 'you'
  return [
    ['signer', signer],
    ...(by === undefined ? [] : [['named as the node by', by] as const]),
    ...(retired === undefined ? [] : [[`${retired.why} at`, retired.at] as const]),
  ]
}

function ofRefusal({ dataset, kind, time, ...signed }: SignedRefusal & SignerFacts, about = ''): HTMLElement[] {
  const what: Pair[] = [
    ['refused', kind],
    ['dataset', dataset],
    ['time', time],
  ]
  return withReason([...what, ...signerLines(signed)], about)
}

function headLines({ ledger, witnessed }: HeadFacts): Pair[] {
  return [['ledger', `${ledger.origin}, ${ledger.size} entries`], ...witnessLines(witnessed)]
}

type Pair = readonly [name: string, text: string]

function proofLines(facts: ProofFacts): Pair[] {
  const { ledger, witnessed } = facts
  const { origin, size, index } = ledger
  if (facts.kind === 'statement') {
    const { node, time, retired } = facts.statement
    return [
      ['node', node],
      ['time', time],
      ...retired.map(({ node: key, why, at }) => [`${why} at ${at}`, key] as const),
      ['ledger', `${origin}: entry ${index} of ${size}`],
      ...witnessLines(witnessed),
    ]
  }
  const { kind, dataset, sequence, block, record } = facts
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
