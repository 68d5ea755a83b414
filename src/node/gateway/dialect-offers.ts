// What is offered with an answer or a refusal of a body of cells: dialects that its first bytes were tried with, in a thread.

import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { received } from '../../libraries/formats/event-time.ts'
import type { BodyHead } from '../../libraries/formats/body-head.ts'
import type { Offer } from '../../libraries/formats/dialect/offers.ts'
import { defaultVocabulary } from '../../libraries/model/schema.ts'
import { runJob } from '../machine/work/jobs.ts'
import type { BodySource } from './reader-options.ts'
import type { TypedBody } from './reading.ts'
import type { Shape, Target } from './shape.ts'

/** Refusals that another dialect may settle. */
const settled = ['MalformedBody', 'RecordsDoNotFit', 'InvalidColumnName', 'NothingToInfer', 'SayHow']
/** As much of a body is tried: readings of more hold a thread for long. */
const triedBytes = 64 * 1024

/** The dialects for a body whose first bytes are `head`; none for streams and other formats. */
export async function offersFor(
  source: BodySource,
  head: BodyHead,
  shape: Shape | undefined,
): Promise<readonly Offer[]> {
  const { format, controls, limits, threads } = source
  const { name } = format.format
  if ((name !== 'csv' && name !== 'tsv') || source.isStreamed === true) return []
  const bytes = head.bytes.slice(0, triedBytes)
  const isWhole = head.bodyHash !== undefined && bytes.length < triedBytes
  const { recordBytes, columns } = limits
  const facts = {
    format: name,
    given: {
      ...controls.spelt,
      unknownFields: controls.unknownFields,
      ...defined({ charset: controls.charset, header: format.csvHeader }),
    },
    isWhole,
    limits: { recordBytes, columns },
    vocabulary: shape?.vocabulary ?? defaultVocabulary,
    ...(shape && { columns: shape.fields, eventTimeType: shape.eventTimeType }),
  } as const
  const run = threads?.run?.bind(threads)
  const found = run === undefined ? runJob('offers', [bytes], facts) : run('offers', [bytes], { settings: facts })
  try {
    // What has a field of this name is refused where the request wants the time of arrival.
    const isRefused = ({ first }: Offer): boolean =>
      controls.eventTime === received && Object.hasOwn(first, facts.vocabulary.eventTimeColumn)
    return (await found).filter((offer) => !isRefused(offer))
  } catch (error) {
    // Where no thread is free, there is nothing to offer.
    if (error instanceof NodeError) return []
    throw error
  }
}

/** The refusal with the dialects that may settle it. */
export async function withOffers(error: unknown, offers: () => Promise<readonly Offer[]>): Promise<unknown> {
  if (!(error instanceof NodeError) || !settled.includes(error.kind) || error.details.offers !== undefined) return error
  const found = await offers()
  return found.length === 0 ? error : new NodeError(error.kind, error.message, { ...error.details, offers: found })
}

/** Whether a body makes a dataset of one column, of which another dialect makes several. */
export function splitsCells({ shape }: TypedBody, target: Target, offers: readonly Offer[]): boolean {
  const isOne = target.shape === undefined && shape.fields.length === 1
  return isOne && offers.some(({ first }) => Object.keys(first).length > 1)
}

/** The refusal of such a body. */
export function oneCell(offers: readonly Offer[]): NodeError {
  const message = 'Each line is one cell, and would be several with another delimiter.'
  return new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    hint: 'Take the offer. If each line is one text, make the dataset with its column first: PUT.',
    errors: [{ line: 1, kind: 'MalformedRecord', message }],
    errorsTotal: 1,
    offers,
  })
}
