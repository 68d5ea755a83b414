// CRC-32 of zip archives, for programs in browsers, too: node:zlib has it elsewhere. Source: RFC 1952, section 8.

const polynomial = 0xedb88320

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
  return crc
})

/** As an unsigned number. To go on after earlier bytes, hand in their CRC as `previous`. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  let crc = ~previous
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] ?? 0)
  return ~crc >>> 0
}
