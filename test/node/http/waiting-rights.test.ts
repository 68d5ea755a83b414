// Who waits for a block while the dataset becomes private: the change that ends his right brings him nothing.

import { request } from 'node:http'
import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': 'true' }, { cut: { openAgeMs: 10 } })

/** Status and body of an answer to somebody without a token, up to its end or the time. */
function stranger(path: string, headers: Record<string, string>, mostMs = 5_000): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, live.node.url), { headers, agent: false }, (answer) => {
      let text = ''
      const end = (): void => resolve([answer.statusCode ?? 0, text])
      const late = setTimeout(() => {
        asked.destroy()
        end()
      }, mostMs)
      answer.on('data', (piece: Buffer) => (text += piece.toString()))
      answer.on('end', () => {
        clearTimeout(late)
        end()
      })
      answer.on('error', () => {})
    })
    asked.on('error', reject)
    asked.end()
  })
}

const waits: [string, (alias: string, head: string) => [string, Record<string, string>]][] = [
  ['refs/head', (alias, head) => [`/${alias}/refs/head?wait=20`, { 'if-none-match': `"${head}"` }]],
  ['events', (alias) => [`/${alias}/events?rows=true`, { accept: 'text/event-stream' }]],
  ['events of several', (alias) => [`/events?dataset=${alias}&rows=true`, { accept: 'text/event-stream' }]],
]

test.each(waits)(
  'a stranger who waits at %s hears nothing of the change',
  async (name, pathOf) => {
    const alias = `acme/d${name.replace(/\W/g, '')}`
    for (let round = 0; round < 5; round++) {
      await live.ingest(alias, [{ n: round }], '?create=true')
      await live.call(`/${alias}`, { method: 'PATCH', json: { visibility: 'public' } })
      const head = (await live.head(alias)) ?? ''
      const [path, headers] = pathOf(alias, head)
      const answer = stranger(path, headers)
      await expect.poll(async () => (await live.call('/metrics')).text).toMatch(/listeners\S* [1-9]/)
      expect((await live.call(`/${alias}`, { method: 'PATCH', json: { visibility: 'private' } })).status).toBe(200)
      const changed = (await live.head(alias)) ?? ''
      const [status, text] = await answer
      expect(changed).not.toBe(head)
      expect(text).not.toContain(changed)
      expect([200, 404]).toContain(status)
      expect(status === 200 && name === 'refs/head').toBe(false)
    }
  },
  120_000,
)

test('a stranger who waits for rows gets none by the change', async () => {
  for (let round = 0; round < 5; round++) {
    await live.ingest('acme/tailed', [{ n: round }], '?create=true')
    await live.call('/acme/tailed', { method: 'PATCH', json: { visibility: 'public' } })
    const tag = (await live.call('/acme/tailed/tail')).headers.etag ?? ''
    const answer = stranger('/acme/tailed/tail?wait=20', { 'if-none-match': tag })
    await expect.poll(async () => (await live.call('/metrics')).text).toMatch(/listeners\S* [1-9]/)
    await live.call('/acme/tailed', { method: 'PATCH', json: { visibility: 'private' } })
    expect((await answer)[0]).toBe(404)
  }
}, 120_000)
