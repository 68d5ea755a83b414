// Names of datasets that lack their quotes: where the engine says "syntax error", we say what to write.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unquotedNameHint } from '../../src/engine/lexer.ts'

describe('a name without quotes', () => {
  it.each([
    ['select * from lab/readings-v1', 'lab/readings-v1'],
    ['select a\nFROM lab/readings where a > 1', 'lab/readings'],
    ['select * from lab.readings-v1', 'lab/readings-v1'],
    ['select * from my-lab.readings', 'my-lab/readings'],
    ['select * from "a/b" x join com.example.eth-usd/v2 y using (id)', 'com.example.eth-usd/v2'],
    ['summarize lab/readings', 'lab/readings'],
  ])('is quoted in the hint: %s', (sql, name) => {
    expect(unquotedNameHint(sql)).toContain(`"${name}"`)
  })

  it.each([
    'select * from "lab/readings-v1"',
    'select * from lab."readings-v1"',
    'select a / b from lab.readings',
    'select a-b from lab.readings',
    "select 'from lab/readings-v1'",
    'select 1 -- from lab/readings',
    'select /* from lab/readings */ 1 from x',
    'select * from range(3)',
  ])('is not seen where there is none: %s', (sql) => {
    expect(unquotedNameHint(sql)).toBeUndefined()
  })

  it('is looked for in any text, in time that grows with it', () => {
    const part = fc.constantFrom('from ', 'lab', '/', '-', '.', 'a-', "'", '"', '--', '/*', '\n', 'join ')
    fc.assert(fc.property(fc.array(part, { maxLength: 200 }), (parts) => void unquotedNameHint(parts.join(''))))
    for (const text of [
      'from '.repeat(10_000),
      `from ${'a-'.repeat(30_000)}`,
      `from ${'a.'.repeat(30_000)}`,
      "'".repeat(60_000),
      '/*'.repeat(30_000),
    ]) {
      const startMs = performance.now()
      unquotedNameHint(text)
      expect(performance.now() - startMs).toBeLessThan(1_000)
    }
  })
})
