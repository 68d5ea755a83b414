// The pages of a column chunk, decoded: levels, and where the values present stand. Everything is bounded by what the
// footer says, so that damaged pages cost neither memory nor time; the library, which is not so bounded, reads page
// headers and undoes Snappy only. Source: Apache Parquet, parquet.thrift (PageHeader, data pages of version 1 and 2)
// and Encodings (PLAIN, RLE_DICTIONARY, RLE).

import { type ColumnMetaData, type PageHeader, snappyUncompress } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { concatBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'

/** Values of a column in one row group, items of lists counted; more are not read. */
const maxEntries = 2 ** 25
const maxPageBytes = 2 ** 30
const maxRunBits = 24

/** Turns a compressed page into its `length` bytes. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array

/**
 * What the schema says of a leaf. `widthBytes` of a fixed-width physical value; 0 for byte arrays, 1 for booleans, which
 * are a byte each once they are decoded.
 */
export interface LeafShape {
  readonly isBoolean: boolean
  readonly isBigEndian: boolean
  readonly widthBytes: number
  readonly maxDefinition: number
  readonly maxRepetition: number
}

/** The values of a page: value `i` is `bytes[starts[i], ends[i])`; without `starts` they follow one another. */
export interface PageValues {
  readonly count: number
  readonly bytes: Uint8Array
  readonly starts?: Int32Array
  readonly ends?: Int32Array
}

/** A chunk's content, nulls left out of the values. Levels are empty where the shape has none. */
export interface ChunkContent {
  readonly entries: number
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  readonly pages: readonly PageValues[]
}

export interface ChunkOptions {
  readonly shape: LeafShape
  readonly decompress: Decompress | undefined
}

/** Decodes the chunk of `file` that `meta` describes. Throws DecodeError for anything that does not fit. */
export function readChunk(file: Uint8Array, meta: ColumnMetaData, { shape, decompress }: ChunkOptions): ChunkContent {
  const entries = Number(meta.num_values)
  if (!(entries >= 0 && entries <= maxEntries)) refuse(`has a column of ${entries} values in one row group`)
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
  const end = start + Number(meta.total_compressed_size)
  if (!(start >= 0 && start <= end && end <= file.length)) refuse('has a column that lies outside of the file')
  const bytes = file.subarray(start, end)
  const cursor = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }
  const inflate = (raw: Uint8Array, length: number): Uint8Array => inflatePage(raw, length, meta.codec, decompress)
  const definition: Uint8Array[] = []
  const repetition: Uint8Array[] = []
  const pages: PageValues[] = []
  let dictionary: PageValues | undefined
  let read = 0
  while (read < entries) {
    const header = parquetHeader(cursor)
    const { compressed_page_size: stored, uncompressed_page_size: length } = header
    const at = cursor.offset
    if (!(stored >= 0 && at + stored <= bytes.length)) refuse('has a page that lies outside of its column')
    if (!(length >= 0 && length <= maxPageBytes)) refuse('has a page of impossible size')
    cursor.offset = at + stored
    const raw = bytes.subarray(at, at + stored)
    if (header.dictionary_page_header !== undefined) {
      dictionary = plainValues(inflate(raw, length), header.dictionary_page_header.num_values, shape)
      continue
    }
    const page = dataPage(header, raw, { shape, inflate, room: entries - read })
    // A page that holds no data, such as an index.
    if (page === undefined) continue
    let present = page.entries
    for (const level of page.definition) if (level !== shape.maxDefinition) present--
    read += page.entries
    definition.push(page.definition)
    repetition.push(page.repetition)
    pages.push(pageValues(page, present, { shape, dictionary }))
  }
  return { entries, definition: concatBytes(definition), repetition: concatBytes(repetition), pages }
}

/** One kind of data page, whichever version. */
interface DataPage {
  readonly entries: number
  readonly encoding: string
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  readonly body: Uint8Array
}

interface PageOptions {
  readonly shape: LeafShape
  readonly inflate: Decompress
  /** Entries that are still to come. */
  readonly room: number
}

function dataPage(header: PageHeader, raw: Uint8Array, { shape, inflate, room }: PageOptions): DataPage | undefined {
  const { data_page_header: v1, data_page_header_v2: v2, uncompressed_page_size: length } = header
  const page = v2 ?? v1
  if (page === undefined) return undefined
  const { num_values: entries, encoding } = page
  if (!(entries >= 0 && entries <= room)) return refuse('has more values in its pages than in its footer')
  const { maxDefinition, maxRepetition } = shape
  let repetition: Uint8Array
  let definition: Uint8Array
  let body: Uint8Array
  if (v2 !== undefined) {
    const repetitionEnd = v2.repetition_levels_byte_length
    const levelsEnd = repetitionEnd + v2.definition_levels_byte_length
    if (!(repetitionEnd >= 0 && levelsEnd >= repetitionEnd && levelsEnd <= raw.length)) {
      return refuse('has levels that lie outside of their page')
    }
    repetition = raw.subarray(0, repetitionEnd)
    definition = raw.subarray(repetitionEnd, levelsEnd)
    const stored = raw.subarray(levelsEnd)
    body = v2.is_compressed === false ? stored : inflate(stored, length - levelsEnd)
  } else {
    if (maxDefinition > 0 && v1?.definition_level_encoding !== 'RLE')
      return refuse('has levels of an obsolete encoding')
    body = inflate(raw, length)
    repetition = maxRepetition === 0 ? body.subarray(0, 0) : withLength(body)
    if (maxRepetition > 0) body = body.subarray(4 + repetition.length)
    definition = maxDefinition === 0 ? body.subarray(0, 0) : withLength(body)
    if (maxDefinition > 0) body = body.subarray(4 + definition.length)
  }
  return {
    entries,
    encoding,
    repetition: levels(repetition, maxRepetition, entries),
    definition: levels(definition, maxDefinition, entries),
    body,
  }
}

function inflatePage(raw: Uint8Array, length: number, codec: string, decompress: Decompress | undefined): Uint8Array {
  // A page without values may still have a frame.
  if (length === 0) return raw.subarray(0, 0)
  if (length < 0) return refuse('has a page of impossible size')
  let page = raw
  if (codec === 'ZSTD') {
    if (decompress === undefined) return refuse('is compressed with Zstandard, which is not at hand')
    page = decompress(raw, length)
  } else if (codec === 'SNAPPY') {
    page = new Uint8Array(length)
    snappyUncompress(raw, page)
  } else if (codec !== 'UNCOMPRESSED') return refuse(`is compressed with ${codec}, which is not supported`)
  if (page.length !== length) return refuse('has a page of another size than its header says')
  return page
}

interface ValueOptions {
  readonly shape: LeafShape
  readonly dictionary: PageValues | undefined
}

function pageValues({ encoding, body }: DataPage, count: number, { shape, dictionary }: ValueOptions): PageValues {
  if (encoding === 'PLAIN') return plainValues(body, count, shape)
  if (encoding === 'RLE' && shape.isBoolean) {
    const bytes = new Uint8Array(count)
    readRuns(withLength(body), 1, bytes)
    return { count, bytes }
  }
  if (encoding !== 'RLE_DICTIONARY' && encoding !== 'PLAIN_DICTIONARY') {
    return refuse(`has a page of the unsupported encoding ${encoding}`)
  }
  if (dictionary === undefined) return refuse('has a page that lacks its dictionary')
  const starts = new Int32Array(count)
  const ends = new Int32Array(count)
  if (count > 0) readRuns(body.subarray(1), body[0] ?? 0, starts)
  const { widthBytes } = shape
  for (let i = 0; i < count; i++) {
    const index = starts[i] ?? 0
    if (index >= dictionary.count) refuse('has an index beyond its dictionary')
    starts[i] = dictionary.starts?.[index] ?? index * widthBytes
    ends[i] = dictionary.ends?.[index] ?? (index + 1) * widthBytes
  }
  return { count, bytes: dictionary.bytes, starts, ends }
}

/** `count` PLAIN values at the start of `page`, whose memory they share. */
function plainValues(page: Uint8Array, count: number, { isBoolean, widthBytes }: LeafShape): PageValues {
  const least = isBoolean ? (count + 7) >> 3 : count * (widthBytes || 4)
  if (!(count >= 0 && least <= page.length)) return refuse('has a page that ends too early')
  if (isBoolean) {
    const bytes = new Uint8Array(count)
    for (let i = 0; i < count; i++) bytes[i] = ((page[i >> 3] ?? 0) >> (i & 7)) & 1
    return { count, bytes }
  }
  if (widthBytes > 0) return { count, bytes: page }
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
  const starts = new Int32Array(count)
  const ends = new Int32Array(count)
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 4 > page.length) refuse('has a page that ends too early')
    const end = at + 4 + view.getUint32(at, true)
    if (end > page.length) refuse('has a page that ends too early')
    starts[i] = at + 4
    ends[i] = end
    at = end
  }
  return { count, bytes: page, starts, ends }
}

/** The bytes behind a 4-byte length. */
function withLength(page: Uint8Array): Uint8Array {
  if (page.length < 4) return refuse('has a page that ends too early')
  const length = new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(0, true)
  if (4 + length > page.length) return refuse('has levels that lie outside of their page')
  return page.subarray(4, 4 + length)
}

function levels(runs: Uint8Array, max: number, entries: number): Uint8Array {
  if (max === 0) return new Uint8Array(0)
  const out = new Uint8Array(entries)
  readRuns(runs, 32 - Math.clz32(max), out)
  for (const level of out) if (level > max) refuse('has a level that its schema does not have')
  return out
}

/** Fills `out` with numbers of `width` bits from the RLE / bit-packing hybrid. */
function readRuns(runs: Uint8Array, width: number, out: Uint8Array | Int32Array): void {
  if (width > maxRunBits) refuse(`has numbers of ${width} bits in runs`)
  const tooShort = 'has runs that end too early'
  const valueBytes = (width + 7) >> 3
  let at = 0
  let filled = 0
  while (filled < out.length) {
    let header = 0
    for (let scale = 1, byte = 128; byte >= 128; scale *= 128) {
      if (at >= runs.length || scale > 2 ** 28) refuse(tooShort)
      byte = runs[at++] ?? 0
      header += (byte & 127) * scale
    }
    if (header < 2) refuse(tooShort)
    if (header % 2 === 0) {
      let value = 0
      for (let i = 0; i < valueBytes; i++) value |= (runs[at + i] ?? 0) << (8 * i)
      at += valueBytes
      if (at > runs.length) refuse(tooShort)
      const end = Math.min(out.length, filled + header / 2)
      out.fill(value, filled, end)
      filled = end
    } else {
      const groups = (header - 1) / 2
      const count = Math.min(out.length - filled, groups * 8)
      // The last run may be cut behind the last value.
      if (at + Math.ceil((count * width) / 8) > runs.length) refuse(tooShort)
      unpack(runs.subarray(at), width, out.subarray(filled, filled + count))
      at += groups * width
      filled += count
    }
  }
}

function unpack(packed: Uint8Array, width: number, out: Uint8Array | Int32Array): void {
  const mask = 2 ** width - 1
  let at = 0
  let bits = 0
  let held = 0
  for (let i = 0; i < out.length; i++) {
    while (held < width) {
      bits |= (packed[at++] ?? 0) << held
      held += 8
    }
    out[i] = bits & mask
    bits >>>= width
    held -= width
  }
}

function refuse(reason: string): never {
  throw new DecodeError('Parquet slice', reason)
}
