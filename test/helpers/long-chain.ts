// Chains of many small blocks, written by the codecs without a log, a builder or slices: what follows a chain sees no
// difference. Objects are told by their key within the dataset, so that one chain can stand for several datasets.

import {
  creationEvents,
  emptyIdMemory,
  endIdGroup,
  type IdMemory,
  rememberId,
} from '../../src/node/builder/dataset-state.ts'
import { earlierAfter, emptyTip, nextBlocks, refsOf } from '../../src/node/builder/load-dataset.ts'
import { type CheckpointContent, encodeCheckpoint, type KnownId } from '../../src/libraries/odf/chain/checkpoint.ts'
import { commitCodec, logPositionKind, logPositionText, nameCodec } from '../../src/libraries/odf/chain/records.ts'
import { type Hash, sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import type { CreateHeader } from '../../src/node/log/messages.gen.ts'
import type { AddData } from '../../src/libraries/model/events.ts'
import { blockKey, checkpointKey, commitKey, datasetKey, nameKey } from '../../src/node/store/layout.ts'
import { baseMs, batchId, schemaOf } from '../node/builder/support.ts'

const noLog = 'log'
const noMessage = sha3Hash(utf8('a message'))

export interface ChainSpec {
  readonly dataset: string
  /** AddData blocks, beside those of the creation. */
  readonly blocks: number
  /** Keyed batches of block `number` (from 0); none by default. */
  readonly ids?: (number: number) => readonly KnownId[]
  /** Milliseconds from the creation to block `number`. */
  readonly atMs?: (number: number) => number
  /** Told what the fold remembers after each block, before the block is made. */
  readonly onBlock?: (number: number, memory: IdMemory) => void
  /** Every block names a slice of 10 rows, which nobody stores. */
  readonly slices?: boolean
  /** The slice of block `number`, in place of those; one batch without a key is all of it. */
  readonly sliceOf?: (number: number) => NonNullable<AddData['newData']>
  /** Id of the log that it is made of, whose messages all have one hash. */
  readonly log?: string
  readonly anchor?: Hash
  /** What block `number` says its slice's size is; 1,000 bytes by default. */
  readonly sliceBytes?: (number: number) => number
}

export interface StoredObject {
  readonly key: string
  readonly bytes: Uint8Array
}

/** The name record of a dataset whose chain was made here. */
export function nameObject(dataset: string, alias: string, log = noLog): StoredObject {
  const record = { id: dataset, alias, log, partition: 0, visibility: 'public' } as const
  return { key: nameKey(alias), bytes: nameCodec.encode(record) }
}

/** What a builder would have stored of a chain, but for slices, heads and names. */
export function* chainObjects(spec: ChainSpec): Generator<StoredObject> {
  const {
    dataset,
    blocks,
    ids = () => [],
    atMs = (number) => (number + 1) * 1000,
    slices = true,
    sliceBytes = () => 1000,
    sliceOf = (number) => namedSlice(number, sliceBytes(number)),
    log = noLog,
    anchor = noMessage,
  } = spec
  const header: CreateHeader = {
    kind: 'create',
    writer: 'w',
    n: 0,
    at: new Date(baseMs).toISOString(),
    dataset,
    alias: 'acme/long',
    visibility: 'public',
    time: new Date(baseMs).toISOString(),
    schema: schemaOf(),
  }
  const memory = emptyIdMemory()
  const creation = nextBlocks(emptyTip, creationEvents(header), baseMs)
  let tip = creation.tip
  const record = { blocks: creation.blocks.map(({ hash }) => hash), log, partition: 0, next: 1 }
  yield { key: commitKey(dataset, 0), bytes: commitCodec.encode(record) }
  for (const { hash, bytes } of creation.blocks) yield { key: blockKey(dataset, hash), bytes }
  for (let number = 0; number < blocks; number++) {
    const timeMs = baseMs + atMs(number)
    const next = 2 + number
    const mine = ids(number)
    const newData = slices ? sliceOf(number) : undefined
    for (const { id, bodyHash } of mine) rememberId(memory, id, bodyHash)
    const content: CheckpointContent = {
      number,
      log,
      partition: 0,
      next,
      moved: tip.chain.length,
      outcomes:
        spec.sliceOf === undefined
          ? mine.map(({ id }, index) => outcomeOf(id, [number * 10, number * 10], { next, index }))
          : [outcomeOf(batchId(`batch ${number}`), offsetsOf(newData), { next, index: 0 })],
      attempts: [],
      writers: [],
      ids: endIdGroup(memory, number, timeMs),
      ...(spec.sliceOf === undefined ? {} : refsOf(tip)),
      earlier: tip.earlier,
      sliceWriter: 'slice-1, zstd 1.5.7',
    }
    spec.onBlock?.(number, memory)
    const bytes = encodeCheckpoint(content)
    const checkpoint = { physicalHash: sha3Hash(bytes), size: bytes.length }
    yield { key: checkpointKey(dataset, checkpoint.physicalHash), bytes }
    const event: AddData = {
      kind: 'AddData',
      ...(tip.chain.checkpoint === undefined ? {} : { prevCheckpoint: tip.chain.checkpoint.physicalHash }),
      ...(tip.chain.lastOffset === undefined ? {} : { prevOffset: tip.chain.lastOffset }),
      ...(newData === undefined ? {} : { newData }),
      newCheckpoint: checkpoint,
      newSourceState: {
        sourceName: 'default',
        kind: logPositionKind,
        value: logPositionText({ anchor, log, next, partition: 0 }),
      },
    }
    const sequence = tip.chain.length
    const built = nextBlocks(tip, [event], timeMs)
    tip = { ...built.tip, earlier: earlierAfter(tip.earlier, number, checkpoint.physicalHash) }
    for (const { hash, bytes: block } of built.blocks) yield { key: blockKey(dataset, hash), bytes: block }
    const commit = { blocks: built.blocks.map(({ hash }) => hash), log, partition: 0, next }
    yield { key: commitKey(dataset, sequence), bytes: commitCodec.encode(commit) }
  }
}

function offsetsOf(data: AddData['newData']): [start: number, end: number] {
  const { start, end } = must(data?.offsetInterval, 'a slice has rows')
  return [Number(start), Number(end)]
}

function outcomeOf(
  id: string,
  [start, end]: readonly [start: number, end: number],
  { next, index }: { readonly next: number; readonly index: number },
): CheckpointContent['outcomes'][number] {
  return { id, position: next - 1, index, status: { kind: 'committed', start, end } }
}

function namedSlice(number: number, size: number): NonNullable<AddData['newData']> {
  const hash = sha3Hash(utf8(`slice ${number}`))
  return {
    logicalHash: `f9680c00120${hash.slice(5)}`,
    physicalHash: hash,
    offsetInterval: { start: number * 10, end: number * 10 + 9 },
    size,
  }
}

/** The same key in another dataset. */
export function keyIn(dataset: string, key: string): string {
  return key.replace(/^datasets\/[^/]+/, datasetKey(dataset))
}
