// Why a gateway takes no rows though its log does. The log may take back what it has acknowledged: Kafka deletes what is
// older than its retention, and a log that was given up for another is built by nobody. A builder, perhaps in another
// process, may have halted a dataset. Gateways refuse rows before any of this can lose them.

import { type Clock, repeat, type Repeated } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { EventLog } from '../log/event-log.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { newestLowWaterMark, readAdoption } from '../store/records.ts'

/** Each look asks the broker twice per partition; retentions are weeks. */
const lookMs = 30_000
/** Of the retention: rows that wait longer for their block keep others out. The rest is the operator's time to act. */
const openShareMost = 0.5
const hourMs = 3_600_000

/** A log that knows how long it keeps messages and when it stored them. */
export interface AgingLog extends Pick<EventLog, 'id' | 'partitions' | 'range'> {
  /** Infinity: forever. */
  readonly retentionMs: number
  /** When the log stored the message, by its own clock, or undefined when the message is not there. */
  storedMs(partition: number, position: number): Promise<number | undefined>
}

interface LogWatchDeps {
  readonly log: AgingLog
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
}

/** Why a partition takes no rows whose oldest open message is `openMs` older than its newest, or undefined. Pure. */
export function openAgeFault(openMs: number, retentionMs: number): string | undefined {
  if (openMs <= retentionMs * openShareMost) return undefined
  const hours = (ms: number): string => (ms / hourMs).toFixed(1)
  return `rows have waited ${hours(openMs)} h for their block, and the log keeps them for ${hours(retentionMs)} h`
}

export class LogWatch {
  readonly #deps: LogWatchDeps
  readonly #repeated: Repeated
  /** By partition. */
  #openMs: readonly number[] = []
  #givenUpFor: string | undefined

  /** Looks now and every 30 s until `close`. */
  constructor(deps: LogWatchDeps) {
    this.#deps = deps
    this.#repeated = repeat(() => this.#look(), {
      everyMs: lookMs,
      clock: deps.clock,
      onError: (error) =>
        deps.logger.warn({ err: error }, 'the age of the log could not be read; what it was before stands'),
    })
  }

  /** Why the partition takes no rows, or undefined. */
  of(partition: number): string | undefined {
    if (this.#givenUpFor !== undefined) return `the log was given up for log ${this.#givenUpFor}`
    return openAgeFault(this.#openMs[partition] ?? 0, this.#deps.log.retentionMs)
  }

  /** The first partition's reason, or undefined. */
  fault(): string | undefined {
    return this.#openMs.map((_, partition) => this.of(partition)).find((reason) => reason !== undefined)
  }

  /** How much older the oldest message above the floor is than the newest, for each partition. */
  openAges(): readonly { readonly partition: number; readonly openMs: number }[] {
    return this.#openMs.map((openMs, partition) => ({ partition, openMs }))
  }

  close(): Promise<void> {
    return this.#repeated.close()
  }

  async #look(): Promise<void> {
    const { log, store } = this.#deps
    this.#givenUpFor = (await readAdoption(store, log.id))?.new
    this.#openMs = await Promise.all(Array.from({ length: log.partitions }, (_, partition) => this.#ageOf(partition)))
  }

  async #ageOf(partition: number): Promise<number> {
    const { log, store } = this.#deps
    const floor = (await newestLowWaterMark(store, log.id, partition))?.position ?? 0
    const { start, end } = await log.range(partition)
    if (floor >= end) return 0
    const [oldest, newest] = await Promise.all([
      log.storedMs(partition, Math.max(start, floor)),
      log.storedMs(partition, end - 1),
    ])
    return oldest === undefined || newest === undefined ? 0 : newest - oldest
  }
}

const rereadMs = 5_000

interface HaltedDatasetsDeps {
  readonly store: ObjectStore
  readonly log: { readonly id: string; readonly partitions: number }
  readonly clock: Clock
  readonly logger: Logger
}

/** Datasets that builders have halted, as the newest floors list them: for gateways whose builders are other processes. */
export class HaltedDatasets {
  readonly #deps: HaltedDatasetsDeps
  readonly #repeated: Repeated
  #reasons: ReadonlyMap<DatasetId, string> = new Map()

  /** Reads the floors now and every 5 s until `close`. */
  constructor(deps: HaltedDatasetsDeps) {
    this.#deps = deps
    this.#repeated = repeat(() => this.#read(), {
      everyMs: rereadMs,
      clock: deps.clock,
      onError: (error) =>
        deps.logger.warn({ err: error }, 'the floors could not be read; what they listed before stands'),
    })
  }

  /** Why builders take no rows of the dataset, or undefined. */
  of(dataset: DatasetId): string | undefined {
    return this.#reasons.get(dataset)
  }

  close(): Promise<void> {
    return this.#repeated.close()
  }

  async #read(): Promise<void> {
    const { store, log } = this.#deps
    const numbers = Array.from({ length: log.partitions }, (_, number) => number)
    const floors = await Promise.all(numbers.map((number) => newestLowWaterMark(store, log.id, number)))
    const halted = floors.flatMap((floor) => floor?.halted ?? [])
    this.#reasons = new Map(halted.map(({ dataset, reason }) => [dataset, `${reason}: a builder has stopped it`]))
  }
}
