// Who may read what records make: visibility is asked for, or the option says it, at every address that makes datasets.

import { describe, expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode({ 'new-datasets': 'private' })
const ndjson = { 'content-type': 'application/x-ndjson' }
const row = '{"event_time":"2026-01-31T12:00:00Z","a":1}\n'
const logs =
  '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1769860800000000000","body":{"stringValue":"x"}}]}]}]}'

interface Post {
  readonly body: string
  readonly headers: Record<string, string>
  readonly path: (alias: string, query: string) => string
}

const addresses: Readonly<Record<string, Post>> = {
  ingest: { body: row, headers: ndjson, path: (alias, query) => `/${alias}/ingest?create=true${query}` },
  stream: { body: row, headers: ndjson, path: (alias, query) => `/${alias}/stream?create=true${query}` },
  write: {
    body: 'm a=1 1769860800000000000',
    headers: {},
    path: (alias, query) => `/api/v2/write?bucket=${alias}${query}`,
  },
  'the first write': {
    body: 'm a=1 1769860800000000000',
    headers: {},
    path: (alias, query) => `/write?db=${alias}${query}`,
  },
  logs: {
    body: logs,
    headers: { 'content-type': 'application/json' },
    path: (alias, query) => `/${alias}/v1/logs?${query.slice(1)}`,
  },
}

async function post(name: string, alias: string, query: string, token?: string): Promise<string> {
  const { body, headers, path } = addresses[name] as Post
  const more = token === undefined ? {} : { token }
  const all = { 'content-type': 'text/plain', ...headers }
  const answer = await live.call(path(alias, query), { method: 'POST', body, headers: all, ...more })
  return answer.status < 300 ? 'stored' : String(answer.status)
}

async function visibilityOf(alias: string): Promise<unknown> {
  await expect.poll(async () => (await live.call(`/${alias}`)).at('rows'), { timeout: 60_000 }).toBe(1)
  return (await live.call(`/${alias}`)).at('visibility')
}

describe.each(Object.keys(addresses))('%s', (name) => {
  const alias = (what: string): string => `made/${name.replaceAll(' ', '-')}.${what}`

  test('makes what the option says, and what was asked for', async () => {
    expect(await post(name, alias('default'), '')).toBe('stored')
    expect(await post(name, alias('public'), '&visibility=public')).toBe('stored')
    expect(await visibilityOf(alias('default'))).toBe('private')
    expect(await visibilityOf(alias('public'))).toBe('public')
    expect((await live.call(`/${alias('default')}/tail`, { token: null })).status).not.toBe(200)
    expect((await live.call(`/${alias('public')}/tail`, { token: null })).status).toBe(200)
  })

  test('refuses what it cannot do, and does not leave it out', async () => {
    expect(await post(name, alias('public'), '&visibility=private')).toBe('409')
    expect(await post(name, alias('odd'), '&visibility=secret')).toBe('400')
    expect(await post(name, alias('misspelt'), '&visibilty=private')).toBe('400')
    for (const what of ['odd', 'misspelt']) {
      expect((await live.call(`/${alias(what)}`)).status).toBe(404)
    }
  })
})

test.each(['stream', 'write', 'the first write', 'logs'])(
  '%s refuses what counts for one batch, or files',
  async (name) => {
    // A stream of cells may be in another character set.
    const ofFiles = name === 'stream' ? ['&layer=one'] : ['&layer=one', '&charset=UTF-8']
    for (const query of ['&dryRun=true', ...ofFiles]) expect(await post(name, 'made/odd', query)).toBe('400')
    expect((await live.call('/made/odd')).status).toBe(404)
  },
)

test.each(['write', 'logs'])('%s says so where the token makes nothing', async (name) => {
  const made = await live.call('/tokens', { method: 'POST', json: { name, scopes: ['ingest'] } })
  const token = String(made.at('token'))
  const alias = `made/${name}.default`
  expect(await post(name, alias, '', token)).toBe('stored')
  expect(await post(name, alias, '&visibility=private', token)).toBe('400')
  expect(await post(name, alias, '&create=true', token)).toBe('403')
})

test('PUT makes what its body says', async () => {
  await live.call('/made/put', { method: 'PUT', json: {} })
  expect((await live.call('/made/put')).at('visibility')).toBe('public')
})
