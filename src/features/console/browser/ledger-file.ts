// What the verify page says of files about a ledger: proofs in both forms, signed receipts and refusals, signed heads. All of it is
// judged in the page, by the policy in its field, and nobody is asked.

import { DecodeError } from '../../../libraries/base/errors.ts'
import { utf8 } from '../../../libraries/base/bytes.ts'
import { jsonText } from '../../../libraries/base/json/json.ts'
import { systemClock } from '../../../libraries/base/clock.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { kindOfFile } from '../../../libraries/ledger/file-kind.ts'
import { judgeProof, type ProofFacts } from '../../../libraries/ledger/judge-proof.ts'
import { judgePromise, openReceipt, openRefusal, type SignedReceipt } from '../../../libraries/ledger/judge-receipt.ts'
import { openHead, type Witnessed } from '../../../libraries/ledger/open-head.ts'
import { parsePolicy, type Policy } from '../../../libraries/ledger/policy.ts'
import { parseStatement } from '../../../libraries/ledger/statement.ts'
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
export function judgeLedgerFile(bytes: Uint8Array, trust: Trust): Shown | undefined {
  const file = kindOfFile(bytes)
  if (file.kind === 'other') return undefined
  try {
    switch (file.kind) {
      case 'statement':
        return signedBy(parseStatement(bytes).node, trust, [])
      case 'refusal': {
        const { signer, dataset, kind, time } = openRefusal(file.document)
        return signedBy(signer, trust, [
          ['refused', kind],
          ['dataset', dataset],
          ['time', time],
        ])
      }
      case 'receipt':
        return ofReceipt(openReceipt(file.document), trust)
      case 'broken promise': {
        const why = 'That a promise was broken is seen in the ledger itself: proofstream verify FILE --policy FILE.'
        return { tone: 'unjudged', headline: '? Cannot be judged here', content: [element('p', '', why)] }
      }
      default: {
        const policy = policyOf(trust)
        if (!('logs' in policy)) return policy
        return file.kind === 'proof' ? ofProof(bytes, policy) : ofHead(bytes, policy)
      }
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return bad(error.message)
  }
}

/** The policy, or why there is none. */
function policyOf({ policy }: Trust): Policy | Shown {
  if (policy.trim() === '') return unjudged('Whom to trust is not in the file: give a policy, and check again.')
  try {
    return parsePolicy(utf8(policy.endsWith('\n') ? policy : `${policy}\n`))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return unjudged(`The policy cannot be read: ${error.message}`)
  }
}

function ofProof(bytes: Uint8Array, policy: Policy): Shown {
  const judged = judgeProof(bytes, policy)
  if (judged.verdict === 'altered') return bad(judged.reason)
  if (judged.verdict === 'impossible') return unjudged(judged.reason)
  const facts = factsOf(judged.facts)
  if (judged.verdict === 'quorum not met') {
    return { tone: 'unjudged', headline: '? Witness quorum not met', content: [element('p', '', judged.reason), facts] }
  }
  return { tone: 'good', headline: `✓ Included in the ledger${alone(judged.quorum)}`, content: [facts, meaning()] }
}

function ofHead(bytes: Uint8Array, policy: Policy): Shown {
  const opened = openHead(bytes, policy)
  if (!opened.ok) return opened.fault === 'unknown' ? unjudged(opened.reason) : bad(opened.reason)
  const { head, quorum, witnessed } = opened
  const facts = list([['ledger', `${head.origin}, ${head.size} entries`], ...witnessLines(witnessed)])
  return quorum === 'not met'
    ? { tone: 'unjudged', headline: '? Witness quorum not met', content: [facts] }
    : { tone: 'good', headline: `✓ A head that is signed${alone(quorum)}`, content: [facts] }
}

function ofReceipt(receipt: SignedReceipt, trust: Trust): Shown {
  const { signer, status, dataset, block, promise } = receipt
  const facts: Pair[] = [
    ['status', status],
    ['dataset', dataset],
    ...(block === undefined ? [] : [['block', `${block.hash}, sequence ${block.sequence}`] as const]),
  ]
  if (promise === undefined) return signedBy(signer, trust, facts)
  const policy = policyOf(trust)
  if (!('logs' in policy)) return policy
  if (!policy.logs.some(({ key }) => key.name === promise.ledger)) {
    return unjudged(`The policy has no log ${promise.ledger}, which the receipt is about.`)
  }
  const { verdict, ...rest } = judgePromise(promise, undefined, { policy, nowMs: systemClock.nowMs() })
  const about = 'reason' in rest ? rest.reason : ''
  const shown = signedBy(signer, trust, [...facts, ['promise', `an entry of ${promise.ledger}. ${about}`]])
  if (shown.tone !== 'good') return shown
  if (verdict === 'promised') return { ...shown, headline: '✓ Promised, not yet due' }
  const how = element(
    'p',
    '',
    'Whether it was kept is seen in the ledger itself: proofstream verify FILE --policy FILE.',
  )
  return { tone: 'unjudged', headline: '? Signed, and the promise was due', content: [...shown.content, how] }
}

function signedBy(signer: string, trust: Trust, facts: readonly Pair[]): Shown {
  if (trust.signer !== '' && trust.signer !== signer)
    return bad(`It is signed by ${signer}, not by the key that you named.`)
  const named = trust.signer === '' ? '' : ' by the key that you named'
  return {
    tone: 'good',
    headline: `✓ Unchanged since it was signed${named}`,
    content: [list([...facts, ['signer', signer]])],
  }
}

type Pair = readonly [name: string, text: string]

function factsOf({ kind, dataset, sequence, block, record, ledger, witnessed }: ProofFacts): HTMLElement {
  const { origin, size, index } = ledger
  return list([
    ...(record === undefined ? [] : [[kind, jsonText(record.value)] as const]),
    ...(record === undefined ? [] : [['place', `${record.index + 1} of ${record.count} in its block`] as const]),
    ...(block === undefined ? [] : [['block', block] as const]),
    ['dataset', `${dataset}, block ${sequence} of its chain`],
    ['ledger', `${origin}: entry ${index} of ${size}`],
    ...witnessLines(witnessed),
  ])
}

function witnessLines(witnessed: readonly Witnessed[]): Pair[] {
  return witnessed.map(({ name, at }) => ['witness', `${name}, at ${new Date(at * 1000).toISOString()}`])
}

function alone(quorum: 'met' | 'none'): string {
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
