// In which character sets the first bytes of a body look like text: letters stand among letters of their alphabet and case, signs stand
// outside of words.

import { decodeUtf8 } from '../../base/bytes.ts'
import { NodeError } from '../../base/errors.ts'
import { BodyText } from './charset.ts'

/** In order of likelihood. */
const singles = ['windows-1252', 'iso-8859-15', 'windows-1250', 'iso-8859-2', 'windows-1251', 'koi8-r']
const sampleBytes = 16 * 1024
/** Of what is not ASCII, this much has to look like text. */
const leastNatural = 0.95
const strange = new RegExp(
  [
    String.raw`(?<=\p{Ll})[^\P{Lu}\0-\x7f]`,
    String.raw`(?<=[^\P{Script=Latin}\0-\x7f]{2})[^\P{Script=Latin}\0-\x7f](?=[^\P{Script=Latin}\0-\x7f])`,
    String.raw`(?<=[A-Za-z])[^\P{L}\p{Script=Latin}]`,
    String.raw`(?<=\p{L})[^\p{L}\0-\x7f\u00a0’‘–—·](?=\p{L})`,
    String.raw`[¤¦¨¸´¬†‡Ÿ]|[£¥¹³¼½¾](?=\p{L})|(?<=\p{L})[¹¿]`,
  ].join('|'),
  'gu',
)

export interface Decoded {
  /** What has to be said; undefined where what was said, or a mark, is right. */
  readonly charset?: string
  /** In UTF-8, without a mark. */
  readonly text: Uint8Array
}

/** Undefined where some byte has no meaning in the character set. `isWhole`: nothing comes after the bytes. */
export function decoded(bytes: Uint8Array, charset: string | undefined, isWhole: boolean): Uint8Array | undefined {
  const body = new BodyText(charset)
  try {
    const text = body.push(bytes, 1)
    if (isWhole) body.rest(1)
    body.demandSaid()
    // What is cut off inside of a character is of the last record.
    const start = decodeUtf8(isWhole ? text : text.subarray(0, text.lastIndexOf(0x0a) + 1)).startsWith('\ufeff') ? 3 : 0
    return text.subarray(start)
  } catch (error) {
    if (error instanceof NodeError || error instanceof TypeError) return undefined
    throw error
  }
}

/** Several where the bytes look like text in each, none where they look like text in none. */
export function decodings(bytes: Uint8Array, said: string | undefined, isWhole: boolean): readonly Decoded[] {
  const text = decoded(bytes, said, isWhole)
  if (text?.includes(0) === false) return [{ text }]
  const of = (charset: string): readonly Decoded[] => {
    const read = decoded(bytes, charset, isWhole)
    return read === undefined || read.includes(0) ? [] : [{ charset, text: read }]
  }
  const [sure] = of(bytes[0] === 0 ? 'utf-16be' : bytes[1] === 0 ? 'utf-16le' : 'utf-8')
  if (sure !== undefined) return [sure]
  const from = Math.max(0, bytes.findIndex((byte) => byte >= 0x80) - 64)
  const sample = bytes.subarray(from, from + sampleBytes)
  const rated = singles.flatMap((charset) => {
    const part = decoded(sample, charset, false)
    return part === undefined ? [] : [{ charset, part: Buffer.from(part).toString() }]
  })
  const best = Math.max(leastNatural, ...rated.map(({ part }) => naturalShare(part)))
  const [first, ...others] = rated.filter(({ part }) => naturalShare(part) === best)
  // Most letters of western texts are letters elsewhere too.
  const other = first?.charset === singles[0] ? undefined : others.find(({ part }) => part !== first?.part)
  return [first, other].flatMap((one) => (one === undefined ? [] : of(one.charset)))
}

/** Of the characters that are not ASCII. */
function naturalShare(text: string): number {
  const other = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  return other === 0 ? 0 : 1 - (text.match(strange)?.length ?? 0) / other
}
