// Datasets that are renamed, deleted and restored under faults, two for three names, while rows are sent to them; and the
// verdict in the end: every row that was told of is in the chain it was told of, no row twice, what was told last of a dataset
// holds, and each of its names leads to it or to another.

import type { Catalog } from '../../src/node/catalog/catalog.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import type { DatasetId } from '../../src/libraries/base/ids/identifiers.ts'
import { foldAscii, parseAliasText } from '../../src/libraries/model/names.ts'
import { followName, listNames, readName } from '../../src/node/store/names.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { isRemovalBegun } from '../../src/node/store/remove-chain.ts'
import { rowsOf } from '../helpers/stored.ts'
import { type Clients, declared } from './clients.ts'
import { post, type SimulatedNode } from './node.ts'

const pool = ['acme/lives', 'acme/Others', 'Acme/third'] as const

class Life {
  readonly born: string
  id: DatasetId | undefined
  /** Its name by the last answer, `deleted`; undefined while that is open. */
  holds: string | undefined
  constructor(born: string) {
    this.born = born
    this.holds = born
  }
}

export class Lives {
  readonly all = [new Life(pool[0]), new Life(pool[1])]
  /** Rows whose senders were told where they are. */
  readonly told = new Map<string, number>()
  readonly sent = new Set<string>()
  counts = { deletions: 0, restorations: 0, renames: 0, namesTaken: 0 }

  has(id: DatasetId): boolean {
    return this.all.some((life) => life.id === id)
  }
}

/** Renames, deletes and restores, one after the other of each dataset, and sends rows meanwhile, until the run is over. */
export async function live(clients: Clients, lives: Lives, isOver: () => boolean): Promise<void> {
  for (const life of lives.all) await begin(clients, life, isOver)
  const turns = lives.all.map((life) => turn(clients, lives, life, isOver))
  await Promise.all([...turns, ...[1, 2].map((one) => sendRows(clients, lives, `${one}`, isOver))])
}

async function begin(clients: Clients, life: Life, isOver: () => boolean): Promise<void> {
  // Asked for once: a request that a node comes back to after a deletion would make another dataset of the name.
  let isAsked = false
  while (life.id === undefined && !isOver()) {
    await onNode(clients, async ({ gateway, catalog }) => {
      life.id = (await catalog.nameOf(life.born))?.id
      if (isAsked || gateway === undefined) return
      isAsked = true
      await gateway.create({ alias: parseAliasText(life.born), visibility: 'public', schema: declared })
    })
  }
}

async function turn(clients: Clients, { counts }: Lives, life: Life, isOver: () => boolean): Promise<void> {
  const { world } = clients
  while (!isOver()) {
    await onNode(clients, async ({ gateway, catalog }) => {
      const { id = '', holds } = life
      const name = await catalog.nameOfId(id)
      const deletion = name === undefined ? await catalog.deletionOf(id) : undefined
      const alias = world.pick(pool)
      // What holds already is not logged: it says nothing of what was asked before, whose outcome may be open.
      if (name?.alias === alias) return
      life.holds = undefined
      const isTaken = (error: unknown): void => {
        if (!(error instanceof NodeError && error.kind === 'DatasetExists')) throw error
        life.holds = holds
        counts.namesTaken++
      }
      if (name !== undefined && world.chance(0.7)) {
        const renamed = gateway?.change(await catalog.chainOf(name), { alias })
        await renamed?.then(() => {
          life.holds = alias
          counts.renames++
        }, isTaken)
      } else if (name !== undefined) {
        await gateway?.delete(await catalog.chainOf(name), { ifMatch: '*', graceMs: 3_600_000 })
        life.holds = 'deleted'
        counts.deletions++
      } else if (deletion !== undefined) {
        await gateway?.restore(deletion, alias).then(() => {
          life.holds = alias
          counts.restorations++
        }, isTaken)
      }
    })
  }
}

async function sendRows(clients: Clients, lives: Lives, who: string, isOver: () => boolean): Promise<void> {
  for (let number = 0; !isOver(); number++) {
    const batch = `life-${who}-${number}`
    await onNode(clients, async (node) => {
      const body = `${JSON.stringify({ batch, i: 0, of: 1 })}\n`
      lives.sent.add(batch)
      const headers = { 'idempotency-key': batch, prefer: 'wait=2' }
      const answer = await post(node, { alias: clients.world.pick(pool), body, headers, query: {} })
      if ('offsets' in answer.body && answer.body.offsets !== undefined) {
        lives.told.set(batch, answer.body.offsets.start)
      }
    })
  }
}

/** Some work at a gateway, now and then; what comes of it is judged in the end. */
async function onNode({ world, gateway }: Clients, work: (node: SimulatedNode) => Promise<void>): Promise<void> {
  await world.after(world.random.next() * world.pick([100, 1_500]))
  const node = gateway()
  if (node?.gateway === undefined) return
  await Promise.race([node.process.call(() => work(node)).catch(() => {}), world.after(20_000)])
}

/** What is wrong in the end. */
export async function checkLives(lives: Lives, store: ObjectStore, catalog: Catalog): Promise<string[]> {
  const { told, sent } = lives
  const problems: string[] = []
  const found = new Map<string, number>()
  let rows = 0
  for (const life of lives.all) {
    if (life.id === undefined) continue
    problems.push(...(await checkNames(life, life.id, { store, catalog })))
    const name = (await catalog.nameOfId(life.id)) ?? (await catalog.deletionOf(life.id))?.name
    if (name === undefined) return problems
    // Not by a wall clock that stands ten years on either.
    if (await isRemovalBegun(store, life.id)) return [...problems, `${life.born} was removed in its grace`]
    for (const { batch, offset } of await rowsOf(store, await catalog.chainOf(name))) {
      found.set(batch, offset)
      rows++
    }
  }
  if (found.size < rows) problems.push('a row of the datasets is there twice')
  for (const [batch, offset] of told) {
    if (found.get(batch) !== offset) problems.push(`${batch} is not where it was told`)
  }
  for (const batch of found.keys()) if (!sent.has(batch)) problems.push(`nobody sent ${batch}`)
  return problems
}

async function checkNames(
  { born, holds }: Life,
  id: DatasetId,
  { store, catalog }: { readonly store: ObjectStore; readonly catalog: Catalog },
): Promise<string[]> {
  const problems: string[] = []
  const name = await catalog.nameOfId(id)
  const deletion = await catalog.deletionOf(id)
  if ((name === undefined) !== (deletion !== undefined)) problems.push(`${born} is neither deleted nor there`)
  const is = name?.alias ?? 'deleted'
  if (holds !== undefined && holds !== is) problems.push(`${born} is ${is}, and was told of as ${holds}`)
  const names: string[] = []
  for (const alias of await listNames(store)) if ((await readName(store, alias))?.id === id) names.push(alias)
  const own = name === undefined ? [] : [foldAscii(name.alias)]
  if (String(names) !== String(own)) problems.push(`${born} is ${is}, and has the names ${names.join(', ')}`)
  const led = await followName(store, { id, alias: born })
  if (led?.alias !== name?.alias) problems.push(`${born} leads to ${led?.alias}, and is ${is}`)
  return problems
}
