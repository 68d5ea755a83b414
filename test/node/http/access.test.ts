// Who may do what over HTTP: tokens, scopes, patterns, private datasets, anonymous callers.

import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
await live.ingest('acme/open', [{ a: 1 }], '?create=true')
await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
await live.ingest('acme/secret', [{ a: 1 }])
await live.ingest('other/open', [{ a: 1 }], '?create=true')

async function makeToken(scopes: readonly string[], more: object = {}): Promise<string> {
  const answer = await live.call('/tokens', { method: 'POST', json: { name: 'test', scopes, ...more } })
  expect(answer.status).toBe(201)
  return String(answer.at('token'))
}

const row = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: '{"a":2}\n' }

describe('tokens', () => {
  it('are shown once and listed without their text', async () => {
    const made = await live.call('/tokens', {
      method: 'POST',
      json: { name: 'sensor', scopes: ['ingest'], datasets: ['acme/*'], expiresAt: '2999-01-01T00:00:00Z' },
    })
    expect(made.status).toBe(201)
    expect(made.headers['cache-control']).toBe('no-store')
    const token = String(made.at('token'))
    expect(token).toMatch(/^pst_[0-9A-Za-z]{38}$/)
    expect(made.json).toMatchObject({ name: 'sensor', scopes: ['ingest'], datasets: ['acme/*'] })
    const list = await live.call('/tokens')
    expect(list.text).not.toContain(token)
    expect(list.at('tokens')).toContainEqual(expect.objectContaining({ id: made.at('id'), lastFour: token.slice(-4) }))
  })

  it('end when they are revoked', async () => {
    const made = await live.call('/tokens', { method: 'POST', json: { name: 'brief', scopes: ['read'] } })
    const token = String(made.at('token'))
    expect((await live.call('/acme/secret/metadata', { token })).status).toBe(200)
    expect((await live.call(`/tokens/${String(made.at('id'))}`, { method: 'DELETE' })).status).toBe(204)
    const after = await live.call('/info', { token })
    expect(after.refusal).toBe('401 Unauthenticated')
    const twice = await live.call(`/tokens/${String(made.at('id'))}`, { method: 'DELETE' })
    expect(twice.refusal).toBe('404 TokenNotFound')
  })

  it('are managed by admins alone, judged before the body is read', async () => {
    const token = await makeToken(['read', 'ingest', 'create'])
    const bound = await makeToken(['admin'], { datasets: ['acme/*'] })
    for (const one of [token, bound]) {
      expect((await live.call('/tokens', { method: 'POST', token: one, body: 'no json' })).status).toBe(403)
      expect((await live.call('/tokens', { token: one })).status).toBe(403)
    }
    expect((await live.call('/tokens', { token: null })).status).toBe(401)
  })
})

describe('the Authorization header', () => {
  it.each(['/', '/info', '/healthz', '/nothing', '/acme/open/metadata'])(
    'an unknown token is 401 on %s',
    async (path) => {
      for (const token of ['pst_abc', `${live.adminToken.slice(0, -1)}${live.adminToken.endsWith('a') ? 'b' : 'a'}`]) {
        const answer = await live.call(path, { token })
        expect(answer.refusal).toBe('401 Unauthenticated')
        expect(answer.headers['www-authenticate']).toBeDefined()
        expect(answer.text).not.toContain(token)
      }
    },
  )
})

describe('scopes', () => {
  it('are needed one by one', async () => {
    const [read, ingest, create] = await Promise.all([
      makeToken(['read']),
      makeToken(['ingest']),
      makeToken(['create']),
    ])
    const kinds = async (token: string): Promise<unknown[]> => {
      const calls: Promise<Answer>[] = [
        live.call('/acme/secret/metadata', { token }),
        live.call('/acme/secret/ingest?dryRun=true', { ...row, token }),
        live.call('/acme/secret/ingest?dryRun=true&unknownFields=add', { ...row, token }),
        live.call('/acme/made?', { method: 'PUT', token, body: 'no json' }),
      ]
      return (await Promise.all(calls)).map((answer) => answer.at('error.kind') ?? answer.status)
    }
    expect(await kinds(read)).toEqual([200, 'Forbidden', 'Forbidden', 'Forbidden'])
    expect(await kinds(ingest)).toEqual(['Forbidden', 200, 'Forbidden', 'Forbidden'])
    expect(await kinds(create)).toEqual(['Forbidden', 'Forbidden', 'Forbidden', 'UnsupportedMediaType'])
  })
})

describe('a hidden dataset', () => {
  it('is not found by SQL, lists or its DID', async () => {
    const meta = await live.call('/acme/secret/metadata')
    const id = String(meta.at('output.seed.datasetId'))
    for (const name of ['"acme/secret"', `"${id}"`, 'acme.secret']) {
      expect((await live.query(`select * from ${name}`, {}, { token: null })).refusal).toBe('404 DatasetNotFound')
    }
    for (const near of ['secret', 'acme.secre', 'other.secret'])
      expect((await live.query(`select * from ${near}`, {}, { token: null })).at('candidates')).toBeUndefined()
    const list = await live.call('/datasets', { token: null })
    expect(list.text).not.toContain('secret')
    expect((await live.call(`/datasets/${id}`, { token: null })).status).toBe(404)
    expect((await live.call(`/datasets/${id}`)).at('datasetName')).toBe('secret')
  })
})

describe('anonymous callers', () => {
  it('read what is public and write nothing, whether it exists or not', async () => {
    expect((await live.call('/acme/open/tail', { token: null })).status).toBe(200)
    for (const path of ['/acme/open/ingest', '/acme/absent/ingest', '/acme/absent/ingest?create=true']) {
      expect((await live.call(path, { ...row, token: null })).refusal).toBe('401 Unauthenticated')
    }
    expect((await live.call('/acme/absent', { method: 'PUT', token: null, body: '{' })).status).toBe(401)
  })
})
