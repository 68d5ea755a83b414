// The page that runs questions again, in a real browser with the engine for browsers: green for what a node signed, red for
// rows that do not follow, and never red where only the engine may differ. It asks nobody but the node that serves it.

import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPages } from '../../../scripts/build-pages.ts'
import { bundleOf, newPath, signedByStranger } from '../../node/bundle/support.ts'
import { randomStatement } from '../../node/engine/statement-corpus.ts'
import { hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { chosenOn, drive, type PageVerdict } from './driver.ts'

const canRun = hasBrowserEngine && chromium !== undefined

describe.runIf(canRun)('the page that runs questions again', () => {
  let live: LiveNode
  let browser: Browser
  let page: Page

  /** The verdict over a file. */
  const choose = (path: string): Promise<PageVerdict> => chosenOn(page, path)
  const saved = (text: string): string => {
    const path = newPath('json')
    writeFileSync(path, text)
    return path
  }
  const ask = async (sql: string, more: object = {}): Promise<string> =>
    (await live.query(sql, { include: ['Proof', 'Schema'], ...more })).text
  /** The tone of the page for what the node signs. */
  const toneOf = async (sql: string, more: object = {}): Promise<string> => {
    const { tone, text } = await choose(saved(await ask(sql, more)))
    return tone === 'good' ? tone : `${tone}: ${text}`
  }

  beforeAll(async () => {
    await buildPages()
    live = await startLiveNode({ 'anonymous-read': true })
    const field = (name: string, type: unknown) => ({ name, type })
    const optional = (kind: string) => ({ kind: 'Option', inner: { kind } })
    await live.call('/acme/t', {
      method: 'PUT',
      json: {
        schema: {
          fields: [
            field('g', optional('String')),
            field('k', optional('Int32')),
            field('m', { kind: 'Int64' }),
            field('x', optional('Float64')),
            field('d', optional('Date')),
            field('p', { kind: 'Option', inner: { kind: 'Decimal', precision: 9, scale: 2 } }),
            field('b', optional('Bool')),
          ],
        },
      },
    })
    for (let block = 0; block < 4; block++) {
      const rows = Array.from({ length: 300 }, (_, n) => ({
        g: n % 13 === 0 ? null : `g${n % 7} é`,
        k: (n * 31) % 50,
        m: n * block,
        x: n % 9 === 0 ? null : n / 7,
        d: `2024-0${1 + (n % 9)}-1${n % 10}`,
        p: ((n * 37) % 1000) / 100,
        b: n % 3 === 0,
        ...(block > 1 ? { later: n % 5 } : {}),
      }))
      await live.ingest('acme/t', rows, '?unknownFields=add&integers=int64')
    }
    await live.ingest(
      'acme/ints',
      Array.from({ length: 500 }, (_, n) => ({ g: `g${n % 7}`, k: n % 50 })),
      '?create=true&integers=int64',
    )
    browser = await startChromium()
    page = await browser.page()
    await page.open(`${live.node.url}/assets/rerun/page.html`)
  })
  afterAll(async () => {
    await browser.close()
    await live.stop()
  })

  test.each([
    'select g, count(*) as n, sum(k) as total, avg(p) as mean from "acme/t" group by g',
    'select * from "acme/t" where k < 9',
    'select offset, x, d, p, b, event_time, system_time, later from acme.t order by k desc limit 30',
    'select k, max(x) as high, min(d) as first_day from acme."t" group by k order by high desc, k limit 5',
    'select distinct g from "acme/t" -- with a comment',
    'select count(*) as n from "acme/t" t join "acme/ints" i on t.k = i.k where t.later is null',
    'with a as (select k, sum(m) as s from "acme/t" group by k) select s, k from a where s > 100 union all select 1, 2 order by s',
    "select 'ünï \\ \" ''' || g as text, upper(g) as u from \"acme/ints\" where k = 3",
    'select 170141183460469231731687303715884105 as huge, 1e300 as large, 0.1::float as f, true as t, null as nothing',
    'select avg(x) as mean, stddev(x) as s, sum(x) as total from "acme/t"',
  ])('turns green for what a node signed: %s', async (sql) => {
    expect(await toneOf(sql)).toBe('good')
  })

  test('turns green for each layout, a page of the rows, an earlier block, other names', async () => {
    const id = (await live.call('/acme/t/metadata')).at('output.seed.datasetId')
    const blocks = (await live.call('/acme/t/blocks?limit=100')).at('blocks') as {
      hash: string
      event: { kind: string }
    }[]
    const earlier = blocks.filter(({ event }) => event.kind === 'AddData').at(-2)?.hash
    const sql = 'select g, sum(k) as total from t group by g'
    const datasets = [{ id, alias: 't', blockHash: earlier }]
    expect(await toneOf(sql, { datasets })).toBe('good')
    expect(await toneOf(sql, { datasets, dataFormat: 'JsonAos' })).toBe('good')
    expect(await toneOf(sql, { datasets, dataFormat: 'JsonSoa' })).toBe('good')
    expect(await toneOf('select offset, k from "acme/t"', { skip: 100, limit: 40 })).toBe('good')
    expect(await toneOf('select k, g from "acme/t" order by g', { limit: 40 })).toBe('good')
  })

  test('takes a bundle, of private rows too', async () => {
    await live.call('/acme/own', { method: 'PUT', json: { visibility: 'private' } })
    await live.ingest('acme/own', [{ a: 1 }, { a: 2 }], '?integers=int64')
    const text = await ask('select sum(a) as total from "acme/own"')
    expect(await choose(saved(text))).toMatchObject({ tone: 'unjudged', headline: '? It cannot be run here' })
    // Or with a token, which the page keeps in its memory alone.
    expect(await page.evaluate("document.querySelector('#access').hidden")).toBe(false)
    expect(await drive(page).look()).toEqual([])
    await page.evaluate(`(() => {
      const form = document.querySelector('#access')
      form.querySelector('input').value = ${JSON.stringify(live.adminToken)}
      form.requestSubmit()
    })()`)
    await drive(page).until("document.querySelector('#result h2')?.className === 'good'")
    expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0)
    const found = await choose(await bundleOf(live, text))
    expect(found).toMatchObject({ tone: 'good', headline: '✓ Run again here: the same rows' })
    expect(found.text).toContain('ran over 2 rows of')
    expect(found.text).toContain('To run this query again takes DuckDB')
  })

  test('fills in the values of parameters, of every type', async () => {
    const typed = 'select $1 as a, $2 as b, $3 as c, $4 as d, $5 as e, count(*) as n from "acme/t" where k < $1'
    expect(await toneOf(typed, { parameters: [20, "it's \\ ü", null, true, 2.5] })).toBe('good')
    expect(
      await toneOf('select g from "acme/ints" where k = $Least or g = $name', {
        parameters: { least: 3, NAME: 'g2' },
      }),
    ).toBe('good')
    expect(await toneOf('select ? as a, ? as b', { parameters: [1, 2] })).toBe('good')
    const text = await ask('select g, count(*) as n from "acme/ints" where k < $1 group by g', { parameters: [10] })
    const other = await choose(saved(signedByStranger(text, { input: { parameters: [11] } })))
    expect(other.tone).toBe('bad')
    const none = await choose(saved(signedByStranger(text, { input: { parameters: [] } })))
    expect(none).toMatchObject({ tone: 'unjudged' })
  })

  test('says where the node has no engine for browsers', async () => {
    await page.evaluate(
      "window.ownFetch = fetch; window.fetch = (path, given) => given?.method === 'HEAD' ? Promise.resolve(new Response(null, { status: 404 })) : ownFetch(path, given)",
    )
    const found = await choose(saved(await ask('select count(*) as n from "acme/ints"')))
    expect(found).toMatchObject({ tone: 'unjudged' })
    expect(found.text).toContain('no engine for browsers')
    await page.evaluate('window.fetch = ownFetch')
  })

  test('turns red for rows that do not follow from the blocks, and says which', async () => {
    const text = await ask('select g, count(*) as n, sum(k) as total from "acme/ints" group by g')
    const output = JSON.parse(text).output as { data: unknown[][] }
    const [first, ...rest] = output.data
    const changed = await choose(
      saved(signedByStranger(text, { output: { data: [[first?.[0], 1, first?.[2]], ...rest] } })),
    )
    expect(changed).toMatchObject({ tone: 'bad', headline: '✗ Run again here: other rows than those that were signed' })
    expect(changed.text).toMatch(/row 1, n: signed 1, here 72/)
    for (const data of [rest, [...output.data, ['g9', 1, 1]], []])
      expect((await choose(saved(signedByStranger(text, { output: { data } })))).tone).toBe('bad')
  })

  test('never accuses where the engine, the order of rows or chance may be why', async () => {
    const floats = await ask('select avg(x) as mean from "acme/t"')
    const struct = await ask('select {\'most\': max(k)} as s from "acme/ints"')
    const order = await ask('select k from "acme/ints" limit 10')
    const forged = (text: string, data: unknown): string => signedByStranger(text, { output: { data } })
    const cases: (readonly [text: string, why: string])[] = [
      [forged(floats, [[20.5]]), 'This engine may be the reason'],
      [struct, 'of the type STRUCT('],
      [forged(order, [[1]]), 'This engine may be the reason'],
      [signedByStranger(floats, { input: { query: 'select sin(k) as mean from "acme/t"' } }), "last digits of 'sin'"],
      [
        signedByStranger(floats, { input: { query: 'select random() as mean from "acme/t"' } }),
        "'random' gives another answer",
      ],
      [
        signedByStranger(floats, { input: { query: 'select avg(x) as mean from "acme/t"; select 1' } }),
        'more than one statement',
      ],
      [signedByStranger(floats, { input: { query: 'select 1) as r, (select 1' } }), 'parentheses do not match'],
      [signedByStranger(floats, { input: { queryDialect: 'SqlDuckDb/1.4.3-2' } }), 'this engine runs SqlDuckDb/'],
      [signedByStranger(floats, { input: { query: 'select json(\'{}\') as mean from "acme/t"' } }), 'cannot run it'],
    ]
    for (const query of [
      'select * from duckdb_settings()',
      'from "duckdb_tables"',
      "select getenv('HOME')",
      'select 2 ** 3',
    ])
      cases.push([
        signedByStranger(floats, { input: { query } }),
        query.includes('**') ? "last digits of '**'" : 'is not run here',
      ])
    for (const [text, why] of cases) {
      const found = await choose(saved(text))
      expect(found).toMatchObject({ tone: 'unjudged', headline: '? Inconclusive here' })
      expect(found.text).toContain(why)
    }
  })

  test('never accuses what a node has signed, whatever was asked', async () => {
    const tones: string[] = []
    const [t, u] = await Promise.all(
      ['t', 'ints'].map(async (name) => (await live.call(`/acme/${name}/metadata`)).at('output.seed.datasetId')),
    )
    const datasets = [
      { id: t, alias: 't' },
      { id: u, alias: 'u' },
    ]
    const told: string[] = []
    await fc.assert(
      fc.asyncProperty(randomStatement, async (sql) => {
        const answer = await live.query(sql, { include: ['Proof', 'Schema'], datasets, limit: 1000 })
        fc.pre(answer.status === 200)
        const { tone, text } = await choose(saved(answer.text))
        tones.push(tone)
        told.push(`${tone} ${sql}: ${text.slice(0, 300)}`)
        expect({ tone: tone === 'bad', sql, text }).toEqual({ tone: false, sql, text })
      }),
      { numRuns: Number(process.env['RERUN_RUNS'] ?? 4) },
    )
    if (process.env['RERUN_RUNS'] !== undefined) console.log(told.join('\n'))
    expect(tones).toContain('good')
  })

  test('has no fault that axe-core finds, and is no wider than the window, a telephone included', async () => {
    const text = await ask('select g, sum(k) as total from "acme/ints" group by g')
    const texts = [text, signedByStranger(text, { output: { data: [['g0', 1]] } }), 'x']
    for (const [at, tone] of ['good', 'bad', 'unjudged'].entries()) {
      expect((await choose(saved(texts[at] ?? ''))).tone).toBe(tone)
      expect([tone, await drive(page).look()]).toEqual([tone, []])
    }
  })

  test('says of a forged signature, and of no proof, what verify.html says', async () => {
    const text = await ask('select max(k) as m from "acme/ints"')
    const forged = await choose(saved(text.replace('[[49]]', '[[50]]')))
    expect(forged.text).toContain('The output is not the one that was signed')
    expect((await choose(saved('{}'))).tone).toBe('unjudged')
  })

  test('has asked nobody but its node, and broken no rule', () => {
    // What the engine writes to its own console, and an extension that the policy keeps it from, are no faults.
    const faults = page.faults().filter((fault) => !fault.startsWith(`request: ${live.node.url}/`))
    expect(faults.filter((fault) => /^request:|dialog|exceptionThrown|Audits/.test(fault))).toEqual([])
  })
})
