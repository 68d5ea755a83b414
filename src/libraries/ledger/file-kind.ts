// Which kind of evidence a file is, by what it begins with and which members it has. Nothing is checked: a kind only says who judges.
// What is of no kind is read through once, and none of its values is kept.

import { decodeUtf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { parseJson } from '../base/json/json.ts'
import { JsonError } from '../base/json/parser.ts'
import type { JsonObject } from '../base/json/value.ts'
import { textForm } from '../base/text-form.ts'
import { answerBytesMost } from '../proof/proof-body.ts'
import { receiptFileType } from './receipt-file.ts'
import { brokenPromiseType } from './signed-receipt.ts'
import { maxNoteBytes } from './note.ts'

/** `other`: an answer, a bundle, or nothing that is known. `document` is what is signed; of a proof in JSON, all of it. */
export type LedgerFile =
  | { readonly kind: 'head' | 'statement' | 'other' }
  /** About a ledger by its members, and larger than such files are. */
  | { readonly kind: 'too large'; readonly reason: string }
  | { readonly kind: 'proof'; readonly document?: JsonObject; readonly within?: Within }
  | { readonly kind: 'refusal' | 'broken promise'; readonly document: JsonObject; readonly within?: Within }
  /** `withProofs`: the file in which it came together with its proofs. */
  | {
      readonly kind: 'receipt'
      readonly document: JsonObject
      readonly withProofs?: JsonObject
      readonly within?: Within
    }

/** The member that holds what is signed, where the file is more than that. */
type Within = 'evidence' | 'refusal'

const other: LedgerFile = { kind: 'other' }
/** A proof of the largest record, a receipt, a refusal: none has more. */
const maxJsonBytes = 64 * 1024 * 1024
/** A record has at most 16 MiB, and each value in it at least two bytes. */
const maxJsonValues = 10_000_000
/** Each kind has one of them. */
const tellingNames = ['type', 'evidence', 'entry', 'receiptId', 'refusal', 'bodyHash']

/** The kind of a file, also as a transport of texts has left it. */
export function kindOfFile(file: Uint8Array): LedgerFile {
  const { bytes } = textForm(file)
  const start = String.fromCharCode(...bytes.subarray(0, 200)).trimStart()
  if (start.startsWith('c2sp.org/tlog-proof@')) return { kind: 'proof' }
  if (!start.startsWith('{')) return isNote(bytes) ? { kind: 'head' } : other
  // An answer, by its first member: it may be large.
  if (bytes.length > answerBytesMost || /^\{\s*"(?:commitment|input|output|subQueries)"/.test(start)) return other
  const tooLarge = (most: string): LedgerFile => ({ kind: 'too large', reason: `it has more than ${most}` })
  try {
    const outline = parseJson(bytes, { keep: 'outermost' })
    if (!(outline instanceof Map) || !tellingNames.some((name) => outline.has(name))) return other
    if (bytes.length > maxJsonBytes) return tooLarge(`${maxJsonBytes} bytes`)
    parseJson(bytes, { keep: 'outermost', maxValues: maxJsonValues })
    const document = parseJson(bytes) as JsonObject // as its outline
    const file = kindOfJson(document)
    return file.kind === 'proof' ? { ...file, document } : file
  } catch (error) {
    if (error instanceof JsonError && error.fault === 'values') return tooLarge(`${maxJsonValues} values`)
    if (error instanceof DecodeError) return other
    throw error
  }
}

function kindOfJson(document: JsonObject): LedgerFile {
  const nested = (name: string): JsonObject | undefined => {
    const member = document.get(name)
    return member instanceof Map ? (member as JsonObject) : undefined // names of members are strings
  }
  // What `verify` prints of a broken promise is a file by itself.
  const evidence = nested('evidence')
  if (evidence !== undefined) {
    const found = kindOfJson(evidence)
    return 'document' in found ? { ...found, within: 'evidence' } : found
  }
  if (document.get('type') === brokenPromiseType) return { kind: 'broken promise', document }
  const receipt = document.get('type') === receiptFileType ? nested('receipt') : undefined
  if (receipt !== undefined) return { kind: 'receipt', document: receipt, withProofs: document }
  if (document.get('type') === 'proofstream/statement/1') return { kind: 'statement' }
  if (document.has('entry') && document.has('ledger')) return { kind: 'proof' }
  if (document.has('commitment')) return other
  if (document.has('receiptId')) return { kind: 'receipt', document }
  const inner = nested('refusal')
  const refusal = inner ?? document
  if (!refusal.has('bodyHash') || !refusal.has('kind') || !refusal.has('proof')) return other
  return { kind: 'refusal', document: refusal, ...(inner !== undefined && { within: 'refusal' as const }) }
}

function isNote(bytes: Uint8Array): boolean {
  if (bytes.length > maxNoteBytes) return false
  try {
    return decodeUtf8(bytes).includes('\n\n— ')
  } catch {
    return false
  }
}
