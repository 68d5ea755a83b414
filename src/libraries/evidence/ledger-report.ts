// What is said of a file about a ledger: a proof, a head, a statement, a refusal, a receipt and what became of its promise.

import { base64Text } from '../base/base64.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import type { LedgerFile } from '../ledger/file-kind.ts'
import type { FileVerdict } from '../ledger/judge-file.ts'
import type { BlockFacts, BoundTimestamp, ProofFacts } from '../ledger/judge-proof.ts'
import type { ReceiptFacts, SignerFacts } from '../ledger/judge-receipt.ts'
import { type HeadFacts, type Witnessed, witnessedText } from '../ledger/open-head.ts'
import type { Quorum } from '../ledger/policy.ts'
import {
  alteredReport,
  bareReport,
  changeRemark,
  type Line,
  noTime,
  onlySigner,
  onlyStored,
  type Report,
} from './report.ts'
import type { NamedKeys } from './keys.ts'
import { firstCell } from './rows.ts'

export type LedgerVerdict = Exclude<FileVerdict, { readonly kind: 'other' }>

/** What is known beside the verdict. */
export interface Known {
  /** Where it may be had; undefined where nobody knows. */
  readonly node?: string | undefined
  /** The reader has named the key that must have signed. */
  readonly isNamed: boolean
  /** Whose keys are known. */
  readonly keys?: NamedKeys | undefined
  /** The policy that the file suggests, which counts for nothing. */
  readonly suggested?: string | undefined
  /** What a transport of texts has changed. */
  readonly changes?: readonly string[]
  /** What came of a time stamp that was checked. */
  readonly stamp?: { readonly at: string; readonly authority: string }
}

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
  const { changes = [], suggested } = known
  const isTold = verdict.verdict !== 'altered'
  return {
    ...reportOf(verdict, known),
    remarks: [...changeRemark(changes), ...(isTold ? suggestionRemark(suggested) : [])],
  }
}

/** The policy that a file brings. Nothing was judged by it. */
export function suggestedIn(file: LedgerFile): string | undefined {
  const policy = file.kind === 'receipt' ? file.withProofs?.get('policy') : undefined
  return typeof policy === 'string' ? policy : undefined
}

function suggestionRemark(policy: string | undefined): string[] {
  if (policy === undefined) return []
  const lines = policy.split('\n').filter((line) => line.trim() !== '')
  return [`The sender suggests a policy. It counts for nothing unless you give it yourself: ${lines.join(' | ')}`]
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
      const said = bareReport({ what, verdict: 'signed', headline: unchanged(known) })
      return {
        ...said,
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

/** Begins with a capital and ends with a full stop. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`
}

function unchanged({ isNamed }: Known): string {
  return `Unchanged since it was signed${isNamed ? ' by the key that you named' : ''}`
}

/** What a reader does who has said nothing of whom to trust. */
export function policyAdvice(reason: string, origin: string, { node }: Pick<Known, 'node'>): string[] {
  const host =
    node ?? (origin.split('/')[0]?.endsWith('.invalid') === false ? `https://${origin.split('/')[0]}` : undefined)
  const where =
    host === undefined ? 'the node that the file comes from has it at /ledger/policy' : `${host}/ledger/policy`
  return [
    sentence(reason),
    `A policy is two lines: "log" names the key of the ledger, "quorum" how many witnesses must have signed. Of the node itself: ${where}.`,
    'That is the word of the node about itself: compare it with what its witnesses, its operator or an earlier reader have. Then check again with it.',
  ]
}

const nodeSays = 'The name of the dataset and when the block was made: that is the word of the signer.'
const notSigned = 'It is not what was signed, or it contradicts itself.'
const headIsSigned = 'The head is signed by the ledger, with the key that the policy has for it.'
const signatureIsGood = 'The signature is good, by the strictest rule.'
const notJudged = 'Not judged: whom to trust is yours to say'

function quorumText(quorum: Quorum): string {
  return quorum === 'met' ? ', as its witnesses saw it' : ', by the word of its node alone'
}

type ProofVerdict = Exclude<LedgerVerdict & { readonly kind: 'proof' }, { readonly verdict: 'altered' | 'impossible' }>

function proofReport(what: string, verdict: ProofVerdict, known: Known): Report {
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
    when: timesOf([...shown.when, ...witnessLines(facts.witnessed)], verdict.stamp, known),
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
      ['dataset', signed === undefined ? dataset : `${signed.dataset} (${dataset})`],
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

function witnessLines(witnessed: readonly Witnessed[]): Line[] {
  return witnessed.map((one) => [`witness ${one.name}`, witnessedText(one)])
}

function timesOf(lines: readonly Line[], stamp: BoundTimestamp | undefined, known: Known): Line[] {
  const stamped: Line[] =
    known.stamp !== undefined
      ? [['time stamp', `${known.stamp.at}, by ${known.stamp.authority}`]]
      : stamp === undefined
        ? []
        : [['time stamp', 'there, and not checked']]
  const all = [...lines, ...stamped]
  if (known.stamp !== undefined || all.some(([name]) => name.startsWith('witness '))) return all
  return [...all, ['', all.length === 0 ? noTime : onlySigner]]
}

function stampAdvice(stamp: BoundTimestamp | undefined, known: Known): string[] {
  if (stamp === undefined || known.stamp !== undefined) return []
  return ['The time stamp: proofstream verify FILE --tsa-ca CA.pem, with the certificate of its authority.']
}

type HeadVerdict = Exclude<LedgerVerdict & { readonly kind: 'head' }, { readonly verdict: 'altered' | 'impossible' }>

function headReport(what: string, verdict: HeadVerdict, known: Known): Report {
  const facts: HeadFacts = verdict.verdict === 'not judged' ? verdict.said : verdict.facts
  const { origin, size, root } = facts.ledger
  const of = {
    about: [
      ['ledger', origin],
      ['entries', String(size)],
    ] as const,
    hashes: [['root', base64Text(root)]] as const,
  }
  const when = timesOf(witnessLines(facts.witnessed), undefined, known)
  const open = ['What its entries say: the ledger itself has them.']
  if (verdict.verdict === 'not judged') {
    const why = policyAdvice(verdict.reason, origin, known)
    const nobody = 'Whether the ledger has signed it, and which witnesses have.'
    return {
      ...bareReport({ what, verdict: 'not judged', headline: notJudged, why }),
      ...of,
      when,
      open: [nobody, ...open],
    }
  }
  const isGood = verdict.verdict === 'signed'
  const headline = isGood ? `A head that is signed${quorumText(facts.quorum)}` : 'Witness quorum not met'
  return {
    ...bareReport({
      what,
      verdict: verdict.verdict,
      headline,
      why: verdict.reason === undefined ? [] : [sentence(verdict.reason)],
    }),
    ...of,
    signed: [['ledger', `${origin}, a key of the policy`]],
    when,
    checked: [headIsSigned],
    open,
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
      headline: isGood ? unchanged(known) : 'Signed, and not judged',
      why: isGood ? [] : [sentence(verdict.reason)],
    }),
    about: [
      ['dataset', facts.dataset],
      ['refused as', facts.kind],
    ],
    signed: signerLines(facts, known),
    when: [
      ['signed', facts.time],
      ['', onlySigner],
    ],
    checked: [signatureIsGood],
    open: [...whose(facts, known), 'What the batch was: whoever has it compares its hash.'],
    hashes: [['body', facts.bodyHash]],
  }
}

type ReceiptVerdict = Exclude<
  LedgerVerdict & { readonly kind: 'receipt' | 'broken promise' },
  { readonly verdict: 'altered' | 'impossible' }
>

function receiptReport(what: string, verdict: ReceiptVerdict, known: Known): Report {
  const { facts } = verdict
  const { head, index, shown } = facts
  return {
    ...bareReport({ what, ...receiptHead(verdict, known) }),
    about: receiptLines(facts),
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
  const host = origin.split('/')[0] ?? ''
  const where = node ?? (host.endsWith('.invalid') ? undefined : `https://${host}`)
  const ask = where === undefined ? `the node that gave it has that at ${path}` : `${where}${path}`
  return `The proof of its batch settles it, checked together with this file: ${ask}`
}

function receiptLines({ dataset, alias, status, block, offsets, promise }: ReceiptFacts): Line[] {
  return [
    ['dataset', alias === undefined ? dataset : `${alias} (${dataset})`],
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

function signerLines(
  { signer, boundBy, retired }: SignerFacts & { readonly signer: string },
  { isNamed, keys }: Known,
): Line[] {
  const by = [
    ...(isNamed ? ['the key that you named'] : []),
    ...(typeof boundBy === 'object' ? [`entry ${boundBy.index} of ${boundBy.ledger} names it as the node`] : []),
    ...(keys?.has(signer) ? [keys.get(signer) ?? ''] : []),
  ]
  return [
    ['key', signer],
    ...(by.length === 0 ? ['not identified: no key was named to compare it with'] : by).map((text): Line => [
      'whose',
      text,
    ]),
    ...(retired === undefined ? [] : [[retired.why === 'leaked' ? 'leaked' : 'changed', `at ${retired.at}`] as const]),
  ]
}

function whose({ signer, boundBy }: SignerFacts & { readonly signer: string }, { isNamed, keys }: Known): string[] {
  if (isNamed || boundBy !== undefined || keys?.has(signer)) return []
  return ['Whose key it is: anyone can make one. Compare it with one that the signer has told you by another way.']
}
