// Notes and keys against published ones, and what is refused of a note.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64 } from '../../../src/libraries/base/base64.ts'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { ed25519Signer } from '../../../src/libraries/base/ids/native-crypto.ts'
import { headText, parseHead, parseSize } from '../../../src/libraries/ledger/head.ts'
import { isBy, maxNoteBytes, noteOf, parseNote, signNote, verifyNote } from '../../../src/libraries/ledger/note.ts'
import { emptyRoot } from '../../../src/libraries/ledger/tree.ts'
import { parseVerifierKey, verifierKeyText } from '../../../src/libraries/ledger/verifier-key.ts'
import { keyText, signer } from './keys.ts'

// Key and note of golang.org/x/mod v0.43.0, sumdb/note/example_test.go.
const peter = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const enoch = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const text =
  'If you think cryptography is the answer to your problem,\nthen you don’t know what your problem is.\n'.replace(
    '’',
    "'",
  )
const peterLine =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const enochLine =
  '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'
const seed = fromBase64('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz')!.subarray(1)

describe('a published note', () => {
  test('is read, checked and written again byte for byte', () => {
    const bytes = utf8(`${text}\n${peterLine}${enochLine}`)
    const note = parseNote(bytes)
    expect(note.text).toBe(text)
    for (const [key, other, at] of [
      [peter, enoch, 0],
      [enoch, peter, 1],
    ] as const) {
      const line = note.signatures[at]!
      expect(isBy(line, parseVerifierKey(key))).toBe(true)
      expect(isBy(line, parseVerifierKey(other))).toBe(false)
      expect(verifyNote(note.text, parseVerifierKey(key), line.signature)).toBe(true)
      expect(verifyNote(`${note.text}\n`, parseVerifierKey(key), line.signature)).toBe(false)
    }
    expect(utf8(noteOf(note))).toEqual(bytes)
  })

  test('is signed as its key signs', () => {
    const made = signNote(text, 'PeterNeumann', ed25519Signer(seed))
    expect(noteOf({ text, signatures: [made] })).toBe(`${text}\n${peterLine}`)
    expect(verifierKeyText(parseVerifierKey(peter))).toBe(peter)
  })
})

describe('a note', () => {
  test.each([
    ['no blank line', `${text}${peterLine}`],
    ['no signature', `${text}\n`],
    ['no newline at its end', `${text}\n${peterLine.trimEnd()}`],
    ['a text between its signatures', `${text}\n${peterLine}x\n${enochLine}`],
    ['two dashes', `${text}\n${peterLine.replace('—', '--')}`],
    ['no name', `${text}\n— x08go/ZJkuBS9UG/\n`],
    ['an empty name', `${text}\n—  x08go/ZJkuBS9UG/\n`],
    ['a plus in a name', `${text}\n${peterLine.replace('Peter', 'Peter+')}`],
    ['a space of Unicode in a name', `${text}\n${peterLine.replace('Peter', 'Peter\u2003')}`],
    ['two spaces', `${text}\n${peterLine.replace(' x08', '  x08')}`],
    ['spare bits in its base64', `${text}\n${peterLine.replace('nAM=', 'nAN=')}`],
    ['no padding', `${text}\n${peterLine.replace('=\n', '\n')}`],
    ['a signature without bytes', `${text}\n— PeterNeumann x08gow==\n`],
    ['a tab', `${text}\t\n\n${peterLine}`],
    ['a carriage return', `${text}\n${peterLine.replace('\n', '\r\n')}`],
    ['too many signatures', `${text}\n${peterLine.repeat(101)}`],
    ['too many bytes', `${'x'.repeat(maxNoteBytes)}\n\n${peterLine}`],
  ])('with %s is refused', (_, source) => {
    expect(() => parseNote(utf8(source))).toThrow(/^note: /)
  })

  test('that is not UTF-8 is refused', () => {
    const bytes = utf8(`${text}\n${peterLine}`)
    bytes[3] = 0xff
    expect(() => parseNote(bytes)).toThrow('not UTF-8')
  })

  test('has room for 16 signatures of 5 kB, and for blank lines in its text', () => {
    const line = `— pq.example ${Buffer.alloc(4905, 7).toString('base64')}\n`
    const note = parseNote(utf8(`one\n\ntwo\n\n${line.repeat(16)}`))
    expect(note.text).toBe('one\n\ntwo\n')
    expect(note.signatures).toHaveLength(16)
  })

  test('comes out as it came in, whatever it is', () => {
    const plain = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((some) => !/\p{Cc}/u.test(some))
    const names = plain.filter((some) => !/[\p{White_Space}+]/u.test(some))
    const lines = fc.array(
      fc.record({ name: names, keyId: fc.nat(0xffffffff), signature: fc.uint8Array({ minLength: 1, maxLength: 90 }) }),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(plain, lines, (first, signatures) => {
        const note = { text: `${first}\n`, signatures }
        expect(parseNote(utf8(noteOf(note)))).toEqual(note)
      }),
    )
  })
})

describe('a key', () => {
  test.each([
    ['another id', peter.replace('c74f20a3', 'c74f20a4')],
    ['capitals in its id', peter.replace('c74f20a3', 'C74F20A3')],
    ['another name', peter.replace('Peter', 'Pete')],
    ['no name', peter.replace('PeterNeumann', '')],
    ['a space in its name', peter.replace('Peter', 'Peter ')],
    // From note_test.go.
    ['a wrong length', 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY=='],
    ['an unknown type', 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'],
    ['nothing behind its id', 'PeterNeumann+c74f20a3+'],
    ['no plus', 'PeterNeumann'],
  ])('with %s is refused', (_, source) => {
    expect(() => parseVerifierKey(source)).toThrow(/^key of a note: /)
  })

  test('of another type has another id', () => {
    const [one, four] = [parseVerifierKey(keyText('a', 1, 1)), parseVerifierKey(keyText('a', 1, 4))]
    expect(one.publicKey).toEqual(four.publicKey)
    expect(one.id).not.toBe(four.id)
    expect(verifyNote(text, four, signer(1).sign(utf8(text)))).toBe(false)
  })
})

describe('a ledger head', () => {
  const published = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'

  test('is three lines, read and written', () => {
    const head = parseHead(published)
    expect(head).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(headText(head)).toBe(published)
    expect(parseHead(headText({ origin: 'a', size: 2 ** 53 - 1, root: emptyRoot })).size).toBe(2 ** 53 - 1)
  })

  test('may have lines after these, from others', () => {
    expect(parseHead(`${published}more\nand more\n`)).toEqual(parseHead(published))
  })

  test.each([
    ['two lines', 'a\n1\n'],
    ['no newline at its end', published.trimEnd()],
    ['an empty origin', published.replace('example.com/behind-the-sofa', '')],
    ['an empty line after it', `${published}\n`],
    ['an empty line within', `${published}a\n\nb\n`],
    ['a sign', published.replace('2085', '+2085')],
    ['a leading zero', published.replace('2085', '02085')],
    ['a size beyond 2^53-1', published.replace('20852163', '9007199254740992')],
    ['a hash of 31 bytes', published.replace(/.*=\n/, 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n')],
    ['spare bits', published.replace('q2I=', 'q2J=')],
  ])('with %s is refused', (_, source) => {
    expect(() => parseHead(source)).toThrow(/^ledger head: /)
  })

  test('is not written for what is no origin', () => {
    for (const origin of ['', 'a b', 'a+b', 'a\nb']) {
      expect(() => headText({ origin, size: 0, root: emptyRoot })).toThrow('a head has an origin')
    }
  })

  test('has sizes in one spelling', () => {
    expect(['0', '7', '9007199254740991'].map(parseSize)).toEqual([0, 7, 2 ** 53 - 1])
    for (const no of ['', '00', '-0', '1e3', '0x1', ' 1', '1 ', '1.0', '9007199254740993', '99999999999999999']) {
      expect(parseSize(no)).toBeUndefined()
    }
  })
})

test('base64 has one text for each value', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 100 }),
      fc.nat(),
      fc.constantFrom('A', 'B', '=', '-', '', '\n'),
      (bytes, at, put) => {
        const base64 = Buffer.from(bytes).toString('base64')
        expect(fromBase64(base64)).toEqual(bytes)
        const changed = base64.slice(0, at % (base64.length + 1)) + put + base64.slice((at % (base64.length + 1)) + 1)
        const read = fromBase64(changed)
        // Node's own reader takes more, and writes what it has read in the one spelling.
        const isOne = Buffer.from(changed, 'base64').toString('base64') === changed
        expect(read === undefined ? undefined : Buffer.from(read)).toEqual(
          isOne ? Buffer.from(changed, 'base64') : undefined,
        )
      },
    ),
    { numRuns: 1000 },
  )
  expect(decodeUtf8(fromBase64('YWJj')!)).toBe('abc')
})
