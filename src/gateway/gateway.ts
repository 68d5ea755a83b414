// The role that lets records in: admit → parse → publish → wait → receipt. Stateless: all it holds is callers under way.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { viewOf } from '../catalog/view.ts'
import { formatOf } from '../formats/formats.ts'
import { NodeError } from '../model/errors.ts'
import type { Receipt } from '../model/receipt.ts'
import type { Field } from '../model/schema.ts'
import { AdmissionQueue } from './admission.ts'
import { BlockPace } from './block-pace.ts'
import type { GatewayDeps, IngestRequest } from './ingest-request.ts'
import { type NewDataset, createDataset } from './create-dataset.ts'
import { type KeyedReply, KeyedBatches } from './keyed.ts'
import { type TypedBody, typedBody } from './parse-body.ts'
import { Publisher } from './publish.ts'
import { acceptBatch } from './accept-batch.ts'
import { Receipts } from './receipts.ts'
import { type Shape, shapeOf } from './shape.ts'
import { Waiters } from './waiters.ts'

export interface DryRunAnswer {
  readonly dryRun: true
  readonly records: number
  readonly fields: readonly Field[]
}

export interface IngestAnswer {
  readonly status: 200 | 202
  readonly body: Receipt | DryRunAnswer
  readonly replayed: boolean
  /** Value of Preference-Applied, if a preference was honoured. */
  readonly preferenceApplied: string | undefined
}

export class Gateway {
  readonly #deps: GatewayDeps
  readonly #publisher: Publisher
  readonly #waiters: Waiters
  readonly #receipts: Receipts
  readonly #keyed: KeyedBatches
  readonly #pace: BlockPace
  readonly #admission: AdmissionQueue
  #draining = false

  constructor(deps: GatewayDeps) {
    this.#deps = deps
    this.#publisher = new Publisher({ log: deps.log, clock: deps.clock })
    this.#waiters = new Waiters(deps)
    this.#receipts = new Receipts({ secret: deps.receiptSecret, logName: deps.log.kind })
    this.#keyed = new KeyedBatches()
    this.#pace = new BlockPace(deps)
    this.#admission = new AdmissionQueue(deps.limits.openIngestBytes)
  }

  /** Refuses new work with 503 `Draining`; work under way goes on. */
  drain(): void {
    this.#draining = true
  }

  close(): void {
    this.#waiters.close()
    this.#pace.close()
  }

  /** Takes one batch: all of it is durable when this resolves, or nothing is stored. Throws NodeErrors of contract.md §6. */
  async ingest(request: IngestRequest): Promise<IngestAnswer> {
    this.#refuse(request.chain)
    const receivedMs = this.#deps.clock.nowMs()
    const release = this.#admission.enter(request.controls.contentLength ?? this.#deps.limits.recordBytes)
    try {
      const format = formatOf(request.controls.contentType)
      const body = await typedBody(
        {
          stream: request.body,
          format: format.format,
          csvHeader: format.csvHeader,
          controls: request.controls,
          limits: this.#deps.limits,
          spoolDir: this.#deps.spoolDir,
          fallbackMs: request.controls.eventTimeMs ?? receivedMs,
        },
        request.chain === undefined ? undefined : headShape(request.chain),
      )
      if (request.controls.dryRun) return dryRun(body)
      return await this.#take(request, { body, mediaType: format.mediaType, receivedMs })
    } finally {
      release()
    }
  }

  /** Makes a dataset. `created` is false when the name was taken meanwhile. Throws as `createDataset`. */
  async create(dataset: NewDataset): Promise<{ chain: DatasetChain; created: boolean }> {
    this.#refuse(undefined)
    return createDataset({ ...this.#deps, publisher: this.#publisher }, dataset)
  }

  /** The receipt of `id` as of now, and who sent it; NodeError `ReceiptNotFound`. */
  async receipt(id: string): Promise<{ receipt: Receipt; chain: DatasetChain; tokenId: string | undefined }> {
    const note = this.#receipts.open(id)
    const chain = note === undefined ? undefined : await this.#deps.catalog.byId(note.dataset)
    if (note === undefined || chain === undefined) {
      throw new NodeError('ReceiptNotFound', 'There is no such receipt.', {
        hint: 'Receipt ids are those that ingest answers give.',
      })
    }
    const decision = await this.#deps.outcomes.at(chain, { id: note.batchId, position: note.position })
    const first = decision === 'void' ? (await this.#deps.outcomes.known(chain, note.batchId))?.decided : decision
    return { receipt: this.#receipts.of(note, chain.name, first), chain, tokenId: note.tokenId }
  }

  async #take(
    request: IngestRequest,
    read: { readonly body: TypedBody; readonly mediaType: string; readonly receivedMs: number },
  ): Promise<IngestAnswer> {
    const chain = request.chain ?? (await this.#makeFor(request, read.body.shape))
    const reply = await acceptBatch(
      {
        ...this.#deps,
        publisher: this.#publisher,
        waiters: this.#waiters,
        receipts: this.#receipts,
        keyed: this.#keyed,
        pace: this.#pace,
      },
      { chain, request, ...read },
    )
    return answerOf(reply)
  }

  async #makeFor(request: IngestRequest, shape: Shape): Promise<DatasetChain> {
    const { chain } = await this.create({
      alias: request.alias,
      visibility: 'public',
      ...(shape.schema === undefined ? {} : { schema: shape.schema }),
    })
    return chain
  }

  #refuse(chain: DatasetChain | undefined): void {
    if (this.#draining)
      throw new NodeError('Draining', 'The node is shutting down.', {
        hint: 'Send it again in a moment.',
        retryAfterSeconds: 2,
      })
    if (chain === undefined) return
    if (chain.name.log !== this.#deps.log.id) {
      throw new NodeError('OtherLog', `The rows of '${chain.name.alias}' go to another log than this node's.`, {
        hint: 'Send them to a node of that log.',
      })
    }
    const halt = this.#deps.haltOf(chain.name.id)
    if (halt !== undefined) {
      throw new NodeError('LogUnavailable', `The dataset takes no rows: ${halt}`, {
        hint: 'An operator has to look at it; reads go on.',
        retryAfterSeconds: 30,
      })
    }
  }
}

/** The shape of a dataset at its head; a dataset without schema has none yet. */
export function headShape(chain: DatasetChain): Shape | undefined {
  const view = viewOf(chain)
  return view.schema === undefined ? undefined : shapeOf(view.schema, view.schemaSequence, view.vocabulary)
}

function dryRun(body: TypedBody): IngestAnswer {
  return {
    status: 200,
    body: { dryRun: true, records: body.rows, fields: body.shape.fields },
    replayed: false,
    preferenceApplied: undefined,
  }
}

function answerOf(reply: KeyedReply): IngestAnswer {
  return {
    status: reply.receipt.status === 'accepted' ? 202 : 200,
    body: reply.receipt,
    replayed: reply.replayed,
    preferenceApplied: reply.preferenceApplied,
  }
}
