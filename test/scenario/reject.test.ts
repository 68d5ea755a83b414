// The operator's way out with the program's own commands, beside a running node: a message that cannot be read is skipped,
// without a restart. Rows that no block can hold: test/docs/operators.test.ts.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openFileLog } from '../../src/node/log/file/file-log.ts'
import { TestWriter } from '../node/builder/support.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

let live: LiveNode

beforeEach(async () => {
  live = await startLiveNode()
})
afterEach(async () => {
  await live.stop()
})

const waitMs = { interval: 200 }

test('a message that cannot be read is skipped', async () => {
  await live.ingest('acme/a', [{ text: 'first' }], '?create=true')
  await live.node.stop()
  const directory = `${live.dataDir}/log`
  const log = await openFileLog({ directory, clock: systemClock, logger: silentLogger, onFailure: () => {} })
  const damaged = Uint8Array.from(new TestWriter('w').rows(`did:odf:fed01${'0'.repeat(64)}`, [{}]))
  damaged.fill(0, damaged.length - 4)
  const position = await log.append(0, [damaged])
  await log.close()
  const again = await startLiveNode({ data: live.dataDir })
  const health = async () => (await again.call('/readyz')).status
  // The builder meets it soon after the start.
  await expect.poll(health, waitMs).toBe(503)
  const refused = await again.ingest('acme/a', [{ text: 'second' }])
  expect([refused.status, refused.at('message')]).toEqual([503, expect.stringContaining(`message ${position}`)])
  const done = await runCommand(
    `log reject --data ${live.dataDir} --position ${position} --reason`.split(' ').concat('a disk'),
  )
  expect(done).toMatchObject({ code: 0 })
  await expect.poll(health, waitMs).toBe(200)
  expect((await again.ingest('acme/a', [{ text: 'third' }])).at('status')).toBe('committed')
  await again.stop()
})
