// An evidence pack, judged: a report on the whole, and one on each file that a person wants to read. Nothing in it says whom to trust.

import { textForm } from '../../base/text-form.ts'
import type { Head } from '../../ledger/head.ts'
import { judgeProof, type ProofVerdict } from '../../ledger/judge-proof.ts'
import { witnessedText } from '../../ledger/open-head.ts'
import { bundleReport } from '../bundle.ts'
import { type Judged, judgeEvidence, type Reader } from '../judge.ts'
import type { NamedKeys } from '../keys.ts'
import { timesOf } from '../ledger-lines.ts'
import { ledgerReport } from '../ledger-report.ts'
import { alteredReport, bareReport, type Line, nth, type Report, type Verdict } from '../report.ts'
import { answerFacts } from './files.ts'
import { blockOf, type Shows, showsOf, withHistories } from '../two-histories.ts'
import { historiesIn } from './pack-histories.ts'
import { type HeldFile, type PackContents, readPack } from './read-pack.ts'
import { PackFault } from './zip.ts'

export interface JudgedPack {
  readonly report: Report
  /** Of answers, bundles and receipts, and of proofs of the ledger that are not good. */
  readonly parts: readonly { readonly path: string; readonly report: Report }[]
  /** Where it can be read. */
  readonly shows?: Shows
}

const what = 'an evidence pack'
/** The worst first. */
const order: readonly Verdict[] = [
  'altered',
  'promise broken',
  'no evidence',
  'impossible',
  'witness quorum not met',
  'not judged',
]
/** Of proofs that are not good so many are told. */
const mostTold = 20

/** Judges a pack from its bytes in pieces of any size. Throws what `chunks` throws. */
export async function judgePack(chunks: AsyncIterable<Uint8Array>, reader: Reader): Promise<JudgedPack> {
  try {
    return judgeContents(await readPack(chunks, reader), reader)
  } catch (error) {
    if (!(error instanceof PackFault)) throw error
    return { report: faultyReport(error), parts: [] }
  }
}

function faultyReport({ verdict, sentence: why }: PackFault): Report {
  if (verdict !== 'altered') return bareReport({ what, verdict, headline: 'Cannot be judged here', why: [why] })
  const who = 'The fault is in the pack. It says nothing against those who have signed what is in it.'
  return { ...alteredReport(what, [why, who]), headline: 'Do not trust this pack' }
}

function judgeContents(contents: PackContents, reader: Reader): JudgedPack {
  const { bundles, held } = contents
  const proofs = ledgerOf(contents, reader)
  const named = keysStated(held, { reader, ledger: proofs })
  const keys: NamedKeys = new Map([...(reader.keys ?? []), ...named])
  const alone = judgedAlone(held, { ...reader, keys })
  const judged = withHistories(alone, proofs)
  const ledger = withHistories(proofs, alone)
  const lack = reader.policy === undefined ? 'A policy judges them.' : undefined
  const isNamed = reader.signer !== undefined
  const signed: JudgedPart[] = [
    ...judged.map(({ path, folder, report }) => ({ path, report: ofKind(report, folder) })),
    ...bundles.map(({ path, found }) => ({ path, report: bundleReport(found, { isNamed, lack, keys }) })),
  ]
  const wrong = ledger.filter(({ report: { verdict } }) => verdict !== 'included' && verdict !== 'not judged')
  const parts = [...signed, ...wrong.slice(0, mostTold).map(({ path, report }) => ({ path, report }))]
  const heads = [...judged, ...ledger].flatMap(({ head }) => head ?? [])
  const whole: WholePack = {
    parts,
    ledger,
    isWhole: bundles.every(({ found }) => found.kind === 'whole'),
    stranger: isNamed ? undefined : signed.find((one) => isOfStranger(one, named)),
    histories: historiesIn(heads, bundles),
  }
  const blocks = bundles.flatMap(({ found, blocks }) =>
    found.kind === 'whole' ? [...blocks].map(([number, { id, hash }]) => [blockOf(id, number), hash] as const) : [],
  )
  return { report: wholeReport(whole, contents, signed), parts, shows: showsOf(heads, blocks) }
}

function wholeReport(whole: WholePack, contents: PackContents, signed: readonly JudgedPart[]): Report {
  const { ledger, isWhole, histories } = whole
  const { bundles, files } = contents
  const worst = worstOf(whole)
  const proofs = countText(ledger.length, 'proof')
  return {
    ...headOf(worst, whole),
    about: [
      ['files', `${files.length + 1}, of which ${countText(signed.length, 'is', 'are')} told below`],
      ...bundles.flatMap(({ path, found }): Line[] => (found.kind === 'whole' ? datasetsOf(path, found.proof) : [])),
      ...(ledger.length === 0 ? [] : [['ledger', `${proofs} of blocks, ${rangeOf(ledger)}`] as const]),
    ],
    signed: [['the pack', 'nobody: somebody has put these files together'], ...signersOf(signed), ...ledgersOf(ledger)],
    when: whenOf(ledger),
    checked: [
      'The zip has the form of a pack, and each of its bytes follows from its files.',
      ...(isWhole ? ['Its first page is the one that its files make.'] : []),
      ...(ledger.length > 0 && worst === undefined
        ? [`${proofs}: each block is in its bundle, and an entry of the ledger.`]
        : []),
    ],
    open: openTexts(contents, ledger),
    remarks: histories,
    hashes: files.slice(0, 100).map(({ path, sha256 }): Line => [path, sha256]),
  }
}

/** Answers each by itself, receipts by the statement beside them. */
function judgedAlone(held: readonly HeldFile[], reader: Reader): (Judged & Pick<HeldFile, 'path' | 'folder'>)[] {
  const of = (...folders: readonly HeldFile['folder'][]): HeldFile[] =>
    held.filter(({ folder }) => folders.includes(folder))
  const together = of('receipts', 'statement')
  const judged = [
    ...of('answers').flatMap(({ bytes }) => judgeEvidence([bytes], reader)),
    ...judgeEvidence(
      together.map(({ bytes }) => bytes),
      reader,
    ),
  ]
  return [...of('answers'), ...together].map(({ path, folder }, at) => {
    const found = judged[at] ?? { report: alteredReport('a file', ['It has no report of its own.']) }
    return { ...found, path, folder }
  })
}

type JudgedPart = JudgedPack['parts'][number]

/** What is known of the files of a pack. */
interface WholePack {
  readonly parts: readonly JudgedPart[]
  readonly ledger: readonly JudgedProof[]
  /** Whether its bundles are. */
  readonly isWhole: boolean
  /** A file that is good by itself, and signed by a key that nobody has named. */
  readonly stranger: JudgedPart | undefined
  /** Sentences on what shows two histories. */
  readonly histories: readonly string[]
}

function worstOf({ parts, ledger, stranger, histories }: WholePack): Verdict | undefined {
  const found = new Set([...parts, ...ledger].map(({ report }) => report.verdict))
  const isOpen = stranger !== undefined || histories.length > 0
  return order.find((one) => found.has(one)) ?? (isOpen ? 'not judged' : undefined)
}

/**
 * The keys that a ledger of the policy names as those of its node. One that leaked is none, and the ledger must be that of the proofs: a
 * node does not speak for another.
 */
function keysStated(
  held: readonly HeldFile[],
  { reader, ledger: proofs }: { readonly reader: Reader; readonly ledger: readonly JudgedProof[] },
): Map<string, string> {
  return new Map(
    held.flatMap(({ folder, bytes }): Line[] => {
      const verdict = folder === 'statement' ? judgeProof(bytes, reader.policy) : undefined
      if (verdict?.verdict !== 'included' || verdict.facts.kind !== 'statement') return []
      const { statement, ledger } = verdict.facts
      if (proofs.some(({ origin }) => origin !== undefined && origin !== ledger.origin)) return []
      const place = `the ${nth(ledger.index)} entry of ${ledger.origin} names it as`
      const former = statement.retired.filter(({ why }) => why !== 'leaked')
      return [
        ...former.map(({ node, at }): Line => [node, `${place} a former key of its node, until ${at}`]),
        [statement.node, `${place} the node`],
      ]
    }),
  )
}

/** What no key of the ledger has signed anybody can have made. */
function isOfStranger({ report: { signed } }: JudgedPart, named: ReadonlyMap<string, string>): boolean {
  return signed.some(([name, key]) => name === 'key' && !named.has(key))
}

function openTexts({ held, bundles }: PackContents, ledger: readonly JudgedProof[]): string[] {
  const keys = 'The files in keys/: they are the word of the sender, and nothing was judged by them.'
  const stamps = 'Time stamps: unpack the zip, and proofstream verify ledger/*/*.json --tsa-ca CA.pem.'
  const rows = 'Whether the rows follow from the blocks: unpack the zip, and proofstream verify --bundle bundles/*.tar.'
  return [
    ...(held.some(({ folder }) => folder === 'keys') ? [keys] : []),
    ...(ledger.some(({ isStamped }) => isStamped) ? [stamps] : []),
    ...(bundles.length > 0 ? [rows] : []),
  ]
}

function headOf(worst: Verdict | undefined, whole: WholePack): Report {
  const { parts, ledger, isWhole, stranger, histories } = whole
  if (worst === undefined)
    return bareReport({ what, verdict: 'verified', headline: 'Whole, and each file is as it was signed' })
  const first = [...ledger, ...parts].find(({ report }) => report.verdict === worst)
  if (first === undefined && stranger === undefined) {
    return bareReport({ what, verdict: worst, headline: 'Whole, and it shows two histories', why: histories })
  }
  const why =
    first !== undefined
      ? [`${first.path}: ${first.report.headline}.`, ...first.report.why]
      : [`${stranger?.path ?? ''} is signed by a key that neither you nor a ledger of your policy has named.`, nameIt]
  if (worst === 'altered') return { ...alteredReport(what, why), headline: 'Do not trust this pack' }
  const headline = `Whole, but ${worst === 'not judged' ? 'not judged: whom to trust is yours to say' : worst}`
  return bareReport({ what, verdict: worst, headline: isWhole ? headline : 'Cannot be judged here', why })
}

const nameIt = 'Anyone can make a key. Name the one that must have signed: --signer did:key:….'

/** What a report says of a file that is of its folder. */
const ownWords: Readonly<Partial<Record<HeldFile['folder'], string>>> = {
  answers: 'a saved answer',
  receipts: 'a signed receipt',
  statement: 'a proof that a ledger has a statement',
}

/** A file of another kind than that of its folder makes the pack altered. */
function ofKind(report: Report | undefined, folder: HeldFile['folder']): Report {
  const isTold = report?.verdict === 'altered' || report?.verdict === 'impossible'
  const isBroken = folder === 'receipts' && report?.what.startsWith('a receipt with') === true
  const isOf = report !== undefined && (isTold || isBroken || report.what.startsWith(ownWords[folder] ?? ''))
  return isOf ? report : alteredReport('a file', [`It is not what ${folder} is for.`])
}

interface JudgedProof {
  readonly path: string
  readonly report: Report
  readonly verdict: ProofVerdict
  readonly sequence: number
  readonly isStamped: boolean
  /** Of its ledger, where it can be read. */
  readonly origin: string | undefined
  /** That its ledger has signed. */
  readonly head: Head | undefined
}

function ledgerOf({ held, bundles }: PackContents, { policy, node }: Reader): JudgedProof[] {
  return held.flatMap(({ path, folder, number, sequence, bytes }): JudgedProof[] => {
    if (folder !== 'ledger' || sequence === undefined) return []
    const verdict = judgeProof(bytes, policy)
    const facts = 'facts' in verdict ? verdict.facts : 'said' in verdict ? verdict.said : undefined
    const bundle = bundles[number - 1]
    const block = bundle?.blocks.get(sequence)
    const isOf =
      facts === undefined ||
      bundle?.found.kind !== 'whole' ||
      (facts.kind === 'block' && block?.id === facts.dataset && block.hash === facts.block)
    const report = isOf
      ? ledgerReport({ kind: 'proof', ...verdict }, { isNamed: false, node, changes: textForm(bytes).changes })
      : alteredReport('a proof that a ledger has a block', ['It is not of the block that its bundle has there.'])
    const isStamped = 'stamp' in verdict && verdict.stamp !== undefined
    const head = 'facts' in verdict ? verdict.facts.ledger : undefined
    return [{ path, report, verdict, sequence, isStamped, origin: facts?.ledger.origin, head }]
  })
}

function datasetsOf(path: string, proof: Uint8Array): Line[] {
  return answerFacts(proof).flatMap(([name, text]): Line[] =>
    name === 'dataset' ? [['dataset', `${text}, ${path}`]] : [],
  )
}

function rangeOf(ledger: readonly JudgedProof[]): string {
  const sequences = ledger.map(({ sequence }) => sequence)
  return `sequence ${Math.min(...sequences)} to ${Math.max(...sequences)} of their chains`
}

/** Each key once. */
function signersOf(parts: JudgedPack['parts']): Line[] {
  const lines = parts.flatMap(({ report }) => report.signed.filter(([name]) => name === 'key'))
  return [...new Map(lines.map((line) => [line[1], line])).values()]
}

/** Each ledger once. */
function ledgersOf(ledger: readonly JudgedProof[]): Line[] {
  const lines = ledger.flatMap(({ verdict }): Line[] => {
    if ('facts' in verdict) return [['ledger', `${verdict.facts.ledger.origin}, a key of the policy`]]
    return 'said' in verdict ? [['ledger', `${verdict.said.ledger.origin}, it says; nobody has looked`]] : []
  })
  return [...new Map(lines.map((line) => [line[1], line])).values()]
}

/** What witnesses say of the heads, each once. */
function whenOf(ledger: readonly JudgedProof[]): Line[] {
  const found = ledger.flatMap(({ verdict }) => ('facts' in verdict ? [verdict.facts] : []))
  const lines = found.flatMap(({ witnessed }) =>
    witnessed.map((one): Line => [`witness ${one.name}`, witnessedText(one)]),
  )
  const unique = [...new Map(lines.map((line) => [line.join(' '), line])).values()].slice(0, mostTold)
  return timesOf(unique, {
    known: { isNamed: false },
    isJudged: ledger.every(({ verdict }) => verdict.verdict !== 'not judged'),
  })
}

function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
