// The pages of a node in a real browser: what they show, that they break no rule of their own policy and ask nobody else,
// that hostile data stays text, that they work by keyboard and for screen readers, with and without a token.

import axe from 'axe-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive, faultsOf } from './driver.ts'
import { hostileName, hostileRows, hostileText } from './hostile.ts'
import { patienceMs, until } from '../../helpers/until.ts'

const open = await liveNode()
const closed = await liveNode({ 'anonymous-read': false })

const info = { kind: 'SetInfo', description: 'Temperatures of three sensors on a roof.', keywords: ['roof', 'demo'] }
const readings = Array.from({ length: 300 }, (_, i) => ({
  event_time: new Date(Date.UTC(2026, 2, 1) + i * 600_000).toISOString(),
  sensor: `s${i % 3}`,
  celsius: Math.round(200 + 80 * Math.sin(i / 20) + i) / 10,
  ok: i % 50 !== 49,
  note: i % 7 === 0 ? 'calibrated' : null,
}))

const cities = [
  ['Lisbon', -9.14, 38.72],
  ['Oslo', 10.75, 59.91],
  ['Athens', 23.73, 37.98],
  ['Berlin', 13.4, 52.52],
  ['Dublin', -6.26, 53.35],
].map(([name, x, y]) => ({ name, geometry: { type: 'Point', coordinates: [x, y] } }))

/** Everything that a page may not do, as a browser without a token sees it. */
const paths = [
  '/',
  '/datasets?account=acme',
  '/datasets?q=no-such-name-anywhere&sort=rows',
  '/acme/readings',
  '/acme/empty',
  '/acme/cities',
  '/acme/readings?column=sensor&is=eq&value=s1&sort=celsius&order=desc&skip=25',
  '/evil/data',
  '/evil/places',
  '/acme/readings/rows/7',
  '/evil/data/rows/0',
  '/ledger',
  '/ogc/conformance?f=html',
  '/ogc/collections/acme:cities?f=html',
  '/info',
  '/q',
  '/q/cities',
  '/q/cities?city=Oslo',
  '/evidence-pack?dataset=acme/readings&sql=select%20%3Cb%3E',
  '/errors',
  '/errors/saturated',
]

describe.skipIf(chromium === undefined)('the console in Chromium', () => {
  let browser: Browser
  let page: Page
  let driver: Driver

  const visit = (path: string, node = open): Promise<string> => driver.visit(node.node.url + path)
  const press = async (key: string, times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) await driver.press(key)
  }
  const violations = (): Promise<unknown> =>
    page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))')
  const forget = (): Promise<unknown> => page.evaluate('sessionStorage.clear()')

  beforeAll(async () => {
    for (const node of [open, closed]) {
      await node.call('/acme/readings', { method: 'PUT', json: { info } })
      await node.ingest('acme/readings', readings)
    }
    await open.call('/acme/empty', { method: 'PUT', json: {} })
    await open.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
    await open.call('/evil/data', {
      method: 'PUT',
      json: {
        info: { kind: 'SetInfo', description: hostileText, keywords: [hostileText] },
        license: { kind: 'SetLicense', shortName: 'x', name: hostileText, websiteUrl: 'javascript:alert(3)' },
      },
    })
    const stored = await open.ingest('evil/data', hostileRows)
    if (stored.status !== 200) throw new Error(stored.text)
    await open.ingest('acme/cities', cities, '?create=true')
    await open.ingest('evil/places', [{ geometry: hostileText, a: 1 }], '?create=true')
    const query = 'select * from acme.cities where name = $city'
    await open.call('/q/cities', { method: 'PUT', json: { query, about: hostileText } })
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    // Chromium notes of each link that a test follows that nobody had touched the page.
    const faults = page.faults().filter((fault) => !fault.includes('NavigationEntryMarkedSkippable'))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(() => browser.close())

  /** A page leaves out what takes the engine longer than two seconds; a busy machine is asked again. */
  const visitUntil = async (path: string, selector: string): Promise<string> => {
    const deadline = Date.now() + patienceMs
    let shown = await visit(path)
    while ((await page.evaluate(`document.querySelector('${selector}') === null`)) === true && Date.now() < deadline)
      shown = await visit(path)
    return shown
  }

  test('lists datasets with rows, size, age and pulse', async () => {
    const shown = await visit('/')
    for (const part of ['acme/readings', 'Temperatures of three sensors', '300', 'ago']) expect(shown).toContain(part)
    expect(shown).not.toContain('acme/secret')
    expect(await page.evaluate("document.querySelectorAll('svg.pulse').length")).toBe(5)
    expect(await page.evaluate('document.querySelector(\'svg.pulse[aria-label^="300 rows"]\') !== null')).toBe(true)
  })

  test('shows of a dataset its rows, columns, chain, and commands with this address', async () => {
    // On a busy machine a page leaves out what takes long.
    const shown = await until('the page with rows, charts and figures', async () => {
      const text = await visit('/acme/readings')
      return ['2026-03-03T01:50:00Z', 'Over event time'].every((part) => text.includes(part)) && text
    })
    const head = await open.head('acme/readings')
    for (const part of ['Temperatures of three sensors', '2026-03-03T01:50:00Z', 'celsius', 'Float64', '+300 rows'])
      expect(shown).toContain(part)
    expect(shown).toContain(`curl -G '${open.node.url}/query'`)
    expect(shown).toContain(`${head?.slice(0, 8)}…${head?.slice(-8)}`)
    const rows = await page.evaluate(
      "[...document.querySelectorAll('.rows tbody tr')].map((row) => row.cells[0].innerText)",
    )
    expect(rows).toEqual(Array.from({ length: 25 }, (_, i) => String(299 - i)))
  })

  test('draws numbers over event time and gives figures of columns, as they follow from the rows', async () => {
    await visitUntil('/acme/readings', '.charts svg')
    const values = readings.map(({ celsius }) => celsius)
    const [least, greatest] = [Math.min(...values), Math.max(...values)]
    expect(await page.evaluate("document.querySelector('.area svg').getAttribute('aria-label')")).toBe(
      `celsius from 2026-03-01 00:00 to 2026-03-03 01:50: least ${least}, greatest ${greatest}; a line each for s0, s1, s2`,
    )
    const cells = `[...document.querySelectorAll('.columns tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`
    const columns = new Map(
      ((await page.evaluate(cells)) as string[][]).map(([name = '', ...rest]) => [name, rest.slice(2)]),
    )
    const absent = readings.filter(({ note }) => note === null).length
    expect(columns.get('note')).toEqual([`${((100 * absent) / 300).toFixed(1)} %`, '1', 'calibrated', 'calibrated'])
    expect(columns.get('sensor')).toEqual(['0', '3', 's0', 's2'])
    expect(columns.get('celsius')?.slice(2).map(Number)).toEqual([least, greatest])
    expect(columns.get('event_time')?.slice(2)).toEqual(['2026-03-01T00:00:00Z', '2026-03-03T01:50:00Z'])
    // More rows than spans: the line of a sensor has a point for each span that it is in, in order, from edge to edge.
    const lines = (await page.evaluate(
      "[...document.querySelectorAll('.area .line')].map((line) => [line.dataset.series, line.getAttribute('d')])",
    )) as [string, string][]
    const spansOf = (sensor: string): number =>
      new Set(readings.flatMap((row, i) => (row.sensor === sensor ? [Math.floor((i * 120) / 299.001)] : []))).size
    const placesOf = (line: string): number[] =>
      line
        .slice(1)
        .split('L')
        .map((point) => Number(point.split(' ')[0]))
    expect(lines.map(([name, line]) => [name, placesOf(line).length])).toEqual(
      ['s0', 's1', 's2'].map((name) => [name, spansOf(name)]),
    )
    for (const [, line] of lines) expect(placesOf(line)).toEqual(placesOf(line).toSorted((a, b) => a - b))
    const places = lines.flatMap(([, line]) => placesOf(line))
    expect([Math.min(...places), Math.max(...places)]).toEqual([0, 600])
  })

  test('draws the newest features, and nothing of a column that holds none', async () => {
    expect(await visitUntil('/acme/cities', '.map svg')).toContain(
      '5 features, 9.14° W to 23.73° E, 37.98° N to 59.91° N',
    )
    const places = (await page.evaluate(
      "(() => { const dots = document.querySelector('.map .points'); const rows = dots.dataset.dots.split(' '); return [...dots.getAttribute('d').matchAll(/M([0-9.]+) ([0-9.]+)/g)].map(([, x, y], at) => [rows[at], x, y].map(Number)) })()",
    )) as [row: number, x: number, y: number][]
    expect(places.map(([row]) => row)).toEqual([4, 3, 2, 1, 0])
    // Newest first: Dublin, Berlin, Athens, Oslo, Lisbon.
    const [dublin = [], berlin = [], athens = [], oslo = [], lisbon = []] = places.map(([, x, y]) => [x, y])
    const westToEast = [lisbon, dublin, oslo, berlin, athens].map(([x]) => x)
    expect(westToEast).toEqual(westToEast.toSorted((a = 0, b = 0) => a - b))
    const northToSouth = [oslo, dublin, berlin, lisbon, athens].map(([, y]) => y)
    expect(northToSouth).toEqual(northToSouth.toSorted((a = 0, b = 0) => a - b))
    expect(await page.evaluate("document.querySelector('.map .land').getAttribute('d').length > 1000")).toBe(true)
    expect(await visit('/evil/places')).not.toContain('Map')
  })

  test('says of an empty dataset how to send a row, in a command that does it', async () => {
    expect(await visit('/acme/empty')).toContain('No rows yet')
    const command = String(await page.evaluate("document.querySelector('#write ~ .ways pre').dataset.copy"))
    expect(command).toContain(`curl -X POST '${open.node.url}/acme/empty/ingest'`)
  })

  test('copies what it offers to copy', async () => {
    await visit('/acme/readings')
    const { origin } = new URL(open.node.url)
    await page.send('Browser.grantPermissions', {
      origin,
      permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'],
    })
    await page.evaluate("document.querySelector('.facts .copy').click()")
    await driver.until("document.querySelector('.facts .copy').textContent === 'Copied'")
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await open.head('acme/readings'))
  })

  test('shows hostile names, cells, texts and addresses as text, however long', async () => {
    const shown = await visit('/evil/data')
    expect(shown).toContain(hostileText.slice(0, 40))
    expect(shown).toContain(hostileName)
    expect(shown).toContain('\\u202e')
    expect(shown.length).toBeLessThan(60_000)
    const found = "document.querySelectorAll('main img, main script, main iframe, a[href^=javascript]').length"
    expect(await page.evaluate(found)).toBe(0)
    await visit('/datasets?account=evil')
    expect(await page.evaluate(found)).toBe(0)
  })

  test.each([
    [`/acme/${encodeURIComponent('<img src=x onerror=alert(1)>')}`, '400'],
    ['/acme/nothing', '404'],
    ['/errors/nothing', '404'],
    [`/datasets?limit=${encodeURIComponent('<script>alert(1)</script>')}`, '400'],
  ])('says of %s what is wrong, as a page', async (path, status) => {
    expect(await visit(path)).toContain(`${status} `)
    // A browser says in its console that the answer was an error.
    expect(faultsOf(page)).toEqual([])
  })

  test('is whole without a script, and says in the shell what a script is for', async () => {
    await page.send('Emulation.setScriptExecutionDisabled', { value: true })
    const shown = await visitUntil('/acme/readings', '.charts svg')
    for (const part of ['celsius', '+300 rows', 'Float64', `curl -G '${open.node.url}/query'`])
      expect(shown).toContain(part)
    expect(await page.evaluate("document.querySelectorAll('.area svg, svg.pulse').length")).toBe(2)
    expect(await page.evaluate("document.querySelector('.session').hidden")).toBe(true)
    expect(await visit('/', closed)).toContain('Without scripts a page cannot hold a token')
    await page.send('Emulation.setScriptExecutionDisabled', { value: false })
  })

  test('shows more to who gives a token, and holds it in the tab alone', async () => {
    await visit('/')
    await driver.giveToken(open.adminToken)
    await driver.until("document.querySelector('main').innerText.includes('acme/secret')")
    expect(await page.send('Network.getCookies')).toEqual({ cookies: [] })
    expect(await page.evaluate('location.href')).toBe(`${open.node.url}/`)
    await page.open(`${open.node.url}/acme/secret`)
    await driver.until("document.querySelector('h1')?.innerText.startsWith('secret')")
    expect(faultsOf(page)).toEqual([])
    await forget()
  })

  test.each(['/', '/acme/readings', '/acme/nothing'])(
    'shows nothing of %s but a form where reads need a token',
    async (path) => {
      const shell = await visit(path, closed)
      expect(shell).toContain('You need a token to read here')
      expect(shell).not.toContain('readings')
      await driver.giveToken('pst_00000000000000000000000000000000000000')
      await driver.until("document.querySelector('main [role=alert]').textContent !== ''")
      await driver.giveToken(closed.adminToken)
      const expected = path === '/acme/nothing' ? '404' : 'readings'
      await driver.until(
        `document.querySelector('main h1, main table').closest('main').innerText.includes('${expected}')`,
      )
      // Wrong tokens and missing datasets are errors in the browser's console, too.
      expect(faultsOf(page)).toEqual([])
      await forget()
    },
  )

  test('says of the node whether it is ready, what it is busy with, and its limits', async () => {
    expect(await visit('/info')).toContain('Rows in no block yet')
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    const shown = await driver.text()
    for (const part of ['✓ Ready', 'builder_open_rows', '256 MiB', '--limit-body-bytes', open.node.did.slice(0, 16)])
      expect(shown).toContain(part)
    const hidden = await visit('/info', closed)
    expect(hidden).toContain('✓ Ready')
    expect(await page.evaluate('document.body.textContent')).not.toContain('builder_open_rows')
  })

  test('makes tokens for admins, shows their text once, and revokes them', async () => {
    expect(await visit('/tokens')).toContain('need a token')
    await driver.giveToken(open.adminToken)
    await driver.until("document.querySelector('#make-token:not([hidden])') !== null")
    await page.evaluate(`(() => {
      const form = document.querySelector('#make-token')
      form.elements.holder.value = ${JSON.stringify(hostileText.slice(0, 60))}
      form.elements.datasets.value = 'acme/*, city/trees'
      form.querySelector('[value=read]').checked = true
      form.requestSubmit()
    })()`)
    await driver.until("document.querySelector('#made code') !== null")
    const made = String(await page.evaluate("document.querySelector('#made code').textContent"))
    expect((await open.call('/acme/secret/refs/head', { token: made })).status).toBe(200)
    await driver.until("document.querySelectorAll('#tokens tbody tr').length === 2")
    const row = `[...document.querySelectorAll('#tokens tbody tr')].find((row) => row.innerText.includes('…${made.slice(-4)}'))`
    expect(await page.evaluate(`${row}.innerText`)).toContain('acme/*, city/trees')
    await page.evaluate(`${row}.querySelector('button').focus(); ${row}.querySelector('button').click()`)
    expect((await open.call('/acme/secret/refs/head', { token: made })).status).toBe(200)
    await page.evaluate(`${row}.querySelector('button').click()`)
    await driver.until("document.querySelectorAll('#tokens tbody tr').length === 1")
    expect((await open.call('/acme/secret/refs/head', { token: made })).refusal).toBe('401 Unauthenticated')
    await page.evaluate(
      "document.querySelector('#make-token').elements.holder.value = 'x'; document.querySelector('#make-token').requestSubmit()",
    )
    await driver.until("document.querySelector('#refused').textContent !== ''")
    await page.evaluate(`${axe.source};0`)
    expect(await violations()).toEqual([])
    // A browser says in its console that a form was refused.
    expect(faultsOf(page)).toEqual([])
    await forget()
  })

  test('keeps the token that was given last, whichever answer comes last', async () => {
    await visit('/')
    const narrow = String(
      (
        await open.call('/tokens', {
          method: 'POST',
          json: { name: 'x', scopes: ['read'], datasets: ['acme/readings'] },
        })
      ).at('token'),
    )
    // The question with the first token is held back until the second was answered.
    await page.evaluate(`(() => {
      const send = XMLHttpRequest.prototype.send
      XMLHttpRequest.prototype.send = function (body) {
        XMLHttpRequest.prototype.send = send
        globalThis.releaseFirst = () => send.call(this, body)
        this.addEventListener('loadend', () => setTimeout(() => { globalThis.firstAnswered = true }))
      }
    })()`)
    await driver.giveToken(narrow)
    await driver.giveToken(open.adminToken)
    await driver.until("document.querySelector('main').innerText.includes('acme/secret')")
    await page.evaluate('globalThis.releaseFirst()')
    await driver.until('globalThis.firstAnswered === true')
    expect(await page.evaluate("sessionStorage.getItem('proofstream-token')")).toBe(open.adminToken)
    expect(await page.evaluate("document.querySelector('main').innerText")).toContain('acme/secret')
    await forget()
  })

  test('is used by keyboard: skips to the content, goes to a dataset', async () => {
    await visit('/')
    await press('Tab')
    expect(await page.evaluate('document.activeElement.className')).toBe('skip')
    await press('Enter')
    await driver.until("document.activeElement.id === 'main'")
    // The search with its field, order and button stands first, then the table.
    await press('Tab', 5)
    expect(await page.evaluate("document.activeElement.getAttribute('href')")).toBe('/acme/cities')
    await press('Enter')
    await driver.until("document.querySelector('h1')?.innerText.startsWith('cities')")
  })

  test('loads at most 60 kB of scripts on its first page, compressed', async () => {
    await visit('/')
    const sizes = await page.evaluate(
      "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map((entry) => entry.encodedBodySize)",
    )
    const sum = (sizes as number[]).reduce((total, size) => total + size, 0)
    expect(sum).toBeGreaterThan(500)
    expect(sum).toBeLessThan(60_000)
  })

  test.each([...paths.map((path) => [path, 'open'] as const), ['/', 'closed'] as const])(
    'has at %s (%s) no fault that axe-core finds, and is no wider than the window, a telephone included',
    async (path, who) => {
      await visit(path, who === 'open' ? open : closed)
      expect(await driver.look()).toEqual([])
    },
  )
})
