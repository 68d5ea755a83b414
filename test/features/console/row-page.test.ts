// The page of a row, with its proofs or why it has none; the proof on the page of a block; and the page of the ledger.

import { describe, expect, it } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { judgeProof } from '../../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { ledgerPage } from '../../../src/features/console/ledger-page.ts'
import { hostileText } from './hostile.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const browser = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const slow = await liveNode({ 'ledger-delay': '1h' })
const bare = await liveNode({ without: 'ledger' })

const long = 'Ω'.repeat(5_000)
const rows = [
  { name: 'first', n: 9_007_199_254_740_993n, tags: ['a', '<b>'], note: null },
  { name: '<script>alert(1)</script>', n: 2n, tags: [], note: long },
]
const lines = rows.map((row) => JSON.stringify({ ...row, n: 0 }).replace('"n":0', `"n":${row.n}`)).join('\n')
for (const node of [live, slow, bare]) {
  await node.call('/acme/plain', { method: 'PUT', json: {} })
  await node.call('/acme/proved', { method: 'PUT', json: { proofs: 'rows' } })
  for (const alias of ['plain', 'proved'])
    await node.call(`/acme/${alias}/ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30' },
      body: lines,
    })
}

const pageOf = async (path: string, node = live): Promise<string> => {
  const { status, text } = await node.call(path, { token: null, headers: browser })
  expect(status).toBe(200)
  return text
}

describe('a row', () => {
  it('is answered by its offset, exactly, and what is not there is said', async () => {
    const { text, headers } = await live.call('/acme/plain/rows/0')
    expect(text).toContain('"name":"first","n":9007199254740993,')
    expect(headers['dataset-head']).toContain('acme/plain;block=')
    expect((await live.call('/acme/plain/rows/2')).refusal).toBe('404 ObjectNotFound')
    expect((await live.call('/acme/plain/rows/2', { headers: browser })).text).toContain('none with the offset 2')
    expect((await live.call('/acme/plain/rows/x')).status).toBe(400)
  })

  it('has a page with its values in full, as text, and its neighbours', async () => {
    const [first, second] = [await pageOf('/acme/plain/rows/0'), await pageOf('/acme/plain/rows/1')]
    expect(first).toContain('<td class="whole">9007199254740993</td>')
    expect(first).toContain('[&quot;a&quot;,&quot;&lt;b&gt;&quot;]')
    expect(first).toContain('<th scope="row">note</th><td class="null">null</td>')
    expect(second).toContain(`<td class="whole">${long}</td>`)
    expect(second).not.toContain('<script>alert')
    expect([first, second].map((text) => /rows\/1">Next row/.test(text))).toEqual([true, false])
    expect([first, second].map((text) => /rows\/0">← Previous row/.test(text))).toEqual([false, true])
    const json = /href="(\/acme\/plain\/export\?where=[^"]*)"/.exec(second)?.[1]?.replace('&amp;', '&') ?? ''
    expect((await live.call(json)).at('name')).toBe(rows[1]?.name)
  })

  it('has its proof, and that of its block, which judges without the node', async () => {
    const page = await until('proofs', async () => {
      const text = await pageOf('/acme/proved/rows/1')
      return text.includes('tlog-proof') && text
    })
    const key = String((await live.call('/ledger')).at('keys.0'))
    const policy = parsePolicy(utf8(`log ${key}\nquorum none\n`))
    const links = [...page.matchAll(/class="button" href="([^"]*\/proof)"/g)].map(([, path = '']) => path)
    const kinds = await Promise.all(
      links.map(async (path) => {
        const verdict = judgeProof((await live.call(path, { headers: browser })).bytes, policy)
        return verdict.verdict === 'included' && verdict.facts.kind
      }),
    )
    expect(kinds).toEqual(['row', 'block'])
    const block = await pageOf(/href="(\/acme\/proved\/blocks\/[^"/]*)"/.exec(page)?.[1] ?? '')
    expect(block).toContain(`href="${links[1]}"`)
  })

  it('says why it has no proof', async () => {
    const plain = await until('the proof of the block', async () => {
      const text = await pageOf('/acme/plain/rows/0')
      return text.includes('>Proof of this block</a>') && text
    })
    expect(plain).toContain('Proof of this row: <span class="hint">The dataset has proofs of batches and blocks alone.')
    for (const alias of ['plain', 'proved']) {
      expect(await pageOf(`/acme/${alias}/rows/0`, slow)).toMatch(
        /Proof of this row: .*No head of the ledger has its block yet/,
      )
      expect(await pageOf(`/acme/${alias}/rows/0`, bare)).toMatch(/Proof of this block: .*without a ledger/)
    }
  })
})

describe('the ledger', () => {
  it('has a page that says what its address tells programs', async () => {
    await until('a head', async () => Number((await live.call('/ledger')).at('size')) > 0)
    const json = await live.call('/ledger')
    const page = await pageOf('/ledger')
    for (const member of ['origin', 'keys.0', 'root']) {
      const text = String(json.at(member))
      expect(page).toContain(text)
    }
    for (const part of [
      'Kept up',
      'nobody outside signs the head',
      '/ledger/policy',
      'quorum',
      'href="/verify"',
      `audit ${live.node.url}`,
    ])
      expect(page).toContain(part)
    expect(await pageOf('/info')).toContain('href="/ledger"')
  })

  it('shows who signed its head and when, what is behind, and what it took the place of', () => {
    const at = '2026-11-21T19:19:21.000Z'
    const { main } = ledgerPage(
      {
        origin: 'data.example.org/ledger',
        size: 1234,
        state: 'late',
        reason: hostileText,
        behind: { blocks: 12, seconds: 75 },
        quorum: 'met',
        witnesses: [
          { name: 'w1', state: 'cosigned', at },
          { name: hostileText, state: 'silent' },
        ],
        timestamps: [
          { size: 1000, at: '2026-11-20T00:00:00.000Z' },
          { size: 1200, at: '2026-11-22T00:00:00.000Z' },
        ],
        former: [{ origin: 'old.example/ledger', size: 7 }],
      },
      'http://127.0.0.1',
    )
    const words = main.text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
    expect(main.text).not.toContain('<script')
    for (const part of [
      '1,234',
      'Late',
      'the first for 75 s',
      'quorum met',
      `w1 cosigned ${at}`,
      'old.example/ledger 7 entries',
    ])
      expect(words).toContain(part)
    expect(words).toContain('Last signed by others 2026-11-22T00:00:00.000Z')
    expect(words.indexOf('1,200')).toBeLessThan(words.indexOf('1,000'))
    expect(main.text).toContain('href="/ledger/timestamps/1200.tsr"')
  })

  it('has none on a node without it', async () => {
    const { status, text } = await bare.call('/ledger', { headers: browser })
    expect([status, text.includes('<html')]).toEqual([404, true])
    expect(await pageOf('/info', bare)).not.toContain('href="/ledger"')
  })
})
