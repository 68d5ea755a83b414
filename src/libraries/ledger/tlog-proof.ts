// The text of a proof that an entry is in a ledger: `tlog-proof`, with the entry and what shows its meaning in the `extra` line.
// Written and read within the bounds that other readers have. Source: https://c2sp.org/tlog-proof

import { base64Text, fromBase64 } from '../base/base64.ts'
import { concatBytes, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { parseSize } from './head.ts'
import { maxNoteBytes, textOf } from './note.ts'
import { hashBytes } from './tree.ts'

/** A proof as text, nothing of it checked against anything. */
export interface TlogProof {
  /** Anything; not signed, so it counts only as far as the entry confirms it. */
  readonly extra?: Uint8Array
  readonly index: number
  /** Bottom up. */
  readonly hashes: readonly Uint8Array[]
  /** The signed head, a note. */
  readonly head: Uint8Array
}

/** Readers in Go stop at lines of 64 KiB: a longer `extra` line is not written, and not read. */
export const maxExtraLine = 60_000
const what = 'tlog-proof'
const firstLine = 'c2sp.org/tlog-proof@v1'
const [extraWord, indexWord] = ['extra ', 'index ']
/** A tree of 2^53-1 leaves has no longer path. */
const maxHashes = 53
const maxProofBytes = maxExtraLine + maxHashes * 45 + maxNoteBytes + 100

/** The text of a proof, or undefined where its `extra` line would be too long. */
export function tlogProofText({ extra, index, hashes, head }: TlogProof): Uint8Array | undefined {
  const extraLine = extra === undefined ? undefined : `${extraWord}${base64Text(extra)}`
  if (extraLine !== undefined && extraLine.length > maxExtraLine) return undefined
  const lines = [
    firstLine,
    ...(extraLine === undefined ? [] : [extraLine]),
    `${indexWord}${index}`,
    ...hashes.map(base64Text),
  ]
  return concatBytes([utf8(`${lines.join('\n')}\n\n`), head])
}

/** Reads the text of a proof. Throws DecodeError; what it takes, `tlogProofText` makes byte for byte. */
export function parseTlogProof(bytes: Uint8Array): TlogProof {
  if (bytes.length > maxProofBytes) refuse(`is longer than ${maxProofBytes} bytes`)
  const end = endOfLines(bytes)
  const [first, ...lines] = textOf(what, bytes.subarray(0, end - 1)).split('\n')
  if (first !== firstLine) refuse(`does not begin with ${firstLine}`)
  const extra = lines[0]?.startsWith(extraWord) ? parseExtra(lines.shift() ?? '') : undefined
  const indexLine = lines.shift() ?? ''
  const index = indexLine.startsWith(indexWord) ? parseSize(indexLine.slice(indexWord.length)) : undefined
  if (index === undefined) return refuse('has no index line')
  if (lines.length > maxHashes) refuse(`has more than ${maxHashes} hashes`)
  const hashes = lines.map((line) => {
    const hash = fromBase64(line)
    return hash?.length === hashBytes ? hash : refuse('has a line that is no base64 of a hash')
  })
  return { ...(extra !== undefined && { extra }), index, hashes, head: bytes.subarray(end + 1) }
}

/** Where the first empty line is: at the newline that ends it. */
function endOfLines(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) if (bytes[at + 1] === 10) return at + 1
  return refuse('has no empty line before its head')
}

function parseExtra(line: string): Uint8Array {
  if (line.length > maxExtraLine) refuse(`has an extra line of more than ${maxExtraLine} characters`)
  return fromBase64(line.slice(extraWord.length)) ?? refuse('has an extra line that is no base64')
}

function refuse(reason: string): never {
  throw new DecodeError(what, reason)
}
