// A replica of another node: its datasets are copied into the store of this one, each object checked first.

import { availableParallelism } from 'node:os'
import type { FeatureCode, Origin } from '../../node/feature.ts'
import type { Metrics } from '../../node/machine/ops/metrics.ts'
import { ThreadPool } from '../../node/machine/work/thread-pool.ts'
import { settingsOf } from '../../node/options.ts'
import { type Follow, startFollow } from './follow.ts'
import { followOptions } from './options.ts'

export const following: FeatureCode = {
  /** Throws as `startFollow`. */
  origin: async ({ config, paths, catalog, metrics, opened, ...shared }): Promise<Origin | undefined> => {
    const options = settingsOf(config.settings, followOptions)
    if (options === undefined) return undefined
    const jobs = availableParallelism()
    const work = new ThreadPool({ clock: shared.clock, jobs, queueLimit: 1_000, tasks: 0, heapMiB: 512 })
    opened.push(() => work.close())
    const follow = await startFollow({
      ...shared,
      options,
      work,
      evidenceDir: paths.evidence,
      deleteGraceMs: config.deleteGraceMs,
      onRemoved: (id) => catalog.forget(id),
    })
    opened.push(() => follow.close())
    catalog.completeFrom(follow.source)
    measureFollow(metrics, follow)
    return {
      url: follow.url,
      source: follow.source,
      shown: () => follow.shown,
      secretsOf: (name) => follow.secretsOf(name),
      tell: (health) => {
        health.add('follow', () => follow.notReady)
        health.tell('follow', () => followFacts(follow))
      },
    }
  },
}

/** For anyone: private datasets are counted and not named. */
function followFacts(follow: Follow): object {
  const all = follow.status()
  const halted = all.filter(({ progress }) => progress.kind === 'halted')
  return {
    origin: follow.url,
    fault: follow.fault ?? null,
    datasets: all.length,
    behind: all.filter(({ lag }) => lag.blocks > 0).length,
    halted: halted.map(({ name }) => (name.visibility === 'public' ? name.alias : '(private)')),
  }
}

/** Private datasets are not named: they are one label. */
function measureFollow(metrics: Metrics, follow: Follow): void {
  const count = (kind?: string): number =>
    follow.status().filter(({ progress }) => kind === undefined || progress.kind === kind).length
  metrics.gauge('follow_datasets', 'Datasets of the origin that are followed.', () => count())
  metrics.gauge('follow_waiting_datasets', 'Those that could not be fetched or stored and are tried again.', () =>
    count('waiting'),
  )
  metrics.gauge(
    'follow_halted_datasets',
    'Followed datasets for which the origin shows a chain that differs from the copy.',
    () => count('halted'),
  )
  metrics.counter(
    'follow_mended_total',
    'Objects and records of copies that failed their check and were fetched or made again.',
    () => {
      return follow.mended
    },
  )
  metrics.counter('follow_received_bytes_total', 'Bytes that were fetched from the origin.', () => follow.receivedBytes)
  const blocks =
    'Blocks that a followed dataset has at its origin, as far as is known, and not here; the most of a label.'
  metrics.gauges('follow_lag_blocks', blocks, 'dataset', () => [...lagsOf(follow)].map(([of, lag]) => [of, lag.blocks]))
  const seconds = 'Time since the copy was last known to be complete; the longest of a label.'
  metrics.gauges('follow_lag_seconds', seconds, 'dataset', () =>
    [...lagsOf(follow)].map(([of, lag]) => [of, lag.seconds]),
  )
}

/** How far the copies are behind, by their labels. */
function lagsOf(follow: Follow): Map<string, { readonly blocks: number; readonly seconds: number }> {
  const lags = new Map<string, { blocks: number; seconds: number }>()
  for (const { name, lag } of follow.status()) {
    const label = name.visibility === 'public' ? name.alias : '(private)'
    const most = lags.get(label) ?? lag
    lags.set(label, { blocks: Math.max(most.blocks, lag.blocks), seconds: Math.max(most.seconds, lag.seconds) })
  }
  return lags
}
