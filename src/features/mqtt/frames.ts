// The bytes of a connection cut into packets, before anything is read of them: so that one that is too large never lies in
// memory. Of such a PUBLISH the first bytes stay, as a packet of their own; what follows is counted and dropped. Pure.
// Source: MQTT 5 §2.1 (the same in 3.1.1 §2.2).

import { DecodeError } from '../../libraries/base/errors.ts'

/** One packet. */
export interface Frame {
  readonly bytes: Buffer
  /** Bytes that were dropped at its end. */
  readonly lostBytes: number
}

const publishType = 3
/** Of the type and of the remaining length. */
const headerMost = 5

export class Frames {
  readonly #mostBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** So many are needed before there is something to look at. */
  #needed = 2
  /** What is still to come of a packet that is too large. */
  #skip: { readonly kept: Frame; left: number } | undefined

  /** Packets of more than `mostBytes` are cut. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** The next packet; undefined until more bytes come. Throws DecodeError. */
  next(): Frame | undefined {
    if (this.#skip !== undefined) return this.#skipOn(this.#skip)
    if (this.#bytes < this.#needed) return undefined
    const bytes = this.#all()
    const header = headerOf(bytes)
    if (header === undefined) {
      this.#needed = bytes.length + 1
      return undefined
    }
    const { headerBytes, length } = header
    const packetBytes = headerBytes + length
    if (packetBytes > this.#mostBytes) {
      if ((bytes[0] ?? 0) >> 4 !== publishType) throw new DecodeError('MQTT packet', `has ${packetBytes} bytes`)
      return this.#cut(bytes, headerBytes, packetBytes)
    }
    this.#needed = packetBytes
    if (bytes.length < packetBytes) return undefined
    this.#rest(bytes, packetBytes)
    return { bytes: bytes.subarray(0, packetBytes), lostBytes: 0 }
  }

  /** Keeps the first bytes of a packet, once they are there. */
  #cut(bytes: Buffer, headerBytes: number, packetBytes: number): Frame | undefined {
    this.#needed = this.#mostBytes
    if (bytes.length < this.#mostBytes) return undefined
    const body = bytes.subarray(headerBytes, this.#mostBytes)
    const kept = Buffer.concat([Buffer.of(bytes[0] ?? 0, ...lengthBytes(body.length)), body])
    this.#rest(bytes, this.#mostBytes)
    const lostBytes = packetBytes - this.#mostBytes
    return this.#skipOn({ kept: { bytes: kept, lostBytes }, left: lostBytes })
  }

  #skipOn(skip: { readonly kept: Frame; left: number }): Frame | undefined {
    const taken = Math.min(skip.left, this.#bytes)
    skip.left -= taken
    this.#rest(this.#all(), taken)
    this.#skip = skip.left === 0 ? undefined : skip
    return skip.left === 0 ? skip.kept : undefined
  }

  #all(): Buffer {
    const [first] = this.#chunks
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)
  }

  #rest(bytes: Buffer, from: number): void {
    const rest = bytes.subarray(from)
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    this.#needed = 2
  }
}

/** The remaining length is a number of one to four bytes, seven bits each, the least first. */
function headerOf(bytes: Buffer): { readonly headerBytes: number; readonly length: number } | undefined {
  let length = 0
  for (let at = 1; at < headerMost; at++) {
    const byte = bytes[at]
    if (byte === undefined) return undefined
    length += (byte & 0x7f) * 128 ** (at - 1)
    if (byte < 0x80) return { headerBytes: at + 1, length }
  }
  throw new DecodeError('MQTT packet', 'its length is malformed', 1)
}

function lengthBytes(length: number): number[] {
  const bytes: number[] = []
  for (let rest = length; bytes.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + (rest >= 128 ? 0x80 : 0))
  }
  return bytes
}
