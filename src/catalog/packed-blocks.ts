// What a chain keeps of each of its blocks: 140 bytes in one buffer, and the way back from a hash to its number.
// Blocks are only ever added. Slices are in the rows of the blocks that brought them; objects are made on demand.

import { hashPattern } from '../ids/identifiers.ts'
import { assert } from '../lib/assert.ts'
import { SlotTable } from '../lib/collections.ts'
import { DecodeError } from '../model/errors.ts'
import type { Hash, Instant, MetadataEvent } from '../model/events.ts'
import { instantFromMs, instantMs } from '../model/instant.ts'

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
  readonly checkpoint: Hash | undefined
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
export interface NewBlock extends Pick<ChainBlock, 'hash' | 'systemTime' | 'kind' | 'log' | 'next' | 'checkpoint'> {
  readonly slice: Omit<SliceRef, 'sequence'> | undefined
}

// Offsets of the parts of a row. Hashes are bare digests; numbers are little-endian.
const checkpointAt = 32
const sliceAt = 64
const timeMsAt = 96
const nextAt = 104
const rowsAt = 112
const sliceBytesAt = 120
const sliceCountAt = 128
const dataCountAt = 132
const logAt = 136
const kindAt = 138
const flagsAt = 139
const rowBytes = 140

const hasCheckpoint = 1
const hasSlice = 2
const digestBytes = 32
/** `2026-03-01T00:00:00.001Z`: longer ones have finer digits. */
const longestInMs = 24
const hashPrefix = 'f1620'
const firstRows = 4
/** A chain that grows has at most a fifth of its buffer unused. */
const growth = 1.25

const kinds: readonly MetadataEvent['kind'][] = [
  'AddData',
  'Seed',
  'SetDataSchema',
  'SetVocab',
  'SetInfo',
  'SetLicense',
  'SetAttachments',
  'AddPushSource',
  'ExecuteTransform',
  'DisablePushSource',
  'SetPollingSource',
  'SetTransform',
  'DisablePollingSource',
]

export class PackedBlocks {
  #rows = Buffer.alloc(firstRows * rowBytes)
  #length = 0
  /** The logs that the chain was read from, in order. */
  readonly #logs: string[] = []
  /** Times that milliseconds do not give back: those of chains that others have written. */
  readonly #fineTimes = new Map<number, Instant>()
  readonly #byHash = new SlotTable((sequence) => this.#rows.readUInt32LE(sequence * rowBytes))

  get length(): number {
    return this.#length
  }

  /** Memory taken. */
  get bytes(): number {
    return this.#rows.length + this.#byHash.bytes + this.#fineTimes.size * 100
  }

  get sliceCount(): number {
    return this.#length === 0 ? 0 : this.#countAt(this.#length - 1, sliceCountAt)
  }

  /** How many AddData blocks there are. */
  get dataCount(): number {
    return this.#length === 0 ? 0 : this.#countAt(this.#length - 1, dataCountAt)
  }

  /** Makes room for `length` blocks at once. */
  reserve(length: number): void {
    if (length * rowBytes <= this.#rows.length) return
    const grown = Buffer.alloc(length * rowBytes)
    this.#rows.copy(grown)
    this.#rows = grown
  }

  /** Adds a block. Throws DecodeError, and then has added nothing. */
  add(block: NewBlock): void {
    const { slice } = block
    const rowsBefore = this.rowsAt(this.#length - 1)
    if (slice !== undefined && (slice.start !== rowsBefore || slice.end < slice.start)) {
      throw new DecodeError('block', `its offsets ${slice.start} to ${slice.end} do not follow ${rowsBefore} rows`)
    }
    const [sliceCount, dataCount] = [this.sliceCount, this.dataCount]
    if ((this.#length + 1) * rowBytes > this.#rows.length) this.reserve(Math.ceil(this.#length * growth) + 1)
    const at = this.#length * rowBytes
    const rows = this.#rows
    writeDigest(rows, at, block.hash)
    writeDigest(rows, at + checkpointAt, block.checkpoint)
    writeDigest(rows, at + sliceAt, slice?.hash)
    rows.writeDoubleLE(this.#timeMs(block.systemTime), at + timeMsAt)
    rows.writeDoubleLE(block.next, at + nextAt)
    rows.writeDoubleLE(slice === undefined ? rowsBefore : slice.end + 1, at + rowsAt)
    rows.writeDoubleLE(slice?.sizeBytes ?? 0, at + sliceBytesAt)
    rows.writeUInt32LE(sliceCount + (slice === undefined ? 0 : 1), at + sliceCountAt)
    rows.writeUInt32LE(dataCount + (block.kind === 'AddData' ? 1 : 0), at + dataCountAt)
    rows.writeUInt16LE(this.#logNumber(block.log), at + logAt)
    rows.writeUInt8(kinds.indexOf(block.kind), at + kindAt)
    const flags = (block.checkpoint === undefined ? 0 : hasCheckpoint) | (slice === undefined ? 0 : hasSlice)
    rows.writeUInt8(flags, at + flagsAt)
    this.#byHash.add(this.#length++)
  }

  block(sequence: number): ChainBlock {
    assert(sequence >= 0 && sequence < this.#length, 'the block is in the chain')
    const at = sequence * rowBytes
    const rows = this.#rows
    return {
      hash: this.#hashAt(at),
      sequence,
      systemTime: this.#fineTimes.get(sequence) ?? instantFromMs(this.timeMsAt(sequence)),
      kind: kinds[rows.readUInt8(at + kindAt)] ?? 'AddData',
      log: this.#logs[rows.readUInt16LE(at + logAt) - 1],
      next: this.nextAt(sequence),
      checkpoint: (rows.readUInt8(at + flagsAt) & hasCheckpoint) === 0 ? undefined : this.#hashAt(at + checkpointAt),
      sliceCount: this.#countAt(sequence, sliceCountAt),
      rows: this.rowsAt(sequence),
    }
  }

  /** Slice `number`, below `sliceCount`. */
  slice(number: number): SliceRef {
    const sequence = this.#reaching(number + 1, sliceCountAt)
    const at = sequence * rowBytes
    return {
      hash: this.#hashAt(at + sliceAt),
      start: this.rowsAt(sequence - 1),
      end: this.rowsAt(sequence) - 1,
      sizeBytes: this.#rows.readDoubleLE(at + sliceBytesAt),
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
    return this.#byHash.find(digest.readUInt32LE(0), (sequence) => this.#isAt(digest, sequence * rowBytes))
  }

  /** True when a block names this object. Looks through all of them. */
  names(kind: 'slice' | 'checkpoint', hash: Hash): boolean {
    const digest = digestOf(hash)
    if (digest === undefined) return false
    const [within, flag] = kind === 'slice' ? [sliceAt, hasSlice] : [checkpointAt, hasCheckpoint]
    for (let at = 0; at < this.#length * rowBytes; at += rowBytes) {
      if (this.#isAt(digest, at + within) && (this.#rows.readUInt8(at + flagsAt) & flag) !== 0) return true
    }
    return false
  }

  /** Rows up to and including block `sequence`; 0 before the first. */
  rowsAt(sequence: number): number {
    return sequence < 0 ? 0 : this.#rows.readDoubleLE(sequence * rowBytes + rowsAt)
  }

  nextAt(sequence: number): number {
    return this.#rows.readDoubleLE(sequence * rowBytes + nextAt)
  }

  timeMsAt(sequence: number): number {
    return this.#rows.readDoubleLE(sequence * rowBytes + timeMsAt)
  }

  /** First sequence of `[start, end)` from which on `holds` is true, by bisection; `end` when there is none. */
  firstIndex(holds: (sequence: number) => boolean, start = 0, end = this.#length): number {
    let [low, high] = [start, end]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (holds(middle)) high = middle
      else low = middle + 1
    }
    return low
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
    return this.#rows.readUInt32LE(sequence * rowBytes + place)
  }

  #isAt(digest: Buffer, at: number): boolean {
    return this.#rows.compare(digest, 0, digestBytes, at, at + digestBytes) === 0
  }

  #hashAt(at: number): Hash {
    return `${hashPrefix}${this.#rows.toString('hex', at, at + digestBytes)}`
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

/** The digest of a hash; undefined for a text that is none in its normal form. */
function digestOf(hash: Hash): Buffer | undefined {
  return hashPattern.test(hash) ? Buffer.from(hash.slice(hashPrefix.length), 'hex') : undefined
}

/** Writes the digest of a hash, or nothing where there is none. Throws DecodeError for no sha3-256 multihash. */
function writeDigest(rows: Buffer, at: number, hash: Hash | undefined): void {
  if (hash === undefined) return
  const hex = hash.startsWith(hashPrefix) ? hash.slice(hashPrefix.length) : ''
  if (hex.length === 2 * digestBytes && rows.write(hex, at, 'hex') === digestBytes) return
  throw new DecodeError('block', `names an object by ${hash}, which is no sha3-256 multihash`)
}
