// CRC-32C (Castagnoli), the checksum of messages and of frames. node:zlib has only the other CRC-32.
// Source: RFC 3720 appendix B.4; tables for 16 bytes a step ("slicing by 16", Intel 2006).

const polynomial = 0x82f63b78
const slices = 16

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
  for (const stop = end - slices; at <= stop; at += slices) {
    crc ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    crc =
      (t[0xf00 + (crc & 255)] ?? 0) ^
      (t[0xe00 + ((crc >>> 8) & 255)] ?? 0) ^
      (t[0xd00 + ((crc >>> 16) & 255)] ?? 0) ^
      (t[0xc00 + (crc >>> 24)] ?? 0) ^
      (t[0xb00 + (bytes[at + 4] ?? 0)] ?? 0) ^
      (t[0xa00 + (bytes[at + 5] ?? 0)] ?? 0) ^
      (t[0x900 + (bytes[at + 6] ?? 0)] ?? 0) ^
      (t[0x800 + (bytes[at + 7] ?? 0)] ?? 0) ^
      (t[0x700 + (bytes[at + 8] ?? 0)] ?? 0) ^
      (t[0x600 + (bytes[at + 9] ?? 0)] ?? 0) ^
      (t[0x500 + (bytes[at + 10] ?? 0)] ?? 0) ^
      (t[0x400 + (bytes[at + 11] ?? 0)] ?? 0) ^
      (t[0x300 + (bytes[at + 12] ?? 0)] ?? 0) ^
      (t[0x200 + (bytes[at + 13] ?? 0)] ?? 0) ^
      (t[0x100 + (bytes[at + 14] ?? 0)] ?? 0) ^
      (t[bytes[at + 15] ?? 0] ?? 0)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0)
  return ~crc >>> 0
}
