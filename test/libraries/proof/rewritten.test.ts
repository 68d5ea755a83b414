// Answers that a JSON library parsed and printed again: told apart from those that were changed, and never good.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { float64Token } from '../../../src/libraries/columnar/outputs/value-text.ts'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { printed, printedOtherwise, saved } from './saved-answers.ts'

const outcome = (text: string): unknown => {
  const verdict = verifyOffline(text)
  return verdict.ok ? 'good' : [verdict.outcome, verdict.kind]
}
const rewritten = ['impossible', 'InvalidRequest::RewrittenOutput']

describe('an answer that was printed again', () => {
  it.each(printedOtherwise)('with %s is told as such, and is not good', (_, data) => {
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

  it('is no longer looked for where each try is long', () => {
    const zeros = Array(6).fill('-0.0').join()
    const answer = (text: string): string => printed(saved(`[["${text}",${zeros}]]`))
    expect(outcome(answer('short'))).toEqual(rewritten)
    expect(outcome(answer('x'.repeat(500_000)))).toEqual(['failed', 'InvalidRequest::OutputHash'])
  })

  it('with an integer beyond all doubles is another one', () => {
    const other = saved('[[1]]').replace('"data":[[1]]', `"data":[[${'9'.repeat(400)}]]`)
    expect(outcome(other)).toEqual(['failed', 'InvalidRequest::OutputHash'])
  })
})
