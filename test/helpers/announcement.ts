// An announcement as a builder makes it, for tests of who hears it.

import type { CommitAnnouncement } from '../../src/node/log/messages.gen.ts'

export function announcement(sequence: number): CommitAnnouncement {
  const head = `f1620${'ab'.repeat(32)}`
  return {
    version: 1,
    dataset: `did:odf:fed01${'00'.repeat(32)}`,
    alias: 'acme/trips',
    sequence,
    blocks: [head],
    head,
    headSequence: sequence,
    log: 'log',
    partition: 0,
    next: sequence,
    earliestNextCutInMs: 0,
  }
}
