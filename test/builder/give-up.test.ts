// A builder that lost a race reads the chain again. Meanwhile the floor must not pass what the chain will need, above
// all the parts of a large batch that is still coming in.

import { expect, test } from 'vitest'
import { BuildTurns } from '../../src/builder/build-turns.ts'
import { emptyTip } from '../../src/builder/chain-tip.ts'
import { Committer } from '../../src/builder/committer.ts'
import { NameIndex } from '../../src/builder/name-index.ts'
import { firstUncommitted, newSlot, type Slot } from '../../src/builder/slot.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { openLocalAnnouncements } from '../../src/log/announcements.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { FoldHarness } from './fold-harness.ts'
import { compressor, datasetId, TestWriter } from './support.ts'

const id = datasetId('a')

function committerOf(onStale: (slot: Slot) => void): Committer {
  const store = openMemoryStore()
  return new Committer({
    store,
    announcements: openLocalAnnouncements(silentLogger),
    clock: systemClock,
    logger: silentLogger,
    names: new NameIndex(store),
    build: {
      log: 'log',
      partition: 0,
      compressor,
      readPayload: async function* () {},
      storeSlice: async () => {},
      anchorAt: async () => '',
    },
    signal: new AbortController().signal,
    earliestNextCutInMs: () => 0,
    onHalt: () => {},
    turns: new BuildTurns(),
    culpritOf: async () => 0,
    onStale,
  })
}

test('what a dataset needs is held while its chain is read again', async () => {
  const fold = new FoldHarness(id)
  const writer = new TestWriter('w')
  await fold.takeAll([
    writer.create(id, 'acme/a'),
    writer.rows(id, [{ rows: 1 }]),
    writer.large(id, { rows: 40 }, 2).part(0),
    writer.cut([{ dataset: id, sequence: 3 }]),
    writer.rows(id, [{ rows: 1 }]),
  ])
  const slot = newSlot(id, emptyTip)
  slot.state = fold.state
  const stale: Slot[] = []
  committerOf((one) => stale.push(one)).giveUp(slot, 4)
  // As the session does before it reads the chain.
  slot.state = undefined
  expect([stale, firstUncommitted(slot)]).toEqual([[slot], 2])
})
