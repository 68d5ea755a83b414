// The place of a typed batch: in the log, or, where its key is known, that of the first batch with the key.
// Order: key, If-Match, append (docs/spec/http.md §6).

import { defined } from '../../libraries/base/collections.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { DecidedOutcome, Outcomes } from '../catalog/outcomes.ts'
import type { ChainBlock } from '../catalog/packed-blocks.ts'
import { producerIdentity, type ProducerRange } from '../../libraries/odf/chain/producers.ts'
import { type DatasetId, type Hash, normalHash, sha2HashOfHex } from '../../libraries/base/ids/identifiers.ts'
import { randomText, sha256Hex, sha3256 } from '../../libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../libraries/base/json/canonical.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DataSchema } from '../../libraries/model/schema.ts'
import { type IngestControls, isKey } from './controls.ts'
import { isPassed, placeOf } from './fate.ts'
import type { Published } from './large-batch.ts'
import type { Publisher, RowsToPublish } from './publish.ts'
import type { TypedBody } from './reading.ts'
import type { ReceiptNote } from './receipt-id.ts'
import { headMoved, keyReused, takesNoRows } from './refusals.ts'
import { holdsColumns } from './shape.ts'

/** Of the random identity of a batch without a key; a keyed one has as many. */
const batchIdBytes = 32
/** Keyed batches that are remembered. */
const maxHeld = 100_000

/** A batch that has its place: in the log, or (`decided`) in the chain already. */
export interface Placed {
  readonly note: ReceiptNote
  readonly decided: DecidedOutcome | undefined
  /** Its rows ask for columns: whether they get them is decided when its turn comes in the log. */
  readonly bringsSchema?: boolean
}

interface Held {
  readonly bodyHash: Hash
  readonly placed: Promise<Placed>
}

/** Identity of a keyed batch: base64url of SHA3-256 over canonical `[dataset, token, key]`. */
function keyedBatchId(dataset: DatasetId, tokenId: string, key: string): string {
  return Buffer.from(sha3256(canonicalBytes([dataset, tokenId, key]))).toString('base64url')
}

/** Keyed batches in flight and lately taken: a repeat finds the first one here before it asks the chain. */
export class KeyedBatches {
  readonly #held = new Map<string, Held>()

  get(id: string): Held | undefined {
    return this.#held.get(id)
  }

  /** Remembers a batch whose place is being found; forgotten again if that fails. */
  set(id: string, held: Held): void {
    this.#held.set(id, held)
    held.placed.catch(() => this.forget(id, held))
    const oldest = this.#held.keys().next().value
    if (this.#held.size > maxHeld && oldest !== undefined) this.#held.delete(oldest)
  }

  /** Frees an id whose batch was not stored or was rejected. */
  forget(id: string, held = this.#held.get(id)): void {
    if (this.#held.get(id) === held) this.#held.delete(id)
  }
}

export interface PlaceDeps {
  readonly catalog: Catalog
  readonly outcomes: Outcomes
  readonly clock: Clock
  readonly publisher: Publisher
  readonly keyed: KeyedBatches
  /** Throws when the dataset takes no rows here: looked at again right before they are appended. */
  readonly demandOpen: (chain: DatasetChain) => void
}

export interface BatchToPlace {
  readonly chain: DatasetChain
  readonly controls: IngestControls
  readonly tokenId: string | undefined
  readonly body: TypedBody
  readonly mediaType: string
  readonly receivedMs: number
  /** The caller waits for the block. */
  readonly waits: boolean
  /** Of a batch of a numbered stream, in place of a key. */
  readonly producer?: ProducerRange | undefined
  /** The block as of which the chain has the records of that range: there is nothing to append. */
  readonly thereIn?: ChainBlock | undefined
}

/** Throws NodeErrors `IdempotencyKeyReused`, `HeadMoved`, and what the log throws. Durable when it resolves. */
export async function placeBatch(
  deps: PlaceDeps,
  batch: BatchToPlace,
): Promise<Placed & { readonly replayed: boolean }> {
  const { chain, body } = batch
  const key = keyOf(batch)
  if (body.rows === 0 || batch.thereIn !== undefined)
    return { note: await emptyNote(deps, batch), decided: undefined, replayed: false }
  if (key === undefined) return { ...(await append(deps, batch, randomText(batchIdBytes))), replayed: false }
  const id = keyedBatchId(chain.name.id, batch.tokenId ?? '', key)
  for (let held = deps.keyed.get(id); held !== undefined; held = deps.keyed.get(id)) {
    const placed = await held.placed.catch(() => undefined)
    if (placed === undefined || (await isGone(deps, chain, placed))) {
      deps.keyed.forget(id, held)
      continue
    }
    if (held.bodyHash !== body.bodyHash) throw keyReused(key)
    return { ...placed, bringsSchema: false, replayed: true }
  }
  const placed = placeKeyed(deps, batch, { id, key })
  deps.keyed.set(id, { bodyHash: body.bodyHash, placed })
  const mine = await placed
  return { ...mine, replayed: mine.decided !== undefined }
}

/** The chain has read the batch and does not remember it: it was rejected, which occupies no key, or is forgotten. */
async function isGone(deps: PlaceDeps, chain: DatasetChain, { note }: Placed): Promise<boolean> {
  return isPassed(chain, placeOf(note)) && (await deps.outcomes.known(chain, note.batchId)) === undefined
}

async function placeKeyed(deps: PlaceDeps, batch: BatchToPlace, keyed: { id: string; key: string }): Promise<Placed> {
  const known = await deps.outcomes.known(batch.chain, keyed.id).catch(takesNoRows)
  if (known === undefined) return append(deps, batch, keyed.id)
  if (known.bodyHash !== batch.body.bodyHash) throw keyReused(keyed.key)
  // The note of the first request, so that a repeat gets its receipt; of this one where its checkpoint is older than that.
  const { outcome, block, partition } = known.decided
  const { position, index, arrival } = outcome
  const place = {
    id: keyed.id,
    log: block.log ?? batch.chain.name.log,
    partition,
    position,
    index,
    acceptedMs: batch.receivedMs,
  }
  const note = { ...noteOf(batch, place), ...arrival, bodyHash: known.bodyHash }
  return { note, decided: known.decided }
}

/** What a repeat of the batch is known by: the caller's key, or what its `dedupe` finds. */
function keyOf({ controls, body }: Pick<BatchToPlace, 'controls' | 'body'>): string | undefined {
  const { idempotencyKey, dedupe } = controls
  if (idempotencyKey !== undefined || dedupe === undefined) return idempotencyKey
  if (dedupe === 'body') return bodyKey(body)
  const { keyValue } = body
  if (keyValue === undefined || isKey(keyValue)) return keyValue
  return sha2HashOfHex(sha256Hex(utf8(keyValue)))
}

/**
 * The key that a body is: none where a time is missing, because equal readings are not repeats; another where records were
 * left out, which may fit when it comes again.
 */
function bodyKey({ bodyHash, undated, misfits }: TypedBody): string | undefined {
  if (undated > 0) return undefined
  return misfits === undefined ? bodyHash : `${bodyHash}-${misfits.total}`
}

/** A batch without records, or with such as are there, is judged, but has nothing to store. */
async function emptyNote(deps: PlaceDeps, batch: BatchToPlace): Promise<ReceiptNote> {
  const { ifMatch } = batch.controls
  if (ifMatch !== undefined) await sequenceAsked(deps, batch, ifMatch)
  const { name, next } = batch.chain
  // A place that the chain was read beyond: whatever becomes of the log, nothing of this batch is lost with it.
  const place = batch.thereIn ?? { log: name.log, next }
  return noteOf(batch, {
    id: randomText(batchIdBytes),
    log: place.log ?? name.log,
    partition: name.partition,
    position: Math.max(0, place.next - 1),
    index: 0,
    acceptedMs: batch.receivedMs,
  })
}

/** Appends the batch to the log; durable when it resolves. */
async function append(deps: PlaceDeps, batch: BatchToPlace, id: string): Promise<Placed> {
  const { chain, body, controls, tokenId } = batch
  const after = controls.ifMatch === undefined ? undefined : await sequenceAsked(deps, batch, controls.ifMatch)
  const schema = schemaToAsk(batch)
  const key = keyOf(batch)
  const rows: RowsToPublish = {
    dataset: chain.name.id,
    partition: chain.name.partition,
    schemaSequence: body.shape.schemaSequence,
    fields: body.shape.payloadFields,
    schema,
    traceparent: controls.traceparent,
    batch: {
      id,
      ...defined({ token: tokenId, key, producer: batch.producer }),
      rows: body.rows,
      bodyHash: body.bodyHash,
      mediaType: batch.mediaType,
      receivedAt: timeText(batch.receivedMs),
      wait: batch.waits || schema !== undefined,
      ...defined({ after }),
    },
  }
  deps.demandOpen(chain)
  const published = await publish(deps.publisher, rows, body)
  const { log, partition } = chain.name
  const note = noteOf(batch, { id, log, partition, ...published })
  return { note, decided: undefined, bringsSchema: schema !== undefined }
}

async function publish(publisher: Publisher, rows: RowsToPublish, { typed }: TypedBody): Promise<Published> {
  const content = await typed.finish()
  if (content.kind === 'few') {
    return publisher.small({ ...rows, fields: content.fields }, content.columns, content.bytes)
  }
  if (content.kind === 'sent') return content.large.end(rows.batch, rows.schema)
  const large = publisher.large(rows)
  try {
    for await (const piece of content.stream()) await large.append(piece)
    return await large.end(rows.batch, rows.schema)
  } finally {
    await large.discard()
  }
}

/** The schema that the rows bring: where the dataset has none yet, or lacks columns that the caller may add. */
function schemaToAsk({ chain, body, controls }: BatchToPlace): DataSchema | undefined {
  const current = chain.aspects.schema
  const { schema, payloadFields } = body.shape
  if (current === undefined) return schema
  if (controls.unknownFields !== 'add' || current === schema) return undefined
  return holdsColumns(current, payloadFields) ? undefined : schema
}

/** The sequence of the If-Match hash. Throws NodeError `HeadMoved` when it is unknown or rows or schema came after it. */
export async function sequenceAsked(
  deps: Pick<PlaceDeps, 'catalog'>,
  { chain }: Pick<BatchToPlace, 'chain'>,
  ifMatch: string,
): Promise<number> {
  const hash = sameHash(ifMatch)
  if (chain.head.hash !== hash) await deps.catalog.refresh(chain)
  const sequence = chain.sequenceOf(hash)
  const moved = Math.max(chain.slices.at(-1)?.sequence ?? -1, chain.aspects.schemaSequence)
  if (sequence === undefined || moved > sequence) throw headMoved(chain)
  return sequence
}

/** The hash as chains write it; text that is no hash is left as it is, and is then unknown. */
function sameHash(text: string): string {
  try {
    return normalHash(text)
  } catch (error) {
    if (error instanceof DecodeError) return text
    throw error
  }
}

function noteOf(
  batch: BatchToPlace,
  place: Pick<ReceiptNote, 'log' | 'partition' | 'position' | 'index' | 'acceptedMs'> & { readonly id: string },
): ReceiptNote {
  const { chain, body, tokenId, receivedMs, mediaType, producer: range } = batch
  const producer = range && {
    identity: producerIdentity(chain.name.id, tokenId, range.id),
    epoch: range.epoch,
    last: range.last,
  }
  return {
    dataset: chain.name.id,
    batchId: place.id,
    bodyHash: body.bodyHash,
    partition: place.partition,
    index: place.index,
    position: place.position,
    log: place.log,
    rows: body.rows,
    bytes: body.bytes,
    receivedMs,
    acceptedMs: place.acceptedMs,
    mediaType,
    tokenId,
    key: keyOf(batch),
    ...defined({ producer }),
  }
}
