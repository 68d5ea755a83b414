// The rows of a dataset on its page, as its address asks for them: filtered, ordered, in pages, with the values that columns
// have; and the files of them. What is expected is counted here, from the rows that were sent.

import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const browser = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
const live = await liveNode()

const rows = Array.from({ length: 330 }, (_, i) => ({
  event_time: new Date(Date.UTC(2026, 2, 1) + i * 3_600_000).toISOString().replace('.000Z', 'Z'),
  sensor: ['roof', 'cellar', `o'hara "x" %_`][i % 3] ?? '',
  celsius: i % 11 === 0 ? null : (i * 37) % 100,
  ok: i % 5 !== 0,
  tags: [`t${i % 2}`],
}))
type Row = (typeof rows)[number] & { readonly offset: number }
const stored: readonly Row[] = rows.map((row, offset) => ({ ...row, offset }))
await live.ingest('acme/readings', rows, '?create=true')
await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
await live.ingest('acme/secret', [{ a: 1 }])

/** One filter as the address has it. */
function filter(column: string, is: string, value = ''): string {
  return new URLSearchParams({ column, is, value }).toString()
}

interface Shown {
  readonly status: number
  readonly html: string
  /** Offsets of the rows on the page. */
  readonly offsets: readonly number[]
  readonly links: readonly string[]
}

/** The page; asked for again where a busy machine left something out. */
async function shown(query: string, isWhole = (html: string) => html.includes('class="rows"')): Promise<Shown> {
  return await until('the rows', async () => {
    const { status, text: html } = await live.call(`/acme/readings?${query}`, { token: null, headers: browser })
    if (!isWhole(html)) return undefined
    const offsets = [...html.matchAll(/href="\/acme\/readings\/rows\/(\d+)">/g)].map(([, offset]) => Number(offset))
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => plain(link))
    return { status, html, offsets, links }
  })
}

function plain(text: string): string {
  return text.replace(
    /&(amp|quot|#39|lt|gt);/g,
    (_, name: string) => ({ amp: '&', quot: '"', '#39': "'", lt: '<', gt: '>' })[name] ?? '',
  )
}

const newestFirst = (found: readonly Row[]): number[] => found.map(({ offset }) => offset).sort((a, b) => b - a)

describe('the rows of a dataset', () => {
  const more = (value: number | null, least: number): boolean => value !== null && value >= least
  it.each([
    [filter('celsius', 'ge', '90'), (row: Row) => more(row.celsius, 90)],
    [filter('celsius', 'eq', '37'), (row: Row) => row.celsius === 37],
    [filter('celsius', 'null'), (row: Row) => row.celsius === null],
    [
      `${filter('celsius', 'ne', '37')}&${filter('offset', 'lt', '40')}`,
      (row: Row) => row.celsius !== 37 && row.offset < 40,
    ],
    [filter('sensor', 'eq', `o'hara "x" %_`), (row: Row) => row.sensor.startsWith('o')],
    [filter('sensor', 'has', '%'), (row: Row) => row.sensor.includes('%')],
    [filter('sensor', 'has', `' or 1=1 --`), () => false],
    [filter('sensor', 'begins', 'CELL'), (row: Row) => row.sensor === 'cellar'],
    [filter('event_time', 'eq', '2026-03-02'), (row: Row) => row.event_time.startsWith('2026-03-02')],
    [filter('event_time', 'le', '2026-03-01'), (row: Row) => row.event_time.startsWith('2026-03-01')],
    [filter('event_time', 'gt', '2026-03-13'), (row: Row) => row.event_time > '2026-03-14'],
    [filter('event_time', 'lt', '2026-03-01T05:00:00Z'), (row: Row) => row.event_time < '2026-03-01T05'],
    [filter('ok', 'eq', 'false'), (row: Row) => !row.ok],
    [filter('tags', 'has', 'T1'), (row: Row) => row.tags[0] === 't1'],
    // The empty fields of the form.
    [`${filter('', 'eq')}&${filter('SENSOR', 'eq', 'roof')}`, (row: Row) => row.sensor === 'roof'],
  ])('are those that pass %s', async (query, passes) => {
    const wanted = newestFirst(stored.filter(passes))
    const { offsets, html } = await shown(
      query,
      (text) => text.includes('class="rows"') || text.includes('No row is like that'),
    )
    expect(offsets).toEqual(wanted.slice(0, 25))
    expect(html).toContain(`<small>${wanted.length} of 330, newest first</small>`)
  })

  it('stand in the order of a column, nulls last, ties as they came', async () => {
    const known = stored.filter(({ celsius }) => celsius !== null)
    for (const order of ['asc', 'desc']) {
      const sign = order === 'asc' ? 1 : -1
      const sorted = known.toSorted((a, b) => sign * ((a.celsius ?? 0) - (b.celsius ?? 0)) || a.offset - b.offset)
      expect((await shown(`sort=celsius&order=${order}`)).offsets).toEqual(
        sorted.slice(0, 25).map(({ offset }) => offset),
      )
    }
    const { html } = await shown(`sort=celsius&order=desc`)
    expect(html).toMatch(/aria-sort="descending"><a class="head" href="[^"]*order=asc/)
  })

  it('are paged to the end and back by links, each row once, also while others come', async () => {
    const wanted = newestFirst(stored.filter(({ sensor }) => sensor === 'roof'))
    const seen: number[] = []
    let page = await shown(filter('sensor', 'eq', 'roof'))
    const first = page.offsets
    for (;;) {
      seen.push(...page.offsets)
      if (seen.length === 25) await live.ingest('acme/readings', [{ sensor: 'roof' }])
      const next = /href="([^"]*)" rel="next"/.exec(page.html)?.[1]
      if (next === undefined) break
      page = await shown(plain(next).split('?')[1]?.replace('#rows', '') ?? '')
    }
    expect(seen).toEqual(wanted)
    expect(page.html).toContain('Show 1 newer')
    let previous = /href="([^"]*)" rel="prev"/.exec(page.html)?.[1]
    while (previous !== undefined) {
      page = await shown(plain(previous).split('?')[1]?.replace('#rows', '') ?? '')
      previous = /href="([^"]*)" rel="prev"/.exec(page.html)?.[1]
    }
    expect(page.offsets).toEqual(first)
  })

  it('have the values of columns that have few, counted exactly in the rows that are filtered, each a link', async () => {
    const count = (of: (row: Row) => string): Map<string, number> => {
      const counted = stored.filter(({ ok }) => !ok)
      return new Map([...Map.groupBy(counted, of)].map(([value, { length }]) => [value, length]))
    }
    const query = `${filter('ok', 'eq', 'false')}&until=330`
    const { html } = await shown(query, (text) => text.includes('class="facets"'))
    const facet = new RegExp('<h3>sensor</h3><ul>(.*?)</ul>', 's').exec(html)?.[1] ?? ''
    const values = [...facet.matchAll(/<a href="([^"]*)">(.*?)<\/a>.*?<span>(\d+)<\/span>/gs)]
    expect(new Map(values.map(([, , value = '', rows]) => [plain(value), Number(rows)]))).toEqual(
      count(({ sensor }) => sensor),
    )
    const [link = ''] = values.filter(([, , value]) => value?.startsWith('o')).map(([, path = '']) => plain(path))
    expect(new URLSearchParams(link.replace('#rows', '').split('?')[1]).getAll('value')).toEqual([
      'false',
      `o'hara "x" %_`,
    ])
    const both = await shown(link.split('?')[1]?.replace('#rows', '') ?? '')
    expect(both.html).toContain(`<small>${count(({ sensor }) => sensor).get(`o'hara "x" %_`)} of 331`)
  })

  it('count different values exactly', async () => {
    const many = Array.from({ length: 3376 }, (_, i) => ({ code: `c${(i * 7919) % 3376}`, n: i % 1500 }))
    await live.ingest('acme/codes', many, '?create=true')
    const cells = await until('figures', async () => {
      const { text } = await live.call('/acme/codes', { token: null, headers: browser })
      const rows = [...text.matchAll(/<th scope="row">(code|n)<\/th>.*?<\/tr>/gs)].map(([row]) => row)
      return text.includes('>Distinct</th>') && rows
    })
    expect(cells[0]).toContain('<td class="number">3,376</td>')
    expect(cells[1]).toContain('<td class="number">1,500</td>')
  })

  it('are saved as files: all of them, and those that are filtered, in their order', async () => {
    const all = (await shown('')).links.find((link) => link.endsWith('export?format=Csv')) ?? ''
    expect((await live.call(all)).text.split('\n').length).toBe(1 + 331 + 1)
    const query = `${filter('sensor', 'eq', `o'hara "x" %_`)}&${filter('celsius', 'ge', '50')}&sort=celsius&order=desc`
    const { links, html } = await shown(query)
    expect(html).toContain('download="readings-filtered.csv"')
    const wanted = stored
      .filter(({ sensor, celsius }) => sensor.startsWith('o') && more(celsius, 50))
      .toSorted((a, b) => (b.celsius ?? 0) - (a.celsius ?? 0) || a.offset - b.offset)
    const csv = await live.call(links.find((link) => link.endsWith('&format=Csv')) ?? '', { headers: browser })
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(
      csv.text
        .split('\n')
        .slice(1, -1)
        .map((line) => Number(line.split(',')[0])),
    ).toEqual(wanted.map(({ offset }) => offset))
    for (const format of ['Parquet', 'Xlsx']) {
      expect((await live.call(links.find((link) => link.endsWith(`&format=${format}`)) ?? '')).status).toBe(200)
    }
    // A statement that a person reads has the values in it, and finds the same.
    const question = links.findLast((link) => link.startsWith('/query?query=select')) ?? ''
    const sql = new URLSearchParams(question.split('?')[1]).get('query') ?? ''
    const answer = await live.query(sql, { limit: 1000, dataFormat: 'JsonAos' })
    expect((answer.at('output.data') as Row[]).map(({ offset }) => offset)).toEqual(wanted.map(({ offset }) => offset))
  })

  it('have no chart, and it is said why', async () => {
    const at = '2026-03-01T00:00:00Z'
    const sets: readonly (readonly [string, string, readonly object[]])[] = [
      ['names', 'the dataset has no column of numbers', [{ name: 'a' }, { name: 'b' }]],
      ['same', 'all rows have the same event_time', [1, 2, 3].map((n) => ({ event_time: at, n: n * n }))],
      [
        'places',
        'its numbers are coordinates, count the rows, or are all the same',
        [{ latitude: 1, longitude: 2, n: 1 }],
      ],
    ]
    for (const [name, reason, of] of sets) {
      await live.ingest(`acme/${name}`, of, '?create=true')
      await until(reason, async () => {
        return (await live.call(`/acme/${name}`, { token: null, headers: browser })).text.includes(
          `No chart: ${reason}.`,
        )
      })
    }
  })

  it('of many columns are shown with the first, and the others are folded', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`c${i}`, i]))
    const stored = await live.ingest('acme/wide', [wide], '?create=true')
    expect(stored.status).toBe(200)
    const { text } = await live.call('/acme/wide', { token: null, headers: browser })
    expect(text).toContain('<details><summary>1,454 more columns</summary>')
    expect(text.split('<details><summary>1,454 more')[0]?.match(/<th scope="row">c/g)?.length).toBe(46)
  })

  it.each([
    [filter('wether', 'eq', '1'), /column is &#39;wether&#39;, which is no column/],
    ['sort=wether', /sort is &#39;wether&#39;, which is no column/],
    ['column=sensor&column=ok&is=eq&value=1', /do not stand together/],
    [filter('sensor', 'like', 'x'), /is/],
    ['skip=-1', /skip/],
  ])('%s is refused', async (query, reason) => {
    const { status, text } = await live.call(`/acme/readings?${query}`, { token: null, headers: browser })
    expect([status, reason.test(text)]).toEqual([400, true])
  })

  it('say why they are not there where a value is none of its column', async () => {
    const { html } = await shown(filter('celsius', 'ge', '<b>warm</b>'), (text) => text.includes('cannot be shown'))
    expect(html).toContain('Could not convert string')
    expect(html).not.toContain('<b>warm')
  })

  it('are no parameters for programs, and nobody finds by them what he may not read', async () => {
    const json = await live.call(`/acme/readings?${filter('sensor', 'eq', 'roof')}`, {
      headers: { accept: 'application/json' },
    })
    expect([json.refusal, json.at('message')]).toEqual([
      '400 InvalidParameter',
      'column is a parameter of the page for browsers.',
    ])
    const hidden = await live.call(`/acme/secret?${filter('a', 'eq', '1')}`, { token: null, headers: browser })
    expect(hidden.status).toBe(404)
  })
})
