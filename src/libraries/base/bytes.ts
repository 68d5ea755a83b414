// Small helpers over Uint8Array. No domain words.

const textEncoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 bytes of `text`. */
export function utf8(text: string): Uint8Array {
  return textEncoder.encode(text)
}

/** Decodes UTF-8; throws TypeError on invalid bytes. A BOM is kept. */
export function decodeUtf8(bytes: Uint8Array): string {
  return strictDecoder.decode(bytes)
}

/** One array holding all `parts` in order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const out = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/**
 * Gives the memory of an array back at once, if it is all of its buffer; then it is empty. V8 frees buffers only when it
 * marks its heap, and marks it the more often the more of them there are.
 */
export function freeBytes({ buffer, byteLength }: ArrayBufferView): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** True when both arrays hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hex. A text that grows by two digits at a time would hold each of its pieces. */
export function toHex(bytes: Uint8Array): string {
  const pairs: string[] = []
  for (const byte of bytes) pairs.push(hexPairs[byte] ?? '')
  return pairs.join('')
}

/** Bytes of a hex text (either case), or undefined when it is not hex of whole bytes. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined
  const out = new Uint8Array(text.length / 2)
  for (let i = 0; i < out.length; i++) {
    const value = 16 * hexValue(text.charCodeAt(2 * i)) + hexValue(text.charCodeAt(2 * i + 1))
    if (value < 0) return undefined
    out[i] = value
  }
  return out
}

/** What the hexadecimal text `bytes[start, end)` (either case) says, or undefined when it is not hex of whole bytes. */
export function bytesOfHex(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
  if (((end - start) & 1) === 1) return undefined
  const out = new Uint8Array((end - start) >> 1)
  for (let i = 0; i < out.length; i++) {
    const value = 16 * hexValue(bytes[start + 2 * i] ?? 0) + hexValue(bytes[start + 2 * i + 1] ?? 0)
    if (value < 0) return undefined
    out[i] = value
  }
  return out
}

/** 0 to 15; so far below 0 for a character that is no hex digit that no sum with another digit is positive. */
export function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1000
}

/** A copy of bytes [start, end). `slice` of a Node.js Buffer is a view of the same memory; this never is. */
export function copyBytes(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(Math.max(0, end - start))
  out.set(bytes.subarray(start, end))
  return out
}

/** Copies bytes [start, end) of `source` to `at`; short ones by a loop, which is faster than a call. */
export function copyRange(out: Uint8Array, at: number, source: Uint8Array, start: number, end: number): void {
  const length = end - start
  if (length > 40) out.set(source.subarray(start, end), at)
  else for (let i = 0; i < length; i++) out[at + i] = source[start + i] ?? 0
}

/** The unsigned integer whose bytes these are, the lowest first. */
export function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0)
  return value
}

/** The eight bytes of an integer from 0 to 2^53-1, the highest first. */
export function u64Bytes(value: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt(value))
  return out
}

/** The integer of the eight bytes at `at`, the highest first; undefined where it is beyond 2^53-1. */
export function u64At(bytes: Uint8Array, at: number): number | undefined {
  const value = Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(at))
  return Number.isSafeInteger(value) ? value : undefined
}

/** The same bytes at the beginning of a longer array. */
export function grown(old: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(length)
  out.set(old)
  return out
}

export function grownWords(old: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const out = new Int32Array(length)
  out.set(old)
  return out
}
