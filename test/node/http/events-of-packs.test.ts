// A stream that is resumed over a chain whose blocks lie in packs by now: the same events as before, rows included.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { startNode } from '../../../src/app/node.ts'
import { listen, type Received } from '../../helpers/events.ts'
import { startLiveNode } from '../../helpers/live-node.ts'
import { runCommand } from '../../helpers/run-node.ts'

const blocks = 270

it('are those of the loose blocks', async () => {
  const live = await startLiveNode({}, { cut: { waitAgeMs: 1, openAgeMs: 1 } })
  const { dataDir, adminToken: token } = live
  const id = String((await live.ingest('acme/long', [{ n: 0 }], '?create=true')).at('dataset.id'))
  for (let n = 1; n < blocks; n++) await live.ingest('acme/long', [{ n }])
  const read = async (url: string): Promise<readonly Received[]> => {
    const listener = await listen(`${url}/acme/long/events?rows=true`, { token, lastEventId: `${id}:0` })
    const events = await listener.blocks(blocks + 2)
    listener.cut()
    return events
  }
  const before = await read(live.node.url)
  expect(before.flatMap(({ data }) => ((data?.['rows'] ?? []) as { n: number }[]).map(({ n }) => n))).toEqual(
    Array.from({ length: blocks }, (_, n) => n),
  )
  await live.node.stop()
  const packed = await runCommand(['fsck', dataDir, '--pack'])
  expect(JSON.parse(packed.stdout)).toMatchObject({ dataset: 'acme/long', packs: 1 })
  const again = await startNode(loadConfig({ data: dataDir, listen: '127.0.0.1:0', 'log-level': 'silent' }))
  try {
    expect((await readFile(join(dataDir, 'token'), 'utf8')).trim()).toBe(token)
    expect(await read(again.url)).toEqual(before)
  } finally {
    await again.stop()
    await live.stop().catch(() => {})
  }
})
