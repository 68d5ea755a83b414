// What was given up with the logs that were left for others (docs/decisions/log.md#adopting-another-log): of a message
// in one of them, whether the chain of its dataset was read beyond it before the log was left.

import { leftLog } from '../../libraries/odf/chain/left-log.ts'
import type { AdoptionRecord } from '../../libraries/odf/chain/records.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { readAdoption, readLog } from '../store/records.ts'
import type { DatasetChain } from './dataset-chain.ts'

export interface LogPlace {
  readonly log: string
  readonly partition: number
  readonly position: number
}

/** Messages of one partition of a log that no block of a dataset will take; without `to` the log's end is not known. */
export interface GivenUp {
  readonly log: string
  readonly partition: number
  readonly from: number
  readonly to?: number
}

/**
 * `inForce`: the log was not left. `read`: it was, and the chain was read beyond this place before. `lost`: it was not, and
 * never will be; `givenUp` is absent where the store does not know that log, or not that far.
 */
export type LeftPlace = { readonly kind: 'inForce' | 'read' } | { readonly kind: 'lost'; readonly givenUp?: GivenUp }

export class LeftLogs {
  readonly #store: ObjectStore
  /** An adoption is never taken back. */
  readonly #adoptions = new Map<string, AdoptionRecord>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Throws DecodeError where a record is damaged. */
  async of(chain: DatasetChain, { log, partition, position }: LogPlace): Promise<LeftPlace> {
    const adoption = this.#adoptions.get(log) ?? (await readAdoption(this.#store, log))
    if (adoption === undefined) return { kind: (await readLog(this.#store, log)) === undefined ? 'lost' : 'inForce' }
    this.#adoptions.set(log, adoption)
    const next = Math.max(0, chain.nextIn(log))
    const { givenUp } = leftLog(adoption, { id: chain.name.id, partition, next })
    if (givenUp !== undefined && position >= givenUp.from)
      return { kind: 'lost', givenUp: { log, partition, ...givenUp } }
    // What lies beyond the end that was known is not of the log as it was left.
    const end = adoption.partitions[partition]?.end ?? Number.POSITIVE_INFINITY
    return { kind: position < end ? 'read' : 'lost' }
  }
}
