// The verdict on a proof file: is what it shows in a ledger that the policy knows, under a head that the ledger and enough
// witnesses have signed. Every fact of the verdict is recomputed from the entry; nothing else of the file counts.

import { equalBytes, utf8 } from '../base/bytes.ts'
import { defined } from '../base/collections.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import type { JsonObject } from '../base/json/value.ts'
import { textForm } from '../base/text-form.ts'
import { blockTag, type BlockEntry, datasetTag, type Entry, noRoot, parseEntry } from './entry.ts'
import { parseNote } from './note.ts'
import { type HeadFacts, type OpenedHead, openHead, unsignedHead, type Witnessed } from './open-head.ts'
import { knows, type Policy } from './policy.ts'
import {
  type HeadTimestamp,
  parseDocument,
  parseProofJson,
  type ProofDocument,
  type ReadDocument,
  readProofJson,
  type RecordDocument,
} from './proof-document.ts'
import { isBelow, recordLeaf } from './roots.ts'
import { openRecord, type SignedRecord } from './signed-record.ts'
import { parseStatement, type SignedStatement } from './statement.ts'
import { checkInclusion, leafHash } from './tree.ts'
import { parseTlogProof, type TlogProof } from './tlog-proof.ts'

/** What a proof shows of the tree. */
interface PlaceFacts {
  readonly ledger: HeadFacts['ledger'] & {
    /** Of the entry. */
    readonly index: number
  }
  readonly witnessed: readonly Witnessed[]
}

/** What the proof of a block, a batch or a row shows. */
export interface BlockFacts extends PlaceFacts {
  readonly kind: Exclude<ProofDocument['kind'], 'statement'>
  /** DID of the dataset. */
  readonly dataset: string
  /** Of the block in its chain. */
  readonly sequence: number
  /** Hash of the block, where that is what is shown. */
  readonly block?: string
  /** The batch or the row, and its place among those of the block. */
  readonly record?: { readonly value: JsonObject; readonly index: number; readonly count: number }
  /** What the node says of it beside that. */
  readonly signed?: SignedRecord
}

/** What the proof of a statement shows. */
export interface StatementFacts extends PlaceFacts {
  readonly kind: 'statement'
  readonly statement: SignedStatement
}

export type ProofFacts = BlockFacts | StatementFacts

/** A time stamp over a head that holds the entry. Its signature is not checked here, so its time is no fact. */
export interface BoundTimestamp {
  /** Of the head, which the stamp is over. */
  readonly text: string
  readonly token: Uint8Array
}

interface Stamped {
  readonly stamp?: BoundTimestamp
}

export type ProofVerdict =
  /** `quorum` is `none` where the policy asks for no witness. */
  | (Stamped & { readonly verdict: 'included'; readonly facts: ProofFacts; readonly quorum: 'met' | 'none' })
  /** All is right but that too few witnesses have signed. */
  | (Stamped & { readonly verdict: 'witness quorum not met'; readonly facts: ProofFacts; readonly reason: string })
  /** The bytes are not what was signed. */
  | { readonly verdict: 'altered'; readonly reason: string }
  /** It is of a newer form. */
  | { readonly verdict: 'impossible'; readonly reason: string }
  | (NeedsPolicy & Stamped & { readonly said: ProofFacts })

/** There is no policy, or it does not know the ledger. */
export interface NeedsPolicy {
  readonly verdict: 'not judged'
  readonly missing: 'policy'
  readonly reason: string
  /** What the file says by itself: its hashes lead to one another, and whose head it is nobody has looked at. */
  readonly said?: ProofFacts | HeadFacts
}

/** A file of a proof, nothing of it checked. */
export interface ProofFile {
  readonly document: ReadDocument | undefined
  readonly proof: TlogProof
  readonly timestamp?: HeadTimestamp
}

/**
 * Judges a proof file in either form, by its bytes or as JSON that was parsed. Without a policy that knows its ledger all is
 * checked but the signatures, and what is right cannot be judged further. Does not throw, whatever the file holds.
 */
export function judgeProof(file: Uint8Array | JsonObject | ProofFile, policy: Policy | undefined): ProofVerdict {
  const open = (head: Uint8Array): OpenedHead => {
    const opened = policy && openHead(head, policy)
    const isUnknown = opened?.ok === false && opened.fault === 'unknown'
    return opened === undefined || isUnknown ? unsignedHead(head) : opened
  }
  const judged = judgeOpened(file, open)
  if (!('facts' in judged)) return judged
  const known = policyFor(judged.facts.ledger.origin, policy)
  return 'verdict' in known ? { ...known, said: judged.facts, ...defined({ stamp: judged.stamp }) } : judged
}

/** The policy, where it knows this ledger; else what the reader has not said. */
export function policyFor(origin: string, policy: Policy | undefined): Policy | NeedsPolicy {
  const lacks = { verdict: 'not judged', missing: 'policy' } as const
  if (policy === undefined) return { ...lacks, reason: 'whom to trust is not in the file: it takes a policy' }
  return knows(policy, origin) ? policy : { ...lacks, reason: `the policy has no log ${origin}` }
}

function judgeOpened(file: Uint8Array | JsonObject | ProofFile, open: (head: Uint8Array) => OpenedHead): ProofVerdict {
  try {
    const { document, proof, timestamp } = 'proof' in file ? file : readProof(file)
    if (document === undefined) return impossible('it has no extra line, which says what the entry is')
    if (document.kind === 'newer') return impossible(newerForm)
    const judged = judge(document, proof, open(proof.head))
    if (timestamp === undefined || !('facts' in judged)) return judged
    const stamp = boundStamp(timestamp, { document, proof, open })
    return stamp === undefined
      ? altered('its time stamp is of a head that is not shown to hold the entry')
      : { ...judged, stamp }
  } catch (error) {
    if (error instanceof DecodeError) return altered(error.message)
    throw error
  }
}

/** What a proof is expected to be of. */
export interface ExpectedBlock {
  /** DID of the dataset. */
  readonly dataset: string
  readonly block: string
}

export type BlockVerdict = ExpectedBlock & ProofVerdict

/** Judges the `.tlog-proof` of one block, as `judgeProof`: that of another is altered. */
export function judgeBlockProof(bytes: Uint8Array, of: ExpectedBlock, policy?: Policy): BlockVerdict {
  return { ...of, ...judgeOf(bytes, of, policy) }
}

function judgeOf(bytes: Uint8Array, of: ExpectedBlock, policy: Policy | undefined): ProofVerdict {
  try {
    const { document } = readText(bytes)
    if (document?.kind === 'newer') return impossible(newerForm)
    if (document?.kind !== 'block') return altered('it is not the proof of a block')
    if (document.dataset.id !== of.dataset) return altered('it is of another dataset')
    if (document.block.hash !== of.block) return altered('it is of another block')
    return judgeProof(bytes, policy)
  } catch (error) {
    if (error instanceof DecodeError) return altered(error.message)
    throw error
  }
}

const newerForm = 'it is of a form that this version does not know'

/** Reads a proof in either form, also as a transport of texts has left it. Throws DecodeError. */
export function readProof(file: Uint8Array | JsonObject): ProofFile {
  // Bytes may be of another realm, as those of a frame are.
  if (file instanceof Map) return readProofJson(file)
  const { bytes } = textForm(file)
  return isJson(bytes) ? parseProofJson(bytes) : readText(bytes)
}

function readText(bytes: Uint8Array): ProofFile {
  const proof = parseTlogProof(bytes)
  return { proof, document: proof.extra === undefined ? undefined : parseDocument(proof.extra) }
}

/** JSON begins with a brace, behind white space perhaps. */
function isJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)
  return first === 0x7b
}

function judge(document: ProofDocument, { index, hashes }: TlogProof, opened: OpenedHead): ProofVerdict {
  const entry = parseEntry(document.entry)
  if (entry.kind === 'newer') return impossible('its entry is of a newer ledger')
  const shown = shownBy(document, entry)
  if (!opened.ok) return altered(opened.reason)
  const { head, quorum, witnessed } = opened
  if (shown.kind === 'statement' && shown.statement.ledger.origin !== head.origin) {
    return altered('its statement is of another ledger')
  }
  if (!checkInclusion(leafHash(document.entry), { index, size: head.size, path: hashes }, head.root)) {
    return altered('the entry is not at this place of the tree')
  }
  const facts = { ...shown, ledger: { ...head, index }, witnessed }
  if (quorum !== 'not met') return { verdict: 'included', facts, quorum }
  return { verdict: 'witness quorum not met', facts, reason: opened.few }
}

/** The stamp, where its head is of the same ledger and holds the entry at its place. */
function boundStamp(
  { size, head, hashes, token }: HeadTimestamp,
  of: {
    readonly document: ProofDocument
    readonly proof: TlogProof
    readonly open: (head: Uint8Array) => OpenedHead
  },
): BoundTimestamp | undefined {
  const { document, proof, open } = of
  const opened = open(utf8(head))
  if (!opened.ok || opened.head.size !== size) return undefined
  const { text } = parseNote(proof.head)
  const isSameHead = opened.note.text === text
  const path = hashes ?? (isSameHead ? proof.hashes : undefined)
  const isOfLedger = text.startsWith(`${opened.head.origin}\n`)
  if (path === undefined || !isOfLedger) return undefined
  const isHeld = checkInclusion(leafHash(document.entry), { index: proof.index, size, path }, opened.head.root)
  return isHeld ? { text: opened.note.text, token } : undefined
}

type Shown = Omit<BlockFacts, keyof PlaceFacts> | Omit<StatementFacts, keyof PlaceFacts>

/** What the document shows. Throws DecodeError where something of it does not follow from the entry. */
function shownBy(document: ProofDocument, entry: Entry): Shown {
  if (document.kind === 'statement') {
    const bytes = canonicalBytes(document.statement)
    if (entry.kind !== 'statement' || !equalBytes(sha256(bytes), entry.hash)) refuse('is not that of the statement')
    return { kind: 'statement', statement: parseStatement(bytes) }
  }
  if (entry.kind !== 'block') return refuse('is not that of a block')
  const { kind, dataset } = document
  if (!equalBytes(datasetTag(dataset.salt, dataset.id), entry.datasetTag)) refuse('is of another dataset')
  const shown = { kind, dataset: dataset.id, sequence: entry.sequence }
  if (kind !== 'block') {
    if (!isOfEntry(document, entry)) refuse(`has no such ${kind}`)
    const { record: value, index, count, signed } = document
    const said = signed === undefined ? {} : { signed: openRecord(signed, document.entry) }
    return { ...shown, record: { value, index, count }, ...said }
  }
  const { block } = document
  if (!equalBytes(blockTag(block.salt, block.hash), entry.blockTag)) refuse('is of another block')
  return { ...shown, block: block.hash }
}

function refuse(reason: string): never {
  throw new DecodeError('ledger entry', reason)
}

function isOfEntry(document: RecordDocument, entry: BlockEntry): boolean {
  const root = document.kind === 'batch' ? entry.batchRoot : entry.rowRoot
  return !equalBytes(root, noRoot) && isBelow(root, recordLeaf(document.salt, document.record), document)
}

function altered(reason: string): ProofVerdict {
  return { verdict: 'altered', reason }
}

function impossible(reason: string): ProofVerdict {
  return { verdict: 'impossible', reason }
}
