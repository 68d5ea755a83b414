// Chains that other software wrote: the check must find nothing wrong with them, and count as their owner does.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fsck } from '../../../src/node/upkeep/fsck.ts'
import { putName } from '../../../src/node/store/names.ts'
import { putLog } from '../../../src/node/store/records.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { copyFixture, deployedChains, nodeChains, putCommits } from '../store/copy-fixture.ts'
import { storeChecks } from '../../../src/app/features.ts'

describe('checking datasets that deployed software wrote', async () => {
  test.each((await deployedChains()).map((chain) => [chain.alias, chain] as const))('%s is sound', async (_, chain) => {
    const expected = JSON.parse(await readFile(join(chain.folder, 'expected.json'), 'utf8'))
    const store = openMemoryStore()
    await copyFixture(store, chain)
    const report = await fsck(store, { commits: 'optional' })
    expect(report.datasets[0]?.problems).toEqual([])
    expect(report).toMatchObject({ ok: true, problems: [], orphans: 0 })
    const unread = report.datasets[0]?.notes.filter((note) => note.includes('not checked'))
    expect(unread).toHaveLength(chain.alias.endsWith('all-types') ? 2 : 0)
    expect(report.datasets).toMatchObject([
      {
        id: chain.id,
        head: expected.head,
        blocks: expected.numBlocks,
        slices: expected.numSlices,
        rows: expected.numRecords,
      },
    ])
  })
})

describe('checking chains of the form that a node makes', async () => {
  test('finds them sound, by head and by commits', async () => {
    const store = openMemoryStore()
    await putLog(store, { id: 'log-1', kind: 'file', partitions: 1 })
    for (const chain of await nodeChains()) {
      await copyFixture(store, chain)
      await putCommits(store, chain, [5, 1, 1, 1, 2])
      await putName(store, { id: chain.id, alias: chain.alias, log: 'log-1', partition: 0, visibility: 'public' })
    }
    const report = await fsck(store, { checks: storeChecks })
    // Their source state is of a trial version; all else is as a node writes it.
    const problems = report.datasets.flatMap((dataset) => dataset.problems)
    expect(problems.filter(({ message }) => !message.includes('log position: '))).toEqual([])
    expect(report.problems).toEqual([])
    expect(report.datasets.map(({ alias, blocks, slices, notes }) => [alias, blocks, slices, notes])).toEqual([
      ['acme/places', 4, 1, []],
      ['acme/trips', 12, 4, []],
    ])
  })
})
