// The address that a node says of itself: that of its operator, or of the request; never one that a header of a stranger says.
// And names of parameters that JavaScript's own objects have, pages that are not wanted.

import { expect, test } from 'vitest'
import { liveNode, send } from '../helpers/live-node.ts'

const point = { type: 'Point', coordinates: [1, 2] }
const plain = await liveNode()
const named = await liveNode({ 'public-url': 'https://data.example:8443' })
for (const live of [plain, named]) {
  const feature = { type: 'Feature', geometry: point, properties: { n: 1 } }
  await live.call('/acme/places/ingest?create=true', {
    method: 'POST',
    headers: { 'content-type': 'application/geo+json', prefer: 'wait=20' },
    json: { type: 'FeatureCollection', features: [feature] },
  })
}

const paths = ['/ogc', '/ogc/collections', '/ogc/collections/acme:places', '/ogc/collections/acme:places/items']

/** Every absolute address in a text that is the node's own. */
function addressesIn(text: string): string[] {
  const all = text.match(/https?:\/\/[^/"\s<>]+/g) ?? []
  return [...new Set(all)].filter((address) => !/opengis|json-schema|geojson|openapis|w3\.org|spdx/.test(address))
}

test.each(paths)('%s has the public address in each link, whoever asks how', async (path) => {
  for (const headers of [
    {},
    { host: '127.0.0.1' },
    { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example' },
  ]) {
    const answer = await named.call(path, { headers })
    expect(answer.status).toBe(200)
    expect(addressesIn(answer.text)).toEqual(['https://data.example:8443'])
    expect(addressesIn(String(answer.headers['link']))).toEqual(['https://data.example:8443'])
  }
})

test.each(paths)('%s without one has that of the request, and no forwarded one', async (path) => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example', forwarded: 'proto=https' }
  const answer = await plain.call(path, { headers: forwarded })
  expect(addressesIn(answer.text)).toEqual([plain.node.url])
})

test('lake engines are told the public address, or that of the request', async () => {
  const table = '/iceberg/v1/namespaces/acme/tables/places'
  expect((await named.call(table)).at('config.s3\\.endpoint') ?? (await named.call(table)).text).toContain(
    '"s3.endpoint":"https://data.example:8443"',
  )
  const asked = { headers: { 'x-forwarded-proto': 'https' } }
  expect((await plain.call(table, asked)).text).toContain(`"s3.endpoint":"${plain.node.url}"`)
})

test('the public name is one that the node answers to, and its pages may write', async () => {
  const ask = (host: string): Promise<{ status: number }> => send(named.node.url, '/healthz', { headers: { host } })
  expect((await ask('data.example:8443')).status).toBe(200)
  expect((await ask('other.example')).status).toBe(421)
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
  'a parameter %s is unknown, as any other that is none',
  async (name) => {
    const answer = await plain.call(`/ogc/collections/acme:places/items?${name}=1`)
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect((await plain.call(`/ogc/collections?${name}=1`)).refusal).toBe('400 InvalidParameter')
  },
)

test.each([
  ['text/html;q=0, application/json', 'application/json'],
  ['text/html; q=0.0, */*', 'application/json'],
  ['text/html;q=0', 'application/json'],
  ['text/html, application/json;q=0.5', 'text/html'],
  ['text/html;q=0.1', 'text/html'],
])('Accept: %s is answered in %s', async (accept, type) => {
  for (const path of ['/datasets', '/acme/places', '/ogc/collections']) {
    expect((await plain.call(path, { headers: { accept } })).headers['content-type']).toContain(type)
  }
})
