// The logical hash of rows: what they say, whatever file holds them. Streaming, straight from column buffers.
// Source: arrow-digest v0 with SHA3-256 (https://github.com/sergiimk/arrow-digest), multihash code 0x300016.

import { type Hash, arrowDigestText } from '../../base/ids/identifiers.ts'
import { createSha3256, type IncrementalHash } from '../../base/ids/native-crypto.ts'
import { assert, must } from '../../base/assert.ts'
import { copyRange, freeBytes, grown, utf8 } from '../../base/bytes.ts'
import { type Column, type DataType, type Field, type RecordBatch, innerType, timeUnits } from '../../model/schema.ts'
import { bitAt, copyInOrder, type ViewedBytes, viewed } from './buffers.ts'
import { columnLayout, fixedWidth } from './columns.ts'

/** Takes batches in row order; where one ends and the next begins makes no difference. */
export interface LogicalHash {
  /** Columns have the types of the fields, in their order. */
  update(batch: RecordBatch): void
  /** `f9680c00120…`; ends the hash. */
  digest(): Hash
}

/** A logical hash over rows of `fields`, whose types a column can hold (lists of lists included). */
export function createLogicalHash(fields: readonly Field[]): LogicalHash {
  const leaves = fields.map((field) => new ColumnHash(field, fields.length))
  return {
    update: (batch) => {
      assert(batch.columns.length === leaves.length, 'a batch has a column for each field')
      for (const [i, leaf] of leaves.entries()) leaf.update(must(batch.columns[i], 'a column'))
    },
    digest: () => {
      const digests = leaves.map((leaf) => leaf.digest())
      return logicalHashOf(fields, digests)
    },
  }
}

/** The hash of one column of rows: its type first, then its values row by row. */
export class ColumnHash {
  readonly #type: DataType
  readonly #sink: HashSink

  /** One of so many that are hashed at the same time. */
  constructor(field: Field, columns: number) {
    this.#type = innerType(field.type)
    this.#sink = new HashSink(Math.floor(scratchBytes / columns))
    writeType(this.#sink, this.#type)
  }

  /** Takes the next rows. */
  update(column: Column): void {
    assert(column.type.kind === this.#type.kind, 'columns have the types of the fields')
    writeRows(this.#sink, column, 0, column.rows)
  }

  /** Ends the hash. */
  digest(): Uint8Array {
    return this.#sink.digest()
  }
}

/** The logical hash of rows of `fields`, of whose columns these are the hashes. */
export function logicalHashOf(fields: readonly Field[], digests: readonly Uint8Array[]): Hash {
  const root = new HashSink()
  for (const field of fields) {
    root.text(viewed(utf8(field.name)))
    root.long(0)
  }
  for (const digest of digests) root.bytes(digest)
  return arrowDigestText(root.digest())
}

const smallestScratchBytes = 512
const largestScratchBytes = 262_144
/** Of a column among thousands; it holds a value that is copied. */
const leastScratchBytes = 8192
/** Scratch of all columns of a hash. */
const scratchBytes = 16 * 1024 * 1024
const zeroBytes = new Uint8Array(64 * 1024)
// Longer values go to the hash straight away.
const longestCopyBytes = 4096

/** A hash behind a scratch buffer, so that short values do not cost a call each. Integers are little-endian. */
class HashSink {
  private readonly hash: IncrementalHash = createSha3256()
  private scratch = viewed(new Uint8Array(smallestScratchBytes))
  private used = 0
  private readonly mostBytes: number
  /** Zeros that come after what is in the scratch buffer. */
  private zerosAfter = 0

  /** Of about so many bytes of scratch at most. */
  constructor(mostBytes = largestScratchBytes) {
    this.mostBytes = Math.min(largestScratchBytes, Math.max(leastScratchBytes, mostBytes))
  }

  byte(value: number): void {
    this.need(1)
    this.scratch.bytes[this.used++] = value
  }

  /** So many bytes of zero: hashed when others come, all at once, since there may be thousands of columns of nothing else. */
  zeros(count: number): void {
    this.zerosAfter += count
  }

  short(value: number): void {
    this.byte(value & 255)
    this.byte(value >> 8)
  }

  /** A u64 that is a safe integer. */
  long(value: number): void {
    this.need(8)
    this.scratch.view.setUint32(this.used, value >>> 0, true)
    this.scratch.view.setUint32(this.used + 4, value / 2 ** 32, true)
    this.used += 8
  }

  bytes(source: Uint8Array, start = 0, end = source.length): void {
    const length = end - start
    if (length > longestCopyBytes) {
      this.flush()
      this.hash.update(source.subarray(start, end))
      return
    }
    this.need(length)
    copyRange(this.scratch.bytes, this.used, source, start, end)
    this.used += length
  }

  /** Length and bytes of the range. */
  text(source: ViewedBytes, start = 0, end = source.bytes.length): void {
    const length = end - start
    if (length > longestCopyBytes) {
      this.long(length)
      this.bytes(source.bytes, start, end)
      return
    }
    this.need(8 + length)
    const { scratch, used } = this
    scratch.view.setUint32(used, length, true)
    scratch.view.setUint32(used + 4, 0, true)
    copyInOrder(scratch, used + 8, source, start, end)
    this.used = used + 8 + length
  }

  digest(): Uint8Array {
    this.flush()
    freeBytes(this.scratch.bytes)
    return this.hash.digest()
  }

  /** Room for `length` (at most 8 + 4096) more bytes. */
  private need(length: number): void {
    if (this.zerosAfter > 0) this.flush()
    const { bytes } = this.scratch
    if (this.used + length <= bytes.length) return
    if (bytes.length < this.mostBytes) {
      const longer = Math.min(this.mostBytes, Math.max(bytes.length * 8, 16_384))
      this.scratch = viewed(grown(bytes.subarray(0, this.used), longer))
      freeBytes(bytes)
    } else this.flush()
  }

  private flush(): void {
    if (this.used > 0) this.hash.update(this.scratch.bytes.subarray(0, this.used))
    this.used = 0
    for (; this.zerosAfter > 0; this.zerosAfter -= Math.min(this.zerosAfter, zeroBytes.length)) {
      this.hash.update(zeroBytes.subarray(0, this.zerosAfter))
    }
  }
}

function writeType(sink: HashSink, type: DataType): void {
  assert(columnLayout(type) !== undefined, `a column type, not ${type.kind}`)
  switch (type.kind) {
    case 'Float32':
    case 'Float64':
      sink.short(2)
      sink.long(type.kind === 'Float32' ? 32 : 64)
      return
    case 'Binary':
      sink.short(3)
      return
    case 'String':
      sink.short(4)
      return
    case 'Bool':
      sink.short(5)
      return
    case 'Decimal':
      sink.short(6)
      sink.long(128)
      sink.long(type.precision)
      sink.long(type.scale)
      return
    case 'Date':
      sink.short(7)
      sink.long(32)
      sink.short(0)
      return
    case 'Time':
      sink.short(8)
      sink.long(8 * must(fixedWidth(type), 'a width'))
      sink.short(timeUnits.indexOf(type.unit ?? 'Millisecond'))
      return
    case 'Timestamp':
      sink.short(9)
      sink.short(timeUnits.indexOf(type.unit ?? 'Millisecond'))
      sink.text(viewed(utf8(type.timezone ?? 'UTC')))
      return
    case 'List':
      sink.short(11)
      writeType(sink, innerType(type.itemType))
      return
    default:
      sink.short(1)
      sink.byte(type.kind.startsWith('U') ? 0 : 1)
      sink.long(8 * must(fixedWidth(type), 'a width'))
  }
}

/** Rows [start, end) of a column: a zero byte for a null, else the value. */
function writeRows(sink: HashSink, column: Column, start: number, end: number): void {
  const { validity, values, offsets, child } = column
  if (column.nullCount === column.rows && validity !== undefined) {
    sink.zeros(end - start)
    return
  }
  const width = fixedWidth(column.type)
  if (width !== undefined) {
    if (validity === undefined) sink.bytes(values, start * width, end * width)
    else writeOptionalFixed(sink, { validity, values, width }, start, end)
    return
  }
  const texts = viewed(values)
  for (let row = start; row < end; row++) {
    if (validity !== undefined && !bitAt(validity, row)) sink.byte(0)
    else if (offsets === undefined) sink.byte(bitAt(values, row) ? 2 : 1)
    else if (child === undefined) sink.text(texts, offsets[row] ?? 0, offsets[row + 1] ?? 0)
    else {
      const first = offsets[row] ?? 0
      const last = offsets[row + 1] ?? 0
      sink.long(last - first)
      writeRows(sink, child, first, last)
    }
  }
}

interface OptionalFixed {
  readonly validity: Uint8Array
  readonly values: Uint8Array
  readonly width: number
}

function writeOptionalFixed(sink: HashSink, column: OptionalFixed, start: number, end: number): void {
  const { validity, values, width } = column
  let row = start
  while (row < end) {
    while (row < end && !bitAt(validity, row)) {
      sink.byte(0)
      row++
    }
    const first = row
    while (row < end && bitAt(validity, row)) row++
    if (row > first) sink.bytes(values, first * width, row * width)
  }
}
