// Blocks against bytes that other software wrote and hashes that it published, made at random, and broken at random.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { jsonText, parseJson } from '../../../src/libraries/base/json/json.ts'
import { toHex } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { decodeBlock, encodeBlock } from '../../../src/libraries/odf/block.ts'
import { eventFromJson, eventToJson } from '../../../src/libraries/odf/odf-json.ts'
import { arbitraryBlock } from '../../helpers/odf-arbitraries.ts'
import { blockVectors, invalidVectors } from '../../helpers/odf-vectors.ts'

describe('block vectors', () => {
  it('are all there', () => {
    expect(blockVectors.length).toBe(92)
    expect(invalidVectors.length).toBe(29)
  })

  it.each(blockVectors)('$name (v$version) encodes to the given bytes and hash', ({ block, version, bytes, hash }) => {
    const encoded = encodeBlock(block, version)
    expect(toHex(encoded)).toBe(toHex(bytes))
    expect(sha3Hash(encoded)).toBe(hash)
  })

  it.each(blockVectors)('$name (v$version) decodes to the given block', ({ block, version, bytes }) => {
    expect(decodeBlock(bytes)).toEqual({ block, version })
  })

  it.each(invalidVectors)('$name is refused: $reason', ({ bytes }) => {
    expect(() => decodeBlock(bytes)).toThrow(DecodeError)
  })
})

describe('random blocks', () => {
  it('come back from their bytes, in both versions', () => {
    fc.assert(
      fc.property(arbitraryBlock, fc.constantFrom(2 as const, 3 as const), (block, version) => {
        expect(decodeBlock(encodeBlock(block, version))).toEqual({ block, version })
      }),
      { numRuns: 1500 },
    )
  })

  it('come back from their JSON text', () => {
    fc.assert(
      fc.property(arbitraryBlock, ({ event }) => {
        expect(eventFromJson(event.kind, parseJson(jsonText(eventToJson(event))), 'event')).toEqual(event)
      }),
      { numRuns: 700 },
    )
  })

  it('have one encoding, whatever the order of members', () => {
    fc.assert(
      fc.property(arbitraryBlock, (block) => {
        expect(encodeBlock(reversed(block) as typeof block)).toEqual(encodeBlock(block))
      }),
      { numRuns: 300 },
    )
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

/** What a reader of foreign bytes owes: a block or a DecodeError, and a block it can write again. */
function decodeAnything(bytes: Uint8Array): 'block' | 'refused' {
  let decoded: ReturnType<typeof decodeBlock>
  try {
    decoded = decodeBlock(bytes)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return 'refused'
  }
  expect(decodeBlock(encodeBlock(decoded.block, decoded.version))).toEqual(decoded)
  return 'block'
}

describe('broken blocks', () => {
  const stored = fc.constantFrom(...blockVectors)
  const word = fc.oneof(
    fc.constantFrom(0, 1, 4, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
    fc.nat(600),
    fc.nat(0xffff_ffff),
  )

  it('are refused with a DecodeError or read as another block, whatever bytes change', () => {
    const outcomes = { block: 0, refused: 0 }
    const changes = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(stored, changes, ({ bytes }, bytesToChange) => {
        const broken = Uint8Array.from(bytes)
        for (const [at, value] of bytesToChange) broken[at % broken.length] = value
        outcomes[decodeAnything(broken)]++
      }),
      { numRuns: 12_000 },
    )
    expect(outcomes.refused).toBeGreaterThan(1000)
    expect(outcomes.block).toBeGreaterThan(1000)
  })

  it('are refused with a DecodeError or read as another block, whatever offsets change', () => {
    fc.assert(
      fc.property(stored, fc.nat(1000), word, ({ bytes }, at, value) => {
        const broken = Uint8Array.from(bytes)
        const index = (4 * at) % (broken.length - 4)
        new DataView(broken.buffer).setUint32(index, value, true)
        decodeAnything(broken)
      }),
      { numRuns: 8000 },
    )
  })

  it('are refused when cut short anywhere', () => {
    for (const { bytes } of blockVectors.slice(0, 60)) {
      for (let length = 0; length < bytes.length; length += 7) {
        expect(() => decodeBlock(bytes.subarray(0, length))).toThrow(DecodeError)
      }
    }
  })

  it('are refused when they are noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        expect(() => decodeBlock(noise)).toThrow(DecodeError)
      }),
      { numRuns: 2000 },
    )
  })
})
