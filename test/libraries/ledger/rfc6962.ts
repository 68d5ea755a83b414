// The tree of RFC 6962 as section 2.1 defines it, word for word and slowly: what the ledger's tree is compared with.

import { createHash } from 'node:crypto'

export const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest())
}

/** The largest power of two below n. */
const splitOf = (n: number): number => 2 ** Math.ceil(Math.log2(n) - 1)

const known = new Map<string, Uint8Array>()

/** MTH over hashes of leaves; `name` says which leaves these are, so that no subtree is hashed twice. */
export function slowRoot(leaves: readonly Uint8Array[], name = '', start = 0, end = leaves.length): Uint8Array {
  const key = `${name} ${start} ${end}`
  const found = name === '' ? undefined : known.get(key)
  if (found !== undefined) return found
  const n = end - start
  const k = splitOf(n)
  const made =
    n === 0
      ? sha256()
      : n === 1
        ? leaves[start]!
        : sha256(Uint8Array.of(1), slowRoot(leaves, name, start, start + k), slowRoot(leaves, name, start + k, end))
  if (name !== '') known.set(key, made)
  return made
}

/** PATH(m, D[start:end]). */
export function slowPath(
  m: number,
  leaves: readonly Uint8Array[],
  name = '',
  start = 0,
  end = leaves.length,
): Uint8Array[] {
  const n = end - start
  if (n <= 1) return []
  const k = splitOf(n)
  return m < k
    ? [...slowPath(m, leaves, name, start, start + k), slowRoot(leaves, name, start + k, end)]
    : [...slowPath(m - k, leaves, name, start + k, end), slowRoot(leaves, name, start, start + k)]
}

/** PROOF(m, D[0:n]). */
export function slowProof(m: number, leaves: readonly Uint8Array[], name = '', n = leaves.length): Uint8Array[] {
  return m === 0 ? [] : subproof(m, leaves, name, { start: 0, end: n }, true)
}

function subproof(
  m: number,
  leaves: readonly Uint8Array[],
  name: string,
  { start, end }: { readonly start: number; readonly end: number },
  isWhole: boolean,
): Uint8Array[] {
  const n = end - start
  if (m === n) return isWhole ? [] : [slowRoot(leaves, name, start, end)]
  const k = splitOf(n)
  return m <= k
    ? [...subproof(m, leaves, name, { start, end: start + k }, isWhole), slowRoot(leaves, name, start + k, end)]
    : [...subproof(m - k, leaves, name, { start: start + k, end }, false), slowRoot(leaves, name, start, start + k)]
}

/** Hashes of leaves that differ. */
export function someLeaves(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => sha256(Uint8Array.of(0), new TextEncoder().encode(`leaf ${i}`)))
}
