// Base64 of RFC 4648, section 4: the standard alphabet with padding. One text for each value: spare bits that are not zero,
// missing padding and foreign characters are refused, which most readers pass over.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const values = new Int8Array(128).fill(-1)
for (let i = 0; i < 64; i++) values[alphabet.charCodeAt(i)] = i

const chunkBytes = 3 * 4096

/** The base64 text of `bytes`. */
export function base64Text(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    text += chunkText(bytes, start, Math.min(bytes.length, start + chunkBytes))
  }
  return text
}

function chunkText(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let i = start; i < end; i += 3) {
    const bits = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    text += alphabet.charAt(bits >> 18) + alphabet.charAt((bits >> 12) & 63)
    text += i + 1 < end ? alphabet.charAt((bits >> 6) & 63) : '='
    text += i + 2 < end ? alphabet.charAt(bits & 63) : '='
  }
  return text
}

/** The bytes whose base64 text is `text`, or undefined where there are none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const digits = text.length - padding
  const out = new Uint8Array((text.length / 4) * 3 - padding)
  let [bits, count, at] = [0, 0, 0]
  for (let i = 0; i < digits; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? (values[code] ?? -1) : -1
    if (value < 0) return undefined
    bits = ((bits << 6) | value) & 0xffffff
    if (++count % 4 === 1) continue
    out[at++] = (bits >> (6 - 2 * ((count - 1) % 4))) & 0xff
  }
  const spare = padding === 2 ? bits & 15 : padding === 1 ? bits & 3 : 0
  return spare === 0 ? out : undefined
}
