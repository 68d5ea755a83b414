// How a numbered stream begins: its headers, and what the chain knows of its producer (docs/spec/protocol.md §12).

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { Outcomes } from '../catalog/outcomes.ts'
import type { ChainBlock } from '../catalog/packed-blocks.ts'
import { producerIdentity, type ProducerMark } from '../../libraries/odf/chain/producers.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { fixedLimits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { isKey } from './controls.ts'
import { fenced } from './refusals.ts'

const dayMs = 24 * 60 * 60 * 1000

export interface ProducerStart {
  readonly id: string
  readonly epoch: number
  /** Number of the first record. */
  readonly first: number
}

/** What is known of a producer, and the block that took its last range. */
export interface HeldMark extends ProducerMark {
  readonly block: ChainBlock
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The producer that the headers name; undefined where they name none. Throws NodeError `InvalidParameter`. */
export function producerStart(headers: Headers): ProducerStart | undefined {
  const id = headers['producer-id']
  const [epoch, first] = ['producer-epoch', 'producer-sequence'].map((name) => headers[name])
  if (id === undefined && epoch === undefined && first === undefined) return undefined
  if (typeof id !== 'string' || !isKey(id)) {
    throw new NodeError('InvalidParameter', 'The Producer-Id is missing or malformed.', {
      hint: 'Send 1 to 255 visible ASCII characters, a serial number for instance.',
    })
  }
  return { id, epoch: natural('Producer-Epoch', epoch ?? '0'), first: natural('Producer-Sequence', first) }
}

function natural(name: string, text: string | readonly string[] | undefined): number {
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined
  if (value !== undefined) return value
  throw new NodeError('InvalidParameter', `The ${name} is missing, or no number from 0 on with up to 15 digits.`, {
    hint: 'Producer-Sequence is the number of the first record that is sent; Producer-Epoch rises when a sender is replaced.',
  })
}

/**
 * What the chain knows of the producer of a stream that begins. Throws NodeErrors `ProducerFenced`, `QuotaExceeded`; HaltError
 * `ChainBroken`.
 */
export async function producerMark(
  deps: { readonly catalog: Catalog; readonly outcomes: Outcomes; readonly clock: Clock },
  chain: DatasetChain,
  { tokenId, start }: { readonly tokenId: string | undefined; readonly start: ProducerStart },
): Promise<HeldMark | undefined> {
  await deps.catalog.refresh(chain)
  const { mark, block, count, from } = await deps.outcomes.producer(
    chain,
    producerIdentity(chain.name.id, tokenId, start.id),
  )
  if (mark !== undefined && mark.epoch > start.epoch) throw fenced(`The producer has a higher epoch: ${mark.epoch}.`)
  const { producers, producerDays } = fixedLimits
  if (mark === undefined && count >= producers.value) {
    const isYoung = deps.clock.nowMs() - chain.dataTimeMs(from) < producerDays.value * dayMs
    if (isYoung) throw tooMany()
  }
  return mark && { ...mark, block: block ?? chain.head }
}

function tooMany(): NodeError {
  const { value, unit } = fixedLimits.producers
  return new NodeError('QuotaExceeded', `The dataset has ${value} active producers.`, {
    hint: 'Use fewer Producer-Ids, or further datasets. One that is not heard of for 7 days makes room.',
    limit: { name: 'producers', value, unit },
    retryAfterSeconds: 3600,
  })
}
