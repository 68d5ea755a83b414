// DELETE and restore: what is refused, what everyone hears afterwards, and what a proof is told.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { deleteName } from '../../../src/node/store/names.ts'
import { removeChain } from '../../../src/node/store/remove-chain.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const put = (path: string, json: object = {}) => live.call(path, { method: 'PUT', json })
const remove = (path: string, ifMatch: string | undefined = '*', token?: string | null) =>
  live.call(path, {
    method: 'DELETE',
    headers: ifMatch === '' ? {} : { 'if-match': ifMatch },
    ...(token === undefined ? {} : { token }),
  })
const restore = (id: string, json?: object, token?: string | null) =>
  live.call(`/datasets/${id}/restore`, { method: 'POST', json: json ?? {}, ...(token === undefined ? {} : { token }) })
const tokenOf = async (scopes: readonly string[], datasets?: readonly string[]): Promise<string> =>
  String((await live.call('/tokens', { method: 'POST', json: { name: 'one', scopes, datasets } })).at('token'))
const schema = { fields: [{ name: 'city', type: 'String' }] }

async function made(alias: string, rows = 1, more: object = {}): Promise<string> {
  const id = String((await put(`/${alias}`, { schema, ...more })).at('id'))
  for (let i = 0; i < rows; i++) await live.ingest(alias, [{ city: `city ${i}` }])
  return id
}

describe('a deletion', () => {
  it('makes the dataset unknown by name at once, and gone by DID until it cannot be restored', async () => {
    const id = await made('acme/gone', 2)
    const answer = await remove('/acme/gone')
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ id, alias: 'acme/gone' })
    const [at, until] = ['deletedAt', 'removedAfter'].map((name) => Date.parse(String(answer.at(name))))
    expect((until ?? 0) - (at ?? 0)).toBe(7 * 24 * 3_600_000)
    for (const path of ['', '/tail', '/refs/head', '/blocks', '/metadata', '/export']) {
      expect((await live.call(`/acme/gone${path}`)).refusal).toBe('404 DatasetNotFound')
    }
    expect((await live.query('select * from "acme/gone"')).refusal).toBe('404 DatasetNotFound')
    expect((await live.query(`select * from "${id}"`)).refusal).toBe('404 DatasetNotFound')
    expect((await live.call('/datasets?account=acme')).text).not.toContain('acme/gone')
    expect((await live.call(`/datasets/${id}`)).refusal).toBe('410 DatasetDeleted')
    const again = await remove('/acme/gone')
    expect(again.refusal).toBe('404 DatasetNotFound')
    expect(again.at('hint')).toContain(`It was deleted at ${String(answer.at('deletedAt'))}`)
    expect((await live.call('/acme/gone', { method: 'DELETE', token: null })).at('hint')).not.toContain('deleted at')
    expect((await remove(`/datasets/${id}`)).refusal).toBe('410 DatasetDeleted')
    expect((await live.ingest('acme/gone', [{ city: 'x' }])).refusal).toBe('404 DatasetNotFound')
  })

  it('is listed to who may take it back, as long as that can be done', async () => {
    const [first, second, over] = [await made('acme/first'), await made('acme/second'), await made('acme/over')]
    for (const name of ['first', 'second']) await remove(`/acme/${name}`)
    await remove('/acme/over?grace=0s')
    const listed = async (token?: string | null): Promise<string[]> => {
      const answer = await live.call('/datasets/deleted', token === undefined ? {} : { token })
      expect([answer.status, answer.at('datasets.0.alias') ?? '']).toEqual([200, expect.any(String)])
      return (answer.at('datasets') as { id: string }[]).map(({ id }) => id)
    }
    const all = await listed()
    expect(all.slice(0, 2)).toEqual([second, first])
    expect(all).not.toContain(over)
    expect(await listed(await tokenOf(['admin'], ['acme/fir*']))).toEqual([first])
    for (const scope of ['create', 'read']) expect(await listed(await tokenOf([scope], ['acme/*']))).toEqual([])
    expect((await live.call('/datasets/deleted', { token: null })).refusal).toBe('401 Unauthenticated')
    await restore(second)
    expect(await listed()).not.toContain(second)
  })

  it('needs a head that has not moved, or says that it may have', async () => {
    const id = await made('acme/head')
    const old = (await live.head('acme/head')) ?? ''
    await live.ingest('acme/head', [{ city: 'Oslo' }])
    const head = (await live.head('acme/head')) ?? ''
    expect((await remove('/acme/head', '')).refusal).toBe('400 InvalidParameter')
    expect((await remove('/acme/head', '')).text).toContain(head)
    for (const tag of [old, `"${old}"`, 'f1620', '"no hash"']) {
      expect((await remove('/acme/head', tag)).refusal).toBe('412 HeadMoved')
    }
    expect((await remove('/acme/head', `W/"${head}"`)).refusal).toBe('400 InvalidParameter')
    expect((await remove(`/datasets/${id}`, `"${head}"`)).status).toBe(200)
  })

  it('takes admin over the dataset', async () => {
    const id = await made('acme/kept')
    expect((await remove('/acme/kept', '*', await tokenOf(['create', 'read', 'ingest']))).refusal).toBe('403 Forbidden')
    expect((await remove('/acme/kept', '*', null)).refusal).toBe('401 Unauthenticated')
    expect((await remove('/acme/kept', '*', await tokenOf(['admin'], ['other/*']))).refusal).toBe('403 Forbidden')
    expect((await live.call(`/datasets/${id}`)).status).toBe(200)
    expect((await remove('/acme/kept', '*', await tokenOf(['admin'], ['acme/*']))).status).toBe(200)
  })

  it.each(['1y', '-1s', '', '9000h'])('refuses the grace %j', async (grace) => {
    await made('acme/grace')
    expect((await remove(`/acme/grace?grace=${grace}`)).refusal).toBe('400 InvalidParameter')
  })

  it('frees the name for another dataset, which has nothing of the first', async () => {
    const first = await made('acme/again', 3)
    await remove('/acme/again')
    const second = await made('acme/again', 1)
    expect(second).not.toBe(first)
    expect((await live.call('/acme/again')).at('rows')).toBe(1)
    expect((await live.call(`/datasets/${first}`)).refusal).toBe('410 DatasetDeleted')
    await remove('/acme/again')
    expect(await made('acme/again', 0)).not.toBe(second)
  })

  it('rejects rows that come after it, and no earlier ones', async () => {
    await made('acme/race', 0, { freshness: '24h' })
    const send = (i: number) => live.ingest('acme/race', [{ city: `${i}` }])
    const sending = Array.from({ length: 40 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i))
      return send(i)
    })
    const deleted = new Promise((resolve) => setTimeout(resolve, 20)).then(() => remove('/acme/race'))
    const answers = await Promise.all(sending)
    expect((await deleted).status).toBe(200)
    const told = new Set(answers.map(({ status, refusal }) => (status === 200 ? 'stored' : refusal)))
    for (const one of told) expect(['stored', '410 DatasetDeleted', '404 DatasetNotFound']).toContain(one)
    for (const answer of answers.filter(({ status }) => status === 200)) {
      const receipt = await live.call(`/receipts/${String(answer.at('receiptId'))}`)
      expect([receipt.status, receipt.at('status')]).toEqual([200, 'committed'])
    }
  })
})

// As where another process has deleted it a moment ago.
describe('a dataset that is removed while it is read', () => {
  it.each([
    ['before a slice was looked at', false],
    ['after its slices were found whole', true],
  ])('%s says that it was deleted', async (_, isRead) => {
    const alias = `acme/reading-${isRead}`
    const id = await made(alias, 3)
    const asked = [`/${alias}/tail`, `/${alias}/export?format=csv`]
    const query = (least: number) => live.query(`select city from "${alias}" where "offset" >= ${least}`)
    // Other ones than below: an answer may be kept.
    const before = isRead ? [await query(0), await live.call(`/${alias}/tail?limit=2`)] : []
    expect(before.map(({ status }) => status)).toEqual(before.map(() => 200))
    const store = await openDirectoryStore(join(live.dataDir, 'store'))
    const times = { at: '2026-01-01T00:00:00.000Z', until: '2026-01-01T00:00:00.000Z' }
    await deleteName(store, { id, alias, sequence: 9 }, times, { log: 'x', partition: 0, position: 0 })
    await removeChain(store, id, new AbortController().signal)
    await store.close()
    const answers = [await query(1), ...(await Promise.all(asked.map((path) => live.call(path))))]
    expect(answers.map(({ refusal }) => refusal)).toEqual(answers.map(() => '410 DatasetDeleted'))
    expect(answers[0]?.text).toContain(times.at)
  })
})

describe('a proof over a deleted dataset', () => {
  it('is called inconclusive, with the time, to who could read it; to others as over a missing one', async () => {
    await made('acme/proven')
    await made('acme/secret', 1, { visibility: 'private' })
    const proofs = await Promise.all(
      ['acme/proven', 'acme/secret'].map((name) => live.query(`select city from "${name}"`, { include: ['Proof'] })),
    )
    const verify = (body: string, token?: string | null) =>
      live.call('/verify', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
        ...(token === undefined ? {} : { token }),
      })
    const at = []
    for (const name of ['acme/proven', 'acme/secret']) at.push(String((await remove(`/${name}`)).at('deletedAt')))
    const [open, hidden] = await Promise.all(proofs.map(({ text }) => verify(text, null)))
    expect(open?.refusal).toBe('400 VerificationInconclusive::DatasetDeleted')
    expect(open?.text).toContain(at[0])
    expect(hidden?.refusal).toBe('400 VerificationFailed::DatasetNotFound')
    const own = await verify(proofs[1]?.text ?? '')
    expect(own.refusal).toBe('400 VerificationInconclusive::DatasetDeleted')
  })
})

describe('a restoration', () => {
  it('gives the dataset back as it was, with all its blocks, and proofs hold again', async () => {
    const id = await made('acme/back', 2, { visibility: 'private', freshness: '5s' })
    const proof = (await live.query('select city from "acme/back"', { include: ['Proof'] })).text
    await remove('/acme/back')
    const answer = await restore(id)
    expect(answer.json).toMatchObject({ id, alias: 'acme/back', rows: 2, visibility: 'private', freshness: '5s' })
    await live.ingest('acme/back', [{ city: 'again' }])
    expect((await live.query('select count(*) from "acme/back"')).at('output.data.0.0')).toBe(3)
    const headers = { 'content-type': 'application/json' }
    expect((await live.call('/verify', { method: 'POST', body: proof, headers })).status).toBe(200)
    expect((await restore(id)).refusal).toBe('409 DatasetExists')
    await remove('/acme/back')
    expect((await restore(id)).status).toBe(200)
  })

  it('takes another name where its own is taken', async () => {
    const id = await made('acme/taken', 1)
    await remove('/acme/taken')
    const other = await made('acme/taken', 0)
    expect((await restore(id)).refusal).toBe('409 DatasetExists')
    expect((await restore(id, { alias: 'acme/no_name' })).refusal).toBe('400 InvalidName')
    expect((await restore(id, { alias: 'datasets/x' })).refusal).toBe('400 ReservedName')
    expect((await restore(id, { name: 'acme/x' })).refusal).toBe('422 InvalidRequest')
    expect((await restore(id, { alias: 'Acme/Found' })).at('alias')).toBe('Acme/Found')
    expect((await live.call('/acme/found')).at('id')).toBe(id)
    expect((await live.call('/acme/taken')).at('id')).toBe(other)
    await live.ingest('acme/found', [{ city: 'Rome' }])
    expect((await live.call('/acme/found')).at('rows')).toBe(2)
  })

  it('is over with the grace, and not for everyone', async () => {
    const id = await made('acme/over')
    const admin = await tokenOf(['admin'], ['other/*'])
    await live.call('/acme/over?grace=0s', { method: 'DELETE', headers: { 'if-match': '*' } })
    expect((await restore(id)).refusal).toBe('410 DatasetDeleted')
    expect((await restore(id, {}, admin)).refusal).toBe('403 Forbidden')
    expect((await restore(id, {}, null)).refusal).toBe('401 Unauthenticated')
    expect((await live.call(`/datasets/${id}`)).refusal).toBe('404 DatasetNotFound')
    expect((await restore(`did:odf:fed01${'a'.repeat(64)}`)).refusal).toBe('404 DatasetNotFound')
    expect((await restore('acme')).refusal).toBe('404 DatasetNotFound')
  })
})
