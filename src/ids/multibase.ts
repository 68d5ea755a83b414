// Multibase text: a letter that names the base, then the digits. Written as base16; read as f, F, u and z.
// Source: https://github.com/multiformats/multibase

import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { fromHex, toHex } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'

/** `f` and lower-case hex. */
export function base16Text(bytes: Uint8Array): string {
  return `f${toHex(bytes)}`
}

/** `u` and base64url without padding. */
export function base64urlText(bytes: Uint8Array): string {
  return base64url.encode(bytes)
}

/** `z` and base58btc (the Bitcoin alphabet). */
export function base58Text(bytes: Uint8Array): string {
  return base58btc.encode(bytes)
}

/**
 * Bytes of a multibase text in base16 (`f`, `F`), base64url (`u`) or base58btc (`z`). `what` names the thing in errors.
 * Throws DecodeError for another base, foreign characters, padding, stray bits, or more than `maxBytes` bytes: the
 * length is judged before the digits are read, because base58 takes quadratic time.
 */
export function decodeMultibase(text: string, what: string, maxBytes: number): Uint8Array {
  if (text.length > 1 + 2 * maxBytes) throw new DecodeError(what, `is longer than ${maxBytes} bytes can be`)
  const bytes = decodeDigits(text, what)
  if (bytes.length > maxBytes) throw new DecodeError(what, `has ${bytes.length} bytes, more than ${maxBytes}`)
  return bytes
}

function decodeDigits(text: string, what: string): Uint8Array {
  const digits = text.slice(1)
  switch (text[0]) {
    case 'f':
    case 'F': {
      const foreign = text[0] === 'f' ? /[^0-9a-f]/ : /[^0-9A-F]/
      const bytes = foreign.test(digits) ? undefined : fromHex(digits)
      if (bytes === undefined) throw new DecodeError(what, 'is not base16 of whole bytes')
      return bytes
    }
    case 'u':
      if (!/^[A-Za-z0-9_-]*$/.test(digits)) throw new DecodeError(what, 'is not base64url')
      return decodeWith(() => base64url.decode(text), what, 'is not base64url')
    case 'z':
      return decodeWith(() => base58btc.decode(text), what, 'is not base58btc')
    default:
      throw new DecodeError(what, 'has no multibase prefix of f, F, u or z')
  }
}

function decodeWith(decode: () => Uint8Array, what: string, reason: string): Uint8Array {
  try {
    return decode()
  } catch {
    throw new DecodeError(what, reason)
  }
}
