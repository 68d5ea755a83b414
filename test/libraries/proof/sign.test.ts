// Commitments and signatures: the very bytes that a live node made from the same input, output and key.

import { Point } from '@noble/ed25519'
import { describe, expect, test } from 'vitest'
import { canonicalText } from '../../../src/libraries/base/json/canonical.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { fromHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import type { JsonValue } from '../../../src/libraries/base/json/value.ts'
import { commit, commitmentBytes, commitmentTextBytes, hashCanonical } from '../../../src/libraries/proof/commitment.ts'
import {
  generateNodeKey,
  nodeKeyFromJson,
  nodeKeyFromSeed,
  nodeKeyToJson,
  signProof,
} from '../../../src/libraries/proof/sign.ts'
import { proofVectors } from './proof-vectors.ts'

function member(body: string, name: string): JsonValue {
  const answer = parseJson(body)
  return (answer instanceof Map ? answer.get(name) : undefined) ?? null
}

describe('a commitment', () => {
  test('there are 48 live proofs to compare with', () => {
    expect(proofVectors).toHaveLength(48)
  })

  test.each(proofVectors)('of $name has the hashes, text and signature of the live node', (vector) => {
    const input = member(vector.responseBodyBytes, 'input')
    const output = member(vector.responseBodyBytes, 'output')
    expect(canonicalText(input)).toBe(vector.inputCanonical)
    expect(canonicalText(output)).toBe(vector.outputCanonical)

    const commitment = commit({ input, output })
    expect(commitment).toEqual({
      inputHash: vector.inputHash,
      outputHash: vector.outputHash,
      subQueriesHash: vector.subQueriesHash,
    })
    expect(commitmentBytes(commitment)).toEqual(utf8(vector.commitmentCanonical))

    const signed = signProof(commitment, nodeKeyFromSeed(fromHex(vector.seedHex)!))
    expect(JSON.stringify(signed.proof)).toBe(
      JSON.stringify({
        type: 'Ed25519Signature2020',
        verificationMethod: vector.did,
        proofValue: vector.proofValue,
      }),
    )
  })

  test('is the same over values and over their canonical bytes', () => {
    const vector = proofVectors[4]!
    const fromBytes = commit({
      input: utf8(vector.inputCanonical),
      output: utf8(vector.outputCanonical),
      subQueries: utf8('[]'),
    })
    expect(fromBytes.outputHash).toBe(vector.outputHash)
    expect(fromBytes.subQueriesHash).toBe(hashCanonical([]))
  })

  test('has a text of 259 bytes and takes no other form of hash', () => {
    const commitment = commit({ input: null, output: null })
    expect(commitmentBytes(commitment)).toHaveLength(commitmentTextBytes)
    expect(() => commitmentBytes({ ...commitment, inputHash: 'f1620' })).toThrow('f1620…')
  })
})

describe('a node key', () => {
  // RFC 8032, section 7.1, tests 1 and 2.
  test.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
  ])('signs as RFC 8032 says (seed %s)', (seed, publicKey, message, signature) => {
    const key = nodeKeyFromSeed(fromHex(seed)!)
    expect(key.publicKey).toEqual(fromHex(publicKey))
    expect(key.sign(fromHex(message)!)).toEqual(fromHex(signature))
  })

  test('survives its JSON form, which is one line and tells its DID', () => {
    const key = generateNodeKey()
    const text = nodeKeyToJson(key)
    expect(text).toMatch(/^\{"type":"Ed25519","seed":"[0-9a-f]{64}","did":"did:key:z6Mk\w+"\}\n$/)
    const again = nodeKeyFromJson(utf8(text))
    expect(again.did).toBe(key.did)
    expect(again.sign(utf8('x'))).toEqual(key.sign(utf8('x')))
    expect(() => Point.fromBytes(key.publicKey, false)).not.toThrow()
  })

  test('two fresh keys differ', () => {
    expect(generateNodeKey().did).not.toBe(generateNodeKey().did)
  })

  const good = nodeKeyToJson(nodeKeyFromSeed(new Uint8Array(32).fill(1)))
  test.each([
    ['', 'not JSON'],
    ['[]', 'is not {"type"'],
    [good.replace('Ed25519', 'RSA'), 'is not {"type"'],
    [good.replace('0101', '01'), 'no seed of 64 hex digits'],
    [good.replace('0101', '0x01'), 'no seed of 64 hex digits'],
    [good.replace('0101', '0202'), 'names a DID that its seed does not give'],
    [good.replace(/,"did":"[^"]*"/, ''), 'names a DID that its seed does not give'],
  ])('refuses the file %s', (text, reason) => {
    expect(() => nodeKeyFromJson(text)).toThrow(reason)
    expect(() => nodeKeyFromJson(text)).not.toThrow(/01010101/)
  })
})
