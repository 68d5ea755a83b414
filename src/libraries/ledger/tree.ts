// The Merkle tree of RFC 6962, section 2.1, over SHA-256: hashes of leaves and nodes, a tree that only grows, and the checks of
// inclusion and consistency proofs (RFC 9162, sections 2.1.3.2 and 2.1.4.2). Sizes and indices are integers up to 2^53-1.

import { equalBytes } from '../base/bytes.ts'
import { assert } from '../base/assert.ts'
import { sha256 } from '../base/ids/native-crypto.ts'

export const hashBytes = 32

/** The root of the tree without leaves. */
export const emptyRoot: Uint8Array = sha256(new Uint8Array(0))

/** Written anew before each hash; nothing else has it. */
const nodeInput = new Uint8Array(1 + 2 * hashBytes)
nodeInput[0] = 1

/** The hash of a leaf. */
export function leafHash(leaf: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + leaf.length)
  input.set(leaf, 1)
  return sha256(input)
}

/** The hash of a node from those of its two children. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1)
  nodeInput.set(right, 1 + hashBytes)
  return sha256(nodeInput)
}

/** An integer from 0 to 2^53-1: the size of a tree, the index of a leaf. */
export function isTreeSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** A tree that only grows, held as the roots of its complete subtrees: at most 53 hashes. */
export class Frontier {
  readonly #roots: Uint8Array[] = []
  #size = 0

  /** The tree of this size with these roots; undefined where it has not as many. */
  static from(size: number, roots: readonly Uint8Array[]): Frontier | undefined {
    const tree = new Frontier()
    tree.#size = size
    tree.#roots.push(...roots)
    let count = 0
    for (let rest = size; rest > 0; rest = half(rest)) count += rest % 2
    return count === roots.length ? tree : undefined
  }

  /** Roots of the complete subtrees, the largest and leftmost first. */
  get roots(): readonly Uint8Array[] {
    return this.#roots
  }

  get size(): number {
    return this.#size
  }

  /** One like this, which grows by itself. */
  copy(): Frontier {
    const copy = new Frontier()
    copy.#roots.push(...this.#roots)
    copy.#size = this.#size
    return copy
  }

  /** Adds a leaf by its hash. */
  append(hash: Uint8Array): void {
    assert(isTreeSize(this.#size + 1), 'a tree has at most 2^53-1 leaves')
    let merged = hash
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      merged = nodeHash(this.#roots.pop() ?? emptyRoot, merged)
    }
    this.#roots.push(merged)
    this.#size++
  }

  root(): Uint8Array {
    return this.joined(undefined) ?? emptyRoot
  }

  /** The hash over this tree and what is right of it, where there is something. */
  joined(right: Uint8Array | undefined): Uint8Array | undefined {
    return joinedHash(this.#roots, right)
  }
}

/** The hash over complete subtrees, left to right, and what is right of them; undefined for nothing. */
export function joinedHash(roots: readonly Uint8Array[], right?: Uint8Array): Uint8Array | undefined {
  let hash = right
  for (let i = roots.length - 1; i >= 0; i--) {
    const left = roots[i]
    if (left !== undefined) hash = hash === undefined ? left : nodeHash(left, hash)
  }
  return hash
}

/** The root of the tree over leaves of these hashes. */
export function treeRoot(leafHashes: Iterable<Uint8Array>): Uint8Array {
  const tree = new Frontier()
  for (const hash of leafHashes) tree.append(hash)
  return tree.root()
}

/** A leaf's place in a tree, and the proof of it: the hashes beside its way to the root, bottom up. */
export interface Inclusion {
  readonly index: number
  readonly size: number
  readonly path: readonly Uint8Array[]
}

/** The root to which a leaf's hash and its path lead; undefined where the path has another length than its place asks for. */
export function rootFromInclusion(hash: Uint8Array, { index, size, path }: Inclusion): Uint8Array | undefined {
  if (!isTreeSize(index) || !isTreeSize(size) || index >= size) return undefined
  let [node, last, root] = [index, size - 1, hash]
  for (const beside of path) {
    if (last === 0 || beside.length !== hashBytes) return undefined
    if (node % 2 === 1 || node === last) {
      root = nodeHash(beside, root)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, half(last)]
    } else {
      root = nodeHash(root, beside)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? root : undefined
}

/** True when a leaf of this hash is at its place in the tree with this root. */
export function checkInclusion(hash: Uint8Array, inclusion: Inclusion, root: Uint8Array): boolean {
  const found = rootFromInclusion(hash, inclusion)
  return found !== undefined && equalBytes(found, root)
}

/** A tree by its size and root. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** True when `path` shows that the tree `newer` begins with the leaves of `older`. Of one size and of none the path is empty. */
export function checkConsistency(older: TreeHead, newer: TreeHead, path: readonly Uint8Array[]): boolean {
  if (!isTreeSize(older.size) || !isTreeSize(newer.size) || older.size > newer.size) return false
  if (older.size === newer.size) return path.length === 0 && equalBytes(older.root, newer.root)
  if (older.size === 0) return path.length === 0 && equalBytes(older.root, emptyRoot)
  if (path.some(({ length }) => length !== hashBytes)) return false
  let [node, last] = [older.size - 1, newer.size - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  // Where the older tree is complete, its root is the first hash and is left out.
  const isComplete = node === 0
  const [first, ...rest] = isComplete ? [older.root, ...path] : path
  if (first === undefined) return false
  let [oldRoot, newRoot] = [first, first]
  for (const beside of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      oldRoot = nodeHash(beside, oldRoot)
      newRoot = nodeHash(beside, newRoot)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, half(last)]
    } else {
      newRoot = nodeHash(newRoot, beside)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && equalBytes(oldRoot, older.root) && equalBytes(newRoot, newer.root)
}

function half(value: number): number {
  return Math.floor(value / 2)
}
