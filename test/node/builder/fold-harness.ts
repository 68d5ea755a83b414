// The fold alone, fed with message bytes: one dataset, no builder, no store.

import type { BlockPlan, DataPlan, DatasetState } from '../../../src/node/builder/dataset-state.ts'
import { foldCreation, foldCut, type FoldResult } from '../../../src/node/builder/fold.ts'
import { foldMessage, type KeptRows, type MessageSource } from '../../../src/node/builder/rows.ts'
import type { BatchStatus } from '../../../src/libraries/odf/chain/checkpoint.ts'
import { defined } from '../../../src/libraries/base/collections.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { EventLog } from '../../../src/node/log/event-log.ts'
import { decodeMessage } from '../../../src/node/log/messages.ts'
import { openMemoryLog } from '../../adapters/memory-log.ts'

export class FoldHarness {
  readonly log: EventLog = openMemoryLog()
  readonly source: MessageSource
  readonly plans: BlockPlan[] = []
  current: DatasetState | undefined
  readonly #id: string | undefined

  /** Follows the dataset with this id; without one, the first that is created. Without `kept` rows are read again. */
  constructor(id?: string, kept?: KeptRows) {
    this.#id = id
    this.source = { log: this.log, partition: 0, rejects: new Map(), ...defined({ kept }) }
  }

  get state(): DatasetState {
    return must(this.current, 'the dataset exists')
  }

  get dataPlans(): DataPlan[] {
    return this.plans.filter((plan) => plan.kind === 'data')
  }

  /** Appends one message and folds it. */
  async take(bytes: Uint8Array): Promise<FoldResult> {
    const position = await this.log.append(0, [bytes])
    const result = await this.#fold(bytes, position)
    if (result.plan !== undefined) this.plans.push(result.plan)
    if (result.changePlan !== undefined) this.plans.push(result.changePlan)
    return result
  }

  async takeAll(messages: readonly Uint8Array[]): Promise<FoldResult[]> {
    const results: FoldResult[] = []
    for (const message of messages) results.push(await this.take(message))
    return results
  }

  /** Outcomes of the open block, or of the last plan. */
  statuses(plan = this.dataPlans.at(-1)): BatchStatus[] {
    const outcomes = this.state.open?.outcomes ?? plan?.checkpoint.outcomes ?? []
    return outcomes.map(({ status }) => status)
  }

  /** Everything that the state holds, as plain values. */
  snapshot(): unknown {
    return snapshotOf(this.state)
  }

  async #fold(bytes: Uint8Array, position: number): Promise<FoldResult> {
    const message = decodeMessage(bytes)
    if (message.kind === 'foreign') return { effect: 'dropped' }
    const { header, payload } = message
    if (header.kind !== 'create' && this.current === undefined) return { effect: 'dropped' }
    if (header.kind !== 'cut' && header.dataset !== (this.current?.id ?? header.dataset)) return { effect: 'dropped' }
    switch (header.kind) {
      case 'create': {
        if (this.current !== undefined || (this.#id ?? header.dataset) !== header.dataset) return { effect: 'dropped' }
        const created = foldCreation(header, position)
        this.current = created?.state
        return created === undefined ? { effect: 'dropped' } : { effect: 'changed', plan: created.plan }
      }
      case 'cut': {
        const entry = header.entries.find(({ dataset }) => dataset === this.state.id)
        const timeMs = Date.parse(header.time)
        return entry === undefined
          ? { effect: 'dropped' }
          : foldCut(this.state, { position, timeMs, sequence: entry.sequence })
      }
      case 'abort':
      case 'change':
      case 'delete':
      case 'restore':
      case 'rows':
        return foldMessage(this.source, this.state, { position, header, payload })
    }
  }
}

/** A state as plain values, so that two can be compared. */
export function snapshotOf(state: DatasetState): unknown {
  const { writers, attempts, ids, producers, ...rest } = state
  return structuredClone({
    ...rest,
    writers: [...writers],
    attempts: [...attempts],
    known: Object.fromEntries(ids.known),
    groups: ids.groups,
    openIds: ids.open,
    producers: [...producers.ended],
    openProducers: [...producers.open],
  })
}
