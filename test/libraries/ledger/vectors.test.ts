// Files about a ledger with the verdict that the spec gives each, by itself and beside others: what every judge has to say.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Vector } from '../../../scripts/ledger-vectors/model.ts'
import { vectorsText } from '../../../scripts/ledger-vectors.ts'
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

/** The verdict in the members that the vector has. */
function judged(vector: Vector): object {
  const { files, signer, now } = vector
  const policy = policyOf(vector)
  if (policy === 'refused') return { verdict: 'policy refused' }
  const [bytes = new Uint8Array(), ...others] = files.map(({ text }) => utf8(text))
  const beside = besideOf(others, policy)
  const { verdict, missing, facts }: Judged = Object(
    judgeFile(bytes, { policy, signer, nowMs: Date.parse(now) }, { beside }),
  )
  const of = facts ?? {}
  const shown = (['boundBy', 'retired', 'shown'] as const).flatMap((name) => (name in vector ? [[name, of[name]]] : []))
  return { verdict, ...(missing !== undefined && { missing }), ...Object.fromEntries(shown) }
}

type Judged = Pick<Vector, 'verdict' | 'missing'> & { readonly facts?: Partial<Vector> }

test.each(vectors)('$name: $verdict', (vector) => {
  const { files: _, policy: __, signer: ___, now: ____, name: _____, code: ______, ...expected } = vector
  expect(judged(vector)).toEqual(expected)
})
