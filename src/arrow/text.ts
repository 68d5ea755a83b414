// Whether the bytes of a String column are text: the check at both places where columns come in from outside.

import { decodeUtf8 } from '../lib/bytes.ts'

/** True when `values` is UTF-8 and each offset stands between characters. */
export function isText(values: Uint8Array, offsets: Int32Array): boolean {
  const firstHigh = asciiPrefix(values)
  if (firstHigh === values.length) return true
  try {
    decodeUtf8(values.subarray(firstHigh))
  } catch {
    return false
  }
  for (const offset of offsets) {
    if (offset < values.length && ((values[offset] ?? 0) & 0xc0) === 0x80) return false
  }
  return true
}

/** The bits that no ASCII has, as the 32-bit integer that words are: fast before the loop is compiled, too. */
const highBits = 0x80808080 | 0

/** Length of the leading bytes below 0x80; whole words where they are aligned. */
function asciiPrefix(bytes: Uint8Array): number {
  let i = 0
  if (bytes.length > 64 && bytes.byteOffset % 4 === 0) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
    let word = 0
    while (word < words.length && ((words[word] ?? 0) & highBits) === 0) word++
    i = word << 2
  }
  while (i < bytes.length && (bytes[i] ?? 0) < 0x80) i++
  return i
}
