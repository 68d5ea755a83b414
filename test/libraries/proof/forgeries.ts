// Saved answers that were never signed, or not so: damage by hand, and signatures made for the purpose, some of which
// satisfy one of the two verification equations of Ed25519. Each with the kind that it must be called by.

import { createHash } from 'node:crypto'
import { etc, Point } from '@noble/ed25519'
import { base64urlText, didKeyText } from '../../../src/libraries/base/ids/identifiers.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { concatBytes, fromHex, littleEndian } from '../../../src/libraries/base/bytes.ts'
import { commit, commitmentBytes } from '../../../src/libraries/proof/commitment.ts'
import { proofVectors } from './proof-vectors.ts'

export interface Forgery {
  readonly name: string
  readonly text: string
  /** `ok`: odd, and valid all the same. */
  readonly kind: string
}

const order = Point.CURVE().n
const live = proofVectors.find(({ name }) => name === 'float-2537.07')!

const input = { query: 'select 1', datasets: [] }
const output = { data: [[1]], dataFormat: 'JsonAoa' }
const commitment = commit({ input: fromPlain(input), output: fromPlain(output) })
const message = commitmentBytes(commitment)

/** The saved answer with this key and signature. */
function answer(publicKey: Uint8Array, signature: Uint8Array): string {
  const verificationMethod = didKeyText(publicKey)
  const proof = { type: 'Ed25519Signature2020', verificationMethod, proofValue: base64urlText(signature) }
  return JSON.stringify({ input, output, subQueries: [], commitment, proof })
}

function bytesOf(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0'))!.toReversed()
}

function challenge(r: Uint8Array, publicKey: Uint8Array): bigint {
  return littleEndian(createHash('sha512').update(r).update(publicKey).update(message).digest()) % order
}

/** A point of order 8. */
const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
const secret = 123_456_789n
const publicKey = Point.BASE.multiply(secret)

/** Signature with the nonce `r` and a point that is `shift` beside its own. */
function sign(r: bigint, key: Point, shift: Point): Uint8Array {
  const point = Point.BASE.multiply(r).add(shift).toBytes()
  return concatBytes([point, bytesOf(etc.mod(r + challenge(point, key.toBytes()) * secret, order))])
}

function nonceWhere(holds: (k: bigint) => boolean, key: Point): bigint {
  let r = 1n
  while (!holds(challenge(Point.BASE.multiply(r).toBytes(), key.toBytes()))) r++
  return r
}

const badSignature = 'InvalidRequest::BadSignature'
const identity = Point.ZERO.toBytes()
const zeroScalar = new Uint8Array(32)
const good = sign(77n, publicKey, Point.ZERO)
const mixedKey = publicKey.add(torsion)
const changed = (from: string, to: string): string => live.responseBodyBytes.replace(from, to)

export const forgeries: readonly Forgery[] = [
  { name: 'a changed question', text: changed('select', 'Select'), kind: 'InvalidRequest::InputHash' },
  { name: 'a changed row', text: changed('[[2537.07', '[[2537.08'), kind: 'InvalidRequest::OutputHash' },
  {
    name: 'another token of a number',
    text: changed('[[2537.07', '[[2537.070'),
    kind: 'InvalidRequest::RewrittenOutput',
  },
  { name: 'a changed commitment', text: changed(live.outputHash, live.inputHash), kind: badSignature },
  {
    name: 'a hash of no sub-queries',
    text: changed(live.subQueriesHash, live.inputHash),
    kind: 'InvalidRequest::SubQueriesHash',
  },
  { name: 'another type', text: changed('Signature2020', 'Signature2030'), kind: 'UnsupportedProofType' },
  { name: 'the key of another', text: changed(live.did, didKeyText(publicKey.toBytes())), kind: badSignature },
  { name: 'a genuine signature', text: answer(publicKey.toBytes(), good), kind: 'ok' },
  { name: 'a key that signs all', text: answer(identity, concatBytes([identity, zeroScalar])), kind: badSignature },
  {
    name: 'that key in another spelling',
    text: answer(bytesOf(Point.CURVE().p + 1n), concatBytes([identity, zeroScalar])),
    kind: badSignature,
  },
  {
    name: 'a point of small order',
    text: answer(
      publicKey.toBytes(),
      concatBytes([identity, bytesOf(etc.mod(challenge(identity, publicKey.toBytes()) * secret, order))]),
    ),
    kind: badSignature,
  },
  {
    name: 'a second scalar',
    text: answer(
      publicKey.toBytes(),
      concatBytes([good.subarray(0, 32), bytesOf(littleEndian(good.subarray(32)) + order)]),
    ),
    kind: badSignature,
  },
  {
    name: 'a point that only the cofactor makes fit',
    text: answer(publicKey.toBytes(), sign(77n, publicKey, torsion)),
    kind: badSignature,
  },
  {
    name: 'a key that only the cofactor makes fit',
    text: answer(
      mixedKey.toBytes(),
      sign(
        nonceWhere((k) => k % 8n !== 0n, mixedKey),
        mixedKey,
        Point.ZERO,
      ),
    ),
    kind: badSignature,
  },
  {
    name: 'a key of mixed order whose signature fits without the cofactor',
    text: answer(
      mixedKey.toBytes(),
      sign(
        nonceWhere((k) => k % 8n === 0n, mixedKey),
        mixedKey,
        Point.ZERO,
      ),
    ),
    kind: 'ok',
  },
]
