// Takes damage out of a copy: what the origin has can be had again. Blocks are fetched by their hashes, back from the head that
// the copy had, so that a copy that is mended is the chain that it was, whatever the origin tells by now. Commits and packs
// are this store's own: those that fail are dropped, and commits made anew, of one block each, so that a reader at some
// block of the chain finds the next one.

import { originLog } from '../../libraries/odf/chain/records.ts'
import { checkNext, type ChainState } from '../../libraries/odf/chain/rules.ts'
import { ProofstreamError } from '../../libraries/client/exchange.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import { type DatasetId, type Hash, hashPattern } from '../../libraries/base/ids/identifiers.ts'
import { writeHead } from '../../node/store/heads.ts'
import {
  commitKey,
  commitsPrefix,
  headKey,
  packFileKey,
  packFilesPrefix,
  packLevelPrefix,
  packsPrefix,
} from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { fileHash, listPacks } from '../../node/store/packs.ts'
import { listNumbers, putCommit } from '../../node/store/records.ts'
import { fetchBlock, type FetchDeps, fetchNamed, hashesSince, type Source } from './fetch.ts'
import { commitAt, type FetchedBlock, readCopy } from './local-chain.ts'

const parallelFetches = 64
/** Commits that are tried for the newest block that is known. */
const lastCommits = 16

/**
 * Makes blocks, commits and packs of a copy whole; `fetchLost` brings slices and checkpoints that went with packs. Resolves with
 * its state. Throws ProofstreamError where the origin does not give what is needed; HaltError `ChainBroken` where what is left does
 * not belong together.
 */
export async function mendCopy(deps: FetchDeps, source: Source, signal: AbortSignal): Promise<ChainState> {
  const { store } = deps
  const { id } = source
  await dropBadPacks(deps, id)
  const copy = await readCopy({ store, id }, signal)
  const top = await newestKnown(deps, source)
  if (top === undefined || Number(top.block.sequenceNumber) < copy.state.length - 1) {
    // Nobody knows of more: what comes after it is followed as what is new.
    for (const number of await listNumbers(store, commitsPrefix(id))) {
      if (number >= copy.state.length) await dropCommit(deps, id, number)
    }
    return copy.state
  }
  return await fill(deps, source, copy.state, top)
}

/**
 * Fetches what blocks of the copy name and is not there, so that it need not be asked for first. Throws ProofstreamError;
 * HaltError `ChainBroken` where it is not what its block says.
 */
export async function fetchLost(deps: FetchDeps, source: Source, signal: AbortSignal): Promise<void> {
  await readCopy({ store: deps.store, id: source.id }, signal, async (blocks) => {
    signal.throwIfAborted()
    await Promise.all(blocks.map((block) => fetchNamed(deps, source, block)))
  })
}

/** The packs of a chain, if one of them is not what its record says: what they hold is then fetched loose. */
async function dropBadPacks({ store, mended }: FetchDeps, id: DatasetId): Promise<void> {
  if (await arePacksWhole(store, id)) return
  const levels = await listNumbers(store, packsPrefix(id))
  const folders = [...levels.map((level) => packLevelPrefix(id, level)), packFilesPrefix(id)]
  for (const folder of folders) await store.delete(...(await store.list(folder)).map((name) => `${folder}/${name}`))
  mended()
}

async function arePacksWhole(store: ObjectStore, id: DatasetId): Promise<boolean> {
  try {
    const packs = await listPacks(store, id)
    // Files that no record names hold what nobody finds.
    if (packs.length === 0) return (await store.list(packFilesPrefix(id))).length === 0
    for (const { record } of packs) {
      if ((await fileHash(store, packFileKey(id, record.hash)))?.hash !== record.hash) return false
    }
    return true
  } catch (error) {
    if (error instanceof HaltError) return false
    throw error
  }
}

/** The newest block that the copy is known to have had, by its head or its last commits. */
async function newestKnown(deps: FetchDeps, source: Source): Promise<FetchedBlock | undefined> {
  const { store } = deps
  const hint = new TextDecoder().decode((await store.get(headKey(source.id)))?.subarray(0, 100))
  const hashes = new Set<Hash>(hashPattern.test(hint) ? [hint] : [])
  const numbers = await listNumbers(store, commitsPrefix(source.id))
  for (const number of numbers.slice(-lastCommits)) {
    const hash = (await readableCommit(store, source.id, number))?.at(-1)
    if (hash !== undefined) hashes.add(hash)
  }
  let newest: FetchedBlock | undefined
  for (const hash of hashes) {
    const block = await fetchBlock(deps, source, hash).catch((error: unknown) => {
      // A hash that is damaged itself names nothing.
      if (error instanceof ProofstreamError && error.status === 404) return undefined
      throw error
    })
    if (block !== undefined && (newest?.block.sequenceNumber ?? -1) < block.block.sequenceNumber) newest = block
  }
  return newest
}

/** Hashes of a commit; undefined where there is none that can be read. */
async function readableCommit(store: ObjectStore, id: DatasetId, number: number): Promise<readonly Hash[] | undefined> {
  try {
    return (await commitAt({ store, id }, number))?.blocks
  } catch (error) {
    if (error instanceof DecodeError || error instanceof HaltError) return undefined
    throw error
  }
}

/** Goes on from `state`, which ends with a commit, to the block `top`. */
async function fill(deps: FetchDeps, source: Source, state: ChainState, top: FetchedBlock): Promise<ChainState> {
  const { store } = deps
  const { id } = source
  let ahead = state
  if (Number(top.block.sequenceNumber) >= state.length) {
    const hashes = await hashesSince(deps, source, { head: top, from: state.length })
    for (let at = 0; at < hashes.length; at += parallelFetches) {
      const group = hashes.slice(at, at + parallelFetches)
      const blocks = await Promise.all(group.map((hash) => fetchBlock(deps, source, hash)))
      for (const { hash, block } of blocks) ahead = checkNext(ahead, block, hash)
    }
    await fillCommits(deps, id, { from: state.length, hashes })
  }
  await writeHead(store, id, { sequence: Number(top.block.sequenceNumber), hash: top.hash })
  return ahead
}

/** Keeps each commit from `from` on that says what the chain says, and puts others in the place of those that do not. */
async function fillCommits(
  deps: FetchDeps,
  id: DatasetId,
  { from, hashes }: { readonly from: number; readonly hashes: readonly Hash[] },
): Promise<void> {
  const { store } = deps
  const there = new Set(await listNumbers(store, commitsPrefix(id)))
  for (let at = 0; at < hashes.length;) {
    const number = from + at
    const blocks = await readableCommit(store, id, number)
    const isSame = blocks?.every((hash, i) => hash === hashes[at + i]) === true
    const length = isSame ? blocks.length : 1
    if (!isSame) {
      if (there.has(number)) await dropCommit(deps, id, number)
      const record = { blocks: hashes.slice(at, at + 1), log: originLog, partition: 0, next: number + 1 }
      await putCommit(store, { id, sequence: number }, record)
    }
    // What lies within a commit is none.
    for (let inside = number + 1; inside < number + length; inside++)
      if (there.has(inside)) await dropCommit(deps, id, inside)
    at += length
  }
}

async function dropCommit({ store, mended }: FetchDeps, id: DatasetId, number: number): Promise<void> {
  await store.delete(commitKey(id, number))
  mended()
}
