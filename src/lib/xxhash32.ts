// The checksum of LZ4 frames, XXH32 with seed 0, over bytes that come in parts.
// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, "XXH32 algorithm".

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
