// The composition root of `dataset reject` and `log reject`: opens the store that a configuration names, beside whatever
// nodes run on it.

import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { systemClock, timeText } from './lib/clock.ts'
import { NodeError } from './model/errors.ts'
import { openDirectoryStore } from './store/directory/directory-store.ts'
import { dataPaths, logsPrefix } from './store/layout.ts'
import { rejectHalted, type Rejection, rejectUnreadable } from './store/reject-message.ts'

/** A message that halts a dataset, or one that cannot be read. */
export type RejectOptions = {
  readonly reason: string
  readonly position: number
} & ({ readonly dataset: string } | { readonly log?: string | undefined; readonly partition: number })

/** Writes the rejection. Durable when it resolves. Throws as `rejectHalted`, `rejectUnreadable`; NodeError `ObjectNotFound`. */
export async function rejectMessage(config: Config, options: RejectOptions): Promise<Rejection> {
  const paths = dataPaths(config.dataDir, config.storeDir)
  if ((await stat(join(paths.store, logsPrefix)).catch(() => undefined)) === undefined) {
    throw new NodeError('ObjectNotFound', `There is no store in ${paths.store}.`, {
      hint: 'Name the data directory with --data, and the store with --store if it lies elsewhere.',
    })
  }
  const word = { reason: options.reason, by: operator(), at: timeText(systemClock.nowMs()) }
  const store = await openDirectoryStore(paths.store)
  try {
    return 'dataset' in options
      ? await rejectHalted(store, options, word)
      : await rejectUnreadable(store, options, word)
  } finally {
    await store.close()
  }
}

/** Who runs this, as the machine knows it. */
function operator(): string {
  try {
    return userInfo().username
  } catch {
    // A user id without a name, as in containers.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
