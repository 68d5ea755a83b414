// Blocks against bytes that other software wrote and hashes that it published, and against bytes that are no blocks.

import { describe, expect, it } from 'vitest'
import { sha3Hash } from '../../src/ids/multihash.ts'
import { toHex } from '../../src/lib/bytes.ts'
import { DecodeError } from '../../src/model/errors.ts'
import { decodeBlock, encodeBlock } from '../../src/odf/block.ts'
import { blockVectors, invalidVectors } from '../helpers/odf-vectors.ts'

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
