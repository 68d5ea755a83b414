// Golden proofs of each dialect that has them, sent to this node over their own stores: each verifies, and none that says
// anything else. Together they call every function that a proof may hold.

import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonValue } from '../../../src/libraries/base/json/value.ts'
import { foldAscii } from '../../../src/libraries/model/names.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { hashCanonical } from '../../../src/libraries/proof/commitment.ts'
import { generateNodeKey, signProof } from '../../../src/libraries/proof/sign.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import {
  aggregateFunctions,
  allowedMacros,
  allowedTableFunctions,
  machineDependentFunctions,
  scalarFunctions,
  volatileFunctions,
} from '../../../src/libraries/sql/functions.ts'
import { dialect as newest, engineVersion } from '../../../src/node/engine/messages.ts'
import { quoteOffsetWord } from '../../../src/libraries/sql/offset-word.ts'
import { goldenDialects, goldenFolder, type GoldenProof, goldenProofs } from '../../helpers/golden-proofs.ts'
import { proofNode } from '../../helpers/proof-node.ts'
import { treeOf, usePlainEngine } from '../engine/helpers.ts'

const { verify } = await proofNode(goldenDialects().map(goldenFolder))

/** What the node says of each: `verified`, or the kind of its refusal. Four at a time. */
async function outcomes(texts: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const waiting = texts.entries()
  const work = async (): Promise<void> => {
    for (const [at, text] of waiting) {
      const answer = await verify(text)
      found[at] = answer.status === 200 ? 'verified' : String(answer.at('error.kind'))
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return found
}

/** Places of the tokens of cells in a proof: rows are the last `data` before the schema of the output. */
function cells(text: string): readonly { readonly from: number; readonly to: number }[] {
  const from = text.indexOf('"output":{"data":') + '"output":{"data":'.length
  const to = text.indexOf(',"dataFormat":', from)
  const tokens = text.slice(from, to).matchAll(/"(?:[^"\\]|\\.)*":?|-?\d[\d.eE+-]*|true|false|null/g)
  return Array.from(tokens, ({ index, 0: token }) => ({
    token,
    from: from + index,
    to: from + index + token.length,
  })).filter(({ token }) => !token.endsWith(':'))
}

/** The proof with another value in one of its cells; undefined where it has none. */
function altered(text: string, seed: number): string | undefined {
  const places = cells(text)
  const place = places[(seed * 7919) % Math.max(places.length, 1)]
  if (place === undefined) return undefined
  const token = text.slice(place.from, place.to)
  return `${text.slice(0, place.from)}${token === '7' ? '8' : '7'}${text.slice(place.to)}`
}

const key = generateNodeKey()

/** The proof as a node would have signed it that found this output. */
function signedAgain(text: string): string {
  const saved = parseJson(text)
  const member = (name: string): JsonValue => (saved instanceof Map ? (saved.get(name) ?? null) : null)
  const [input, output, subQueries] = ['input', 'output', 'subQueries'].map((name) => hashCanonical(member(name)))
  const hash = (found: typeof input): NonNullable<typeof input> => must(found, 'three hashes are made of three members')
  const commitment = { inputHash: hash(input), outputHash: hash(output), subQueriesHash: hash(subQueries) }
  const { proof } = signProof(commitment, key)
  return text
    .replace(/"commitment":\{[^}]*\}/, () => `"commitment":${JSON.stringify(commitment)}`)
    .replace(/"proof":\{[^}]*\}(?=,"subQueries")/, () => `"proof":${JSON.stringify(proof)}`)
}

describe.each(goldenDialects())('the golden proofs of %s', (dialect) => {
  const proofs = goldenProofs(dialect)
  const some = proofs.filter((_, at) => at % 5 === 0)
  const others = some.flatMap(({ text, query }, at) => {
    const changed = altered(text, at)
    return changed === undefined ? [] : [{ text: changed, query }]
  })

  it('are many, each of another question, and of that dialect', () => {
    expect(proofs.length).toBeGreaterThanOrEqual(300)
    expect(new Set(proofs.map(({ text }) => text)).size).toBe(proofs.length)
    expect(proofs.filter(({ text }) => !text.includes(`"queryDialect":"${dialect}"`))).toEqual([])
  })

  it('verify offline', () => {
    for (const { text, query } of proofs)
      expect({ query, ...verifyOffline(text) }).toMatchObject({ query, ok: true, canonicalForm: 'verbatim' })
  })

  it('verify, or cannot be decided where their engine is not there', async () => {
    const unsure = dialect.includes(`/${engineVersion}-`) ? [] : ['VerificationInconclusive::EngineUnavailable']
    const found = await outcomes(proofs.map(({ text }) => text))
    const wrong = proofs.flatMap(({ query }, at) =>
      ['verified', ...unsure].includes(found[at] ?? '') ? [] : [`${found[at]}: ${query}`],
    )
    expect(wrong).toEqual([])
  })

  it('with another value in a cell are not what was signed', () => {
    expect(others.length).toBeGreaterThan(some.length * 0.8)
    for (const { text, query } of others)
      expect({ query, ...verifyOffline(text) }).toMatchObject({ query, ok: false, kind: 'InvalidRequest::OutputHash' })
  })

  it('with another value in a cell, and signed again, are not what the query gives', async () => {
    const texts = others.map(({ text }) => signedAgain(text))
    for (const text of texts) expect(verifyOffline(text)).toMatchObject({ ok: true })
    const refused = dialect.includes(`/${engineVersion}-`)
      ? 'VerificationFailed::OutputMismatch'
      : 'VerificationInconclusive::EngineUnavailable'
    const found = await outcomes(texts)
    expect(others.flatMap(({ query }, at) => (found[at] === refused ? [] : [`${found[at]}: ${query}`]))).toEqual([])
  })
})

describe('the newest dialect', () => {
  const scalar = usePlainEngine()
  /** No statement can call it: the engine keeps it for itself. */
  const uncallable = new Set(['sum_no_overflow'])

  /** Names of all functions in a tree. */
  function calls(value: JsonValue, into: Set<string>): void {
    if (Array.isArray(value)) for (const item of value) calls(item, into)
    if (!(value instanceof Map)) return
    const name = value.get('function_name')
    if (typeof name === 'string') into.add(foldAscii(name))
    for (const member of value.values()) calls(member, into)
  }

  it('has a golden proof of each function that can be proven', async () => {
    const called = new Set<string>()
    const proofs: readonly GoldenProof[] = goldenProofs(newest)
    for (const { query } of proofs) calls(await treeOf(scalar, quoteOffsetWord(query).text), called)
    const provable = [...scalarFunctions, ...aggregateFunctions, ...allowedMacros, ...allowedTableFunctions].filter(
      (name) => !volatileFunctions.has(name) && !machineDependentFunctions.has(name) && !uncallable.has(name),
    )
    expect(provable.length).toBeGreaterThan(400)
    expect(provable.filter((name) => !called.has(name))).toEqual([])
  })
})
