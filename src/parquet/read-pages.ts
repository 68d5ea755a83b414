// The pages of a column chunk, decoded: levels, and the values present, one after the other. Everything is bounded by
// what the footer says, so that damaged pages cost neither memory nor time. Source: Apache Parquet, parquet.thrift
// (PageHeader, data pages of version 1 and 2) and Encodings.md (PLAIN, RLE_DICTIONARY, RLE).

import { type ColumnMetaData, type PageHeader, snappyUncompress } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { concatBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import { readRuns } from './read-runs.ts'
import { type DenseValues, gather, joinDense, plainDense } from './read-values.ts'

const what = 'Parquet slice'
/** Values of a column in one row group, items of lists counted; more are not read. */
const maxEntries = 2 ** 25
const maxPageBytes = 2 ** 30

/** Turns a compressed page into its `length` bytes. */
export type Decompress = (bytes: Uint8Array, length: number) => Uint8Array

/** What the schema says of a leaf. `width`: bytes of a fixed-width physical value, 0 for byte arrays, 1 for booleans. */
export interface LeafShape {
  readonly isBoolean: boolean
  readonly width: number
  readonly maxDefinition: number
  readonly maxRepetition: number
}

/** A chunk's content. Levels are empty where the shape has none. */
export interface ChunkContent {
  readonly entries: number
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  readonly values: DenseValues
}

/** Decodes the chunk that `meta` describes. Throws DecodeError for anything that does not fit. */
export function readChunk(bytes: Uint8Array, meta: ColumnMetaData, options: ChunkOptions): ChunkContent {
  const entries = Number(meta.num_values)
  if (!(entries >= 0 && entries <= maxEntries)) refuse(`has a column of ${entries} values in one row group`)
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
  const end = start + Number(meta.total_compressed_size)
  if (!(start >= 0 && start <= end && end <= bytes.length)) refuse('has a column that lies outside of the file')
  const pages = new PageReader(bytes.subarray(start, end), meta.codec, options)
  while (pages.entries < entries) pages.next(entries - pages.entries)
  return pages.content()
}

export interface ChunkOptions {
  readonly shape: LeafShape
  readonly decompress: Decompress | undefined
}

/** One kind of data page, whichever version. */
interface DataPage {
  readonly entries: number
  readonly encoding: string
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  readonly body: Uint8Array
}

class PageReader {
  entries = 0
  private readonly bytes: Uint8Array
  private readonly cursor: { view: DataView; offset: number }
  private readonly codec: string
  private readonly shape: LeafShape
  private readonly decompress: Decompress | undefined
  private dictionary: DenseValues | undefined = undefined
  private readonly definitions: Uint8Array[] = []
  private readonly repetitions: Uint8Array[] = []
  private readonly parts: DenseValues[] = []

  constructor(bytes: Uint8Array, codec: string, { shape, decompress }: ChunkOptions) {
    this.bytes = bytes
    this.cursor = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }
    this.codec = codec
    this.shape = shape
    this.decompress = decompress
  }

  /** Reads a page of at most `room` entries. */
  next(room: number): void {
    const header = parquetHeader(this.cursor)
    const { compressed_page_size: stored, uncompressed_page_size: length } = header
    const at = this.cursor.offset
    if (!(stored >= 0 && at + stored <= this.bytes.length)) refuse('has a page that lies outside of its column')
    if (!(length >= 0 && length <= maxPageBytes)) refuse('has a page of impossible size')
    this.cursor.offset = at + stored
    const raw = this.bytes.subarray(at, at + stored)
    if (header.dictionary_page_header !== undefined) {
      const count = header.dictionary_page_header.num_values
      this.dictionary = plainDense(this.inflate(raw, length), count, this.shape)
      return
    }
    const page = this.dataPage(header, raw, room)
    if (page === undefined) return
    let present = page.entries
    for (const level of page.definition) if (level !== this.shape.maxDefinition) present--
    this.entries += page.entries
    this.definitions.push(page.definition)
    this.repetitions.push(page.repetition)
    this.parts.push(this.pageValues(page, present))
  }

  content(): ChunkContent {
    return {
      entries: this.entries,
      definition: concatBytes(this.definitions),
      repetition: concatBytes(this.repetitions),
      values: joinDense(this.parts, this.shape),
    }
  }

  /** Undefined for a page that holds no data, such as an index. */
  private dataPage(header: PageHeader, raw: Uint8Array, room: number): DataPage | undefined {
    const { data_page_header: v1, data_page_header_v2: v2, uncompressed_page_size: length } = header
    const entries = (v1 ?? v2)?.num_values
    if (entries === undefined) return undefined
    if (!(entries >= 0 && entries <= room)) return refuse('has more values in its pages than in its footer')
    const { maxDefinition, maxRepetition } = this.shape
    if (v2 !== undefined) {
      const repetitionEnd = v2.repetition_levels_byte_length
      const bodyStart = repetitionEnd + v2.definition_levels_byte_length
      if (!(repetitionEnd >= 0 && bodyStart >= repetitionEnd && bodyStart <= raw.length)) {
        return refuse('has levels that lie outside of their page')
      }
      const body = raw.subarray(bodyStart)
      return {
        entries,
        encoding: v2.encoding,
        repetition: levels(raw.subarray(0, repetitionEnd), maxRepetition, entries),
        definition: levels(raw.subarray(repetitionEnd, bodyStart), maxDefinition, entries),
        body: v2.is_compressed === false ? body : this.inflate(body, length - bodyStart),
      }
    }
    if (v1 === undefined) return undefined
    if (maxDefinition > 0 && v1.definition_level_encoding !== 'RLE') return refuse('has levels in a form long given up')
    const page = this.inflate(raw, length)
    const repetition = maxRepetition > 0 ? withLength(page, 0) : page.subarray(0, 0)
    const afterRepetition = maxRepetition > 0 ? 4 + repetition.length : 0
    const definition = maxDefinition > 0 ? withLength(page, afterRepetition) : page.subarray(0, 0)
    const afterLevels = afterRepetition + (maxDefinition > 0 ? 4 + definition.length : 0)
    return {
      entries,
      encoding: v1.encoding,
      repetition: levels(repetition, maxRepetition, entries),
      definition: levels(definition, maxDefinition, entries),
      body: page.subarray(afterLevels),
    }
  }

  private pageValues({ encoding, body }: DataPage, present: number): DenseValues {
    if (encoding === 'PLAIN') return plainDense(body, present, this.shape)
    if (encoding === 'RLE' && this.shape.isBoolean) {
      const values = new Uint8Array(present)
      readRuns(withLength(body, 0), 1, values)
      return { count: present, values, offsets: undefined }
    }
    if (encoding !== 'RLE_DICTIONARY' && encoding !== 'PLAIN_DICTIONARY') {
      return refuse(`has a page of the unsupported encoding ${encoding}`)
    }
    if (this.dictionary === undefined) return refuse('has a page that lacks its dictionary')
    const indices = new Uint32Array(present)
    if (present > 0) readRuns(body.subarray(1), body[0] ?? 0, indices)
    return gather(this.dictionary, indices, this.shape)
  }

  private inflate(raw: Uint8Array, length: number): Uint8Array {
    // A page without values may still have a frame.
    if (length === 0) return raw.subarray(0, 0)
    if (length < 0) return refuse('has a page of impossible size')
    let page = raw
    if (this.codec === 'ZSTD') {
      if (this.decompress === undefined) return refuse('is compressed with Zstandard, which is not at hand')
      page = this.decompress(raw, length)
    } else if (this.codec === 'SNAPPY') {
      page = new Uint8Array(length)
      snappyUncompress(raw, page)
    } else if (this.codec !== 'UNCOMPRESSED') return refuse(`is compressed with ${this.codec}, which is not supported`)
    if (page.length !== length) return refuse('has a page of another size than its header says')
    return page
  }
}

/** The bytes behind a 4-byte length. */
function withLength(page: Uint8Array, at: number): Uint8Array {
  if (at + 4 > page.length) return refuse('has a page that ends too early')
  const length = new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(at, true)
  if (at + 4 + length > page.length) return refuse('has levels that lie outside of their page')
  return page.subarray(at + 4, at + 4 + length)
}

function levels(runs: Uint8Array, max: number, entries: number): Uint8Array {
  if (max === 0) return new Uint8Array(0)
  const out = new Uint8Array(entries)
  readRuns(runs, 32 - Math.clz32(max), out)
  for (const level of out) if (level > max) refuse('has a level that its schema does not have')
  return out
}

function refuse(reason: string): never {
  throw new DecodeError(what, reason)
}
