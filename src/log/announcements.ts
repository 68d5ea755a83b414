// Announcements: "this commit happened". Hints only; whoever misses one finds the commit in the store.

import type { CommitAnnouncement } from './messages.gen.ts'

export interface Announcements {
  /** Tells every listener. Not durable; resolves when handed over. */
  announce(message: CommitAnnouncement): Promise<void>
  /** Calls `listener` for each announcement from now on, in order, until the returned function is called. */
  subscribe(listener: (message: CommitAnnouncement) => void): () => void
}
