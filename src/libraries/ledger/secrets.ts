// The secrets of a dataset's blocks: leaves of a binary tree of HMACs below the dataset's ledger key, 40 levels deep. An inner
// node gives the secrets below it and no others, so that readers can be handed those up to a head, and one can be taken out.

import { assert } from '../base/assert.ts'
import { fromHex, toHex, utf8 } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { hmacSha256 } from '../base/ids/native-crypto.ts'

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
  const path = pathOf(sequence)
  const above = nodes.find((node) => path.startsWith(node.path))
  return above === undefined ? undefined : below(above, path).node
}

function pathOf(sequence: number): string {
  assert(Number.isSafeInteger(sequence) && sequence >= 0 && sequence < maxSecrets, 'a block has a secret below 2^40')
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

/** The secrets of one block after another: two HMACs for each, on average. */
export class SecretWalk {
  readonly #nodes: readonly SecretNode[]
  /** The way to the secret that was asked for last, from the node above it down. */
  #way: SecretNode[] = []

  constructor(nodes: readonly SecretNode[]) {
    this.#nodes = nodes
  }

  /** True where there are secrets of later blocks. */
  hasAfter(sequence: number): boolean {
    const path = pathOf(sequence)
    return this.#nodes.some((node) => node.path > path.slice(0, node.path.length))
  }

  secretOf(sequence: number): Uint8Array | undefined {
    const path = pathOf(sequence)
    while (this.#way.length > 0 && !path.startsWith(this.#way.at(-1)?.path ?? '')) this.#way.pop()
    let at = this.#way.at(-1) ?? this.#nodes.find((node) => path.startsWith(node.path))
    if (at === undefined) return undefined
    if (this.#way.length === 0) this.#way.push(at)
    while (at.path.length < depth) {
      at = below(at, path.slice(0, at.path.length + 1))
      this.#way.push(at)
    }
    return at.node
  }
}

/** Nodes as readers get them: the path and the node in hex. */
export function secretsToJson(nodes: readonly SecretNode[]): [string, string][] {
  return nodes.map(({ path, node }) => [path, toHex(node)])
}

/** Throws DecodeError unless they are nodes, none of them below another. */
export function secretsFromJson(pairs: readonly (readonly [string, string])[]): SecretNode[] {
  const nodes = pairs.map(([path, hex]) => {
    const node = /^[0-9a-f]{64}$/.test(hex) ? fromHex(hex) : undefined
    if (node === undefined || !/^[01]{0,40}$/.test(path))
      throw new DecodeError('secrets', 'are not pairs of a path and hex')
    return { path, node }
  })
  const sorted = nodes.map(({ path }) => path).sort()
  const isNested = sorted.some((path, at) => at > 0 && path.startsWith(sorted[at - 1] ?? ''))
  if (isNested) throw new DecodeError('secrets', 'have a node below another')
  return nodes
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
  return { salt: bytes, secrets: new SecretWalk(secretsFromJson(pairs)) }
}

/** The salt of a block's tag. */
export function blockSalt(secret: Uint8Array): Uint8Array {
  return hmacSha256(secret, utf8('block'))
}
