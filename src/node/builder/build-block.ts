// From a plan to everything that its commit puts into the store: slice, checkpoint, blocks, commit record. The same
// plan over the same log gives the same bytes, whichever builder makes them.

import { defined } from '../../libraries/base/collections.ts'
import { type CheckpointContent, encodeCheckpoint } from '../../libraries/odf/chain/checkpoint.ts'
import {
  type CommitRecord,
  logPositionKind,
  logPositionText,
  type NameRecord,
} from '../../libraries/odf/chain/records.ts'
import { type Hash, sha3Hash } from '../../libraries/base/ids/identifiers.ts'
import type { AddData, MetadataEvent, SourceState } from '../../libraries/model/events.ts'
import { instantFromMs, instantMs } from '../../libraries/model/instant.ts'
import { buildSlice, type BuiltSlice, type SliceDeps, sliceWriterName } from './build-slice.ts'
import {
  type BlockPlan,
  creationEvents,
  type CreationPlan,
  type DataPlan,
  nameRecordOf,
  pushSource,
  sourceName,
} from './dataset-state.ts'
import { type BuiltBlock, type ChainTip, earlierAfter, nextBlocks, refsOf } from './load-dataset.ts'

/** What one commit stores, and the tip after it. */
export interface BuiltCommit {
  /** Absent where there are no rows, or the store has it already. */
  readonly slice?: { readonly hash: Hash; readonly chunks: readonly Uint8Array[] }
  readonly checkpoint?: BuiltBlock
  readonly blocks: readonly BuiltBlock[]
  readonly record: CommitRecord
  /** Of a creation. */
  readonly name?: NameRecord
  readonly tip: ChainTip
}

export interface BuildDeps extends SliceDeps {
  readonly log: string
  readonly partition: number
  /** Hash of the message at this position. */
  readonly anchorAt: (position: number) => Promise<Hash>
}

/** Builds what `plan` says on top of `tip`. Throws HaltError `ChainBroken` when the result would break a rule of chains. */
export async function buildCommit(plan: BlockPlan, tip: ChainTip, deps: BuildDeps): Promise<BuiltCommit> {
  return plan.kind === 'creation' ? buildCreation(plan, tip, deps) : buildData(plan, tip, deps)
}

function buildCreation(plan: CreationPlan, tip: ChainTip, deps: BuildDeps): BuiltCommit {
  const { blocks, tip: after } = nextBlocks(tip, creationEvents(plan.header), plan.timeMs)
  const { log, partition } = deps
  return {
    blocks,
    record: { blocks: blocks.map(({ hash }) => hash), log, partition, next: plan.next },
    name: nameRecordOf(plan.header, deps),
    tip: after,
  }
}

async function buildData(plan: DataPlan, tip: ChainTip, deps: BuildDeps): Promise<BuiltCommit> {
  const { log, partition } = deps
  const slice = plan.rows === 0 ? undefined : await buildSlice(plan, deps)
  const anchor = await deps.anchorAt(plan.next - 1)
  const before = nextBlocks(tip, [...(plan.events ?? []), ...schemaChange(plan)], plan.timeMs)
  const content = checkpointContent(plan, before.tip, deps)
  const bytes = encodeCheckpoint(content)
  const checkpoint = { hash: sha3Hash(bytes), bytes }
  const state: SourceState = {
    sourceName,
    kind: logPositionKind,
    value: logPositionText({ anchor, log, next: plan.next, partition, ...defined({ adopted: tip.adopted }) }),
  }
  const event = addData(plan, before.tip, { slice, checkpoint, state })
  const last = nextBlocks(before.tip, [event], plan.timeMs)
  const blocks = [...before.blocks, ...last.blocks]
  const { adopted: _, ...settled } = last.tip
  return {
    ...(slice?.chunks === undefined ? {} : { slice: { hash: slice.physicalHash, chunks: slice.chunks } }),
    checkpoint,
    blocks,
    record: { blocks: blocks.map(({ hash }) => hash), log, partition, next: plan.next },
    tip: { ...settled, earlier: earlierAfter(tip.earlier, content.number, checkpoint.hash) },
  }
}

function schemaChange(plan: DataPlan): readonly MetadataEvent[] {
  if (!plan.schemaChanged || plan.schema === undefined) return []
  return [{ kind: 'SetDataSchema', schema: plan.schema }, pushSource(plan.schema)]
}

function checkpointContent(plan: DataPlan, tip: ChainTip, deps: BuildDeps): CheckpointContent {
  return {
    ...plan.checkpoint,
    log: deps.log,
    partition: deps.partition,
    next: plan.next,
    ...refsOf(tip),
    earlier: tip.earlier,
    sliceWriter: `${sliceWriterName}, ${deps.compressor.name}`,
  }
}

interface DataParts {
  readonly slice: BuiltSlice | undefined
  readonly checkpoint: BuiltBlock
  readonly state: SourceState
}

/** Carries offset, checkpoint and watermark on from the block before. */
function addData(plan: DataPlan, { chain }: ChainTip, { slice, checkpoint, state }: DataParts): AddData {
  const watermark = laterWatermark(chain.watermark, slice?.latestEventMs)
  const newData =
    slice === undefined
      ? undefined
      : {
          logicalHash: slice.logicalHash,
          physicalHash: slice.physicalHash,
          offsetInterval: { start: plan.firstOffset, end: plan.firstOffset + slice.rows - 1 },
          size: slice.sizeBytes,
        }
  return {
    kind: 'AddData',
    ...(chain.checkpoint === undefined ? {} : { prevCheckpoint: chain.checkpoint.physicalHash }),
    ...defined({ prevOffset: chain.lastOffset, newData }),
    newCheckpoint: { physicalHash: checkpoint.hash, size: checkpoint.bytes.length },
    ...defined({ newWatermark: watermark }),
    newSourceState: state,
  }
}

function laterWatermark(carried: string | undefined, latestEventMs: number | undefined): string | undefined {
  if (latestEventMs === undefined) return carried
  if (carried !== undefined && instantMs(carried) >= latestEventMs) return carried
  return instantFromMs(latestEventMs)
}
