// What a proof says beside the path in the tree: the entry, and the salts and texts that its tags and roots are recomputed from. As
// canonical JSON in the `extra` line of a `.tlog-proof`, or as JSON by itself with the rest of the proof in the member `ledger`.

import { base64Text, fromBase64 } from '../base/base64.ts'
import { decodeUtf8, equalBytes, fromHex, toHex, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { datasetIdPattern, hashPattern } from '../base/ids/identifiers.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { fromPlain, jsonText, parseJson } from '../base/json/json.ts'
import { list, map, natural, object, oneOf, optional, readShape, refuse, type Shape, text } from '../base/json/shape.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import { hashBytes } from './tree.ts'
import type { TlogProof } from './tlog-proof.ts'

interface AnyDocument {
  readonly entry: Uint8Array
  readonly dataset: { readonly id: string; readonly salt: Uint8Array }
}

export interface BlockDocument extends AnyDocument {
  readonly kind: 'block'
  readonly block: { readonly hash: string; readonly salt: Uint8Array }
}

/** A batch or row, and its place below the root that the entry has for them. */
export interface RecordDocument extends AnyDocument {
  readonly kind: 'batch' | 'row'
  readonly record: JsonObject
  readonly salt: Uint8Array
  readonly index: number
  readonly count: number
  readonly path: readonly Uint8Array[]
  /** What the node says beside that (signed-record.ts). A document with it has version 2. */
  readonly signed?: JsonObject
}

/** What the node says of itself, with its signature. */
export interface StatementDocument {
  readonly kind: 'statement'
  readonly entry: Uint8Array
  readonly statement: JsonObject
}

export type ProofDocument = BlockDocument | RecordDocument | StatementDocument

/** A document that this version cannot read: it has another version or kind. */
export type ReadDocument = ProofDocument | { readonly kind: 'newer' }

/** A time stamp over a head, as bytes that nothing here has checked. */
export interface HeadTimestamp {
  readonly size: number
  readonly head: string
  /** From the entry to this head; undefined where it is the head of the proof. */
  readonly hashes?: readonly Uint8Array[] | undefined
  readonly token: Uint8Array
}

/** A proof as one JSON value. */
export interface ProofJson {
  readonly document: ReadDocument
  readonly proof: TlogProof
  readonly timestamp?: HeadTimestamp
}

const version = 1
/** Of documents with `signed`. */
const signedVersion = 2
const what = 'proof'

export const hashText = map(text(/^[0-9a-f]{64}$/), (hex) => fromHex(hex) ?? refuse('is not hex'))
export const bytesText = map(text(), (base64) => fromBase64(base64) ?? refuse('is not base64'))
export const pathHash = map(bytesText, (bytes) => (bytes.length === hashBytes ? bytes : refuse('is not a hash')))
/** Any object. */
export const anyObject: Shape<JsonObject> = (value) =>
  // Names of JSON members are strings; the value comes out of parseJson.
  value instanceof Map ? (value as JsonObject) : refuse('is not an object')

const anyMembers = {
  v: natural,
  entry: bytesText,
  dataset: object({ id: text(datasetIdPattern), salt: hashText }),
}
const blockShape = object({
  ...anyMembers,
  kind: oneOf('block'),
  block: object({ hash: text(hashPattern), salt: hashText }),
})
const statementShape = object({ v: natural, kind: oneOf('statement'), entry: bytesText, statement: anyObject })
const recordMembers = {
  ...anyMembers,
  kind: oneOf('batch', 'row'),
  record: anyObject,
  salt: hashText,
  index: natural,
  count: natural,
  path: list(pathHash),
}
const recordShape = object(recordMembers)
const signedRecordShape = object({ ...recordMembers, signed: anyObject })
const ledgerShape = object({
  index: natural,
  hashes: list(pathHash),
  head: text(),
  timestamp: optional(object({ size: natural, head: text(), hashes: optional(list(pathHash)), token: bytesText })),
})
const marks = object({ v: natural, kind: text() }, { others: 'ignored' })

function plainDocument(document: ProofDocument): Record<string, unknown> {
  const { kind } = document
  const head = { v: version, kind, entry: base64Text(document.entry) }
  if (kind === 'statement') return { ...head, statement: document.statement }
  const { id, salt: datasetSalt } = document.dataset
  const any = { ...head, dataset: { id, salt: toHex(datasetSalt) } }
  if (kind === 'block') return { ...any, block: { hash: document.block.hash, salt: toHex(document.block.salt) } }
  const { record, salt, index, count, path, signed } = document
  const shown = { ...any, record, salt: toHex(salt), index, count, path: path.map(base64Text) }
  return signed === undefined ? shown : { ...shown, v: signedVersion, signed }
}

/** The bytes of an `extra` line. */
export function documentBytes(document: ProofDocument): Uint8Array {
  return canonicalBytes(fromPlain(plainDocument(document)))
}

/** The document of an `extra` line. Throws DecodeError unless the bytes are what `documentBytes` makes of one. */
export function parseDocument(bytes: Uint8Array): ReadDocument {
  const document = readDocument(parseJson(bytes))
  if (document.kind === 'newer' || equalBytes(documentBytes(document), bytes)) return document
  throw new DecodeError(what, 'is not canonical JSON')
}

/** The JSON form: the document with the member `ledger`. */
export function proofJsonText(...of: Parameters<typeof proofJson>): string {
  return jsonText(proofJson(...of))
}

/** The same as a value. */
export function proofJson(document: ProofDocument, proof: TlogProof, timestamp?: HeadTimestamp): JsonObject {
  const ledger = {
    index: proof.index,
    hashes: proof.hashes.map(base64Text),
    head: decodeUtf8(proof.head),
    ...(timestamp !== undefined && { timestamp: plainTimestamp(timestamp) }),
  }
  return fromPlain({ ...plainDocument(document), ledger }) as JsonObject // of an object
}

function plainTimestamp({ size, head, hashes, token }: HeadTimestamp): object {
  return { size, head, ...(hashes !== undefined && { hashes: hashes.map(base64Text) }), token: base64Text(token) }
}

/** Reads the JSON form in any spelling. Throws DecodeError. */
export function parseProofJson(bytes: Uint8Array): ProofJson {
  const value = parseJson(bytes)
  if (!(value instanceof Map)) throw new DecodeError(what, 'is not an object')
  return readProofJson(value as JsonObject) // names of JSON members are strings
}

/** As `parseProofJson`, of what was parsed. */
export function readProofJson(value: JsonObject): ProofJson {
  const own = new Map(value)
  own.delete('ledger')
  const { index, hashes, head, timestamp } = readShape(what, ledgerShape, value.get('ledger'))
  const document = readDocument(own)
  return { document, proof: { index, hashes, head: utf8(head) }, ...(timestamp !== undefined && { timestamp }) }
}

function readDocument(value: JsonValue): ReadDocument {
  const { v, kind } = readShape(what, marks, value)
  const isRecord = kind === 'batch' || kind === 'row'
  if (v === signedVersion && isRecord) {
    const { v: _, ...document } = readShape(what, signedRecordShape, value)
    return document
  }
  if (v !== version) return { kind: 'newer' }
  if (kind === 'block') {
    const { v: _, ...document } = readShape(what, blockShape, value)
    return document
  }
  if (kind === 'statement') {
    const { v: _, ...document } = readShape(what, statementShape, value)
    return document
  }
  if (!isRecord) return { kind: 'newer' }
  const { v: _, ...document } = readShape(what, recordShape, value)
  return document
}
