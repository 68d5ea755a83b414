// Checks one dataset: every block of its chain from seed to head by hash, link and rule, every slice and checkpoint
// that a block names, the commits over them, the head's hint. A chain that breaks is not followed further.

import { defined } from '../../libraries/base/collections.ts'
import { type CheckpointContent, decodeCheckpoint } from '../../libraries/odf/chain/checkpoint.ts'
import { type LogPosition, logPositionOf, originLog } from '../../libraries/odf/chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../../libraries/odf/chain/rules.ts'
import { type DatasetId, type Hash, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import {
  type AddData,
  type Checkpoint,
  dataOf,
  type ExecuteTransform,
  type MetadataBlock,
} from '../../libraries/model/events.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { decodeBlock } from '../../libraries/odf/block.ts'
import { readHint } from '../store/heads.ts'
import {
  blockKey,
  blocksPrefix,
  checkpointKey,
  checkpointsPrefix,
  dataKey,
  dataPrefix,
  headKey,
} from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { inflatePage } from '../machine/work/zstd-page.ts'
import { checkSliceRows } from '../../libraries/odf/chain/check-slice.ts'
import { commitNames, committedBlocks, type CoveredBlock, leftFault, linkedBlocks, type Successors } from './commits.ts'
import { checkPacks } from './packs.ts'
import { type AddProblem, type DatasetReport, type Problem, sound } from './report.ts'

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
  const { store, id } = check
  const packs = await checkPacks(store, id, walk.add)
  try {
    await walkChain(check, walk)
  } catch (error) {
    // A pack cannot be read: `checkPacks` has said which.
    if (!(error instanceof HaltError)) throw error
    walk.add('ChainBroken', error.what)
  }
  return walk.finish(packs)
}

async function walkChain(check: DatasetCheck, walk: ChainWalk): Promise<void> {
  const { store, id, successors } = check
  const { names, packed } = await commitNames(store, id)
  const count = names.length + packed.sequences.length
  if (count === 0 && (await isUncommitted(check))) return void walk.notes.push('a creation that was not committed')
  let blocks: readonly CoveredBlock[] = []
  if (count > 0) blocks = await committedBlocks(store, { id, names, packed, successors }, walk.add)
  else if (check.commits === 'required') walk.add('CommitsDisagree', 'it has no commits')
  else {
    walk.notes.push('it has no commits; its chain is taken as refs/head says')
    blocks = await linkedBlocks(store, id, walk.add)
  }
  walk.isFollowed = blocks.at(-1)?.endsCommit?.log === originLog
  for (const [done, block] of blocks.entries()) {
    if (!(await walk.step(block))) break
    check.onBlock(done + 1, blocks.length)
  }
  await walk.checkHint(blocks)
}

/** Neither name nor head: what a process left that stopped in the middle of a creation. Its log finishes it. */
async function isUncommitted({ store, id, alias }: DatasetCheck): Promise<boolean> {
  return alias === undefined && (await store.size(headKey(id))) === undefined
}

class ChainWalk {
  readonly problems: Problem[] = []
  readonly notes: string[] = []
  readonly add: AddProblem = (kind, message) => void this.problems.push({ kind, message })
  private readonly check: DatasetCheck
  private state: ChainState = emptyChain
  private position: LogPosition | undefined
  /** The log of the last commit. */
  private log: string | undefined
  /** The chain is followed from another node: what its blocks say of logs is of that node's. */
  isFollowed = false
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
    const data = dataOf(event)
    if (data !== undefined) await this.checkDataBlock(at, block, data)
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

  async finish(packs: number): Promise<CheckedDataset> {
    const { id, alias } = this.check
    const report: DatasetReport = {
      id,
      ...defined({ alias, head: this.state.head }),
      blocks: this.state.length,
      slices: this.slices,
      packs,
      rows: this.rows,
      bytes: this.bytes,
      ok: this.problems.length === 0,
      problems: this.problems,
      notes: this.notes,
      orphans: await this.countOrphans(),
    }
    return { report, ...defined({ position: this.position }) }
  }

  private async readBlock(at: string, hash: Hash): Promise<MetadataBlock | undefined> {
    const bytes = await this.check.store.get(blockKey(this.check.id, hash))
    if (bytes === undefined) {
      this.add('ObjectMissing', `${at}: ${hash} is not stored`)
      return undefined
    }
    this.reached.blocks.add(hash)
    this.bytes += bytes.length
    const actual = sha3Hash(bytes)
    if (actual === hash) return (await sound(at, () => decodeBlock(bytes), this.add))?.block
    this.add('HashMismatch', `${at}: the bytes of ${hash} hash to ${actual}`)
    return undefined
  }

  /** The bytes of the slice or checkpoint that a block names, if they hash to its name. */
  private async readNamed(
    at: string,
    word: 'slice' | 'checkpoint',
    { physicalHash, size }: Checkpoint,
  ): Promise<Uint8Array | undefined> {
    const { store, id } = this.check
    const bytes = await store.get((word === 'slice' ? dataKey : checkpointKey)(id, physicalHash))
    if (bytes === undefined) {
      this.add('ObjectMissing', `${at}: its ${word} ${physicalHash} is not stored`)
      return undefined
    }
    this.bytes += bytes.length
    if (bytes.length !== Number(size)) {
      const kind = word === 'slice' ? 'SliceDisagrees' : 'CheckpointDisagrees'
      this.add(kind, `${at}: its ${word} has ${bytes.length} bytes, not ${size}`)
    }
    const actual = sha3Hash(bytes)
    if (actual === physicalHash) return bytes
    this.add('HashMismatch', `${at}: the bytes of its ${word} hash to ${actual}, not to ${physicalHash}`)
    return undefined
  }

  private async checkDataBlock(at: string, block: MetadataBlock, event: AddData | ExecuteTransform): Promise<void> {
    const own = event.kind === 'AddData' ? this.readPosition(at, event) : undefined
    const { newData, newCheckpoint } = event
    if (newData !== undefined) {
      this.slices++
      this.rows += Number(newData.offsetInterval.end) - Number(newData.offsetInterval.start) + 1
      this.reached.data.add(newData.physicalHash)
      const bytes = await this.readNamed(at, 'slice', newData)
      const { vocabulary, schema } = this.state
      const written = own === undefined ? {} : { own: { schema, blockTimeMs: instantMs(block.systemTime) } }
      const expected = { at, slice: newData, vocabulary, ...written }
      const { faults, unread } =
        bytes === undefined ? { faults: [] } : await checkSliceRows(bytes, expected, inflatePage)
      for (const { kind, message } of faults) this.add(kind, message)
      if (unread !== undefined) this.notes.push(unread)
    }
    if (newCheckpoint === undefined) {
      if (own !== undefined) this.add('CheckpointDisagrees', `${at}: it has no checkpoint`)
    } else if (!this.reached.checkpoints.has(newCheckpoint.physicalHash)) {
      this.reached.checkpoints.add(newCheckpoint.physicalHash)
      const bytes = await this.readNamed(at, 'checkpoint', newCheckpoint)
      const content =
        bytes === undefined || own === undefined ? undefined : await sound(at, () => decodeCheckpoint(bytes), this.add)
      if (content !== undefined && own !== undefined) this.checkOutcomes(at, event, { content, position: own })
    }
  }

  /** Where the block says that the log was read to; undefined when other software wrote it. */
  private readPosition(at: string, event: AddData): LogPosition | undefined {
    try {
      const position = logPositionOf(event.newSourceState)
      const before = this.position
      if (position !== undefined && before?.log === position.log && before.next >= position.next) {
        this.add('ChainBroken', `${at}: its log position ${position.next} does not follow ${before.next}`)
      }
      if (position !== undefined && !this.isFollowed) {
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

  /** The outcomes of a block's batches tile its rows exactly, and its checkpoint is of the same log position. */
  private checkOutcomes(
    at: string,
    event: AddData | ExecuteTransform,
    { content, position }: { readonly content: CheckpointContent; readonly position: LogPosition },
  ): void {
    const { log, partition, next, outcomes } = content
    if (log !== position.log || partition !== position.partition || next !== position.next) {
      this.add('CheckpointDisagrees', `${at}: its checkpoint is of another log position than the block`)
    }
    let offset = event.prevOffset === undefined ? 0 : Number(event.prevOffset) + 1
    const end = event.newData === undefined ? offset : Number(event.newData.offsetInterval.end) + 1
    const areTiles = outcomes.every(({ status }) => {
      if (status.kind !== 'committed') return true
      const follows = status.start === offset && status.end >= status.start
      offset = status.end + 1
      return follows
    })
    if (!areTiles || offset !== end) {
      this.add('CheckpointDisagrees', `${at}: the outcomes of its batches are not its rows`)
    }
  }

  /** The last block of a commit reads the log as far as the commit says. */
  private checkCommit(at: string, { endsCommit }: CoveredBlock): void {
    if (endsCommit === undefined || this.position === undefined || this.isFollowed) return
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
