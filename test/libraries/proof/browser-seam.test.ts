// The verifier as browsers run it, in a context that has nothing of Node.js: over every proof and forgery it must say what
// the verifier on Node.js says, word for word.

import { createContext, runInContext } from 'node:vm'
import * as noble from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { browserBundle } from '../../../scripts/browser-bundle.ts'
import * as browser from '../../../src/libraries/base/ids/browser-crypto.ts'
import { decodeMultibase, parseDidKey } from '../../../src/libraries/base/ids/identifiers.ts'
import * as native from '../../../src/libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { forgeries } from './forgeries.ts'
import { proofVectors, verifyVectors } from './proof-vectors.ts'

let inBrowser: (text: string) => string
let code: string

beforeAll(async () => {
  code = await browserBundle('src/libraries/proof/verify.ts', 'verifier')
  const context = createContext({ TextEncoder, TextDecoder })
  runInContext(code, context)
  const call = runInContext('(text) => JSON.stringify(verifier.verifyOffline(text))', context) as typeof inBrowser
  inBrowser = call
})

const onNode = (text: string): string => JSON.stringify(verifyOffline(text))

test('hashes pieces as Node.js does', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 6 }), (pieces) => {
      for (const [one, other] of [
        [browser.createSha3256(), native.createSha3256()],
        [browser.createSha2('sha256'), native.createSha2('sha256')],
        [browser.createSha2('sha512'), native.createSha2('sha512')],
      ] as const) {
        for (const piece of pieces) for (const hash of [one, other]) hash.update(piece)
        expect(Buffer.from(one.digest()).toString('hex')).toBe(Buffer.from(other.digest()).toString('hex'))
      }
    }),
  )
})

describe('the verifier in a browser', () => {
  test('is one small script that asks for nothing', () => {
    expect(code.match(/\bnode:|\b(?:require|import|fetch|eval|Function)\(/g)).toBeNull()
    expect(code.length).toBeLessThan(60_000)
  })

  test.each(proofVectors)('verifies the live proof $name', ({ responseBodyBytes }) => {
    expect(inBrowser(responseBodyBytes)).toBe(onNode(responseBodyBytes))
    expect(inBrowser(responseBodyBytes)).toContain('"ok":true')
  })

  test.each(verifyVectors)('says of $name what Node.js says', ({ requestBody }) => {
    expect(inBrowser(requestBody)).toBe(onNode(requestBody))
  })

  test.each(forgeries)('calls $name by its name', ({ text, kind }) => {
    expect(inBrowser(text)).toBe(onNode(text))
    const verdict = verifyOffline(text)
    expect(verdict.ok ? 'ok' : verdict.kind).toBe(kind)
  })

  test('says the same of damaged files', () => {
    const text = proofVectors[0]!.responseBodyBytes
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 2 }), (at, put) => {
        const damaged = text.slice(0, at) + put + text.slice(at + 1)
        expect(inBrowser(damaged)).toBe(onNode(damaged))
      }),
      { numRuns: 300 },
    )
  })
})

describe('the seam of browsers', () => {
  test('hashes as Node.js does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(browser.sha3256Hex(bytes)).toBe(native.sha3256Hex(bytes))
      }),
    )
  })

  test('refuses what the library takes with its cofactor, as Node.js does', () => {
    noble.hashes.sha512 = sha512
    const cofactored = forgeries.filter(({ name }) => name.includes('only the cofactor'))
    expect(cofactored).toHaveLength(2)
    for (const { text } of cofactored) {
      const { publicKey, message, signature } = signedOf(text)
      expect(noble.verify(signature, message, publicKey, { zip215: true })).toBe(true)
      expect(browser.ed25519Verify(publicKey, message, signature)).toBe(false)
      expect(native.ed25519Verify(publicKey, message, signature)).toBe(false)
    }
  })

  test('says false for what is no key or signature', () => {
    const signer = native.ed25519Signer(new Uint8Array(32).fill(3))
    const [message, signature] = [utf8('message'), signer.sign(utf8('message'))]
    expect(browser.ed25519Verify(signer.publicKey, message, signature)).toBe(true)
    expect(browser.ed25519Verify(signer.publicKey, utf8('massage'), signature)).toBe(false)
    expect(browser.ed25519Verify(new Uint8Array(31), message, signature)).toBe(false)
    expect(browser.ed25519Verify(new Uint8Array(32).fill(255), message, signature)).toBe(false)
    expect(browser.ed25519Verify(signer.publicKey, message, signature.subarray(1))).toBe(false)
    expect(browser.ed25519Verify(signer.publicKey, message, new Uint8Array(64).fill(255))).toBe(false)
  })
})

/** Key, signature and signed bytes of a saved answer. */
function signedOf(text: string): { publicKey: Uint8Array; signature: Uint8Array; message: Uint8Array } {
  const { commitment, proof } = JSON.parse(text) as { commitment: object; proof: Record<string, string> }
  return {
    publicKey: parseDidKey(proof['verificationMethod']!),
    signature: decodeMultibase(proof['proofValue']!, 'signature', 64),
    message: utf8(JSON.stringify(commitment)),
  }
}
