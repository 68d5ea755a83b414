// From the body of a request to typed columns: read, inflate, count, hash, infer where asked, parse. What comes of a body
// that does not come to a good end is given back; its first bytes are kept (libraries/formats/body-head.ts).

import { freeBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type Hash, sha2HashOfHex, sha2HashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha2, sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { BodyHead } from '../../libraries/formats/body-head.ts'
import type { StreamFormat } from '../../libraries/formats/format.ts'
import { demandUndamaged, DigestCheck } from './content-digest.ts'
import type { IngestControls } from './controls.ts'
import { offersFor, oneCell, splitsCells, withOffers } from './dialect-offers.ts'
import { InferredBody, triedFirst } from './inferred-body.ts'
import { KeptBody, ruledSource } from './kept-body.ts'
import { bodyChunks, wholeBody } from './read-body.ts'
import type { BodySource } from './reader-options.ts'
import { Reading, readAll, type TypedBody, unlessFaulty } from './reading.ts'
import { ofBody } from './refusals.ts'
import type { Target } from './shape.ts'
import { Spool } from './spool.ts'

/** Bodies up to this size are read at once. */
const shortBodyBytes = 64 * 1024

/** Frees what a body holds; undefined where nothing has to be awaited. Idempotent. */
export function discardBody({ typed, kept }: TypedBody): Promise<unknown> | undefined {
  const discarded = typed.discard()
  return kept === undefined ? discarded : Promise.all([discarded, kept.discard()])
}

/**
 * Reads the body against `target`; without a schema, or with `unknownFields=add`, columns are inferred first.
 * Throws NodeErrors of docs/spec/http.md §6.
 */
export async function typedBody(sent: BodySource, target: Target): Promise<TypedBody> {
  const source = ruledSource(sent, target)
  const { dialect, charset } = source.controls
  const head = new BodyHead(source.format.format.name, dialect !== undefined || charset !== undefined)
  const digest = new DigestCheck(source.controls.contentDigests)
  try {
    const body = await readBody({ ...source, head, digest }, target)
    const other = head.otherDocument(target.shape?.fields)
    if (other === undefined) {
      const offers = await offersOn(source, head, target)
      if (!splitsCells(body, target, offers)) return { ...body, offers }
      await discardBody(body)
      throw oneCell(offers)
    }
    await discardBody(body)
    throw head.refusal(other)
  } catch (error) {
    await demandUndamaged(source, digest, error)
    const explained = head.explained(ruleNamed(source.controls, error), target.shape?.fields)
    const offers = (): ReturnType<typeof offersFor> => offersFor(source, head, target.shape)
    throw ofBody(head.isWaiting ? explained : await withOffers(explained, offers), head.bodyHash)
  }
}

/** Of a body whose columns are still to be settled, where some are text. */
async function offersOn(source: BodySource, head: BodyHead, { shape }: Target): ReturnType<typeof offersFor> {
  return shape === undefined || source.controls.dryRun ? offersFor(source, head, shape) : []
}

/** If the request sent no such parameter, the error names the dataset rule that does not fit the body. */
function ruleNamed({ ruled }: IngestControls, error: unknown): unknown {
  if (!(error instanceof NodeError) || error.kind !== 'InvalidParameter' || ruled.length === 0) return error
  const hint = `The dataset has rules for ${ruled.join(', ')}, which count where a request says none: GET it to see them, say the parameter, or PATCH ingest.`
  return new NodeError('InvalidParameter', error.message, { hint })
}

async function readBody(source: HeadedSource, target: Target): Promise<TypedBody> {
  const { shape } = target
  const { format } = source.format
  if (format.kind === 'file') return readThrough(source, new FileBody(source, target))
  const { contentEncoding, contentLength, unknownFields } = source.controls
  const isShort = contentEncoding === undefined && contentLength !== undefined && contentLength <= shortBodyBytes
  if (isShort) return readShort(source, format, target)
  const isKnown = shape !== undefined && unknownFields !== 'add'
  const body = isKnown
    ? new KnownBody(new Reading(source, format, { shape }))
    : new InferredBody(source, format, target)
  return readThrough(source, body)
}

/** Reads a body at once. */
async function readShort(source: HeadedSource, format: StreamFormat, target: Target): Promise<TypedBody> {
  const { digest, head, cost, spoolDir, caller, controls } = source
  const bytes = await wholeBody(source.stream)
  digest.update(bytes)
  digest.demandEqual()
  head.add(bytes)
  cost.read(bytes.length)
  const facts = { bodyHash: sha2HashOfHex(sha256Hex(bytes)), bytes: bytes.length }
  head.bodyHash = facts.bodyHash
  const { shape } = target
  if (shape !== undefined && controls.unknownFields !== 'add') {
    return readAll(new Reading(source, format, { shape, facts }), [bytes])
  }
  const spool = new Spool(spoolDir, caller)
  await spool.append(bytes)
  const kept = new KeptBody(source, spool, facts)
  try {
    const reading = triedFirst(source, format, target, facts)
    const body = reading && (await unlessFaulty(reading, () => readAll(reading, [bytes])))
    return { ...(body ?? (await kept.read(target))), kept }
  } catch (error) {
    await kept.discard()
    throw error
  }
}

interface HeadedSource extends BodySource {
  readonly head: BodyHead
  readonly digest: DigestCheck
}

/** What takes a body chunk by chunk. */
interface ComingBody {
  /** Takes the next bytes, which are gone from the caller's hands. */
  take(chunk: Uint8Array): Promise<void>
  /** `onHash` is called once the hash of the body is known. */
  end(onHash: (hash: Hash) => void): Promise<TypedBody>
  discard(): Promise<void>
}

/** Against columns that are known. */
class KnownBody implements ComingBody {
  readonly #reading: Reading

  constructor(reading: Reading) {
    this.#reading = reading
  }

  async take(chunk: Uint8Array): Promise<void> {
    await this.#reading.push(chunk)
  }

  end(onHash: (hash: Hash) => void): Promise<TypedBody> {
    return this.#reading.end(onHash)
  }

  discard(): Promise<void> {
    return this.#reading.discard()
  }
}

/** Of which any part may be needed first. */
class FileBody implements ComingBody {
  readonly #source: BodySource
  readonly #target: Target
  readonly #spool: Spool
  readonly #hash = createSha2('sha256')

  constructor(source: BodySource, target: Target) {
    this.#source = source
    this.#target = target
    this.#spool = new Spool(source.spoolDir, source.caller)
  }

  async take(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk)
    await this.#spool.append(chunk)
    freeBytes(chunk)
  }

  end(onHash: (hash: Hash) => void): Promise<TypedBody> {
    const bodyHash = sha2HashText(this.#hash.digest())
    onHash(bodyHash)
    return new KeptBody(this.#source, this.#spool, { bodyHash, bytes: this.#spool.bytes }).read(this.#target)
  }

  discard(): Promise<void> {
    return this.#spool.discard()
  }
}

/** Hands every inflated chunk to `body`. */
async function readThrough(source: HeadedSource, body: ComingBody): Promise<TypedBody> {
  const { stream, controls, limits, cost, head, digest } = source
  let bytes = 0
  head.isWaiting = true
  const seen = digest.isAsked ? digest : undefined
  try {
    for await (const chunk of bodyChunks(stream, controls.contentEncoding, limits, seen)) {
      head.isWaiting = false
      head.add(chunk)
      bytes += chunk.length
      cost.read(bytes)
      await body.take(chunk)
      head.isWaiting = true
    }
    head.isWaiting = false
    digest.demandEqual()
    return await body.end((hash) => {
      head.bodyHash = hash
    })
  } catch (error) {
    await body.discard()
    throw error
  }
}

/** Throws NodeError `NothingToInfer` unless there are records to make a dataset of. */
export function demandRecords(body: TypedBody): void {
  if (body.rows > 0) return
  if (body.misfits !== undefined) {
    const { errors, total } = body.misfits
    const message = `Record ${errors[0]?.record}: ${errors[0]?.message} None of the records fits. Nothing was stored.`
    throw new NodeError('RecordsDoNotFit', message, { errors, errorsTotal: total })
  }
  const message = 'The body has no records, so there are no columns to create the dataset with.'
  throw new NodeError('NothingToInfer', message, { hint: 'Send records, or declare the schema with PUT.' })
}
