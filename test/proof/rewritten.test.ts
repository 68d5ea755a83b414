// Answers that a JSON library parsed and printed again: told apart from those that were changed, and never good.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalBytes, canonicalText } from '../../src/json/canonical.ts'
import { parseJson } from '../../src/json/json.ts'
import { commit } from '../../src/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../src/proof/sign.ts'
import { float64Token } from '../../src/outputs/value-text.ts'
import { verifyOffline } from '../../src/verify.ts'

const key = nodeKeyFromSeed(new Uint8Array(32).fill(9))

/** A saved answer of these data. */
function saved(data: string): string {
  const parts = { input: '{"query":"select 1"}', output: `{"data":${data},"dataFormat":"JsonAoa"}`, subQueries: '[]' }
  const bytes = (text: string): Uint8Array => canonicalBytes(parseJson(text))
  const signed = commit({ input: bytes(parts.input), output: bytes(parts.output), subQueries: bytes(parts.subQueries) })
  const { commitment, proof } = signProof(signed, key)
  const [first, last] = [JSON.stringify(commitment), JSON.stringify(proof)]
  return `{"commitment":${first},"input":${parts.input},"output":${canonicalText(parseJson(parts.output))},"proof":${last},"subQueries":[]}`
}

/** What JavaScript makes of it. */
const printed = (text: string): string => JSON.stringify(JSON.parse(text))
const outcome = (text: string): unknown => {
  const verdict = verifyOffline(text)
  return verdict.ok ? 'good' : [verdict.outcome, verdict.kind]
}
const rewritten = ['impossible', 'InvalidRequest::RewrittenOutput']

describe('an answer that was printed again', () => {
  it.each([
    [
      'rows as arrays',
      '[["é",1.0,1e+21,0.1,-0.0,9007199254740993,["1.0"]],["x",2.5,1e-7,100.0,0.0,9007199254740993,["1.0"]]]',
    ],
    ['rows as objects', '[{"a":1.0,"b":7},{"a":null,"b":8}]'],
    ['columns', '{"a":[1.0,2.0],"b":[1,2]}'],
    ['a negative zero', '[[-0.0]]'],
    ['a large integer', '[[9223372036854775]]'.replace('5]]', '507]]')],
    ['a list', '[[[1.0,2.0],3]]'],
    ['large doubles', '[[0,0.0,1.5e+20,1.0],[1,1.5,3e+20,1.0],[2,3.0,1.2345678901234568e+20,1.0]]'],
    ['a float of 32 bits', '[[1e+13,16777216.0]]'],
  ])('with %s is told as such, and is not good', (_, data) => {
    const answer = saved(data)
    expect(outcome(answer)).toBe('good')
    expect(printed(answer)).not.toBe(answer)
    expect(outcome(printed(answer))).toEqual(rewritten)
  })

  it('is told from one that was changed', () => {
    const row = fc.record({ x: fc.double({ noNaN: true, noDefaultInfinity: true }), n: fc.integer(), t: fc.string() })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 9 }), (rows, more) => {
        const text = (n: number): string =>
          `[${rows.map(({ x, t }, at) => `[${float64Token(x)},${(rows[at]?.n ?? 0) + n},${JSON.stringify(t)}]`).join()}]`
        const answer = saved(text(0))
        expect([rewritten, 'good']).toContainEqual(outcome(printed(answer)))
        const changed = JSON.parse(answer) as { output: { data: unknown } }
        changed.output.data = JSON.parse(text(more))
        expect(outcome(JSON.stringify(changed))).toEqual(['failed', 'InvalidRequest::OutputHash'])
      }),
      { numRuns: 60 },
    )
  })
})
