// Whether bytes are one value in DER, as far as tags, lengths and nesting show it: looked at before anything is made of them.
// Without recursion, so that no nesting is too deep for it. Source: ITU-T X.690

import { decodeUtf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'

const mostDepth = 40
const mostValues = 10_000
const [boolean, integer, oid, utf8String, sequence, set] = [1, 2, 6, 12, 16, 17]
/** Universal tags that time stamps and certificates have. */
const knownTags = [1, 2, 3, 4, 5, 6, 10, 12, 16, 17, 19, 20, 22, 23, 24, 28, 30]

interface Header {
  /** Where its content begins, and where it ends. */
  readonly start: number
  readonly end: number
  readonly isConstructed: boolean
}

/** Throws DecodeError where the bytes are more or less than one value, have another form than DER, or too many values. */
export function checkDer(bytes: Uint8Array): void {
  const ends: number[] = []
  let at = 0
  for (let values = 1; values === 1 || at < bytes.length; values++) {
    while (ends.at(-1) === at) ends.pop()
    if (values > mostValues || ends.length > mostDepth) refuse('has too many values, or too deep ones')
    const { start, end, isConstructed } = headerAt(bytes, at, ends.at(-1) ?? bytes.length)
    if (values === 1 && end !== bytes.length) refuse('has something behind its end')
    at = isConstructed ? start : end
    if (isConstructed) ends.push(end)
  }
}

function headerAt(bytes: Uint8Array, at: number, limit: number): Header {
  const [tag = 0, first = 0] = bytes.subarray(at, at + 2)
  if (at + 2 > limit) refuse('breaks off')
  const [number, isConstructed, isUniversal] = [tag & 0x1f, (tag & 0x20) !== 0, tag >> 6 === 0]
  if (number === 0x1f || (isUniversal && !knownTags.includes(number))) refuse('has a tag that no time stamp has')
  if (isUniversal && isConstructed !== (number === sequence || number === set)) refuse('has a value in pieces')
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80) refuse('has a value of indefinite length')
  if (lengthBytes > 3 || at + 2 + lengthBytes > limit) refuse('has a length that goes too far')
  let length = first
  if (first >= 0x80) {
    length = bytes.subarray(at + 2, at + 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0)
    if (length < 0x80 || length < 256 ** (lengthBytes - 1)) refuse('has a length that is longer than it need be')
  }
  const start = at + 2 + lengthBytes
  if (start + length > limit) refuse('has a length that goes too far')
  if (isUniversal) checkPlain(number, bytes.subarray(start, start + length))
  return { start, end: start + length, isConstructed }
}

function checkPlain(number: number, content: Uint8Array): void {
  const [first = 0, second = 0] = content
  if (number === boolean && (content.length !== 1 || (first !== 0 && first !== 0xff))) refuse('has a bad boolean')
  if (number === oid && !isOid(content)) refuse('has an identifier of another form')
  if (number === utf8String && !isUtf8(content)) refuse('has a text that is no UTF-8')
  if (number !== integer) return
  const isPadded = content.length > 1 && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80)
  if (content.length === 0 || isPadded) refuse('has a number that is longer than it need be, or empty')
}

/** Whole numbers, none of them padded. */
function isOid(bytes: Uint8Array): boolean {
  const isPadded = bytes.some((byte, at) => byte === 0x80 && (at === 0 || (bytes[at - 1] ?? 0) < 0x80))
  return !isPadded && (bytes.at(-1) ?? 0x80) < 0x80
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decodeUtf8(bytes)
    return true
  } catch {
    return false
  }
}

function refuse(reason: string): never {
  throw new DecodeError('time stamp', reason)
}
