// Pages are compressed to the bytes that Node.js makes with its own buffers, and hold little more memory than they are long.

import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compressPage, inflatePage } from '../../../../src/node/machine/work/zstd-page.ts'

const lengths = [0, 1, 63, 64, 255, 2000, 8191, 16_256, 16_257, 16_320, 16_384, 16_385, 100_000, 1_000_000]
const noise = (at: number): number => Math.imul(at ^ (at >>> 7), 0x9e3779b1) >>> 24
const contents: readonly (readonly [string, (at: number) => number])[] = [
  ['zeros', () => 0],
  ['numbers of one digit', (at) => (at % 8 === 0 ? noise(at) % 10 : 0)],
  ['letters', (at) => 97 + (noise(at) & 3)],
  ['what does not shrink', noise],
]

test.each(contents)('a page of %s has the same bytes', (_, byteAt) => {
  for (const length of lengths) {
    const page = Uint8Array.from({ length }, (__, at) => byteAt(at))
    const compressed = compressPage(page)
    expect(Buffer.compare(compressed, zstdCompressSync(page))).toBe(0)
    expect(Buffer.compare(inflatePage(compressed, length), page)).toBe(0)
  }
})

test('a short page does not hold 16 KiB', () => {
  // Pages may share memory.
  const held = (pages: readonly Uint8Array[]): number =>
    [...new Set(pages.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const pages = Array.from({ length: 1000 }, () => compressPage(new Uint8Array(2000)))
  expect(held(pages)).toBeLessThan(1000 * 3000)
  expect(held(pages.map((page) => inflatePage(page, 2000)))).toBeLessThan(1000 * 3000)
})
