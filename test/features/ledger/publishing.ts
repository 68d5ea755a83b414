// A publisher over a store in memory, three witnesses over HTTP, and a clock that can be put forward: anew for each test of a file
// that imports this.

import { afterEach, beforeEach } from 'vitest'
import { Publisher } from '../../../src/features/ledger/publisher.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openHead } from '../../../src/libraries/ledger/open-head.ts'
import { parsePolicy, type Policy } from '../../../src/libraries/ledger/policy.ts'
import { TiledTree } from '../../../src/libraries/ledger/tiled-tree.ts'
import { tileName } from '../../../src/libraries/ledger/tiles.ts'
import type { TreeHead } from '../../../src/libraries/ledger/tree.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { keyText, origin, signer } from '../../libraries/ledger/keys.ts'
import { someLeaves } from '../../libraries/ledger/rfc6962.ts'
import { until } from '../../helpers/until.ts'
import { SmallWitness } from './small-witness.ts'

export const logKey = keyText(origin, 1, 1)
const leaves = someLeaves(400)

/** A clock that can be put forward. */
class MovedClock implements Clock {
  aheadMs = 0
  nowMs = (): number => systemClock.nowMs() + this.aheadMs
  monotonicMs = (): number => systemClock.monotonicMs() + this.aheadMs
  sleep = systemClock.sleep
}

export let store: ObjectStore
export let clock: MovedClock
export let witnesses: SmallWitness[]
let tree: TiledTree
const publishers: Publisher[] = []

/** An empty store for an empty tree. */
export function begin(): void {
  store = openMemoryStore()
  tree = new TiledTree()
}

beforeEach(async () => {
  begin()
  clock = new MovedClock()
  witnesses = await Promise.all([1, 2, 3].map((number) => SmallWitness.start(number, logKey)))
})

afterEach(async () => {
  await Promise.all(publishers.splice(0).map((publisher) => publisher.close()))
  await Promise.all(witnesses.map((witness) => witness.close()))
})

const policyText = (): string =>
  [`log ${logKey}`, ...witnesses.map(({ line }) => line), 'group G 2 W1 W2 W3', 'quorum G', ''].join('\n')
export const policy = (): Policy => parsePolicy(utf8(policyText()))

export function publisher({ waitMs }: { waitMs: number | undefined } = { waitMs: 30_000 }): Publisher {
  const deps = { store, clock, logger: silentLogger, ledger: 1, origin, signer: signer(1), policy: policy(), waitMs }
  publishers.push(new Publisher(deps))
  return publishers.at(-1)!
}

/** The tree grown to a size, its tiles in the store. */
export async function grow(size: number): Promise<TreeHead> {
  for (const leaf of leaves.slice(tree.size, size)) tree.append(leaf)
  for (const { tile, bytes } of tree.takeTiles()) await store.put(`ledger/${tileName(tile)}`, bytes)
  return { size, root: tree.root() }
}

/** The head that is shown, as its readers judge it. */
export async function shown(): Promise<{ size: number; quorum: string; by: string[] } | undefined> {
  const bytes = await store.get('ledger/checkpoint')
  const opened = bytes && openHead(bytes, policy())
  if (opened === undefined) return undefined
  if (!opened.ok) throw new Error(opened.reason)
  return { size: opened.head.size, quorum: opened.quorum, by: opened.witnessed.map(({ name }) => name) }
}

export const states = ({ witnesses }: Publisher): string[] => witnesses.map(({ state }) => state)

/** Ticks until `size` is shown with these witnesses. */
export async function showing(of: Publisher, size: number, by: string[]): Promise<void> {
  await until(`a head of ${size} by ${by.join()}`, async () => {
    await of.tick()
    const now = await shown()
    return now?.size === size && now.by.join() === by.join() ? true : undefined
  })
}

/** Ticks until nobody is asked any more. */
export async function settled(of: Publisher): Promise<void> {
  await until('answers', async () => {
    await of.tick()
    return of.witnesses.some((one) => one.isAsking || one.state === 'not asked') ? undefined : true
  })
}
