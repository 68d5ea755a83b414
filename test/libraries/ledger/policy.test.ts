// Policies: what is read, what is refused with its line, which witnesses are a quorum; and signed heads under a policy.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { cosign, cosignedAt } from '../../../src/libraries/ledger/cosignature.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, parseNote, signNote } from '../../../src/libraries/ledger/note.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy, policyText, quorumOf } from '../../../src/libraries/ledger/policy.ts'
import { emptyRoot } from '../../../src/libraries/ledger/tree.ts'
import { parseVerifierKey, signatureTypes } from '../../../src/libraries/ledger/verifier-key.ts'
import { keyText, origin, signedHead, signer, twoOfThree, witnessName } from './keys.ts'

const policyOf = (text: string): ReturnType<typeof parsePolicy> => parsePolicy(utf8(text))
const witness = (
  name: string,
  key = (name.charCodeAt(0) % 16) * 10 + (name.charCodeAt(name.length - 1) % 10),
): string => `witness ${name} ${keyText(`${name}.example`, key)}`

/** The example of the specification. */
const nested = [
  `log ${keyText('log.example', 1, 1)} https://log.example/`,
  '',
  '# The first operator',
  ...['X1', 'X2', 'X3'].map((name) => witness(name)),
  'group X-witnesses 2 X1 X2 X3',
  ...['Y1', 'Y2', 'Y3'].map((name) => `\t ${witness(name)}  https://${name}.example/\t`),
  'group Y-witnesses any Y1 Y2 Y3',
  'group X-and-Y all X-witnesses Y-witnesses',
  'quorum X-and-Y',
].join('\n')

describe('a policy', () => {
  test('with groups of groups asks for what they say', () => {
    const policy = policyOf(`${nested}\n`)
    expect(policy.logs.map(({ key, url }) => [key.name, url])).toEqual([['log.example', 'https://log.example/']])
    expect(policy.witnesses).toHaveLength(6)
    expect(quorumOf(policy, ['X1', 'X3', 'Y2'])).toBe('met')
    expect(quorumOf(policy, ['X1', 'X2', 'X3'])).toBe('not met')
    expect(quorumOf(policy, ['X1', 'Y1', 'Y2', 'Y3'])).toBe('not met')
    expect(quorumOf(policy, ['X-and-Y'])).toBe('met')
    expect(policyOf(nested)).toEqual(policy)
  })

  test('of one witness, and of none', () => {
    expect(quorumOf(policyOf(`${witness('A')}\nquorum A\n`), ['A'])).toBe('met')
    expect(quorumOf(policyOf(`${witness('A')}\nquorum A\n`), [])).toBe('not met')
    expect(quorumOf(policyOf('quorum none\n'), [])).toBe('none')
  })

  test('is printed without URLs, and means the same', () => {
    const printed = policyText(policyOf(nested))
    expect(printed).not.toContain('https')
    const again = policyOf(printed)
    expect(policyText(again)).toBe(printed)
    expect(quorumOf(again, ['X1', 'X3', 'Y2'])).toBe('met')
  })

  test('may be of 32 logs, witnesses and groups, and of more', () => {
    const names = Array.from({ length: 200 }, (_, i) => `w${i}`)
    const lines = [
      ...names.map((name, i) => `log ${keyText(name, 1 + i, 1)}`),
      ...names.map((name, i) => `witness ${name} ${keyText(name, 1 + i)}`),
      ...names.map((name, i) => `group g${i} any ${name}`),
      `group all 150 ${names.map((_, i) => `g${i}`).join(' ')}`,
      'quorum all',
    ]
    const policy = policyOf(lines.join('\n'))
    expect(quorumOf(policy, names.slice(0, 150))).toBe('met')
    expect(quorumOf(policy, names.slice(0, 149))).toBe('not met')
  })

  const [a, b] = [witness('A', 70), witness('B', 71)]
  test.each([
    [1, 'log'],
    [1, `log ${keyText('x', 1)}`],
    [1, `log ${keyText('x', 1, 1)} url more`],
    [1, `log x+00000000+AAAA`],
    [2, `log ${keyText('x', 1, 1)}\nlog ${keyText('y', 1, 1)}`],
    [1, 'witness A'],
    [1, `witness A ${keyText('x', 1, 1)}`],
    [1, `witness none ${keyText('x', 1)}`],
    [2, `${a}\n${witness('A', 72)}`],
    [2, `${a}\n${witness('B', 70)}`],
    [1, 'group G any'],
    [2, `${a}\ngroup G any B`],
    [2, `${a}\ngroup G any none`],
    [2, `${a}\ngroup G any G`],
    [3, `${a}\n${b}\ngroup G any A A`],
    [4, `${a}\n${b}\ngroup G any A\ngroup H any A B`],
    [2, `${a}\ngroup A any A`],
    [2, `${a}\ngroup G 0 A`],
    [2, `${a}\ngroup G 2 A`],
    [2, `${a}\ngroup G 01 A`],
    [2, `${a}\ngroup G most A`],
    [1, 'quorum A'],
    [1, 'quorum'],
    [1, 'quorum none none'],
    [2, 'quorum none\nquorum none'],
    [1, 'quorum none # of them'],
    [1, 'Quorum none'],
    [1, 'quorum no\rne'],
    [1, 'quorum\u00a0none'],
    [1, 'quorum none\u007f'],
  ])('names line %i of %j', (line, text) => {
    expect(() => policyOf(`${text}\nquorum none\n`)).toThrow(new RegExp(`^policy: line ${line} `))
  })

  test('without a quorum, and too long a one, is refused', () => {
    expect(() => policyOf(`${a}\n`)).toThrow('no quorum line')
    expect(() => policyOf(`#${' '.repeat(300_000)}\nquorum none\n`)).toThrow('longer than')
  })

  test('keeps names apart that differ in one octet, UTF-8 or not', () => {
    const bytes = Uint8Array.from(
      Buffer.from(`witness \xe9 ${keyText('x', 1)}\nwitness \xc3\xa9 ${keyText('y', 2)}\nquorum \xe9\n`, 'latin1'),
    )
    const policy = parsePolicy(bytes)
    const [first, second] = policy.witnesses.map(({ name }) => name)
    expect(second).toBe('é')
    expect(first).not.toBe(second)
    expect(quorumOf(policy, [second!])).toBe('not met')
    expect(quorumOf(policy, [first!])).toBe('met')
  })

  test('takes no key whose name is not UTF-8 for that of the name that it would be shown as', () => {
    const shown = keyText('\ufffd', 1, signatureTypes.ed25519)
    const [, id = '', key = ''] = shown.split('+')
    const bytes = (name: string) => Uint8Array.from(Buffer.from(`log ${name}+${id}+${key}\nquorum none\n`, 'latin1'))
    expect(parsePolicy(bytes('\xef\xbf\xbd')).logs).toHaveLength(1)
    expect(() => parsePolicy(bytes('\xff'))).toThrow('a key id that does not follow from name and key')
  })

  test('is met by more witnesses where it is met by fewer', () => {
    const policy = policyOf(nested)
    const names = policy.witnesses.map(({ name }) => name)
    fc.assert(
      fc.property(fc.subarray(names), fc.subarray(names), (some, more) => {
        expect(quorumOf(policy, some) !== 'met' || quorumOf(policy, [...some, ...more]) === 'met').toBe(true)
      }),
    )
  })
})

describe('a cosignature', () => {
  const text = headText({ origin, size: 5, root: emptyRoot })
  const key = parseVerifierKey(keyText('w', 3))

  test('is over the time and the text', () => {
    const { signature, name, keyId } = cosign(text, 'w', signer(3), 1_679_315_147)
    expect({ name, keyId }).toEqual({ name: 'w', keyId: key.id })
    expect(signature).toHaveLength(72)
    expect(cosignedAt(text, key, signature)).toBe(1_679_315_147)
    expect(cosignedAt(`${text}more\n`, key, signature)).toBeUndefined()
    expect(cosignedAt(text, parseVerifierKey(keyText('w', 3, 1)), signature)).toBeUndefined()
    expect(cosignedAt(text, parseVerifierKey(keyText('w', 4)), signature)).toBeUndefined()
    expect(cosignedAt(text, key, signature.subarray(0, 7))).toBeUndefined()
    for (let bit = 0; bit < 72 * 8; bit += 3) {
      const changed = Uint8Array.from(signature)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(cosignedAt(text, key, changed)).toBeUndefined()
    }
  })

  test('has a time up to 2^53-1', () => {
    expect(cosignedAt(text, key, cosign(text, 'w', signer(3), 2 ** 53 - 1).signature)).toBe(2 ** 53 - 1)
    expect(() => cosign(text, 'w', signer(3), 2 ** 53)).toThrow('has a time')
    const beyond = Buffer.concat([
      Buffer.from('0020000000000000', 'hex'),
      signer(3).sign(utf8(`cosignature/v1\ntime ${2 ** 53}\n${text}`)),
    ])
    expect(cosignedAt(text, key, beyond)).toBeUndefined()
  })
})

describe('a signed head', () => {
  const tree = { size: 5, root: emptyRoot }
  const policy = policyOf(twoOfThree)
  const open = (bytes: Uint8Array, by = policy): string => {
    const opened = openHead(bytes, by)
    return opened.ok ? `${opened.quorum}: ${opened.witnessed.map(({ name }) => name).join(' ')}` : opened.fault
  }
  const withLines = (change: (lines: string[]) => string[]): Uint8Array => {
    const [text = '', lines = ''] = decodeUtf8(signedHead(tree, { stranger: true })).split('\n\n')
    return utf8(`${text}\n\n${change(lines.trimEnd().split('\n')).join('\n')}\n`)
  }

  test('has a quorum, too few, or none asked for', () => {
    expect(open(signedHead(tree))).toBe('met: W1 W3')
    expect(open(signedHead(tree, { witnesses: [2] }))).toBe('not met: W2')
    expect(open(signedHead(tree), policyOf(twoOfThree.replace('quorum G', 'quorum none')))).toBe('none: W1 W3')
    expect(openHead(signedHead(tree), policy)).toMatchObject({
      witnessed: [{ at: 1_780_000_001 }, { at: 1_780_000_003 }],
    })
  })

  test('is the same with lines of strangers, without them, and in another order', () => {
    expect(open(withLines((lines) => lines))).toBe('met: W1 W3')
    expect(open(withLines((lines) => lines.toReversed()))).toBe('met: W1 W3')
    expect(open(withLines((lines) => lines.map((line) => line.replace('stranger', 'other'))))).toBe('met: W1 W3')
  })

  test('is none with one bad line of a key that counts', () => {
    const worse = (at: number) => (lines: string[]) =>
      lines.map((line, i) => (i === at ? line.replace(/....$/, 'AAA=') : line))
    for (const at of [0, 1, 2]) expect(open(withLines(worse(at)))).toBe('forged')
    expect(open(withLines((lines) => [...lines, ...worse(1)(lines).slice(1, 2)]))).toBe('forged')
    expect(open(withLines((lines) => lines.slice(1)))).toBe('forged')
    expect(open(utf8('nothing'))).toBe('forged')
  })

  test('of a ledger that the policy does not know cannot be judged', () => {
    expect(open(signedHead(tree), policyOf('quorum none\n'))).toBe('unknown')
    expect(open(signedHead(tree), policyOf(`log ${keyText('other.example', 1, 1)}\nquorum none\n`))).toBe('unknown')
  })

  test('of one ledger is not signed by the key of another', () => {
    const text = headText({ origin, ...tree })
    const both = policyOf(`log ${keyText('other.example', 5, 1)}\n${twoOfThree}`)
    const foreign = noteOf({ text, signatures: [signNote(text, 'other.example', signer(5))] })
    expect(open(utf8(foreign), both)).toBe('forged')
    const { signatures } = parseNote(signedHead(tree))
    const bad = {
      name: 'other.example',
      keyId: parseVerifierKey(keyText('other.example', 5, 1)).id,
      signature: new Uint8Array(64),
    }
    expect(open(utf8(noteOf({ text, signatures: [...signatures, bad] })), both)).toBe('forged')
  })

  test('counts the earliest of two times of one witness', () => {
    const { text, signatures } = parseNote(signedHead(tree))
    const twice = noteOf({ text, signatures: [...signatures, cosign(text, witnessName(1), signer(11), 5)] })
    expect(openHead(utf8(twice), policy)).toMatchObject({ witnessed: [{ name: 'W1', at: 5 }, { name: 'W3' }] })
  })
})
