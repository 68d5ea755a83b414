// The tree against published vectors, against the definitions of RFC 6962, and with proofs that are changed.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../../src/libraries/base/bytes.ts'
import {
  checkConsistency,
  checkInclusion,
  emptyRoot,
  Frontier,
  isTreeSize,
  leafHash,
  rootFromInclusion,
  treeRoot,
} from '../../../src/libraries/ledger/tree.ts'
import { sha256, slowPath, slowProof, slowRoot, someLeaves } from './rfc6962.ts'

const hex = (text: string): Uint8Array => fromHex(text)!

// Leaves, roots and proofs of github.com/transparency-dev/merkle v0.0.2 (testonly/constants.go, proof/verify_test.go).
const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (text) => leafHash(hex(text)),
)
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
].map(hex)
const h10 = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7'
const h11 = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e'
const h21 = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4'
const h04 = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b'
const h13 = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0'
const h12 = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a'
const h06 = 'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f'
const h20 = 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'

describe('published vectors', () => {
  test('give these roots', () => {
    const tree = new Frontier()
    expect(emptyRoot).toEqual(roots[0])
    expect(tree.root()).toEqual(roots[0])
    leaves.forEach((leaf, at) => {
      tree.append(leaf)
      expect(toHex(tree.root())).toBe(toHex(roots[at + 1]!))
    })
  })

  test.each([
    [0, 8, [h10, h11, h21]],
    [5, 8, [h04, h13, h20]],
    [2, 3, [toHex(roots[2]!)]],
    [1, 5, ['6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d', h11, h04]],
  ])('prove leaf %i of %i', (index, size, path) => {
    const inclusion = { index, size, path: path.map(hex) }
    expect(checkInclusion(leaves[index]!, inclusion, roots[size]!)).toBe(true)
  })

  test.each([
    [1, 1, []],
    [1, 8, [h10, h11, h21]],
    [6, 8, [h12, h13, h20]],
    [2, 5, [h11, h04]],
    [6, 7, [h12, h06, h20]],
  ])('prove that tree %i is the beginning of tree %i', (older, newer, path) => {
    const [from, to] = [older, newer].map((size) => ({ size, root: roots[size]! }))
    expect(checkConsistency(from!, to!, path.map(hex))).toBe(true)
  })
})

const many = someLeaves(300)
const root = (size: number): Uint8Array => slowRoot(many, 'many', 0, size)

test('a tree has the root that the definition gives, at each size', () => {
  const tree = new Frontier()
  for (let size = 0; size <= 300; size++) {
    expect(tree.size).toBe(size)
    expect(tree.root()).toEqual(root(size))
    if (size < 300) tree.append(many[size]!)
  }
  expect(treeRoot(many)).toEqual(root(300))
})

test('every leaf of every tree of up to 300 leaves is proven, and nothing of another shape', () => {
  for (let size = 1; size <= 300; size += size < 70 ? 1 : 23) {
    for (let index = 0; index < size; index++) {
      const path = slowPath(index, many, 'many', 0, size)
      expect(rootFromInclusion(many[index]!, { index, size, path })).toEqual(root(size))
      const shorter =
        path.length === 0 ? undefined : rootFromInclusion(many[index]!, { index, size, path: path.slice(1) })
      expect(shorter).toBeUndefined()
      expect(rootFromInclusion(many[index]!, { index, size, path: [...path, path[0] ?? emptyRoot] })).toBeUndefined()
    }
  }
})

test('every pair of sizes up to 300 is consistent, and with no other root', () => {
  const faults: string[] = []
  for (let newer = 0; newer <= 300; newer++) {
    for (let older = 0; older <= newer; older++) {
      const path = slowProof(older, many, 'many', newer)
      const [from, to] = [older, newer].map((size) => ({ size, root: root(size) }))
      const wrong = { size: older, root: sha256(from!.root) }
      const longer = [...path, many[0]!]
      const taken = [
        checkConsistency(from!, to!, path),
        checkConsistency(wrong, to!, path),
        checkConsistency(from!, to!, longer),
        path.length > 0 && checkConsistency(from!, to!, path.slice(0, -1)),
      ]
      if (taken.join() !== 'true,false,false,false') faults.push(`${older} to ${newer}: ${taken.join()}`)
    }
  }
  expect(faults).toEqual([])
})

const placeArbitrary = fc
  .integer({ min: 2, max: 300 })
  .chain((size) =>
    fc.record({ size: fc.constant(size), index: fc.nat(size - 1), bit: fc.nat(), other: fc.nat(size - 1) }),
  )

function changedBit(path: readonly Uint8Array[], bit: number): Uint8Array[] {
  const at = bit % (path.length * 256)
  return path.map((hash, i) => {
    if (i !== at >> 8) return hash
    const changed = Uint8Array.from(hash)
    changed[(at & 255) >> 3]! ^= 1 << (at & 7)
    return changed
  })
}

test('a proof of inclusion with a changed bit, index or size is refused', () => {
  fc.assert(
    fc.property(placeArbitrary, ({ size, index, bit, other }) => {
      const path = slowPath(index, many, 'many', 0, size)
      const leaf = many[index]!
      expect(checkInclusion(leaf, { index, size, path }, root(size))).toBe(true)
      expect(checkInclusion(leaf, { index, size, path: changedBit(path, bit) }, root(size))).toBe(false)
      expect(checkInclusion(leaf, { index: other, size, path }, root(size))).toBe(other === index)
      expect(checkInclusion(many[other]!, { index, size, path }, root(size))).toBe(other === index)
      expect(checkInclusion(leaf, { index, size, path }, root(size - 1))).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('a proof of consistency with a changed bit or root is refused', () => {
  fc.assert(
    fc.property(placeArbitrary, ({ size, index, bit }) => {
      const older = { size: index, root: root(index) }
      const newer = { size, root: root(size) }
      const path = slowProof(index, many, 'many', size)
      expect(checkConsistency(older, newer, path)).toBe(true)
      // Of no leaves, every tree goes on.
      expect(checkConsistency(older, { size, root: root(size - 1) }, path)).toBe(index === 0)
      expect(checkConsistency(older, newer, changedBit(path, bit))).toBe(index === 0)
    }),
    { numRuns: 500 },
  )
})

describe('sizes', () => {
  test('are integers up to 2^53-1', () => {
    expect([0, 1, 2 ** 53 - 1].every(isTreeSize)).toBe(true)
    expect([-1, 0.5, 2 ** 53, Number.NaN].some(isTreeSize)).toBe(false)
  })

  test('up to that bound have proofs', () => {
    const size = 2 ** 53 - 1
    const path = Array.from({ length: 52 }, (_, i) => sha256(Uint8Array.of(i)))
    // The last leaf of a tree whose size has only ones: its way meets 52 complete subtrees, all of them on the left.
    const expected = path.reduce((right, left) => sha256(Uint8Array.of(1), left, right), many[0]!)
    expect(rootFromInclusion(many[0]!, { index: size - 1, size, path })).toEqual(expected)
    expect(rootFromInclusion(many[0]!, { index: size, size, path })).toBeUndefined()
    expect(rootFromInclusion(many[0]!, { index: size, size: size + 1, path })).toBeUndefined()
    expect(checkConsistency({ size: 2 ** 53, root: many[0]! }, { size: 2 ** 53, root: many[0]! }, [])).toBe(false)
  })

  test('of no tree: a leaf of none, a smaller one later, an empty one that has leaves', () => {
    expect(rootFromInclusion(many[0]!, { index: 0, size: 0, path: [] })).toBeUndefined()
    expect(checkConsistency({ size: 2, root: root(2) }, { size: 1, root: root(1) }, [])).toBe(false)
    expect(checkConsistency({ size: 0, root: root(1) }, { size: 1, root: root(1) }, [])).toBe(false)
  })
})
