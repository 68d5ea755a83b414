// A bucket that does not answer when a node starts: asked again while the node has patience, and no longer.

import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openBucket } from '../../../src/drivers/s3/open-bucket.ts'

/** Opens a bucket whose server breaks so many connections before it answers; how many requests it met. */
async function open(broken: number, patienceMs: number): Promise<{ store: ObjectStore; met: () => number }> {
  let met = 0
  const server = createServer((request, response) => {
    met += 1
    if (met <= broken) return void request.socket.destroy()
    if (request.url?.includes('list-type') === true)
      response.end('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>')
    else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number } // a TCP address
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b')
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = await openBucket({
    address: {
      endpoint: new URL(`http://127.0.0.1:${port}`),
      bucket: 'rows',
      region: 'us-east-1',
      pathStyle: true,
      dialect: 'aws',
    },
    prefix: '',
    use: 'read',
    spoolDir: join(tmpdir(), 'proofstream-test-spool'),
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 50, signal) },
    logger: silentLogger,
    answerMs: 5_000,
    patienceMs,
  })
  return { store, met: () => met }
}

test('a bucket that comes back is opened', async () => {
  const { store, met } = await open(30, 600_000)
  onTestFinished(() => store.close())
  expect(met()).toBeGreaterThan(30)
})

test('without patience its first silence is the end', async () => {
  await expect(open(30, 0)).rejects.toMatchObject({ kind: 'StoreUnavailable' })
})
