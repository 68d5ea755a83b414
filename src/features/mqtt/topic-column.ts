// The topic as a member of each record of a payload: written into the JSON text, whose other tokens stay as they came.
// Pure.

import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'

const [quote, backslash, openObject, closeObject, openArray, closeArray] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The payload with the member `column` first in each object of the top level: of an array in it, of lines, or the payload
 * itself. Text that is no JSON comes back as something that is none either.
 */
export function withTopic(payload: Uint8Array, column: string, topic: string): Uint8Array {
  const member = utf8(`${JSON.stringify(column)}:${JSON.stringify(topic)}`)
  const parts: Uint8Array[] = []
  let from = 0
  let depth = 0
  let recordDepth = 0
  for (let at = 0; at < payload.length; at++) {
    const byte = payload[at]
    if (byte === quote) at = endOfText(payload, at)
    else if (byte === openArray && depth++ === 0) recordDepth = 1
    else if (byte === closeArray || byte === closeObject) depth--
    else if (byte === openObject && depth++ === recordDepth) {
      const isEmpty = nextByte(payload, at + 1) === closeObject
      parts.push(payload.subarray(from, at + 1), member, isEmpty ? new Uint8Array() : utf8(','))
      from = at + 1
    }
  }
  return concatBytes([...parts, payload.subarray(from)])
}

/** Place of the quote that ends the text which begins at `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++
    else if (bytes[at] === quote) return at
  }
  return bytes.length
}

function nextByte(bytes: Uint8Array, from: number): number | undefined {
  let at = from
  while ([0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] ?? 0)) at++
  return bytes[at]
}
