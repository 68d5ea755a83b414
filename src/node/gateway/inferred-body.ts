// A body whose columns are still to be found, read while it arrives. Its bytes are kept until 10,000 records have settled them:
// later ones change nothing. Of a dataset that has columns these are tried first, which spares most bodies the sample.
//
//   known ──► sampling ──► settled      a record does not fit; the sample is complete
//   known ──► settled                   as many records fit
//   any ──► over                        the body has ended, or is discarded

import { assert } from '../../libraries/base/assert.ts'
import { freeBytes } from '../../libraries/base/bytes.ts'
import { defined } from '../../libraries/base/collections.ts'
import { type Hash, sha2HashText } from '../../libraries/base/ids/identifiers.ts'
import { createSha2, type IncrementalHash } from '../../libraries/base/ids/native-crypto.ts'
import { sampleRecords } from '../../libraries/formats/fault-log.ts'
import type { Inferrer, StreamFormat } from '../../libraries/formats/format.ts'
import { KeptBody } from './kept-body.ts'
import { type BodySource, inferOptions, inferredShape } from './reader-options.ts'
import { type BodyFacts, Reading, type TypedBody, unlessFaulty } from './reading.ts'
import type { Target } from './shape.ts'
import { Spool } from './spool.ts'

type State =
  | { readonly kind: 'known'; readonly reading: Reading }
  | { readonly kind: 'sampling'; readonly inferrer: Inferrer }
  | { readonly kind: 'settled'; readonly reading: Reading }
  | { readonly kind: 'over' }

export class InferredBody {
  readonly #source: BodySource
  readonly #format: StreamFormat
  readonly #target: Target
  readonly #spool: Spool
  /** Of what is kept. */
  readonly #hash: IncrementalHash = createSha2('sha256')
  #state: State

  constructor(source: BodySource, format: StreamFormat, target: Target) {
    this.#source = source
    this.#format = format
    this.#target = target
    this.#spool = new Spool(source.spoolDir, source.caller)
    const reading = triedFirst(source, format, target)
    this.#state = reading === undefined ? this.#sampling() : { kind: 'known', reading }
  }

  /** Takes the next bytes, which are gone from the caller's hands. Throws NodeErrors of docs/spec/http.md §6. */
  async take(chunk: Uint8Array): Promise<void> {
    const state = this.#state
    if (state.kind === 'settled') return void (await state.reading.push(chunk))
    await this.#spool.append(chunk)
    this.#hash.update(chunk)
    if (state.kind === 'known') return this.#try(state.reading, chunk)
    assert(state.kind === 'sampling', 'a body that goes on')
    const goesOn = state.inferrer.push(chunk)
    freeBytes(chunk)
    if (!goesOn) await this.#settle(await this.#found(state.inferrer))
  }

  /** Takes the end of the body. `onHash` as of `Reading.end`. Throws as `take`. */
  async end(onHash: (hash: Hash) => void): Promise<TypedBody> {
    const state = this.#state
    if (state.kind === 'settled') return state.reading.end(onHash)
    const bodyHash = sha2HashText(this.#hash.digest())
    onHash(bodyHash)
    const facts = { bodyHash, bytes: this.#spool.bytes }
    const kept = new KeptBody(this.#source, this.#spool, facts)
    if (state.kind === 'sampling') return { ...(await (await this.#found(state.inferrer, facts)).end()), kept }
    assert(state.kind === 'known', 'a body that ends once')
    const body = await unlessFaulty(state.reading, () => state.reading.end())
    return { ...(body ?? (await kept.read(this.#target))), kept }
  }

  /** Gives back what is held. Idempotent. */
  async discard(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'over' }
    if ('reading' in state) await state.reading.discard()
    await this.#spool.discard()
  }

  #sampling(): Extract<State, { readonly kind: 'sampling' }> {
    return { kind: 'sampling', inferrer: this.#format.createInferrer(inferOptions(this.#source, this.#target)) }
  }

  /** Reads on as if the body brought no columns. */
  async #try(reading: Reading, chunk: Uint8Array): Promise<void> {
    const pushed = await unlessFaulty(reading, async () => (await reading.push(chunk), true))
    if (pushed !== undefined) {
      if (reading.rows >= sampleRecords) await this.#settle(reading)
      return
    }
    const { inferrer } = (this.#state = this.#sampling())
    for await (const piece of this.#spool.chunks()) {
      if (inferrer.push(piece)) continue
      return this.#settle(await this.#found(inferrer))
    }
  }

  /** A reading of what is kept, against the columns that its sample has. */
  async #found(inferrer: Inferrer, facts?: BodyFacts): Promise<Reading> {
    const against = inferredShape(inferrer.finish(), this.#target, this.#source)
    const reading = new Reading(this.#source, this.#format, { ...against, ...defined({ facts }) })
    this.#state = { kind: 'settled', reading }
    for await (const piece of this.#spool.chunks()) await reading.push(piece)
    return reading
  }

  async #settle(reading: Reading): Promise<void> {
    this.#state = { kind: 'settled', reading }
    await this.#spool.discard()
  }
}

/** A reading against the columns that the dataset has, of a body that may bring others; undefined where it has none. */
export function triedFirst(
  source: BodySource,
  format: StreamFormat,
  { shape }: Target,
  facts?: BodyFacts,
): Reading | undefined {
  // Without user columns, a first line of CSV is judged otherwise.
  if (shape === undefined || shape.payloadFields.length < 2) return undefined
  return new Reading(source, format, { shape, ...defined({ facts }) })
}
