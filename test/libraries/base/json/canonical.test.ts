// Canonical JSON against texts that a deployed node canonicalised, and against a second implementation made of other
// primitives: the platform's parser with source access, and Buffer comparison.

import { readFileSync } from 'node:fs'
import canonicalize from 'canonicalize'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { canonicalBytes, canonicalText } from '../../../../src/libraries/base/json/canonical.ts'
import { fromPlain, parseJson } from '../../../../src/libraries/base/json/json.ts'

interface Vector {
  name: string
  json: string
  canonical: string
  sha3_256: string
}

const vectors: Vector[] = JSON.parse(readFileSync('test/vectors/canonical-json.json', 'utf8'))

describe('canonical JSON', () => {
  test('has all 90 vectors', () => {
    expect(vectors).toHaveLength(90)
  })

  test.each(vectors)('spells $name as deployed nodes do', ({ json, canonical, sha3_256: hash }) => {
    const value = parseJson(json, { duplicateKeys: 'last' })
    expect(canonicalText(value)).toBe(canonical)
    expect(sha3Hash(canonicalBytes(value))).toBe(hash)
  })

  test('agrees with a second implementation on any text', () => {
    fc.assert(
      fc.property(jsonTexts(), (text) => {
        expect(canonicalText(parseJson(text))).toBe(secondCanonical(text))
      }),
      { numRuns: 500 },
    )
  })

  test('agrees with RFC 8785 where the two forms coincide: printable ASCII and safe integers', () => {
    const word = fc.string({ unit: 'grapheme-ascii' })
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.maxSafeInteger(), word, fc.boolean(), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(word, tie('value'), { maxKeys: 5 }),
    })).value
    fc.assert(
      fc.property(value, (plain) => {
        expect(canonicalText(fromPlain(plain))).toBe(canonicalize(plain))
      }),
      { numRuns: 300 },
    )
  })

  test('is its own canonical text', () => {
    fc.assert(
      fc.property(jsonTexts(), (text) => {
        const canonical = canonicalText(parseJson(text))
        expect(canonicalText(parseJson(canonical))).toBe(canonical)
        expect(canonical).toMatch(/^[ -~]*$/)
      }),
      { numRuns: 200 },
    )
  })

  test('writes texts of many stretches and escapes whole', () => {
    const long = `${'a'.repeat(16_383)}😀${'é\u0000"'.repeat(20_000)}`
    expect(JSON.parse(canonicalText([long, long]))).toEqual([long, long])
  })
})

/** JSON texts with every kind of number token, Unicode names and needless spaces and escapes; no duplicate members. */
function jsonTexts(): fc.Arbitrary<string> {
  const token = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,12})?([eE][+-]?\d{1,4})?$/)
  const word = fc.string({ unit: 'binary', maxLength: 8 })
  const space = fc.constantFrom('', ' ', '\n', '\t ')
  const escapes = new Map([
    ['a', '\\u0061'],
    ['/', '\\/'],
  ])
  const quoted = (text: string): string =>
    JSON.stringify(text).replace(/\\u[0-9a-f]{4}|a|\//g, (found) => escapes.get(found) ?? found)
  const texts = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      token,
      word.map(quoted),
      fc.constantFrom('null', 'true', 'false'),
      tie('array'),
      tie('object'),
    ),
    array: fc
      .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
      .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    object: fc
      .tuple(space, fc.uniqueArray(fc.tuple(word, tie('value')), { maxLength: 5, selector: ([name]) => name }))
      .map(([gap, members]) => `{${gap}${members.map(([name, value]) => `${quoted(name)}:${gap}${value}`).join(',')}}`),
  }))
  return fc.tuple(texts.value, space).map(([text, gap]) => gap + text + gap)
}

/** The same form by other means: JSON.parse with source access, JSON.stringify and Buffer.compare. */
function secondCanonical(text: string): string {
  const wrapped: unknown = JSON.parse(
    text,
    function (this: unknown, _name: string, value: unknown, ...more: unknown[]) {
      // The third parameter is newer than the library types of the compiler target.
      const context = more[0] as { source?: string }
      if (typeof value === 'number') return { number: context.source }
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return { members: Object.entries(value) }
      return value
    },
  )
  return second(wrapped)
}

function second(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(second).join()}]`
  if (typeof value === 'string') {
    return JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${`000${unit.charCodeAt(0).toString(16)}`.slice(-4)}`,
    )
  }
  if (typeof value !== 'object' || value === null) return String(value)
  if ('number' in value) {
    const token = String(value.number)
    return token === '-0' ? '0' : token.replace(/[eE](?![+-])/, 'e+').replace('E', 'e')
  }
  const members: [string, unknown][] = 'members' in value && Array.isArray(value.members) ? value.members : []
  const sorted = members.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${sorted.map(([name, member]) => `${second(name)}:${second(member)}`).join()}}`
}
