// Announcements inside one process: listeners are called at once, in the order of their subscription.

import { assert } from '../lib/assert.ts'
import type { Logger } from '../lib/logger.ts'
import type { Announcements } from './announcements.ts'
import { checkCommitAnnouncement } from './contract.ts'
import type { CommitAnnouncement } from './messages.gen.ts'

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
