// What one dataset's chain says, block by block: schema, slices, aspects, positions. Derived, append-only, in memory.
// `apply` takes blocks in chain order; views are snapshots at a block (catalog/view.ts).

import { logPositionOf, type NameRecord } from '../chain/records.ts'
import { assert, must } from '../lib/assert.ts'
import { PackedList } from '../lib/collections.ts'
import type {
  AddData,
  AddPushSource,
  DataSlice,
  Hash,
  MetadataBlock,
  MetadataEvent,
  SetAttachments,
  SetInfo,
  SetLicense,
} from '../model/events.ts'
import { type DataSchema, defaultVocabulary, type Vocabulary } from '../model/schema.ts'
import { type ChainBlock, PackedBlocks, type SliceRef } from './packed-blocks.ts'

/** An aspect of the dataset and the sequence of the block that set it. */
export interface Versioned<T> {
  readonly sequence: number
  readonly value: T
}

/** Blocks of one log: those with sequences from `start` to below `end`. */
export interface LogSpan {
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

/** What an object costs beside its blocks, and a decoded aspect beside its text. */
const chainBytes = 2_000
const bytesPerChar = 4

export class DatasetChain {
  /** With the log and the partition that rows go to now. */
  readonly name: NameRecord
  readonly #packed = new PackedBlocks()
  readonly blocks: PackedList<ChainBlock> = new PackedList(
    () => this.#packed.length,
    (sequence) => this.#packed.block(sequence),
  )
  readonly slices = new ChainSlices(this.#packed, () => this.#packed.sliceCount)
  readonly schemas: Versioned<DataSchema>[] = []
  readonly vocabularies: Versioned<Vocabulary>[] = []
  readonly infos: Versioned<SetInfo>[] = []
  readonly licenses: Versioned<SetLicense>[] = []
  readonly attachments: Versioned<SetAttachments['attachments']>[] = []
  readonly sources: Versioned<AddPushSource>[] = []
  #aspectBytes = 0
  /** What a block says of these holds until another says something else. */
  #carried: Pick<ChainBlock, 'log' | 'next' | 'checkpoint'> = { log: undefined, next: -1, checkpoint: undefined }
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

  /** Hash of the head; undefined before the first block. */
  get headHash(): Hash | undefined {
    return this.#packed.headHash
  }

  get head(): ChainBlock {
    this.#head ??= this.blocks.at(-1)
    return must(this.#head, 'a chain in the catalog has a head')
  }

  /** Position after the last message of the dataset's log that is in the chain; -1 before any. */
  get next(): number {
    return this.#packed.length > 0 && this.head.log === this.name.log ? this.head.next : -1
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

  /** The logs that the chain was read from, newest first. */
  *logSpans(): Generator<LogSpan> {
    for (let end = this.blocks.length; end > 0; ) {
      const log = this.blocks.at(end - 1)?.log
      const start = this.#packed.firstIndex((sequence) => this.blocks.at(sequence)?.log === log, 0, end)
      if (log !== undefined) yield { start, end }
      end = start
    }
  }

  /** The block among `span` (default: all) that consumed log position `position`, or undefined while none has. */
  blockAtPosition(position: number, span: LogSpan = { start: 0, end: this.blocks.length }): ChainBlock | undefined {
    const { start, end } = span
    const sequence = this.#packed.firstIndex((at) => this.#packed.nextAt(at) > position, start, end)
    return sequence < end ? this.#packed.block(sequence) : undefined
  }

  /** Makes room for `length` blocks at once. */
  reserve(length: number): void {
    this.#packed.reserve(length)
  }

  /** Adds the next block. The caller has checked hash and links. Throws DecodeError, and then has changed nothing. */
  apply(hash: Hash, block: MetadataBlock): void {
    const sequence = Number(block.sequenceNumber)
    const { systemTime, event } = block
    assert(sequence === this.#packed.length, 'blocks are applied in order')
    let { log, next, checkpoint } = this.#carried
    let slice: Omit<SliceRef, 'sequence'> | undefined
    if (event.kind === 'AddData') {
      const data = event as AddData // narrowed by kind; ForeignEvent never has this kind
      const position = logPositionOf(data.newSourceState)
      if (position !== undefined) ({ log, next } = position)
      checkpoint = data.newCheckpoint?.physicalHash ?? checkpoint
      if (data.newData !== undefined) slice = sliceOf(data.newData)
    }
    this.#packed.add({ hash, systemTime, kind: event.kind, log, next, checkpoint, slice })
    this.#head = undefined
    this.#carried = { log, next, checkpoint }
    this.#applyAspect(sequence, event)
  }

  #applyAspect(sequence: number, event: MetadataEvent): void {
    switch (event.kind) {
      case 'AddData':
        return
      case 'SetDataSchema':
        if (event.schema !== undefined) this.schemas.push({ sequence, value: event.schema })
        break
      case 'SetVocab': {
        const { kind: _, ...names } = event
        this.vocabularies.push({ sequence, value: { ...defaultVocabulary, ...names } })
        break
      }
      case 'SetInfo':
        this.infos.push({ sequence, value: event })
        break
      case 'SetLicense':
        this.licenses.push({ sequence, value: event })
        break
      case 'SetAttachments':
        this.attachments.push({ sequence, value: event.attachments })
        break
      case 'AddPushSource':
        this.sources.push({ sequence, value: event })
        break
      default:
    }
    const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
    this.#aspectBytes += bytesPerChar * JSON.stringify(event, plain).length
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
