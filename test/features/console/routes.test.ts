// Addresses that answer programs in JSON and browsers in HTML: who gets which, under which headers, and what those see
// who may not read.

import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const open = await liveNode()
const closed = await liveNode({ 'anonymous-read': false })
for (const node of [open, closed]) {
  await node.ingest('acme/goods', [{ a: 1 }], '?create=true')
  await node.call('/q/goods', {
    method: 'PUT',
    json: { query: 'select * from acme.goods where a = $a', parameters: { a: 1 } },
  })
}

const needy = { query: 'select * from acme.goods where a = $a' }
await open.call('/q/needy', { method: 'PUT', json: needy })
// Its dataset is gone.
await open.ingest('acme/brief', [{ a: 1 }], '?create=true')
const { id } = (await open.call('/acme/brief')).json as { id: string }
await open.call('/q/lost', { method: 'PUT', json: { query: 'select * from acme.brief where a = $a' } })
await open.call('/q/lost-id', { method: 'PUT', json: { query: `select * from "${id}"` } })
await open.call('/acme/brief?grace=0s', { method: 'DELETE', headers: { 'if-match': '*' } })

const browser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
}
const addresses = [
  '/',
  '/info',
  '/datasets',
  '/acme/goods',
  '/acme/goods/rows/0',
  '/errors',
  '/errors/saturated',
  '/query?query=select+42',
  '/q',
  '/q/goods',
  '/q/goods?a=2',
  '/verify',
  '/ingest',
  '/evidence-pack',
  '/evidence-pack?dataset=acme/goods&dataset=acme/other&sql=select+1',
]

describe('an address with a page', () => {
  it.each(addresses)('%s answers browsers in HTML and programs in JSON, and says so to caches', async (path) => {
    const page = await open.call(path, { token: null, headers: browser })
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-cache',
      'referrer-policy': 'same-origin',
      vary: expect.stringContaining('Accept'),
    })
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/)
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', undefined]) {
      const json = await open.call(path, { token: null, headers: accept === undefined ? {} : { accept } })
      expect([accept, json.headers['content-type']]).toEqual([accept, 'application/json; charset=utf-8'])
      expect(json.headers.vary).toContain('Accept')
    }
    const head = await open.call(path, { token: null, method: 'HEAD', headers: browser })
    expect([head.status, head.headers['content-type'], head.text]).toEqual([200, 'text/html; charset=utf-8', ''])
  })

  it.each([
    ['/q/needy?unknown=1', 400, 'for which there is no value'],
    ['/q/needy?a=1&unknown=1', 400, 'A value is given for $unknown, and the statement has no such parameter.'],
    ['/q/goods?unknown=1', 400, 'A value is given for $unknown, and the statement has no such parameter.'],
    ['/q/lost', 404, 'acme/brief, which this query asks, is gone'],
    ['/q/lost?a=1', 404, 'acme/brief, which this query asks, is gone'],
    ['/q/lost-id', 404, `${id}, which this query asks, is gone`],
  ])('%s is %i with the same reason in both', async (path, status, reason) => {
    const json = await open.call(path)
    const page = await open.call(path, { headers: browser })
    expect([json.status, page.status]).toEqual([status, status])
    expect(json.at('message')).toContain(reason)
    expect(page.text).toContain(reason)
    expect(page.text).not.toContain('Not run yet')
  })

  it('shows who may not read the same shell, whatever is there', async () => {
    const block = `/acme/goods/blocks/${await closed.head('acme/goods')}`
    const identity = `/datasets/${String((await closed.call('/acme/goods')).at('id'))}`
    const ofPages = [
      '/',
      '/datasets',
      '/acme/goods',
      '/acme/nothing',
      '/nobody/nothing',
      '/query?query=select+42&run=1',
      '/q',
      '/q/goods',
      '/q/nothing',
    ]
    const paths = [...ofPages, block, identity, '/acme/nothing/blocks/x', '/datasets/x']
    const shown = await Promise.all(
      paths.map(async (path) => await closed.call(path, { token: null, headers: browser })),
    )
    expect(new Set(shown.map(({ text }) => text)).size).toBe(1)
    expect(shown.map(({ status }) => status)).toEqual(paths.map(() => 200))
    expect(shown[0]?.text).not.toContain('goods')
    expect((await closed.call('/acme/goods', { token: null })).refusal).toBe('401 Unauthenticated')
  })

  it('shows the same to who may, and errors as pages', async () => {
    expect((await closed.call('/acme/goods', { headers: browser })).text).toMatch(/>goods[^\n]*<\/h1>/)
    const missing = await closed.call('/acme/nothing', { headers: browser })
    expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(missing.text).toContain('There is no dataset acme/nothing.')
    expect(missing.text).toContain('href="/ingest"')
    const nowhere = await open.call('/foo', { token: null, headers: browser })
    expect([nowhere.status, nowhere.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(nowhere.headers['vary']).toContain('Accept')
    expect(nowhere.text).toContain('There is no route /foo.')
    expect((await open.call('/foo', { token: null })).refusal).toBe('404 RouteNotFound')
    const unknown = await closed.call('/acme/goods', { token: 'pst_wrong', headers: browser })
    expect([unknown.status, unknown.headers['www-authenticate']]).toEqual([401, 'Bearer realm="proofstream"'])
  })
})

describe('the SQL page', () => {
  const path = '/query?query=select+41%2B1+as+answer&run=1'
  const ask = async (headers: object, more: object = {}): Promise<string> => {
    const { status, text } = await open.call(path, { token: null, ...more, headers: { ...browser, ...headers } })
    return `${status} ${/<td[^>]*>42</.test(text) ? 'ran' : 'not run'}`
  }
  const referer = `${open.node.url}/query`

  it('runs by GET what its own form sent', async () => {
    expect(await ask({ referer, 'sec-fetch-site': 'same-origin' })).toBe('200 ran')
    // Browsers say nothing of the site over plain HTTP to other machines.
    expect(await ask({ referer })).toBe('200 ran')
    for (const headers of [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', referer },
      { 'sec-fetch-site': 'same-site', referer },
      { 'sec-fetch-site': 'same-origin', referer: `${open.node.url}/acme/goods` },
      { 'sec-fetch-site': 'same-origin', referer: 'http://evil.example/query' },
      { referer: 'query' },
    ])
      expect([headers, await ask(headers)]).toEqual([headers, '200 not run'])
    // The script of every page shows an address again with the token of its tab.
    expect(await ask({ referer, 'sec-fetch-site': 'same-origin' }, { token: open.adminToken })).toBe('200 not run')
  })

  it('runs a link that the node wrote into a page of its own, with a token too, and nothing else under its mark', async () => {
    const goods = await open.call('/acme/goods?column=a&is=eq&value=1', { token: null, headers: browser })
    const link = (/href="(\/query\?query=select[^"]*)"/.exec(goods.text)?.[1] ?? '')
      .replaceAll('&amp;', '&')
      .replaceAll('&#39;', "'")
    const referer = `${open.node.url}/acme/goods`
    const follow = async (target: string, headers: object, more: object = {}): Promise<boolean> => {
      const { text } = await open.call(target, { token: null, ...more, headers: { ...browser, ...headers } })
      return text.includes('aria-label="Rows of the answer"')
    }
    const here = { 'sec-fetch-site': 'same-origin', referer }
    expect(await follow(link, here)).toBe(true)
    expect(await follow(link, { referer })).toBe(true)
    expect(await follow(link, here, { token: open.adminToken })).toBe(true)
    for (const headers of [
      {},
      { referer: 'http://evil.example/' },
      { ...here, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-origin' },
    ])
      expect([headers, await follow(link, headers)]).toEqual([headers, false])
    expect(await follow(link.replace('%20DESC', ''), here)).toBe(false)
    expect(await follow(link.replace(/run=.*/, 'run='), here)).toBe(false)
  })

  it('answers a link from elsewhere that asks for bytes as it does any page of another origin', async () => {
    for (const more of ['&format=csv', '&include=proof', '&skip=1', '&pin=a/b@f1620']) {
      const headers = { ...browser, 'sec-fetch-site': 'cross-site' }
      expect((await open.call(`${path}${more}`, { token: null, headers })).status).toBe(403)
    }
  })

  it('runs by POST for its script, and answers programs in JSON', async () => {
    const post = { method: 'POST', json: { query: 'select 41+1 as answer' }, token: null }
    const page = await open.call('/query', { ...post, headers: { accept: 'text/html' } })
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.text).toMatch(/<td[^>]*>42</)
    expect((await open.call('/query', post)).at('output.data')).toEqual([[42]])
    const proven = { ...post, json: { ...post.json, include: ['Proof'] }, headers: { accept: 'text/html' } }
    expect((await open.call('/query', proven)).at('proof.type')).toBe('Ed25519Signature2020')
    expect((await open.call('/query', { token: null })).refusal).toBe('400 InvalidParameter')
  })

  it('says of more rows than a page shows that they are too many', async () => {
    const json = { query: 'select 1', limit: 1001 }
    const page = await open.call('/query', { method: 'POST', json, token: null, headers: { accept: 'text/html' } })
    expect([page.status, page.text.includes('a page shows at most 1000 rows')]).toEqual([400, true])
  })
})

describe('the files of the console', () => {
  it('are kept for ever under addresses with their hash, and nothing else lies there', async () => {
    const { text } = await open.call('/', { token: null, headers: browser })
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css|svg))"/g)].map(([, path = '']) => path)
    // Its style, its icon, its script, and the one that follows the datasets.
    expect(files.length).toBe(4)
    for (const path of files) {
      const file = await closed.call(path, { token: null })
      expect([path, file.status]).toEqual([path, 200])
      expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
    for (const path of ['/assets/page.js', '/assets/..%2f..%2fpackage.json', '/assets/verify.html.js'])
      expect((await open.call(path, { token: null })).refusal).toBe('404 RouteNotFound')
  })
})

describe('the commands on the page of a dataset', () => {
  const commandsOf = async (path: string): Promise<string[]> => {
    const { text } = await open.call(path, { headers: browser })
    const escaped = { '&quot;': '"', '&#39;': "'", '&amp;': '&' }
    return [...text.matchAll(/data-copy="([^"]*)"/g)].map(([, command = '']) =>
      Object.entries(escaped).reduce((plain, [from, to]) => plain.replaceAll(from, to), command),
    )
  }

  it('post a record with its event time', async () => {
    await open.ingest('acme/readings', [{ device: 's1', celsius: 20.5 }], '?create=true')
    const commands = await commandsOf('/acme/readings')
    const record = commands.flatMap((command) => /-d '(.*)'$/s.exec(command)?.[1] ?? []).join()
    expect(JSON.parse(record)).toEqual({ event_time: '2026-01-01T00:00:00Z', device: 'text', celsius: 1.5 })
    await open.ingest('acme/readings', [JSON.parse(record)])
    const { text } = await open.call('/acme/readings/tail?limit=1')
    expect(text).toContain('2026-01-01T00:00:00')
  })

  it('save GeoJSON where rows have places', async () => {
    const place = { geometry: { type: 'Point', coordinates: [13.4, 52.5] } }
    await open.ingest('acme/places', [place], '?create=true')
    const saves = async (path: string): Promise<string[]> =>
      (await commandsOf(path)).filter((command) => command.includes('geojson'))
    expect(await saves('/acme/readings')).toEqual([])
    const [command = ''] = await saves('/acme/places')
    const { pathname, search } = new URL(/'(http.*)'/.exec(command)?.[1] ?? '')
    expect((await open.call(pathname + search)).json).toMatchObject({ type: 'FeatureCollection', features: [place] })
  })
})

it.each(['/q/goods?b=2', '/q/goods?a=2&b=2'])(
  'says in HTML what it says in JSON of a wrong parameter: %s',
  async (path) => {
    const page = await open.call(path, { token: null, headers: browser })
    const { status, refusal } = await open.call(path, { token: null })
    expect(page.status).toBe(status)
    expect(page.text).toContain(`>${refusal?.split(' ')[1]}</a>`)
  },
)

it('shows on the page of a saved query the values of the address, by whatever name they are given', async () => {
  const page = await open.call('/q/goods?param.a=2', { token: null, headers: browser })
  expect(page.text).toContain('name="a" value="2"')
})
