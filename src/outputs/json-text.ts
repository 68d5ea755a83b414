// JSON text of cells, for the formats that are JSON by the line or by the feature: as JSON.stringify writes strings, and
// JSON that is there already as it is.

import { utf8 } from '../lib/bytes.ts'
import type { CellStyle } from './cells.ts'
import type { TextBuffer } from './text-buffer.ts'

const [quote, backslash, space] = [0x22, 0x5c, 0x20]

/** How `JSON.stringify` writes each byte that does not stand for itself. */
const escapes: readonly (Uint8Array | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const token = JSON.stringify(String.fromCharCode(code))
  return token.length === 3 ? undefined : utf8(token.slice(1, -1))
})

/** A JSON string of UTF-8 text. */
export function writeJsonString(out: TextBuffer, bytes: Uint8Array, start: number, end: number): void {
  out.reserve(end - start + 2)
  const target = out.bytes
  let { at } = out
  target[at++] = quote
  let i = start
  for (; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte < space || byte === quote || byte === backslash) break
    target[at++] = byte
  }
  out.at = at
  for (; i < end; i++) {
    const byte = bytes[i] ?? 0
    const escape = byte < 128 ? escapes[byte] : undefined
    if (escape === undefined) out.byte(byte)
    else out.raw(escape, 0, escape.length)
  }
  out.byte(quote)
}

export const jsonStyle: CellStyle = {
  null: 'null',
  quote: '"',
  text: writeJsonString,
  json: (out, bytes, start, end) => out.raw(bytes, start, end),
}
