// The batches of one stream on their way to the log. The first range of a producer is decided by the chain before it is
// acknowledged: from then on the stream is the producer's current one, and the log can refuse none of it for a gap. Whether
// another stream, a higher epoch or anything else has ended it meanwhile is looked up when blocks come.

import type { Readable } from 'node:stream'
import { defined } from '../../libraries/base/collections.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { ChainBlock } from '../catalog/packed-blocks.ts'
import { judgeRange, type ProducerRange } from '../../libraries/odf/chain/producers.ts'
import type { EndlessFormat } from '../../libraries/formats/format.ts'
import { sha2HashOfHex } from '../../libraries/base/ids/identifiers.ts'
import { randomText, sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type IngestControls, maxWaitSeconds } from './controls.ts'
import { type Fate, placeOf } from './fate.ts'
import type { StreamReceipt, Turn } from './ingest-stream.ts'
import { type BlockPace, type Decision, fateOfDecided, patientFor, type Waiters } from './outcome.ts'
import type { Placed } from './place-batch.ts'
import type { HeldMark, ProducerStart } from './producer-start.ts'
import type { TypedBody } from './reading.ts'
import { bodyOf } from './read-body.ts'
import type { Receipts } from './receipts.ts'
import { fenced, graceOver, rejection } from './refusals.ts'
import type { LineBatch } from '../../libraries/formats/line-batch.ts'
import type { BatchRemarks } from './batch-remarks.ts'
import { type RefusedRecords, UndecidedBatches } from './undecided-batches.ts'

/** How long the first range of a producer is waited for: a builder that is behind takes its time, and a repeat would add to it. */
const decidedWithinMs = 30_000
const behindSeconds = 5
const overtakenSeconds = 1
/** How long the end of a stream waits for the block of its last batch; in a dataset that gets blocks seldom only as long as the block of another sender who takes over takes. */
const settledWithinMs = 10_000
const seldomMs = 2_000
/** How often the first range is cut anew where records of the stream before come in between. */
const mostCuts = 5
const nameBytes = 16

/** A batch of a stream, as the gateway takes it. */
export interface StreamedBatch {
  readonly chain: DatasetChain | undefined
  readonly body: Readable
  readonly bytes: number
  readonly producer: ProducerRange | undefined
  /** The block as of which the chain has these records: nothing is appended. */
  readonly thereIn: ChainBlock | undefined
  /** Records that are no blank lines. */
  readonly rows: number
  /** A block is called for. */
  readonly waits: boolean
  readonly turn: Turn
}

interface Taken extends Placed {
  readonly chain: DatasetChain
  readonly told: BatchRemarks
}

export interface StreamBatchesDeps {
  /** Durable when it resolves. */
  readonly take: (batch: StreamedBatch) => Promise<Taken>
  /** What the chain knows of the producer now. Throws as `producerMark`. */
  readonly markIn: (chain: DatasetChain | undefined) => Promise<HeldMark | undefined>
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly pace: Pick<BlockPace, 'dueInMs'>
  readonly waiters: Waiters
  readonly receipts: Receipts
}

export class StreamBatches {
  readonly #deps: StreamBatchesDeps
  readonly #producer: ProducerStart | undefined
  readonly #name = randomText(nameBytes)
  /** The producer's stream when this one was opened: this one begins only if that is still the current one. */
  readonly #after: string | undefined
  #chain: DatasetChain | undefined
  /** What the chain knows of the producer under this epoch. */
  #mark: HeldMark | undefined
  #hasBegun: boolean
  /** Blank lines after the records that the chain has: the next batch begins with them, so that no number is missing. */
  #blank: LineBatch | undefined
  readonly #undecided: UndecidedBatches

  constructor(
    deps: StreamBatchesDeps,
    start: {
      readonly chain: DatasetChain | undefined
      readonly producer: ProducerStart | undefined
      readonly mark: HeldMark | undefined
    },
  ) {
    this.#deps = deps
    this.#chain = start.chain
    this.#producer = start.producer
    this.#after = start.mark?.stream
    this.#mark = start.mark?.epoch === start.producer?.epoch ? start.mark : undefined
    this.#hasBegun = start.producer === undefined
    this.#undecided = new UndecidedBatches(deps.outcomes)
  }

  /**
   * Places a batch, or of one that the chain has a part of that part alone. Durable when it resolves. Throws as an ingest;
   * NodeErrors `ProducerFenced`, `SequenceGap`, `LogUnavailable`.
   */
  async place(batch: LineBatch, turn: Turn): Promise<StreamReceipt> {
    // What the first batch finds out counts for the others.
    if (!this.#hasBegun || this.#chain === undefined) await turn()
    await this.#demandTaken()
    const whole = this.whole(batch)
    for (let cuts = 0; ; cuts++) {
      try {
        return await this.#append(this.#pieceOf(whole), turn)
      } catch (error) {
        if (this.#hasBegun) throw error
        await this.#lookAgain(error)
        if (cuts === mostCuts) throw overtaken()
      }
    }
  }

  /** A batch with the blank lines before it whose numbers no other batch has. */
  whole(batch: LineBatch): LineBatch {
    return this.#blank?.last === batch.first - 1 ? batch.behind(this.#blank) : batch
  }

  /** Up to the last number that the chain has, or from there on: a range is taken whole or not at all. */
  #pieceOf(batch: LineBatch): LineBatch {
    const { last } = this.#mark ?? batch
    if (last < batch.first || last >= batch.last) return batch
    const { before, rest, blank } = batch.split(last + 1)
    this.#blank = blank
    return before ?? rest ?? batch
  }

  async #append({ first, last, rows, bytes }: LineBatch, turn: Turn): Promise<StreamReceipt> {
    const { receipts } = this.#deps
    const producer = this.#rangeOf(first, last)
    const thereIn = producer !== undefined && last <= (this.#mark?.last ?? -1) ? this.#mark?.block : undefined
    if (producer !== undefined && thereIn !== undefined) this.#demandSame(producer, bytes)
    const begins = !this.#hasBegun && thereIn === undefined
    const taken = await this.#deps.take({
      chain: this.#chain,
      body: bodyOf(bytes),
      bytes: bytes.length,
      producer,
      thereIn,
      rows,
      waits: begins,
      turn,
    })
    const { chain, note } = taken
    this.#chain = chain
    const decision = begins ? await this.#decided(taken) : undefined
    if (decision === undefined && thereIn === undefined) this.#undecided.add(placeOf(note), first)
    const decided = decision === 'void' ? undefined : demandCommitted(decision, chain)
    if (begins) await this.#begin(decision)
    const block = decision === 'void' ? this.#mark?.block : thereIn
    const fate: Fate = block === undefined ? fateOfDecided(decided) : { kind: 'there', block }
    const { warnings } = taken.told
    const receipt = receipts.of(note, chain.name, fate)
    const told = { ...receipt, numbers: { first, last }, ...defined({ warnings }) }
    return producer === undefined ? told : { ...told, producer: { id: producer.id, epoch: producer.epoch } }
  }

  #rangeOf(first: number, last: number): ProducerRange | undefined {
    if (this.#producer === undefined) return undefined
    const { id, epoch } = this.#producer
    const begins = this.#after === undefined ? {} : { after: this.#after }
    return { id, epoch, first, last, stream: this.#name, ...(this.#hasBegun ? {} : { begins }) }
  }

  /** The first range is in the chain: from now on this stream alone moves the producer's last number. */
  async #begin(decision: Decision | undefined): Promise<void> {
    // Of a range whose records were there before, the chain says whether it counted, and how far it goes itself.
    this.#mark = decision === 'void' ? await this.#deps.markIn(this.#chain) : undefined
    if (decision === 'void' && this.#mark?.stream !== this.#name) throw overtaken()
    this.#hasBegun = true
  }

  /**
   * The first range was refused: looks where the chain is now. Throws `error`, unless further records of the stream before
   * this one are all there is to it, which the next try takes into account.
   */
  async #lookAgain(error: unknown): Promise<void> {
    if (!(error instanceof NodeError) || (error.kind !== 'SequenceGap' && error.kind !== 'ProducerFenced')) throw error
    const mark = await this.#deps.markIn(this.#chain)
    // To begin all the same might end the stream of a sender that has connected again meanwhile: it is the sender who
    // knows which of its connections is the last one.
    if (mark?.stream !== this.#after) throw overtaken()
    if (mark === undefined || (this.#producer?.first ?? 0) > mark.last + 1) throw error
    this.#mark = mark
  }

  /** Throws NodeError `IdempotencyKeyReused` for the range that the chain has, with other bytes. */
  #demandSame(range: ProducerRange, bytes: Uint8Array): void {
    const verdict = judgeRange(this.#mark, range, sha2HashOfHex(sha256Hex(bytes)))
    if (verdict.kind === 'refused') throw new NodeError(verdict.error, verdict.message)
  }

  async #decided({ chain, note }: Placed & { readonly chain: DatasetChain }): Promise<Decision> {
    const decision = await this.#deps.waiters.wait(chain, placeOf(note), patientFor(decidedWithinMs))
    if (decision !== undefined) return decision
    throw undecided('The builder is behind: no block has decided the first records yet.', behindSeconds)
  }

  /** Throws what a rejection of an earlier batch means. */
  async #demandTaken(): Promise<void> {
    const refused = this.#chain && (await this.#undecided.refused(this.#chain))
    if (refused !== undefined) throw refused.error
  }

  /**
   * What was told as durable and is not stored: the log refused it. With `waits` the last batch is waited for; where no block
   * comes soon, it is looked up whether another sender has taken over or the dataset is gone. Throws HaltError `ChainBroken`.
   */
  async refused(waits: boolean): Promise<RefusedRecords | undefined> {
    const [chain, { last }] = [this.#chain, this.#undecided]
    if (chain === undefined) return undefined
    if (waits && last !== undefined) {
      const { pace, waiters } = this.#deps
      const mostMs = pace.dueInMs(chain.name.id) > settledWithinMs ? seldomMs : settledWithinMs
      await waiters.wait(chain, last, patientFor(mostMs))
    }
    const refused = await this.#undecided.refused(chain)
    const from = this.#undecided.first
    if (refused !== undefined || from === undefined || !waits) return refused
    try {
      await this.#demandCurrent(chain)
      return undefined
    } catch (error) {
      return { error, from }
    }
  }

  /** Throws NodeErrors `ProducerFenced` where another stream is the current one, `DatasetDeleted`. */
  async #demandCurrent(chain: DatasetChain): Promise<void> {
    const mark = await this.#deps.markIn(chain)
    if (mark !== undefined && mark.epoch === this.#producer?.epoch && mark.stream !== this.#name)
      throw fenced('Another stream of the producer has begun.')
    const deletion = await this.#deps.catalog.deletionOf(chain.name.id)
    if (deletion !== undefined) throw graceOver(deletion)
  }
}

/** As a rule of the same sender, which has connected again meanwhile. */
function overtaken(): NodeError {
  return undecided('Records of another connection of the producer came before the first ones.', overtakenSeconds)
}

function undecided(message: string, retryAfterSeconds: number): NodeError {
  const hint = 'Connect again and send the same records under the same numbers: none is stored twice.'
  return new NodeError('LogUnavailable', message, { hint, retryAfterSeconds })
}

function demandCommitted(decided: DecidedOutcome | undefined, chain: DatasetChain): DecidedOutcome | undefined {
  const status = decided?.outcome.status
  if (status?.kind === 'rejected') throw rejection(status, chain)
  return decided
}

/** The controls of a batch; where the body began with a header, each batch does. */
export function controlsOfBatch(
  { controls, format }: { readonly controls: IngestControls; readonly format: EndlessFormat },
  { bytes, waits }: StreamedBatch,
): IngestControls {
  return {
    ...controls,
    contentType: format.hasHeader === true ? `${format.mediaTypes[0]}; header=present` : controls.contentType,
    contentLength: bytes,
    contentEncoding: undefined,
    waiting: waits ? { kind: 'wait', seconds: maxWaitSeconds } : { kind: 'async' },
  }
}

/** Numbers of records count lines: a line that is no record, or several, would shift them. Throws NodeError `MalformedBody`. */
export function demandLines({ rows }: Pick<TypedBody, 'rows'>, streamed: StreamedBatch | undefined): void {
  if (streamed?.producer === undefined || rows === streamed.rows) return
  throw new NodeError('MalformedBody', `Of ${streamed.rows} lines came ${rows} records.`, {
    hint: 'Send one object a line.',
  })
}
