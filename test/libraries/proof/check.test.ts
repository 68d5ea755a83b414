// Checking proofs by themselves: a live node's verify cases, the order of the checks, and what only we refuse.

import { describe, expect, test } from 'vitest'
import { fromPlain, parseJson, toPlain } from '../../../src/libraries/base/json/json.ts'
import { fromHex } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { checkProof } from '../../../src/libraries/proof/check.ts'
import { readProofBody } from '../../../src/libraries/proof/proof-body.ts'
import { commit } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'
import { proofVectors, verifyVectors } from './proof-vectors.ts'

function errorOf(text: string): NodeError | undefined {
  try {
    checkProof(readProofBody(parseJson(text)))
    return undefined
  } catch (error) {
    if (error instanceof NodeError) return error
    throw error
  }
}

const verdict = (text: string): string => errorOf(text)?.kind ?? 'ok'

const kindsDecidedByTheProofAlone = [
  'InvalidRequest::InputHash',
  'InvalidRequest::SubQueriesHash',
  'InvalidRequest::BadSignature',
]

/** Where we answer otherwise than the live node, and why. */
const ours: Readonly<Record<string, string>> = {
  // Values are hashed as received, not as they would be written after filling in defaults and renaming.
  'verify-alias-spelling-normalised': 'InvalidRequest::InputHash',
  'verify-include-reordered': 'InvalidRequest::InputHash',
  'verify-defaults-omitted': 'InvalidRequest::InputHash',
  'verify-datasets-null': 'ok',
  // A saved answer may be sent whole; this one was not signed.
  'verify-unknown-member-output': 'InvalidRequest::OutputHash',
  // What the members of the input mean is judged by who runs the query.
  'verify-unknown-member-in-input': 'InvalidRequest::InputHash',
  'verify-ecdsa-type-first': 'UnsupportedProofType',
  'verify-proof-type-unknown': 'UnsupportedProofType',
  'verify-no-ct': 'ok',
}

describe('checkProof', () => {
  test.each(proofVectors)('passes the live proof $name with its output', ({ responseBodyBytes }) => {
    expect(verdict(responseBodyBytes)).toBe('ok')
  })

  test('there are 49 live verify cases', () => {
    expect(verifyVectors).toHaveLength(49)
    expect(Object.keys(ours).filter((name) => !verifyVectors.some((vector) => vector.name === name))).toEqual([])
  })

  test.each(verifyVectors.filter(({ name }) => name !== 'verify-not-json'))(
    'answers $name as far as no dataset is needed',
    ({ name, requestBody, status, responseBody }) => {
      const kind = kindsDecidedByTheProofAlone.find((known) => responseBody.includes(`"${known}"`))
      const expected = ours[name] ?? kind ?? (status === 422 ? 'InvalidRequest' : 'ok')
      expect(verdict(requestBody)).toBe(expected)
    },
  )
})

const key = nodeKeyFromSeed(new Uint8Array(32).fill(9))

/** A genuine saved answer, changed by `change` as ordinary values. */
function answer(change: (body: Body) => void = () => {}): string {
  const input = { query: 'select 1', datasets: [] }
  const output = { data: [[1]], dataFormat: 'JsonAoa' }
  const { commitment, proof } = signProof(commit({ input: fromPlain(input), output: fromPlain(output) }), key)
  const body: Body = { input, output, subQueries: [], commitment: { ...commitment }, proof: { ...proof } }
  change(body)
  return JSON.stringify(body)
}

interface Body {
  input: unknown
  output?: unknown
  subQueries: unknown
  commitment: { inputHash: string; outputHash: string; subQueriesHash: string }
  proof: { type: string; verificationMethod: string; proofValue: string }
}

const brokenSteps: readonly (readonly [string, (body: Body) => void])[] = [
  ['UnsupportedProofType', (body) => void (body.proof.type = 'DataIntegrityProof')],
  ['InvalidRequest::InputHash', (body) => void (body.input = { query: 'select 2', datasets: [] })],
  ['InvalidRequest::SubQueriesHash', (body) => void (body.commitment.subQueriesHash = body.commitment.inputHash)],
  ['InvalidRequest::BadSignature', (body) => void (body.proof.verificationMethod = proofVectors[0]!.did)],
  ['InvalidRequest::OutputHash', (body) => void (body.output = { data: [[2]], dataFormat: 'JsonAoa' })],
]

describe('the order of checks', () => {
  test('a genuine answer passes, with and without its output', () => {
    expect(verdict(answer())).toBe('ok')
    expect(verdict(answer((body) => void delete body.output))).toBe('ok')
  })

  test.each(brokenSteps.map(([kind], index) => [kind, index] as const))(
    '%s is found alone and before everything after it',
    (kind, index) => {
      expect(verdict(answer(brokenSteps[index]![1]))).toBe(kind)
      const all = answer((body) => {
        for (const [, breakStep] of brokenSteps.slice(index)) breakStep(body)
      })
      expect(verdict(all)).toBe(kind)
    },
  )

  test('an ill-formed key or signature is found before the proof type', () => {
    const text = answer((body) => {
      body.proof.type = 'EcdsaSecp256k1Signature2019'
      body.proof.proofValue = 'u'
    })
    expect(verdict(text)).toBe('InvalidRequest')
  })

  test('numbers are hashed as tokens: 1 and 1.0 are different outputs', () => {
    expect(verdict(answer().replace('[[1]]', '[[1.0]]'))).toBe('InvalidRequest::OutputHash')
  })

  test('hashes count in any multibase; what is signed stays the same', () => {
    expect(verdict(answer((body) => void (body.commitment.inputHash = body.commitment.inputHash.toUpperCase())))).toBe(
      'ok',
    )
  })
})

describe('the shape', () => {
  test.each<[string, (body: Body) => void, string]>([
    ['a member too many', (body) => void Object.assign(body, { ok: true }), 'ok: is not a member'],
    ['a member missing', (body) => void Reflect.deleteProperty(body, 'proof'), 'proof: is missing'],
    ['input a list', (body) => void (body.input = []), 'input: is not an object'],
    ['output a number', (body) => void (body.output = 1), 'output: is not an object'],
    ['subQueries null', (body) => void (body.subQueries = null), 'subQueries: is not an array'],
    ['a hollow sub-query', (body) => void (body.subQueries = [{}]), 'subQueries[0].input: is missing'],
    ['a short hash', (body) => void (body.commitment.outputHash = 'f1620ab'), 'commitment.outputHash: '],
    ['another hash function', (body) => void (body.commitment.outputHash = `f1220${'0'.repeat(64)}`), 'sha3-256'],
    ['a key of another kind', (body) => void (body.proof.verificationMethod = 'did:web:acme.com'), 'did:key:z'],
    ['a cut signature', (body) => void (body.proof.proofValue = body.proof.proofValue.slice(0, -2)), 'proofValue: '],
    ['a padded signature', (body) => void (body.proof.proofValue += '=='), 'proof.proofValue: '],
    ['a member too many below', (body) => void Object.assign(body.proof, { created: 1 }), 'proof.created: is not'],
  ])('%s is refused by name', (_what, change, message) => {
    const text = answer(change)
    expect(verdict(text)).toBe('InvalidRequest')
    expect(errorOf(text)?.message).toContain(message)
  })

  test('a body that is no object is refused', () => {
    for (const text of ['null', '[]', '"x"', '1']) expect(errorOf(text)?.message).toBe('the body: is not an object.')
  })

  test('sub-queries are hashed as received and judged by shape all the way down', () => {
    const inner = toPlain(parseJson(answer()))
    const input = fromPlain({ q: 1 })
    const output = fromPlain({ data: [] })
    const subQueries = fromPlain([inner])
    const signed = signProof(commit({ input, output, subQueries }), key)
    const body = { input: { q: 1 }, output: { data: [] }, subQueries: [inner], ...signed }
    expect(verdict(JSON.stringify(body))).toBe('ok')
    expect(verdict(JSON.stringify({ ...body, subQueries: [] }))).toBe('InvalidRequest::SubQueriesHash')
  })

  test('the example key of the vectors is the key of their seed', () => {
    expect(nodeKeyFromSeed(fromHex(proofVectors[0]!.seedHex)!).did).toBe(proofVectors[0]!.did)
  })
})
