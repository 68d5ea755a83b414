// Proofs of a pack lead to one head: the smallest that holds them all, or the one that is named, out of the tiles of a ledger that has
// grown since, on both sides of a full tile. The judge of proofs says whether they are right.

import { expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { JsonObject } from '../../../src/libraries/base/json/value.ts'
import { anchored, anchorOf, commonAnchor, type Get } from '../../../src/libraries/evidence/pack/anchor.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { proofJson, readProofJson } from '../../../src/libraries/ledger/proof-document.ts'
import { servedTree } from '../../cli/served-ledger.ts'
import { signedHead, twoOfThree } from '../ledger/keys.ts'
import { SmallLedger } from '../ledger/proofs.ts'

const grown = 600
const ledger = new SmallLedger(grown)
const policy = parsePolicy(utf8(twoOfThree))
const headOf = (size: number): Uint8Array => signedHead({ size, root: ledger.root(size) })
const served = servedTree(
  ledger.blocks.map(({ entry }) => entry),
  headOf(grown),
)
served.set('/ledger/timestamps/300.head', headOf(300)).set('/ledger', '{"former":[],"origin":"any"}')

const get: Get = async (path) => {
  const found = served.get(path)
  if (typeof found === 'function') throw new TypeError('files alone')
  return {
    status: found === undefined ? 404 : 200,
    bytes: typeof found === 'string' ? utf8(found) : (found ?? new Uint8Array()),
  }
}

const proofOf = (index: number, size: number): JsonObject =>
  proofJson(ledger.blocks[index]!.documents.block, ledger.proof(index, size, 'block'))
const sizeOf = (proof: JsonObject): number => anchorOf(readProofJson(proof).proof.head).size

test('the smallest head that holds all entries is that of all', async () => {
  const proofs = [proofOf(3, 9), proofOf(7, 20), proofOf(2, 300), proofOf(11, 20)]
  const anchor = await commonAnchor(proofs, get)
  expect(anchor?.size).toBe(20)
  const all = await Promise.all(proofs.map(async (one) => await anchored(one, anchor, get)))
  expect(all.map(sizeOf)).toEqual([20, 20, 20, 20])
  expect(all.map((one) => judgeProof(one, policy).verdict)).toEqual(proofs.map(() => 'included'))
})

test.each([255, 256, 257, 299])(
  'entry %i is led to the head of 300 that was stamped, and to that of 600',
  async (index) => {
    for (const [size, from] of [
      [300, 600],
      [600, 300],
    ] as const) {
      const proof = proofOf(index, from)
      const anchor = await commonAnchor([proof], get, size)
      const led = await anchored(proof, anchor, get)
      expect([sizeOf(led), judgeProof(led, policy).verdict]).toEqual([size, 'included'])
    }
  },
)

test('a head that is not shown, or does not hold an entry, is refused', async () => {
  await expect(commonAnchor([proofOf(3, 9)], get, 10)).rejects.toThrow(
    'The node shows no head of 10 entries. Its proofs lead to that of 9.',
  )
  await expect(commonAnchor([proofOf(8, 9), proofOf(400, 600)], get, 300)).rejects.toThrow('does not hold entry 400')
})

test('a time stamp stays bound to its head', async () => {
  const { document, proof } = readProofJson(proofOf(5, 300))
  if (document.kind === 'newer') throw new TypeError('it is of today')
  const stamp = { size: 300, head: Buffer.from(proof.head).toString(), token: utf8('token') }
  const stamped = proofJson(document, proof, stamp)
  const anchor = await commonAnchor([stamped], get, 600)
  const led = await anchored(stamped, anchor, get)
  const back = await anchored(led, anchorOf(proof.head), get)
  for (const one of [stamped, led, back]) expect('stamp' in judgeProof(one, policy)).toBe(true)
  expect(back).toEqual(stamped)
})

test('a ledger whose tiles contradict its head leads nowhere that is good', async () => {
  const wrong: Get = async (path) =>
    path.includes('/tile/0/') ? { status: 200, bytes: new Uint8Array(256 * 32) } : await get(path)
  const proof = proofOf(5, 300)
  const led = await anchored(proof, anchorOf(headOf(600)), wrong).catch((error: unknown) => error)
  const verdict = led instanceof Error ? 'refused' : judgeProof(led as JsonObject, policy).verdict
  expect(['refused', 'altered']).toContain(verdict)
})
