// Blocks of another node's chain, and what they name: fetched, held against hash, size and rows, and stored under their
// hashes. Nothing of it is part of the copy before it is committed, and what is there already is not fetched again.

import { logPositionOf } from '../../libraries/odf/chain/records.ts'
import type { Bound } from '../../libraries/base/bound.ts'
import { type DatasetId, type Hash, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import { type Checkpoint, dataOf, type DataSlice } from '../../libraries/model/events.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import type { ChainPoint } from '../../node/store/heads.ts'
import { blockKey, checkpointKey, dataKey, type PackableKey, packFilesPrefix } from '../../node/store/layout.ts'
import { openBlock } from '../../node/store/load-block.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import type { WorkPool } from '../../node/machine/work/work-pool.ts'
import { type CheckedBlock, type FetchedBlock, hashAt, readBlock } from './local-chain.ts'
import type { ObjectFolder, Origin } from './origin.ts'

const blockBytesMost = 64 * 1024 * 1024
/** A slice or checkpoint is in memory as a whole while it is checked. */
const objectBytesMost = 1024 * 1024 * 1024
/** Room for one of which nothing says how large it is. */
const mendedBytes = 64 * 1024 * 1024
/** Blocks so near to what is known are fetched one after the other; more have their hashes listed first. */
const nearBlocks = 8
/** Hashes of a chain that are held in memory. */
const chainBlocksMost = 5_000_000

export interface FetchDeps {
  readonly origin: Origin
  readonly store: ObjectStore
  readonly work: WorkPool
  readonly logger: Logger
  /** Objects that are fetched, checked and stored at the same time, of all datasets. */
  readonly places: Bound
  /** Bytes of objects in memory, of all datasets. */
  readonly room: Bound
  /** Called for each object that failed its check and is stored anew. */
  readonly mended: () => void
}

const keyOf = { blocks: blockKey, data: dataKey, checkpoints: checkpointKey } as const

/** An object by its hash. */
export type ObjectKey = Exclude<PackableKey, { readonly kind: 'commits' }>

/** Whose chain: its name at the origin now. */
export interface Source {
  readonly id: DatasetId
  readonly alias: string
}

/** Fetches a block, unless it is stored. Throws ProofstreamError, HaltError `ChainBroken` where it is none. */
export async function fetchBlock(
  { origin, store, places, mended }: FetchDeps,
  { id, alias }: Source,
  hash: Hash,
): Promise<FetchedBlock> {
  return places.run(1, async () => {
    const key = blockKey(id, hash)
    const stored = await readBlock({ store, id }, hash)
    const isWhole = stored !== undefined && sha3Hash(stored) === hash
    const bytes = isWhole ? stored : await origin.object(alias, 'blocks', hash, blockBytesMost)
    const block = openBlock({ id, alias }, hash, bytes)
    if (!isWhole && (await store.put(key, bytes)) === 'exists') {
      await store.replace(key, bytes)
      mended()
    }
    return { hash, bytes, block }
  })
}

/** True for an object that is not loose, and that a pack has or should have. */
export async function isPacked({ store }: Pick<FetchDeps, 'store'>, { id, kind, hash }: ObjectKey): Promise<boolean> {
  const key = keyOf[kind](id, hash)
  if ((await store.modifiedMs(key)) !== undefined) return false
  return (await store.list(packFilesPrefix(id))).length > 0
}

/** Stores an object anew, whatever lies there. Throws ProofstreamError. */
export async function fetchAnew(deps: FetchDeps, source: Source, { kind, hash }: ObjectKey): Promise<void> {
  if (kind === 'blocks') {
    await fetchBlock(deps, source, hash)
    return
  }
  const { origin, store, places, room, mended } = deps
  const key = keyOf[kind](source.id, hash)
  const fetch = async (): Promise<void> => {
    await store.replace(key, await origin.object(source.alias, kind, hash, objectBytesMost))
    mended()
  }
  await room.run(mendedBytes, () => places.run(1, fetch))
}

/**
 * Hashes of the blocks from sequence `from` to the block `head`, oldest first, as the origin links or lists them: each is to
 * be held against the rules. Throws as `fetchBlock`.
 */
export async function hashesSince(
  deps: FetchDeps,
  source: Source,
  { head, from }: { readonly head: FetchedBlock; readonly from: number },
): Promise<readonly Hash[]> {
  const newestFirst: Hash[] = [head.hash]
  const top = Number(head.block.sequenceNumber)
  if (top - from >= chainBlocksMost) {
    throw new HaltError('ChainBroken', `block ${head.hash} says that it is number ${top}: no chain is that long`)
  }
  let { block } = head
  let isListed = top - from > nearBlocks
  for (let at = top; at > from; at = top + 1 - newestFirst.length) {
    const last = newestFirst.at(-1) ?? head.hash
    const page = isListed ? await deps.origin.hashesBefore(source.alias, last, at) : undefined
    if (page !== undefined) {
      newestFirst.push(...page.slice(0, at - from))
      continue
    }
    isListed = false
    if (last !== head.hash) ({ block } = await fetchBlock(deps, source, last))
    const before = block.prevBlockHash
    if (before === undefined) throw new HaltError('ChainBroken', `block ${last}, number ${at}, links to none`)
    newestFirst.push(before)
  }
  return newestFirst.reverse()
}

/**
 * Fetches what a data block names, checks and stores it. Throws ProofstreamError; HaltError `ChainBroken` where it is not what
 * the block says.
 */
export async function fetchNamed(deps: FetchDeps, source: Source, checked: CheckedBlock): Promise<void> {
  const { newData, newCheckpoint } = dataOf(checked.block.event) ?? {}
  const fetches = await Promise.allSettled([
    newCheckpoint && fetchObject(deps, source, 'checkpoints', newCheckpoint, async () => {}),
    newData && fetchObject(deps, source, 'data', newData, (bytes) => checkRows(deps, checked, newData, bytes)),
  ])
  // Both have ended: nothing is stored behind the caller's back.
  for (const one of fetches) if (one.status === 'rejected') throw one.reason
}

async function fetchObject(
  { origin, store, places, room }: FetchDeps,
  { id, alias }: Source,
  folder: Exclude<ObjectFolder, 'blocks'>,
  { physicalHash: hash, size }: Checkpoint | DataSlice,
  check: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  const key = keyOf[folder](id, hash)
  const sizeBytes = Number(size)
  if (sizeBytes > objectBytesMost) {
    throw new HaltError('ChainBroken', `${folder}/${hash} has ${sizeBytes} bytes, more than a replica takes`)
  }
  const copy = async (): Promise<void> => {
    // It was stored when it had been checked.
    if ((await storedBytes(store, key)) === sizeBytes) return
    const bytes = await origin.object(alias, folder, hash, Math.max(sizeBytes, 1))
    if (bytes.length !== sizeBytes) {
      throw new HaltError('ChainBroken', `${folder}/${hash} has ${bytes.length} bytes, its block says ${sizeBytes}`)
    }
    await check(bytes)
    if ((await store.put(key, bytes)) === 'exists') await store.replace(key, bytes)
  }
  // It is there twice while a thread reads its rows.
  await room.run(2 * sizeBytes, () => places.run(1, copy))
}

/** Size of what is stored; undefined where nothing is, or only in a pack that is damaged: no fault of the origin. */
async function storedBytes(store: ObjectStore, key: string): Promise<number | undefined> {
  return await store.size(key).catch((error: unknown) => {
    if (error instanceof HaltError) return undefined
    throw error
  })
}

/** Throws HaltError `ChainBroken` where rows are not what the block says. */
async function checkRows(
  { work, logger }: FetchDeps,
  { block, state }: CheckedBlock,
  slice: DataSlice,
  bytes: Uint8Array,
): Promise<void> {
  const { vocabulary, schema } = state
  const isOwn = block.event.kind === 'AddData' && logPositionOf(block.event.newSourceState) !== undefined
  const own = isOwn ? { own: { schema, blockTimeMs: instantMs(block.systemTime) } } : {}
  const settings = { at: `block ${block.sequenceNumber}`, slice, vocabulary, ...own }
  const { faults, unread } = await work.run('slice', [bytes.slice()], { settings })
  if (unread !== undefined)
    logger.info({ dataset: state.datasetId, cause: unread }, 'Rows of a slice are of a type that is not checked here')
  const [fault] = faults
  if (fault === undefined) return
  const more = faults.length > 1 ? `, and ${faults.length - 1} faults more` : ''
  throw new HaltError('ChainBroken', `${fault.message}${more}`)
}

/** Blocks that a chain is walked back for the place where it parts from the copy. */
const partingBlocksMost = 64

/** The first difference of two chains that differ at `seen`, as far back as the origin's blocks can be had. */
export async function partingOf(
  deps: FetchDeps,
  source: Source,
  seen: { readonly ours: ChainPoint; readonly theirs: ChainPoint },
): Promise<typeof seen> {
  let found = seen
  const least = Math.max(0, seen.ours.sequence - partingBlocksMost)
  for (let sequence = seen.ours.sequence - 1; sequence >= least; sequence--) {
    const theirs = await fetchBlock(deps, source, found.theirs.hash).catch(() => undefined)
    const hash = theirs?.block.prevBlockHash
    const ours = hash && (await hashAt({ store: deps.store, id: source.id }, sequence))
    if (hash === undefined || ours === undefined || ours === hash) break
    found = { ours: { sequence, hash: ours }, theirs: { sequence, hash } }
  }
  return found
}

/** The dataset of a chain at a node that names none: what its first block says. Throws as `fetchBlock`. */
export async function datasetOfChain(origin: Origin, alias: string, head: Hash): Promise<DatasetId> {
  for (let hash = head, blocks = 0; blocks < chainBlocksMost; blocks++) {
    const { event, prevBlockHash } = openBlock(
      { id: alias },
      hash,
      await origin.object(alias, 'blocks', hash, blockBytesMost),
    )
    if (event.kind === 'Seed') return event.datasetId
    if (prevBlockHash === undefined) break
    hash = prevBlockHash
  }
  throw new HaltError('ChainBroken', `the chain of ${alias} does not begin with a Seed`)
}
