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
  dictionaryIndices,
  dictionaryOf,
  packedRun,
  pageOfValues,
  plainValues,
  repeatedRun,
} from './write-values.ts'

/** Zstandard. */
export type Compress = (bytes: Uint8Array) => Uint8Array

const encodings = { plain: 0, rle: 3, rleDictionary: 8 } as const
const codecs = { uncompressed: 0, zstd: 6 } as const
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
  const dictionaryValues = dictionary === undefined ? [] : [plainValues(dictionary.entries)]
  const isSmall = totalBytes(dictionaryValues) + totalBytes(body) < leastCompressedBytes
  const used = isSmall ? undefined : compress
  const entries = values.levels?.definition.length ?? values.rows
  const pages: Page[] = []
  if (dictionary !== undefined) {
    pages.push(
      page(pageTypes.dictionary, dictionaryValues, used, (thrift) => {
        thrift.i32(1, dictionary.entries.rows)
        thrift.i32(2, encodings.plain)
      }),
    )
  }
  pages.push(
    page(pageTypes.data, body, used, (thrift) => {
      thrift.i32(1, entries)
      thrift.i32(2, dictionary === undefined ? encodings.plain : encodings.rleDictionary)
      thrift.i32(3, encodings.rle)
      thrift.i32(4, encodings.rle)
    }),
  )
  const parts = pages.flatMap((one) => one.parts)
  return {
    leaf,
    parts,
    codec: used === undefined ? codecs.uncompressed : codecs.zstd,
    encodings: [encodings.plain, encodings.rle, ...(dictionary === undefined ? [] : [encodings.rleDictionary])],
    entries,
    uncompressedBytes: pages.reduce((sum, one) => sum + one.uncompressedBytes, 0),
    compressedBytes: totalBytes(parts),
    dictionaryBytes: dictionary === undefined ? 0 : totalBytes(pages[0]?.parts ?? []),
    nullCount: values.levels === undefined ? values.nullCount : undefined,
    bounds,
  }
}

interface Page {
  /** Header and content. */
  readonly parts: readonly Uint8Array[]
  readonly uncompressedBytes: number
}

/** A page with its header; `kind` writes what the header says of a page of its type. */
function page(
  type: (typeof pageTypes)[keyof typeof pageTypes],
  body: readonly Uint8Array[],
  compress: Compress | undefined,
  kind: (thrift: ThriftWriter) => void,
): Page {
  const rawBytes = totalBytes(body)
  const [only] = body
  const joined = body.length === 1 && only !== undefined ? only : undefined
  const stored = compress === undefined ? body : [compress(joined ?? concatBytes(body))]
  const thrift = new ThriftWriter()
  thrift.i32(1, type)
  thrift.i32(2, rawBytes)
  thrift.i32(3, totalBytes(stored))
  thrift.struct(type === pageTypes.data ? 5 : 7, () => kind(thrift))
  const header = thrift.finish()
  return { parts: [header, ...stored], uncompressedBytes: header.length + rawBytes }
}

function totalBytes(parts: readonly Uint8Array[]): number {
  let total = 0
  for (const part of parts) total += part.length
  return total
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
