// From the body of a request to typed columns: read, inflate, count, hash, infer where asked, parse. What comes of a body
// that does not come to a good end is given back; its first bytes are kept (libraries/formats/body-head.ts).

import { defined } from '../../libraries/base/collections.ts'
import type { FileOptions, Inferred, Inferrer, StreamFormat } from '../../libraries/formats/format.ts'
import { sha2HashOfHex, sha2HashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha2, sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { freeBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { BodyHead } from '../../libraries/formats/body-head.ts'
import { demandUndamaged, DigestCheck } from './content-digest.ts'
import type { IngestControls } from './controls.ts'
import { offersFor, oneCell, splitsCells, withOffers } from './dialect-offers.ts'
import { EarlyReading } from './early-reading.ts'
import { bodyChunks, wholeBody } from './read-body.ts'
import { ofBody } from './refusals.ts'
import {
  type BodyFacts,
  type BodySource,
  hasOwnTime,
  inferOptions,
  inferredShape,
  type KeptBytes,
  Reading,
  readRows,
  type TypedBody,
} from './reading.ts'
import type { Target } from './shape.ts'
import { Spool } from './spool.ts'
import type { TypedRows } from './typed-rows.ts'

/** Bodies up to this size are read whole before they are parsed. */
const wholeBodyBytes = 64 * 1024

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
  if (format.kind === 'file') return readFile(source, target)
  if (shape === undefined || source.controls.unknownFields === 'add') return readInferred(source, format, target)
  const { contentEncoding, contentLength } = source.controls
  const isSmall = contentEncoding === undefined && contentLength !== undefined && contentLength <= wholeBodyBytes
  const body = isSmall ? await wholeBody(source.stream) : undefined
  const reading = new Reading(source, format, { shape })
  try {
    if (body === undefined) {
      const facts = await readThrough(source, async (chunk) => {
        await reading.push(chunk)
        freeBytes(chunk)
      })
      return await reading.end(facts)
    }
    source.digest.update(body)
    source.digest.demandEqual()
    source.head.add(body)
    source.cost.read(body.length)
    const bodyHash = sha2HashOfHex(sha256Hex(body))
    source.head.bodyHash = bodyHash
    if (body.length > 0) await reading.push(body)
    return await reading.end({ bodyHash, bytes: body.length })
  } catch (error) {
    await reading.discard()
    throw error
  }
}

interface HeadedSource extends BodySource {
  readonly head: BodyHead
  readonly digest: DigestCheck
}

/** Reads a body that may have new columns, once where that can be (early-reading.ts), and keeps its bytes. */
async function readInferred(source: HeadedSource, format: StreamFormat, target: Target): Promise<TypedBody> {
  const spool = new Spool(source.spoolDir, source.caller?.())
  const early = new EarlyReading(source, format, { target, spool })
  try {
    const facts = await readThrough(source, async (chunk) => {
      await spool.append(chunk)
      await early.take(chunk)
      freeBytes(chunk)
    })
    const kept = new KeptBody(source, spool, facts)
    return { ...((await early.end(facts)) ?? (await kept.read(target))), kept }
  } catch (error) {
    await early.discard()
    await spool.discard()
    throw error
  }
}

/** Reads a body of which any part may be needed first. */
async function readFile(source: HeadedSource, target: Target): Promise<TypedBody> {
  const spool = new Spool(source.spoolDir, source.caller?.())
  try {
    const facts = await readThrough(source, async (chunk) => {
      await spool.append(chunk)
      freeBytes(chunk)
    })
    return await new KeptBody(source, spool, facts).read(target)
  } catch (error) {
    await spool.discard()
    throw error
  }
}

class KeptBody implements KeptBytes {
  readonly #source: BodySource
  readonly #spool: Spool
  readonly #facts: BodyFacts
  #last: TypedRows | undefined

  constructor(source: BodySource, spool: Spool, facts: BodyFacts) {
    this.#source = source
    this.#spool = spool
    this.#facts = facts
  }

  async read(target: Target): Promise<TypedBody> {
    await this.#last?.discard()
    const body = await this.#readAs(ruledSource(this.#source, target), target)
    this.#last = body.typed
    return { ...body, kept: this }
  }

  async #readAs(source: BodySource, target: Target): Promise<TypedBody> {
    const { shape } = target
    const { format } = source.format
    const isKnown = shape !== undefined && source.controls.unknownFields !== 'add'
    const options = inferOptions(source, target)
    if (format.kind === 'file') {
      const reader = await format.openFile(this.#spool, fileOptions(source))
      const against = isKnown ? { shape } : inferredShape(await reader.infer(options), target, source)
      return readRows(source, { reader, ...against }, this.#facts)
    }
    const { shape: against, inferred } = isKnown
      ? { shape, inferred: undefined }
      : inferredShape(await infer(format.createInferrer(options), this.#spool), target, source)
    const reading = new Reading(source, format, {
      shape: against,
      bytes: this.#facts.bytes,
      ...defined({ inferred }),
    })
    try {
      for await (const chunk of this.#spool.chunks()) {
        await reading.push(chunk)
        freeBytes(chunk)
      }
      return await reading.end(this.#facts)
    } catch (error) {
      await reading.discard()
      throw error
    }
  }

  async discard(): Promise<void> {
    await this.#last?.discard()
    await this.#spool.discard()
  }
}

/** Of a dataset that was made meanwhile its rule of the event time counts, where the request says nothing. */
function ruledSource(source: BodySource, { eventTime }: Target): BodySource {
  const isOwn = source.controls.eventTime !== undefined || hasOwnTime(source.format.format)
  return eventTime === undefined || isOwn ? source : { ...source, controls: { ...source.controls, eventTime } }
}

function fileOptions({ limits, controls: { layer, sheet, charset } }: BodySource): FileOptions {
  return { limits, ...defined({ layer, sheet, charset }) }
}

/** Hands every inflated chunk to `take`; the hash and size of the whole. */
async function readThrough(
  { stream, controls, limits, cost, head, digest }: HeadedSource,
  take: (chunk: Uint8Array) => Promise<unknown>,
): Promise<BodyFacts> {
  const hash = createSha2('sha256')
  let bytes = 0
  head.isWaiting = true
  const seen = digest.isAsked ? digest : undefined
  for await (const chunk of bodyChunks(stream, controls.contentEncoding, limits, seen)) {
    head.isWaiting = false
    hash.update(chunk)
    head.add(chunk)
    bytes += chunk.length
    cost.read(bytes)
    await take(chunk)
    head.isWaiting = true
  }
  head.isWaiting = false
  digest.demandEqual()
  head.bodyHash = sha2HashText(hash.digest())
  return { bodyHash: head.bodyHash, bytes }
}

async function infer(inferrer: Inferrer, spool: Spool): Promise<Inferred> {
  for await (const piece of spool.chunks()) if (!inferrer.push(piece)) break
  return inferrer.finish()
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
