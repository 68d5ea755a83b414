// Files about a ledger, one of each kind, and ways to change them from a seed: bytes, lines, numbers and members, also of what is
// in base64, and signed again, so that what lies behind a signature is judged too.

import { fromBase64 } from '../../src/libraries/base/base64.ts'
import { concatBytes, utf8 } from '../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../src/libraries/base/errors.ts'
import { didKeyText } from '../../src/libraries/base/ids/identifiers.ts'
import { canonicalBytes } from '../../src/libraries/base/json/canonical.ts'
import { fromPlain, jsonText, parseJson } from '../../src/libraries/base/json/json.ts'
import type { JsonObject } from '../../src/libraries/base/json/value.ts'
import { cosign } from '../../src/libraries/ledger/cosignature.ts'
import { headText } from '../../src/libraries/ledger/head.ts'
import { noteOf, signatureLine, signNote } from '../../src/libraries/ledger/note.ts'
import { proofJsonText } from '../../src/libraries/ledger/proof-document.ts'
import { receiptDomain, refusalDomain, signDocument } from '../../src/libraries/ledger/signed-document.ts'
import type { Random } from '../history/load.ts'
import { origin, signer, witnessName } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'

export const ledger = new SmallLedger(9)
const nodeSigner = signer(7)
export const node = { did: didKeyText(nodeSigner.publicKey), sign: (bytes: Uint8Array) => nodeSigner.sign(bytes) }

/** Of another ledger of the policy, by the key 2. */
export const otherOrigin = 'other.example/ledger'
const json = (value: unknown): Uint8Array => utf8(jsonText(fromPlain(value)))
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** The document as this node signs it. */
function signed(domain: string, document: JsonObject): JsonObject {
  const unsigned = new Map(document)
  unsigned.delete('proof')
  return signDocument(domain, unsigned, node)
}

const { hashes, head } = ledger.proof(5, 9, 'block')
const stamp = { size: 9, head: Buffer.from(head).toString(), token: Uint8Array.of(1, 2, 3) }
const asJson = (...more: Parameters<typeof proofJsonText> extends [unknown, unknown, ...infer M] ? M : never) =>
  utf8(proofJsonText(ledger.blocks[5]!.documents.row, ledger.proof(5, 9, 'row'), ...more))
const early = ledger.proof(5, 7, 'row')

/** Kinds that the vectors have not. */
export const files: Readonly<Record<string, Uint8Array>> = {
  'proof with a time stamp': asJson(stamp),
  'proof with an early time stamp': asJson({
    size: 7,
    head: Buffer.from(early.head).toString(),
    token: Uint8Array.of(1),
    hashes: early.hashes,
  }),
  answer: json({ input: {}, commitment: {}, proof: {} }),
}

/** A head with lines of a key that nobody knows. */
const strangers = (count: number): Uint8Array =>
  concatBytes([
    head,
    ...Array.from({ length: count }, () => utf8(signatureLine(signNote('x', 'stranger', signer(99))))),
  ])
const withExtra = (change: (extra: string) => string): Uint8Array =>
  Buffer.from(
    latin1(ledger.text(5, 9, 'row')).replace(/(?<=\nextra ).*/, (base64) =>
      Buffer.from(change(Buffer.from(base64, 'base64').toString())).toString('base64'),
    ),
    'latin1',
  )
const others = headText({ origin: otherOrigin, size: 9, root: ledger.root(9) })

/** Files at the edge of what is taken. */
export const edges: Readonly<Record<string, Uint8Array>> = {
  ...Object.fromEntries(
    ['"v":1', '"index":1', '"count":2'].flatMap((member) =>
      ['.0', 'e+0'].map((more) => [
        `an extra line with ${member}${more}`,
        withExtra((extra) => extra.replace(member, `${member}${more}`)),
      ]),
    ),
  ),
  ...Object.fromEntries(
    [44_900, 45_100].map((length) => [
      `an extra line of ${length} bytes`,
      withExtra(() => JSON.stringify({ kind: 'x', v: 2, x: 'x'.repeat(length) })),
    ]),
  ),
  ...Object.fromEntries([97, 98].map((count) => [`a head with ${count} strangers`, strangers(count)])),
  'a time stamp of another ledger': asJson({
    ...stamp,
    head: noteOf({ text: others, signatures: [signNote(others, otherOrigin, signer(2))] }),
    hashes,
  }),
}

type Change = (bytes: Uint8Array, random: Random) => Uint8Array

const oneOf = <T>(random: Random, values: readonly T[]): T => values[random.between(0, values.length - 1)]!

const flipped: Change = (bytes, random) => {
  const changed = Uint8Array.from(bytes)
  changed[random.between(0, bytes.length - 1)]! ^= 1 << random.between(0, 7)
  return changed
}

const put: Change = (bytes, random) => {
  const at = random.between(0, bytes.length)
  const some = oneOf(random, ['', ' ', '\n', '\r\n', '=', '0', '{', '"', ',', '\u{feff}', '\t', '\x85', '\xa0', '\0'])
  return concatBytes([bytes.subarray(0, at), utf8(some), bytes.subarray(at + random.between(0, 2))])
}

const atEnds: Change = (bytes, random) => {
  const some = utf8(oneOf(random, ['\u{feff}', ' ', '\n', '\n\n', '\xa0', '\x1c', '\v', '{}', ' '.repeat(220)]))
  return concatBytes(
    oneOf(random, [
      [some, bytes],
      [bytes, some],
      [some, bytes, some],
    ]),
  )
}

const cut: Change = (bytes, random) => bytes.subarray(0, random.between(0, bytes.length - 1))

/** A line doubled, left out or swapped with another. */
const lines: Change = (bytes, random) => {
  const all = latin1(bytes).split('\n')
  const [at, other] = [random.between(0, all.length - 1), random.between(0, all.length - 1)]
  const [line = '', second = ''] = [all[at], all[other]]
  oneOf(random, [
    () => all.splice(at, 0, line),
    () => all.splice(at, 1),
    () => all.splice(at, 1, second),
    () => all.splice(other, 0, ...all.splice(at, 1)),
  ])()
  return Buffer.from(all.join('\n'), 'latin1')
}

/** Words in which # is for what was there. */
const spelled = (random: Random, words: string, there: string): string =>
  oneOf(random, words.split(' | ')).replaceAll('#', () => there)

/** Spellings of a number that a reader may take for it, and those of others. */
const numberWords =
  '#.0 | #e0 | #E+0 | -# | 0# | +# | #0 | -0 | 1e999 | #.00000000000000000001 | 9007199254740991.4 | 9007199254740993 | NaN | "#" | null | true | [1] | #e-1 | 18446744073709551616'

const numbers: Change = (bytes, random) =>
  replaced(bytes, random, /(?<![\w"+/.-])-?\d+(?:\.\d+)?(?![\w"+/.-])/g, (token) =>
    oneOf(random, [spelled(random, numberWords, token), String(Number(token) + 1), '1'.repeat(5000)]),
  )

const deep = `${'['.repeat(62)}${']'.repeat(62)}`

/** A member doubled, left out, renamed, or with another value. */
const members: Change = (bytes, random) =>
  replaced(bytes, random, /"[\w$]{1,24}":(?:"[^"]{0,400}"|[\d.]+|true)?,?/g, (member) => {
    const [name = ''] = member.split(':')
    const values = `#:null, | #:{}, | #:[], | #:"", | #:"x", | #:1, | #:false, | #:${deep}, | #: \t${member.slice(name.length + 1)}`
    const other = spelled(random, values, name)
    return oneOf(random, [other, other, `${name.slice(0, -1)}s":`, spelled(random, '## | "more":1,#', member), ''])
  })

const textWords =
  '#\\n | #  | #= | #\\ud800 | 2026-02-30T00:00:00Z | 2026-05-01T24:00:00Z | 0000-01-01T00:00:00Z | 2099-12-31T23:59:59.9999Z | 2026-05-01T00:00:00+00:00 | 2026-13-01T00:00:00Z | 2024-02-29T00:00:00.5Z | 2026-05-01T23:59:60Z'

/** Texts changed in ways that look alike, or swapped for another of the file. */
const texts: Change = (bytes, random) => {
  const all = latin1(bytes).match(/"[^"]{1,400}"/g) ?? ['""']
  return replaced(bytes, random, /"[^"]{1,400}"/g, (text) => {
    const inner = text.slice(1, -1)
    const escaped = `\\u00${inner.charCodeAt(0).toString(16).padStart(2, '0')}${inner.slice(1)}`
    const other = `"${spelled(random, textWords, inner)}"`
    return oneOf(random, [
      oneOf(random, all),
      other,
      other,
      `"${oneOf(random, [inner.toUpperCase(), inner.slice(1), escaped])}"`,
    ])
  })
}

function replaced(bytes: Uint8Array, random: Random, what: RegExp, by: (found: string) => string): Uint8Array {
  const text = latin1(bytes)
  const all = [...text.matchAll(what)]
  const one = all[random.between(0, Math.max(0, all.length - 1))]
  if (one === undefined) return bytes
  return Buffer.from(text.slice(0, one.index) + by(one[0]) + text.slice(one.index + one[0].length), 'latin1')
}

/** Any of these, to what the `extra` line of a proof holds. */
const extra: Change = (bytes, random) =>
  replaced(bytes, random, /(?<=\nextra )[^\n]*/g, (base64) => {
    const inner = fromBase64(base64) ?? new Uint8Array()
    return Buffer.from(oneOf(random, [numbers, members, texts, put])(inner, random)).toString('base64')
  })

/** Signed again by the node, where it is JSON; a head by its ledger and witnesses. */
const signedAgain: Change = (bytes, random) => {
  const changed = oneOf(random, [numbers, members, texts])(bytes, random)
  try {
    const document = parseJson(changed)
    if (!(document instanceof Map)) return changed
    const refusal = document.get('refusal')
    if (refusal instanceof Map) return json({ refusal: signed(refusalDomain, refusal as JsonObject) }) // names are strings
    const broken = document.get('receipt')
    if (broken instanceof Map)
      return json(new Map([...document, ['receipt', signed(receiptDomain, broken as JsonObject)]])) // names are strings
    if (!document.has('engines')) return json(signed(receiptDomain, document as JsonObject)) // names are strings
    return canonicalBytes(signed('proofstream/statement/1', document as JsonObject)) // names are strings
  } catch (error) {
    if (error instanceof DecodeError) return changed
    throw error
  }
}

const headSignedAgain: Change = (bytes, random) => {
  const at = Buffer.from(bytes).lastIndexOf(`${origin}\n`)
  const end = Buffer.from(bytes).indexOf('\n\n', at)
  if (at < 0 || end < 0) return bytes
  const text = Buffer.from(oneOf(random, [lines, put, flipped])(bytes.subarray(at, end + 1), random)).toString()
  const seconds = oneOf(random, [0, 1_780_000_000, 8_640_000_000_000])
  const signatures = [signNote(text, origin, signer(1)), cosign(text, witnessName(1), signer(11), seconds)]
  const second = cosign(text, witnessName(3), signer(13), 5)
  const more = oneOf(random, [
    [second],
    [second, cosign(text, witnessName(3), signer(13), 4)],
    [cosign(text, witnessName(3), signer(12), 5)],
  ])
  return concatBytes([bytes.subarray(0, at), utf8(noteOf({ text, signatures: [...signatures, ...more] }))])
}

const changes = [flipped, put, atEnds, cut, lines, numbers, members, texts, extra, signedAgain, headSignedAgain]

/** The bytes changed in one way, at times in two. */
export function changed(bytes: Uint8Array, random: Random): Uint8Array {
  const once = oneOf(random, changes)(bytes, random)
  return once.length > 0 && random.between(0, 9) === 0 ? oneOf(random, changes)(once, random) : once
}

/** Policies that a careless reader takes for this one, or for one that asks for less. */
export function otherPolicies(text: string): readonly Uint8Array[] {
  const witness = /^witness W1 (.*)$/m.exec(text)?.[1] ?? ''
  const quorum = /^group G 2 W1 W2 W3\nquorum G$/m
  const groups = [
    ...['+2', '02', '2.0', '2e0', '-1', '0', '4', 'ANY', '\u0662', '\u00b2', '0x2', '1_0', '2 2'].map(
      (n) => `G ${n} W1 W2 W3`,
    ),
    ...['W1 W1 W2', 'W1 W1', 'G W1', 'W1 W4', 'none W1', 'W1\u00a0W2', ''].map((members) => `G 2 ${members}`),
    ...['none', 'W1', 'any'].map((name) => `${name} 2 W1 W2 W3`),
    'G 1 W1\ngroup H 2 G W1',
    'G 1 W1\ngroup G 1 W2',
  ]
  const [spaces, ends] = [
    ['\u00a0', '\u2003', '\u3000', '\v', '\f', '\x1c', '\x85', '\t', '  '],
    ['\r\n', '\r', '\u2028', '\n\n', '\n \n'],
  ]
  return [
    ...groups.map((group) => text.replace(quorum, `group ${group}\nquorum G`)),
    ...spaces.flatMap((space) => [text.replaceAll(' ', space), text.replace('G 2', `G${space}2`), `${space}${text}`]),
    ...ends.map((end) => text.replaceAll('\n', end)),
    ...['', 'quorum G\n', '#\n', '\u00fc\n', '\0'].map((more) => text + more),
    text.replace(/^group/m, `witness W4 ${witness}\ngroup`).replace('W2 W3', 'W4'),
    text.replace(/^log (.*)$/m, 'log $1\nlog $1'),
    text.replace(/\+[0-9a-f]{8}\+/g, (id) => id.toUpperCase()),
    text.replace(/=$/m, ''),
    `\u{feff}${text}`,
    text.replace(/\n$/, ''),
    'quorum none\n',
    '',
    '#'.repeat(262_145),
  ].map(utf8)
}

/** The text of a policy changed: words, and what any file is changed by. */
export function changedPolicy(bytes: Uint8Array, random: Random): Uint8Array {
  if (random.between(0, 1) === 0) return oneOf(random, [flipped, put, cut, lines])(bytes, random)
  const words = latin1(bytes).split(/(?<=[ \n])|(?=[ \n])/)
  const some = ['none', 'any', 'all', '0', '1', '01', '4', 'G', 'W1', '#', '\t', '\r', '\x7f', '\xff', '', ...words]
  words.splice(random.between(0, words.length - 1), random.between(0, 2), oneOf(random, some))
  return Buffer.from(words.join(''), 'latin1')
}
