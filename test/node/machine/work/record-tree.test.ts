// The tree that is made in turns is the one of the library, whatever the number of leaves.

import { describe, expect, test } from 'vitest'
import { leafHash } from '../../../../src/libraries/ledger/tree.ts'
import { isBelow, recordsRoot } from '../../../../src/libraries/ledger/roots.ts'
import { recordPlace } from '../../../../src/libraries/ledger/tiled-tree.ts'
import { placeIn, tileStart, upperTree } from '../../../../src/node/machine/work/record-tree.ts'

const leaves = Array.from({ length: 70_000 }, (_, at) => leafHash(Uint8Array.of(at, at >> 8, at >> 16)))

describe('a tree over leaves', () => {
  test.each([0, 1, 2, 255, 256, 257, 511, 512, 4_095, 65_535, 65_536, 65_537, 70_000])('of %i is', async (count) => {
    const some = leaves.slice(0, count)
    const tree = await upperTree(some)
    const { root } = tree
    expect(root).toEqual(recordsRoot(some))
    for (const index of new Set([0, count >> 1, count - 1].filter((at) => at >= 0 && at < count))) {
      const place = placeIn(tree, index, some.slice(tileStart(index), tileStart(index) + 256))
      expect(place).toEqual(recordPlace(some, index))
      expect(isBelow(root, leaves[index] ?? root, place)).toBe(true)
    }
  })
})
