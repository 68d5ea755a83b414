// Holds the partitions that this builder is given, and those that another builder was given and does not build.

import type { Logger } from '../lib/logger.ts'
import type { PartitionShare } from '../log/partitions.ts'
import type { HeldPartitions } from './held-partitions.ts'
import { StallWatch, type StallWatchDeps } from './stall-watch.ts'

const lookMs = 20_000

export interface FollowDeps extends StallWatchDeps {
  readonly logger: Logger
  readonly share?: PartitionShare | undefined
}

/** Until `signal` aborts, and the partitions are handed back. Without a share all are held at once. Never throws. */
export async function followShare(held: HeldPartitions, deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { log, share, logger } = deps
  if (share === undefined) return held.set(Array.from({ length: log.partitions }, (_, number) => number))
  let given: readonly number[] | undefined
  let taken: readonly number[] = []
  const apply = (): void => {
    if (given !== undefined) held.set([...new Set([...given, ...taken])])
  }
  // Not awaited: at the end it may wait for a log that does not answer, and what it finds then is of no use.
  void watchStalls(deps, signal, async (watch) => {
    if (given === undefined) return
    const before = taken
    taken = await watch.look(given)
    const news = taken.filter((number) => !before.includes(number))
    if (news.length > 0) logger.warn({ partitions: news }, 'others were given these partitions and do not build them')
    apply()
  })
  for await (const numbers of share.assignments(signal)) {
    given = numbers
    logger.info({ partitions: numbers }, 'these partitions are built here')
    apply()
  }
}

async function watchStalls(
  deps: FollowDeps,
  signal: AbortSignal,
  look: (watch: StallWatch) => Promise<void>,
): Promise<void> {
  const watch = new StallWatch(deps)
  while (!signal.aborted) {
    await deps.clock.sleep(lookMs, signal)
    if (signal.aborted) return
    try {
      await look(watch)
    } catch (error) {
      if (signal.aborted) return
      deps.logger.warn({ err: error }, 'the floors of other builders cannot be looked at')
    }
  }
}
