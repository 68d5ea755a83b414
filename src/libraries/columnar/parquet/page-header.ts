// The header before each page of a column chunk, and the numbers of types and encodings.
// Source: Apache Parquet, parquet.thrift, PageHeader.

import { damaged } from './refusals.ts'
import { ThriftReader } from './thrift-reader.ts'

/** Physical types by their numbers in parquet.thrift. */
export const physicalTypes = {
  boolean: 0,
  int32: 1,
  int64: 2,
  int96: 3,
  float: 4,
  double: 5,
  byteArray: 6,
  fixed: 7,
} as const

/** Encodings by their numbers in parquet.thrift. */
export const encodings = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  bitPacked: 4,
  deltaBinaryPacked: 5,
  deltaLengthByteArray: 6,
  deltaByteArray: 7,
  rleDictionary: 8,
  byteStreamSplit: 9,
} as const

/** Types of pages by their numbers in parquet.thrift. */
export const pageTypes = { data: 0, dictionary: 2, dataV2: 3 } as const
const kinds: readonly (PageHeader['kind'] | undefined)[] = ['data', undefined, 'dictionary', 'dataV2']

/**
 * A page's header. `kind` `other` is a page without data, such as an index. Level lengths in bytes: of version 2, else 0;
 * `levelEncodings`: of version 1, definition and repetition.
 */
export interface PageHeader {
  readonly kind: 'data' | 'dataV2' | 'dictionary' | 'other'
  /** Bytes of the header itself. */
  readonly headerBytes: number
  readonly storedBytes: number
  readonly inflatedBytes: number
  /** CRC-32 of the page as stored, where the file has it. */
  readonly crc: number | undefined
  readonly entries: number
  readonly encoding: number
  readonly levelEncodings: readonly [number, number]
  readonly definitionBytes: number
  readonly repetitionBytes: number
  readonly isCompressed: boolean
}

/** Reads the header at `at`. Throws DecodeError for what is none or ends early. */
export function readPageHeader(bytes: Uint8Array, at: number): PageHeader {
  const thrift = new ThriftReader(bytes, at)
  let [type, inflatedBytes, storedBytes] = [-1, -1, -1]
  let crc: number | undefined
  let body: PageBody | undefined
  thrift.struct((id) => {
    if (id === 1) type = thrift.integer()
    else if (id === 2) inflatedBytes = thrift.integer()
    else if (id === 3) storedBytes = thrift.integer()
    else if (id === 4) crc = thrift.integer() >>> 0
    else if (id === 5 && type === pageTypes.data) body = dataHeader(thrift)
    else if (id === 7 && type === pageTypes.dictionary) body = dictionaryHeader(thrift)
    else if (id === 8 && type === pageTypes.dataV2) body = dataV2Header(thrift)
    else return false
    return true
  })
  if (!(storedBytes >= 0 && inflatedBytes >= 0)) damaged('has a page of impossible size')
  const kind = kinds[type] ?? 'other'
  if (kind !== 'other' && body === undefined) damaged('has a page whose header does not say what it holds')
  return { kind, headerBytes: thrift.at - at, storedBytes, inflatedBytes, crc, ...(body ?? noBody) }
}

type PageBody = Pick<
  PageHeader,
  'entries' | 'encoding' | 'levelEncodings' | 'definitionBytes' | 'repetitionBytes' | 'isCompressed'
>

const noBody: PageBody = {
  entries: 0,
  encoding: encodings.plain,
  levelEncodings: [encodings.rle, encodings.rle],
  definitionBytes: 0,
  repetitionBytes: 0,
  isCompressed: true,
}

function dataHeader(thrift: ThriftReader): PageBody {
  const [entries = -1, encoding = -1, definition = -1, repetition = -1] = thrift.numbers([1, 2, 3, 4])
  return { ...noBody, entries, encoding, levelEncodings: [definition, repetition] }
}

function dictionaryHeader(thrift: ThriftReader): PageBody {
  const [entries = -1, encoding = -1] = thrift.numbers([1, 2])
  return { ...noBody, entries, encoding }
}

function dataV2Header(thrift: ThriftReader): PageBody {
  const [entries = -1, encoding = -1, definitionBytes = -1, repetitionBytes = -1, compressed = 1] = thrift.numbers(
    [1, 4, 5, 6],
    [7],
  )
  return { ...noBody, entries, encoding, definitionBytes, repetitionBytes, isCompressed: compressed === 1 }
}
