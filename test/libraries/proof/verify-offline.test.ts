// The offline check of saved answers: live proofs, and what each kind of damage is called.

import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { hashCanonical } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { proofVectors } from './proof-vectors.ts'

const live = proofVectors.find((vector) => vector.name === 'float-2537.07')!
const key = nodeKeyFromSeed(new Uint8Array(32).fill(5))

/** A saved answer over this output, given as text. */
function savedOf(output: string): string {
  const commitment = {
    inputHash: hashCanonical(parseJson('{"query":"select 1"}')),
    outputHash: hashCanonical(parseJson(output)),
    subQueriesHash: hashCanonical([]),
  }
  const { proof } = signProof(commitment, key)
  return `{"input":{"query":"select 1"},"output":${output},"subQueries":[],"commitment":${JSON.stringify(commitment)},"proof":${JSON.stringify(proof)}}`
}

const changed = (from: string, to: string): string => live.responseBodyBytes.replace(from, to)

describe('verifyOffline', () => {
  test.each(proofVectors)('verifies the live proof $name from its bytes', ({ responseBodyBytes, did }) => {
    const verdict = verifyOffline(utf8(responseBodyBytes), { signer: did })
    expect(verdict).toMatchObject({ ok: true, signer: did, canonicalForm: 'verbatim' })
    expect(verdict.checks.map((check) => `${check.name} ${check.result}`)).toEqual([
      'shape passed',
      'proofType passed',
      'inputHash passed',
      'subQueriesHash passed',
      'signature passed',
      'outputHash passed',
      'signer passed',
    ])
  })

  test('keeps numbers beyond a double as they are', () => {
    expect(verifyOffline(savedOf('{"data":[[1e+400]]}'))).toMatchObject({ ok: true })
    expect(verifyOffline(savedOf('{"data":[[1e+400]]}').replace('1e+400', '1e+401'))).toMatchObject({
      kind: 'InvalidRequest::OutputHash',
    })
  })

  test('spaces and the order of members do not matter, tokens do', () => {
    const spaced = JSON.stringify(JSON.parse(proofVectors[0]!.responseBodyBytes), null, 2)
    expect(verifyOffline(spaced).ok).toBe(true)
    expect(verifyOffline(changed('[[2537.07', '[[2537.070'))).toMatchObject({
      kind: 'InvalidRequest::RewrittenOutput',
    })
  })

  test('says that there was no output to check', () => {
    const { input, subQueries, commitment, proof } = JSON.parse(live.responseBodyBytes)
    const verdict = verifyOffline(JSON.stringify({ input, subQueries, commitment, proof }))
    expect(verdict).toMatchObject({ ok: true })
    expect(verdict).not.toHaveProperty('canonicalForm')
    expect(verdict.checks).toContainEqual({ name: 'outputHash', result: 'absent' })
  })

  test('refuses a good proof of another signer', () => {
    expect(verifyOffline(live.responseBodyBytes, { signer: key.did })).toMatchObject({
      ok: false,
      outcome: 'failed',
      kind: 'OtherSigner',
      signer: live.did,
    })
  })

  test.each([
    ['no JSON', 'x', 'noProof', 'MalformedJson'],
    ['an empty file', '', 'noProof', 'MalformedJson'],
    ['an answer without proof', '{"output":{"data":[]}}', 'noProof', 'InvalidRequest'],
    ['a duplicate member', changed('{', '{"input":{},'), 'noProof', 'MalformedJson'],
    ['another proof type', changed('Signature2020', 'Signature2030'), 'impossible', 'UnsupportedProofType'],
    ['a changed question', changed('select', 'Select'), 'failed', 'InvalidRequest::InputHash'],
    ['a changed answer', changed('[[2537.07', '[[2537.08'), 'failed', 'InvalidRequest::OutputHash'],
    ['a changed commitment', changed(live.outputHash, live.inputHash), 'failed', 'InvalidRequest::BadSignature'],
  ])('calls %s by its name', (_what, text, outcome, kind) => {
    const verdict = verifyOffline(text)
    expect(verdict).toMatchObject({ ok: false, outcome, kind })
    expect(verdict.checks.at(-1)?.result).toBe('failed')
  })

  test('says where the JSON breaks', () => {
    expect(verifyOffline('{\n  "input": tru }')).toMatchObject({ position: { offset: 13, line: 2, column: 12 } })
  })

  test('any changed byte of a saved answer is noticed, or changes nothing that is said', () => {
    const bytes = utf8(live.responseBodyBytes)
    const original = JSON.stringify(JSON.parse(live.responseBodyBytes))
    for (let at = 0; at < bytes.length; at += 3) {
      const damaged = bytes.with(at, bytes[at]! ^ 1)
      const verdict = verifyOffline(damaged)
      const said = verdict.ok ? JSON.stringify(JSON.parse(Buffer.from(damaged).toString())) : original
      expect(said, `byte ${at}`).toBe(original)
    }
  })
})

test('the verifier loads two small packages and one platform module, and nothing of the node', () => {
  const entry = pathToFileURL(resolve('src/libraries/proof/verify.ts')).href
  const program = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
    await import(${JSON.stringify(entry)})
    console.log(JSON.stringify(urls))
  `
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  const urls: string[] = JSON.parse(output)
  const packages = urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(packages)].sort()).toEqual(['@noble/ed25519', 'multiformats'])
  expect(urls.filter((url) => url.startsWith('node:'))).toEqual(['node:crypto'])
  const folders = urls.flatMap((url) => /\/src\/libraries\/([a-z]+)\/.+\.ts$/.exec(url)?.[1] ?? [])
  expect([...new Set(folders)].sort()).toEqual(['base', 'columnar', 'proof'])
  // Of the columns the text of single values alone.
  expect(urls.filter((url) => /\/columnar\//.test(url)).map((url) => url.split('/').at(-1))).toEqual(['value-text.ts'])
})
