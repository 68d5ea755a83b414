// The sentences about a checked answer: what is known is said, what is not is said to be unknown.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explain, type Findings } from '../../../src/libraries/proof/explain.ts'
import { otherKind } from '../../../src/libraries/proof/other-kind.ts'

const block = `f1620${'ab'.repeat(32)}`
const findings: Findings = {
  answer: {
    query: 'select 1\nfrom acme.a',
    dialect: 'SqlDuckDb/1.5.6-2',
    datasets: [{ id: 'did:odf:fed01', alias: 'acme/a', blockHash: block }],
    skip: 0,
    limit: 10,
    rows: 3,
    extent: 'whole',
  },
  signer: 'did:key:z6Mk',
  isReproduced: false,
}
const textsOf = (found: Findings, about: string): string[] =>
  explain(found).flatMap((line) => (line.about === about ? [line.text] : []))

describe('an explanation', () => {
  test('offline says what was signed, and that nobody has run it again', () => {
    expect(explain(findings)).toEqual([
      { about: 'question', text: 'select 1\nfrom acme.a' },
      { about: 'language', text: 'SqlDuckDb/1.5.6-2' },
      { about: 'dataset', text: `acme/a (did:odf:fed01) up to block ${block}; when that was made is not in the file` },
      { about: 'answer', text: '3 rows, none left out' },
      {
        about: 'repeatable',
        text: 'over these very blocks; whether other blocks with the same rows give this answer is for a node to say',
      },
      { about: 'signer', text: 'did:key:z6Mk, not identified: no key was named to compare it with' },
      {
        about: 'not checked',
        text: 'That these rows follow from those blocks: a node that holds them must run the question again.',
      },
      {
        about: 'not checked',
        text: 'Whose key it is: anyone can make one. Compare it with one that the signer has told you by another way.',
      },
      {
        about: 'not checked',
        text: 'That what was recorded is true: a proof binds what was stored, not what happened.',
      },
    ])
  })

  test('of a node that ran it again leaves little unchecked', () => {
    const blockTimes = new Map([[block, '2026-01-02T03:04:05Z']])
    const found: Findings = { ...findings, relation: 'self', stability: 'exact', blockTimes, isReproduced: true }
    expect(textsOf(found, 'not checked')).toEqual([
      'That what was recorded is true: a proof binds what was stored, not what happened.',
    ])
    expect(textsOf(found, 'dataset')).toEqual([
      `acme/a (did:odf:fed01) up to block ${block}, made 2026-01-02T03:04:05Z`,
    ])
    expect(textsOf(found, 'repeatable')).toEqual(['exact: the same rows give this answer, however they lie in blocks'])
    expect(textsOf(found, 'signer')).toEqual(['did:key:z6Mk, a key of the node that was asked'])
  })

  test('says that rows are missing, unless a node found them anew', () => {
    const { rows: _, ...answer } = findings.answer
    const without: Findings = { ...findings, answer: { ...answer, extent: 'unknown' } }
    expect(textsOf(without, 'not checked')).toContain('The rows: they are not in this file.')
    expect(textsOf({ ...without, isReproduced: true }, 'not checked')).not.toContain(
      'The rows: they are not in this file.',
    )
  })

  test('holds no control character, whatever a file says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (query, alias) => {
        const lines = explain({ ...findings, answer: { ...findings.answer, query, datasets: [{ id: alias, alias }] } })
        for (const { text } of lines)
          expect(text.replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })
})

describe('a file that is no saved answer', () => {
  test.each([
    ['empty', new Uint8Array()],
    ['UTF-16', Buffer.from('\ufeff{"input"', 'utf16le')],
    ['UTF-16', Buffer.from('{"input"', 'utf16le')],
    ['byte order mark', Buffer.from('\ufeff{')],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8)],
    ['Parquet', Buffer.from('PAR1....')],
    ['zip', Buffer.from('PK\x03\x04')],
  ])('is called %s', (what, bytes) => {
    expect(otherKind(bytes)).toContain(what)
  })

  test('is not judged by bytes that tell nothing', () => {
    for (const text of ['{', 'P', ' {"a":1}', '[1]', '"x"']) expect(otherKind(Buffer.from(text))).toBeUndefined()
  })
})
