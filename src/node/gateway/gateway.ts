// The role that lets records in: admit (admission.ts) → read and type the body (parse-body.ts) → find it a place in the
// log (place-batch.ts, publish.ts) → wait for its outcome (outcome.ts) → receipt (receipts.ts). Stateless:
// all it holds is requests in flight.

import type { Readable } from 'node:stream'
import { defined } from '../../libraries/base/collections.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { Outcomes } from '../catalog/outcomes.ts'
import type { Deletion, NameRecord } from '../../libraries/odf/chain/records.ts'
import type { EndlessFormat, Misfits } from '../../libraries/formats/format.ts'
import { type Formats, loaded } from '../../libraries/formats/registry.ts'
import { assert } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { Announcements } from '../log/announcements.ts'
import type { EventLog } from '../log/event-log.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { defaultVocabulary } from '../../libraries/model/schema.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { Alias } from '../../libraries/model/names.ts'
import type { GatewayLoad, Metrics } from '../machine/ops/metrics.ts'
import type { TaskThreads } from '../machine/work/work-pool.ts'
import { AdmissionQueue, BodyMemory, type Admitted } from './admission.ts'
import { BodyCost } from './body-cost.ts'
import { bodyFormatOf, type IngestControls } from './controls.ts'
import { fateOf, isPassed, placeOf } from './fate.ts'
import { IngestStream } from './ingest-stream.ts'
import type { LargeBatch } from './large-batch.ts'
import { type Change, changeDataset, deleteDataset, restoreDataset } from './change-dataset.ts'
import { createDataset, type NewDataset, rulesOfFirst } from './new-dataset.ts'
import { demandDated, demandLikelyTimes } from './likely-times.ts'
import { answerOf, BlockPace, patienceOf, type PlacedBatch, preferenceApplied, Waiters } from './outcome.ts'
import { demandRecords, discardBody, typedBody } from './parse-body.ts'
import { type HeldMark, producerMark, type ProducerStart } from './producer-start.ts'
import { KeyedBatches, sequenceAsked } from './place-batch.ts'
import { placeTyped } from './place-typed.ts'
import { Publisher } from './publish.ts'
import { tooLarge } from './read-body.ts'
import { type Receipt, Receipts } from './receipts.ts'
import { demandOpen, demandSpace, demandVisibility, graceOver, noHead, ofBody } from './refusals.ts'
import type { TypedBody } from './reading.ts'
import { type Shape, targetOf } from './shape.ts'
import { controlsOfBatch, demandLines, StreamBatches, type StreamedBatch } from './stream-batches.ts'
import { type DryRunAnswer, type BatchRemarks, remarksOn } from './batch-remarks.ts'

export interface GatewayDeps {
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly log: EventLog
  readonly announcements: Announcements
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: Limits
  readonly metrics?: Metrics | undefined
  readonly spoolDir: string
  /** Threads that read long bodies. */
  readonly threads?: TaskThreads | undefined
  /** Seals receipt ids; the same in every process of the installation. */
  readonly receiptSecret: Uint8Array
  /** Why a dataset takes no rows, or undefined. */
  readonly haltOf: (dataset: DatasetId, partition: number) => string | undefined
  /** False while `bytes` more of rows would use space that the store's volume keeps back. */
  readonly hasRoom: (bytes: number) => boolean | Promise<boolean>
  /** When the batch of a stream is cut. */
  readonly stream: { readonly ageMs: number; readonly rows: number }
  /** What a dataset is that records make. */
  readonly newDatasets: 'public' | 'private'
  readonly formats: Formats
}

export interface IngestRequest {
  readonly alias: Alias
  /** The dataset, or undefined when there is none and `create` may make it. */
  readonly chain: DatasetChain | undefined
  readonly tokenId: string | undefined
  readonly controls: IngestControls
  /** Its chunks are the gateway's. */
  readonly body: Readable
  /** Aborts when nobody waits for the answer any more. */
  readonly caller?: () => AbortSignal
  /** Of a batch of a stream. */
  readonly streamed?: StreamedBatch
}

/** A body of records that has no end. */
export interface StreamRequest extends IngestRequest {
  readonly format: EndlessFormat
  readonly producer: ProducerStart | undefined
  readonly rights: () => Promise<void>
}

/** What a body of unknown length is admitted with; it grows as it is read. */
const unknownBodyBytes = 64 * 1024

type TakenBatch = PlacedBatch & Pick<IngestAnswer, 'told' | 'misfits'>

export interface IngestAnswer {
  readonly status: 200 | 202
  readonly body: Receipt | DryRunAnswer
  readonly replayed: boolean
  /** Value of Preference-Applied, if a preference was honoured. */
  readonly preferenceApplied: string | undefined
  readonly told: BatchRemarks
  /** Records that were left out, where the request asks for that. */
  readonly misfits?: Misfits | undefined
}

export class Gateway {
  readonly #deps: GatewayDeps
  /** What places and answers batches. */
  readonly #parts: GatewayDeps & {
    readonly publisher: Publisher
    readonly waiters: Waiters
    readonly receipts: Receipts
    readonly keyed: KeyedBatches
    readonly demandOpen: (chain: DatasetChain) => void
  }
  readonly #pace: BlockPace
  /** Shared with other bodies. */
  readonly bodyMemory = new BodyMemory()
  readonly #admission: AdmissionQueue
  /** Creations in flight, by folded alias. */
  readonly #creations = new Map<string, ReturnType<typeof createDataset>>()
  readonly #draining = new AbortController()

  constructor(deps: GatewayDeps) {
    this.#deps = deps
    this.#parts = {
      ...deps,
      publisher: new Publisher(deps),
      waiters: new Waiters(deps),
      receipts: new Receipts({ secret: deps.receiptSecret, logName: deps.log.kind }),
      keyed: new KeyedBatches(),
      demandOpen: (chain) => this.#demandOpen(chain),
    }
    this.#pace = new BlockPace(deps)
    this.#admission = new AdmissionQueue(deps.limits, deps.clock, { memory: this.bodyMemory })
  }

  /** What is in flight. */
  get load(): GatewayLoad {
    const { openRequests, openBytes, waitingRequests } = this.#admission
    return { openRequests, openBytes, waitingRequests, waitingCallers: this.#parts.waiters.count }
  }

  /** Refuses new work with 503 `Draining`; work in flight goes on. */
  drain(): void {
    this.#draining.abort('draining')
  }

  close(): void {
    this.#parts.waiters.close()
    this.#pace.close()
  }

  /** Takes one batch: all of it is durable when this resolves, or nothing is stored. Throws NodeErrors of docs/spec/http.md §6. */
  async ingest(request: IngestRequest): Promise<IngestAnswer> {
    this.#refuse(request.chain)
    const { controls } = request
    if (request.chain !== undefined) demandVisibility(request.chain, controls.visibility)
    const { contentLength } = controls
    const { bodyBytes } = this.#deps.limits
    if ((contentLength ?? 0) > bodyBytes) throw tooLarge('bodyBytes', bodyBytes)
    if (request.chain === undefined && controls.ifMatch !== undefined) throw noHead(request.alias)
    const batch = await this.#admit(request)
    const { told } = batch
    if ('dryRun' in batch) return { status: 200, body: batch, replayed: false, preferenceApplied: undefined, told }
    const answer = await answerOf(this.#parts, batch).catch((error: unknown) => {
      throw ofBody(error, batch.note.bodyHash)
    })
    return {
      status: answer.receipt.status === 'accepted' ? 202 : 200,
      body: answer.receipt,
      replayed: answer.replayed,
      preferenceApplied: preferenceApplied(controls, answer),
      told,
      misfits: batch.misfits,
    }
  }

  /**
   * Opens a stream of records, which tells what of them is durable. Throws as `ingest`; NodeErrors `ProducerFenced`,
   * `QuotaExceeded` where there are too many producers.
   */
  async stream(request: StreamRequest): Promise<IngestStream> {
    this.#refuse(request.chain)
    const { chain, tokenId, producer, controls, body, rights } = request
    const { clock, limits, stream } = this.#deps
    if (chain !== undefined) demandVisibility(chain, controls.visibility)
    const markIn = async (of: DatasetChain | undefined): Promise<HeldMark | undefined> =>
      of === undefined || producer === undefined
        ? undefined
        : producerMark(this.#deps, of, { tokenId, start: producer })
    const mark = await markIn(chain)
    const batches = new StreamBatches(
      { ...this.#parts, pace: this.#pace, take: (streamed) => this.#takeStreamed(request, streamed), markIn },
      { chain, producer, mark },
    )
    return new IngestStream(
      { clock, limits, ...stream, draining: this.#draining.signal, gather: this.#admission.gatherer(tokenId), batches },
      {
        body,
        contentEncoding: controls.contentEncoding,
        format: request.format,
        dialect: controls.dialect,
        first: producer?.first ?? 0,
        decides: chain?.aspects.schema === undefined,
        rights,
      },
    )
  }

  async #takeStreamed(request: StreamRequest, streamed: StreamedBatch): Promise<TakenBatch> {
    const controls = controlsOfBatch(request, streamed)
    const { chain, body } = streamed
    const batch = await this.#admit({ ...request, chain, body, controls, streamed })
    assert(!('dryRun' in batch), 'streams are stored')
    return batch
  }

  async #admit(request: IngestRequest): Promise<TakenBatch | DryRunAnswer> {
    const { tokenId = '', controls } = request
    const admitted = await this.#admission.enter(tokenId, controls.contentLength ?? unknownBodyBytes)
    try {
      const asking = this.#demandRoom()
      if (asking !== undefined) await asking
      return await this.#take(request, admitted)
    } finally {
      // What waits for its block is in the log: it holds no memory here.
      admitted.leave()
    }
  }

  /**
   * Makes a dataset. `created` is false when the name was taken meanwhile; of creations of one name only the first is
   * sent, and the others wait for what becomes of it. Throws as `createDataset`.
   */
  async create(dataset: NewDataset): Promise<{ chain: DatasetChain; created: boolean }> {
    this.#refuse(undefined)
    const { folded } = dataset.alias
    const inFlight = this.#creations.get(folded)
    if (inFlight !== undefined) return { chain: (await inFlight).chain, created: false }
    const creation = createDataset(this.#parts, dataset).finally(() => this.#creations.delete(folded))
    this.#creations.set(folded, creation)
    return creation
  }

  /** Changes a dataset: durable and shown by this process when it resolves. Throws as `changeDataset`. */
  async change(chain: DatasetChain, change: Change): Promise<void> {
    this.#refuse(chain)
    await changeDataset(this.#parts, chain, change)
  }

  /**
   * Deletes a dataset whose head is `ifMatch` (`*`: whatever it is): durable, and not found by this process when it resolves.
   * Throws NodeError `HeadMoved` and as `deleteDataset`.
   */
  async delete(
    chain: DatasetChain,
    { ifMatch, graceMs }: { readonly ifMatch: string; readonly graceMs: number },
  ): Promise<Deletion> {
    this.#refuse(chain)
    const after = ifMatch === '*' ? undefined : await sequenceAsked(this.#deps, { chain }, ifMatch)
    return deleteDataset(this.#parts, chain, { after, graceMs })
  }

  /** Restores a deleted dataset under a name. Throws NodeError `DatasetDeleted` and as `restoreDataset`. */
  async restore(deletion: Deletion, alias: string): Promise<DatasetChain> {
    const { catalog, clock } = this.#deps
    const { name, until } = deletion
    if (clock.nowMs() >= Date.parse(until)) throw graceOver(deletion)
    const chain = await catalog.chainOf(name)
    this.#refuse(chain)
    await restoreDataset(this.#parts, chain, alias)
    return chain
  }

  /**
   * The receipt of `id` as of now, its dataset, and the id of its batch, if `isFor` says of sender and dataset that the caller may see it.
   * Throws NodeError `ReceiptNotFound`, HaltError `ChainBroken`.
   */
  async receipt(
    id: string,
    isFor: (sender: string | undefined, dataset: NameRecord) => boolean = () => true,
  ): Promise<{ receipt: Receipt; chain: DatasetChain; batchId: string }> {
    const note = this.#parts.receipts.open(id)
    const { catalog } = this.#deps
    // What was committed of a deleted dataset stays known as long as its chain is there.
    const name = note && ((await catalog.nameOfId(note.dataset)) ?? (await catalog.deletionOf(note.dataset))?.name)
    if (note === undefined || name === undefined || !isFor(note.tokenId, name)) {
      throw new NodeError('ReceiptNotFound', 'There is no such receipt.', {
        hint: 'Receipt ids are those that ingest answers give.',
      })
    }
    const chain = await this.#deps.catalog.chainOf(name)
    // A block that was not announced here is found in the store.
    if (!isPassed(chain, placeOf(note))) await this.#deps.catalog.refresh(chain)
    const fate = await fateOf(this.#deps.outcomes, chain, note)
    return { receipt: this.#parts.receipts.of(note, name, fate), chain, batchId: note.batchId }
  }

  /** Reads a batch and finds it its place. */
  async #take(request: IngestRequest, admitted: Admitted): Promise<TakenBatch | DryRunAnswer> {
    const { controls, tokenId } = request
    const isStreamed = request.streamed !== undefined
    const { limits, spoolDir, threads, clock } = this.#deps
    const receivedMs = clock.nowMs()
    const format = await loaded(bodyFormatOf(this.#deps.formats, controls))
    const fallbackMs = controls.eventTimeMs ?? receivedMs
    const cost = new BodyCost(limits, admitted, isStreamed)
    const toLog = this.#largeBatchOf(request)
    const read = { stream: request.body, format, controls, caller: request.caller, isStreamed }
    const source = { ...read, limits, spoolDir, toLog, threads, fallbackMs, cost }
    const target = targetOf(request.chain)
    const body = await typedBody(source, target)
    try {
      const isNothing = controls.only !== undefined && body.rows === 0 && body.warnings.length > 0
      if (request.chain === undefined && !isNothing) demandRecords(body)
      demandLines(body, request.streamed)
      demandLikelyTimes(body, request.chain)
      demandDated(body, target, controls)
      if (controls.dryRun || (isNothing && request.chain === undefined)) {
        const told = remarksOn(controls, body, target.shape)
        return { dryRun: true, records: body.rows, fields: body.shape.fields, told }
      }
      if (body.bytes > (controls.contentLength ?? unknownBodyBytes)) await this.#demandRoom()
      if (request.streamed !== undefined) await request.streamed.turn()
      const chain = request.chain ?? (await this.#makeFor(request, body))
      const ingest = request.chain && rulesOfFirst(request.chain, controls, body)
      if (ingest !== undefined) await this.change(chain, { ingest })
      const soon = { pace: this.#pace, waiters: this.#parts.waiters }
      const patience = patienceOf(controls.waiting, chain.name.id, soon)
      const [mediaType] = format.format.mediaTypes
      const batch = {
        chain,
        controls,
        tokenId,
        body,
        mediaType,
        receivedMs,
        waits: patience.mostMs > 0,
        producer: request.streamed?.producer,
        thereIn: request.streamed?.thereIn,
      }
      const placed = await placeTyped(this.#parts, batch, { ...target, vocabulary: body.shape.vocabulary })
      const { csvHeader, misfits } = placed.body
      return { ...placed, chain, csvHeader, misfits, patience, told: remarksOn(controls, placed.body, target.shape) }
    } catch (error) {
      throw ofBody(error, body.bodyHash)
    } finally {
      const discarded = discardBody(body)
      if (discarded !== undefined) await discarded
    }
  }

  /** Where rows go while their body still comes; undefined where nothing may be in the log before its end. */
  #largeBatchOf({ chain, controls }: IngestRequest): ((shape: Shape) => LargeBatch) | undefined {
    if (chain?.aspects.schema === undefined || controls.dryRun || controls.unknownFields === 'add') return undefined
    const { id: dataset, partition } = chain.name
    const { traceparent } = controls
    return ({ schemaSequence }) => {
      this.#demandOpen(chain)
      return this.#parts.publisher.large({ dataset, partition, schemaSequence, traceparent })
    }
  }

  async #makeFor(request: IngestRequest, body: TypedBody): Promise<DatasetChain> {
    const { controls } = request
    const { traceparent, visibility = controls.newDatasets ?? this.#deps.newDatasets, rules: ingest } = controls
    const { eventTimeColumn } = body.shape.vocabulary
    const vocab = eventTimeColumn === defaultVocabulary.eventTimeColumn ? undefined : { eventTimeColumn }
    const said = { ...defined({ traceparent, ingest, vocab }) }
    const { chain } = await this.create({ alias: request.alias, visibility, schema: body.shape.schema, ...said })
    // Another request may have made it meanwhile.
    demandVisibility(chain, controls.visibility)
    return chain
  }

  /** Undefined where nothing has to be awaited. Throws NodeError `StorageFull`. */
  #demandRoom(): Promise<void> | undefined {
    const hasRoom = this.#deps.hasRoom(this.#admission.openBytes)
    if (hasRoom instanceof Promise) return hasRoom.then(demandSpace)
    demandSpace(hasRoom)
    return undefined
  }

  #refuse(chain: DatasetChain | undefined): void {
    const soon = { hint: 'Send it again in a moment.', retryAfterSeconds: 2 }
    if (this.#draining.signal.aborted) throw new NodeError('Draining', 'The node is shutting down.', soon)
    if (chain !== undefined) this.#demandOpen(chain)
  }

  #demandOpen(chain: DatasetChain): void {
    const { log, haltOf } = this.#deps
    demandOpen(chain, { log: log.id, halt: haltOf(chain.name.id, chain.name.partition) })
  }
}
