// The batches of one stream that are logged and in no block yet: the log may still refuse them, because another sender has
// taken over or the dataset was deleted. Held in order until a block decides them, so that what was refused first is known.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import type { BatchPlace, Outcomes } from '../catalog/outcomes.ts'
import { must } from '../../libraries/base/assert.ts'
import { isPassed } from './fate.ts'
import { rejection } from './refusals.ts'

/** More wait only in a dataset that gets blocks seldom; the rest counts as one batch, with the outcome of its last. */
const heldMost = 1_000

/** Why records are not stored, and the number of the first of them; undefined where it is not known. */
export interface RefusedRecords {
  readonly error: unknown
  readonly from: number | undefined
}

export class UndecidedBatches {
  readonly #outcomes: Outcomes
  readonly #batches: { readonly place: BatchPlace; readonly first: number }[] = []
  #refused: RefusedRecords | undefined

  constructor(outcomes: Outcomes) {
    this.#outcomes = outcomes
  }

  /** Number of the first record that no block has decided. */
  get first(): number | undefined {
    return this.#batches[0]?.first
  }

  /** The last batch. */
  get last(): BatchPlace | undefined {
    return this.#batches.at(-1)?.place
  }

  add(place: BatchPlace, first: number): void {
    const held = this.#batches.length < heldMost ? undefined : this.#batches.pop()
    this.#batches.push({ place, first: held?.first ?? first })
  }

  /** What the log refused of them first, as far as the chain goes. Throws HaltError `ChainBroken`. */
  async refused(chain: DatasetChain): Promise<RefusedRecords | undefined> {
    while (this.#refused === undefined && this.#batches.length > 0) {
      const { place, first } = must(this.#batches[0], 'there is one')
      if (!isPassed(chain, place)) break
      const decision = await this.#outcomes.at(chain, place)
      if (this.#batches[0]?.place === place) this.#batches.shift()
      const status = decision === undefined || decision === 'void' ? undefined : decision.outcome.status
      if (status?.kind === 'rejected') this.#refused ??= { error: rejection(status, chain), from: first }
    }
    return this.#refused
  }
}
