// Texts that look like a time of a day and are not read as one: 31.12.2025 14:05, 01/02/2025 09:00 AM. A guess, for questions
// and hints: it never makes a text a time. Pure.

const form =
  /^(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}[ .-]{1,2}[A-Za-z]{3,9}[ .-]{1,2}\d{2,4})[ T,]{1,2}\d{1,2}[:.h]\d{2}(?:[:.,]\d+)*(?: ?[AaPp]\.?[Mm]\.?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$/
const shortest = 11
const longest = 40
const colon = 0x3a

/** True where `bytes[start, end)` looks like a day with a time. */
export function looksLikeTime(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start
  const first = bytes[start] ?? 0
  if (length < shortest || length > longest || first < 0x30 || first > 0x39) return false
  let at = start
  while (at < end && bytes[at] !== colon) at += 1
  return at < end && form.test(Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('latin1'))
}
