// A witness's decisions, each status that the specification names; and what a ledger sends and reads.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../../src/libraries/base/bytes.ts'
import { cosign, cosignedAt } from '../../../src/libraries/ledger/cosignature.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { noteOf, parseNote, parseSignatures, signatureLine, signNote } from '../../../src/libraries/ledger/note.ts'
import { emptyRoot, type TreeHead } from '../../../src/libraries/ledger/tree.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import {
  addCheckpointBody,
  cosignaturesIn,
  decideAddCheckpoint,
  maxAddCheckpointBytes,
  parseAddCheckpoint,
  sizeIn,
  type WitnessDecision,
} from '../../../src/libraries/ledger/witness.ts'
import { keyText, origin, signedHead, signer } from './keys.ts'
import { slowProof, slowRoot, someLeaves } from './rfc6962.ts'

const leaves = someLeaves(40)
const tree = (size: number): TreeHead => ({ size, root: slowRoot(leaves, '', 0, size) })
const other = (size: number): TreeHead => ({ size, root: slowRoot(leaves.toReversed(), '', 0, size) })
const key = parseVerifierKey(keyText(origin, 1, 1))
const witnessKey = parseVerifierKey(keyText('w', 7))

interface Asked {
  readonly oldSize: number
  readonly head: TreeHead
  readonly proof?: readonly Uint8Array[]
  readonly note?: Uint8Array
}

const body = ({ oldSize, head, proof, note }: Asked): Uint8Array =>
  addCheckpointBody({
    oldSize,
    proof: proof ?? (oldSize <= head.size ? slowProof(oldSize, leaves.slice(0, head.size)) : []),
    note: parseNote(note ?? signedHead(head, { witnesses: [1] })),
  })

const decide = (asked: Asked, last?: TreeHead, keys = [key]): WitnessDecision =>
  decideAddCheckpoint(parseAddCheckpoint(body(asked)), {
    keys,
    ...(last !== undefined && { last }),
    name: 'w',
    signer: signer(7),
    seconds: 1_790_000_000,
  })

describe('a witness', () => {
  test('cosigns the first head, a larger one, and the same again', () => {
    for (const [oldSize, size] of [
      [0, 0],
      [0, 1],
      [0, 17],
      [1, 2],
      [5, 17],
      [8, 16],
      [17, 17],
      [16, 40],
    ] as const) {
      const decision = decide({ oldSize, head: tree(size) }, oldSize === 0 ? undefined : tree(oldSize))
      expect(decision).toMatchObject({ status: 200, next: tree(size) })
      const [line] = parseSignatures('body' in decision ? decision.body : '')
      expect(cosignedAt(headText({ origin, ...tree(size) }), witnessKey, line!.signature)).toBe(1_790_000_000)
    }
  })

  test('does not know the ledger: 404', () => {
    expect(decide({ oldSize: 0, head: tree(3) }, undefined, []).status).toBe(404)
    expect(decide({ oldSize: 0, head: tree(3) }, undefined, [parseVerifierKey(keyText('other', 1, 1))]).status).toBe(
      404,
    )
  })

  test('does not see the signature of the ledger, or a bad one: 403', () => {
    const text = headText({ origin, ...tree(3) })
    const strange = noteOf({ text, signatures: [signNote(text, origin, signer(2))] })
    expect(decide({ oldSize: 0, head: tree(3), note: utf8(strange) }).status).toBe(403)
    const bad = noteOf({ text, signatures: [signNote(headText({ origin, ...tree(4) }), origin, signer(1))] })
    expect(decide({ oldSize: 0, head: tree(3), note: utf8(bad) }).status).toBe(403)
  })

  test('is told an old size above the head: 400', () => {
    expect(decide({ oldSize: 4, head: tree(3) }, tree(4)).status).toBe(400)
  })

  test('has signed another size: 409 with that', () => {
    expect(decide({ oldSize: 0, head: tree(9) }, tree(5))).toEqual({ status: 409, body: '5\n', isEvidence: false })
    expect(decide({ oldSize: 5, head: tree(9) })).toEqual({ status: 409, body: '0\n', isEvidence: false })
    expect(decide({ oldSize: 5, head: tree(9) }, tree(6))).toEqual({ status: 409, body: '6\n', isEvidence: false })
  })

  test('is shown two heads of one size: evidence, whatever the old size says', () => {
    expect(decide({ oldSize: 5, head: other(5), proof: [] }, tree(5))).toMatchObject({ status: 422, isEvidence: true })
    expect(decide({ oldSize: 0, head: other(5), proof: [] }, tree(5))).toEqual({
      status: 409,
      body: '5\n',
      isEvidence: true,
    })
    const wrongEmpty = { size: 0, root: leaves[0]! }
    expect(decide({ oldSize: 0, head: wrongEmpty })).toMatchObject({ status: 422, isEvidence: true })
    expect(decide({ oldSize: 0, head: wrongEmpty }, tree(0))).toMatchObject({ status: 422, isEvidence: true })
  })

  test('is not shown that the head goes on: 422, and evidence where there is a larger head', () => {
    expect(decide({ oldSize: 5, head: other(9) }, tree(5))).toMatchObject({ status: 422, isEvidence: true })
    expect(decide({ oldSize: 5, head: tree(9), proof: [] }, tree(5))).toMatchObject({ status: 422, isEvidence: true })
    expect(decide({ oldSize: 5, head: tree(5), proof: [emptyRoot] }, tree(5))).toMatchObject({
      status: 422,
      isEvidence: false,
    })
    expect(decide({ oldSize: 0, head: tree(5), proof: [emptyRoot] })).toMatchObject({ status: 422, isEvidence: false })
  })

  test('signs nothing that does not go on from the last, whatever it is asked', () => {
    const size = fc.nat(40)
    fc.assert(
      fc.property(size, size, size, fc.boolean(), (last, oldSize, next, isOther) => {
        const head = isOther ? other(next) : tree(next)
        const decision = decide({ oldSize, head }, tree(last))
        const goesOn = oldSize === last && next >= last && (!isOther || last === 0)
        expect(decision.status === 200).toBe(goesOn)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a request', () => {
  test('is these lines, and read as it is written', () => {
    const bytes = body({ oldSize: 5, head: tree(17) })
    const text = decodeUtf8(bytes)
    expect(text).toMatch(/^old 5\n(?:[\w+/]{43}=\n){6}\nnode\.example\/ledger\n17\n/)
    const { oldSize, proof, note, head } = parseAddCheckpoint(bytes)
    expect({ oldSize, proof, head }).toEqual({
      oldSize: 5,
      proof: slowProof(5, leaves.slice(0, 17)),
      head: { origin, ...tree(17) },
    })
    expect(addCheckpointBody({ oldSize, proof, note })).toEqual(bytes)
  })

  const good = decodeUtf8(body({ oldSize: 5, head: tree(17) }))
  test.each([
    ['without an old size', good.replace('old 5', 'new 5')],
    ['with a sign', good.replace('old 5', 'old +5')],
    ['with a leading zero', good.replace('old 5', 'old 05')],
    ['with two spaces', good.replace('old 5', 'old  5')],
    ['with a size beyond 2^53-1', good.replace('old 5', 'old 9007199254740992')],
    ['with a hash of 31 bytes', good.replace(/\n.*\n/, '\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n')],
    [
      'with spare bits',
      good.replace(/(.)=\n/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=\n`),
    ],
    ['without an empty line', good.replace('\n\n', '\n')],
    ['with 64 hashes', good.replace('old 5\n', `old 5\n${`${'A'.repeat(43)}=\n`.repeat(60)}`)],
    ['without a head', 'old 5\n\n'],
    ['with a note that is no head', 'old 5\n\nx\n\n— a AAAAAAA=\n'],
    ['with a carriage return', good.replace('\n', '\r\n')],
    ['that is too long', good.padEnd(maxAddCheckpointBytes + 1, '\n')],
    ['of nothing', ''],
  ])('%s is refused', (_, text) => {
    expect(() => parseAddCheckpoint(utf8(text))).toThrow(/^(?:add-checkpoint|note|ledger head): /)
  })

  test('has room for 16 signatures of 5 kB', () => {
    const text = headText({ origin, ...tree(3) })
    const signatures = Array.from({ length: 16 }, (_, i) => ({
      name: `pq${i}`,
      keyId: i,
      signature: new Uint8Array(4900),
    }))
    const note = { text, signatures: [...signatures, signNote(text, origin, signer(1))] }
    expect(parseAddCheckpoint(addCheckpointBody({ oldSize: 0, proof: [], note })).note).toEqual(note)
  })
})

describe('an answer', () => {
  const text = headText({ origin, ...tree(3) })
  const line = signatureLine(cosign(text, 'w', signer(7), 9))
  const strange = signatureLine(cosign(text, 'w', signer(8), 9))

  test('counts by the lines of the witness', () => {
    expect(cosignaturesIn(utf8(line), text, witnessKey).map(signatureLine)).toEqual([line])
    expect(cosignaturesIn(utf8(strange + line), text, witnessKey).map(signatureLine)).toEqual([line])
    expect(cosignaturesIn(utf8(strange), text, witnessKey)).toEqual([])
  })

  test('with a bad line of the witness counts for nothing', () => {
    const bad = signatureLine(cosign(headText({ origin, ...tree(4) }), 'w', signer(7), 9))
    expect(() => cosignaturesIn(utf8(line + bad), text, witnessKey)).toThrow('not good')
    for (const no of ['', 'x\n', line.trimEnd(), `${line}\n`, '\xff']) {
      expect(() => cosignaturesIn(utf8(no), text, witnessKey)).toThrow(/^note: /)
    }
    expect(() => cosignaturesIn(Uint8Array.of(0xff), text, witnessKey)).toThrow('UTF-8')
  })

  test('of a conflict tells a size', () => {
    expect(['0\n', '17\n', '9007199254740991\n'].map((size) => sizeIn(utf8(size)))).toEqual([0, 17, 2 ** 53 - 1])
    for (const no of ['', '\n', '17', '017\n', '-1\n', '17\n\n', '9007199254740992\n', '1'.repeat(30)]) {
      expect(sizeIn(utf8(no))).toBeUndefined()
    }
  })
})
