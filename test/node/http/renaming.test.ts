// PATCH with a new name: what the new one answers, where the old one leads, and who hears of it.

import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const rename = (from: string, alias: unknown, token?: string | null) =>
  live.call(`/${from}`, { method: 'PATCH', json: { alias }, ...(token === undefined ? {} : { token }) })
const tokenOf = async (scopes: readonly string[], datasets?: readonly string[]): Promise<string> =>
  String((await live.call('/tokens', { method: 'POST', json: { name: 'one', scopes, datasets } })).at('token'))
const schema = { fields: [{ name: 'city', type: 'String' }] }

async function made(alias: string, rows = 1, more: object = {}): Promise<string> {
  const id = String((await live.call(`/${alias}`, { method: 'PUT', json: { schema, ...more } })).at('id'))
  for (let i = 0; i < rows; i++) await live.ingest(alias, [{ city: `city ${i}` }])
  return id
}

describe('a renamed dataset', () => {
  it('is the same under its new name, and its old one leads there on every route', async () => {
    const id = await made('acme/before', 2)
    const head = await live.head('acme/before')
    const answer = await rename('acme/before', 'Corp/After')
    expect([answer.status, answer.at('id'), answer.at('alias')]).toEqual([200, id, 'Corp/After'])
    expect((await live.call('/corp/after')).json).toMatchObject({ id, alias: 'Corp/After', rows: 2 })
    expect((await live.call(`/datasets/${id}`)).at('alias')).toBe('Corp/After')
    const aliases = ((await live.call('/datasets')).at('datasets') as { alias: string }[]).map(({ alias }) => alias)
    expect(aliases.filter((alias) => /before|after/i.test(alias))).toEqual(['Corp/After'])
    const paths = [
      '',
      '/tail?limit=1',
      '/metadata',
      '/refs/head',
      '/blocks?limit=2',
      `/blocks/${head}`,
      '/export?where=true',
    ]
    for (const path of [...paths, '/events']) {
      const moved = await live.call(`/Acme/before${path}`)
      expect([path, moved.status, moved.headers.location]).toEqual([path, 308, `/Corp/After${path}`])
      expect(moved.headers['cache-control']).toBe('no-store')
    }
    for (const path of paths) expect((await live.call(`/Corp/After${path}`)).status).toBe(200)
    const post = await live.ingest('acme/before', [{ city: 'late' }], '?create=true&wait=1')
    expect([post.status, post.headers.location]).toEqual([308, '/Corp/After/ingest?create=true&wait=1'])
    expect((await live.ingest('corp/after', [{ city: 'late' }])).status).toBe(200)
    expect((await live.query('select count(*) from "corp/after"')).at('output.data.0.0')).toBe(3)
  })

  it.runIf(runsWith('ogc'))('is a collection of maps whose old address leads on', async () => {
    const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: { n: 1 } }
    await live.call('/acme/map/ingest?create=true', {
      method: 'POST',
      headers: { 'content-type': 'application/geo+json', prefer: 'wait=20' },
      body: JSON.stringify({ type: 'FeatureCollection', features: [feature] }),
    })
    await rename('acme/map', 'acme/new-map')
    for (const path of ['', '/items?limit=1', '/queryables']) {
      const moved = await live.call(`/ogc/collections/acme:map${path}`)
      expect([moved.status, moved.headers.location]).toEqual([308, `/ogc/collections/acme:new-map${path}`])
      expect((await live.call(`/ogc/collections/acme:new-map${path}`)).status).toBe(200)
    }
  })

  it('is named in the error of a statement with the old name', async () => {
    const id = await made('acme/sql')
    await rename('acme/sql', 'acme/moved-sql')
    const answer = await live.query('select *\nfrom acme.sql')
    expect(answer.refusal).toBe('404 DatasetNotFound')
    expect(answer.json).toMatchObject({ candidates: ['acme/moved-sql'], position: { line: 2 } })
    expect(answer.at('hint')).toContain('acme/moved-sql')
    expect((await live.query(`select * from "${id}"`)).status).toBe(200)
  })

  it('leaves proofs true that were made before, and questions that name it by block', async () => {
    await made('acme/proven', 2)
    const proof = (await live.query('select city from "acme/proven"', { include: ['Proof', 'Input'] })).json
    await rename('acme/proven', 'acme/still-proven')
    const verify = () => live.call('/verify', { method: 'POST', json: proof })
    expect((await verify()).at('ok')).toBe(true)
    const { query, datasets } = (proof as { input: { query: string; datasets: object[] } }).input
    expect((await live.query(query, { datasets })).status).toBe(200)
    // Whoever has the name now.
    await made('acme/proven', 1)
    expect((await verify()).at('ok')).toBe(true)
    expect((await live.query(query, { datasets })).refusal).toBe('422 InvalidRequest')
    expect((await live.query('select count(*) from "acme/proven"')).at('output.data.0.0')).toBe(1)
  })

  it('goes through chains of names, back to the first, and to another spelling', async () => {
    const id = await made('acme/one', 1, { visibility: 'private', freshness: '5s' })
    for (const [from, to] of [
      ['one', 'two'],
      ['two', 'three'],
      ['three', 'Three'],
    ]) {
      expect((await rename(`acme/${from}`, `acme/${to}`)).at('alias')).toBe(`acme/${to}`)
    }
    for (const name of ['one', 'two']) expect((await live.call(`/acme/${name}`)).headers.location).toBe('/acme/Three')
    expect((await live.call('/acme/three')).json).toMatchObject({ id, visibility: 'private', freshness: '5s' })
    expect((await rename('acme/three', 'acme/one')).status).toBe(200)
    for (const name of ['two', 'three']) expect((await live.call(`/acme/${name}`)).headers.location).toBe('/acme/one')
    expect((await live.ingest('acme/one', [{ city: 'x' }])).status).toBe(200)
    const head = await live.head('acme/one')
    expect((await rename('acme/one', 'acme/one')).status).toBe(200)
    expect(await live.head('acme/one')).toBe(head)
  })

  it('gives its old name to who makes a dataset of it', async () => {
    const first = await made('acme/free', 2)
    await rename('acme/free', 'acme/held')
    const second = await made('acme/free', 1)
    expect(second).not.toBe(first)
    expect((await live.call('/acme/free')).at('rows')).toBe(1)
    expect((await rename('acme/held', 'acme/free')).refusal).toBe('409 DatasetExists')
    await rename('acme/free', 'acme/other')
    expect((await live.call('/acme/free')).headers.location).toBe('/acme/other')
    expect((await rename('acme/held', 'acme/free')).status).toBe(200)
    expect((await live.call('/acme/free')).at('id')).toBe(first)
    expect((await live.call('/acme/held')).headers.location).toBe('/acme/free')
  })

  it('is deleted and restored under the name that it has', async () => {
    const id = await made('acme/x', 1)
    await rename('acme/x', 'acme/y')
    const headers = { 'if-match': '*' }
    expect((await live.call('/acme/x', { method: 'DELETE', headers })).headers.location).toBe('/acme/y')
    expect((await live.call('/acme/y', { method: 'DELETE', headers })).at('alias')).toBe('acme/y')
    for (const name of ['x', 'y']) expect((await live.call(`/acme/${name}`)).refusal).toBe('404 DatasetNotFound')
    expect((await rename('acme/x', 'acme/z')).refusal).toBe('404 DatasetNotFound')
    const restore = (json: object) => live.call(`/datasets/${id}/restore`, { method: 'POST', json })
    expect((await restore({})).at('alias')).toBe('acme/y')
    expect((await live.call('/acme/x')).headers.location).toBe('/acme/y')
    await live.call('/acme/y', { method: 'DELETE', headers })
    expect((await restore({ alias: 'acme/x' })).at('alias')).toBe('acme/x')
    expect((await live.ingest('acme/x', [{ city: 'x' }])).status).toBe(200)
    expect((await live.call('/acme/x')).at('rows')).toBe(2)
  })

  it('is one that its followers go on to hear of', async () => {
    const id = await made('acme/followed', 1)
    const abort = new AbortController()
    const url = `${live.node.url}/acme/followed/events`
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${live.adminToken}`, accept: 'text/event-stream' },
      signal: abort.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const bytes of answer.body ?? []) text += Buffer.from(bytes).toString()
    })().catch(() => {})
    await rename('acme/followed', 'acme/followed-on')
    await live.ingest('acme/followed-on', [{ city: 'x' }])
    await expect.poll(() => text).toContain('"alias":"acme/followed-on"')
    expect(text).toContain(id)
    abort.abort()
    await reading
  })
})

describe('a rename', () => {
  it('takes admin over both names', async () => {
    await made('acme/rights')
    for (const [scopes, datasets] of [
      [['create', 'read', 'ingest'], undefined],
      [['admin'], ['acme/*']],
      [['admin', 'read'], ['other/*']],
    ] as const) {
      expect((await rename('acme/rights', 'other/rights', await tokenOf(scopes, datasets))).refusal).toBe(
        '403 Forbidden',
      )
    }
    expect((await rename('acme/rights', 'other/rights', null)).refusal).toBe('401 Unauthenticated')
    const both = await tokenOf(['admin'], ['acme/*', 'other/*'])
    expect((await rename('acme/rights', 'other/rights', both)).status).toBe(200)
  })

  it('leads only those on who can see the dataset', async () => {
    await made('acme/hidden', 1, { visibility: 'private' })
    await rename('acme/hidden', 'secret/name')
    const other = await tokenOf(['read', 'create'], ['acme/*'])
    for (const token of [null, other]) {
      const answer = await live.call('/acme/hidden', { token })
      expect(answer.refusal).toBe('404 DatasetNotFound')
      expect(answer.text).not.toContain('secret')
      expect((await live.query('select * from acme.hidden', {}, { token })).text).not.toContain('secret')
    }
    expect((await live.call('/acme/hidden')).status).toBe(308)
  })

  it.each([
    ['acme/no_name', '400 InvalidName'],
    ['plain', '400 InvalidName'],
    [null, '422 InvalidRequest'],
    [7, '422 InvalidRequest'],
    ['datasets/x', '400 ReservedName'],
    ['acme/taken', '409 DatasetExists'],
    ['Acme/TAKEN', '409 DatasetExists'],
  ])('to %j is refused', async (alias, refusal) => {
    await made('acme/taken', 0)
    await made('acme/refused', 0)
    expect((await rename('acme/refused', alias)).refusal).toBe(refusal)
    expect((await live.call('/acme/refused')).status).toBe(200)
  })

  it('loses no rows that are sent meanwhile', async () => {
    const id = await made('acme/busy', 0)
    const names = ['acme/busy', 'acme/busier']
    let isOver = false
    const sending = Array.from({ length: 4 }, async (_, sender) => {
      let stored = 0
      for (let i = 0; !isOver; i++) {
        const at = names[(i + sender) % 2] ?? ''
        const answer = await live.ingest(at, [{ city: `${sender} ${i}` }])
        expect([200, 308, 404]).toContain(answer.status)
        if (answer.status === 200) stored++
      }
      return stored
    })
    for (let i = 0; i < 6; i++) expect((await rename(names[i % 2] ?? '', names[(i + 1) % 2])).status).toBe(200)
    isOver = true
    const stored = (await Promise.all(sending)).reduce((sum, rows) => sum + rows, 0)
    expect((await live.call(`/datasets/${id}`)).at('rows')).toBe(stored)
    expect(stored).toBeGreaterThan(6)
  })
})
