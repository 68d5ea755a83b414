// A copy that lives in packs, whose packs are damaged while its node is down and while it runs: what they held is fetched
// anew, and what is asked is answered as the origin answers it. The oracle is the origin.

import { cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkStore } from '../../src/index.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'
import { arrives, expectWhole, filesOf, harm, type Harm, mendedCount } from './damage.ts'
import { type Replica, startReplica } from './support.ts'

const posts = 280
const alias = 'acme/stream'
const asked = { alias, statement: `select count(*), sum(n), min(text) from "${alias}"` }
let origin: LiveNode
let home = ''
let packed = ''
let dataDir = ''

beforeAll(async () => {
  origin = await startLiveNode({ 'cut-wait-age': 1, 'cut-open-age': 1 })
  for (let n = 0; n < posts; n++) {
    await origin.ingest(alias, [{ n, text: `${'x'.repeat(20)}${n}` }], n === 0 ? '?create=true' : '')
  }
  home = await mkdtemp(join(tmpdir(), 'proofstream-damaged-packs-'))
  packed = join(home, 'packed')
  const replica = await startReplica(origin.node.url, {}, packed)
  await arrives(replica, origin, alias)
  await replica.stop()
  expect(await runCommand(['pack', '--sweep', '--data', packed])).toMatchObject({ code: 0 })
  expect(await filesOf(packed, 'packs/files')).toHaveLength(1)
})
beforeEach(async () => {
  dataDir = join(home, 'copy')
  await cp(packed, dataDir, { recursive: true })
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))
afterAll(async () => {
  await origin.stop()
  await rm(home, { recursive: true, force: true })
})

const start = (): Promise<Replica> => startReplica(origin.node.url, {}, dataDir)

/** Near the end of a pack: behind its objects and its index. */
const summaryFromEnd = 100

const damages: readonly (readonly [what: string, kind: string, how: Harm, fromEnd?: number])[] = [
  ['a bit of the objects in a pack', 'packs/files', 'a bit'],
  ['a bit of the summary of a pack', 'packs/files', 'a bit', summaryFromEnd],
  ['a bit of the trailer of a pack', 'packs/files', 'a bit', 20],
  ['the end of a pack', 'packs/files', 'its end'],
  ['all of a pack', 'packs/files', 'all of it'],
  ['the file of a pack', 'packs/files', 'the file'],
  ['a bit of the record of a pack', 'packs/0', 'a bit'],
  ['the end of the record of a pack', 'packs/0', 'its end'],
  ['all of the record of a pack', 'packs/0', 'all of it'],
  ['the record of a pack', 'packs/0', 'the file'],
]

async function damage(kind: string, how: Harm, fromEnd?: number): Promise<void> {
  const files = await filesOf(dataDir, kind)
  expect(files).not.toEqual([])
  for (const path of files) {
    const { size } = await stat(path)
    await harm(path, how, fromEnd === undefined ? undefined : size - fromEnd)
  }
}

describe.each(damages)('%s', (_, kind, how, fromEnd) => {
  test('damaged while the node was down', async () => {
    await damage(kind, how, fromEnd)
    const replica = await start()
    try {
      await arrives(replica, origin, alias)
      await expectWhole(replica, origin, asked)
      expect(await mendedCount(replica)).toBeGreaterThan(0)
    } finally {
      await replica.stop()
    }
    expect(await checkStore(dataDir)).toMatchObject({ ok: true })
  })

  test('damaged while the node runs', async () => {
    const replica = await start()
    try {
      await arrives(replica, origin, alias)
      await expectWhole(replica, origin, asked)
      await damage(kind, how, fromEnd)
      await expectWhole(replica, origin, asked)
      await origin.ingest(alias, [{ n: 1, text: 'more' }])
      await arrives(replica, origin, alias)
      await expectWhole(replica, origin, asked)
    } finally {
      await replica.stop()
    }
    const again = await start()
    try {
      await arrives(again, origin, alias)
      await expectWhole(again, origin, asked)
    } finally {
      await again.stop()
    }
    expect(await checkStore(dataDir)).toMatchObject({ ok: true })
  })
})
