// PATCH: what a dataset says of itself becomes blocks, how it is kept the record of its name; who may; what is refused.

import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const put = (path: string, json: object = {}) => live.call(path, { method: 'PUT', json })
const patch = (path: string, json: unknown, token?: string | null) =>
  live.call(path, { method: 'PATCH', json, ...(token === undefined ? {} : { token }) })
const tokenOf = async (scopes: readonly string[], datasets?: readonly string[]): Promise<string> =>
  String((await live.call('/tokens', { method: 'POST', json: { name: 'one', scopes, datasets } })).at('token'))
const kindsOf = async (alias: string): Promise<unknown[]> => {
  const blocks = (await live.call(`/${alias}/blocks?limit=100`)).at('blocks')
  return (blocks as { event: { kind: string } }[]).map(({ event }) => event.kind).reverse() // the node's own document
}
const license = { shortName: 'CC0', name: 'Public domain', spdxId: 'CC0-1.0', websiteUrl: 'https://example.com/cc0' }
const attachments = { kind: 'Embedded', items: [{ path: 'README.md', content: '# Hi' }] }
const schema = { fields: [{ name: 'city', type: 'String' }] }

describe('what a dataset says of itself', () => {
  it('is blocks, each in the place of the one before, and one AddData that brings no rows', async () => {
    await put('/acme/told', { schema, info: { description: 'first', keywords: ['a'] } })
    await live.ingest('acme/told', [{ city: 'Lima' }])
    const answer = await patch('/acme/told', { info: { description: 'second' }, license, attachments })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ alias: 'acme/told', rows: 1, info: { description: 'second' }, license })
    expect(answer.at('attachments')).toEqual(attachments)
    expect(answer.at('info')).toEqual({ description: 'second' })
    expect(answer.at('head')).toBe(await live.head('acme/told'))
    const made = ['Seed', 'SetInfo', 'SetDataSchema', 'AddPushSource', 'AddData']
    expect(await kindsOf('acme/told')).toEqual([...made, 'SetInfo', 'SetLicense', 'SetAttachments', 'AddData'])
    const told = await live.call('/acme/told/metadata?include=info,license,attachments')
    expect(told.json).toMatchObject({
      output: { info: { description: 'second' }, license, attachments: { attachments } },
    })
  })

  it('is not written again where nothing differs', async () => {
    await put('/acme/same', { info: { description: 'one' } })
    const head = await live.head('acme/same')
    const answer = await patch('/acme/same', { info: { description: 'one' }, visibility: 'public', freshness: null })
    expect(answer.status).toBe(200)
    expect(await live.head('acme/same')).toBe(head)
  })

  it('comes after the rows that were sent before it, which are in a block of their own', async () => {
    await put('/acme/order', { schema, freshness: '24h' })
    const rows = { method: 'POST', body: '{"city":"Oslo"}\n', headers: { 'content-type': 'application/x-ndjson' } }
    await live.call('/acme/order/ingest', { ...rows, headers: { ...rows.headers, prefer: 'respond-async' } })
    await patch('/acme/order', { license })
    const kinds = await kindsOf('acme/order')
    expect(kinds.slice(-3)).toEqual(['AddData', 'SetLicense', 'AddData'])
    expect((await live.call('/acme/order')).at('rows')).toBe(1)
  })

  it('does not move the head for If-Match', async () => {
    await put('/acme/match', { schema })
    const head = (await live.head('acme/match')) ?? ''
    await patch('/acme/match', { license })
    const headers = { 'content-type': 'application/x-ndjson', 'if-match': `"${head}"` }
    const sent = await live.call('/acme/match/ingest', { method: 'POST', body: '{"city":"Rome"}\n', headers })
    expect(sent.status).toBe(200)
  })
})

describe('how a dataset is kept', () => {
  it('is told wherever it is told of, and can be taken away', async () => {
    await put('/acme/kept', { schema })
    const told = { visibility: 'private', freshness: '90s' }
    expect((await patch('/acme/kept', { ...told, freshness: '90000ms' })).json).toMatchObject(told)
    expect((await live.call('/acme/kept')).json).toMatchObject(told)
    expect((await live.call('/datasets?account=acme')).text).toContain('"freshness":"90s"')
    const plain = Object.keys(Object((await patch('/acme/kept', { freshness: null })).json))
    expect(plain).not.toContain('freshness')
    expect((await live.call('/acme/kept')).at('visibility')).toBe('private')
  })

  it('is compared by a repeat of PUT as it is now', async () => {
    await put('/acme/repeat', { schema })
    await patch('/acme/repeat', { visibility: 'private' })
    expect((await put('/acme/repeat', { schema })).refusal).toBe('409 DatasetExists')
    expect((await put('/acme/repeat', { schema, visibility: 'private' })).status).toBe(200)
  })

  it('counts at once for queries, answers that are kept, proofs and lists', async () => {
    await put('/acme/hide', { schema })
    await live.ingest('acme/hide', [{ city: 'Lima' }])
    const ask = (token: string | null): Promise<Answer[]> =>
      Promise.all([
        live.query('select city from "acme/hide"', {}, { token }),
        live.call('/acme/hide/tail', { token }),
        live.call('/acme/hide/export?format=csv', { token }),
        live.call('/verify', { method: 'POST', body: proof, headers: { 'content-type': 'application/json' }, token }),
      ])
    const proof = (await live.query('select city from "acme/hide"', { include: ['Proof'] })).text
    expect((await ask(null)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await patch('/acme/hide', { visibility: 'private' })
    expect((await ask(null)).map(({ status }) => status)).toEqual([404, 404, 404, 400])
    expect((await live.call('/datasets?account=acme', { token: null })).text).not.toContain('acme/hide')
    const reader = await tokenOf(['read'], ['acme/hide'])
    expect((await ask(reader)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await patch('/acme/hide', { visibility: 'public' })
    expect((await ask(null)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('is one after the other where many ask at once: the last in the log holds', async () => {
    await put('/acme/many', { schema })
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        patch('/acme/many', { freshness: `${i + 1}s`, info: { description: `${i}` } }),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    const now = (await patch('/acme/many', { visibility: 'public' })).json as {
      freshness: string
      info: { description: string }
    } // ChangedDataset
    expect(Number.parseInt(now.freshness, 10)).toBe(Number(now.info.description) + 1)
  })
})

describe('who may change', () => {
  it('takes create for what it says of itself, admin for how it is kept', async () => {
    await put('/acme/rights', { schema })
    const creator = await tokenOf(['create', 'read', 'ingest'], ['acme/*'])
    const admin = await tokenOf(['admin'], ['acme/*'])
    expect((await patch('/acme/rights', { license }, creator)).status).toBe(200)
    expect((await patch('/acme/rights', { visibility: 'private' }, creator)).refusal).toBe('403 Forbidden')
    expect((await patch('/acme/rights', { license, freshness: '5s' }, creator)).refusal).toBe('403 Forbidden')
    expect((await patch('/acme/rights', { visibility: 'private' }, admin)).status).toBe(200)
    expect((await patch('/acme/rights', { visibility: 'public' }, await tokenOf(['read']))).refusal).toBe(
      '403 Forbidden',
    )
    expect((await patch('/acme/rights', { visibility: 'public' }, null)).refusal).toBe('401 Unauthenticated')
    const elsewhere = await tokenOf(['admin'], ['other/*'])
    expect((await patch('/acme/rights', { visibility: 'public' }, elsewhere)).refusal).toBe('404 DatasetNotFound')
    expect((await patch('/acme/nothing', { visibility: 'public' })).refusal).toBe('404 DatasetNotFound')
  })
})

describe('a body that is refused', () => {
  it.each([
    ['nothing to change', {}],
    ['no object', ['visibility']],
    ['a member of PUT alone', { schema }],
    ['a member that is not known', { retention: '7d' }],
    ['a visibility of its own', { visibility: 'hidden' }],
    ['no visibility', { visibility: null }],
    ['a freshness out of bounds', { freshness: '99ms' }],
    ['a license without its name', { license: { shortName: 'x' } }],
    ['info of another form', { info: 'text' }],
    ['no license', { license: null }],
  ])('because of %s changes nothing', async (_, body) => {
    await put('/acme/refused', { schema })
    const head = await live.head('acme/refused')
    expect((await patch('/acme/refused', body)).refusal).toBe('422 InvalidRequest')
    expect(await live.head('acme/refused')).toBe(head)
  })
})
