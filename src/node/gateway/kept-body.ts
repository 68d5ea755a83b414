// A body whose bytes are kept until its batch has its place: a file, of which any part may be needed first, or few records, which
// are read again where the dataset turns out to have other columns.

import { defined } from '../../libraries/base/collections.ts'
import type { FileOptions, Inferred, Inferrer } from '../../libraries/formats/format.ts'
import { type BodySource, hasOwnTime, inferOptions, inferredShape } from './reader-options.ts'
import { type BodyFacts, type KeptBytes, Reading, readAll, readRows, type TypedBody } from './reading.ts'
import type { Target } from './shape.ts'
import type { Spool } from './spool.ts'
import type { TypedRows } from './typed-rows.ts'

export class KeptBody implements KeptBytes {
  readonly #source: BodySource
  readonly #spool: Spool
  readonly #facts: BodyFacts
  #last: TypedRows | undefined

  /** The spool is its own from then on. */
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
    const found = isKnown
      ? { shape }
      : inferredShape(await infer(format.createInferrer(options), this.#spool), target, source)
    return readAll(new Reading(source, format, { ...found, facts: this.#facts }), this.#spool.chunks())
  }

  async discard(): Promise<void> {
    await this.#last?.discard()
    await this.#spool.discard()
  }
}

/** Of a dataset that was made meanwhile its rule of the event time counts, where the request says nothing. */
export function ruledSource(source: BodySource, { eventTime }: Target): BodySource {
  const isOwn = source.controls.eventTime !== undefined || hasOwnTime(source.format.format)
  return eventTime === undefined || isOwn ? source : { ...source, controls: { ...source.controls, eventTime } }
}

function fileOptions({ limits, controls: { layer, sheet, charset } }: BodySource): FileOptions {
  return { limits, ...defined({ layer, sheet, charset }) }
}

async function infer(inferrer: Inferrer, spool: Spool): Promise<Inferred> {
  for await (const piece of spool.chunks()) if (!inferrer.push(piece)) break
  return inferrer.finish()
}
