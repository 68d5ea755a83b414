// Tags of answers, for conditional requests: what was asked of which blocks, and the dialect, whose version changes with
// the way values are printed. Equal tags, equal bytes.

import { sha3256 } from '../ids/native-crypto.ts'
import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain } from '../json/json.ts'
import { toHex } from '../lib/bytes.ts'

const tagBytes = 16

/** 32 hex digits. `asked` holds hashes of blocks, never `head`. */
export function answerTag(dialect: string, asked: object): string {
  return toHex(sha3256(canonicalBytes(fromPlain({ dialect, asked }))).subarray(0, tagBytes))
}
