// Prometheus metrics of the node, `proofstream_*`. They name no dataset.

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class Metrics {
  readonly #registry = new Registry()
  readonly requests = new Counter({
    name: 'proofstream_http_requests_total',
    help: 'Answered requests by route and status.',
    labelNames: ['route', 'status'],
    registers: [this.#registry],
  })
  readonly requestSeconds = new Histogram({
    name: 'proofstream_http_request_duration_seconds',
    help: 'Time from request to answer.',
    labelNames: ['route'],
    buckets: secondBuckets,
    registers: [this.#registry],
  })
  readonly ingestedRecords = new Counter({
    name: 'proofstream_ingested_records_total',
    help: 'Records that became durable in the log.',
    registers: [this.#registry],
  })
  readonly ingestedBytes = new Counter({
    name: 'proofstream_ingested_bytes_total',
    help: 'Inflated bytes of bodies that became durable in the log.',
    registers: [this.#registry],
  })
  readonly commits = new Counter({
    name: 'proofstream_commits_total',
    help: 'Commits that this process announced or saw.',
    registers: [this.#registry],
  })
  readonly haltedDatasets = new Gauge({
    name: 'proofstream_halted_datasets',
    help: 'Datasets that take no rows until an operator has looked.',
    registers: [this.#registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'proofstream_' })
  }

  /** Adds, at each scrape, how far the builder of this process is behind in each partition that it has. */
  watchLag(lags: () => readonly { readonly partition: number; readonly lag: number | undefined }[]): void {
    const gauge = new Gauge({
      name: 'proofstream_builder_lag_messages',
      help: 'Messages between the floor and the end of the log, for each partition that this process builds.',
      labelNames: ['partition'],
      registers: [this.#registry],
      collect: () => {
        gauge.reset()
        for (const { partition, lag } of lags()) if (lag !== undefined) gauge.set({ partition }, lag)
      },
    })
  }

  /** Adds, at each scrape, how long the oldest row that is in no block has waited, by the log's own clock. */
  watchOpenAges(ages: () => readonly { readonly partition: number; readonly openMs: number }[]): void {
    const gauge = new Gauge({
      name: 'proofstream_log_open_seconds',
      help: 'How much older the oldest message above the floor is than the newest, for each partition of a Kafka log.',
      labelNames: ['partition'],
      registers: [this.#registry],
      collect: () => {
        for (const { partition, openMs } of ages()) gauge.set({ partition }, openMs / 1000)
      },
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The Prometheus text. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
