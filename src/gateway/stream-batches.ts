// The batches of one stream on their way to the log. The first range of a producer is decided by the chain before it is
// acknowledged, unless it goes on where the chain is already: after that the log can refuse none for a gap. Whether a higher
// epoch, or anything else, has ended the stream meanwhile is looked up when blocks come.

import { Readable } from 'node:stream'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import { judgeRange, type ProducerMark, type ProducerRange } from '../chain/producers.ts'
import { sha2HashOfHex } from '../ids/identifiers.ts'
import { sha256Hex } from '../ids/native-crypto.ts'
import { NodeError } from '../model/errors.ts'
import type { StreamReceipt } from './ingest-stream.ts'
import { type Decision, patientFor, type Waiters } from './outcome.ts'
import type { Placed } from './place-batch.ts'
import { followsOn, type ProducerStart } from './producer-start.ts'
import type { TypedBody } from './reading.ts'
import type { Receipts } from './receipts.ts'
import { rejection } from './refusals.ts'
import type { LineBatch } from './stream-cutter.ts'

/** How long the first range of a producer may take to be decided, and how often this is tried. */
const decidedWithinMs = 10_000
const tries = 3

/** A batch of a stream, as the gateway takes it. */
export interface StreamedBatch {
  readonly chain: DatasetChain | undefined
  readonly body: Readable
  readonly bytes: number
  readonly producer: ProducerRange | undefined
  /** Lines that are not blank. */
  readonly rows: number
  /** A block is called for. */
  readonly waits: boolean
  /** When it may be appended; rejects where it must not be. */
  readonly turn: Promise<void>
}

export interface StreamBatchesDeps {
  /** Durable when it resolves. */
  readonly take: (batch: StreamedBatch) => Promise<Placed & { readonly chain: DatasetChain }>
  readonly outcomes: Outcomes
  readonly waiters: Waiters
  readonly receipts: Receipts
}

export class StreamBatches {
  readonly #deps: StreamBatchesDeps
  readonly #producer: ProducerStart | undefined
  #chain: DatasetChain | undefined
  /** What the chain knew of the producer when the stream began. */
  readonly #mark: ProducerMark | undefined
  #isCertain: boolean
  /** A batch that is logged, as far as is known. */
  #undecided: { readonly id: string; readonly position: number } | undefined

  constructor(
    deps: StreamBatchesDeps,
    start: {
      readonly chain: DatasetChain | undefined
      readonly producer: ProducerStart | undefined
      readonly mark: ProducerMark | undefined
    },
  ) {
    this.#deps = deps
    this.#chain = start.chain
    this.#producer = start.producer
    this.#mark = start.mark
    this.#isCertain = start.producer === undefined || followsOn(start.mark, start.producer)
  }

  /** Durable when it resolves. Throws as an ingest; NodeErrors `ProducerFenced`, `SequenceGap`. */
  async place({ first, last, rows, bytes }: LineBatch, turn: Promise<void>): Promise<StreamReceipt> {
    // What the first batch finds out counts for the others.
    if (!this.#isCertain || this.#chain === undefined) await turn
    await this.#demandTaken()
    const { receipts } = this.#deps
    const { id, epoch } = this.#producer ?? {}
    const producer = id === undefined || epoch === undefined ? undefined : { id, epoch, first, last }
    if (producer !== undefined && last <= (this.#mark?.last ?? -1)) this.#demandSame(producer, { rows, bytes })
    const taken = await this.#deps.take({
      chain: this.#chain,
      body: Readable.from([bytes], { objectMode: false }),
      bytes: bytes.length,
      producer,
      rows,
      waits: !this.#isCertain,
      turn,
    })
    const { chain, note } = taken
    this.#chain = chain
    const decision = taken.decided ?? (this.#isCertain ? undefined : await this.#decided(taken))
    this.#isCertain = true
    if (decision === undefined) this.#undecided ??= { id: note.batchId, position: note.position }
    const decided = decision === 'void' ? undefined : demandCommitted(decision, chain)
    const receipt = receipts.of(note, chain.name, decided, { isDuplicate: decision === 'void' })
    const told = { ...receipt, numbers: { first, last } }
    return id === undefined || epoch === undefined ? told : { ...told, producer: { id, epoch } }
  }

  /** Throws NodeError `IdempotencyKeyReused` for the range that the chain has, with other bytes. */
  #demandSame(range: ProducerRange, { rows, bytes }: Pick<LineBatch, 'rows' | 'bytes'>): void {
    const verdict = judgeRange(this.#mark, range, { rows, bodyHash: sha2HashOfHex(sha256Hex(bytes)) })
    if (verdict.kind === 'refused') throw new NodeError(verdict.error, verdict.message)
  }

  async #decided({ chain, note }: Placed & { readonly chain: DatasetChain }): Promise<Decision> {
    const place = { id: note.batchId, position: note.position }
    for (let tried = 0; tried < tries; tried++) {
      const decision = await this.#deps.waiters.wait(chain, place, patientFor(decidedWithinMs))
      if (decision !== undefined) return decision
    }
    throw new NodeError('OutcomeUnknown', 'No block has decided the first records yet.', {
      hint: 'Connect again and send the same records under the same numbers: none is stored twice.',
    })
  }

  /** Throws what a rejection of an earlier batch means. */
  async #demandTaken(): Promise<void> {
    const [chain, undecided] = [this.#chain, this.#undecided]
    if (chain === undefined || undecided === undefined || chain.next <= undecided.position) return
    this.#undecided = undefined
    const decision = await this.#deps.outcomes.at(chain, undecided)
    if (decision !== undefined && decision !== 'void') demandCommitted(decision, chain)
  }
}

function demandCommitted(decided: DecidedOutcome | undefined, chain: DatasetChain): DecidedOutcome | undefined {
  const status = decided?.outcome.status
  if (status?.kind === 'rejected') throw rejection(status, chain)
  return decided
}

/** Numbers of records count lines: a line that is no record, or several, would shift them. Throws NodeError `MalformedBody`. */
export function demandLines({ rows }: Pick<TypedBody, 'rows'>, streamed: StreamedBatch | undefined): void {
  if (streamed?.producer === undefined || rows === streamed.rows) return
  throw new NodeError('MalformedBody', `Of ${streamed.rows} lines came ${rows} records.`, {
    hint: 'Send one object a line.',
  })
}
