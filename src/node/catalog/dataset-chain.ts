// What one dataset's chain says, block by block: schema, slices, aspects, positions. Derived, append-only, in memory.
// `apply` takes blocks in chain order and holds each against the rules; views are snapshots at a block: what a query, a
// tail or an answer about the dataset is computed from. HeldChains bounds them by bytes, least recently used first; a
// dropped chain that a request still works with stays the only one of its dataset until that request is done.

import { hashIn, type PackSummary } from '../../libraries/odf/chain/pack-summary.ts'
import { logPositionOf, type NameRecord, type Visibility } from '../../libraries/odf/chain/records.ts'
import { type ChainState, checkNext, emptyChain } from '../../libraries/odf/chain/rules.ts'
import { must } from '../../libraries/base/assert.ts'
import { PackedList } from '../../libraries/base/collections.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId, Hash } from '../../libraries/base/ids/identifiers.ts'
import {
  dataOf,
  type DataSlice,
  type Instant,
  type MetadataBlock,
  type MetadataEvent,
  type SetAttachments,
} from '../../libraries/model/events.ts'
import { type ChainBlock, type NewBlock, PackedBlocks, type SliceRef } from './packed-blocks.ts'

/** What a chain says of its dataset from block `sequence` on, until another block says something else. */
export interface Aspects extends Pick<
  ChainState,
  'vocabulary' | 'schema' | 'info' | 'license' | 'attachments' | 'pushSources'
> {
  readonly sequence: number
  /** Sequence of the block that set the schema; -1 before the first. */
  readonly schemaSequence: number
}

/** Blocks of one log: those with sequences from `start` to below `end`. */
export interface LogSpan {
  readonly log: string
  readonly start: number
  readonly end: number
}

/** The slices of a chain up to some block, in chain order. */
export class ChainSlices extends PackedList<SliceRef> {
  readonly #packed: PackedBlocks

  constructor(packed: PackedBlocks, length: () => number) {
    super(length, (number) => packed.slice(number))
    this.#packed = packed
  }

  /** Number of the slice with the row at `offset`, which must be there. */
  numberWith(offset: number): number {
    return this.#packed.sliceWith(offset)
  }
}

/** What a chain takes beside its blocks, and what its aspects take beside and for each character of their text. */
const chainBytes = 2_000
const aspectBytes = 120
const bytesPerChar = 4

export class DatasetChain {
  /** As it is now, with the log and the partition that rows go to now. */
  name: NameRecord
  readonly #packed = new PackedBlocks()
  readonly blocks: PackedList<ChainBlock> = new PackedList(
    () => this.#packed.length,
    (sequence) => this.#packed.block(sequence),
  )
  readonly slices = new ChainSlices(this.#packed, () => this.#packed.sliceCount)
  /** What the rules know after the last block. */
  #state = emptyChain
  /** In the order of blocks; the last ones are asked for most. */
  readonly #aspects: Aspects[] = []
  #aspectBytes = 0
  /** What a block says of these holds until another says something else. */
  #carried: Pick<NewBlock, 'log' | 'next' | 'checkpoint'> = { log: undefined, next: -1, checkpoint: undefined }
  /** The last block, which is asked for most; made when it is. */
  #head: ChainBlock | undefined

  constructor(name: NameRecord) {
    this.name = name
  }

  /** Memory taken, roughly. */
  get bytes(): number {
    return chainBytes + this.#packed.bytes + this.#aspectBytes
  }

  /** Sequence of the head; -1 before the first block. */
  get headSequence(): number {
    return this.#packed.length - 1
  }

  get head(): ChainBlock {
    this.#head ??= this.blocks.at(-1)
    return must(this.#head, 'a chain in the catalog has a head')
  }

  /** Position after the last message of the dataset's log that is in the chain; -1 before any. */
  get next(): number {
    return this.nextIn(this.name.log)
  }

  /** The same of any log: a position says nothing without its log. */
  nextIn(log: string): number {
    if (this.#packed.length === 0) return -1
    if (this.head.log === log) return this.head.next
    const span = [...this.logSpans()].find((one) => one.log === log)
    return span === undefined ? -1 : this.#packed.nextAt(span.end - 1)
  }

  /** Sequence of the block with this hash, or undefined when it is not in the chain. */
  sequenceOf(hash: Hash): number | undefined {
    return this.#packed.sequenceOf(hash)
  }

  /** True when a block names this slice or checkpoint. */
  names(kind: 'slice' | 'checkpoint', hash: Hash): boolean {
    return this.#packed.names(kind, hash)
  }

  /** The snapshot of the slices up to and including block `sequence`. */
  slicesUpTo(sequence: number): ChainSlices {
    const { sliceCount } = this.#packed.block(sequence)
    return new ChainSlices(this.#packed, () => sliceCount)
  }

  /** How many AddData blocks there are; the n-th of them has checkpoint n. */
  get dataCount(): number {
    return this.#packed.dataCount
  }

  /** AddData block `number`, from 0; undefined when there are not so many. */
  dataBlock(number: number): ChainBlock | undefined {
    return number < this.dataCount ? this.#packed.block(this.#packed.dataBlock(number)) : undefined
  }

  /** Time of AddData block `number`, which must be there; finer digits than milliseconds cut off. */
  dataTimeMs(number: number): number {
    return this.#packed.timeMsAt(this.#packed.dataBlock(number))
  }

  /** Rows of the blocks that were there at this time. */
  rowsUntil(timeMs: number): number {
    return this.#packed.rowsAt(this.#packed.firstIndex((sequence) => this.#packed.timeMsAt(sequence) > timeMs) - 1)
  }

  /** The logs that the chain was read from, newest first. */
  *logSpans(): Generator<LogSpan> {
    for (let end = this.blocks.length; end > 0;) {
      const log = this.blocks.at(end - 1)?.log
      const start = this.#packed.firstIndex((sequence) => this.blocks.at(sequence)?.log === log, 0, end)
      if (log !== undefined) yield { log, start, end }
      end = start
    }
  }

  /** The block among `span` (default: all) that consumed log position `position`, or undefined while none has. */
  blockAtPosition(
    position: number,
    { start, end }: Omit<LogSpan, 'log'> = { start: 0, end: this.blocks.length },
  ): ChainBlock | undefined {
    const sequence = this.#packed.firstIndex((at) => this.#packed.nextAt(at) > position, start, end)
    return sequence < end ? this.#packed.block(sequence) : undefined
  }

  /** Bytes of the newest checkpoint, if this is its hash. */
  checkpointBytes(hash: Hash): number | undefined {
    const { checkpoint } = this.#state
    return checkpoint?.physicalHash === hash ? Number(checkpoint.size) : undefined
  }

  /** The checkpoint that holds as of block `sequence`; undefined when there is none, and in packs: there the block says it. */
  checkpointAt(sequence: number): Hash | undefined {
    return this.#packed.checkpointAt(sequence)
  }

  /** The latest event time of its rows; undefined before there is one. */
  get watermark(): Instant | undefined {
    return this.#state.watermark
  }

  /** What the dataset is at the head. */
  get aspects(): Aspects {
    return must(this.#aspects.at(-1), 'a chain has a Seed')
  }

  /** What it is as of block `sequence`. */
  aspectsAt(sequence: number): Aspects {
    return must(
      this.#aspects.findLast((aspects) => aspects.sequence <= sequence),
      'a chain has a Seed',
    )
  }

  /** Sequence of the first push source, which ends what a creation writes; the head's where there is none. */
  get creationSequence(): number {
    return this.#aspects.find(({ pushSources }) => pushSources.size > 0)?.sequence ?? this.headSequence
  }

  /**
   * Adds the next block, whose bytes hash to `hash`. Throws HaltError `ChainBroken` when it breaks a rule of chains,
   * DecodeError when it names its objects or its log position in a form that is not known; and then has changed nothing.
   */
  apply(hash: Hash, block: MetadataBlock): void {
    const { systemTime, event } = block
    const state = checkNext(this.#state, block, hash)
    let { log, next, checkpoint } = this.#carried
    const data = dataOf(event)
    const position = event.kind === 'AddData' ? logPositionOf(event.newSourceState) : undefined
    if (position !== undefined) ({ log, next } = position)
    checkpoint = data?.newCheckpoint?.physicalHash ?? checkpoint
    const slice = data?.newData === undefined ? undefined : sliceOf(data.newData)
    this.#packed.add({ hash, systemTime, kind: event.kind, log, next, checkpoint, slice })
    this.#state = state
    this.#head = undefined
    this.#carried = { log, next, checkpoint }
    if (data === undefined) this.#noteAspects(event)
  }

  /**
   * Adds blocks [from, to) of a pack, which must be the next ones. `named` are those of them that are no AddData, and the
   * last of the pack that is one. Throws HaltError `ChainBroken`, DecodeError.
   */
  applyPacked(
    summary: PackSummary,
    { from, to }: { readonly from: number; readonly to: number },
    named: ReadonlyMap<number, MetadataBlock>,
  ): void {
    const { sequence: first, offset, previous, block } = summary
    if (from === 0 && (first !== this.#packed.length || previous !== this.#state.head || offset !== this.#rows)) {
      throw new DecodeError(
        'pack',
        `it goes on from block ${first - 1}, ${previous}, and not from ${this.headSequence}`,
      )
    }
    for (let i = from; i < to; i++) {
      const own = named.get(first + i)
      if (own !== undefined && own.event.kind !== 'AddData') {
        this.#state = checkNext(this.#stateBefore(), own, hashIn(block.hash, i))
        this.#packed.addPacked(summary, i)
        if (dataOf(own.event) === undefined) this.#noteAspects(own.event)
        continue
      }
      this.#packed.addPacked(summary, i)
      if (own?.event.kind !== 'AddData') continue
      const { newCheckpoint: checkpoint, newWatermark: watermark, newSourceState: sourceState } = own.event
      this.#state = { ...this.#state, checkpoint, watermark, sourceState }
    }
    this.#state = this.#stateBefore()
    const { log, next } = this.#packed.block(this.headSequence)
    this.#carried = { log, next, checkpoint: this.#state.checkpoint?.physicalHash }
    this.#head = undefined
  }

  /** The state of the rules with what the last block says of length, hash, time and rows. */
  #stateBefore(): ChainState {
    const { length } = this.#packed
    if (length === 0) return this.#state
    const { hash: head, systemTime, rows } = this.#packed.block(length - 1)
    return { ...this.#state, length, head, systemTime, lastOffset: rows === 0 ? undefined : rows - 1 }
  }

  get #rows(): number {
    return this.#packed.rowsAt(this.headSequence)
  }

  #noteAspects(event: MetadataEvent): void {
    const { vocabulary, info, license, attachments, pushSources } = this.#state
    // A schema in the deprecated form does not take the place of one that can be read.
    const { schema, schemaSequence } =
      this.#state.schema === undefined ? (this.#aspects.at(-1) ?? emptyChain) : this.#state
    const sequence = this.headSequence
    this.#aspects.push({ sequence, vocabulary, schema, schemaSequence, info, license, attachments, pushSources })
    const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
    this.#aspectBytes += aspectBytes + bytesPerChar * JSON.stringify(event, plain).length
  }
}

function sliceOf(data: DataSlice): Omit<SliceRef, 'sequence'> {
  return {
    hash: data.physicalHash,
    start: Number(data.offsetInterval.start),
    end: Number(data.offsetInterval.end),
    sizeBytes: Number(data.size),
  }
}

/** A snapshot of one dataset at one block; `schema` is absent before the first SetDataSchema. */
export interface DatasetView extends Omit<Aspects, 'sequence' | 'attachments' | 'pushSources'> {
  readonly id: DatasetId
  readonly alias: string
  readonly visibility: Visibility
  readonly block: { readonly hash: Hash; readonly sequence: number; readonly systemTime: Instant }
  readonly rows: number
  readonly slices: ChainSlices
  readonly attachments: SetAttachments['attachments'] | undefined
}

/** The dataset as of block `sequence` (default: the head). */
export function viewOf(chain: DatasetChain, sequence: number = chain.headSequence): DatasetView {
  const block = must(chain.blocks.at(sequence), 'the block is in the chain')
  const { vocabulary, schema, schemaSequence, info, license, attachments } = chain.aspectsAt(sequence)
  return {
    id: chain.name.id,
    alias: chain.name.alias,
    visibility: chain.name.visibility,
    block: { hash: block.hash, sequence, systemTime: block.systemTime },
    rows: block.rows,
    slices: chain.slicesUpTo(sequence),
    vocabulary,
    schema,
    schemaSequence,
    info,
    license,
    attachments: attachments?.attachments,
  }
}

/** What a block takes, roughly: for chains whose size is known before they are read. */
const bytesPerBlock = 130

export class HeldChains {
  readonly #bytesMost: number
  /** Least recently used first. */
  readonly #chains = new Map<DatasetId, DatasetChain>()
  readonly #bytesOf = new Map<DatasetId, number>()
  #bytes = 0
  readonly #dropped = new Map<DatasetId, WeakRef<DatasetChain>>()
  readonly #collected = new FinalizationRegistry<DatasetId>((id) => {
    if (this.#dropped.get(id)?.deref() === undefined) this.#dropped.delete(id)
  })

  constructor(bytesMost: number) {
    this.#bytesMost = bytesMost
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The chain of the dataset if it is held; this counts as use. */
  get(id: DatasetId): DatasetChain | undefined {
    const chain = this.peek(id)
    if (chain !== undefined) this.keep(chain)
    return chain
  }

  /** The same for a follower, which does not count as use. */
  peek(id: DatasetId): DatasetChain | undefined {
    return this.#chains.get(id) ?? this.#dropped.get(id)?.deref()
  }

  /** Takes a chain in, or counts a use of it; others are dropped for it. */
  keep(chain: DatasetChain): void {
    const { id } = chain.name
    this.#dropped.delete(id)
    this.#chains.delete(id)
    this.#chains.set(id, chain)
    this.grown(chain)
  }

  /** Drops the chain, also for those that still work with it. */
  forget(id: DatasetId): void {
    this.#chains.delete(id)
    this.#dropped.delete(id)
    this.#bytes -= this.#bytesOf.get(id) ?? 0
    this.#bytesOf.delete(id)
  }

  /** Counts what a chain has grown by. */
  grown(chain: DatasetChain): void {
    const { id } = chain.name
    if (this.#chains.get(id) !== chain) return
    this.#bytes += chain.bytes - (this.#bytesOf.get(id) ?? 0)
    this.#bytesOf.set(id, chain.bytes)
    if (this.#bytes > this.#bytesMost) this.#dropOldest()
  }

  /** True when a chain of so many blocks can be held without dropping another. */
  hasRoomFor(blocks: number): boolean {
    return this.#bytes + blocks * bytesPerBlock <= this.#bytesMost
  }

  /** All but the newest may go. */
  #dropOldest(): void {
    for (const [id, chain] of this.#chains) {
      if (this.#bytes <= this.#bytesMost || this.#chains.size === 1) return
      this.#chains.delete(id)
      this.#bytes -= this.#bytesOf.get(id) ?? 0
      this.#bytesOf.delete(id)
      this.#dropped.set(id, new WeakRef(chain))
      this.#collected.register(chain, id)
    }
  }
}
