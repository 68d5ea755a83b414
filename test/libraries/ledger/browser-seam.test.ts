// The ledger's library as browsers run it, in a context that has nothing of Node.js: the same bytes, the same verdicts.

import { createContext, runInContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { browserBundle } from '../../../scripts/browser-bundle.ts'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import * as browser from '../../../src/libraries/base/ids/browser-crypto.ts'
import * as native from '../../../src/libraries/base/ids/native-crypto.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, signNote } from '../../../src/libraries/ledger/note.ts'
import { tlogProofText } from '../../../src/libraries/ledger/tlog-proof.ts'
import { origin, smallOrderSigner, twoOfThree } from './keys.ts'
import { kinds, SmallLedger } from './proofs.ts'

test('SHA-256 and its HMAC are those of Node.js', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 300 }), (key, bytes) => {
      expect(browser.sha256(bytes)).toEqual(native.sha256(bytes))
      expect(browser.hmacSha256(key, bytes)).toEqual(native.hmacSha256(key, bytes))
    }),
  )
})

test('a browser judges proofs as Node.js does', async () => {
  const code = await browserBundle('src/libraries/ledger/ledger.ts', 'ledger')
  expect(code.match(/["'`]node:|\b(?:require|import|fetch|eval|Function)\(/g)).toBeNull()
  const context = createContext({ TextEncoder, TextDecoder })
  runInContext(code, context)
  const program = `(proof, policy) => {
    const bytes = (text) => new TextEncoder().encode(text)
    return JSON.stringify(ledger.judgeProof(bytes(proof), ledger.parsePolicy(bytes(policy))))
  }`
  const judge = runInContext(program, context) as (proof: string, policy: string) => string
  const small = new SmallLedger(20)
  const proof = small.proof(3, 17, 'row')
  const text = headText({ origin, size: 17, root: small.root(17) })
  const noWitness = twoOfThree.replace('quorum G', 'quorum none')
  // A ledger could make such a signature for readers who differ in what they take.
  const head = utf8(noteOf({ text, signatures: [signNote(text, origin, smallOrderSigner(1))] }))
  const odd = decodeUtf8(tlogProofText({ ...proof, head }) ?? new Uint8Array())
  expect(judgeProof(utf8(odd), parsePolicy(utf8(noWitness))).verdict).toBe('altered')
  expect(judge(odd, noWitness)).toContain('"altered"')
  for (const kind of kinds) {
    const good = decodeUtf8(small.text(3, 17, kind))
    for (const text of [
      good,
      good.replace('index 3', 'index 4'),
      good.replace(/.\n$/, '\n'),
      good.replace('17', '18'),
    ]) {
      const here = JSON.stringify(judgeProof(utf8(text), parsePolicy(utf8(twoOfThree))))
      expect(judge(text, twoOfThree)).toBe(here)
      expect(here).toContain(text === good ? '"included"' : '"altered"')
    }
  }
})
