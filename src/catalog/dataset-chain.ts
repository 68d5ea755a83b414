// What one dataset's chain says, block by block: schema, slices, aspects, positions. Derived, append-only, in memory.
// `apply` takes blocks in chain order; views are snapshots at a block (catalog/view.ts).

import { logPositionOf } from '../codec/log-position.ts'
import { assert, must } from '../lib/assert.ts'
import type {
  AddData,
  AddPushSource,
  DataSlice,
  Hash,
  Instant,
  MetadataBlock,
  MetadataEvent,
  SetAttachments,
  SetInfo,
  SetLicense,
} from '../model/events.ts'
import type { NameRecord } from '../model/records.ts'
import { type DataSchema, type Vocabulary, defaultVocabulary } from '../model/schema.ts'

/** One block as the catalog remembers it. */
export interface ChainBlock {
  readonly hash: Hash
  readonly sequence: number
  readonly systemTime: Instant
  readonly kind: MetadataEvent['kind']
  /** The log that this block or those before it were read from last; undefined before any. */
  readonly log: string | undefined
  /** Position in `log` after the last message this block and those before it consumed; -1 before any. */
  readonly next: number
  readonly checkpoint: Hash | undefined
  /** Slices, rows up to and including this block. */
  readonly sliceCount: number
  readonly rows: number
}

export interface SliceRef {
  readonly hash: Hash
  /** First and last offset. */
  readonly start: number
  readonly end: number
  readonly sizeBytes: number
  readonly sequence: number
}

/** An aspect of the dataset and the sequence of the block that set it. */
export interface Versioned<T> {
  readonly sequence: number
  readonly value: T
}

export class DatasetChain {
  /** With the log and the partition that rows go to now. */
  readonly name: NameRecord
  readonly blocks: ChainBlock[] = []
  readonly slices: SliceRef[] = []
  readonly schemas: Versioned<DataSchema>[] = []
  readonly vocabularies: Versioned<Vocabulary>[] = []
  readonly infos: Versioned<SetInfo>[] = []
  readonly licenses: Versioned<SetLicense>[] = []
  readonly attachments: Versioned<SetAttachments['attachments']>[] = []
  readonly sources: Versioned<AddPushSource>[] = []
  readonly #sequenceOfHash = new Map<Hash, number>()

  constructor(name: NameRecord) {
    this.name = name
  }

  /** Sequence of the head; -1 before the first block. */
  get headSequence(): number {
    return this.blocks.length - 1
  }

  get head(): ChainBlock {
    return must(this.blocks.at(-1), 'a chain in the catalog has a head')
  }

  /** Position after the last message of the dataset's log that is in the chain; -1 before any. */
  get next(): number {
    const last = this.blocks.at(-1)
    return last !== undefined && last.log === this.name.log ? last.next : -1
  }

  /** Sequence of the block with this hash, or undefined when it is not in the chain. */
  sequenceOf(hash: Hash): number | undefined {
    return this.#sequenceOfHash.get(hash)
  }

  /** Adds the next block. The caller has checked hash and links. Throws DecodeError, and then has changed nothing. */
  apply(hash: Hash, block: MetadataBlock): void {
    const sequence = Number(block.sequenceNumber)
    assert(sequence === this.blocks.length, 'blocks are applied in order')
    const last = this.blocks.at(-1)
    let [log, next] = [last?.log, last?.next ?? -1]
    let checkpoint = last?.checkpoint
    if (block.event.kind === 'AddData') {
      const data = block.event as AddData // narrowed by kind; ForeignEvent never has this kind
      const position = logPositionOf(data.newSourceState)
      if (position !== undefined) ({ log, next } = position)
      checkpoint = data.newCheckpoint?.physicalHash ?? checkpoint
      if (data.newData !== undefined) this.slices.push(sliceRef(data.newData, sequence))
    }
    this.#applyAspect(sequence, block.event)
    const slice = this.slices.at(-1)
    this.#sequenceOfHash.set(hash, sequence)
    this.blocks.push({
      hash,
      sequence,
      systemTime: block.systemTime,
      kind: block.event.kind,
      log,
      next,
      checkpoint,
      sliceCount: this.slices.length,
      rows: slice === undefined ? 0 : slice.end + 1,
    })
  }

  #applyAspect(sequence: number, event: MetadataEvent): void {
    switch (event.kind) {
      case 'SetDataSchema':
        if (event.schema !== undefined) this.schemas.push({ sequence, value: event.schema })
        return
      case 'SetVocab': {
        const { kind: _, ...names } = event
        this.vocabularies.push({ sequence, value: { ...defaultVocabulary, ...names } })
        return
      }
      case 'SetInfo':
        this.infos.push({ sequence, value: event })
        return
      case 'SetLicense':
        this.licenses.push({ sequence, value: event })
        return
      case 'SetAttachments':
        this.attachments.push({ sequence, value: event.attachments })
        return
      case 'AddPushSource':
        this.sources.push({ sequence, value: event })
        return
      default:
    }
  }
}

function sliceRef(data: DataSlice, sequence: number): SliceRef {
  return {
    hash: data.physicalHash,
    start: Number(data.offsetInterval.start),
    end: Number(data.offsetInterval.end),
    sizeBytes: Number(data.size),
    sequence,
  }
}
