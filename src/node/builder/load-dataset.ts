// A chain as a builder goes on with it. Read back from the store it takes the head, its checkpoint, and the few blocks
// and older checkpoints that those name: the chain is never walked. From there each new block is made on the tip: the
// state of the rules, and the hashes that the next checkpoint carries on.

import { defined } from '../../libraries/base/collections.ts'
import {
  type BlockRef,
  type CheckpointContent,
  type EarlierCheckpoints,
  firstIdGroup,
  type IdGroup,
  idsRemembered,
  olderIds,
} from '../../libraries/odf/chain/checkpoint.ts'
import type { ProducerGroup } from '../../libraries/odf/chain/producers.ts'
import { type LeftLog, logPositionOf } from '../../libraries/odf/chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../../libraries/odf/chain/rules.ts'
import { type DatasetId, type Hash, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import { must } from '../../libraries/base/assert.ts'
import { DecodeError, HaltError } from '../../libraries/base/errors.ts'
import type { AddData, MetadataBlock, MetadataEvent } from '../../libraries/model/events.ts'
import { instantFromMs, instantMs } from '../../libraries/model/instant.ts'
import { defaultVocabulary } from '../../libraries/model/schema.ts'
import { encodeBlock } from '../../libraries/odf/block.ts'
import { type Head, type PlacedCommit, readHead } from '../store/heads.ts'
import { loadBlock, loadCheckpoint } from '../store/load-block.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type ChainFacts, type DatasetState, restoredState } from './dataset-state.ts'

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
  return { state: stateOf(id, commit, tip.chain), tip, commit, anchor: undefined }
}

function stateOf(
  id: DatasetId,
  { record }: PlacedCommit,
  chain: ChainState,
  { checkpoint, ids = [], producers }: Partial<Pick<ChainFacts, 'checkpoint' | 'ids' | 'producers'>> = {},
): DatasetState {
  const { vocabulary, schema, schemaSequence, length, lastOffset, systemTime } = chain
  return restoredState({
    id,
    vocabulary,
    schema,
    schemaSequence,
    next: record.next,
    nextSequence: length,
    nextOffset: lastOffset === undefined ? 0 : Number(lastOffset) + 1,
    timeMs: instantMs(must(systemTime, 'a chain with blocks has a time')),
    checkpoint,
    ids,
    producers,
  })
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
  const anchor = checkSourceState(at, checkpoint)
  const chain: ChainState = {
    ...emptyChain,
    ...(await readAspects(store, id, checkpoint)),
    length: head.sequence + 1,
    head: head.hash,
    systemTime: block.systemTime,
    datasetId: id,
    datasetKind: 'Root',
    lastOffset: event.newData?.offsetInterval.end ?? event.prevOffset,
    checkpoint: event.newCheckpoint,
    watermark: event.newWatermark,
    sourceState: event.newSourceState,
  }
  const earlier = earlierAfter(checkpoint.earlier, checkpoint.number, checkpointHash)
  const remembered = await readRemembered(store, id, { head: checkpoint, timeMs: instantMs(block.systemTime) })
  const state = stateOf(id, commit, chain, { checkpoint, ...remembered })
  return { state, tip: { chain, ...refsOf(checkpoint), earlier }, commit, anchor }
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

/** What the blocks say that the checkpoint names. */
async function readAspects(
  store: ObjectStore,
  id: DatasetId,
  checkpoint: CheckpointContent,
): Promise<Pick<ChainState, 'schema' | 'schemaSequence' | 'vocabulary' | 'pushSources'>> {
  const eventAt = async (ref: BlockRef | undefined): Promise<MetadataBlock['event'] | undefined> =>
    ref === undefined ? undefined : (await readBlock(store, id, ref)).event
  const [schema, vocab, source] = await Promise.all([
    eventAt(checkpoint.schemaBlock),
    eventAt(checkpoint.vocabularyBlock),
    eventAt(checkpoint.sourceBlock),
  ])
  const { kind: _, ...names } = vocab?.kind === 'SetVocab' ? vocab : { kind: undefined }
  return {
    schema: schema?.kind === 'SetDataSchema' ? schema.schema : undefined,
    schemaSequence: checkpoint.schemaBlock?.sequence ?? -1,
    vocabulary: { ...defaultVocabulary, ...names },
    pushSources: source?.kind === 'AddPushSource' ? new Map([[source.sourceName, source]]) : new Map(),
  }
}

/** The ids and producers that the fold remembers, oldest first, from as few checkpoints as hold them. */
async function readRemembered(
  store: ObjectStore,
  id: DatasetId,
  from: { readonly head: CheckpointContent; readonly timeMs: number },
): Promise<Pick<ChainFacts, 'ids' | 'producers'>> {
  const newestFirst: IdGroup[] = []
  const { producers } = from.head
  const marks: ProducerGroup[] = []
  let count = 0
  let content = from.head
  for (;;) {
    for (const group of content.ids.toReversed()) {
      newestFirst.push(group)
      count += group.ids.length
    }
    marks.push(...(content.producers?.groups.toReversed() ?? []))
    const oldest = newestFirst.at(-1)?.timeMs ?? from.timeMs
    const hasProducers = producers === undefined || firstIdGroup(content.number) <= producers.from
    if (hasProducers && count >= idsRemembered(from.timeMs - oldest)) break
    const older = olderIds(content)
    if (older === undefined) break
    content = await loadCheckpoint(store, { id }, older)
  }
  const ids = newestFirst.reverse()
  return producers === undefined ? { ids } : { ids, producers: { ...producers, groups: marks.reverse() } }
}

/** The blocks that say what holds now; a checkpoint names them. */
type ChainRefs = Pick<CheckpointContent, 'schemaBlock' | 'vocabularyBlock' | 'sourceBlock'>

export function refsOf({ schemaBlock, vocabularyBlock, sourceBlock }: ChainRefs): ChainRefs {
  return { ...defined({ schemaBlock, vocabularyBlock, sourceBlock }) }
}

/** The end of a chain, as the builder of the next block needs it. */
export interface ChainTip extends ChainRefs {
  readonly chain: ChainState
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

/** The tip after one more block. Throws HaltError `ChainBroken` when it breaks a rule of chains. */
function afterBlock(tip: ChainTip, block: MetadataBlock, hash: Hash): ChainTip {
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
  return { previous: hash, ...defined({ group, era }) }
}

/** Encodes `events` as the next blocks, all of one time. Throws as `afterBlock`. */
export function nextBlocks(
  tip: ChainTip,
  events: readonly MetadataEvent[],
  timeMs: number,
): { blocks: BuiltBlock[]; tip: ChainTip } {
  const blocks: BuiltBlock[] = []
  let at = tip
  for (const event of events) {
    const { head, length } = at.chain
    const block: MetadataBlock = {
      systemTime: instantFromMs(timeMs),
      ...defined({ prevBlockHash: head }),
      sequenceNumber: length,
      event,
    }
    const bytes = encodeBlock(block)
    const hash = sha3Hash(bytes)
    blocks.push({ hash, bytes })
    at = afterBlock(at, block, hash)
  }
  return { blocks, tip: at }
}
