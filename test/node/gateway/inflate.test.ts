// A compressed body is read to its last byte, or refused: members, frames, padding, and what is left over.

import { Readable } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyChunks, type ContentEncoding } from '../../../src/node/gateway/read-body.ts'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import type { Limits } from '../../../src/libraries/base/limits.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { kindOf } from './support.ts'

const limits = { ...defaultLimits(), inflatedRatio: 1_000_000 }

const compress: Readonly<Record<ContentEncoding, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}
const encodings = ['gzip', 'deflate', 'br', 'zstd'] as const
const ofMany = ['gzip', 'zstd'] as const

async function inflate(
  body: Uint8Array,
  encoding: ContentEncoding,
  cuts: readonly number[] = [],
  own: Limits = limits,
): Promise<Uint8Array> {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).toSorted((a, b) => a - b), body.length]
  const network = places.slice(1).map((end, i) => Buffer.from(body.subarray(places[i], end)))
  const chunks: Uint8Array[] = []
  for await (const chunk of bodyChunks(Readable.from(network), encoding, own)) chunks.push(chunk)
  return concatBytes(chunks)
}

function skippable(content: Uint8Array): Uint8Array {
  const header = Buffer.alloc(8)
  header.writeUInt32LE(0x184d2a53)
  header.writeUInt32LE(content.length, 4)
  return concatBytes([header, content])
}

/** Content of one frame: nothing, a few bytes, or many times what zlib hands out at once. */
const content = fc.oneof(
  fc.constant(new Uint8Array()),
  fc.uint8Array({ maxLength: 50 }),
  fc.integer({ min: 1, max: 200_000 }).map((length) => new Uint8Array(length).map((_, i) => (i * i) >> 7)),
  fc.constantFrom(16_384, 32_768, 65_536).map((length) => new Uint8Array(length).fill(7)),
)
const cuts = fc.array(fc.nat(), { maxLength: 8 })

describe('a compressed body', () => {
  test.each(encodings)('in %s comes out whole, however the network cuts it', async (encoding) => {
    await fc.assert(
      fc.asyncProperty(content, cuts, async (bytes, at) => {
        const out = await inflate(compress[encoding](bytes), encoding, at)
        expect(Buffer.from(out).equals(bytes)).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  test.each(ofMany)('of several members or frames in %s is read to its end', async (encoding) => {
    const part = fc.oneof(
      content.map((bytes) => ({ bytes, sent: compress[encoding](bytes) })),
      ...(encoding === 'zstd'
        ? [fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ bytes: new Uint8Array(), sent: skippable(bytes) }))]
        : []),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), cuts, async (parts, at) => {
        const out = await inflate(concatBytes(parts.map(({ sent }) => sent)), encoding, at)
        expect(Buffer.from(out).equals(concatBytes(parts.map(({ bytes }) => bytes)))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test.each(encodings)('in %s with bytes left over, or cut off, is malformed', async (encoding) => {
    const rest = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }).map((length) => new Uint8Array(length)),
    )
    await fc.assert(
      fc.asyncProperty(content, rest, fc.nat(), cuts, async (bytes, garbage, short, at) => {
        const whole = compress[encoding](bytes)
        const isPadding = encoding === 'gzip' && garbage.every((byte) => byte === 0)
        const padded = inflate(concatBytes([whole, garbage]), encoding, at)
        expect(await kindOf(padded)).toBe(isPadding ? 'no error' : 'MalformedBody')
        const cut = whole.subarray(0, short % whole.length)
        expect(await kindOf(inflate(cut, encoding, at))).toBe('MalformedBody')
        const second = concatBytes([whole, compress[encoding](utf8('second')).subarray(0, -1)])
        expect(await kindOf(inflate(second, encoding, at))).toBe('MalformedBody')
      }),
      { numRuns: 40 },
    )
  })

  test('hides nothing behind padding', async () => {
    const member = gzipSync('a')
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), cuts, async (zeros, at) => {
        const hidden = concatBytes([member, new Uint8Array(zeros), member])
        expect(await kindOf(inflate(hidden, 'gzip', at))).toBe('MalformedBody')
      }),
      { numRuns: 30 },
    )
  })

  test.each(['deflate', 'br'] as const)('of two streams in %s is malformed', async (encoding) => {
    const stream = compress[encoding](utf8('rows'))
    await expect(inflate(concatBytes([stream, stream]), encoding)).rejects.toMatchObject({
      kind: 'MalformedBody',
      message: expect.stringContaining('left over'),
    })
  })

  test.each(ofMany)('is held to its limits across the parts in %s', async (encoding) => {
    const part = compress[encoding](new Uint8Array(400_000))
    const body = concatBytes(Array.from({ length: 8 }, () => part))
    const most = { ...limits, inflatedBytes: 8 * 400_000 }
    expect(await inflate(body, encoding, [], most)).toHaveLength(8 * 400_000)
    await expect(inflate(body, encoding, [], { ...most, inflatedBytes: most.inflatedBytes - 1 })).rejects.toMatchObject(
      { details: { limit: { name: 'inflatedBytes' } } },
    )
    await expect(inflate(body, encoding, [], { ...most, inflatedRatio: 100 })).rejects.toMatchObject({
      details: { limit: { name: 'inflatedRatio' } },
    })
  })

  test('has a bounded number of zstd frames', async () => {
    const frame = zstdCompressSync(new Uint8Array())
    const body = (frames: number): Uint8Array => concatBytes(Array.from({ length: frames }, () => frame))
    expect(await inflate(body(16_384), 'zstd')).toHaveLength(0)
    await expect(inflate(body(16_385), 'zstd')).rejects.toMatchObject({
      kind: 'MalformedBody',
      message: expect.stringContaining('16384'),
    })
  })
})
