// Which blocks a dataset's commits cover, in chain order: the commits must follow one another without a gap, each
// beginning where the one before it ended. Without commits the chain is what the head leads back to.

import type { CommitRecord } from '../chain/records.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { decodeBlock } from '../odf/block.ts'
import { readCommit } from '../store/records.ts'
import { type ChainPoint, readHint } from '../store/heads.ts'
import { blockKey, commitsPrefix, numberOfName } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { changeFault, type Successors } from './adoptions.ts'
import type { Problem } from './report.ts'

export interface CoveredBlock extends ChainPoint {
  /** The commit whose last block this is. */
  readonly endsCommit?: CommitRecord
}

export interface Coverage {
  readonly blocks: readonly CoveredBlock[]
  readonly problems: readonly Problem[]
  readonly notes: readonly string[]
}

/** The chain's blocks as commits (or, where allowed, the head) tell them. */
export async function coveredBlocks(
  store: ObjectStore,
  id: DatasetId,
  { commits, successors }: { readonly commits: 'required' | 'optional'; readonly successors: Successors },
): Promise<Coverage> {
  const names = await store.list(commitsPrefix(id))
  if (names.length > 0) return fromCommits(store, { id, names, successors })
  if (commits === 'required') {
    return { blocks: [], problems: [{ kind: 'CommitsDisagree', message: 'it has no commits' }], notes: [] }
  }
  const coverage = await fromHead(store, id)
  return { ...coverage, notes: ['it has no commits; its chain is taken as refs/head says'] }
}

async function fromCommits(
  store: ObjectStore,
  { id, names, successors }: { id: DatasetId; names: readonly string[]; successors: Successors },
): Promise<Coverage> {
  const blocks: CoveredBlock[] = []
  const problems: Problem[] = []
  const sequences: number[] = []
  for (const name of names) {
    const sequence = numberOfName(name)
    if (sequence === undefined) problems.push({ kind: 'UnknownObject', message: `commits/${name} is no commit` })
    else sequences.push(sequence)
  }
  let before: CommitRecord | undefined
  for (const sequence of sequences.sort((a, b) => a - b)) {
    if (sequence !== blocks.length) {
      const message = `commits/${sequence} does not follow: the next block is ${blocks.length}`
      problems.push({ kind: 'CommitsDisagree', message })
      break
    }
    const record = await readSound(store, { id, sequence }, problems)
    if (record === undefined) break
    if (before?.log === record.log && record.next <= before.next) {
      problems.push({
        kind: 'CommitsDisagree',
        message: `commits/${sequence} is of an earlier log position than the one before it`,
      })
    }
    const fault = before === undefined ? undefined : changeFault(successors, before.log, record.log)
    if (fault !== undefined) problems.push({ kind: 'CommitsDisagree', message: `commits/${sequence}: ${fault}` })
    before = record
    for (const [i, hash] of record.blocks.entries()) {
      const last = i === record.blocks.length - 1
      blocks.push({ sequence: sequence + i, hash, ...(last ? { endsCommit: record } : {}) })
    }
  }
  return { blocks, problems, notes: [] }
}

async function readSound(
  store: ObjectStore,
  at: { readonly id: DatasetId; readonly sequence: number },
  problems: Problem[],
): Promise<CommitRecord | undefined> {
  try {
    return await readCommit(store, at.id, at.sequence)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    problems.push({ kind: 'Malformed', message: `commits/${at.sequence}: ${error.message}` })
    return undefined
  }
}

/** Follows the links back from the head. The hashes are checked later, on the way forward. */
async function fromHead(store: ObjectStore, id: DatasetId): Promise<Omit<Coverage, 'notes'>> {
  const head = await readHint(store, id)
  const hashes: Hash[] = []
  const problems: Problem[] = []
  for (let hash = head?.hash; hash !== undefined; ) {
    hashes.push(hash)
    const bytes = await store.get(blockKey(id, hash))
    const tooLong = head !== undefined && hashes.length > head.sequence + 1
    if (bytes === undefined || tooLong) {
      const message = tooLong
        ? 'its links lead back further than the head is high'
        : `a block links to ${hash}, which is not stored`
      return { blocks: [], problems: [{ kind: tooLong ? 'ChainBroken' : 'ObjectMissing', message }] }
    }
    try {
      hash = decodeBlock(bytes).block.prevBlockHash
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      return { blocks: [], problems: [{ kind: 'Malformed', message: `${hash}: ${error.message}` }] }
    }
  }
  return { blocks: hashes.reverse().map((hash, sequence) => ({ sequence, hash })), problems }
}
