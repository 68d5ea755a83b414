// A store that takes no block: what is posted is safe in the log, and the node says that it is not ready until blocks are
// committed again.

import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'

const soon = { timeout: 60_000, interval: 200 }

test(
  'a node that can commit no block is not ready, says why, and is ready again when it can',
  {
    timeout: 180_000,
  },
  async () => {
    const live = await liveNode()
    await live.ingest('acme/goods', [{ n: 1 }], '?create=true')
    expect((await live.call('/readyz')).status).toBe(200)
    // As a mount that is lost: a file where the directory was. Rights alone do not stop root.
    const store = join(live.dataDir, 'store')
    await rename(join(store, 'datasets'), join(store, 'gone'))
    await writeFile(join(store, 'datasets'), '')
    await chmod(join(store, 'datasets'), 0o400)
    const posted = await live.call('/acme/goods/ingest', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', prefer: 'respond-async' },
      body: '{"n":2}\n',
    })
    expect(posted.status).toBe(202)
    const ready = async (): Promise<unknown> => {
      const { status, text } = await live.call('/readyz', { token: null })
      expect(text).not.toContain(live.dataDir)
      return [status, text.includes('no block could be committed')]
    }
    await expect.poll(ready, soon).toEqual([503, true])
    await rename(join(store, 'datasets'), join(store, 'mount'))
    await rename(join(store, 'gone'), join(store, 'datasets'))
    await expect.poll(ready, soon).toEqual([200, false])
    const count = async (): Promise<unknown> =>
      (await live.query('select count(*) from "acme/goods"')).at('output.data.0.0')
    await expect.poll(count, soon).toBe(2)
  },
)
