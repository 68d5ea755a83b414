// The catalog for lake engines, as any HTTP client sees it. What engines make of it: test/features/iceberg/engines.test.ts.

import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { sha256Hex } from '../../../src/libraries/base/ids/native-crypto.ts'
import { type Answer, liveNode, send } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': true })
await live.ingest('Acme/weather', [{ celsius: 1 }, { celsius: 2 }], '?create=true')
await live.ingest('acme/weather', [{ celsius: 3 }])
await live.call('/acme/empty', { method: 'PUT', json: {} })
await live.call('/hidden/secret', { method: 'PUT', json: { visibility: 'private' } })
await live.ingest('hidden/secret', [{ a: 1 }])

const root = '/iceberg/v1/namespaces'
const anonymous = { token: null }
const tableAt = (path: string): string => `${root}/${path.replace('/', '/tables/')}`

interface Snapshot {
  readonly 'snapshot-id': number
  readonly 'manifest-list': string
}

/** The path at which S3 clients read a file of a table. */
function pathOf(uri: string): string {
  expect(uri).toMatch(/^s3:\/\/iceberg\/files\/fed01[0-9a-f]{64}/)
  return uri.slice('s3:/'.length)
}

function snapshotsOf(answer: Answer): readonly Snapshot[] {
  return answer.at('metadata.snapshots') as readonly Snapshot[] // of metadata, which has a list of them
}

describe('the catalog', () => {
  it('lists accounts and datasets that the caller may read', async () => {
    expect((await live.call(root)).at('namespaces')).toEqual([['acme'], ['hidden']])
    expect((await live.call(root, anonymous)).at('namespaces')).toEqual([['acme']])
    expect((await live.call(`${root}?parent=acme`)).at('namespaces')).toEqual([])
    expect((await live.call(`${root}/ACME`)).json).toEqual({ namespace: ['acme'], properties: {} })
    const tables = (await live.call(`${root}/acme/tables`)).at('identifiers')
    expect(tables).toEqual([
      { namespace: ['acme'], name: 'empty' },
      { namespace: ['acme'], name: 'weather' },
    ])
    expect((await live.call(`${root}/acme/views`)).at('identifiers')).toEqual([])
  })

  it('finds what clients split at the dots of its name', async () => {
    for (const alias of ['a.b/t', 'a/b.u', 'a.b.c/v.w']) await live.ingest(alias, [{ n: 1 }], '?create=true')
    const uuid = async (namespace: string, table: string): Promise<unknown> => {
      const answer = await live.call(`${root}/${encodeURIComponent(namespace)}/tables/${table}`)
      return [answer.status, answer.at('metadata.location')]
    }
    const pairs: [[string, string], [string, string]][] = [
      [
        ['a\u001fb', 't'],
        ['a.b', 't'],
      ],
      [
        ['A\u001fb', 'U@1'],
        ['a', 'b.u@1'],
      ],
      [
        ['a\u001fb\u001fc\u001fv', 'w'],
        ['a.b.c', 'v.w'],
      ],
    ]
    for (const [split, whole] of pairs) {
      expect(await uuid(...split)).toEqual(await uuid(...whole))
      expect(await uuid(...split)).toEqual([200, expect.any(String)])
    }
    expect((await live.call(`${root}/a%1Fb/tables`)).at('identifiers')).toEqual([{ namespace: ['a.b'], name: 't' }])
    expect(await uuid('a\u001fb', 'x')).toEqual([404, undefined])
    expect(await uuid('hidden\u001fx', 'secret')).toEqual([404, undefined])
    for (const alias of ['a.b/t', 'a/b.u', 'a.b.c/v.w']) {
      await live.call(`/${alias}`, { method: 'DELETE', headers: { 'if-match': '*' } })
    }
  })

  it('has a prefix for Trino, under which columns have the types that it reads', async () => {
    const add = {
      fields: [
        { name: 'u32', type: 'UInt32?' },
        { name: 'us', type: 'Timestamp(Microsecond)?' },
      ],
    }
    await live.call('/acme/unsigned', { method: 'PUT', json: { schema: add } })
    const told = async (warehouse: string) =>
      (await live.call(`/iceberg/v1/config?warehouse=${warehouse}`)).at('overrides')
    expect([await told('trino'), await told('other')]).toEqual([{ prefix: 'trino' }, {}])
    const typesAt = async (at: string): Promise<object> => {
      const answer = await send(live.node.url, at, { headers: { authorization: `Bearer ${live.adminToken}` } })
      const [schema] = answer.at('metadata.schemas') as readonly { fields: { name: string; type: string }[] }[] // of metadata
      return Object.fromEntries(must(schema, 'a schema').fields.map(({ name, type }) => [name, type]))
    }
    const exact = await typesAt(tableAt('acme/unsigned'))
    expect(exact).toMatchObject({ system_time: 'timestamptz', us: 'timestamptz', u32: 'long' })
    const path = tableAt('acme/unsigned').replace('/v1/', '/v1/trino/')
    const { u32: _, ...rest } = exact as Readonly<Record<string, string>>
    expect(await typesAt(path)).toEqual({ ...rest, system_time: 'timestamp', event_time: 'timestamp' })
    const tags = [tableAt('acme/weather'), tableAt('acme/weather').replace('/v1/', '/v1/trino/')].map(async (at) => {
      return (await send(live.node.url, at, {})).headers.etag
    })
    expect(new Set(await Promise.all(tags)).size).toBe(2)
    const hidden = await send(live.node.url, tableAt('hidden/secret').replace('/v1/', '/v1/trino/'), {})
    expect([hidden.status, hidden.at('error.type')]).toEqual([404, 'NoSuchTableException'])
  })

  it('tells errors as its clients know them', async () => {
    const missing = await live.call(`${root}/hidden/tables`, anonymous)
    expect([missing.status, missing.at('error.type'), missing.at('error.code')]).toEqual([
      404,
      'NoSuchNamespaceException',
      404,
    ])
    for (const path of ['acme/nope', 'hidden/secret', 'acme%1Fweather/history', 'a%20b/c', 'acme/weather@99']) {
      const answer = await live.call(tableAt(path), anonymous)
      expect([path, answer.status, answer.at('error.type')]).toEqual([path, 404, 'NoSuchTableException'])
    }
    const write = await live.call(root, { method: 'POST', json: {} })
    expect([write.status, write.at('error.type')]).toEqual([405, 'UnsupportedOperationException'])
    expect(write.headers.allow).toBe('GET, HEAD')
    const wrong = await live.call(root, { token: 'pst_wrong' })
    expect([wrong.status, wrong.at('error.type')]).toEqual([401, 'NotAuthorizedException'])
  })

  it('has a block that brought rows as a snapshot, and the dataset at earlier blocks', async () => {
    const table = await live.call(tableAt('acme/weather'), anonymous)
    const ids = snapshotsOf(table).map((snapshot) => snapshot['snapshot-id'])
    expect(ids).toHaveLength(2)
    expect(table.at('metadata.current-snapshot-id')).toBe(ids[1])
    expect(table.at('metadata.snapshots.1.summary.total-records')).toBe('3')
    expect(Object(table.at('metadata.properties'))).toMatchObject({ 'read.parquet.vectorization.enabled': 'false' })
    const first = await live.call(tableAt(`acme/weather@${ids[0]}`), anonymous)
    expect(snapshotsOf(first)).toEqual(snapshotsOf(table).slice(0, 1))
    const hash = String(Object(first.at('metadata.properties'))['odf.block-hash'])
    expect((await live.call(tableAt(`acme/weather@${hash}`), anonymous)).at('metadata')).toEqual(first.at('metadata'))
    expect((await live.call(tableAt('acme/empty'))).at('metadata.current-snapshot-id')).toBe(-1)
  })

  it('answers 304 while the head is the same, but not to another token', async () => {
    const path = tableAt('acme/weather')
    const mine = await live.call(path)
    const tag = must(mine.headers.etag, 'a tag')
    expect((await live.call(path, { headers: { 'if-none-match': tag } })).status).toBe(304)
    expect((await live.call(path, { headers: { 'if-none-match': tag }, token: null })).status).toBe(200)
    const theirs = await live.call(path, anonymous)
    expect(Object(theirs.at('config'))['s3.session-token']).toBeUndefined()
    expect(Object(mine.at('config'))['s3.session-token']).toBe(live.adminToken)
    expect((await live.call(path, { method: 'HEAD' })).status).toBe(200)
    const metrics = await live.call(`${path}/metrics`, { method: 'POST', json: { 'report-type': 'scan-report' } })
    expect(metrics.status).toBe(204)
  })
})

describe('files of a table', () => {
  it('are the same each time, in whole or in part', async () => {
    const table = await live.call(tableAt('acme/weather'), anonymous)
    const metadata = await live.call(pathOf(String(table.at('metadata-location'))), anonymous)
    expect(metadata.json).toEqual(table.at('metadata'))
    const list = pathOf(must(snapshotsOf(table)[1], 'a snapshot')['manifest-list'])
    const [whole, again] = [await live.call(list, anonymous), await live.call(list, anonymous)]
    expect(sha256Hex(again.bytes)).toBe(sha256Hex(whole.bytes))
    const part = await live.call(list, { ...anonymous, headers: { range: 'bytes=0-3' } })
    expect([part.status, part.text]).toEqual([206, 'Obj\u0001'])
    const head = await live.call(list, { ...anonymous, method: 'HEAD' })
    expect(head.headers['content-length']).toBe(String(whole.bytes.length))
    for (const manifest of whole.text.match(/[a-z]+-[-0-9]+\.avro/g) ?? []) {
      const path = list.replace(/[^/]+$/, manifest)
      const slice = /f1620[0-9a-f]{64}\.parquet/.exec((await live.call(path, anonymous)).text)?.[0]
      const data = await live.call(list.replace(/metadata\/.*/, `data/${slice}`), anonymous)
      expect(data.headers['content-type']).toBe('application/vnd.apache.parquet')
      expect(data.text.slice(0, 4)).toBe('PAR1')
    }
    expect(whole.text.match(/[a-z]+-[-0-9]+\.avro/g)).toEqual(['slices-0-1.avro', 'added-1.avro'])
  })

  it.each(['snap-0.avro', 'snap-99.avro', 'snap-03.avro', 'added-2.avro', 'slices-2-1.avro', 'slices-0-9.avro', 'x'])(
    'are not %s',
    async (name) => {
      const table = await live.call(tableAt('acme/weather'), anonymous)
      const path = pathOf(String(table.at('metadata.location')))
      expect((await live.call(`${path}/metadata/${name}`, anonymous)).refusal).toBe('404 ObjectNotFound')
    },
  )

  it('of a private dataset need its token, in whatever form clients send it', async () => {
    const location = pathOf(String((await live.call(tableAt('hidden/secret'))).at('metadata-location')))
    const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=proofstream/20261123' }
    const session = { 'x-amz-security-token': live.adminToken }
    const get = async (headers: object): Promise<number> =>
      (await live.call(location, { token: null, headers: { ...headers } })).status
    expect(await get({})).toBe(404)
    expect(await get(signed)).toBe(404)
    expect(await get(session)).toBe(404)
    expect(await get({ ...signed, ...session })).toBe(200)
    expect(await get({ ...signed, 'x-amz-security-token': 'pst_wrong' })).toBe(401)
    expect((await live.call(location)).status).toBe(200)
    const elsewhere = await live.call('/hidden/secret/refs/head', { token: null, headers: { ...signed, ...session } })
    expect(elsewhere.refusal).toBe('400 BadAuthorization')
  })
})
