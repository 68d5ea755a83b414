// Callers of the simulated nodes: producers that repeat what was not acknowledged, and readers that look at heads. All
// that they saw goes into a history.

import { createHash } from 'node:crypto'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../../src/node/catalog/dataset-chain.ts'
import type { Receipt } from '../../src/node/gateway/receipts.ts'
import { declaredSchema } from '../../src/node/gateway/shape.ts'
import type { Answer, BatchSent, HeadSeen, ProofChecked } from '../history/history.ts'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { errorTable } from '../../src/libraries/base/error-table.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../src/libraries/model/names.ts'
import { defaultVocabulary, optional } from '../../src/libraries/model/schema.ts'
import { dataKey } from '../../src/node/store/layout.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { type Post, post, type SimulatedNode } from './node.ts'
import type { World } from './world.ts'

/** Rows as a dataset stood at a block: what a proof would be about. */
export interface Witness {
  readonly dataset: string
  readonly sequence: number
  readonly digest: string
}

export interface Clients {
  readonly world: World
  /** A node that takes rows now, or undefined while there is none. */
  readonly gateway: () => SimulatedNode | undefined
  /** Any node that is up. */
  readonly anyNode: () => SimulatedNode | undefined
  readonly aliases: readonly [string, ...string[]]
  /** Share of batches that are several messages in the log. */
  readonly large: number
  readonly lostAnswers: number
}

/** Everything that was seen. */
export class Seen {
  readonly batches: BatchSent[] = []
  readonly heads: HeadSeen[] = []
  readonly proofs: ProofChecked[] = []
  readonly witnesses: Witness[] = []
  /** Batches that the log's order may reject after they were acknowledged. */
  readonly rejectable = new Set<string>()
  readonly rejected: string[] = []
  /** Answers that no caller should ever get. */
  readonly faults: string[] = []
}

interface Planned {
  readonly batch: BatchSent
  readonly request: Post
}

/** Answers after which the same request is sent again. */
const passing: ReadonlySet<string> = new Set(['Saturated', 'Draining', 'LogUnavailable', 'StorageFull'])

export async function produce(clients: Clients, seen: Seen, name: string, batches: number): Promise<void> {
  const { world } = clients
  for (let number = 0; number < batches; number++) {
    await world.after(world.random.next() * world.pick([1, 20, 400]))
    const planned = plan(clients, seen, `${name}-${number}`)
    seen.batches.push(planned.batch)
    await send(clients, seen, planned)
    if (planned.batch.key !== undefined && world.chance(0.2)) await attempt(clients, seen, planned)
  }
}

export const declared = declaredSchema(
  [
    { name: 'batch', type: optional({ kind: 'String' }) },
    { name: 'i', type: optional({ kind: 'Float64' }) },
    { name: 'of', type: optional({ kind: 'Float64' }) },
  ],
  defaultVocabulary,
)

/** Makes some datasets before their first rows, with paces of their own; a creation that fails is left to those. */
export async function declare({ world, gateway, aliases }: Clients): Promise<void> {
  for (const alias of aliases) {
    await world.after(world.random.next() * 200)
    const node = gateway()
    const freshnessMs = world.pick([undefined, 100, 700, 5_000, 30_000])
    if (freshnessMs === undefined || node?.gateway === undefined) continue
    const asked = { alias: parseAliasText(alias), visibility: 'public', schema: declared, freshnessMs } as const
    await node.process.call(async () => node.gateway?.create(asked)).catch(() => {})
  }
}

/** Many first batches of a dataset at one moment, by as many callers. */
export async function race(clients: Clients, seen: Seen, name: string): Promise<void> {
  const { world } = clients
  await world.after(world.random.next() * 2_000)
  const racing = Array.from({ length: world.random.between(2, 8) }, async (_, i) => {
    const planned = plan(clients, seen, `${name}-${i}`)
    seen.batches.push(planned.batch)
    await world.after(world.random.next() * 5)
    await send(clients, seen, planned)
  })
  await Promise.all(racing)
}

/** Sends until the answer is final; a batch without a key once. */
async function send(clients: Clients, seen: Seen, planned: Planned): Promise<void> {
  const { world } = clients
  for (let tries = 0; ; tries++) {
    const answer = await attempt(clients, seen, planned)
    if (answer.kind === 'ok' || (answer.kind === 'refused' && !passing.has(answer.error))) return
    if (planned.batch.key === undefined && answer.kind === 'unknown') return
    await world.after(20 + world.random.next() * 100 * Math.min(tries + 1, 20))
  }
}

async function attempt(clients: Clients, seen: Seen, { batch, request }: Planned): Promise<Answer> {
  const { world } = clients
  let node = clients.gateway()
  for (; node === undefined; node = clients.gateway()) await world.after(50)
  const at = node
  const sentAt = world.tick()
  await world.after(world.random.next() * 3)
  let answer = await at.process
    .call(() => post(at, request))
    .then(
      ({ body }) => {
        if ('dryRun' in body) throw new RangeError('nobody asked for a dry run')
        return acknowledged(body)
      },
      (error: unknown) => refusal(seen, batch, error),
    )
  // An answer that never arrives tells its caller nothing.
  if (world.chance(clients.lostAnswers)) answer = { kind: 'unknown', error: 'lost on its way' }
  batch.attempts.push({ sentAt, answeredAt: world.tick(), session: at.process.name, answer })
  if (answer.kind === 'ok' && answer.block !== undefined && at.process.isAlive) {
    const chain = at.catalog.known(batch.dataset)
    if (chain !== undefined) seen.heads.push(headOf(world, at, chain))
  }
  return answer
}

function acknowledged({ receiptId, block, offsets }: Receipt): Answer {
  return {
    kind: 'ok',
    receiptId,
    ...(block === undefined ? {} : { block }),
    ...(offsets === undefined ? {} : { offsets }),
  }
}

function refusal(seen: Seen, batch: BatchSent, error: unknown): Answer {
  if (!(error instanceof NodeError)) return { kind: 'unknown', error: String(error) }
  const { kind } = error
  if (kind === 'Internal') seen.faults.push(`${batch.id}: ${String(error)}`)
  return { kind: errorTable[kind].status === 500 ? 'unknown' : 'refused', error: kind }
}

function headOf(world: World, node: SimulatedNode, chain: DatasetChain): HeadSeen {
  const { sequence, hash } = chain.head
  return { at: world.tick(), session: node.process.name, dataset: chain.name.alias.toLowerCase(), sequence, hash }
}

/** Looks at heads until the run is over. */
export async function watch(clients: Clients, seen: Seen, isOver: () => boolean): Promise<void> {
  const { world } = clients
  while (!isOver()) {
    await world.after(world.random.next() * 800)
    const node = clients.anyNode()
    if (node === undefined) continue
    const alias = world.pick(clients.aliases)
    // Now and then from the store alone: what was seen once must be there for those who remember nothing.
    const afresh = world.chance(0.15)
    const look = async (): Promise<DatasetChain | undefined> => {
      if (afresh) return chainOf(node.store, alias)
      const chain = await node.catalog.byAlias(alias)
      if (chain !== undefined) await node.catalog.refresh(chain)
      return chain
    }
    const chain = await node.process.call(look).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'HaltError') seen.faults.push(String(error))
      return undefined
    })
    if (chain === undefined) continue
    const head = headOf(world, node, chain)
    seen.heads.push(afresh ? { ...head, session: `${head.session} afresh` } : head)
    if (!world.chance(0.2)) continue
    const { sequence } = chain.head
    const digest = await node.process.call(() => digestAt(node.store, chain, sequence)).catch(() => undefined)
    if (digest !== undefined) seen.witnesses.push({ dataset: alias, sequence, digest })
  }
}

async function chainOf(store: ObjectStore, alias: string): Promise<DatasetChain | undefined> {
  const catalog = new Catalog({ store, announcements: openLocalAnnouncements(silentLogger), logger: silentLogger })
  const chain = await catalog.byAlias(alias)
  catalog.close()
  return chain
}

/** Checks once more what was seen before. */
export async function checkWitnesses(seen: Seen, store: ObjectStore, chains: ReadonlyMap<string, DatasetChain>) {
  for (const { dataset, sequence, digest } of seen.witnesses) {
    const chain = chains.get(dataset)
    const now = chain === undefined || sequence > chain.headSequence ? '' : await digestAt(store, chain, sequence)
    const id = `${dataset} at ${sequence}`
    seen.proofs.push({ at: 0, id, holds: true }, { at: 1, id, holds: now === digest })
  }
}

/** A digest of the dataset at a block: the block and the bytes of its slices. */
async function digestAt(store: ObjectStore, chain: DatasetChain, sequence: number): Promise<string> {
  const view = viewOf(chain, sequence)
  const hash = createHash('sha256').update(view.block.hash)
  for (const slice of view.slices) {
    const bytes = await store.get(dataKey(chain.name.id, slice.hash))
    hash.update(bytes === undefined ? 'gone' : sha3Hash(bytes))
  }
  return hash.digest('hex')
}

const extraColumns = ['extra', 'more'] as const

function plan({ world, aliases, large }: Clients, seen: Seen, id: string): Planned {
  const dataset = world.pick(aliases)
  const reused = world.chance(0.08)
    ? seen.batches.find((one) => one.dataset === dataset && one.key !== undefined)
    : undefined
  const key = reused?.key ?? (world.chance(0.6) ? id : undefined)
  const prefer = world.pick(['respond-async', 'respond-async', 'wait=1', 'wait=10', ''])
  const head = seen.heads.findLast((one) => one.dataset === dataset)
  const ifMatch = head !== undefined && world.chance(0.05) ? head.hash : undefined
  const column = world.chance(0.08) ? world.pick(extraColumns) : undefined
  if (reused !== undefined || ifMatch !== undefined || column !== undefined) seen.rejectable.add(id)
  // Of two batches with one key either may come first in the log.
  if (reused !== undefined) seen.rejectable.add(reused.id)
  const isLarge = world.chance(large)
  const { body, rows } = bodyOf(world, id, { isLarge, column, mayMistake: head !== undefined })
  return {
    batch: { id, dataset, rows, ...(key === undefined ? {} : { key }), attempts: [] },
    request: {
      alias: dataset,
      body,
      headers: {
        ...(prefer === '' ? {} : { prefer }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      query: { create: 'true' },
    },
  }
}

interface BodySpec {
  readonly isLarge: boolean
  readonly column: string | undefined
  /** The dataset is there: a row that does not fit is refused. */
  readonly mayMistake: boolean
}

function bodyOf(world: World, id: string, { isLarge, column, mayMistake }: BodySpec): { body: string; rows: number } {
  const rows = isLarge ? world.random.between(3, 5) : world.random.between(1, 5)
  const mistake = mayMistake && world.chance(0.05)
  const extra = column === undefined ? {} : { [column]: world.chance(0.5) ? 1 : 'text' }
  const fill = isLarge ? { fill: 'x'.repeat(200_000) } : {}
  let body = ''
  for (let i = 0; i < rows; i++) {
    const number = mistake && i === rows - 1 ? 'no number' : i
    body += `${JSON.stringify({ batch: id, i: number, of: rows, ...fill, ...extra })}\n`
  }
  // A body that ends in the middle of a record is refused whole.
  return { body: world.chance(0.03) ? body.slice(0, -4) : body, rows }
}
