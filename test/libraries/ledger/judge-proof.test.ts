// Proof files: what they look like, what is refused, and that no changed one is taken. PROOF_CHANGES sets how many are tried.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textForm } from '../../../src/libraries/base/text-form.ts'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { judgeProof, type ProofVerdict } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import {
  documentBytes,
  parseDocument,
  parseProofJson,
  type BlockDocument,
  type RecordDocument,
  proofJsonText,
} from '../../../src/libraries/ledger/proof-document.ts'
import { maxExtraLine, parseTlogProof, tlogProofText } from '../../../src/libraries/ledger/tlog-proof.ts'
import { origin, twoOfThree } from './keys.ts'
import { kinds, SmallLedger } from './proofs.ts'

const policy = parsePolicy(utf8(twoOfThree))
const ledger = new SmallLedger(700)
const changes = Number(process.env['PROOF_CHANGES'] ?? 5000)

const judge = (bytes: Uint8Array | string, by = policy): ProofVerdict =>
  judgeProof(typeof bytes === 'string' ? utf8(bytes) : bytes, by)

/** What the facts of a document name. */
function shownOf(document: BlockDocument | RecordDocument): object {
  if (document.kind === 'block') return { block: document.block.hash, record: undefined }
  const { record: value, index, count } = document
  return { block: undefined, record: { value, index, count } }
}

describe('a proof', () => {
  test.each(kinds)('of a %s shows what it is of, and who has signed', (kind) => {
    const verdict = judge(ledger.text(301, 600, kind))
    const document = ledger.blocks[301]!.documents[kind]
    expect(verdict).toEqual({
      verdict: 'included',
      quorum: 'met',
      facts: {
        kind,
        ...shownOf(document),
        dataset: document.dataset.id,
        sequence: 100,
        ledger: { origin, size: 600, index: 301, root: ledger.root(600) },
        witnessed: [
          { name: 'W1', at: 1_780_000_001 },
          { name: 'W3', at: 1_780_000_003 },
        ],
      },
    })
  })

  test('is text of these lines', () => {
    const text = decodeUtf8(ledger.text(2, 3, 'block'))
    const lines = text.split('\n')
    expect(lines.slice(0, 3)).toEqual(['c2sp.org/tlog-proof@v1', expect.stringMatching(/^extra [\w+/]+=*$/), 'index 2'])
    expect(lines.slice(4, 7)).toEqual(['', origin, '3'])
    const extra = Buffer.from(lines[1]!.slice(6), 'base64').toString()
    expect(extra).toMatch(
      /^\{"block":\{"hash":"f1620[0-9a-f]{64}","salt":"[0-9a-f]{64}"\},"dataset":\{"id":"did:odf:fed01[0-9a-f]{64}","salt":"[0-9a-f]{64}"\},"entry":"A[\w+/]+=*","kind":"block","v":1\}$/,
    )
  })

  test('of a block says nothing of rows where the entry has no root of them', () => {
    const document = ledger.blocks[4]!.documents.row
    const entry = Uint8Array.from(document.entry).fill(0, 105)
    const proof = { ...ledger.proof(4, 9, 'row'), extra: documentBytes({ ...document, entry }) }
    expect(judge(tlogProofText(proof)!)).toMatchObject({ verdict: 'altered', reason: 'ledger entry: has no such row' })
  })

  test('whose extra line would be too long is not written as text, and judged as JSON', () => {
    const proof = ledger.proof(4, 9, 'row')
    const extraOf = (length: number): Uint8Array => new Uint8Array(((length - 6) / 4) * 3)
    expect(tlogProofText({ ...proof, extra: extraOf(maxExtraLine - 2) })).toBeDefined()
    expect(tlogProofText({ ...proof, extra: extraOf(maxExtraLine + 2) })).toBeUndefined()
    const long = `c2sp.org/tlog-proof@v1\nextra ${'A'.repeat(maxExtraLine)}\nindex 1\n\n`
    expect(() => parseTlogProof(utf8(long))).toThrow('more than 60000 characters')
  })
})

describe('the JSON form', () => {
  const document = ledger.blocks[301]!.documents.row
  const proof = ledger.proof(301, 600, 'row')
  const timestamp = { size: 600, head: decodeUtf8(proof.head), token: Uint8Array.of(1, 2, 3) }
  const json = proofJsonText(document, proof, timestamp)

  test('says the same, in any spelling', () => {
    const verdict = judge(ledger.text(301, 600, 'row'))
    expect(verdict.verdict).toBe('included')
    const stamp = { text: decodeUtf8(proof.head).replace(/\n\n[^]*/, '\n'), token: timestamp.token }
    expect(judge(json)).toEqual({ ...verdict, stamp })
    expect(judge(`\n ${JSON.stringify(JSON.parse(json), null, 2)}\n`)).toEqual({ ...verdict, stamp })
    expect(parseProofJson(utf8(json)).timestamp).toEqual(timestamp)
    expect(parseProofJson(utf8(proofJsonText(document, proof)))).not.toHaveProperty('timestamp')
  })

  test('has a time stamp of its own head, or of another that is shown to hold the entry, and of none else', () => {
    const later = ledger.proof(301, 700, 'row')
    const { size, head, token } = timestamp
    const with_ = (stamp: typeof timestamp & { hashes?: readonly Uint8Array[] }) =>
      judge(proofJsonText(document, later, stamp))
    expect(with_({ size, head, token, hashes: proof.hashes })).toMatchObject({ verdict: 'included', stamp: { token } })
    const reason = 'its time stamp is of a head that is not shown to hold the entry'
    const early = ledger.proof(200, 300, 'row')
    for (const bad of [
      { size, head, token },
      { size, head, token, hashes: later.hashes },
      { size: 601, head, token, hashes: proof.hashes },
      { size, head: head.replace('\n600\n', '\n599\n'), token, hashes: proof.hashes },
      { size: 300, head: decodeUtf8(early.head), token, hashes: early.hashes },
      { size, head: '', token, hashes: proof.hashes },
    ]) {
      expect(with_(bad)).toEqual({ verdict: 'altered', reason })
    }
  })
})

test('a document goes to bytes and back, in one spelling', () => {
  for (const block of ledger.blocks.slice(0, 30)) {
    for (const kind of kinds) {
      const bytes = documentBytes(block.documents[kind])
      expect(parseDocument(bytes)).toEqual(block.documents[kind])
      for (const [from, to] of [
        ['"v":1', '"v":1e+0'],
        ['"v":1', '"v": 1'],
        ['{', '{ '],
        ['"salt":"', '"salt":"00'],
      ] as const) {
        expect(() => parseDocument(utf8(decodeUtf8(bytes).replace(from, to)))).toThrow(/^(?:proof|JSON): /)
      }
    }
  }
})

/** What a changed file must still have, whatever a transport of texts did: its lines before the signatures, and the ledger's own, once or more. */
function boundLines(text: string): readonly unknown[] {
  const lines = decodeUtf8(textForm(utf8(text)).bytes).split('\n')
  const isSignature = (line: string): boolean => line.startsWith('— ')
  return [lines.filter((line) => !isSignature(line)), new Set(lines.filter((line) => line.startsWith(`— ${origin} `)))]
}

describe('a changed file', () => {
  const samples = kinds.map((kind) => decodeUtf8(ledger.text(301, 600, kind, { witnesses: [1, 2], stranger: true })))
  const alphabet = [...new Set(samples.join(''))]

  /** Taken, it shows the facts of the original, and nothing but lines of signatures that do not matter is changed. */
  function expectRefused(changed: string, original: string): void {
    const verdict = judge(changed)
    if (verdict.verdict !== 'included') return
    expect(boundLines(changed)).toEqual(boundLines(original))
    expect(verdict).toEqual(judge(original))
  }

  test('is not taken, wherever it is changed', () => {
    const position = fc.nat()
    const edit = fc.oneof(
      fc.record({
        kind: fc.constant('put' as const),
        at: position,
        text: fc.constantFrom(...alphabet, '\r', '\t', '\0', '\u2028'),
      }),
      fc.record({ kind: fc.constant('insert' as const), at: position, text: fc.constantFrom(...alphabet, '\r', '==') }),
      fc.record({ kind: fc.constant('cut' as const), at: position, length: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        kind: fc.constant('line' as const),
        at: position,
        to: position,
        how: fc.constantFrom('drop', 'copy', 'swap'),
      }),
    )
    const apply = (text: string, change: typeof edit extends fc.Arbitrary<infer E> ? E : never): string => {
      const at = change.at % text.length
      if (change.kind === 'put') return text.slice(0, at) + change.text + text.slice(at + 1)
      if (change.kind === 'insert') return text.slice(0, at) + change.text + text.slice(at)
      if (change.kind === 'cut') return text.slice(0, at) + text.slice(at + change.length)
      const lines = text.split('\n')
      const [from, to] = [change.at % lines.length, change.to % lines.length]
      if (change.how === 'drop') lines.splice(from, 1)
      else if (change.how === 'copy') lines.splice(to, 0, lines[from]!)
      else [lines[from], lines[to]] = [lines[to]!, lines[from]!]
      return lines.join('\n')
    }
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 2 }), (sample, edits) => {
        expectRefused(edits.reduce(apply, sample), sample)
      }),
      { numRuns: changes, ...(changes > 5000 && { timeout: 3_600_000, interruptAfterTimeLimit: 3_600_000 }) },
    )
  })

  test('is not taken with one bit of a document or entry changed', () => {
    const proof = ledger.proof(301, 600, 'row')
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.nat(), (kind, at) => {
        const extra = Uint8Array.from(documentBytes(ledger.blocks[301]!.documents[kind]))
        const bit = at % (8 * extra.length)
        extra[bit >> 3]! ^= 1 << (bit & 7)
        expect(judge(tlogProofText({ ...proof, extra })!).verdict).toMatch(/^(?:altered|impossible)$/)
      }),
      { numRuns: Math.ceil(changes / 5) },
    )
  })

  test('made of two good files is not taken', () => {
    const parts = [
      ledger.proof(301, 600, 'row'),
      ledger.proof(300, 600, 'row'),
      ledger.proof(301, 601, 'row'),
      ledger.proof(301, 600, 'block'),
    ]
    const [good] = parts
    for (const other of parts.slice(1)) {
      for (const name of ['extra', 'index', 'hashes', 'head'] as const) {
        const mixed = { ...good!, [name]: other[name] }
        const isGood = parts.some((part) => JSON.stringify(mixed) === JSON.stringify(part))
        expect(judge(tlogProofText(mixed)!).verdict).toBe(isGood ? 'included' : 'altered')
      }
    }
  })

  test('does not throw, whatever the bytes are', () => {
    const start = fc.constantFrom('', 'c2sp.org/tlog-proof@v1\n', 'c2sp.org/tlog-proof@v1\nextra ', '{"v":1,', '{')
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (text, rest) => {
        expect(judge(Buffer.concat([utf8(text), rest])).verdict).toMatch(/^(?:altered|impossible)$/)
      }),
      { numRuns: 500 },
    )
  })
})
