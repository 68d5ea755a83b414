// A histogram in the form of Prometheus whose observation costs a few additions: those of prom-client hash their labels
// at each one, which is more than a small post's other accounting together.

import type { Metric, Registry } from 'prom-client'

/** Upper bounds in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface Series {
  /** Observations by bucket, not cumulative; the last is above all bounds. */
  readonly counts: Float64Array
  sum: number
}

interface Value {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  /** Name of the one label; absent for one series without. */
  readonly label?: string
  readonly registry: Registry
}

export class Histogram {
  readonly name: string
  readonly help: string
  readonly #label: string | undefined
  readonly #series = new Map<string, Series>()

  constructor({ name, help, label, registry }: HistogramOptions) {
    this.name = name
    this.help = help
    this.#label = label
    if (label === undefined) this.#seriesOf('')
    // `as`: a registry asks its metrics for `name` and `get` alone.
    registry.registerMetric(this as unknown as Metric)
  }

  /** Counts one duration; `of` is the value of the label. */
  observe(seconds: number, of = ''): void {
    const series = this.#series.get(of) ?? this.#seriesOf(of)
    let bucket = 0
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += seconds
  }

  /** What the registry writes. */
  async get(): Promise<object> {
    const values = [...this.#series].flatMap(([of, series]) => this.#valuesOf(of, series))
    return { name: this.name, help: this.help, type: 'histogram', aggregator: 'sum', values }
  }

  #seriesOf(of: string): Series {
    const series = { counts: new Float64Array(bounds.length + 1), sum: 0 }
    this.#series.set(of, series)
    return series
  }

  #valuesOf(of: string, { counts, sum }: Series): Value[] {
    const labels = this.#label === undefined ? {} : { [this.#label]: of }
    const values: Value[] = []
    let total = 0
    for (const [i, count] of counts.entries()) {
      total += count
      values.push({ metricName: `${this.name}_bucket`, labels: { le: bounds[i] ?? '+Inf', ...labels }, value: total })
    }
    values.push({ metricName: `${this.name}_sum`, labels, value: sum })
    values.push({ metricName: `${this.name}_count`, labels, value: total })
    return values
  }
}
