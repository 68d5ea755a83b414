// A dataset's partition in a log: hash of the lower-case alias over the log's partition count. Fixed when the dataset
// is made, and decided anew by the same rule where another log takes over (docs/decisions/log-adoption.md).

import { sha3256 } from '../ids/native-crypto.ts'
import { utf8 } from '../lib/bytes.ts'

/** First 32 bits (big-endian) of SHA3-256 of the folded alias, modulo `partitions`. */
export function partitionOf(foldedAlias: string, partitions: number): number {
  if (partitions === 1) return 0
  const digest = sha3256(utf8(foldedAlias))
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0) % partitions
}
