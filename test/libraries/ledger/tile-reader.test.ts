// Entries that are read out of tiles: each is below the root of the head or nothing is given; and the record of what was checked.

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { checkedBytes, orderLines, parseChecked } from '../../../src/libraries/ledger/checked.ts'
import { Order } from '../../../src/libraries/ledger/order.ts'
import { TileReader, type TileSource } from '../../../src/libraries/ledger/tile-reader.ts'
import { TiledTree } from '../../../src/libraries/ledger/tiled-tree.ts'
import { entryBundle, fullTileWidth, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { checkConsistency, checkInclusion, Frontier, leafHash } from '../../../src/libraries/ledger/tree.ts'
import { sha256 } from './rfc6962.ts'

const entries = Array.from({ length: 70_000 }, (_, i) => utf8(`entry ${i}`))
const changed = (bytes: Uint8Array, place: number): Uint8Array =>
  bytes.map((byte, i) => (i === place ? byte ^ 1 : byte))

/** The tiles of a tree of this size by name, and its head. */
function ledgerOf(size: number) {
  const tree = new TiledTree()
  for (const entry of entries.slice(0, size)) tree.append(leafHash(entry))
  const files = new Map(tree.takeTiles().map(({ tile, bytes }) => [tileName(tile), bytes]))
  for (let index = 0; index * fullTileWidth < size; index++) {
    const some = entries.slice(index * fullTileWidth, Math.min(size, (index + 1) * fullTileWidth))
    files.set(tileName({ level: 'entries', index, width: some.length }), entryBundle(some))
  }
  const source: TileSource = {
    read: async (name) => files.get(name),
    lacks: (name) => new Error(`lacks ${name}`),
    altered: (reason) => new Error(`altered: ${reason}`),
  }
  return { files, source, head: { size, root: tree.root() } }
}

describe.each([1, 2, 255, 256, 257, 511, 513, 65_535, 65_536, 65_537, 70_000])('a tree of %i entries', (size) => {
  const { files, source, head } = ledgerOf(size)
  const last = Math.ceil(size / fullTileWidth) - 1
  const some = [...new Set([0, 1, Math.floor(last / 2), last - 1, last])].filter((index) => index >= 0 && index <= last)

  test('gives each bundle below its root, and proofs', async () => {
    const reader = new TileReader(source)
    for (const index of some) {
      const own = entries.slice(index * fullTileWidth, Math.min(size, (index + 1) * fullTileWidth))
      expect(await reader.provenEntries(head, index)).toEqual(own)
      const at = index * fullTileWidth + own.length - 1
      const path = await reader.inclusion(at, size)
      expect(checkInclusion(leafHash(own.at(-1) ?? utf8('')), { index: at, size, path }, head.root)).toBe(true)
      const older = ledgerOf(Math.min(at + 1, 600)).head
      expect(checkConsistency(older, head, await reader.consistency(older.size, size))).toBe(true)
    }
    expect(await reader.provenEntries(head, last + 1)).toEqual([])
  })

  test('gives nothing of a bundle with a changed entry, nor where a tile that it takes is another or is gone', async () => {
    for (const index of some) {
      const own = [...files].filter(([name]) => name.startsWith('tile/entries') || size > fullTileWidth)
      for (const [name, bytes] of own.slice(-40)) {
        const used: string[] = []
        const read = async (asked: string): Promise<Uint8Array | undefined> => {
          used.push(asked)
          return asked === name ? changed(bytes, bytes.length - 1) : files.get(asked)
        }
        const given = await new TileReader({ ...source, read }).provenEntries(head, index).catch(() => undefined)
        // A hash of a tile that is beside those of the proof may be anything.
        const isRight = given?.every((entry, i) => Buffer.compare(entry, entries[index * fullTileWidth + i]!) === 0)
        const isRefused = given === undefined && used.includes(name)
        const isEntries = name.startsWith('tile/entries') && used.includes(name)
        expect(isRefused || (isRight === true && !isEntries)).toBe(true)
      }
    }
  })
})

describe('the record of what was checked', () => {
  const order = new Order()
  const frontier = new Frontier()
  for (let i = 0; i < 5_000; i++) {
    const tag = Buffer.from(sha256(utf8(`${i % 2_500}`))).toString('hex')
    order.take(tag, Math.floor(i / 2_500))
    frontier.append(leafHash(utf8(`${i}`)))
  }
  const fault = { index: 5_000, about: 'it is of another block' }
  const bytes = checkedBytes({ frontier, fault }, Buffer.concat([...orderLines(order)]))

  test('is read as it was written', async () => {
    const read = await parseChecked(bytes)
    expect([read.frontier.size, read.frontier.root(), read.fault]).toEqual([5_000, frontier.root(), fault])
    expect([...read.order.next]).toEqual([...order.next])
    const none = Buffer.concat([...orderLines(new Order())])
    const empty = await parseChecked(checkedBytes({ frontier: new Frontier() }, none))
    expect([empty.frontier.size, empty.order.datasets, empty.fault]).toEqual([0, 0, undefined])
  })

  test('is read in turns of the event loop', async () => {
    let isRead = false
    let turns = 0
    const reading = parseChecked(bytes).then(() => (isRead = true))
    while (!isRead) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    await reading
    expect(turns).toBeGreaterThan(1)
  })

  test('is refused where a bit of the datasets is another, or some of them are gone', async () => {
    for (let at = bytes.indexOf(0x0a); at < bytes.length; at += 997)
      await expect(parseChecked(changed(bytes, at))).rejects.toThrow(DecodeError)
    await expect(parseChecked(bytes.subarray(0, -70))).rejects.toThrow(DecodeError)
    await expect(parseChecked(bytes.subarray(0, 100))).rejects.toThrow(DecodeError)
  })
})

test('entries are in order where each sequence of a dataset comes once, and none is missing', () => {
  const order = new Order([['a', 2]])
  expect(order.take('a', 2)).toBeUndefined()
  expect([order.take('a', 2), order.take('a', 4), order.take('b', 1)]).toMatchObject([
    { finding: 'twice' },
    { finding: 'missing' },
    { finding: 'missing' },
  ])
  expect([order.take('b', 0), order.take('a', 3), order.datasets]).toEqual([undefined, undefined, 2])
})
