// Announcements: "this commit happened". Hints only: a commit whose announcement is missed is found in the store.

import { assert } from '../lib/assert.ts'
import type { Logger } from '../lib/logger.ts'
import type { CommitAnnouncement } from './messages.gen.ts'
import { checkCommitAnnouncement } from './messages.ts'

export interface Announcements {
  /** Tells every listener. Not durable; resolves when handed over. */
  announce(message: CommitAnnouncement): Promise<void>
  /** Calls `listener` for each announcement from now on, in order, until the returned function is called. */
  subscribe(listener: (message: CommitAnnouncement) => void): () => void
}

/** Announcements for roles that share a process. A listener that throws is logged; the others still hear. */
export function openLocalAnnouncements(logger: Logger): Announcements {
  const listeners = new Set<{ readonly hear: (message: CommitAnnouncement) => void }>()
  return {
    async announce(message) {
      const fault = checkCommitAnnouncement(message)
      assert(fault === undefined, `announcement to make: ${fault}`)
      for (const { hear } of listeners) {
        try {
          hear(message)
        } catch (error) {
          logger.error({ err: error, dataset: message.dataset }, 'a listener failed on a commit announcement')
        }
      }
    },
    subscribe(listener) {
      const entry = { hear: listener }
      listeners.add(entry)
      return () => {
        listeners.delete(entry)
      }
    },
  }
}
