// Reads back from the store what a builder must know to go on with a chain: the head, its checkpoint, and the few
// blocks and older checkpoints that those name. Never walks the chain.

import {
  type BlockRef,
  type CheckpointContent,
  type EarlierCheckpoints,
  type IdGroup,
  idsRemembered,
  olderIds,
} from '../chain/checkpoint.ts'
import { type LeftLog, logPositionOf } from '../chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../chain/rules.ts'
import { sha3Hash } from '../ids/multihash.ts'
import { assert, must } from '../lib/assert.ts'
import { DecodeError, HaltError } from '../model/errors.ts'
import type { AddData, DatasetId, Hash, MetadataBlock, MetadataEvent } from '../model/events.ts'
import { instantFromMs, instantMs } from '../model/instant.ts'
import { type DataSchema, defaultVocabulary, type Vocabulary } from '../model/schema.ts'
import { encodeBlock } from '../odf/block.ts'
import { type Head, type PlacedCommit, readHead } from '../store/heads.ts'
import { loadBlock, loadCheckpoint } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type DatasetState, restoredState } from './dataset-state.ts'

export interface LoadedDataset {
  readonly state: DatasetState
  readonly tip: ChainTip
  /** The commit of the head. */
  readonly commit: PlacedCommit
  /** Hash of the last message that the chain consumed; undefined while the chain is a bare creation. */
  readonly anchor: Hash | undefined
}

/** The dataset as its chain has it, or undefined when there is no chain. Throws HaltError `ChainBroken`. */
export async function loadDataset(store: ObjectStore, id: DatasetId): Promise<LoadedDataset | undefined> {
  try {
    const head = await readHead(store, id)
    if (head === undefined) return undefined
    const commit = head.commit
    if (commit === undefined) throw broken(id, 'its head is in no commit')
    const block = await readBlock(store, id, head)
    return block.event.kind === 'AddData'
      ? await fromCheckpoint(store, { id, head, commit, block, event: block.event })
      : await fromCreation(store, id, commit)
  } catch (error) {
    if (error instanceof DecodeError) throw new HaltError('ChainBroken', `dataset ${id}: ${error.message}`, error)
    throw error
  }
}

function broken(id: DatasetId, reason: string): HaltError {
  return new HaltError('ChainBroken', `dataset ${id}: ${reason}`)
}

async function readBlock(store: ObjectStore, id: DatasetId, { hash, sequence }: BlockRef): Promise<MetadataBlock> {
  const block = await loadBlock(store, { id }, hash)
  if (Number(block.sequenceNumber) !== sequence) throw broken(id, `block ${hash} is not number ${sequence}`)
  return block
}

/** A chain without data: all of it is one commit. */
async function fromCreation(store: ObjectStore, id: DatasetId, commit: PlacedCommit): Promise<LoadedDataset> {
  if (commit.sequence !== 0) throw broken(id, 'its head is no AddData')
  let tip = emptyTip
  for (const [sequence, hash] of commit.record.blocks.entries()) {
    tip = afterBlock(tip, await readBlock(store, id, { hash, sequence }), hash)
  }
  const { chain } = tip
  const state = restoredState({
    id,
    vocabulary: chain.vocabulary,
    schema: chain.schema,
    schemaSequence: chain.schemaSequence,
    next: commit.record.next,
    nextSequence: chain.length,
    nextOffset: 0,
    timeMs: instantMs(must(chain.systemTime, 'a chain with blocks has a time')),
    checkpoint: undefined,
    ids: [],
  })
  return { state, tip, commit, anchor: undefined }
}

interface DataHead {
  readonly id: DatasetId
  readonly head: Head
  readonly commit: PlacedCommit
  readonly block: MetadataBlock
  readonly event: AddData
}

async function fromCheckpoint(store: ObjectStore, at: DataHead): Promise<LoadedDataset> {
  const { id, head, commit, block, event } = at
  const checkpointHash = event.newCheckpoint?.physicalHash
  if (checkpointHash === undefined) throw broken(id, 'its head has no checkpoint')
  const checkpoint = await loadCheckpoint(store, { id }, checkpointHash)
  const { schema, vocabulary, pushSources } = await readAspects(store, id, checkpoint)
  const lastOffset = event.newData?.offsetInterval.end ?? event.prevOffset
  const anchor = checkSourceState(at, checkpoint)
  const chain: ChainState = {
    ...emptyChain,
    length: head.sequence + 1,
    head: head.hash,
    systemTime: block.systemTime,
    datasetId: id,
    datasetKind: 'Root',
    vocabulary,
    schema,
    schemaSequence: checkpoint.schemaBlock?.sequence ?? -1,
    pushSources,
    lastOffset,
    checkpoint: event.newCheckpoint,
    watermark: event.newWatermark,
    sourceState: event.newSourceState,
  }
  const { schemaBlock, vocabularyBlock, sourceBlock } = checkpoint
  const tip: ChainTip = {
    chain,
    ...(schemaBlock === undefined ? {} : { schemaBlock }),
    ...(vocabularyBlock === undefined ? {} : { vocabularyBlock }),
    ...(sourceBlock === undefined ? {} : { sourceBlock }),
    earlier: earlierAfter(checkpoint.earlier, checkpoint.number, checkpointHash),
  }
  const timeMs = instantMs(block.systemTime)
  const state = restoredState({
    id,
    vocabulary,
    schema,
    schemaSequence: chain.schemaSequence,
    next: commit.record.next,
    nextSequence: chain.length,
    nextOffset: lastOffset === undefined ? 0 : Number(lastOffset) + 1,
    timeMs,
    checkpoint,
    ids: await readIds(store, id, { head: checkpoint, timeMs }),
  })
  return { state, tip, commit, anchor }
}

/** The anchor, after checking that commit, checkpoint and source state agree on where the log was read to. */
function checkSourceState({ id, commit, event }: DataHead, checkpoint: CheckpointContent): Hash {
  const position = logPositionOf(event.newSourceState)
  const { log, next, partition } = commit.record
  const agree = [position, checkpoint].every(
    (said) => said?.next === next && said.log === log && said.partition === partition,
  )
  if (!agree || position === undefined) throw broken(id, 'commit, source state and checkpoint disagree on the log')
  return position.anchor
}

interface Aspects {
  readonly schema: DataSchema | undefined
  readonly vocabulary: Vocabulary
  readonly pushSources: ChainState['pushSources']
}

async function readAspects(store: ObjectStore, id: DatasetId, checkpoint: CheckpointContent): Promise<Aspects> {
  const eventAt = async (ref: BlockRef | undefined): Promise<MetadataBlock['event'] | undefined> =>
    ref === undefined ? undefined : (await readBlock(store, id, ref)).event
  const [schema, vocab, source] = await Promise.all([
    eventAt(checkpoint.schemaBlock),
    eventAt(checkpoint.vocabularyBlock),
    eventAt(checkpoint.sourceBlock),
  ])
  let vocabulary: Vocabulary = defaultVocabulary
  if (vocab?.kind === 'SetVocab') {
    const { kind: _, ...names } = vocab
    vocabulary = { ...defaultVocabulary, ...names }
  }
  return {
    schema: schema?.kind === 'SetDataSchema' ? schema.schema : undefined,
    vocabulary,
    pushSources: source?.kind === 'AddPushSource' ? new Map([[source.sourceName, source]]) : new Map(),
  }
}

/** The ids that the fold remembers, oldest first, from as few checkpoints as hold them. */
async function readIds(
  store: ObjectStore,
  id: DatasetId,
  from: { readonly head: CheckpointContent; readonly timeMs: number },
): Promise<readonly IdGroup[]> {
  const newestFirst: IdGroup[] = []
  let count = 0
  let content = from.head
  for (;;) {
    for (const group of content.ids.toReversed()) {
      newestFirst.push(group)
      count += group.ids.length
    }
    const oldest = newestFirst.at(-1)?.timeMs ?? from.timeMs
    if (count >= idsRemembered(from.timeMs - oldest)) break
    const older = olderIds(content)
    if (older === undefined) break
    content = await loadCheckpoint(store, { id }, older)
  }
  return newestFirst.reverse()
}

export interface ChainTip {
  readonly chain: ChainState
  readonly schemaBlock?: BlockRef
  readonly vocabularyBlock?: BlockRef
  readonly sourceBlock?: BlockRef
  /** Checkpoints before the next one. */
  readonly earlier: EarlierCheckpoints
  /** The logs that the chain has left since its last block. */
  readonly adopted?: readonly LeftLog[]
}

export const emptyTip: ChainTip = { chain: emptyChain, earlier: {} }

/** A block's bytes under the hash that names them. */
export interface BuiltBlock {
  readonly hash: Hash
  readonly bytes: Uint8Array
}

/** Encodes `event` as the next block. Throws HaltError `ChainBroken` when it breaks a rule of chains. */
export function nextBlock(tip: ChainTip, event: MetadataEvent, timeMs: number): { block: BuiltBlock; tip: ChainTip } {
  const { head, length } = tip.chain
  const block: MetadataBlock = {
    systemTime: instantFromMs(timeMs),
    ...(head === undefined ? {} : { prevBlockHash: head }),
    sequenceNumber: length,
    event,
  }
  const bytes = encodeBlock(block)
  const hash = sha3Hash(bytes)
  return { block: { hash, bytes }, tip: afterBlock(tip, block, hash) }
}

/** The tip after a block that is already stored. Throws HaltError `ChainBroken`. */
export function afterBlock(tip: ChainTip, block: MetadataBlock, hash: Hash): ChainTip {
  const ref: BlockRef = { hash, sequence: tip.chain.length }
  const chain = checkNext(tip.chain, block, hash)
  switch (block.event.kind) {
    case 'SetDataSchema':
      return { ...tip, chain, schemaBlock: ref }
    case 'SetVocab':
      return { ...tip, chain, vocabularyBlock: ref }
    case 'AddPushSource':
      return { ...tip, chain, sourceBlock: ref }
    default:
      return { ...tip, chain }
  }
}

/** The checkpoints before number + 1, after checkpoint `number` with `hash`. */
export function earlierAfter(earlier: EarlierCheckpoints, number: number, hash: Hash): EarlierCheckpoints {
  const group = (number + 1) % 64 === 0 ? hash : earlier.group
  const era = (number + 1) % 4096 === 0 ? hash : earlier.era
  return { previous: hash, ...(group === undefined ? {} : { group }), ...(era === undefined ? {} : { era }) }
}

/** Encodes `events` as the next blocks, all of one time. */
export function nextBlocks(
  tip: ChainTip,
  events: readonly MetadataEvent[],
  timeMs: number,
): { blocks: BuiltBlock[]; tip: ChainTip } {
  assert(events.length > 0, 'there are events to write')
  const blocks: BuiltBlock[] = []
  let at = tip
  for (const event of events) {
    const next = nextBlock(at, event, timeMs)
    blocks.push(next.block)
    at = next.tip
  }
  return { blocks, tip: at }
}
