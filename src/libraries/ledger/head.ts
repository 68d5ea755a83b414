// Heads of a ledger: the text of three lines that names its origin, its size and its root. Lines after these come from other
// ledgers only; they are read and kept, never written. Source: https://c2sp.org/tlog-checkpoint

import { assert } from '../base/assert.ts'
import { base64Text, fromBase64 } from '../base/base64.ts'
import { DecodeError } from '../base/errors.ts'
import { hashBytes, isTreeSize, type TreeHead } from './tree.ts'
import { isKeyName } from './verifier-key.ts'

/** A tree and the ledger that it is of. */
export interface Head extends TreeHead {
  readonly origin: string
}

/** The text of a note that is a head. The origin is the name of the key that signs it, so it has the form of one. */
export function headText({ origin, size, root }: Head): string {
  assert(isKeyName(origin) && isTreeSize(size) && root.length === hashBytes, 'a head has an origin, a size and a root')
  return `${origin}\n${size}\n${base64Text(root)}\n`
}

/** The head of the text of a note. Throws DecodeError; a tree beyond 2^53-1 leaves is refused, too. */
export function parseHead(text: string): Head {
  const lines = text.split('\n')
  if (lines.pop() !== '') return refuse('does not end in a newline')
  if (lines.length < 3 || lines.includes('')) return refuse('is not of three lines or more, none of them empty')
  const [origin = '', sizeLine = '', rootLine = ''] = lines
  const size = parseSize(sizeLine)
  if (size === undefined) return refuse('has no tree size in its second line')
  const root = fromBase64(rootLine)
  if (root?.length !== hashBytes) return refuse('has no base64 of a hash in its third line')
  return { origin, size, root }
}

/** A size or index in decimal: no sign, no leading zeros, at most 2^53-1. */
export function parseSize(text: string): number | undefined {
  const size = Number(text)
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && isTreeSize(size) ? size : undefined
}

function refuse(reason: string): never {
  throw new DecodeError('ledger head', reason)
}
