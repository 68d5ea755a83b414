// Tiles: their names, which of them a growing tree makes, proofs out of them, and their bytes.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import {
  consistencyProof,
  consistencyTiles,
  inclusionProof,
  inclusionTiles,
  rootOf,
  rootTiles,
} from '../../../src/libraries/ledger/tile-proofs.ts'
import { TiledTree, type TileFile } from '../../../src/libraries/ledger/tiled-tree.ts'
import {
  entriesOfBundle,
  entryBundle,
  grownTiles,
  hashesOfTile,
  parseTileName,
  type Tile,
  tileIn,
  tileName,
} from '../../../src/libraries/ledger/tiles.ts'
import { checkConsistency, checkInclusion, Frontier } from '../../../src/libraries/ledger/tree.ts'
import { slowRoot, someLeaves } from './rfc6962.ts'

const tileArbitrary: fc.Arbitrary<Tile> = fc.record({
  level: fc.oneof(fc.constant('entries' as const), fc.nat(63)),
  index: fc.oneof(fc.nat(3000), fc.maxSafeNat()),
  width: fc.integer({ min: 1, max: 256 }),
})

describe('a name', () => {
  test.each([
    [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
    [{ level: 0, index: 1_234_067, width: 8 }, 'tile/0/x001/x234/067.p/8'],
    [{ level: 'entries' as const, index: 0, width: 255 }, 'tile/entries/000.p/255'],
    [{ level: 63, index: 1000, width: 256 }, 'tile/63/x001/000'],
    [{ level: 6, index: 2 ** 53 - 1, width: 1 }, 'tile/6/x009/x007/x199/x254/x740/991.p/1'],
  ])('of %o is %s', (tile, name) => {
    expect(tileName(tile)).toBe(name)
    expect(parseTileName(name)).toEqual(tile)
  })

  test('goes to a tile and back', () => {
    fc.assert(
      fc.property(tileArbitrary, (tile) => {
        expect(parseTileName(tileName(tile))).toEqual(tile)
      }),
    )
  })

  test.each([
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/08',
    'tile/0/000.p/',
    'tile/0/000.p',
    'tile/0/0',
    'tile/0/x000/001',
    'tile/0/x001/01',
    'tile/0/x001',
    'tile/0/001/001',
    'tile/00/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/data/000',
    'tile/entries/x001/x000',
    'tile/0/x009/x007/x199/x254/x740/992',
    'tile/0/000/',
    '/tile/0/000',
    'tile/0/٠٠٠',
    'tile/0/000\n',
    '',
  ])('is not %o', (name) => {
    expect(parseTileName(name)).toBeUndefined()
  })

  test('is read only as it is written', () => {
    fc.assert(
      fc.property(tileArbitrary, fc.nat(), fc.constantFrom('0', '1', 'x', '/', '.', 'p', ''), (tile, at, put) => {
        const name = tileName(tile)
        const changed = name.slice(0, at % name.length) + put + name.slice((at % name.length) + 1)
        const read = parseTileName(changed)
        expect(read === undefined || tileName(read) === changed).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a growing tree', () => {
  test('of 70,000 leaves has the tiles that the specification counts', () => {
    const tiles = grownTiles(0, 70_000)
    const ofLevel = (level: Tile['level']): number[] =>
      tiles.filter((tile) => tile.level === level).map(({ width }) => width)
    expect(ofLevel(0)).toEqual([...Array<number>(273).fill(256), 112])
    expect(ofLevel('entries')).toEqual(ofLevel(0))
    expect(ofLevel(1)).toEqual([256, 17])
    expect(ofLevel(2)).toEqual([1])
    expect(tiles).toHaveLength(274 + 274 + 2 + 1)
    expect(grownTiles(0, 256).map(tileName)).toEqual(['tile/entries/000', 'tile/0/000', 'tile/1/000.p/1'])
  })

  test('makes what it had not before', () => {
    const names = (size: number): Set<string> => new Set(grownTiles(0, size).map(tileName))
    fc.assert(
      fc.property(fc.nat(70_000), fc.nat(3000), (from, more) => {
        const [before, grown] = [names(from), grownTiles(from, from + more)]
        expect(grown.every((tile) => !before.has(tileName(tile)))).toBe(true)
        const after = names(from + more)
        const kept = [...before].filter((name) => after.has(name))
        expect(new Set([...kept, ...grown.map(tileName)])).toEqual(after)
        for (const tile of grown) expect(tileIn(from + more, tile.level, tile.index)).toEqual(tile)
      }),
      { numRuns: 30 },
    )
  })

  test('does not become smaller', () => {
    expect(() => grownTiles(2, 1)).toThrow('does not become smaller')
    expect(grownTiles(9, 9)).toEqual([])
    expect(tileIn(255, 1, 0)).toBeUndefined()
  })
})

const leaves = someLeaves(70_000)

/** The tiles of a tree after some growths, by name. */
function grow(
  sizes: readonly number[],
  tree = new TiledTree(),
  files = new Map<string, Uint8Array>(),
): Map<string, Uint8Array> {
  for (const size of sizes) {
    const from = tree.size
    while (tree.size < size) tree.append(leaves[tree.size]!)
    const taken = tree.takeTiles()
    const names = taken.map(({ tile }) => tileName(tile))
    const expected = grownTiles(from, size).filter(({ level }) => level !== 'entries')
    expect(names.toSorted()).toEqual(expected.map(tileName).toSorted())
    for (const { tile, bytes } of taken) files.set(tileName(tile), bytes)
  }
  return files
}

const readFrom = (files: ReadonlyMap<string, Uint8Array>) => (tile: Tile) => files.get(tileName(tile))!

describe('a tree that makes its tiles', () => {
  test.each([1, 255, 256, 257, 65_535, 65_536, 65_537, 70_000])('has the root of a plain tree at %i leaves', (size) => {
    const plain = new Frontier()
    const tree = new TiledTree()
    for (const leaf of leaves.slice(0, size)) {
      plain.append(leaf)
      tree.append(leaf)
    }
    expect(tree.root()).toEqual(plain.root())
    expect(tree.size).toBe(size)
  })

  test('gives the same tiles however it grows and is resumed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(900), { minLength: 1, maxLength: 6 }), (steps) => {
        const sizes = steps.map((_, i) => 65_000 + steps.slice(0, i + 1).reduce((a, b) => a + b, 0))
        const size = sizes.at(-1)!
        const files = grow([65_000])
        for (const next of sizes)
          grow([next], TiledTree.from(sizes[sizes.indexOf(next) - 1] ?? 65_000, readFrom(files)), files)
        const whole = grow([size])
        for (const [name, bytes] of whole) expect(files.get(name)).toEqual(bytes)
        expect(TiledTree.from(size, readFrom(files)).root()).toEqual(slowRoot(leaves, 'leaves', 0, size))
      }),
      { numRuns: 5 },
    )
  })

  test('is empty without leaves, and refuses a tile of another length', () => {
    const none = TiledTree.from(0, () => new Uint8Array(0))
    expect(none.root()).toEqual(new TiledTree().root())
    expect(none.takeTiles()).toEqual([])
    expect(() => TiledTree.from(5, () => new Uint8Array(4 * 32))).toThrow('not 5 hashes')
  })
})

describe('a proof out of tiles', () => {
  const files = grow([...Array(80).keys()].map((i) => 875 * (i + 1)))

  /** Tiles as a reader of the store has them: those that were named, and no others. */
  function hashesOf(tiles: readonly Tile[]): (level: number, index: number) => Uint8Array {
    const held = new Map(
      tiles.map((tile) => [`${tile.level}/${tile.index}`, hashesOfTile(fullOrPartial(tile), tile.width)]),
    )
    return (level, index) => held.get(`${level}/${Math.floor(index / 256)}`)![index % 256]!
  }

  /** A partial tile is the beginning of the full one, which may be there in its place. */
  function fullOrPartial(tile: Tile): Uint8Array {
    const bytes = files.get(tileName(tile)) ?? files.get(tileName({ ...tile, width: 256 })) ?? laterPartial(tile)
    return bytes.subarray(0, tile.width * 32)
  }

  function laterPartial(tile: Tile): Uint8Array {
    for (let width = tile.width; width < 256; width++) {
      const found = files.get(tileName({ ...tile, width }))
      if (found !== undefined) return found
    }
    throw new Error(`no ${tileName(tile)}`)
  }

  const most = (tiles: readonly Tile[]): number => {
    const counts = new Map<Tile['level'], number>()
    for (const { level } of tiles) counts.set(level, (counts.get(level) ?? 0) + 1)
    return Math.max(0, ...counts.values())
  }

  const root = (size: number): Uint8Array => slowRoot(leaves, 'leaves', 0, size)
  const sizeArbitrary = fc.oneof(
    fc.integer({ min: 1, max: 70_000 }),
    fc.integer({ min: 1, max: 600 }),
    fc.constantFrom(256, 512, 65_536),
  )

  test('of inclusion reads at most two tiles a level', () => {
    fc.assert(
      fc.property(sizeArbitrary, fc.nat(), (size, at) => {
        const index = at % size
        const tiles = inclusionTiles(index, size)
        expect(most(tiles)).toBeLessThanOrEqual(2)
        const path = inclusionProof(index, size, hashesOf(tiles))
        expect(checkInclusion(leaves[index]!, { index, size, path }, root(size))).toBe(true)
      }),
      { numRuns: 400 },
    )
  })

  test('of consistency reads at most two tiles a level', () => {
    fc.assert(
      fc.property(sizeArbitrary, fc.nat(), (newer, at) => {
        const older = at % (newer + 1)
        const tiles = consistencyTiles(older, newer)
        expect(most(tiles)).toBeLessThanOrEqual(2)
        const path = consistencyProof(older, newer, hashesOf(tiles))
        expect(checkConsistency({ size: older, root: root(older) }, { size: newer, root: root(newer) }, path)).toBe(
          true,
        )
      }),
      { numRuns: 400 },
    )
  })

  test('and the root, read from one tile a level', () => {
    fc.assert(
      fc.property(sizeArbitrary, (size) => {
        const tiles = rootTiles(size)
        expect(most(tiles)).toBe(1)
        expect(rootOf(size, hashesOf(tiles))).toEqual(root(size))
      }),
      { numRuns: 100 },
    )
  })

  test('reads at most two tiles a level of a tree of any size', () => {
    const large = fc.record({
      size: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(large, ({ size, at }) => {
        const index = Math.min(size - 1, Math.floor(size * at))
        for (const tiles of [inclusionTiles(index, size), consistencyTiles(index, size)]) {
          expect(most(tiles)).toBeLessThanOrEqual(2)
          for (const tile of tiles) expect(tileIn(size, tile.level, tile.index)).toEqual(tile)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a bundle of entries', () => {
  test('goes to bytes and back', () => {
    const entries = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 256 })
    fc.assert(
      fc.property(entries, (all) => {
        const bytes = entryBundle(all)
        expect(entriesOfBundle(bytes, all.length)).toEqual(all)
        expect(() => entriesOfBundle(bytes, all.length - 1)).toThrow('goes on after')
        expect(() => entriesOfBundle(bytes, all.length + 1)).toThrow('ends within entry')
        expect(() => entriesOfBundle(bytes.subarray(0, -1), all.length)).toThrow('ends within entry')
        expect(() => entriesOfBundle(concatBytes([bytes, Uint8Array.of(0)]), all.length)).toThrow('goes on after')
      }),
    )
  })

  test('holds an entry of 65,535 bytes and no longer one', () => {
    const long = new Uint8Array(65_535).fill(7)
    expect(entriesOfBundle(entryBundle([long]), 1)).toEqual([long])
    expect(() => entryBundle([new Uint8Array(65_536)])).toThrow('65,535')
  })

  test('begins with the length, the high byte first', () => {
    expect(entryBundle([new Uint8Array(258).fill(9)]).subarray(0, 3)).toEqual(Uint8Array.of(1, 2, 9))
  })
})

test('a tile of another length is refused', () => {
  const file: TileFile = { tile: { level: 0, index: 0, width: 2 }, bytes: new Uint8Array(64) }
  expect(hashesOfTile(file.bytes, 2)).toHaveLength(2)
  expect(() => hashesOfTile(file.bytes.subarray(1), 2)).toThrow('63 bytes')
  expect(() => hashesOfTile(file.bytes, 3)).toThrow('64 bytes')
})
