// A node with a ledger, as small as can be, that says the truth and every kind of lie: entries, statements, receipts and proofs in the
// forms of docs/spec/ledger.md, from fixed keys and times. Nothing in it is random.

import { toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { base64Text } from '../../../src/libraries/base/base64.ts'
import { didKeyText } from '../../../src/libraries/base/ids/identifiers.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { cosign } from '../../../src/libraries/ledger/cosignature.ts'
import { blockTag, datasetTag, entryBytes } from '../../../src/libraries/ledger/entry.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../../src/libraries/ledger/note.ts'
import {
  documentBytes,
  type ProofDocument,
  proofJsonText,
  type RecordDocument,
} from '../../../src/libraries/ledger/proof-document.ts'
import { batchSalt, recordLeaf, recordsRoot, rowSalt } from '../../../src/libraries/ledger/roots.ts'
import { allSecrets, blockSalt, datasetSaltOf, secretOf } from '../../../src/libraries/ledger/secrets.ts'
import { recordDomain } from '../../../src/libraries/ledger/signed-record.ts'
import { receiptDomain, refusalDomain, signDocument } from '../../../src/libraries/ledger/signed-document.ts'
import { inclusionProof } from '../../../src/libraries/ledger/tile-proofs.ts'
import { hashesByLevel, recordPlace } from '../../../src/libraries/ledger/tiled-tree.ts'
import { type TlogProof, tlogProofText } from '../../../src/libraries/ledger/tlog-proof.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { signatureTypes } from '../../../src/libraries/ledger/verifier-key.ts'
import { keyText, signer, witnessName } from './keys.ts'

export const domains = { receipt: receiptDomain, refusal: refusalDomain, statement: 'proofstream/statement/1' }
export const didOf = (key: number): string => didKeyText(signer(key).publicKey)
const hex = (text: string): string => toHex(sha256(utf8(text)))
// An object becomes a JSON object.
export const object = (plain: object): JsonObject => fromPlain(plain) as JsonObject

export function signedBy(key: number, domain: string, document: object): JsonObject {
  return signDocument(domain, object(document), { did: didOf(key), sign: (bytes) => signer(key).sign(bytes) })
}

/** Block `sequence` of dataset `number` with two batches and three rows; `changed` makes another block of it. */
export function blockOf(number: number, sequence: number, changed = '') {
  const key = sha256(utf8(`key ${number}`))
  const secret = secretOf(allSecrets(key), sequence)!
  const dataset = { id: `did:odf:fed01${hex(`dataset ${number}`)}`, salt: datasetSaltOf(key) }
  const block = { hash: `f1620${hex(`block ${number} ${sequence}${changed}`)}`, salt: blockSalt(secret) }
  const start = 10 * sequence
  const batches = [
    { id: `batch-${number}-${sequence}`, bodyHash: `f1220${hex(`body ${number} ${sequence}`)}`, status: 'committed' },
    { id: `late-${number}-${sequence}`, bodyHash: `f1220${hex(`late ${number} ${sequence}`)}`, status: 'rejected' },
  ].map((one) =>
    object(
      one.status === 'committed' ? { ...one, offsets: { start, end: start + 2 } } : { ...one, error: 'HeadMoved' },
    ),
  )
  const rows = [0, 1, 2].map((at) => object({ offset: start + at, city: `Zürich "${at}"`, level: at / 2 }))
  const ofKind = (kind: 'batch' | 'row') => {
    const records = kind === 'batch' ? batches : rows
    const salts = records.map((_, at) => (kind === 'batch' ? batchSalt(secret, at) : rowSalt(secret, start + at)))
    const leaves = records.map((record, at) => recordLeaf(salts[at]!, record))
    const documentOf = (at: number) => ({ kind, record: records[at]!, salt: salts[at]!, ...recordPlace(leaves, at) })
    return { root: recordsRoot(leaves), documentOf }
  }
  const [batch, row] = [ofKind('batch'), ofKind('row')]
  const tags = { datasetTag: datasetTag(dataset.salt, dataset.id), blockTag: blockTag(block.salt, block.hash) }
  const entry = entryBytes({ kind: 'block', ...tags, sequence, batchRoot: batch.root, rowRoot: row.root })
  const any = { entry, dataset }
  return {
    entry,
    dataset,
    block: { ...block, sequence },
    batchRecord: batches[0]!,
    documents: {
      block: { ...any, kind: 'block', block },
      batch: { ...any, ...batch.documentOf(0) },
      rejected: { ...any, ...batch.documentOf(1) },
      row: { ...any, ...row.documentOf(1) },
    } satisfies Record<string, ProofDocument>,
  }
}

/** The document of a record with what the node with the key `node` says of it; `said` says otherwise. */
export function signedDocument(document: RecordDocument, node = 7, said: object = {}): RecordDocument {
  const entry = toHex(sha256(document.entry))
  const record = { type: recordDomain, entry, dataset: 'me/lab', blockTime: '2026-05-28T20:19:59.123Z', ...said }
  return { ...document, signed: signedBy(node, recordDomain, record) }
}

export type SmallBlock = ReturnType<typeof blockOf>

/** What the node with the key `node` says of itself. */
export function statementOf(
  node: number,
  of: {
    origin: string
    key: number
    time?: string
    retired?: readonly { node: number; at: string; why: 'rotated' | 'leaked' }[]
    previous?: object
    signedBy?: number
  },
) {
  const { origin, key, time = '2026-05-01T00:00:00.000Z', retired = [], previous, signedBy: by = node } = of
  const statement = signedBy(by, domains.statement, {
    type: domains.statement,
    ledger: { origin, keys: [keyText(origin, key, signatureTypes.ed25519)] },
    node: didOf(node),
    version: '0.3.0',
    engines: [{ name: 'duckdb', version: '1.5.6', sha256: 'a'.repeat(64) }],
    time,
    retired: retired.map((one) => ({ ...one, node: didOf(one.node) })),
    ...(previous && { previous }),
  })
  const entry = entryBytes({ kind: 'statement', hash: sha256(canonicalBytes(statement)) })
  return { entry, documents: { statement: { kind: 'statement', entry, statement } satisfies ProofDocument } }
}

interface HeadOptions {
  readonly size?: number
  readonly witnesses?: readonly number[]
  /** When witnesses sign, in seconds since 1970. */
  readonly at?: number
}

/** Entries under the heads of one origin, signed by the key of this number. */
export class SmallTree {
  readonly origin: string
  readonly key: number
  readonly entries: readonly Uint8Array[]

  constructor(origin: string, key: number, all: readonly { readonly entry: Uint8Array }[]) {
    this.origin = origin
    this.key = key
    this.entries = all.map(({ entry }) => entry)
  }

  root(size = this.entries.length): Uint8Array {
    return treeRoot(this.entries.slice(0, size).map(leafHash))
  }

  head({ size = this.entries.length, witnesses = [1, 3], at = 1_780_000_000 }: HeadOptions = {}): Uint8Array {
    const text = headText({ origin: this.origin, size, root: this.root(size) })
    const lines = witnesses.map((n) => cosign(text, witnessName(n), signer(10 + n), at + n))
    return utf8(noteOf({ text, signatures: [signNote(text, this.origin, signer(this.key)), ...lines] }))
  }

  proof(document: ProofDocument, options: HeadOptions = {}): TlogProof {
    const { size = this.entries.length } = options
    const index = this.entries.findIndex((entry) => entry === document.entry)
    const hashes = inclusionProof(index, size, hashesByLevel(this.entries.slice(0, size).map(leafHash)))
    return { extra: documentBytes(document), index, hashes, head: this.head(options) }
  }

  text(document: ProofDocument, options?: HeadOptions): Uint8Array {
    return tlogProofText(this.proof(document, options))!
  }

  json(document: ProofDocument, options?: HeadOptions): string {
    return proofJsonText(document, this.proof(document, options))
  }

  /** Where this ledger ended, as another says it that took its place. */
  previous(size = this.entries.length): object {
    return { origin: this.origin, size, root: base64Text(this.root(size)), reason: 'entries were lost' }
  }
}

interface ReceiptOptions {
  readonly key?: number
  readonly ledger?: string
  readonly time?: string
  /** No promise where it is null. */
  readonly by?: string | null
  /** Members in place of the true ones. */
  readonly more?: object
  /** Members of the promise in place of the true ones. */
  readonly promise?: object
}

/** The receipt of the batch of a block, as node 7 signs it, with other facts where these are given. */
export function receiptOf(block: SmallBlock, options: ReceiptOptions = {}): JsonObject {
  const { key = 7, ledger = 'node.example/ledger', more = {} } = options
  const { time = '2026-05-28T20:20:00.000Z', by = '2026-05-28T20:21:30.000Z' } = options
  const { batchRecord: record, dataset } = block
  const { hash, sequence, salt } = block.block
  const salts = { datasetSalt: toHex(dataset.salt), blockSalt: toHex(salt) }
  return signedBy(key, domains.receipt, {
    receiptId: 'R'.repeat(40),
    batchId: record.get('id'),
    time,
    status: 'committed',
    dataset: { id: dataset.id, alias: 'me/lab' },
    block: { hash, sequence },
    bodyHash: record.get('bodyHash'),
    offsets: record.get('offsets'),
    ...(by !== null && { promise: { ledger, by, ...salts, ...options.promise } }),
    ...more,
  })
}
