// Statements: what a node says of its ledger, its version and its engines, signed by the node key. An entry of the ledger is the hash
// of one.

import { equalBytes } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { canonicalBytes } from '../base/json/canonical.ts'
import { fromPlain, parseJson } from '../base/json/json.ts'
import { list, natural, object, type ObjectOf, oneOf, optional, readShape, text } from '../base/json/shape.ts'
import type { NodeKey } from '../proof/sign.ts'
import type { StatementEntry } from './entry.ts'
import { signDocument, signerOf, utcText } from './signed-document.ts'

const type = 'proofstream/statement/1'

const members = {
  type: oneOf(type),
  /** Origin and key texts. */
  ledger: object({ origin: text(), keys: list(text(), { least: 1 }) }),
  /** did:key of the node. */
  node: text(),
  version: text(),
  engines: list(object({ name: text(), version: text(), sha256: text(/^[0-9a-f]{64}$/) })),
  /** RFC 3339 UTC. */
  time: utcText,
  /** The former keys of the node, and since when they sign nothing. */
  retired: list(object({ node: text(), at: utcText, why: oneOf('rotated', 'leaked') })),
  /** Of a ledger that takes another's place: where that one ended, the larger head that was seen of it, and why. */
  previous: optional(object({ origin: text(), size: natural, root: text(), seen: optional(text()), reason: text() })),
}
const signedShape = object({ ...members, proof: (value) => value })

export type Statement = Omit<ObjectOf<typeof members>, 'type' | 'node'>

/** A statement, and the did:key that has signed it. */
export type SignedStatement = Statement & { readonly node: string }

/** The bytes of a statement by the node with this key: canonical JSON. */
export function statementBytes(statement: Statement, key: Pick<NodeKey, 'did' | 'sign'>): Uint8Array {
  const value = fromPlain({ ...statement, type, node: key.did })
  return canonicalBytes(value instanceof Map ? signDocument(type, value, key) : value)
}

/** The statement of these bytes, and the node that has signed it. Throws DecodeError: also where another has signed. */
export function parseStatement(bytes: Uint8Array): SignedStatement {
  const value = parseJson(bytes)
  const { type: _, proof: __, ...statement } = readShape('statement', signedShape, value)
  if (!(value instanceof Map) || signerOf(type, value) !== statement.node) {
    throw new DecodeError('statement', 'is not signed by its node')
  }
  if (!equalBytes(canonicalBytes(value), bytes)) throw new DecodeError('statement', 'is not canonical JSON')
  return statement
}

/** The entry of a statement, by its bytes. */
export function statementEntry(bytes: Uint8Array): StatementEntry {
  return { kind: 'statement', hash: sha256(bytes) }
}
