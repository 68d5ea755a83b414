// A body that may bring columns, read while it arrives: as if it brought none, or, where nothing is known of its columns,
// from the moment on that its first records have told them. Whatever does not fit ends the attempt: reading the body again,
// from its spool, finds and tells what is wrong.

import type { Inferrer, StreamFormat } from '../../libraries/formats/format.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type BodyFacts, type BodySource, inferOptions, inferredShape, Reading, type TypedBody } from './reading.ts'
import type { Target } from './shape.ts'
import type { Spool } from './spool.ts'

type State =
  | { readonly kind: 'sampling'; readonly inferrer: Inferrer }
  /** With the columns that were found. */
  | { readonly kind: 'found'; readonly reading: Reading }
  /** With those of the dataset: right only if nothing else is met. */
  | { readonly kind: 'known'; readonly reading: Reading }
  | { readonly kind: 'given up' }

export class EarlyReading {
  readonly #source: BodySource
  readonly #format: StreamFormat
  readonly #target: Target
  readonly #spool: Spool
  #state: State

  /** `spool` is what the body is kept in. */
  constructor(source: BodySource, format: StreamFormat, { target, spool }: { target: Target; spool: Spool }) {
    this.#source = source
    this.#format = format
    this.#target = target
    this.#spool = spool
    const { shape } = target
    // Without user columns, a first line of CSV is judged otherwise.
    this.#state =
      shape !== undefined && shape.payloadFields.length >= 2
        ? { kind: 'known', reading: new Reading(source, format, { shape }) }
        : { kind: 'sampling', inferrer: format.createInferrer(inferOptions(source, target)) }
  }

  /** Takes the next bytes, which are in the spool. */
  async take(chunk: Uint8Array): Promise<void> {
    const state = this.#state
    if (state.kind === 'given up') return
    if (state.kind !== 'sampling') return this.#read(state.reading, chunk)
    if ((await this.#unlessFaulty(async () => state.inferrer.push(chunk))) !== false) return
    const reading = await this.#unlessFaulty(
      async () =>
        new Reading(this.#source, this.#format, inferredShape(state.inferrer.finish(), this.#target, this.#source)),
    )
    if (reading === undefined) return
    this.#state = { kind: 'found', reading }
    for await (const piece of this.#spool.chunks()) if (this.#isReading) await this.#read(reading, piece)
  }

  /** The body, if it was read to its end and fitted. */
  async end(facts: BodyFacts): Promise<TypedBody | undefined> {
    const state = this.#state
    if (state.kind === 'given up' || state.kind === 'sampling') return undefined
    const body = await this.#unlessFaulty(() => state.reading.end(facts))
    await this.#demandFit()
    return this.#isReading ? body : undefined
  }

  async discard(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'given up' }
    if ('reading' in state) await state.reading.discard()
  }

  get #isReading(): boolean {
    return 'reading' in this.#state
  }

  async #read(reading: Reading, chunk: Uint8Array): Promise<void> {
    await this.#unlessFaulty(() => reading.push(chunk))
    await this.#demandFit()
  }

  async #demandFit(): Promise<void> {
    if (this.#state.kind === 'known' && !this.#state.reading.fits) await this.discard()
  }

  /** What `work` gives; undefined, and nothing more is tried, where the body is at fault. */
  async #unlessFaulty<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      await this.discard()
      return undefined
    }
  }
}
