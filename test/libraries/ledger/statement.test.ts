// Statements and other documents that a node signs: in one domain, by one key, in one spelling.

import { describe, expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { entryBytes, parseEntry } from '../../../src/libraries/ledger/entry.ts'
import { signDocument, signerOf } from '../../../src/libraries/ledger/signed-document.ts'
import { parseStatement, statementBytes, statementEntry } from '../../../src/libraries/ledger/statement.ts'
import { nodeKeyFromSeed } from '../../../src/libraries/proof/sign.ts'
import { keyText, origin } from './keys.ts'
import { sha256 } from './rfc6962.ts'

const key = nodeKeyFromSeed(new Uint8Array(32).fill(5))
const other = nodeKeyFromSeed(new Uint8Array(32).fill(6))
const statement = {
  ledger: { origin, keys: [keyText(origin, 1, 1)] },
  version: '0.3.0',
  engines: [{ name: 'duckdb', version: '1.5.6', sha256: 'ab'.repeat(32) }],
  time: '2026-07-22T10:00:00.000Z',
  retired: [{ node: 'did:key:zOld', at: '2026-07-21T10:00:00.000Z', why: 'leaked' as const }],
}
const previous = { origin: 'old.example/ledger', size: 7, root: 'AAAA', reason: 'the key is lost' }

describe('a statement', () => {
  const bytes = statementBytes(statement, key)

  test('goes to bytes and back', () => {
    expect(parseStatement(bytes)).toEqual({ ...statement, node: key.did })
    expect(parseStatement(statementBytes({ ...statement, previous }, key))).toMatchObject({ previous })
    expect(statementBytes(statement, key)).toEqual(bytes)
  })

  test('is an entry by its hash', () => {
    expect(statementEntry(bytes)).toEqual({ kind: 'statement', hash: sha256(bytes) })
    expect(parseEntry(entryBytes(statementEntry(bytes)))).toEqual(statementEntry(bytes))
  })

  test.each([
    ['another value', /0\.3\.0/, '0.3.1'],
    ['another node', key.did, other.did],
    ['another member', '"time"', '"more":1,"time"'],
    ['white space', '{', '{ '],
    ['another type', 'statement/1', 'statement/2'],
    ['another reason', '"leaked"', '"lost"'],
    ['no key', /"keys":\[[^\]]*\]/, '"keys":[]'],
    ['another signature', /"proofValue":"u./, '"proofValue":"u_'],
  ])('with %s is refused', (_, from, to) => {
    const changed = decodeUtf8(bytes).replace(from, to)
    expect(changed).not.toBe(decodeUtf8(bytes))
    expect(() => parseStatement(utf8(changed))).toThrow(/^(?:statement|signature): /)
  })

  test('that another has signed is refused', () => {
    const foreign = decodeUtf8(statementBytes(statement, other)).replace(`"node":"${other.did}"`, `"node":"${key.did}"`)
    expect(() => parseStatement(utf8(foreign))).toThrow('not satisfied')
  })
})

test('a document is signed in its domain', () => {
  // An object becomes a JSON object.
  const document = fromPlain({ dataset: 'a/b', bodyHash: sha3Hash(utf8('body')) }) as JsonObject
  const signed = signDocument('proofstream/receipt/1', document, key)
  expect(signerOf('proofstream/receipt/1', signed)).toBe(key.did)
  expect(() => signerOf('proofstream/refusal/1', signed)).toThrow('not satisfied')
  expect(() => signerOf('proofstream/receipt/1', document)).toThrow('proof')
  expect(() => signerOf('proofstream/receipt/1', new Map([...signed, ['more', null]]))).toThrow('not satisfied')
})
