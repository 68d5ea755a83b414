// What a file is that a person took for a saved answer, told by its first bytes.

import { utf8 } from '../base/bytes.ts'

const bytesOf = (text: string): readonly number[] => [...utf8(text)]

const utf16 = 'text in UTF-16; save it as UTF-8'
const zip = 'a zip archive or an office document'
const gzip = 'compressed by gzip; unpack it first'
const kinds: readonly (readonly [first: readonly number[], what: string])[] = [
  [[0xff, 0xfe], utf16],
  [[0xfe, 0xff], utf16],
  [[0x7b, 0x00], utf16],
  [[0x00, 0x7b], utf16],
  [[0xef, 0xbb, 0xbf], 'text with a byte order mark, which is not part of JSON; save it without'],
  [[0x1f, 0x8b], gzip],
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed by zstd; unpack it first'],
  [bytesOf('PK'), zip],
  [bytesOf('PAR1'), 'a Parquet file: rows without a proof'],
  [bytesOf('ARROW1'), 'an Arrow file: rows without a proof'],
  [bytesOf('%PDF'), 'a PDF document'],
  [[0x89, ...bytesOf('PNG')], 'a picture'],
  [bytesOf('manifest.json\0'), 'a bundle, which holds one: proofstream verify --bundle'],
  [bytesOf('<'), 'a page in HTML or XML'],
]

/** `a zip archive …`; undefined where the first bytes tell nothing. */
export function otherKind(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return 'empty'
  return kinds.find(([first]) => first.every((byte, at) => bytes[at] === byte))?.[1]
}
