// The secrets of a dataset's blocks: leaves of a binary tree of HMACs below the dataset's ledger key, 40 levels deep. An inner
// node gives the secrets below it and no others, so that readers can be handed those up to a head, and one can be taken out.

import { assert } from '../base/assert.ts'
import { copyBytes, fromHex, toHex, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { hmacSha256 } from '../base/ids/native-crypto.ts'
import { hashBytes } from './tree.ts'

const depth = 40
/** Blocks of a dataset that can have a secret have sequences below this. */
export const maxSecrets = 2 ** depth

/** A node of the tree of secrets. */
export interface SecretNode {
  /** The way to it from the top as 0s and 1s; empty for the ledger key itself. */
  readonly path: string
  /** 32 bytes. */
  readonly node: Uint8Array
}

const steps = [Uint8Array.of(0), Uint8Array.of(1)] as const

/** The nodes of a new dataset: its ledger key. */
export function allSecrets(ledgerKey: Uint8Array): SecretNode[] {
  return [{ path: '', node: ledgerKey }]
}

/** The dataset salt, which the ledger key gives. */
export function datasetSaltOf(ledgerKey: Uint8Array): Uint8Array {
  return hmacSha256(ledgerKey, utf8('dataset'))
}

/** The secret of a block from nodes, one of which has it below; undefined where none has. */
export function secretOf(nodes: readonly SecretNode[], sequence: number): Uint8Array | undefined {
  return new SecretWalk(nodes).secretOf(sequence)
}

function assertSequence(sequence: number): void {
  assert(Number.isSafeInteger(sequence) && sequence >= 0 && sequence < maxSecrets, 'a block has a secret below 2^40')
}

function pathOf(sequence: number): string {
  assertSequence(sequence)
  return sequence.toString(2).padStart(depth, '0')
}

/** The node at `path`, which is at or below this one. */
function below({ path, node }: SecretNode, wanted: string): SecretNode {
  let found = node
  for (let at = path.length; at < wanted.length; at++) found = hmacSha256(found, steps[wanted[at] === '1' ? 1 : 0])
  return { path: wanted, node: found }
}

/**
 * The fewest nodes that give the secrets of the blocks up to `last`, out of these nodes. The ledger key is not among them while
 * there are blocks to come.
 */
export function secretsUpTo(nodes: readonly SecretNode[], last: number): SecretNode[] {
  const path = pathOf(last)
  return nodes.flatMap((node) => {
    if (!path.startsWith(node.path)) return node.path < path ? [node] : []
    // On the way down to `last`, what hangs to the left comes before it.
    const lefts = siblingsOf(node, path).filter(({ path: side }) => side < path)
    const whole = path.slice(0, path.search(/1*$/))
    return whole.length <= node.path.length
      ? [node]
      : [...lefts.filter((left) => left.path.length <= whole.length), below(node, whole)]
  })
}

/** These nodes without the secret of one block: the nodes beside its way stay. */
export function secretsWithout(nodes: readonly SecretNode[], sequence: number): SecretNode[] {
  const path = pathOf(sequence)
  return nodes.flatMap((node) => (path.startsWith(node.path) ? siblingsOf(node, path) : [node]))
}

/** The nodes beside the way from a node to a leaf below it, in the order of the leaves. */
function siblingsOf(top: SecretNode, path: string): SecretNode[] {
  const siblings: SecretNode[] = []
  let at = top
  while (at.path.length < path.length) {
    const step = path[at.path.length] === '1' ? 1 : 0
    siblings.push(below(at, `${at.path}${1 - step}`))
    at = below(at, `${at.path}${step}`)
  }
  return siblings.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A node as it is held: the first block below it, how deep it is, its bytes. */
const sequenceBytes = 5
const hashAt = sequenceBytes + 1
const heldBytes = hashAt + hashBytes

/** Nodes in 38 bytes each, in the order of the blocks below them. */
class HeldNodes {
  readonly #bytes: Uint8Array
  readonly #count: number

  /** So many nodes, which come in that order. */
  constructor(count: number, nodes: Iterable<SecretNode>) {
    this.#count = count
    this.#bytes = new Uint8Array(count * heldBytes)
    let at = 0
    for (const { path, node } of nodes) {
      const bits = path.padEnd(depth, '0')
      for (let byte = 0; byte < sequenceBytes; byte++)
        this.#bytes[at + byte] = Number.parseInt(bits.slice(8 * byte, 8 * byte + 8), 2)
      this.#bytes[at + sequenceBytes] = path.length
      this.#bytes.set(node, at + hashAt)
      at += heldBytes
    }
  }

  hasAfter(sequence: number): boolean {
    return this.#count > 0 && this.#firstBelow(this.#count - 1) > sequence
  }

  /** The node above the secret of a block, and how deep it is; undefined where none is. */
  above(sequence: number): { readonly node: Uint8Array; readonly top: number } | undefined {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.#firstBelow(middle) <= sequence) low = middle + 1
      else high = middle
    }
    if (low === 0) return undefined
    const at = (low - 1) * heldBytes
    const top = this.#bytes[at + sequenceBytes] ?? 0
    if (sequence >= this.#firstBelow(low - 1) + 2 ** (depth - top)) return undefined
    return { node: this.#bytes.subarray(at + hashAt, at + heldBytes), top }
  }

  #firstBelow(index: number): number {
    const at = index * heldBytes
    return this.#bytes.subarray(at, at + sequenceBytes).reduce((number, byte) => number * 256 + byte, 0)
  }
}

/** The secrets of one block after another: two HMACs for each, on average. */
export class SecretWalk {
  readonly #nodes: HeldNodes
  /** The block that was asked for last, and at each depth what is on the way to its secret, from the node above it down. */
  #last = -1
  #way: Uint8Array | undefined

  constructor(nodes: readonly SecretNode[] | HeldNodes) {
    if (nodes instanceof HeldNodes) this.#nodes = nodes
    else
      this.#nodes = new HeldNodes(
        nodes.length,
        nodes.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
      )
  }

  /** True where there are secrets of later blocks. */
  hasAfter(sequence: number): boolean {
    return this.#nodes.hasAfter(sequence)
  }

  secretOf(sequence: number): Uint8Array | undefined {
    assertSequence(sequence)
    const above = this.#nodes.above(sequence)
    if (above === undefined) return undefined
    const way = (this.#way ??= new Uint8Array((depth + 1) * hashBytes))
    const { node, top } = above
    // Where the last way is below another node, it parts above this one.
    let at = this.#last < 0 ? -1 : sharedDepth(this.#last, sequence)
    if (at < top) {
      way.set(node, top * hashBytes)
      at = top
    }
    for (; at < depth; at++) {
      const step = steps[Math.floor(sequence / 2 ** (depth - 1 - at)) % 2 === 1 ? 1 : 0]
      way.set(hmacSha256(way.subarray(at * hashBytes, (at + 1) * hashBytes), step), (at + 1) * hashBytes)
    }
    this.#last = sequence
    return copyBytes(way, depth * hashBytes)
  }
}

/** How deep the ways to two secrets are the same. */
function sharedDepth(one: number, other: number): number {
  let at = depth
  for (let [a, b] = [one, other]; a !== b; [a, b] = [Math.floor(a / 2), Math.floor(b / 2)]) at--
  return at
}

/** Nodes as readers get them: the path and the node in hex. */
export function secretsToJson(nodes: readonly SecretNode[]): [string, string][] {
  return nodes.map(({ path, node }) => [path, toHex(node)])
}

/** Throws DecodeError unless they are nodes, none of them below another. */
export function secretsFromJson(pairs: readonly (readonly [string, string])[]): SecretNode[] {
  return [...nodesOf(pairs)]
}

/** In the order of the blocks below them, one at a time. Throws as `secretsFromJson`. */
function* nodesOf(pairs: readonly (readonly [string, string])[]): Generator<SecretNode> {
  let before: string | undefined
  for (const [path, hex] of pairs.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const node = /^[0-9a-f]{64}$/.test(hex) ? fromHex(hex) : undefined
    if (node === undefined || !/^[01]{0,40}$/.test(path))
      throw new DecodeError('secrets', 'are not pairs of a path and hex')
    if (before !== undefined && path.startsWith(before)) throw new DecodeError('secrets', 'have a node below another')
    before = path
    yield { path, node }
  }
}

/** What readers of a dataset are told. */
export interface DatasetSecrets {
  readonly salt: Uint8Array
  readonly secrets: SecretWalk
}

/** As `/metadata` tells it: the salt in hex, and nodes as `secretsToJson` has them. Throws DecodeError for anything else. */
export function datasetSecretsFromJson(salt: unknown, keys: unknown): DatasetSecrets {
  const bytes = typeof salt === 'string' && /^[0-9a-f]{64}$/.test(salt) ? fromHex(salt) : undefined
  if (bytes === undefined) throw new DecodeError('salt', 'is not 32 bytes in hex')
  const pairs = Array.isArray(keys) ? keys : []
  const isPair = (pair: unknown): pair is [string, string] =>
    Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string'
  if (!pairs.every(isPair)) throw new DecodeError('secrets', 'are not pairs of a path and hex')
  return { salt: bytes, secrets: new SecretWalk(new HeldNodes(pairs.length, nodesOf(pairs))) }
}

/** The salt of a block's tag. */
export function blockSalt(secret: Uint8Array): Uint8Array {
  return hmacSha256(secret, utf8('block'))
}
