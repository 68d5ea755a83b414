// The verdict on a proof file: is what it shows in a ledger that the policy knows, under a head that the ledger and enough
// witnesses have signed. Every fact of the verdict is recomputed from the entry; nothing else of the file counts.

import { equalBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import type { JsonObject } from '../base/json/value.ts'
import { blockTag, type BlockEntry, datasetTag, noRoot, parseEntry } from './entry.ts'
import { parseNote } from './note.ts'
import { type OpenedHead, openHead, unsignedHead, type Witnessed } from './open-head.ts'
import type { Policy } from './policy.ts'
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
import { checkInclusion, leafHash } from './tree.ts'
import { parseTlogProof, type TlogProof } from './tlog-proof.ts'

/** What a proof shows. */
export interface ProofFacts {
  readonly kind: ProofDocument['kind']
  /** DID of the dataset. */
  readonly dataset: string
  /** Of the block in its chain. */
  readonly sequence: number
  /** Hash of the block, where that is what is shown. */
  readonly block?: string
  /** The batch or the row, and its place among those of the block. */
  readonly record?: { readonly value: JsonObject; readonly index: number; readonly count: number }
  readonly ledger: {
    readonly origin: string
    readonly size: number
    readonly root: Uint8Array
    /** Of the entry. */
    readonly index: number
  }
  readonly witnessed: readonly Witnessed[]
}

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
  /** It cannot be judged: without a policy, of a ledger that the policy does not know, or of a newer form. */
  | { readonly verdict: 'impossible'; readonly reason: string; readonly missing?: 'policy' }

interface ProofFile {
  readonly document: ReadDocument | undefined
  readonly proof: TlogProof
  readonly timestamp?: HeadTimestamp
}

/**
 * Judges a proof file in either form, by its bytes or as JSON that was parsed. Without a policy all is checked but the
 * signatures, and what is right cannot be judged further. Does not throw, whatever the file holds.
 */
export function judgeProof(file: Uint8Array | JsonObject, policy: Policy | undefined): ProofVerdict {
  const open = (head: Uint8Array): OpenedHead => (policy === undefined ? unsignedHead(head) : openHead(head, policy))
  const judged = judgeOpened(file, open)
  return policy === undefined && 'facts' in judged ? needsPolicy : judged
}

function judgeOpened(file: Uint8Array | JsonObject, open: (head: Uint8Array) => OpenedHead): ProofVerdict {
  try {
    const { document, proof, timestamp } = readFile(file)
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

/** Why nothing is good where there is no policy. */
export const needsPolicy = {
  verdict: 'impossible',
  reason: 'whom to trust is not in the file: it takes a policy',
  missing: 'policy',
} as const
const newerForm = 'it is of a form that this version does not know'

function readFile(file: Uint8Array | JsonObject): ProofFile {
  // Bytes may be of another realm, as those of a frame are.
  if (file instanceof Map) return readProofJson(file)
  return isJson(file) ? parseProofJson(file) : readText(file)
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
  if (entry.kind !== 'block') return altered('its entry is not that of a block')
  const fault = faultOf(document, entry)
  if (fault !== undefined) return altered(fault)
  if (!opened.ok) return opened.fault === 'unknown' ? impossible(opened.reason) : altered(opened.reason)
  const { head, quorum, witnessed } = opened
  if (!checkInclusion(leafHash(document.entry), { index, size: head.size, path: hashes }, head.root)) {
    return altered('the entry is not at this place of the tree')
  }
  const facts: ProofFacts = {
    kind: document.kind,
    dataset: document.dataset.id,
    sequence: entry.sequence,
    ...shownBy(document),
    ledger: { origin: head.origin, size: head.size, root: head.root, index },
    witnessed,
  }
  if (quorum !== 'not met') return { verdict: 'included', facts, quorum }
  const count = witnessed.length === 1 ? '1 witness has' : `${witnessed.length} witnesses have`
  return {
    verdict: 'witness quorum not met',
    facts,
    reason: `${count} signed the head, fewer than the policy asks for`,
  }
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

/** What of the document does not follow from the entry. */
function faultOf(document: ProofDocument, entry: BlockEntry): string | undefined {
  const { id, salt } = document.dataset
  if (!equalBytes(datasetTag(salt, id), entry.datasetTag)) return 'the entry is of another dataset'
  if (document.kind !== 'block')
    return isOfEntry(document, entry) ? undefined : `the entry has no such ${document.kind}`
  const { block } = document
  return equalBytes(blockTag(block.salt, block.hash), entry.blockTag) ? undefined : 'the entry is of another block'
}

function isOfEntry(document: RecordDocument, entry: BlockEntry): boolean {
  const root = document.kind === 'batch' ? entry.batchRoot : entry.rowRoot
  return !equalBytes(root, noRoot) && isBelow(root, recordLeaf(document.salt, document.record), document)
}

function shownBy(document: ProofDocument): Pick<ProofFacts, 'block' | 'record'> {
  if (document.kind === 'block') return { block: document.block.hash }
  const { record, index, count } = document
  return { record: { value: record, index, count } }
}

function altered(reason: string): ProofVerdict {
  return { verdict: 'altered', reason }
}

function impossible(reason: string): ProofVerdict {
  return { verdict: 'impossible', reason }
}
