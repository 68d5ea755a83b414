// AssemblyScript: the names that stand in records, each with its column, in a ring. After one of them the one that came after it
// last is looked at first.

import { keyHead, keyLength, keyLikely, keyMask, keyNext } from './layout'

/** The key that came first in the last record. */
let firstKey: usize = 0
let unknown: usize = 0

/** One of the keys. */
export function prepareKeys(key: usize): void {
  firstKey = key
}

export function beginKeys(): void {
  unknown = 0
}

/** The key that is not known and made a run stop where it did; 0: something else did. */
export function unknownKey(): usize {
  return unknown
}

/** The key at `at`, after `last` (0: the first); 0 where it is none. */
export function keyAt(at: usize, last: usize): usize {
  const likely = last == 0 ? firstKey : load<usize>(last, keyLikely)
  return isKey(likely, at) ? likely : otherKey(at, likely, last)
}

function isKey(key: usize, at: usize): bool {
  const first = v128.xor(v128.load(key, keyHead), v128.load(at))
  if (v128.any_true(v128.and(first, v128.load(key, keyMask)))) return false
  const length = load<usize>(key, keyLength)
  return length <= 16 || memory.compare(key + keyHead + 16, at + 16, length - 16) == 0
}

function otherKey(at: usize, likely: usize, last: usize): usize {
  let key = load<usize>(likely, keyNext)
  while (key != likely && !isKey(key, at)) key = load<usize>(key, keyNext)
  if (key == likely) {
    unknown = at
    return 0
  }
  if (last == 0) firstKey = key
  else store<usize>(last, key, keyLikely)
  return key
}
