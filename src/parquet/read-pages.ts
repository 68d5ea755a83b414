// The pages of a column chunk, decoded: levels, and where the values present stand. Everything is bounded by what the
// footer says, so that damaged pages cost neither memory nor time. Whole chunks at once, as slices are held in memory; files
// of others are read page by page (chunk-pages.ts). Source: Apache Parquet, parquet.thrift (data pages of version 1 and 2)
// and Encodings (PLAIN, RLE_DICTIONARY, RLE).

import type { ColumnMetaData } from 'hyparquet'
import { concatBytes } from '../lib/bytes.ts'
import { bytesDictionary } from './byte-values.ts'
import { indexRuns, PlainBooleans, withLength } from './fixed-values.ts'
import { encodings, type PageHeader, readPageHeader } from './page-header.ts'
import { encodingNames } from './page-values.ts'
import { damaged as refuse } from './refusals.ts'
import { RunReader } from './runs.ts'
import { snappyAtOnce } from './snappy.ts'

/** Values of a column in one row group, items of lists counted; more are not read. */
const maxEntries = 2 ** 25
const maxPageBytes = 2 ** 30

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
  let next = 0
  const inflate = (raw: Uint8Array, length: number): Uint8Array => inflatePage(raw, length, meta.codec, decompress)
  const definition: Uint8Array[] = []
  const repetition: Uint8Array[] = []
  const pages: PageValues[] = []
  let dictionary: PageValues | undefined
  let read = 0
  while (read < entries) {
    const header = readPageHeader(bytes, next)
    const { storedBytes: stored, inflatedBytes: length } = header
    const at = next + header.headerBytes
    if (at + stored > bytes.length) refuse('has a page that lies outside of its column')
    if (length > maxPageBytes) refuse('has a page of impossible size')
    next = at + stored
    const raw = bytes.subarray(at, at + stored)
    if (header.kind === 'dictionary') {
      dictionary = plainValues(inflate(raw, length), header.entries, shape)
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
  readonly encoding: number
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
  const { kind, entries, encoding, inflatedBytes: length } = header
  if (kind !== 'data' && kind !== 'dataV2') return undefined
  if (!(entries >= 0 && entries <= room)) return refuse('has more values in its pages than in its footer')
  const { maxDefinition, maxRepetition } = shape
  let repetition: Uint8Array
  let definition: Uint8Array
  let body: Uint8Array
  if (kind === 'dataV2') {
    const repetitionEnd = header.repetitionBytes
    const levelsEnd = repetitionEnd + header.definitionBytes
    if (!(repetitionEnd >= 0 && levelsEnd >= repetitionEnd && levelsEnd <= raw.length)) {
      return refuse('has levels that lie outside of their page')
    }
    repetition = raw.subarray(0, repetitionEnd)
    definition = raw.subarray(repetitionEnd, levelsEnd)
    const stored = raw.subarray(levelsEnd)
    body = header.isCompressed ? inflate(stored, length - levelsEnd) : stored
  } else {
    if (maxDefinition > 0 && header.levelEncodings[0] !== encodings.rle) {
      return refuse('has levels of an obsolete encoding')
    }
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
    if (decompress === undefined) return refuse('is compressed with Zstandard, for which no decompressor was given')
    page = decompress(raw, length)
  } else if (codec === 'SNAPPY') {
    page = snappyAtOnce(raw, length)
  } else if (codec !== 'UNCOMPRESSED') return refuse(`is compressed with ${codec}, which is not supported`)
  if (page.length !== length) return refuse('has a page of another size than its header says')
  return page
}

interface ValueOptions {
  readonly shape: LeafShape
  readonly dictionary: PageValues | undefined
}

function pageValues({ encoding, body }: DataPage, count: number, { shape, dictionary }: ValueOptions): PageValues {
  if (encoding === encodings.plain) return plainValues(body, count, shape)
  if (encoding === encodings.rle && shape.isBoolean) {
    const bytes = new Uint8Array(count)
    new RunReader(withLength(body), 1).read(bytes, 0, count)
    return { count, bytes }
  }
  if (encoding !== encodings.rleDictionary && encoding !== encodings.plainDictionary) {
    return refuse(`has a page of the unsupported encoding ${encodingNames[encoding] ?? encoding}`)
  }
  if (dictionary === undefined) return refuse('has a page that lacks its dictionary')
  const starts = new Int32Array(count)
  const ends = new Int32Array(count)
  if (count > 0) indexRuns(body).read(starts, 0, count)
  const { widthBytes } = shape
  for (let i = 0; i < count; i++) {
    const index = (starts[i] ?? 0) >>> 0
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
    new PlainBooleans(page).read(bytes, 0, count)
    return { count, bytes }
  }
  return widthBytes > 0 ? { count, bytes: page } : bytesDictionary(page, count)
}

function levels(runs: Uint8Array, max: number, entries: number): Uint8Array {
  if (max === 0) return new Uint8Array(0)
  const out = new Uint8Array(entries)
  new RunReader(runs, 32 - Math.clz32(max)).read(out, 0, entries)
  for (const level of out) if (level > max) refuse('has a level that its schema does not have')
  return out
}
