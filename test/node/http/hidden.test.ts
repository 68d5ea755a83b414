// A dataset that a caller may do nothing to answers each of his requests as one that is not there: status, body, headers.
// It was public before, and had answers made for everyone.

import { describe, expect, it } from 'vitest'
import { scopes } from '../../../src/node/access/scopes.ts'
import { type Answer, type Call, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const tokens = new Map<string, string | null>([['no token', null]])
/** The same in length, so that Content-Length may be compared. */
const names = { hidden: 'acme/secret', missing: 'acme/absent' }
const ids = { hidden: '', missing: `did:odf:fed01${'a'.repeat(64)}` }
const hashes = { hidden: '', missing: `f1620${'a'.repeat(64)}` }

/** Every set of scopes, over datasets that the hidden one is not among. */
const kinds = Array.from({ length: 2 ** scopes.length - 1 }, (_, i) => scopes.filter((_scope, n) => ((i + 1) >> n) & 1))
await live.call('/acme/secret', { method: 'PUT', json: {} })
await live.ingest('acme/secret', [{ a: 1 }])
await live.ingest('other/open', [{ a: 1 }], '?create=true')
ids.hidden = String((await live.call('/acme/secret/metadata')).at('output.seed.datasetId'))
hashes.hidden = (await live.head('acme/secret')) ?? ''
const proof = (await live.query('select a from "acme/secret"', { include: ['Proof'] })).text
for (const set of kinds) {
  const json = { name: 'bound', scopes: set, datasets: ['other/*'] }
  tokens.set(set.join(' '), String((await live.call('/tokens', { method: 'POST', json })).at('token')))
}

type Which = keyof typeof names
const row = (call: Call = {}): Call => ({
  method: 'POST',
  body: '{"a":2}\n',
  ...call,
  headers: { 'content-type': 'application/x-ndjson', ...call.headers },
})
const asked = (json: object): Call => ({ method: 'POST', json })

const requests: Readonly<Record<string, (which: Which) => [string, Call?]>> = {
  dataset: (which) => [`/${names[which]}`],
  metadata: (which) => [`/${names[which]}/metadata`],
  'metadata at a block': (which) => [`/${names[which]}/metadata?at=${hashes[which]}`],
  tail: (which) => [`/${names[which]}/tail`],
  head: (which) => [`/${names[which]}/refs/head`],
  'head of the head': (which) => [`/${names[which]}/refs/head`, { method: 'HEAD' }],
  blocks: (which) => [`/${names[which]}/blocks`],
  block: (which) => [`/${names[which]}/blocks/${hashes[which]}`],
  slice: (which) => [`/${names[which]}/data/${hashes[which]}`],
  checkpoint: (which) => [`/${names[which]}/checkpoints/${hashes[which]}`],
  'by DID': (which) => [`/datasets/${ids[which]}`],
  patch: (which) => [`/${names[which]}`, { method: 'PATCH', json: { visibility: 'public' } }],
  put: (which) => [`/${names[which]}`, { method: 'PUT', json: {} }],
  'put as it is': (which) => [`/${names[which]}`, { method: 'PUT', json: { visibility: 'private' } }],
  ingest: (which) => [`/${names[which]}/ingest`, row()],
  'ingest with create': (which) => [`/${names[which]}/ingest?create=true`, row()],
  'ingest with create in another case': (which) => [
    `/ACME/${which === 'hidden' ? 'SECRET' : 'ABSENT'}/ingest?create=true`,
    row(),
  ],
  'ingest with create, private': (which) => [`/${names[which]}/ingest?create=true&visibility=private`, row()],
  'ingest with add': (which) => [`/${names[which]}/ingest?unknownFields=add`, row()],
  'dry run': (which) => [`/${names[which]}/ingest?dryRun=true&create=true`, row()],
  'ingest with If-Match': (which) => [
    `/${names[which]}/ingest?create=true`,
    row({ headers: { 'if-match': hashes[which] } }),
  ],
  'ingest of nothing': (which) => [`/${names[which]}/ingest?create=true`, row({ body: '' })],
  'query by name': (which) => ['/query', asked({ query: `select * from "${names[which]}"` })],
  'query by DID': (which) => ['/query', asked({ query: `select * from "${ids[which]}"` })],
  'query by pin': (which) => [
    '/query',
    asked({ query: 'select * from "x/y"', datasets: [{ id: ids[which], alias: 'x/y' }] }),
  ],
  'query with an unused pin': (which) => [
    '/query',
    asked({ query: 'select 1', datasets: [{ id: ids[which], alias: 'x/y' }] }),
  ],
  list: () => ['/datasets?account=acme'],
}

// Whatever is kept of a public dataset, in memory or by name, is kept by now.
for (const request of Object.values(requests)) {
  const [path, call] = request('hidden')
  if (call?.method !== 'PATCH') await live.call(path, { ...call, token: null })
}
await live.query('select a from "acme/secret"', { include: ['Proof'] }, { token: null })
await live.call('/acme/secret', { method: 'PATCH', json: { visibility: 'private' } })

/** All of an answer but names of the request and what the question itself holds. */
function told(answer: Answer, which: Which): unknown {
  const { date: _, 'request-id': __, ...headers } = answer.headers
  const plain = (text: string): string =>
    [names, ids, hashes]
      .reduce((held, one) => held.replaceAll(new RegExp(one[which], 'gi'), '…'), text)
      .replaceAll(/secret|absent/gi, '…')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
  return { status: answer.status, text: plain(answer.text), headers: plain(JSON.stringify(headers)) }
}

describe.each([['no token'], ...kinds.map((set) => [set.join(' ')])])('a caller with %s elsewhere', (kind) => {
  it.each(Object.keys(requests))('hears the same: %s', async (name) => {
    const request = requests[name]
    expect(request).toBeDefined()
    if (request === undefined) return
    const answers: unknown[] = []
    for (const which of ['hidden', 'missing'] as const) {
      const [path, call] = request(which)
      answers.push(told(await live.call(path, { ...call, token: tokens.get(kind) ?? null }), which))
    }
    expect(answers[0]).toEqual(answers[1])
  })

  it('hears of a proof over it what a proof over a missing one hears', async () => {
    const token = tokens.get(kind) ?? null
    const headers = { 'content-type': 'application/json' }
    expect((await live.call('/verify', { method: 'POST', headers, body: proof, token })).refusal).toBe(
      '400 VerificationFailed::DatasetNotFound',
    )
  })
})
