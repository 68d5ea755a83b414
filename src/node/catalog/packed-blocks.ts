// What a chain keeps of each of its blocks: 107 bytes in buffers of 4,096, and the way back from a hash to its number; of
// blocks that were read one by one also the checkpoint, which the blocks of packs tell themselves when they are asked.
// Blocks are only ever added. Slices are in the rows of the blocks that brought them; objects are made on demand.

import { eventKinds as kinds, hashIn, type PackSummary } from '../../libraries/odf/chain/pack-summary.ts'
import { type Hash, hashPattern } from '../../libraries/base/ids/identifiers.ts'
import { assert } from '../../libraries/base/assert.ts'
import { firstIndex, SlotTable } from '../../libraries/base/collections.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { Instant, MetadataEvent } from '../../libraries/model/events.ts'
import { instantFromMs, instantMs } from '../../libraries/model/instant.ts'

/** One block as the catalog remembers it. */
export interface ChainBlock {
  readonly hash: Hash
  readonly sequence: number
  readonly systemTime: Instant
  readonly kind: MetadataEvent['kind']
  /** The log that this block or those before it were read from last; undefined before any. */
  readonly log: string | undefined
  /** Position in `log` after the last message this block and those before it consumed; -1 before any. */
  readonly next: number
  /** Slices, rows up to and including this block. */
  readonly sliceCount: number
  readonly rows: number
}

export interface SliceRef {
  readonly hash: Hash
  /** First and last offset. */
  readonly start: number
  readonly end: number
  readonly sizeBytes: number
  readonly sequence: number
}

/** What a block adds to those before it. */
export interface NewBlock extends Pick<ChainBlock, 'hash' | 'systemTime' | 'kind' | 'log' | 'next'> {
  readonly checkpoint: Hash | undefined
  readonly slice: Omit<SliceRef, 'sequence'> | undefined
}

// Offsets of the parts of a row. Hashes are bare digests; numbers are little-endian.
const sliceAt = 32
const timeMsAt = 64
const nextAt = 72
const rowsAt = 80
const sliceBytesAt = 88
const sliceCountAt = 96
const dataCountAt = 100
const logAt = 104
const kindAt = 106
const rowBytes = 107

const digestBytes = 32
/** `2026-03-01T00:00:00.001Z`: longer ones have finer digits. */
const longestInMs = 24
const hashPrefix = 'f1620'
/** Rows of one buffer, a power of two; the last one grows from few, and has at most a fifth unused. */
const chunkLog2 = 12
const firstRows = 4
const growth = 1.25
const noRow = Buffer.alloc(digestBytes)

export class PackedBlocks {
  /** Buffers of rows, and of the checkpoints of those rows: empty for the rows of packs. */
  readonly #chunks: Buffer[] = []
  readonly #checkpoints: Buffer[] = []
  #bytes = 0
  #length = 0
  /** The logs that the chain was read from, in order. */
  readonly #logs: string[] = []
  /** Times that milliseconds do not give back: those of chains that others have written. */
  readonly #fineTimes = new Map<number, Instant>()
  readonly #byHash = new SlotTable((sequence) => this.#chunk(sequence).readUInt32LE(rowAt(sequence)))

  get length(): number {
    return this.#length
  }

  /** Memory taken. */
  get bytes(): number {
    return this.#bytes + this.#byHash.bytes + this.#fineTimes.size * 100
  }

  get sliceCount(): number {
    return this.#length === 0 ? 0 : this.#countAt(this.#length - 1, sliceCountAt)
  }

  /** How many AddData blocks there are. */
  get dataCount(): number {
    return this.#length === 0 ? 0 : this.#countAt(this.#length - 1, dataCountAt)
  }

  /** Adds a block. Throws DecodeError, and then has added nothing. */
  add(block: NewBlock): void {
    const { slice, checkpoint } = block
    const rowsBefore = this.rowsAt(this.#length - 1)
    if (slice !== undefined && (slice.start !== rowsBefore || slice.end < slice.start)) {
      throw new DecodeError('block', `its offsets ${slice.start} to ${slice.end} do not follow ${rowsBefore} rows`)
    }
    const row = Buffer.alloc(digestBytes)
    writeDigest(row, 0, checkpoint)
    const [rows, at] = this.#newRow()
    writeDigest(rows, at, block.hash)
    writeDigest(rows, at + sliceAt, slice?.hash)
    rows.writeDoubleLE(this.#timeMs(block.systemTime), at + timeMsAt)
    this.#finishRow(rows, at, {
      next: block.next,
      rows: slice === undefined ? 0 : slice.end + 1 - slice.start,
      sliceBytes: slice?.sizeBytes ?? 0,
      kind: kinds.indexOf(block.kind),
      log: this.#logNumber(block.log),
    })
    if (checkpoint !== undefined) this.#keepCheckpoint(this.#length - 1, row)
  }

  /** Adds block `i` of a pack, which must be the next one; what it says of its log is carried where it says nothing. */
  addPacked({ block, logs }: PackSummary, i: number): void {
    const [rows, at] = this.#newRow()
    const before = this.#length - 1
    copyDigest(block.hash, i, rows, at)
    copyDigest(block.slice, i, rows, at + sliceAt)
    rows.writeDoubleLE(block.timeMs[i] ?? 0, at + timeMsAt)
    const log = block.log[i] ?? 0
    const carriedLog = before < 0 ? 0 : this.#chunk(before).readUInt16LE(rowAt(before) + logAt)
    const carriedNext = before < 0 ? -1 : this.nextAt(before)
    this.#finishRow(rows, at, {
      next: log === 0 ? carriedNext : (block.next[i] ?? -1),
      rows: block.rows[i] ?? 0,
      sliceBytes: block.sliceBytes[i] ?? 0,
      kind: block.kind[i] ?? 0,
      log: log === 0 ? carriedLog : this.#logNumber(logs[log - 1]),
    })
  }

  /** Room for the next row, and where it begins there. */
  #newRow(): [Buffer, number] {
    const at = rowAt(this.#length)
    const number = this.#length >>> chunkLog2
    const chunk = this.#chunks[number] ?? noRow
    if (at + rowBytes <= chunk.length) return [chunk, at]
    const inChunk = this.#length - (number << chunkLog2)
    const rows = Math.max(firstRows, Math.min(1 << chunkLog2, Math.ceil(inChunk * growth) + 1))
    const grown = Buffer.alloc(rows * rowBytes)
    if (inChunk > 0) chunk.copy(grown)
    this.#bytes += grown.length - (inChunk > 0 ? chunk.length : 0)
    this.#chunks[number] = grown
    return [grown, at]
  }

  #finishRow(
    rows: Buffer,
    at: number,
    row: Readonly<Record<'next' | 'rows' | 'sliceBytes' | 'kind' | 'log', number>>,
  ): void {
    const before = this.#length - 1
    const [slices, data] =
      before < 0 ? [0, 0] : [this.#countAt(before, sliceCountAt), this.#countAt(before, dataCountAt)]
    rows.writeDoubleLE(row.next, at + nextAt)
    rows.writeDoubleLE(this.rowsAt(before) + row.rows, at + rowsAt)
    rows.writeDoubleLE(row.sliceBytes, at + sliceBytesAt)
    rows.writeUInt32LE(slices + (row.rows > 0 ? 1 : 0), at + sliceCountAt)
    rows.writeUInt32LE(data + (row.kind === 0 ? 1 : 0), at + dataCountAt)
    rows.writeUInt16LE(row.log, at + logAt)
    rows.writeUInt8(row.kind, at + kindAt)
    this.#byHash.add(this.#length++)
  }

  #keepCheckpoint(sequence: number, digest: Buffer): void {
    const number = sequence >>> chunkLog2
    const at = (sequence & ((1 << chunkLog2) - 1)) * digestBytes
    let chunk = this.#checkpoints[number] ?? noRow
    if (at + digestBytes > chunk.length || chunk === noRow) {
      const grown = Buffer.alloc(Math.max((this.#chunks[number]?.length ?? 0) / rowBytes, 1) * digestBytes)
      if (chunk !== noRow) chunk.copy(grown)
      this.#bytes += grown.length - (chunk === noRow ? 0 : chunk.length)
      this.#checkpoints[number] = chunk = grown
    }
    digest.copy(chunk, at)
  }

  /** The checkpoint that holds as of block `sequence`; undefined when there is none, or when it is not kept. */
  checkpointAt(sequence: number): Hash | undefined {
    const chunk = this.#checkpoints[sequence >>> chunkLog2]
    const number = sequence & ((1 << chunkLog2) - 1)
    if (chunk === undefined || (number + 1) * digestBytes > chunk.length) return undefined
    return chunk.compare(noRow, 0, digestBytes, number * digestBytes, (number + 1) * digestBytes) === 0
      ? undefined
      : hashIn(chunk, number)
  }

  block(sequence: number): ChainBlock {
    assert(sequence >= 0 && sequence < this.#length, 'the block is in the chain')
    const at = rowAt(sequence)
    const rows = this.#chunk(sequence)
    return {
      hash: hashAt(rows, at),
      sequence,
      systemTime: this.#fineTimes.get(sequence) ?? instantFromMs(this.timeMsAt(sequence)),
      kind: kinds[rows.readUInt8(at + kindAt)] ?? 'AddData',
      log: this.#logs[rows.readUInt16LE(at + logAt) - 1],
      next: this.nextAt(sequence),
      sliceCount: this.#countAt(sequence, sliceCountAt),
      rows: this.rowsAt(sequence),
    }
  }

  /** Slice `number`, below `sliceCount`. */
  slice(number: number): SliceRef {
    const sequence = this.#reaching(number + 1, sliceCountAt)
    const [rows, at] = [this.#chunk(sequence), rowAt(sequence)]
    return {
      hash: hashAt(rows, at + sliceAt),
      start: this.rowsAt(sequence - 1),
      end: this.rowsAt(sequence) - 1,
      sizeBytes: rows.readDoubleLE(at + sliceBytesAt),
      sequence,
    }
  }

  /** Number of the slice with the row at `offset`, which must be there. */
  sliceWith(offset: number): number {
    const sequence = this.firstIndex((at) => this.rowsAt(at) > offset)
    assert(sequence < this.#length, 'the row is in the chain')
    return this.#countAt(sequence, sliceCountAt) - 1
  }

  /** Sequence of AddData block `number`, below `dataCount`. */
  dataBlock(number: number): number {
    return this.#reaching(number + 1, dataCountAt)
  }

  /** Sequence of the block with this hash, or undefined. */
  sequenceOf(hash: Hash): number | undefined {
    const digest = digestOf(hash)
    if (digest === undefined) return undefined
    const isIt = (sequence: number): boolean => isAt(this.#chunk(sequence), digest, rowAt(sequence))
    return this.#byHash.find(digest.readUInt32LE(0), isIt)
  }

  /** True when a block names this slice, or one whose checkpoint is kept this checkpoint. Looks through all of them. */
  names(kind: 'slice' | 'checkpoint', hash: Hash): boolean {
    const digest = digestOf(hash)
    if (digest === undefined || digest.equals(noRow)) return false
    const [chunks, from, step] =
      kind === 'slice' ? [this.#chunks, sliceAt, rowBytes] : [this.#checkpoints, 0, digestBytes]
    const begin = digest.readUInt32LE(0)
    return chunks.some((chunk) => {
      for (let at = from; at < chunk.length; at += step) {
        if (chunk.readUInt32LE(at) === begin && isAt(chunk, digest, at)) return true
      }
      return false
    })
  }

  /** Rows up to and including block `sequence`; 0 before the first. */
  rowsAt(sequence: number): number {
    return sequence < 0 ? 0 : this.#chunk(sequence).readDoubleLE(rowAt(sequence) + rowsAt)
  }

  nextAt(sequence: number): number {
    return this.#chunk(sequence).readDoubleLE(rowAt(sequence) + nextAt)
  }

  timeMsAt(sequence: number): number {
    return this.#chunk(sequence).readDoubleLE(rowAt(sequence) + timeMsAt)
  }

  /** First sequence of `[start, end)` from which on `holds` is true, by bisection; `end` when there is none. */
  firstIndex(holds: (sequence: number) => boolean, start = 0, end = this.#length): number {
    return firstIndex(start, end, holds)
  }

  /** The first block whose count at `place` is `count`. */
  #reaching(count: number, place: number): number {
    assert(count > 0 && count <= this.#countAt(this.#length - 1, place), 'there are so many in the chain')
    // Most chains begin with a few blocks without data and have only blocks with data then.
    const guess = this.#length - 1 - (this.#countAt(this.#length - 1, place) - count)
    if (this.#countAt(guess, place) === count && (guess === 0 || this.#countAt(guess - 1, place) < count)) return guess
    return this.firstIndex((sequence) => this.#countAt(sequence, place) >= count)
  }

  #countAt(sequence: number, place: number): number {
    return this.#chunk(sequence).readUInt32LE(rowAt(sequence) + place)
  }

  #chunk(sequence: number): Buffer {
    return this.#chunks[sequence >>> chunkLog2] ?? noRow
  }

  #timeMs(time: Instant): number {
    if (time.length > longestInMs) this.#fineTimes.set(this.#length, time)
    return instantMs(time)
  }

  /** Number of a log, from 1; 0 for none. */
  #logNumber(log: string | undefined): number {
    if (log === undefined) return 0
    if (this.#logs.at(-1) !== log) this.#logs.push(log)
    return this.#logs.length
  }
}

/** Where the row of a block begins in its buffer. */
function rowAt(sequence: number): number {
  return (sequence & ((1 << chunkLog2) - 1)) * rowBytes
}

/** Copies the i-th digest of a column; a loop, for views and native calls cost more than 32 bytes do. */
function copyDigest(column: Uint8Array, i: number, rows: Buffer, at: number): void {
  for (let byte = 0; byte < digestBytes; byte++) rows[at + byte] = column[i * digestBytes + byte] ?? 0
}

function isAt(rows: Buffer, digest: Buffer, at: number): boolean {
  return rows.compare(digest, 0, digestBytes, at, at + digestBytes) === 0
}

function hashAt(rows: Buffer, at: number): Hash {
  return `${hashPrefix}${rows.toString('hex', at, at + digestBytes)}`
}

/** The digest of a hash; undefined for a text that is none in its normal form. */
function digestOf(hash: Hash): Buffer | undefined {
  return hashPattern.test(hash) ? Buffer.from(hash.slice(hashPrefix.length), 'hex') : undefined
}

/** Writes the digest of a hash, or nothing where there is none. Throws DecodeError for no sha3-256 multihash. */
function writeDigest(rows: Buffer, at: number, hash: Hash | undefined): void {
  if (hash === undefined) return
  const hex = hash.startsWith(hashPrefix) ? hash.slice(hashPrefix.length) : ''
  if (hex.length === 2 * digestBytes && rows.write(hex, at, 'hex') === digestBytes) return
  throw new DecodeError('block', `names an object by ${hash}, which is not a sha3-256 multihash`)
}
