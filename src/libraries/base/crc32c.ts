// CRC-32C (Castagnoli), the checksum of messages and of frames. node:zlib has only the other CRC-32.
// Every byte is summed once: sums of neighbours are joined, and bytes known to end with their own checksum are remembered.
// Sources: RFC 3720 appendix B.4; tables for 16 bytes a step ("slicing by 16", Intel 2006), taken as little-endian words;
// joining as in zlib. By words it is as fast as the same in WebAssembly: 1.8 GB/s (docs/decisions/operations.md).

const polynomial = 0x82f63b78
const slices = 16
/** Fewer bytes are summed one by one, sooner than words are laid over them. */
const leastInWords = 64

/** 16 tables of 256 entries, one after the other: entry (k, b) is the CRC of byte b followed by k zero bytes. */
const table = makeTable()

function makeTable(): Int32Array {
  const out = new Int32Array(slices * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
    out[byte] = crc
  }
  for (let i = 256; i < slices * 256; i++) {
    const previous = out[i - 256] ?? 0
    out[i] = (previous >>> 8) ^ (out[previous & 255] ?? 0)
  }
  return out
}

/**
 * CRC-32C of `bytes[start, end)` as an unsigned 32-bit number. To go on after earlier bytes, hand in their CRC as
 * `previous`.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, previous = 0): number {
  const t = table
  let crc = ~previous
  let at = start
  if (end - start >= leastInWords) {
    for (; (bytes.byteOffset + at) % 4 !== 0; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0)
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, (end - at) >>> 2)
    let i = 0
    for (const stop = words.length - 4; i <= stop; i += 4) {
      const w0 = crc ^ (words[i] ?? 0)
      const w1 = words[i + 1] ?? 0
      const w2 = words[i + 2] ?? 0
      const w3 = words[i + 3] ?? 0
      crc =
        (t[0xf00 + (w0 & 255)] ?? 0) ^
        (t[0xe00 + ((w0 >>> 8) & 255)] ?? 0) ^
        (t[0xd00 + ((w0 >>> 16) & 255)] ?? 0) ^
        (t[0xc00 + (w0 >>> 24)] ?? 0) ^
        (t[0xb00 + (w1 & 255)] ?? 0) ^
        (t[0xa00 + ((w1 >>> 8) & 255)] ?? 0) ^
        (t[0x900 + ((w1 >>> 16) & 255)] ?? 0) ^
        (t[0x800 + (w1 >>> 24)] ?? 0) ^
        (t[0x700 + (w2 & 255)] ?? 0) ^
        (t[0x600 + ((w2 >>> 8) & 255)] ?? 0) ^
        (t[0x500 + ((w2 >>> 16) & 255)] ?? 0) ^
        (t[0x400 + (w2 >>> 24)] ?? 0) ^
        (t[0x300 + (w3 & 255)] ?? 0) ^
        (t[0x200 + ((w3 >>> 8) & 255)] ?? 0) ^
        (t[0x100 + ((w3 >>> 16) & 255)] ?? 0) ^
        (t[w3 >>> 24] ?? 0)
    }
    at += 4 * i
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0)
  return ~crc >>> 0
}

/** x^(2^k) modulo the polynomial, for k from 0 to 31; the lowest power is the highest bit. */
const powers = makePowers()

function makePowers(): Int32Array {
  const out = new Int32Array(32)
  out[0] = 1 << 30
  for (let k = 1; k < 32; k++) out[k] = product(out[k - 1] ?? 0, out[k - 1] ?? 0)
  return out
}

/** The product of two polynomials modulo that of the CRC. */
function product(a: number, b: number): number {
  let sum = 0
  let shifted = b
  for (let rest = a; rest !== 0; rest <<= 1) {
    if (rest < 0) sum ^= shifted
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1
  }
  return sum
}

/** CRC-32C of some bytes and `length` more after them, from the CRCs of both. */
export function joinedCrc32c(first: number, second: number, length: number): number {
  let shifted = first
  // A byte is a shift by x^8: the bits of `length` begin at x^(2^3).
  for (let rest = length, k = 3; rest > 0; rest = Math.floor(rest / 2), k++) {
    if (rest % 2 === 1) shifted = product(powers[k & 31] ?? 0, shifted)
  }
  return (shifted ^ second) >>> 0
}

/** The CRC-32C of any bytes that end with the CRC-32C of those before, little-endian. */
export const sealedCrc32c = 0x48674bc7

const sealed = new WeakSet<Uint8Array>()
/** Shorter ones are sooner summed again. */
const leastSealed = 16 * 1024

/** Remembers that `bytes` end with their own CRC, which has just been written or checked; nobody changes them anymore. */
export function rememberSealed(bytes: Uint8Array): void {
  if (bytes.length >= leastSealed) sealed.add(bytes)
}

/** True for long bytes that were remembered. */
export function isSealed(bytes: Uint8Array): boolean {
  return sealed.has(bytes)
}

const sums = new WeakMap<Uint8Array, number>()

/** Remembers the CRC of `bytes`, which another thread has summed; nobody changes them anymore. */
export function rememberCrc32c(bytes: Uint8Array, sum: number): void {
  sums.set(bytes, sum)
}

/** The CRC of `bytes` where it was remembered. */
export function rememberedCrc32c(bytes: Uint8Array): number | undefined {
  return sums.get(bytes)
}
