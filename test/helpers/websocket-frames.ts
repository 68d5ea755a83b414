// Frames of WebSockets as bytes, written and read by no library (RFC 6455 §5.2).

export const textCode = 1
export const closeCode = 8

/** A text message, masked with zeros. */
export function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const size = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8)
  if (size.length === 2) size.writeUInt16BE(length)
  if (size.length === 8) size.writeBigUInt64BE(BigInt(length))
  const short = size.length === 0 ? length : size.length === 2 ? 126 : 127
  return Buffer.concat([Buffer.of(0x80 | textCode, 0x80 | short), size, Buffer.alloc(4), payload])
}

/** The first frame of what a node sent, when it is there as a whole; `size` is all its bytes. */
export function unframed(
  bytes: Buffer,
): { readonly code: number; readonly payload: Buffer; readonly size: number } | undefined {
  const short = (bytes[1] ?? 0) & 0x7f
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < head) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < head + length) return undefined
  return { code: (bytes[0] ?? 0) & 0x0f, payload: bytes.subarray(head, head + length), size: head + length }
}
