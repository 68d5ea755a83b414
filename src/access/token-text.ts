// The text of an access token: `pst_`, 32 random base62 characters (190 bits), 6 characters of checksum.
// The checksum tells a mistyped or cut token from an unknown one without asking the store; it is no secret.

import { randomBytes, sha256 } from '../ids/native-crypto.ts'
import { toHex, utf8 } from '../lib/bytes.ts'

const prefix = 'pst_'
const randomChars = 32
const checksumChars = 6
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A fresh token. */
export function makeTokenText(): string {
  let body = ''
  while (body.length < randomChars) {
    for (const byte of randomBytes(randomChars)) {
      // 248 = 4 × 62: higher bytes would make the first letters likelier.
      if (byte < 248 && body.length < randomChars) body += alphabet[byte % 62] ?? ''
    }
  }
  const text = prefix + body
  return text + checksum(text)
}

/** True for a text that this or another node made: right form, right checksum. */
export function isTokenText(text: string): boolean {
  if (!/^pst_[0-9A-Za-z]{38}$/.test(text)) return false
  const end = text.length - checksumChars
  return checksum(text.slice(0, end)) === text.slice(end)
}

/** What the store keeps instead of the token: SHA-256 as hex. 190 random bits need no salt and no slow hash. */
export function tokenHash(text: string): string {
  return toHex(sha256(utf8(text)))
}

/** The first 32 bits (big-endian) of the SHA-256 of what stands before it, in base62, most significant first. */
function checksum(text: string): string {
  const digest = sha256(utf8(text))
  let rest = new DataView(digest.buffer, digest.byteOffset).getUint32(0)
  let out = ''
  for (let i = 0; i < checksumChars; i++) {
    out = (alphabet[rest % 62] ?? '') + out
    rest = Math.floor(rest / 62)
  }
  return out
}
