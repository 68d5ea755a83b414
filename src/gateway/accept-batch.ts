// A typed batch becomes durable and, where the caller waits, committed: key, If-Match, publish, wait, receipt.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome } from '../catalog/outcomes.ts'
import { encodeArrowStream } from '../codec/arrow-ipc.ts'
import { randomBytes } from '../codec/native-crypto.ts'
import { concatBatches } from '../codec/columns.ts'
import { type ErrorKind, errorTable } from '../model/error-table.ts'
import { NodeError } from '../model/errors.ts'
import type { BlockPace } from './block-pace.ts'
import type { GatewayDeps, IngestRequest } from './ingest-request.ts'
import { type KeyedBatches, type KeyedReply, type Placed, keyedBatchId } from './keyed.ts'
import type { TypedBody } from './parse-body.ts'
import { type Published, type Publisher, type RowsToPublish, partBytes } from './publish.ts'
import type { ReceiptNote } from './receipt-id.ts'
import type { Receipts } from './receipts.ts'
import { Spool } from './spool.ts'
import type { Decision, Waiters } from './waiters.ts'

const defaultWaitSeconds = 10

export interface AcceptDeps extends GatewayDeps {
  readonly publisher: Publisher
  readonly waiters: Waiters
  readonly receipts: Receipts
  readonly keyed: KeyedBatches
  readonly pace: BlockPace
}

export interface BatchToAccept {
  readonly chain: DatasetChain
  readonly request: IngestRequest
  readonly body: TypedBody
  readonly mediaType: string
  readonly receivedMs: number
}

/** Throws NodeErrors of contract.md §6: 409, 412, 500 `OutcomeUnknown`, 503, 507. */
export async function acceptBatch(deps: AcceptDeps, batch: BatchToAccept): Promise<KeyedReply> {
  const { chain, request, body } = batch
  const key = request.controls.idempotencyKey
  if (body.rows === 0) return { receipt: emptyReceipt(deps, batch), replayed: false, preferenceApplied: undefined }
  if (key === undefined)
    return settle(deps, batch, { note: await place(deps, batch, randomId()), decided: undefined }, false)

  const id = keyedBatchId(chain.name.id, request.tokenId ?? '', key)
  const held = deps.keyed.get(id)
  if (held !== undefined) {
    if (held.bodyHash !== body.bodyHash) throw keyReused(key)
    const placed = await held.placed.catch(() => undefined)
    if (placed !== undefined) return settle(deps, batch, placed, true)
    // The first attempt failed and stored nothing that is known: this one stands on its own.
  }
  const placed = placeKeyed(deps, batch, { id, key })
  deps.keyed.set(id, { bodyHash: body.bodyHash, placed })
  const mine = await placed
  return settle(deps, batch, mine, mine.decided !== undefined)
}

async function placeKeyed(deps: AcceptDeps, batch: BatchToAccept, keyed: { id: string; key: string }): Promise<Placed> {
  const known = await deps.outcomes.known(batch.chain, keyed.id)
  if (known === undefined) return { note: await place(deps, batch, keyed.id), decided: undefined }
  if (known.bodyHash !== batch.body.bodyHash) throw keyReused(keyed.key)
  return {
    note: noteOf(batch, { id: keyed.id, ...placeOf(known.decided), acceptedMs: batch.receivedMs }),
    decided: known.decided,
  }
}

function placeOf(decided: DecidedOutcome): { position: number; index: number } {
  return { position: decided.outcome.position, index: decided.outcome.index }
}

/** Appends the batch to the log; durable when it resolves. */
async function place(deps: AcceptDeps, batch: BatchToAccept, id: string): Promise<ReceiptNote> {
  const { chain, request, body } = batch
  const after =
    request.controls.ifMatch === undefined ? undefined : await sequenceAsked(deps, chain, request.controls.ifMatch)
  const head = chain.schemas.at(-1)
  const rows: RowsToPublish = {
    dataset: chain.name.id,
    partition: chain.name.partition,
    schemaSequence: head?.sequence ?? -1,
    fields: body.shape.payloadFields,
    // A dataset made for these rows has their schema already.
    schema: body.schemaIsNew && (request.chain !== undefined || head === undefined) ? body.shape.schema : undefined,
    batch: {
      id,
      ...(request.tokenId === undefined ? {} : { token: request.tokenId }),
      ...(request.controls.idempotencyKey === undefined ? {} : { key: request.controls.idempotencyKey }),
      rows: body.rows,
      bodyHash: body.bodyHash,
      mediaType: batch.mediaType,
      receivedAt: new Date(batch.receivedMs).toISOString(),
      wait: waitSeconds(deps, batch) > 0,
      ...(after === undefined ? {} : { after }),
    },
  }
  const published = await publish(deps, rows, body)
  return noteOf(batch, { id, position: published.position, index: published.index, acceptedMs: deps.clock.nowMs() })
}

async function publish(deps: AcceptDeps, rows: RowsToPublish, body: TypedBody): Promise<Published> {
  let bytes = 0
  for (const batch of body.batches)
    for (const column of batch.columns) bytes += column.values.length + (column.offsets?.byteLength ?? 0)
  if (bytes <= partBytes) return deps.publisher.small(rows, concatBatches(body.batches))
  const spool = new Spool(deps.spoolDir)
  try {
    await spool.append(encodeArrowStream(rows.fields, body.batches))
    return await deps.publisher.large(rows, spool)
  } finally {
    await spool.discard()
  }
}

/** Waits as long as the caller wants and answers with what is known by then. */
async function settle(deps: AcceptDeps, batch: BatchToAccept, placed: Placed, replayed: boolean): Promise<KeyedReply> {
  const seconds = waitSeconds(deps, batch)
  const decision = placed.decided ?? (seconds === 0 ? undefined : await decisionOn(deps, placed.note, seconds))
  const decided = decision === 'void' ? await firstOf(deps, batch, placed.note) : decision
  const isReplay = replayed || decision === 'void'
  if (decided?.outcome.status.kind === 'rejected') {
    deps.keyed.forget(placed.note.batchId)
    throw rejection(decided, batch.chain)
  }
  const receipt = deps.receipts.of(placed.note, batch.chain.name, decided, { csvHeader: batch.body.csvHeader })
  return { receipt, replayed: isReplay, preferenceApplied: preferenceOf(batch, receipt.status === 'accepted') }
}

function decisionOn(deps: AcceptDeps, note: ReceiptNote, seconds: number): Promise<Decision | undefined> {
  return deps.waiters.wait(note.dataset, { id: note.batchId, position: note.position }, seconds * 1000)
}

/** A batch that the fold passed over: an earlier one of the same key holds its place. */
async function firstOf(deps: AcceptDeps, batch: BatchToAccept, note: ReceiptNote): Promise<DecidedOutcome> {
  const known = await deps.outcomes.known(batch.chain, note.batchId)
  if (known === undefined) {
    throw new NodeError('OutcomeUnknown', 'The log holds this batch, but no block took it.', {
      hint: 'Send it again with an Idempotency-Key.',
    })
  }
  if (known.bodyHash !== note.bodyHash) throw keyReused(note.key ?? '')
  return known.decided
}

/** Seconds to wait: by default for a block that is due, not for one that is paced. */
function waitSeconds(deps: AcceptDeps, batch: BatchToAccept): number {
  const { waiting } = batch.request.controls
  if (waiting.kind === 'wait') return waiting.seconds
  if (waiting.kind === 'async') return 0
  return deps.pace.isDueSoon(batch.chain.name.id) ? defaultWaitSeconds : 0
}

function preferenceOf(batch: BatchToAccept, accepted: boolean): string | undefined {
  const { waiting } = batch.request.controls
  if (waiting.kind === 'wait') return `wait=${waiting.seconds}`
  return waiting.kind === 'async' && accepted ? 'respond-async' : undefined
}

/** The sequence of the If-Match hash. Throws NodeError `HeadMoved` when it is unknown or rows or schema came after it. */
async function sequenceAsked(deps: AcceptDeps, chain: DatasetChain, hash: string): Promise<number> {
  if (chain.sequenceOf(hash) === undefined || chain.head.hash !== hash) await deps.catalog.refresh(chain)
  const sequence = chain.sequenceOf(hash)
  const moved = Math.max(chain.slices.at(-1)?.sequence ?? -1, chain.schemas.at(-1)?.sequence ?? -1)
  if (sequence === undefined || moved > sequence) throw headMoved(chain)
  return sequence
}

function headMoved(chain: DatasetChain): NodeError {
  return new NodeError('HeadMoved', `The head of '${chain.name.alias}' is not the one that If-Match names.`, {
    hint: 'Read what came since, then send with the current head.',
    extra: { head: chain.head.hash },
  })
}

function keyReused(key: string): NodeError {
  return new NodeError('IdempotencyKeyReused', `The Idempotency-Key '${key}' was used for another body.`, {
    hint: 'Use a new key for each batch; repeat a batch with its own key.',
  })
}

/** The error that a rejection in the log means for the caller who waited. */
function rejection(decided: DecidedOutcome, chain: DatasetChain): NodeError {
  const { status } = decided.outcome
  if (status.kind === 'rejected' && status.error === 'HeadMoved') return headMoved(chain)
  const kind = status.kind === 'rejected' && status.error in errorTable ? status.error : 'SchemaConflict'
  return new NodeError(kind as ErrorKind, status.kind === 'rejected' ? status.message : 'The batch was rejected.') // a key of the table
}

function emptyReceipt(deps: AcceptDeps, batch: BatchToAccept): KeyedReply['receipt'] {
  const position = Math.max(0, batch.chain.head.next)
  const note = noteOf(batch, { id: randomId(), position, index: 0, acceptedMs: batch.receivedMs })
  return deps.receipts.of(note, batch.chain.name, undefined, { csvHeader: batch.body.csvHeader })
}

function noteOf(
  batch: BatchToAccept,
  place: { id: string; position: number; index: number; acceptedMs: number },
): ReceiptNote {
  const { chain, request, body } = batch
  return {
    dataset: chain.name.id,
    batchId: place.id,
    bodyHash: body.bodyHash,
    partition: chain.name.partition,
    index: place.index,
    position: place.position,
    rows: body.rows,
    bytes: body.bytes,
    receivedMs: batch.receivedMs,
    acceptedMs: place.acceptedMs,
    mediaType: batch.mediaType,
    tokenId: request.tokenId,
    key: request.controls.idempotencyKey,
  }
}

function randomId(): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}
