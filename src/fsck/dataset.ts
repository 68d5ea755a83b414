// Checks one dataset: every block of its chain from seed to head by hash, link and rule, every slice and checkpoint
// that a block names, the commits over them, the head's hint. A chain that breaks is not followed further.

import { decodeCheckpoint } from '../chain/checkpoint.ts'
import { type LogPosition, logPositionOf } from '../chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../chain/rules.ts'
import { sha3Hash } from '../ids/multihash.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { AddData, DatasetId, ExecuteTransform, Hash, MetadataBlock } from '../model/events.ts'
import { instantMs } from '../model/instant.ts'
import { decodeBlock } from '../odf/block.ts'
import { readHint } from '../store/heads.ts'
import {
  blockKey,
  blocksPrefix,
  checkpointKey,
  checkpointsPrefix,
  commitsPrefix,
  dataKey,
  dataPrefix,
  headKey,
} from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { leftFault, type Successors } from './adoptions.ts'
import { type CoveredBlock, coveredBlocks } from './commits.ts'
import type { DatasetReport, Problem, ProblemKind } from './report.ts'
import { checkSlice } from './slice.ts'

export interface DatasetCheck {
  readonly store: ObjectStore
  readonly id: DatasetId
  readonly alias?: string
  /** `optional`: a chain without any commit is taken as its head says (one that was copied from elsewhere). */
  readonly commits: 'required' | 'optional'
  readonly successors: Successors
  /** Called after each block. */
  readonly onBlock: (blocksDone: number, blocks: number) => void
}

/** A dataset's report, and where its chain says that the log was read to. */
export interface CheckedDataset {
  readonly report: DatasetReport
  readonly position?: LogPosition
}

/** Never throws for what is wrong in the store; IO errors pass. */
export async function checkDataset(check: DatasetCheck): Promise<CheckedDataset> {
  const walk = new ChainWalk(check)
  if (await isUncommitted(check)) {
    walk.notes.push('a creation that was not committed')
    return walk.finish()
  }
  const { blocks, problems, notes } = await coveredBlocks(check.store, check.id, check)
  walk.problems.push(...problems)
  walk.notes.push(...notes)
  for (const [done, block] of blocks.entries()) {
    if (!(await walk.step(block))) break
    check.onBlock(done + 1, blocks.length)
  }
  await walk.checkHint(blocks)
  return walk.finish()
}

/** Neither name nor commit nor head: what a process left that stopped in the middle of a creation. Its log finishes it. */
async function isUncommitted({ store, id, alias }: DatasetCheck): Promise<boolean> {
  if (alias !== undefined || (await store.list(commitsPrefix(id))).length > 0) return false
  return (await store.size(headKey(id))) === undefined
}

class ChainWalk {
  readonly problems: Problem[] = []
  readonly notes: string[] = []
  private readonly check: DatasetCheck
  private state: ChainState = emptyChain
  private position: LogPosition | undefined
  /** The log of the last commit. */
  private log: string | undefined
  private readonly reached = { blocks: new Set<Hash>(), data: new Set<Hash>(), checkpoints: new Set<Hash>() }
  private slices = 0
  private rows = 0
  private bytes = 0

  constructor(check: DatasetCheck) {
    this.check = check
  }

  /** Checks the next block; false when the chain ends or breaks here. */
  async step(covered: CoveredBlock): Promise<boolean> {
    const at = `block ${covered.sequence}`
    const block = await this.readBlock(at, covered.hash)
    if (block === undefined) return false
    try {
      this.state = checkNext(this.state, block, covered.hash)
    } catch (error) {
      if (!(error instanceof HaltError) && !(error instanceof DecodeError)) throw error
      this.add('ChainBroken', error.message)
      return false
    }
    if (covered.sequence === 0 && this.state.datasetId !== this.check.id) {
      this.add('ChainBroken', `${at}: its seed is that of ${this.state.datasetId}`)
    }
    const { event } = block
    if (event.kind === 'AddData' || event.kind === 'ExecuteTransform') await this.checkDataBlock(at, block, event)
    this.checkCommit(at, covered)
    this.log = covered.endsCommit?.log ?? this.log
    return true
  }

  async checkHint(blocks: readonly CoveredBlock[]): Promise<void> {
    const hint = await readHint(this.check.store, this.check.id)
    const last = blocks.at(-1)
    if (last === undefined) this.add('ObjectMissing', 'it has no blocks that a commit or a head leads to')
    else if (hint === undefined) this.notes.push('refs/head is missing or names no block')
    else if (blocks[hint.sequence]?.hash !== hint.hash) {
      this.add('CommitsDisagree', `refs/head names block ${hint.sequence}, ${hint.hash}, which is not in the chain`)
    } else if (hint.sequence < last.sequence) {
      this.notes.push(`refs/head is ${last.sequence - hint.sequence} blocks behind`)
    }
  }

  async finish(): Promise<CheckedDataset> {
    const { id, alias } = this.check
    const report: DatasetReport = {
      id,
      ...(alias === undefined ? {} : { alias }),
      ...(this.state.head === undefined ? {} : { head: this.state.head }),
      blocks: this.state.length,
      slices: this.slices,
      rows: this.rows,
      bytes: this.bytes,
      ok: this.problems.length === 0,
      problems: this.problems,
      notes: this.notes,
      orphans: await this.countOrphans(),
    }
    return { report, ...(this.position === undefined ? {} : { position: this.position }) }
  }

  private add(kind: ProblemKind, message: string): void {
    this.problems.push({ kind, message })
  }

  private async readBlock(at: string, hash: Hash): Promise<MetadataBlock | undefined> {
    const { store, id } = this.check
    const bytes = await store.get(blockKey(id, hash))
    if (bytes === undefined) {
      this.add('ObjectMissing', `${at}: ${hash} is not stored`)
      return undefined
    }
    this.reached.blocks.add(hash)
    this.bytes += bytes.length
    const actual = sha3Hash(bytes)
    if (actual !== hash) {
      this.add('HashMismatch', `${at}: the bytes of ${hash} hash to ${actual}`)
      return undefined
    }
    try {
      return decodeBlock(bytes).block
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.add('Malformed', `${at}: ${error.message}`)
      return undefined
    }
  }

  private async checkDataBlock(at: string, block: MetadataBlock, event: AddData | ExecuteTransform): Promise<void> {
    const { store, id } = this.check
    const own = event.kind === 'AddData' ? this.readPosition(at, event) : undefined
    const { newData, newCheckpoint } = event
    if (newData !== undefined) {
      const bytes = await store.get(dataKey(id, newData.physicalHash))
      this.slices++
      this.rows += Number(newData.offsetInterval.end) - Number(newData.offsetInterval.start) + 1
      this.bytes += bytes?.length ?? 0
      this.reached.data.add(newData.physicalHash)
      if (bytes === undefined) this.add('ObjectMissing', `${at}: its slice ${newData.physicalHash} is not stored`)
      else {
        const { vocabulary, schema } = this.state
        const written = own === undefined ? {} : { own: { schema, blockTimeMs: instantMs(block.systemTime) } }
        const { problems, unread } = await checkSlice(bytes, { at, slice: newData, vocabulary, ...written })
        this.problems.push(...problems)
        if (unread !== undefined) this.notes.push(unread)
      }
    }
    if (newCheckpoint !== undefined) await this.checkCheckpoint(at, event, own)
    else if (own !== undefined) this.add('CheckpointDisagrees', `${at}: it has no checkpoint`)
  }

  /** Where the block says that the log was read to; undefined when other software wrote it. */
  private readPosition(at: string, event: AddData): LogPosition | undefined {
    try {
      const position = logPositionOf(event.newSourceState)
      const before = this.position
      if (position !== undefined && before?.log === position.log && before.next >= position.next) {
        this.add('ChainBroken', `${at}: its log position ${position.next} does not follow ${before.next}`)
      }
      if (position !== undefined) {
        const { log: to, adopted = [] } = position
        const fault = leftFault(this.check.successors, { from: this.log ?? to, to, adopted })
        if (fault !== undefined) this.add('ChainBroken', `${at}: ${fault}`)
      }
      this.position = position ?? before
      return position
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.add('Malformed', `${at}: ${error.message}`)
      return undefined
    }
  }

  private async checkCheckpoint(at: string, event: AddData | ExecuteTransform, own?: LogPosition): Promise<void> {
    const expected = event.newCheckpoint
    if (expected === undefined) return
    if (this.reached.checkpoints.has(expected.physicalHash)) return
    this.reached.checkpoints.add(expected.physicalHash)
    const bytes = await this.check.store.get(checkpointKey(this.check.id, expected.physicalHash))
    if (bytes === undefined) {
      this.add('ObjectMissing', `${at}: its checkpoint ${expected.physicalHash} is not stored`)
      return
    }
    this.bytes += bytes.length
    if (bytes.length !== Number(expected.size)) {
      this.add('CheckpointDisagrees', `${at}: its checkpoint has ${bytes.length} bytes, not ${expected.size}`)
    }
    const actual = sha3Hash(bytes)
    if (actual !== expected.physicalHash) {
      this.add('HashMismatch', `${at}: the bytes of its checkpoint hash to ${actual}, not to ${expected.physicalHash}`)
    } else if (own !== undefined) this.checkOutcomes(at, event, { bytes, position: own })
  }

  /** The outcomes of a block's batches tile its rows exactly, and its checkpoint is of the same log position. */
  private checkOutcomes(
    at: string,
    event: AddData | ExecuteTransform,
    checkpoint: { readonly bytes: Uint8Array; readonly position: LogPosition },
  ): void {
    try {
      const { log, partition, next, outcomes } = decodeCheckpoint(checkpoint.bytes)
      const { position } = checkpoint
      if (log !== position.log || partition !== position.partition || next !== position.next) {
        this.add('CheckpointDisagrees', `${at}: its checkpoint is of another log position than the block`)
      }
      const from = event.prevOffset === undefined ? 0 : Number(event.prevOffset) + 1
      let offset = from
      for (const { status } of outcomes) {
        if (status.kind !== 'committed') continue
        if (status.start !== offset || status.end < status.start) break
        offset = status.end + 1
      }
      const end = event.newData === undefined ? from : Number(event.newData.offsetInterval.end) + 1
      const committed = outcomes.reduce(
        (rows, { status }) => rows + (status.kind === 'committed' ? status.end - status.start + 1 : 0),
        0,
      )
      if (offset !== end || committed !== end - from) {
        this.add('CheckpointDisagrees', `${at}: the outcomes of its batches are not its rows`)
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.add('Malformed', `${at}: ${error.message}`)
    }
  }

  /** The last block of a commit reads the log as far as the commit says. */
  private checkCommit(at: string, { endsCommit }: CoveredBlock): void {
    if (endsCommit === undefined || this.position === undefined) return
    const { log, partition, next } = this.position
    if (log !== endsCommit.log || partition !== endsCommit.partition || next !== endsCommit.next) {
      this.add('CommitsDisagree', `${at}: its commit is of another log position than the block`)
    }
  }

  private async countOrphans(): Promise<number> {
    const { store, id } = this.check
    let orphans = 0
    const folders: [string, ReadonlySet<Hash>][] = [
      [blocksPrefix(id), this.reached.blocks],
      [dataPrefix(id), this.reached.data],
      [checkpointsPrefix(id), this.reached.checkpoints],
    ]
    for (const [prefix, reached] of folders) {
      for (const name of await store.list(prefix)) if (!reached.has(name)) orphans++
    }
    return orphans
  }
}
