// What hyparquet-writer encodes is what our readers decode, in whatever pieces it is asked for.

import * as fc from 'fast-check'
import { ByteWriter } from 'hyparquet-writer'
import { deltaBinaryPack, deltaByteArray, deltaLengthByteArray } from 'hyparquet-writer/src/delta.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { writeByteStreamSplit } from 'hyparquet-writer/src/splitstream.js'
import { expect, test } from 'vitest'
import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import { lz4UncompressFrames, snappyUncompress } from '../../../../src/libraries/columnar/parquet/block-codecs.ts'
import {
  BytesSink,
  type ByteValues,
  DeltaBytes,
  DeltaLengthBytes,
} from '../../../../src/libraries/columnar/parquet/byte-values.ts'
import { DeltaReader } from '../../../../src/libraries/columnar/parquet/delta.ts'
import { SplitFixed } from '../../../../src/libraries/columnar/parquet/fixed-values.ts'
import { RunReader } from '../../../../src/libraries/columnar/parquet/runs.ts'

/** How many values each call asks for. */
const arbPieces = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 })

/** Calls `read` for pieces of `count` values, in turns of the sizes given. */
function inPieces(count: number, pieces: readonly number[], read: (start: number, count: number) => void): void {
  let turn = 0
  for (let at = 0; at < count; turn++) {
    const piece = Math.min(pieces[turn % pieces.length] ?? 1, count - at)
    read(at, piece)
    at += piece
  }
}

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter()
  write(writer)
  return writer.getBytes().slice()
}

test('runs of up to 24 bits', () => {
  const arbRuns = fc.integer({ min: 1, max: 24 }).chain((width) => {
    const value = fc.integer({ min: 0, max: 2 ** width - 1 })
    const run = fc.tuple(value, fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 700 })))
    return fc.record({ width: fc.constant(width), runs: fc.array(run, { minLength: 1, maxLength: 40 }) })
  })
  fc.assert(
    fc.property(arbRuns, arbPieces, ({ width, runs }, pieces) => {
      const values = runs.flatMap(([value, count]) => Array.from({ length: count }, () => value))
      const reader = new RunReader(
        written((writer) => writeRleBitPackedHybrid(writer, values, width)),
        width,
      )
      const found = new Int32Array(values.length)
      inPieces(values.length, pieces, (start, count) => {
        const same = start % 2 === 0 ? reader.repeated(count) : undefined
        if (same === undefined) reader.read(found, start, count)
        else found.fill(same, start, start + count)
      })
      expect(Array.from(found)).toEqual(values)
      expect(reader.isAtEnd).toBe(true)
    }),
  )
})

test('packed runs of 25 to 32 bits, which hyparquet-writer does not write', () => {
  const arbWide = fc.integer({ min: 25, max: 32 }).chain((width) => {
    const value = fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n })
    return fc.record({ width: fc.constant(width), values: fc.array(value, { minLength: 1, maxLength: 60 }) })
  })
  fc.assert(
    fc.property(arbWide, arbPieces, ({ width, values }, pieces) => {
      const groups = Math.ceil(values.length / 8)
      let bits = 0n
      for (const [i, value] of values.entries()) bits |= value << BigInt(i * width)
      const packed = Array.from({ length: groups * width }, (_, i) => Number((bits >> BigInt(8 * i)) & 255n))
      const reader = new RunReader(Uint8Array.from([2 * groups + 1, ...packed]), width)
      const found = new Int32Array(values.length)
      inPieces(values.length, pieces, (start, count) => reader.read(found, start, count))
      expect(Array.from(found, (value) => BigInt(value >>> 0))).toEqual(values)
      expect(reader.isAtEnd).toBe(true)
    }),
  )
})

test('differences of 32 and of 64 bits, also those that wrap', () => {
  const arb32 = fc.array(fc.oneof(fc.integer(), fc.integer({ min: -3, max: 3 })), { minLength: 1, maxLength: 700 })
  fc.assert(
    fc.property(arb32, arbPieces, (values, pieces) => {
      const reader = new DeltaReader(written((writer) => deltaBinaryPack(writer, values, 'INT32')))
      const found = new Int32Array(values.length)
      inPieces(values.length, pieces, (start, count) => reader.read32(found, start, count))
      expect(Array.from(found)).toEqual(values)
      expect(reader.left).toBe(0)
    }),
  )
  const arb64 = fc.array(
    fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -9n, max: 9n })),
    {
      minLength: 1,
      maxLength: 700,
    },
  )
  fc.assert(
    fc.property(arb64, arbPieces, (values, pieces) => {
      const reader = new DeltaReader(written((writer) => deltaBinaryPack(writer, values, 'INT64')))
      const found = new BigInt64Array(values.length)
      inPieces(values.length, pieces, (start, count) => reader.read64(new Int32Array(found.buffer), start, count))
      expect(Array.from(found)).toEqual(values)
    }),
  )
})

test('byte arrays by their lengths, and by what they share', () => {
  const arbTexts = fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 300 })
  const arbSharing = arbTexts.map((texts) => texts.toSorted())
  fc.assert(
    fc.property(
      fc.oneof(arbTexts, arbSharing),
      arbPieces,
      fc.integer({ min: 1, max: 5000 }),
      (texts, pieces, mostBytes) => {
        const values = texts.map((text) => utf8(text))
        const readers: ByteValues[] = [
          new DeltaLengthBytes(written((writer) => deltaLengthByteArray(writer, values))),
          new DeltaBytes(written((writer) => deltaByteArray(writer, values))),
        ]
        for (const reader of readers) {
          const found: string[] = []
          for (let turn = 0; found.length < values.length; turn++) {
            const sink = new BytesSink()
            const wanted = Math.min(pieces[turn % pieces.length] ?? 1, values.length - found.length)
            const done = reader.read(sink, wanted, mostBytes)
            expect(done).toBe(sink.count)
            expect(done === wanted || done === 1 || sink.used <= mostBytes).toBe(true)
            for (let i = 0; i < done; i++) {
              found.push(Buffer.from(sink.values.subarray(sink.offsets[i], sink.offsets[i + 1])).toString('utf8'))
            }
          }
          expect(found).toEqual(texts)
          expect(reader.isAtEnd).toBe(true)
        }
      },
    ),
  )
})

test('split bytes', () => {
  const arbDoubles = fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(arbDoubles, arbPieces, (values, pieces) => {
      const reader = new SplitFixed(
        written((writer) => writeByteStreamSplit(writer, values, 'DOUBLE', undefined)),
        8,
      )
      const found = new Float64Array(values.length)
      inPieces(values.length, pieces, (start, count) => reader.read(new Uint8Array(found.buffer), 8 * start, count))
      expect(Array.from(found)).toEqual(values)
    }),
  )
})

test('Snappy, and nothing that is almost Snappy crashes', async () => {
  const arbBytes = fc.array(fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.constant(utf8('again and '))), {
    maxLength: 60,
  })
  await fc.assert(
    fc.asyncProperty(arbBytes, fc.nat(), fc.integer({ min: 0, max: 255 }), async (parts, place, byte) => {
      const bytes = concatBytes(parts)
      const stored = snappyCompress(bytes)
      expect(await snappyUncompress(stored, bytes.length)).toEqual(bytes)
      const flipped = stored.slice()
      flipped[place % stored.length] = byte
      const found = await snappyUncompress(flipped, bytes.length).catch((error: unknown) => error)
      const isRefused = found instanceof DecodeError
      expect(isRefused || (found instanceof Uint8Array && found.length === bytes.length)).toBe(true)
    }),
  )
})

test('LZ4 as Hadoop frames it: several blocks behind their sizes, or one block without', async () => {
  const literals = (text: string): number[] => [text.length << 4, ...utf8(text)]
  const block = (text: string): number[] => {
    const stored = literals(text)
    return [0, 0, 0, text.length, 0, 0, 0, stored.length, ...stored]
  }
  const framed = Uint8Array.from([...block('hello '), ...block('world')])
  expect(Buffer.from(await lz4UncompressFrames(framed, 11)).toString('utf8')).toBe('hello world')
  expect(Buffer.from(await lz4UncompressFrames(Uint8Array.from(literals('hello')), 5)).toString('utf8')).toBe('hello')
  await expect(lz4UncompressFrames(framed, 12)).rejects.toThrow('LZ4')
})
