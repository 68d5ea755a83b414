// The operator's way out with the program's own commands, beside a running node: rows that no block can hold are rejected,
// a message that cannot be read is skipped, and both without a restart.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openFileLog } from '../../src/node/log/file/file-log.ts'
import { compressor } from '../../src/node/open-storage.ts'
import { TestWriter } from '../node/builder/support.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'

let live: LiveNode

beforeEach(async () => {
  live = await startLiveNode()
  const { compress } = compressor
  vi.spyOn(compressor, 'compress').mockImplementation((bytes) => {
    if (Buffer.from(bytes).includes('poison ')) throw new RangeError('a bug')
    return compress(bytes)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await live.stop()
})

const waitMs = { interval: 200 }

function post(texts: readonly string[], prefer: string) {
  return live.call('/acme/a/ingest', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer },
    body: texts.map((text) => `${JSON.stringify({ text })}\n`).join(''),
  })
}

test('rows that halt their dataset are rejected, their receipt says by whom and why, and new rows go on', async () => {
  await live.ingest('acme/a', [{ text: 'first' }], '?create=true')
  await live.ingest('acme/b', [{ n: 1 }], '?create=true')
  const poison = await post(
    Array.from({ length: 200 }, (_, i) => `poison ${i}`),
    'respond-async',
  )
  expect(poison.status).toBe(202)
  const position = Number(poison.at('log.position'))
  await expect.poll(async () => (await post(['no'], 'wait=1')).at('message'), waitMs).toMatch(/PoisonBlock/)
  expect((await live.ingest('acme/b', [{ n: 2 }])).at('status')).toBe('committed')
  const reject = (at: number) =>
    runCommand(
      `log reject acme/a --data ${live.dataDir} --position ${at} --reason`.split(' ').concat('a bug of the writer'),
    )
  await expect.poll(async () => (await reject(position + 1)).stderr, waitMs).toContain(`--position ${position}`)
  const done = await reject(position)
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('within 10 s') as string })
  const receipt = () => live.call(`/receipts/${String(poison.at('receiptId'))}`)
  await expect.poll(async () => (await receipt()).at('status'), waitMs).toBe('rejected')
  expect((await receipt()).at('errors.0.message')).toMatch(/^Rejected by an operator \(.+\): a bug of the writer$/)
  await expect.poll(async () => (await post(['more'], 'wait=10')).at('status'), waitMs).toBe('committed')
  const rows = (await live.query('select text from "acme/a" order by offset')).at('output.data') as string[][]
  expect(rows.map(([text]) => text).filter((text) => text !== 'no')).toEqual(['first', 'more'])
  expect(await runCommand(['fsck', live.dataDir])).toMatchObject({ code: 0 })
})

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
