// Files about a ledger with the verdict that the spec gives each, by itself and beside others: what every judge has to say.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Vector, vectorsText } from '../../../scripts/ledger-vectors.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { judgeFile } from '../../../src/libraries/ledger/judge-file.ts'
import { besideOf } from '../../../src/libraries/ledger/judge-receipt.ts'
import { parsePolicy, type Policy } from '../../../src/libraries/ledger/policy.ts'

const file = readFileSync(new URL('../../fixtures/ledger/vectors.json', import.meta.url), 'utf8')
const vectors = JSON.parse(file) as readonly Vector[] // as the generator writes it

test('the vectors are those of their generator', () => {
  expect(file).toBe(vectorsText)
  expect(vectors.length).toBeGreaterThan(120)
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
})

function policyOf({ policy }: Vector): Policy | 'refused' | undefined {
  try {
    return policy === undefined ? undefined : parsePolicy(utf8(policy))
  } catch (error) {
    if (error instanceof DecodeError) return 'refused'
    throw error
  }
}

test.each(vectors)('$name: $verdict', (vector) => {
  const { files, signer, now, verdict, missing, boundBy, retired, shown } = vector
  const policy = policyOf(vector)
  if (policy === 'refused') return expect('policy refused').toBe(verdict)
  const [bytes = new Uint8Array(), ...others] = files.map(({ text }) => utf8(text))
  const judged = judgeFile(bytes, { policy, signer, nowMs: Date.parse(now) }, { beside: besideOf(others, policy) })
  expect(judged).toMatchObject({ verdict, ...(missing !== undefined && { missing }) })
  const facts = { ...(boundBy && { boundBy }), ...(retired && { retired }), ...(shown && { shown }) }
  if (Object.keys(facts).length > 0) expect(judged).toMatchObject({ facts })
  if (missing === undefined) expect(judged).not.toHaveProperty('missing')
})
