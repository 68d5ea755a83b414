// What is said of a saved answer, alone or in a bundle: what was asked, the rows, who signed, when its blocks were made.

import { defined } from '../base/collections.ts'
import { jsonText } from '../base/json/json.ts'
import type { BlockVerdict } from '../ledger/judge-proof.ts'
import { witnessedText } from '../ledger/open-head.ts'
import type { BundleFault } from '../proof/bundle/manifest.ts'
import { type Findings, relationText, stabilityText, uncheckedTexts } from '../proof/explain.ts'
import { type AskedDataset, extentText } from '../proof/signed-answer.ts'
import type { OfflineFailure, OfflineSuccess } from '../proof/verify.ts'
import {
  alteredReport,
  bareReport,
  type Line,
  lineIf,
  onlySigner,
  placeText,
  type Report,
  unchangedHead,
} from './report.ts'
import { quorumText } from './ledger-lines.ts'
import type { NamedKeys } from './keys.ts'
import { firstRows } from './rows.ts'

/** What a bundle holds beside the answer, all of it checked against it. */
export interface BundleFacts {
  readonly rows: number
  readonly blocks: number
  readonly ledger: readonly BlockVerdict[]
  /** Why there is no policy to judge its proofs of a ledger by. */
  readonly lack?: string
}

export interface AnswerFacts {
  readonly verdict: OfflineSuccess
  /** What is known of it, and whether it was run again. */
  readonly findings: Findings
  readonly bundle?: BundleFacts
  /** Who ran it again: a node, or this program. */
  readonly ranBy?: string
  /** Whose keys are known. */
  readonly keys?: NamedKeys | undefined
}

const mostRows = 20
const what = 'a saved answer'

export function answerReport({ verdict, findings, bundle, ranBy, keys }: AnswerFacts): Report {
  const { answer, output, commitment } = verdict
  const of = bundle === undefined ? what : `${what} in a bundle, with all its blocks and rows`
  const proofs = bundle === undefined ? noProofs : ledgerProofs(bundle)
  const shown = firstRows(output, mostRows)
  const whose = findings.relation === undefined ? keys?.get(verdict.signer) : undefined
  const relation = whose === undefined ? (findings.relation ?? 'unknown') : 'known'
  const { headline, ...unchanged } = unchangedHead(relation)
  const isOpen = proofs.faults.length > 0
  return {
    ...bareReport({
      what: of,
      verdict: isOpen ? proofs.verdict : 'verified',
      headline: `${headline}${bundle === undefined ? '' : ', in a bundle that is whole'}${isOpen ? ', but not in the ledger as the policy asks' : ''}`,
      why: proofs.faults,
    }),
    ...unchanged,
    about: aboutLines(findings),
    ...(shown !== undefined &&
      shown.rows.length > 0 && { rows: { ...shown, total: answer.rows ?? shown.rows.length } }),
    signed: [
      ['key', verdict.signer],
      ['whose', whose ?? relationText(findings)],
    ],
    when: [
      ...answer.datasets.map((one) => blockTime(one, findings)),
      ...proofs.when,
      ['', 'When the question was asked is not in the file.'],
      ...(proofs.when.length > 0 ? [] : [['', onlySigner] as const]),
    ],
    checked: [
      ...checkedTexts(verdict, findings, bundle),
      ...proofs.checked,
      ...(ranBy === undefined ? [] : [`${ranBy} ran the question again over those blocks, and got the same rows.`]),
    ],
    open: [...uncheckedTexts({ ...findings, relation }), ...proofs.open],
    hashes: [
      ...answer.datasets.flatMap((one) => lineIf(`block of ${nameOf(one)}`, one.blockHash)),
      ['question', commitment.inputHash],
      ['rows', commitment.outputHash],
      ['sub-queries', commitment.subQueriesHash],
    ],
  }
}

function aboutLines(findings: Findings): Line[] {
  const { answer } = findings
  const { query, parameters, dialect, datasets } = answer
  return [
    ['question', query ?? 'The file does not say.'],
    ...lineIf('parameters', parameters === undefined ? undefined : jsonText(parameters)),
    ...lineIf('language', dialect),
    ...(datasets.length === 0 ? lineIf('dataset', 'none is named') : []),
    ...datasets.map((one): Line => ['dataset', nameOf(one) === one.id ? one.id : `${nameOf(one)} (${one.id})`]),
    ['answer', extentText(answer) ?? 'not in this file; what was signed is the hash of its rows'],
    ...lineIf('repeatable', datasets.length === 0 ? undefined : stabilityText(findings)),
  ]
}

const nameOf = ({ alias, id }: AskedDataset): string => alias ?? id

function blockTime(dataset: AskedDataset, { blockTimes }: Findings): Line {
  const { blockHash, blockTime } = dataset
  const time = blockHash === undefined ? undefined : (blockTimes?.get(blockHash) ?? blockTime)
  const text = blockHash === undefined ? 'up to which block is not said' : (time ?? 'not in the file')
  return [`data of ${nameOf(dataset)} as of`, text]
}

function checkedTexts(
  { canonicalForm }: OfflineSuccess,
  { relation }: Findings,
  bundle: BundleFacts | undefined,
): string[] {
  return [
    'The query, its parameters and the named blocks are those that were signed.',
    ...(canonicalForm === undefined ? [] : ['The rows are those that were signed, to the last digit.']),
    'The signature is good, by the strictest rule.',
    ...(relation === 'named' ? ['The key is the one that you named.'] : []),
    ...(bundle === undefined
      ? []
      : [
          `The bundle has the ${bundle.blocks} blocks up to the named ones, each linked to the previous one, and all their ${bundle.rows} rows. Nothing is missing, changed or added.`,
        ]),
  ]
}

interface LedgerProofs extends Pick<Report, 'when' | 'checked' | 'open'> {
  readonly verdict: Report['verdict']
  /** Why they are not good by the policy of the reader. */
  readonly faults: readonly string[]
}

const noProofs: LedgerProofs = { verdict: 'verified', when: [], checked: [], open: [], faults: [] }

/** What the proofs of a ledger in a bundle say, by a policy. */
function ledgerProofs({ ledger, lack }: BundleFacts): LedgerProofs {
  if (ledger.length === 0) return noProofs
  if (lack !== undefined) {
    const count = ledger.length === 1 ? '1 proof' : `${ledger.length} proofs`
    return { ...noProofs, open: [`Whether a ledger has the named blocks: the bundle holds ${count} of that. ${lack}`] }
  }
  const good = ledger.flatMap((one) => (one.verdict === 'included' ? [one] : []))
  const bad = ledger.flatMap((one) => (one.verdict === 'included' ? [] : [one]))
  return {
    verdict: bad.some(({ verdict }) => verdict === 'altered') ? 'altered' : (bad[0]?.verdict ?? 'verified'),
    when: good.flatMap(({ facts }) => facts.witnessed.map((one): Line => [`witness ${one.name}`, witnessedText(one)])),
    checked: good.map(({ block, facts, quorum }) => {
      const { origin, size, index } = facts.ledger
      return `Block ${block} is ${placeText(index, size, 'entries')} of the ledger ${origin}${quorumText(quorum)}.`
    }),
    open: [],
    faults: bad.map(({ block, verdict, reason }) => `Block ${block}: ${verdict}, ${reason}.`),
  }
}

/** What a failed check means for the reader of the file. */
const meanings: Readonly<Record<OfflineFailure['kind'], string>> = {
  MalformedJson: 'A saved answer is what a node sent, kept as it came: one JSON object.',
  InvalidRequest: 'A saved answer has input, subQueries, commitment and proof, and mostly output, and nothing else.',
  UnsupportedProofType: 'There is no evidence against it, but this program cannot check this type of proof.',
  'InvalidRequest::InputHash': 'The query, its parameters or the named blocks are not those that were signed.',
  'InvalidRequest::SubQueriesHash': 'The answers that this one is based on are not those that were signed.',
  'InvalidRequest::BadSignature': 'The key that the file names did not sign this.',
  'InvalidRequest::OutputHash':
    'The rows are not those that were signed. They were changed, or reprinted by a program that writes numbers differently.',
  'InvalidRequest::RewrittenOutput':
    'Read as doubles, the numbers are those that were signed. A JSON library has reprinted them. Check the file as it was received.',
  OtherSigner: 'Hashes and signature are good, but the key is not the one that you named.',
}

/** Of an answer that does not hold. */
export function failedReport({ outcome, kind, message, position, signer }: OfflineFailure): Report {
  const place = position === undefined ? '' : ` At line ${position.line}, column ${position.column}.`
  const why = [
    meanings[kind],
    `${message}${place}`,
    ...(signer === undefined ? [] : [`It names ${signer} as its signer.`]),
  ]
  if (outcome === 'failed') return alteredReport(what, why)
  const verdict = outcome === 'impossible' ? 'impossible' : 'no evidence'
  return bareReport({
    what: outcome === 'impossible' ? what : 'no evidence that is known here',
    verdict,
    headline: 'Cannot be judged here',
    why,
  })
}

/** Of a bundle that cannot be used. */
export function faultyBundleReport({ outcome, sentence }: Pick<BundleFault, 'outcome' | 'sentence'>): Report {
  const of = 'a bundle'
  if (outcome === 'failed') {
    return {
      ...alteredReport(of, [sentence, 'The fault is in the bundle. It says nothing against the signer of the proof.']),
      headline: 'Do not trust this bundle',
    }
  }
  return bareReport({
    what: of,
    verdict: outcome === 'impossible' ? 'impossible' : 'no evidence',
    headline: 'Cannot be judged here',
    why: [sentence],
  })
}

/** What an answer says by itself, where only the file was looked at. */
export function findingsAlone(
  { answer, signer }: OfflineSuccess,
  known: { readonly isNamed: boolean; readonly blockTimes?: ReadonlyMap<string, string> },
): Findings {
  return {
    answer,
    signer,
    isReproduced: false,
    ...(known.isNamed && { relation: 'named' as const }),
    ...defined({ blockTimes: known.blockTimes }),
  }
}
