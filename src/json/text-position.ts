// Where in a text something stands, for errors: bytes, lines and columns. Runs on failure only.

import { utf8 } from '../lib/bytes.ts'
import type { TextPosition } from '../model/errors.ts'

/** Place of the UTF-16 index `at` in `text`. A line ends at LF, CRLF or CR. */
export function positionAt(text: string, at: number): TextPosition {
  const before = text.slice(0, at)
  let line = 1
  let lineStart = 0
  for (const end of before.matchAll(/\r\n|\n|\r/g)) {
    line++
    lineStart = end.index + end[0].length
  }
  let column = 1
  for (const _ of before.slice(lineStart)) column++
  return { offset: utf8(before).length, line, column }
}

/** Offset of the first byte that begins no valid UTF-8 sequence; the length when all are valid. */
export function firstInvalidUtf8(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return at
}

/** Length of the well-formed sequence at `at`, 0 when there is none (Unicode 15, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  for (let i = 1; i < length; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1] ?? 0
  if (lead === 0xe0 && second < 0xa0) return 0
  if (lead === 0xed && second > 0x9f) return 0
  if (lead === 0xf0 && second < 0x90) return 0
  if (lead === 0xf4 && second > 0x8f) return 0
  return length
}
