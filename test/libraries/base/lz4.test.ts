// LZ4 undone: blocks and frames of the LZ4 library (test/fixtures/lz4/make.py), and damage to them.

import * as fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readLz4Block, readLz4Frame, xxhash32, Xxhash32 } from '../../../src/libraries/base/lz4.ts'

const folder = join(import.meta.dirname, '../../fixtures/lz4')
const fixture = (name: string): Buffer => readFileSync(join(folder, name))
const content = Buffer.from(Array.from({ length: 30_000 }, (_, i) => `${i % 70} ${(i * i) % 89}\n`).join(''))

const frames = ['linked', 'checked', 'sized', 'high']

describe('LZ4', () => {
  test.each(frames)('a frame with other flags is undone: %s', async (name) => {
    expect(Buffer.from(await readLz4Frame(fixture(`${name}.lz4`), content.length)).equals(content)).toBe(true)
  })

  test('a block alone, what cannot be compressed, much of the same and nothing are undone', async () => {
    const out = new Uint8Array(content.length + 10)
    expect(readLz4Block(fixture('block.lz4'), out, 10)).toBe(out.length)
    expect(content.equals(out.subarray(10))).toBe(true)
    const noise = Array.from({ length: 300 }, (_, i) => xxhash32(Uint8Array.of(i & 255, i >> 8)) & 255)
    expect(await readLz4Frame(fixture('noise.lz4'), 300)).toEqual(Uint8Array.from(noise))
    const zeros = await readLz4Frame(fixture('zeros.lz4'), 1_000_000)
    expect(typeof zeros === 'string' || Buffer.alloc(1_000_000).equals(zeros)).toBe(true)
    expect(await readLz4Frame(fixture('empty.lz4'), 0)).toEqual(new Uint8Array(0))
  })

  test('a block does not write beyond its room', () => {
    const block = fixture('block.lz4')
    for (const room of [0, 1, 100, content.length - 1]) expect(readLz4Block(block, new Uint8Array(room), 0)).toBe(-1)
  })

  test.each(frames)('another length, a cut and bytes behind the end are found: %s', async (name) => {
    const bytes = fixture(`${name}.lz4`)
    expect(await readLz4Frame(bytes, content.length - 1)).toBeTypeOf('string')
    expect(await readLz4Frame(bytes, content.length + 1)).toBeTypeOf('string')
    expect(await readLz4Frame(Buffer.concat([bytes, Buffer.alloc(8)]), content.length)).toContain('goes on')
    for (let cut = 1; cut < bytes.length; cut += 997)
      expect(await readLz4Frame(bytes.subarray(0, -cut), content.length)).toBeTypeOf('string')
  })

  test('a bit flipped anywhere is found where there are checksums, and never ends otherwise than in a text', async () => {
    for (const name of frames) {
      const bytes = fixture(`${name}.lz4`)
      const isChecked = name !== 'linked'
      await fc.assert(
        fc.asyncProperty(fc.nat(8 * bytes.length - 1), async (bit) => {
          const damaged = Buffer.from(bytes)
          damaged[bit >> 3]! ^= 1 << (bit & 7)
          const read = await readLz4Frame(damaged, content.length)
          // Where nothing is checked, other bytes may come out, but never more or fewer.
          return typeof read === 'string' || (!isChecked && read.length === content.length)
        }),
        { numRuns: 150 },
      )
    }
  })

  test('the checksum is that of the library, whatever the parts', () => {
    const expected = fixture('xxhash32.txt').toString().trim().split('\n').map(Number)
    const lengths = [...Array.from({ length: 40 }, (_, i) => i), 1000, content.length]
    expect(lengths.map((length) => xxhash32(content.subarray(0, length)))).toEqual(expected)
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 20 }), (parts) => {
        const hash = new Xxhash32()
        let at = 0
        for (const part of parts) hash.update(content.subarray(at, (at += part)))
        return hash.digest() === xxhash32(content.subarray(0, at))
      }),
    )
  })
})
