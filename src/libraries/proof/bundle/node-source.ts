// The datasets of a node as a source of bundles, over its transfer routes; how a node is asked, the caller knows.

import { JsonNumber, type JsonValue } from '../../base/json/value.ts'
import { BundleFault } from './manifest.ts'
import type { BundleSource } from './write-bundle.ts'

/** How a node is asked. Both throw when it refuses or does not answer. */
export interface NodeRoutes {
  json(path: string): Promise<JsonValue>
  /** Hands the bytes of the answer to `take` while they come. */
  bytes(path: string, take: (piece: Uint8Array) => Promise<void>): Promise<void>
  /** The proof of the ledger at this path. Where it is absent, none is asked for. */
  readonly ledgerProof?: (path: string) => Promise<Uint8Array>
}

/** Blocks of one page of a chain: the most that a node gives. */
const pageBlocks = 1000

/** Throws BundleFault for answers that are none of a node, and what `routes` throw. */
export function nodeSource(routes: NodeRoutes): BundleSource {
  const paths = new Map<string, Promise<string>>()
  const pathOf = (id: string): Promise<string> => {
    const path = paths.get(id) ?? pathOfDataset(routes, id)
    paths.set(id, path)
    return path
  }
  const { ledgerProof } = routes
  return {
    chain: async (id, pins) => await chainTo(routes, await pathOf(id), pins),
    object: async ({ id, kind, hash }, take) => await routes.bytes(`${await pathOf(id)}/${kind}/${hash}`, take),
    ...(ledgerProof && {
      ledgerProof: async (id, block) => await ledgerProof(`${await pathOf(id)}/blocks/${block}/proof`),
    }),
  }
}

async function pathOfDataset({ json }: NodeRoutes, id: string): Promise<string> {
  const alias = member(await json(`/datasets/${encodeURIComponent(id)}`), 'alias')
  const [account = '', dataset = ''] = typeof alias === 'string' ? alias.split('/') : []
  return `/${encodeURIComponent(account)}/${encodeURIComponent(dataset)}`
}

/** Hashes of the blocks from the first to the last of `pins`, which a node lists newest first. */
async function chainTo({ json }: NodeRoutes, path: string, pins: ReadonlySet<string>): Promise<string[]> {
  let last = { hash: '', sequence: -1 }
  for (const hash of pins) {
    const number = member(await json(`${path}/blocks/${hash}`), 'sequence')
    const sequence = number instanceof JsonNumber ? Number(number.token) : -1
    if (sequence > last.sequence) last = { hash, sequence }
  }
  const hashes = [last.hash]
  for (let before = last.hash; before !== '';) {
    const page: JsonValue = await json(`${path}/blocks?limit=${pageBlocks}&before=${before}`)
    const blocks = member(page, 'blocks')
    for (const block of Array.isArray(blocks) ? blocks : []) hashes.push(textOf(member(block, 'hash')))
    const isEndless = textOf(member(page, 'next')) !== '' && (!Array.isArray(blocks) || blocks.length === 0)
    if (isEndless || hashes.length > last.sequence + 1)
      throw new BundleFault('failed', `The node lists more blocks of ${path} than there are.`)
    before = textOf(member(page, 'next'))
  }
  return hashes.reverse()
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value instanceof Map ? value.get(name) : undefined
}
