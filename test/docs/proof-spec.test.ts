// The page on proofs: its examples and its worked proof, checked with Node's and OpenSSL's cryptography.

import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { provenAnswer } from './proven-answer.ts'
import { canonicalText } from '../../src/libraries/base/json/canonical.ts'
import { parseJson } from '../../src/libraries/base/json/json.ts'
import { verifyOffline } from '../../src/libraries/proof/verify.ts'

const repository = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(repository, 'docs', 'spec', 'proof.md'), 'utf8')
const answer = /```json\n(.*)\n```/.exec(page)?.[1] ?? ''
const hashes = [...page.matchAll(/^\| `(.*)` \| `([0-9a-f]{64})` \|$/gm)]
const spellings = [...page.matchAll(/^\| `(.*)` \| `([[{"].*)` \|$/gm)]
const hexOf = (what: string, length: number): string =>
  new RegExp(`${what}\\s\`([0-9a-f]{${length}})\``).exec(page)?.[1] ?? ''

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proofstream-spec-'))
  writeFileSync(join(dir, 'answer.json'), answer)
})
afterAll(() => rmSync(dir, { recursive: true }))

describe('the page on proofs', () => {
  it('spells canonical JSON as the code does', () => {
    expect(spellings).toHaveLength(5)
    for (const [, received = '', canonical] of spellings) expect(canonicalText(parseJson(received))).toBe(canonical)
  })

  it('shows the answer that the OpenAPI document has as example, and it verifies', () => {
    expect(JSON.parse(answer)).toEqual(provenAnswer)
    expect(verifyOffline(answer)).toMatchObject({ ok: true, canonicalForm: 'verbatim' })
    const reader = join(repository, 'examples', 'reader', 'ask.py')
    const said = execFileSync('python3', [reader, '--check', join(dir, 'answer.json')], { stdio: 'pipe' }).toString()
    expect(said).toContain('? Unchanged since it was signed by a key that nobody here knows\n')
    expect(said).toContain('Rows (1)\n  sensor  warmest\n  s1      21.5\n')
  })

  it('shows the bytes of each member as they stand in the answer, and their hashes', () => {
    expect(hashes).toHaveLength(3)
    const { inputHash, outputHash, subQueriesHash } = provenAnswer.commitment
    const expected = [inputHash, outputHash, subQueriesHash]
    for (const [index, [, bytes = '', hash]] of hashes.entries()) {
      expect(answer).toContain(`:${bytes}`)
      expect(createHash('sha3-256').update(bytes).digest('hex')).toBe(hash)
      expect(`f1620${hash}`).toBe(expected[index])
    }
  })

  it('shows key and signature of the 259 bytes of the commitment', () => {
    const signed = /"commitment":(\{[^}]*\})/.exec(answer)?.[1] ?? ''
    expect(signed).toHaveLength(259)
    const [key, signature] = [hexOf('public key is', 64), hexOf('the signature', 128)]
    expect(Buffer.from(provenAnswer.proof.proofValue.slice(1), 'base64url').toString('hex')).toBe(signature)
    const publicKey = createPublicKey({
      key: Buffer.from(`302a300506032b6570032100${key}`, 'hex'),
      format: 'der',
      type: 'spki',
    })
    expect(verify(null, Buffer.from(signed), publicKey, Buffer.from(signature, 'hex'))).toBe(true)
  })

  it('has commands that run as they stand and print what it says', () => {
    const script = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const said = /prints `(.*)`/.exec(page)?.[1] ?? 'nothing said'
    expect(execFileSync('bash', ['-euc', script], { cwd: dir }).toString().trim()).toBe(said)
  })
})
