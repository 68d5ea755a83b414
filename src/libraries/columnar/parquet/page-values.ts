// Which reader reads the values of a page: by the physical type of its column and the encoding of the page.
// Source: Apache Parquet, Encodings (the table of which types an encoding may have).

import {
  type ByteValues,
  bytesAsFixed,
  type BytesDictionary,
  bytesDictionary,
  DeltaBytes,
  DeltaLengthBytes,
  DictionaryBytes,
  fixedAsBytes,
  fixedBytesDictionary,
  PlainBytes,
  sameWidth,
} from './byte-values.ts'
import type { DataPage, DictionaryPage } from './chunk-pages.ts'
import {
  deltaFixed,
  DictionaryFixed,
  type FixedDictionary,
  fixedDictionary,
  type FixedValues,
  PlainBooleans,
  PlainFixed,
  runBooleans,
  SplitFixed,
} from './fixed-values.ts'
import { encodings, physicalTypes as physical } from './page-header.ts'
import { damaged, unsupported } from './refusals.ts'

/** Names of the physical types, by their numbers. */
export const physicalNames = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
]

/** Names of the encodings, by their numbers. */
export const encodingNames = [
  'PLAIN',
  'GROUP_VAR_INT',
  'PLAIN_DICTIONARY',
  'RLE',
  'BIT_PACKED',
  'DELTA_BINARY_PACKED',
  'DELTA_LENGTH_BYTE_ARRAY',
  'DELTA_BYTE_ARRAY',
  'RLE_DICTIONARY',
  'BYTE_STREAM_SPLIT',
]

/** Physical values. `width`: bytes of each as a reader writes it, 1 for booleans; 0 for byte arrays. */
export interface ValueShape {
  readonly physical: number
  readonly width: number
}

/** The readers of the pages of one chunk; they share its dictionary. */
export class ChunkValues {
  private readonly shape: ValueShape
  private fixedDictionary: FixedDictionary | undefined
  private bytesDictionary: BytesDictionary | undefined

  constructor(shape: ValueShape) {
    this.shape = shape
  }

  /** Takes the dictionary of the chunk. */
  setDictionary({ bytes, count }: DictionaryPage): void {
    const { physical: type, width } = this.shape
    if (type === physical.boolean) unsupported('has a dictionary of booleans')
    if (type === physical.byteArray) this.bytesDictionary = bytesDictionary(bytes, count)
    else this.fixedDictionary = fixedDictionary(bytes, count, width)
  }

  /** The values of a page of a type that is not BYTE_ARRAY. */
  fixed({ body, encoding }: DataPage): FixedValues {
    const { physical: type, width } = this.shape
    switch (encoding) {
      case encodings.plain:
        return type === physical.boolean ? new PlainBooleans(body) : new PlainFixed(body, width)
      case encodings.plainDictionary:
      case encodings.rleDictionary:
        return new DictionaryFixed(body, this.fixedDictionary ?? lacksDictionary(), width)
      case encodings.rle:
        return type === physical.boolean ? runBooleans(body) : this.refuse(encoding)
      case encodings.deltaBinaryPacked:
        return type === physical.int32 || type === physical.int64 ? deltaFixed(body, width) : this.refuse(encoding)
      case encodings.deltaByteArray:
        return type === physical.fixed ? bytesAsFixed(new DeltaBytes(body), sameWidth(width)) : this.refuse(encoding)
      case encodings.byteStreamSplit:
        return type === physical.boolean || type === physical.int96
          ? this.refuse(encoding)
          : new SplitFixed(body, width)
      default:
        return this.refuse(encoding)
    }
  }

  /** The values of a page of byte arrays, of one length or of any. */
  bytes(page: DataPage): ByteValues {
    const { body, encoding } = page
    const { physical: type, width } = this.shape
    if (type === physical.fixed) {
      const isIndexed = encoding === encodings.plainDictionary || encoding === encodings.rleDictionary
      if (!isIndexed) return fixedAsBytes(this.fixed(page), width)
      const { bytes, count } = this.fixedDictionary ?? lacksDictionary()
      this.bytesDictionary ??= fixedBytesDictionary(bytes, count, width)
      return new DictionaryBytes(body, this.bytesDictionary)
    }
    switch (encoding) {
      case encodings.plain:
        return new PlainBytes(body)
      case encodings.plainDictionary:
      case encodings.rleDictionary:
        return new DictionaryBytes(body, this.bytesDictionary ?? lacksDictionary())
      case encodings.deltaLengthByteArray:
        return new DeltaLengthBytes(body)
      case encodings.deltaByteArray:
        return new DeltaBytes(body)
      default:
        return this.refuse(encoding)
    }
  }

  private refuse(encoding: number): never {
    const name = encodingNames[encoding] ?? `number ${encoding}`
    return unsupported(
      `has a page of ${physicalNames[this.shape.physical]} values in the encoding ${name}, which is not read here`,
    )
  }
}

function lacksDictionary(): never {
  return damaged('has a page that lacks its dictionary')
}

/** Byte arrays as two's complements of 16 bytes, lowest first, from big-endian ones of any length. */
export function decimalsOf(values: ByteValues): FixedValues {
  return bytesAsFixed(values, (sink, out, at) => {
    for (let i = 0; i < sink.count; i++) {
      const start = sink.offsets[i] ?? 0
      copyBigEndian(sink.values, start, (sink.offsets[i + 1] ?? 0) - start, out, at + 16 * i)
    }
  })
}

/** Writes the big-endian two's complement of `length` bytes as one of 16 bytes, lowest first. */
export function copyBigEndian(from: Uint8Array, start: number, length: number, out: Uint8Array, at: number): void {
  if (length === 0) damaged('has a decimal of no bytes')
  const sign = (from[start] ?? 0) > 127 ? 255 : 0
  for (let b = 0; b < 16; b++) out[at + b] = b < length ? (from[start + length - 1 - b] ?? 0) : sign
  for (let b = 16; b < length; b++) {
    if (from[start + length - 1 - b] !== sign) damaged('has a decimal of more than 38 digits')
  }
  if (length > 16 && ((out[at + 15] ?? 0) > 127 ? 255 : 0) !== sign) damaged('has a decimal of more than 38 digits')
}
