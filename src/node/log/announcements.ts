// Announcements: "this commit happened". Hints only: a commit whose announcement is missed is found in the store.

import { assert } from '../../libraries/base/assert.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import type { CommitAnnouncement } from './messages.gen.ts'
import { checkCommitAnnouncement } from './messages.ts'

/** `blocks`: the bytes of the blocks that the message names, in their order, where it was made in this process. */
export type AnnouncementListener = (message: CommitAnnouncement, blocks?: readonly Uint8Array[]) => void

export interface Announcements {
  /**
   * Tells every listener; those of this process get `blocks` along, so that none has to read what was just written. Not
   * durable; resolves when handed over.
   */
  announce(message: CommitAnnouncement, blocks?: readonly Uint8Array[]): Promise<void>
  /** Calls `listener` for each announcement from now on, in order, until the returned function is called. */
  subscribe(listener: AnnouncementListener): () => void
}

/** Announcements for roles that share a process. A listener that throws is logged; the others still hear. */
export function openLocalAnnouncements(logger: Logger): Announcements {
  const listeners = new Set<{ readonly hear: AnnouncementListener }>()
  return {
    async announce(message, blocks) {
      const fault = checkCommitAnnouncement(message)
      assert(fault === undefined, `announcement to make: ${fault}`)
      for (const { hear } of listeners) {
        try {
          hear(message, blocks)
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
