// How bodies are let in, counted, inflated and held.

import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyChunks, type ContentEncoding, wholeBody } from '../../../src/node/gateway/read-body.ts'
import { Spool } from '../../../src/node/gateway/spool.ts'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import type { Limits } from '../../../src/libraries/base/limits.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { kindOf, spoolDir } from './support.ts'

const limits = defaultLimits()

async function read(body: Uint8Array | Readable, encoding?: ContentEncoding, own: Limits = limits): Promise<string> {
  const stream = body instanceof Readable ? body : Readable.from([body.subarray(0, 5), body.subarray(5)])
  const chunks: Uint8Array[] = []
  for await (const chunk of bodyChunks(stream, encoding, own)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** A stream that gives some bytes and then breaks, as a connection does. */
function broken(bytes: Uint8Array): Readable {
  let given = false
  return new Readable({
    read() {
      if (given) this.destroy(Object.assign(new RangeError('aborted'), { code: 'ECONNRESET' }))
      else this.push(bytes)
      given = true
    },
  })
}

const text = '{"n":1}\n'.repeat(500)
const compressed: readonly (readonly [ContentEncoding, Uint8Array])[] = [
  ['gzip', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
  ['zstd', zstdCompressSync(text)],
]

describe('a body', () => {
  test('comes out as it was before it was compressed', async () => {
    expect(await read(utf8(text))).toBe(text)
    for (const [encoding, bytes] of compressed) expect(await read(bytes, encoding)).toBe(text)
  })

  test.each(compressed)('in %s that is cut off or is none is malformed', async (encoding, bytes) => {
    expect(await kindOf(read(bytes.subarray(0, bytes.length - 9), encoding))).toBe('MalformedBody')
    expect(await kindOf(read(utf8('no such thing at all'), encoding))).toBe('MalformedBody')
    expect(await kindOf(read(broken(bytes.subarray(0, 20)), encoding))).toBe('MalformedBody')
  })

  test('is refused at its first byte over a cap', async () => {
    const own = { ...limits, bodyBytes: text.length, inflatedBytes: text.length }
    expect(await read(utf8(text), undefined, own)).toBe(text)
    expect(await read(gzipSync(text), 'gzip', own)).toBe(text)
    const tight = { ...own, bodyBytes: text.length - 1, inflatedBytes: text.length - 1 }
    await expect(read(utf8(text), undefined, tight)).rejects.toMatchObject({
      details: { limit: { name: 'bodyBytes' } },
    })
    await expect(read(gzipSync(text), 'gzip', tight)).rejects.toMatchObject({
      kind: 'BodyTooLarge',
      details: { limit: { name: 'inflatedBytes' } },
    })
  })

  test('that inflates beyond the ratio is refused, small ones excepted', async () => {
    const bomb = gzipSync(new Uint8Array(4 * 1024 * 1024))
    await expect(read(bomb, 'gzip')).rejects.toMatchObject({ details: { limit: { name: 'inflatedRatio' } } })
    expect(await read(gzipSync(new Uint8Array(1024 * 1024)), 'gzip')).toHaveLength(1024 * 1024)
  })

  test('that breaks off, or broke off before it was looked at, is malformed', async () => {
    expect(await kindOf(read(broken(utf8('{"n":'))))).toBe('MalformedBody')
    expect(await kindOf(wholeBody(broken(utf8('{"n":'))))).toBe('MalformedBody')
    const gone = Readable.from([utf8('x')])
    gone.destroy()
    expect(await kindOf(wholeBody(gone))).toBe('MalformedBody')
    expect(Buffer.from(await wholeBody(Readable.from([utf8('a'), utf8('b')]))).toString()).toBe('ab')
    expect(await wholeBody(Readable.from([]))).toHaveLength(0)
  })
})

describe('a spool', () => {
  test('gives back its bytes wherever it is cut, from memory and from a file', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), fc.nat(), async (lengths, a, b) => {
        const spool = new Spool(spoolDir)
        const chunks = lengths.map((length, i) => new Uint8Array(length).fill(i + 1))
        for (const chunk of chunks) await spool.append(chunk)
        const whole = concatBytes(chunks)
        expect(spool.bytes).toBe(whole.length)
        const [start = 0, end = 0] = [a, b].map((at) => at % (whole.length + 1)).toSorted((x, y) => x - y)
        expect(Buffer.from(await spool.at(start, end)).equals(whole.subarray(start, end))).toBe(true)
        const pieces: Uint8Array[] = []
        for await (const piece of spool.chunks()) pieces.push(piece)
        expect(Buffer.from(concatBytes(pieces)).equals(whole)).toBe(true)
        await spool.discard()
        await spool.discard()
      }),
      { numRuns: 15 },
    )
    expect(readdirSync(spoolDir)).toEqual([])
  })

  test('gives no more once its caller has gone', async () => {
    const caller = new AbortController()
    const spool = new Spool(spoolDir, () => caller.signal)
    await spool.append(utf8('abc'))
    expect(await spool.at(0, 3)).toHaveLength(3)
    caller.abort()
    expect(await kindOf(spool.at(0, 3))).toBe('QueryTimeout')
    await spool.discard()
  })

  test('lies in a file above 1 MiB, which goes with it', async () => {
    const spool = new Spool(spoolDir)
    await spool.append(new Uint8Array(1024 * 1024))
    expect(readdirSync(spoolDir)).toEqual([])
    await spool.append(new Uint8Array(1))
    expect(readdirSync(spoolDir)).toHaveLength(1)
    await spool.discard()
    expect(readdirSync(spoolDir)).toEqual([])
  })
})
