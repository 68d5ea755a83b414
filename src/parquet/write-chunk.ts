// A column chunk: one leaf of one row group as a dictionary page (where it pays) and one data page.
// Source: Apache Parquet, parquet.thrift (PageHeader, data page version 1).

import { concatBytes } from '../lib/bytes.ts'
import type { ParquetLeaf } from './file-schema.ts'
import type { LeafValues } from './leaf.ts'
import { type Bounds, leafBounds } from './statistics.ts'
import { ThriftWriter } from './thrift.ts'
import {
  bitmapRun,
  bitWidth,
  type Dictionary,
  dictionaryIndices,
  dictionaryOf,
  packedRun,
  pageOfValues,
  plainValues,
  repeatedRun,
} from './write-values.ts'

/** Zstandard. */
export type Compress = (bytes: Uint8Array) => Uint8Array

export const encodings = { plain: 0, rle: 3, rleDictionary: 8 } as const
export const codecs = { uncompressed: 0, zstd: 6 } as const
const pageTypes = { data: 0, dictionary: 2 } as const

/** A written chunk: its bytes, and what the footer says of it. Sizes include page headers. */
export interface ColumnChunk {
  readonly leaf: ParquetLeaf
  readonly parts: readonly Uint8Array[]
  readonly codec: number
  readonly encodings: readonly number[]
  /** Levels of a list, else rows. */
  readonly entries: number
  readonly uncompressedBytes: number
  readonly compressedBytes: number
  /** Bytes of the dictionary page at its start; 0 without one. */
  readonly dictionaryBytes: number
  /** Undefined for lists, whose nulls have no one meaning. */
  readonly nullCount: number | undefined
  readonly bounds: Bounds | undefined
}

// A compressed page has its own frame; below this much the frame outweighs what is saved.
const leastCompressedBytes = 256

/** Values of so many bytes are encoded in steps. */
export const stepBytes = 2 * 1024 * 1024

/** Encodes one leaf of a row group, a long one in several steps. */
export function* encodeChunk(
  leaf: ParquetLeaf,
  values: LeafValues,
  compress: Compress | undefined,
): Generator<void, ColumnChunk> {
  const isLong = values.values.length >= stepBytes
  const dictionary = dictionaryOf(values)
  const bounds = values.levels === undefined ? leafBounds(dictionary?.entries ?? values) : undefined
  if (isLong) yield
  const levels = levelBytes(leaf, values)
  const body = dictionary === undefined ? pageOfValues(values, levels) : [levels, dictionaryIndices(dictionary)]
  if (isLong) yield
  const dictionaryValues = dictionary === undefined ? undefined : plainValues(dictionary.entries)
  let rawBytes = dictionaryValues?.length ?? 0
  for (const part of body) rawBytes += part.length
  const used = rawBytes < leastCompressedBytes ? undefined : compress
  const entries = values.levels?.definition.length ?? values.rows
  const pages: Page[] = []
  if (dictionaryValues !== undefined) pages.push(dictionaryPage(dictionaryValues, dictionary?.entries.rows ?? 0, used))
  pages.push(dataPage({ entries, body, encoding: contentEncoding(dictionary) }, used))
  let compressedBytes = 0
  let uncompressedBytes = 0
  for (const page of pages) {
    compressedBytes += page.bytes
    uncompressedBytes += page.uncompressedBytes
  }
  const isList = values.levels !== undefined
  return {
    leaf,
    parts: pages.flatMap((page) => page.parts),
    codec: used === undefined ? codecs.uncompressed : codecs.zstd,
    encodings:
      dictionary === undefined
        ? [encodings.plain, encodings.rle]
        : [encodings.plain, encodings.rle, encodings.rleDictionary],
    entries,
    uncompressedBytes,
    compressedBytes,
    dictionaryBytes: dictionary === undefined ? 0 : (pages[0]?.bytes ?? 0),
    nullCount: isList ? undefined : values.nullCount,
    bounds,
  }
}

function contentEncoding(dictionary: Dictionary | undefined): number {
  return dictionary === undefined ? encodings.plain : encodings.rleDictionary
}

interface Page {
  readonly parts: readonly Uint8Array[]
  readonly bytes: number
  readonly uncompressedBytes: number
}

function dictionaryPage(values: Uint8Array, count: number, compress: Compress | undefined): Page {
  return page({ type: pageTypes.dictionary, body: [values], compress }, (thrift) =>
    thrift.struct(7, () => {
      thrift.i32(1, count)
      thrift.i32(2, encodings.plain)
    }),
  )
}

interface DataPage {
  readonly entries: number
  readonly encoding: number
  readonly body: readonly Uint8Array[]
}

function dataPage({ entries, encoding, body }: DataPage, compress: Compress | undefined): Page {
  return page({ type: pageTypes.data, body, compress }, (thrift) =>
    thrift.struct(5, () => {
      thrift.i32(1, entries)
      thrift.i32(2, encoding)
      thrift.i32(3, encodings.rle)
      thrift.i32(4, encodings.rle)
    }),
  )
}

interface PageBody {
  readonly type: number
  readonly body: readonly Uint8Array[]
  readonly compress: Compress | undefined
}

function page({ type, body, compress }: PageBody, kind: (thrift: ThriftWriter) => void): Page {
  let rawBytes = 0
  for (const part of body) rawBytes += part.length
  const [only] = body
  const joined = body.length === 1 && only !== undefined ? only : undefined
  const stored = compress === undefined ? body : [compress(joined ?? concatBytes(body))]
  let storedBytes = 0
  for (const part of stored) storedBytes += part.length
  const thrift = new ThriftWriter()
  thrift.i32(1, type)
  thrift.i32(2, rawBytes)
  thrift.i32(3, storedBytes)
  kind(thrift)
  const header = thrift.finish()
  return {
    parts: [header, ...stored],
    bytes: header.length + storedBytes,
    uncompressedBytes: header.length + rawBytes,
  }
}

/** Repetition and definition levels, each with its length in front; nothing for a required column. */
function levelBytes(leaf: ParquetLeaf, values: LeafValues): Uint8Array {
  if (values.levels !== undefined) {
    const { definition, repetition } = values.levels
    const runs = [
      packedRun(repetition, bitWidth(leaf.maxRepetition)),
      packedRun(definition, bitWidth(leaf.maxDefinition)),
    ]
    return concatBytes(runs.flatMap(withLength))
  }
  if (leaf.maxDefinition === 0) return new Uint8Array(0)
  return concatBytes(withLength(presenceRun(values)))
}

function presenceRun({ rows, nullCount, validity }: LeafValues): Uint8Array {
  if (validity === undefined || nullCount === 0) return repeatedRun(rows, 1, 1)
  return nullCount === rows ? repeatedRun(rows, 0, 1) : bitmapRun(validity, rows)
}

function withLength(run: Uint8Array): Uint8Array[] {
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, run.length, true)
  return [length, run]
}
