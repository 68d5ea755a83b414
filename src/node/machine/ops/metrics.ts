// Prometheus metrics of the node, `proofstream_*`, and what its roles tell at each scrape: queues, open rows, how new
// what they know is. They name no dataset.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { systemClock } from '../../../libraries/base/clock.ts'
import type { FreeSpace } from '../disk/space.ts'
import type { Instant } from '../../../libraries/model/events.ts'
import { instantMs } from '../../../libraries/model/instant.ts'

export interface GaugeReading {
  /** Without the prefix. */
  readonly name: string
  readonly about: string
  /** By label, of which most have none. */
  readonly values: readonly { readonly of: string; readonly value: number }[]
}

/** Upper bounds of durations in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Between two samples of the event loop. */
const sampleMs = 10

export class Metrics {
  readonly #registry = new Registry()
  readonly #requestSeconds = this.#histogram('http_request_duration_seconds', 'Time from request to answer.', 'route')
  /** Answers by route and status. */
  readonly #requests = new Map<string, Map<number, number>>()
  readonly ingestedRecords = this.#counter('ingested_records_total', 'Records that became durable in the log.')
  readonly ingestedBytes = this.#counter(
    'ingested_bytes_total',
    'Inflated bytes of bodies that became durable in the log.',
  )
  readonly commits = this.#counter('commits_total', 'Commits that this process announced or saw.')
  readonly acceptedToLoggedSeconds = this.#histogram(
    'ingest_accepted_to_logged_seconds',
    'Time from a checked batch to its being durable in the log.',
  )
  readonly loggedToCommittedSeconds = this.#histogram(
    'builder_logged_to_committed_seconds',
    'Time from the first message of a block to its commit, by the clocks of gateway and builder.',
  )
  readonly blockAgeSeconds = this.#histogram('block_age_seconds', 'Age of a new block when this process learns of it.')
  #runtime: Promise<void> | undefined

  constructor() {
    const labelNames = ['route', 'status']
    const requests = this.#counter('http_requests_total', 'Answered requests by route and status.', {
      labelNames,
      collect: () => {
        requests.reset()
        for (const [route, statuses] of this.#requests) {
          for (const [status, count] of statuses) requests.inc({ route, status: String(status) }, count)
        }
      },
    })
  }

  #histogram(name: string, help: string, ...labelNames: string[]): Histogram {
    return new Histogram({ name: `proofstream_${name}`, help, labelNames, buckets, registers: [this.#registry] })
  }

  #counter(
    name: string,
    help: string,
    more: { readonly labelNames?: string[]; readonly collect?: () => void } = {},
  ): Counter {
    return new Counter({ name: `proofstream_${name}`, help, ...more, registers: [this.#registry] })
  }

  /** Counts an answer. */
  answered(route: string, status: number, seconds: number): void {
    const statuses = this.#requests.get(route) ?? new Map<number, number>()
    this.#requests.set(route, statuses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    this.#requestSeconds.observe({ route }, seconds)
  }

  /** Adds a gauge `proofstream_<name>` that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void {
    const gauge = new Gauge({
      name: `proofstream_${name}`,
      help,
      registers: [this.#registry],
      collect: (): void => gauge.set(read()),
    })
  }

  /** What the gauges of this node say now, those of its runtime excepted. */
  async readGauges(): Promise<readonly GaugeReading[]> {
    const metrics = await this.#registry.getMetricsAsJSON()
    const own = metrics.filter(
      ({ name, type }) => String(type) === 'gauge' && !/^proofstream_(?:process|nodejs)_/.test(name),
    )
    return own.map(({ name, help, values }) => ({
      name: name.slice('proofstream_'.length),
      about: help,
      values: values.map(({ labels, value }) => ({ of: Object.values(labels).join(' '), value })),
    }))
  }

  /** The same for a counter; `read` gives its whole count. */
  counter(name: string, help: string, read: () => number): void {
    const collect = (): void => {
      counter.reset()
      counter.inc(read())
    }
    const counter = this.#counter(name, help, { collect })
  }

  /** Adds the requests to the store; returns what counts them. */
  countStoreRequests(): (operation: string, requests: number) => void {
    const labelNames = ['operation']
    const counter = this.#counter('store_requests_total', 'Requests to the store by operation.', { labelNames })
    return (operation, requests) => counter.inc({ operation }, requests)
  }

  /** Adds how far the builder of this process is behind in each partition that it has. */
  watchLag(lags: () => readonly { readonly partition: number; readonly lag: number | undefined }[]): void {
    const help = 'Messages between the floor and the end of the log, for each partition that this process builds.'
    this.gauges('builder_lag_messages', help, 'partition', () => lags().map(({ partition, lag }) => [partition, lag]))
  }

  /** Adds how long the oldest row that is in no block has waited, by the log's own clock. */
  watchOpenAges(ages: () => readonly { readonly partition: number; readonly openMs: number }[]): void {
    const help =
      'How much older the oldest message above the floor is than the newest, for each partition of a Kafka log.'
    this.gauges('log_open_seconds', help, 'partition', () =>
      ages().map(({ partition, openMs }) => [partition, openMs / 1000]),
    )
  }

  /** Adds what the volumes that rows need have left, by what lies there. */
  watchSpace(free: () => ReadonlyMap<string, FreeSpace>): void {
    const add = (name: 'bytes' | 'inodes', help: string): void =>
      this.gauges(`free_${name}`, help, 'volume', () => [...free()].map(([volume, space]) => [volume, space[name]]))
    add('bytes', 'Bytes that the volume of log or store has left.')
    add('inodes', 'Files that it may still take, where it has a bound.')
  }

  /** Adds gauges `proofstream_<name>`, one for each value of a label, that are read at each scrape. */
  gauges(
    name: string,
    help: string,
    label: string,
    read: () => readonly (readonly [string | number, number | undefined])[],
  ): void {
    const gauge = new Gauge({
      name: `proofstream_${name}`,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect: () => {
        gauge.reset()
        for (const [of, value] of read()) if (value !== undefined) gauge.set({ [label]: of }, value)
      },
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The Prometheus text. */
  async text(): Promise<string> {
    this.#runtime ??= this.#measureRuntime()
    await this.#runtime
    return await this.#registry.metrics()
  }

  /** Delays of the event loop are sampled a hundred times a second: not where nobody reads them. */
  async #measureRuntime(): Promise<void> {
    collectDefaultMetrics({ register: this.#registry, prefix: 'proofstream_', eventLoopMonitoringPrecision: sampleMs })
    // It counts from now on; the counters are those of the process.
    const { user, system } = process.cpuUsage()
    for (const [name, micros] of Object.entries({ user_: user, system_: system, '': user + system })) {
      const counter = this.#registry.getSingleMetric(`proofstream_process_cpu_${name}seconds_total`)
      if (counter instanceof Counter) counter.inc(micros / 1e6)
    }
    await systemClock.sleep(3 * sampleMs)
  }
}

/** What a gateway has in flight. */
export interface GatewayLoad {
  readonly openRequests: number
  readonly openBytes: number
  readonly waitingRequests: number
  readonly waitingCallers: number
}

/** What a builder tells of itself. */
export interface MeasuredBuilder {
  status(): {
    readonly halted: readonly { readonly dataset?: string }[]
    readonly partitions: readonly { readonly waitingPlans: number }[]
    readonly lostRaces: number
  }
  openBytes(): number
  openRows(): number
}

/** Queries of a replica. */
export interface EngineLoad {
  readonly running: number
  readonly waiting: number
}

interface NewBlocks {
  readonly chain: {
    readonly blocks: { readonly length: number; slice(start: number): readonly { readonly systemTime: Instant }[] }
  }
  readonly fromSequence: number
}

/** What a catalog tells of blocks that it has come to know. */
export interface MeasuredCatalog {
  readonly bytes: number
  onAdvance(listener: (advance: NewBlocks) => void): unknown
}

export function measureGateway(metrics: Metrics, load: () => GatewayLoad): void {
  metrics.gauge('ingest_open_requests', 'Batches being read, parsed and logged.', () => load().openRequests)
  metrics.gauge('ingest_open_bytes', 'Bytes of the bodies of those.', () => load().openBytes)
  metrics.gauge('ingest_waiting_requests', 'Batches that wait for room, unread.', () => load().waitingRequests)
  metrics.gauge('ingest_waiting_callers', 'Callers whose batch is in no block yet.', () => load().waitingCallers)
}

export function measureBuilder(metrics: Metrics, builder: MeasuredBuilder): void {
  metrics.gauge('builder_open_rows', 'Rows read from the log that are in no block yet.', () => builder.openRows())
  metrics.gauge('builder_open_bytes', 'Logged bytes of these, and of incomplete batches.', () => builder.openBytes())
  metrics.gauge('builder_waiting_blocks', 'Blocks that are complete but not committed yet.', () =>
    builder.status().partitions.reduce((sum, { waitingPlans }) => sum + waitingPlans, 0),
  )
  metrics.gauge('halted_datasets', 'Datasets that take no rows until an operator acts.', () => {
    return builder.status().halted.filter(({ dataset }) => dataset !== undefined).length
  })
  metrics.counter('builder_lost_races_total', 'Commits in which another builder came first with other bytes.', () => {
    return builder.status().lostRaces
  })
}

export function measureEngine(metrics: Metrics, load: () => EngineLoad): void {
  metrics.gauge('query_running', 'Queries that run.', () => load().running)
  metrics.gauge('query_waiting', 'Queries that wait for a free process.', () => load().waiting)
}

/** `nowMs` is the wall clock. Chains that are read for the first time tell nothing of the time since their last block. */
export function measureCatalog(metrics: Metrics, catalog: MeasuredCatalog, nowMs: () => number): void {
  let newestMs = 0
  catalog.onAdvance(({ chain, fromSequence }) => {
    for (const { systemTime } of chain.blocks.slice(fromSequence === 0 ? chain.blocks.length - 1 : fromSequence)) {
      const timeMs = instantMs(systemTime)
      newestMs = Math.max(newestMs, timeMs)
      if (fromSequence > 0) metrics.blockAgeSeconds.observe(Math.max(0, nowMs() - timeMs) / 1000)
    }
  })
  metrics.gauge('catalog_bytes', 'Memory of cached chains.', () => catalog.bytes)
  metrics.gauge('newest_block_timestamp_seconds', 'Time of the newest block known here; 0 before any.', () => {
    return newestMs / 1000
  })
}

/** Merged files of a replica, and what became of others. */
export interface MergedLoad {
  readonly bytes: number
  readonly files: number
  readonly made: number
  readonly dropped: number
  readonly refused: number
}

export function measureMerged(metrics: Metrics, load: () => MergedLoad): void {
  metrics.gauge('merged_file_bytes', 'Bytes of merged files of small slices on disk.', () => load().bytes)
  metrics.gauge('merged_files', 'Merged files that statements may read.', () => load().files)
  metrics.counter('merged_files_made_total', 'Merged files made and checked.', () => load().made)
  metrics.counter('merged_files_dropped_total', 'Merged files removed to make room.', () => load().dropped)
  metrics.counter(
    'merged_files_refused_total',
    'Merged files removed because they did not match the chain, and ranges of slices that could not be merged.',
    () => load().refused,
  )
}
