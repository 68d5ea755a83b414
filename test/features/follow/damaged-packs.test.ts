// A copy that lives in packs, whose packs are damaged while its node is down and while it runs: what they held is fetched
// anew, and what is asked is answered as the origin answers it. The oracle is the origin.

import { cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { checkStore } from '../../../src/index.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { runCommand } from '../../helpers/run-node.ts'
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
  origin = await startLiveNode({}, { cut: { waitAgeMs: 1, openAgeMs: 1 } })
  for (let n = 0; n < posts; n++) {
    await origin.ingest(alias, [{ n, text: `${'x'.repeat(20)}${n}` }], n === 0 ? '?create=true' : '')
  }
  home = await mkdtemp(join(tmpdir(), 'proofstream-damaged-packs-'))
  packed = join(home, 'packed')
  const replica = await startReplica(origin.node.url, {}, packed)
  await arrives(replica, origin, alias)
  await replica.stop()
  await runCommand(['fsck', packed, '--pack', '--sweep'])
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

interface Damage {
  readonly what: string
  readonly kind: string
  readonly how: Harm
  readonly fromEnd?: number
}

const damages: readonly Damage[] = [
  { what: 'a bit of the objects in a pack', kind: 'packs/files', how: 'a bit' },
  { what: 'a bit of the summary of a pack', kind: 'packs/files', how: 'a bit', fromEnd: summaryFromEnd },
  { what: 'a bit of the trailer of a pack', kind: 'packs/files', how: 'a bit', fromEnd: 20 },
  { what: 'the end of a pack', kind: 'packs/files', how: 'its end' },
  { what: 'all of a pack', kind: 'packs/files', how: 'all of it' },
  { what: 'the file of a pack', kind: 'packs/files', how: 'the file' },
  { what: 'a bit of the record of a pack', kind: 'packs/0', how: 'a bit' },
  { what: 'the end of the record of a pack', kind: 'packs/0', how: 'its end' },
  { what: 'all of the record of a pack', kind: 'packs/0', how: 'all of it' },
  { what: 'the record of a pack', kind: 'packs/0', how: 'the file' },
]

async function damage({ kind, how, fromEnd }: Damage): Promise<void> {
  const files = await filesOf(dataDir, kind)
  expect(files).not.toEqual([])
  for (const path of files) {
    const { size } = await stat(path)
    await harm(path, how, fromEnd === undefined ? undefined : size - fromEnd)
  }
}

test.each(damages)('$what is damaged while the node is down', async (harmed) => {
  await damage(harmed)
  const replica = await start()
  try {
    await arrives(replica, origin, alias)
    await expectWhole(replica, origin, asked)
    expect(await mendedCount(replica)).toBeGreaterThan(0)
    await until('the copy is whole', async () => (await checkStore(dataDir)).ok)
  } finally {
    await replica.stop()
  }
  expect(await checkStore(dataDir)).toMatchObject({ ok: true })
})

test.each(damages.filter(({ how }) => how !== 'all of it' && how !== 'its end'))(
  '$what is damaged while the node runs',
  async (harmed) => {
    const replica = await start()
    try {
      await arrives(replica, origin, alias)
      await expectWhole(replica, origin, asked)
      await damage(harmed)
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
      await until('the copy is whole', async () => (await checkStore(dataDir)).ok)
    } finally {
      await again.stop()
    }
    expect(await checkStore(dataDir)).toMatchObject({ ok: true })
  },
)
