// Undoes LZ4, of untrusted bytes: one block, and a frame of blocks with its checksums (XXH32 with seed 0). Nothing is
// allocated but the room that the caller names.
// Sources: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md and, version 1.6,
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

import { nextTurn } from './clock.ts'

const minMatchBytes = 4
/** Bytes that are written before others have their turn: some milliseconds. */
const turnBytes = 2 * 1024 * 1024

/**
 * Writes what the block `source` holds into `out` from `at` on, and returns where it ends; -1 where the block is damaged or
 * holds more than fits. Matches may reach back to the start of `out`.
 */
export function readLz4Block(source: Uint8Array, out: Uint8Array, at: number): number {
  const block = new Lz4Block(source, out, at)
  block.read(out.length)
  return block.end
}

/** As `readLz4Block`, for blocks of any size: lets others have their turn. */
export async function readLongLz4Block(source: Uint8Array, out: Uint8Array, at: number): Promise<number> {
  const block = new Lz4Block(source, out, at)
  while (!block.read(turnBytes)) await nextTurn()
  return block.end
}

/** A block that is read in steps. */
class Lz4Block {
  /** Where the last step ended in `out`; -1 where the block is damaged. */
  end: number
  private readonly source: Uint8Array
  private readonly out: Uint8Array
  private from = 0

  constructor(source: Uint8Array, out: Uint8Array, at: number) {
    this.source = source
    this.out = out
    this.end = at
  }

  /** Goes on until the block ends, is found to be damaged, or about `most` bytes were written; true unless there is more. */
  read(most: number): boolean {
    const { source, out } = this
    const end = source.length
    const stop = this.end + most
    let { from, end: to } = this
    while (to <= stop) {
      if (from >= end) return this.damaged()
      const token = source[from++] ?? 0
      let literals = token >> 4
      if (literals === 15) {
        for (let byte = 255; byte === 255; literals += byte) {
          if (from >= end) return this.damaged()
          byte = source[from++] ?? 0
        }
      }
      if (literals > end - from || literals > out.length - to) return this.damaged()
      if (literals > 32) out.set(source.subarray(from, from + literals), to)
      else for (let i = 0; i < literals; i++) out[to + i] = source[from + i] ?? 0
      from += literals
      to += literals
      // The last sequence has no match.
      if (from === end) {
        this.end = to
        return true
      }
      if (end - from < 2) return this.damaged()
      const distance = (source[from] ?? 0) | ((source[from + 1] ?? 0) << 8)
      from += 2
      let match = (token & 15) + minMatchBytes
      if ((token & 15) === 15) {
        for (let byte = 255; byte === 255; match += byte) {
          if (from >= end) return this.damaged()
          byte = source[from++] ?? 0
        }
      }
      if (distance === 0 || distance > to || match > out.length - to) return this.damaged()
      copyMatch(out, to, distance, match)
      to += match
    }
    this.from = from
    this.end = to
    return false
  }

  private damaged(): true {
    this.end = -1
    return true
  }
}

/** Copies `length` bytes from `distance` bytes before; where they overlap what was copied is copied again. */
function copyMatch(out: Uint8Array, to: number, distance: number, length: number): void {
  const from = to - distance
  if (length <= 32) {
    for (let i = 0; i < length; i++) out[to + i] = out[from + i] ?? 0
    return
  }
  // Each round doubles what can be copied at once.
  for (let done = 0; done < length;) {
    const step = Math.min(length - done, distance + done)
    out.copyWithin(to + done, from, from + step)
    done += step
  }
}

const frameMagic = 0x184d2204
const endMark = 0
const storedBit = 0x80000000

/** What the head of a frame says of the rest. */
interface FrameHead {
  readonly end: number
  readonly areLinked: boolean
  readonly hasBlockChecksums: boolean
  readonly hasContentChecksum: boolean
  readonly mostBlockBytes: number
}

/**
 * The `length` bytes of one frame, which must be all of `source`; a text where it is not sound, which says why, to follow
 * "it". Lets others have their turn.
 */
export async function readLz4Frame(source: Uint8Array, length: number): Promise<Uint8Array | string> {
  const head = readHead(source, length)
  if (typeof head === 'string') return head
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  const out = new Uint8Array(length)
  const content = head.hasContentChecksum ? new Xxhash32() : undefined
  let [at, used, turnAt] = [head.end, 0, turnBytes]
  for (;;) {
    if (at + 4 > source.length) return cutOff
    const word = view.getUint32(at, true)
    at += 4
    if (word === endMark) break
    const stored = word & ~storedBit
    const end = at + stored + (head.hasBlockChecksums ? 4 : 0)
    if (stored > head.mostBlockBytes || end > source.length) return cutOff
    const block = source.subarray(at, at + stored)
    if (head.hasBlockChecksums && view.getUint32(at + stored, true) !== xxhash32(block)) return badChecksum
    at = end
    const next = word >>> 31 === 1 ? copyStored(block, out, used) : readFrameBlock(block, out, used, head)
    if (next < 0) return 'holds an LZ4 block that is damaged'
    content?.update(out.subarray(used, next))
    used = next
    if (used < turnAt) continue
    turnAt = used + turnBytes
    await nextTurn()
  }
  if (used !== length) return `holds ${used} bytes where ${length} were announced`
  if (content !== undefined) {
    if (at + 4 > source.length) return cutOff
    if (view.getUint32(at, true) !== content.digest()) return badChecksum
    at += 4
  }
  return at === source.length ? out : 'goes on after the end of its LZ4 frame'
}

const cutOff = 'ends inside of its LZ4 frame'
const badChecksum = 'does not have the checksum of its LZ4 frame'

/** A block of a frame: at most `mostBlockBytes`, and where blocks stand alone no match reaches before it. */
function readFrameBlock(block: Uint8Array, out: Uint8Array, at: number, head: FrameHead): number {
  const room = Math.min(out.length, at + head.mostBlockBytes)
  if (head.areLinked) return readLz4Block(block, out.subarray(0, room), at)
  const end = readLz4Block(block, out.subarray(at, room), 0)
  return end < 0 ? end : at + end
}

function copyStored(block: Uint8Array, out: Uint8Array, at: number): number {
  if (block.length > out.length - at) return -1
  out.set(block, at)
  return at + block.length
}

function readHead(source: Uint8Array, length: number): FrameHead | string {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  if (source.length < 7 || view.getUint32(0, true) !== frameMagic) return 'is not an LZ4 frame'
  const [flags = 0, sizes = 0] = source.subarray(4, 6)
  const [hasLength, hasDictionary] = [(flags & 8) !== 0, (flags & 1) !== 0]
  const sizeCode = (sizes >> 4) & 7
  if (flags >> 6 !== 1 || (flags & 2) !== 0 || (sizes & 0x8f) !== 0 || sizeCode < 4)
    return 'has an LZ4 frame of another form'
  if (hasDictionary) return 'has an LZ4 frame that needs a dictionary'
  const end = 6 + (hasLength ? 8 : 0)
  if (end + 1 > source.length) return cutOff
  if (((xxhash32(source.subarray(4, end)) >>> 8) & 255) !== source[end]) return badChecksum
  if (hasLength && view.getBigUint64(6, true) !== BigInt(length)) return 'has an LZ4 frame of another length'
  return {
    end: end + 1,
    areLinked: (flags & 32) === 0,
    hasBlockChecksums: (flags & 16) !== 0,
    hasContentChecksum: (flags & 4) !== 0,
    mostBlockBytes: 2 ** (8 + 2 * sizeCode),
  }
}

const prime1 = 0x9e3779b1 | 0
const prime2 = 0x85ebca77 | 0
const prime3 = 0xc2b2ae3d | 0
const prime4 = 0x27d4eb2f | 0
const prime5 = 0x165667b1 | 0
const stripeBytes = 16

export class Xxhash32 {
  // Four accumulators, each of a word of every stripe.
  #a = (prime1 + prime2) | 0
  #b = prime2
  #c = 0
  #d = -prime1 | 0
  #bytes = 0
  /** What is left of a stripe. */
  readonly #rest = new Uint8Array(stripeBytes)

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    let at = 0
    const held = this.#bytes % stripeBytes
    this.#bytes += bytes.length
    if (held > 0) {
      at = Math.min(stripeBytes - held, bytes.length)
      this.#rest.set(bytes.subarray(0, at), held)
      if (held + at < stripeBytes) return
      this.#stripes(this.#rest, 0, stripeBytes)
    }
    const end = at + Math.floor((bytes.length - at) / stripeBytes) * stripeBytes
    this.#stripes(bytes, at, end)
    this.#rest.set(bytes.subarray(end))
  }

  /** The checksum of all bytes so far, unsigned. */
  digest(): number {
    const isLong = this.#bytes >= stripeBytes
    let hash = isLong ? rotated(this.#a, 1) + rotated(this.#b, 7) + rotated(this.#c, 12) + rotated(this.#d, 18) : prime5
    hash = (hash + this.#bytes) | 0
    const rest = new DataView(this.#rest.buffer, 0, this.#bytes % stripeBytes)
    let at = 0
    for (; at + 4 <= rest.byteLength; at += 4) {
      hash = Math.imul(rotated(hash + Math.imul(rest.getInt32(at, true), prime3), 17), prime4)
    }
    for (; at < rest.byteLength; at++) {
      hash = Math.imul(rotated(hash + Math.imul(rest.getUint8(at), prime5), 11), prime1)
    }
    hash = Math.imul(hash ^ (hash >>> 15), prime2)
    hash = Math.imul(hash ^ (hash >>> 13), prime3)
    return (hash ^ (hash >>> 16)) >>> 0
  }

  /** Bytes [start, end), whole stripes. */
  #stripes(bytes: Uint8Array, start: number, end: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let [a, b, c, d] = [this.#a, this.#b, this.#c, this.#d]
    for (let at = start; at < end; at += stripeBytes) {
      a = mixed(a, view.getInt32(at, true))
      b = mixed(b, view.getInt32(at + 4, true))
      c = mixed(c, view.getInt32(at + 8, true))
      d = mixed(d, view.getInt32(at + 12, true))
    }
    this.#a = a
    this.#b = b
    this.#c = c
    this.#d = d
  }
}

/** The XXH32 of `bytes`, unsigned. */
export function xxhash32(bytes: Uint8Array): number {
  const hash = new Xxhash32()
  hash.update(bytes)
  return hash.digest()
}

function mixed(accumulator: number, word: number): number {
  return Math.imul(rotated(accumulator + Math.imul(word, prime2), 13), prime1)
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}
