// A dataset at a glance, and the links that the node gives: all of them answer.

import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/goods', [{ a: 1, b: 'x' }], '?create=true')
await live.call('/acme/empty', { method: 'PUT', json: {} })

async function expectAnswers(links: unknown): Promise<void> {
  const paths = Object.values(Object(links)).map(String)
  expect(paths.length).toBeGreaterThan(4)
  for (const path of paths) expect([path, (await live.call(path)).status]).toEqual([path, 200])
}

describe('GET /{account}/{dataset}', () => {
  it('says what a person asks first', async () => {
    const answer = await live.call('/ACME/goods')
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({
      alias: 'acme/goods',
      visibility: 'public',
      rows: 1,
      head: await live.head('acme/goods'),
    })
    expect(Object(answer.at('columns')).map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['offset', 'event_time', 'a', 'b']),
    )
    expect(answer.at('bytes')).toBeGreaterThan(100)
    expect(answer.headers['dataset-head']).toBe(`acme/goods;block="${await live.head('acme/goods')}"`)
    await expectAnswers(answer.at('links'))
  })

  it('counts what came since, and is 304 while nothing did', async () => {
    const before = await live.call('/acme/goods')
    const headers = { 'if-none-match': String(before.headers.etag) }
    expect((await live.call('/acme/goods', { headers })).status).toBe(304)
    await live.ingest('acme/goods', [{ a: 2, b: 'y' }])
    const after = await live.call('/acme/goods', { headers })
    expect([after.status, after.at('rows')]).toEqual([200, 2])
    expect(Number(after.at('bytes'))).toBeGreaterThan(Number(before.at('bytes')))
  })

  it('has no columns before the first schema', async () => {
    const answer = await live.call('/acme/empty')
    expect([answer.status, answer.at('columns'), answer.at('rows'), answer.at('bytes')]).toEqual([200, undefined, 0, 0])
  })

  it.each([
    ['/acme/nothing', 404, 'DatasetNotFound'],
    ['/acme/my_data', 400, 'InvalidName'],
    ['/tokens/abc', 405, 'MethodNotAllowed'],
    ['/swagger/index.html', 404, 'RouteNotFound'],
    ['/ogc/styles', 404, 'RouteNotFound'],
  ])('%s is %i %s', async (path, status, kind) => {
    expect((await live.call(path)).refusal).toBe(`${status} ${kind}`)
  })
})

describe('the pages of the node', () => {
  it.runIf(runsWith('console'))('link to what answers', async () => {
    const root = await live.call('/')
    await expectAnswers(root.at('links'))
    const html = (await live.call('/', { headers: { accept: 'text/html' } })).text
    for (const path of Object.values(Object(root.at('links')))) {
      expect(html).toContain(`href="${String(path).replaceAll('&', '&amp;')}"`)
    }
  })

  it('bear no name but that of the node', async () => {
    const script = (await live.call('/swagger/static/swagger-initializer.js')).text
    const [, logo = ''] = /img\.src = 'data:image\/svg\+xml;base64,([^']*)'/.exec(script) ?? []
    expect(Buffer.from(logo, 'base64').toString()).toContain('Proofstream')
    const page = (await live.call('/swagger')).text
    expect(page).toContain('<title>Proofstream</title>')
    expect(page).not.toContain('favicon-32x32')
    const icon = /href="([^"]*icon\.svg)"/.exec(page)?.[1] ?? ''
    expect((await live.call(new URL(icon, `${live.node.url}/swagger/`).pathname)).status).toBe(200)
  })
})
