// What moves on pages of datasets, in a real browser: they follow new blocks, their maps are looked at closely, their chains
// are walked block by block.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive } from './driver.ts'

const open = await liveNode()
const readings = Array.from({ length: 300 }, (_, i) => ({ sensor: `s${i % 3}`, celsius: i }))
const cities = [
  ['Lisbon', -9.14, 38.72],
  ['Oslo', 10.75, 59.91],
  ['Athens', 23.73, 37.98],
  ['Berlin', 13.4, 52.52],
].map(([name, x, y]) => ({ name, geometry: { type: 'Point', coordinates: [x, y] } }))

describe.skipIf(chromium === undefined)('pages of datasets that move', () => {
  let browser: Browser
  let page: Page
  let driver: Driver

  const visit = (path: string): Promise<string> => driver.visit(open.node.url + path)
  const press = async (key: string, times = 1): Promise<void> => {
    for (let i = 0; i < times; i++) await driver.press(key)
  }

  beforeAll(async () => {
    await open.ingest('acme/readings', readings, '?create=true')
    await open.ingest('acme/cities', cities, '?create=true')
    await open.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
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

  test('shows of a block its event, its rows and its neighbours, linked from the chain', async () => {
    await visit('/acme/readings')
    await page.evaluate("document.querySelector('.chain a').click()")
    await driver.until("document.querySelector('h1')?.innerText.startsWith('Block ')")
    const head = await open.head('acme/readings')
    expect(await page.evaluate('location.pathname')).toBe(`/acme/readings/blocks/${head}`)
    const shown = await driver.text()
    for (const part of ['+300 rows', '0 to 299', '"newData"', open.node.did.slice(0, 16)]) expect(shown).toContain(part)
    expect(
      await page.evaluate("[...document.querySelectorAll('.rows tbody tr')].map((row) => row.cells[0].innerText)"),
    ).toEqual(Array.from({ length: 20 }, (_, i) => String(299 - i)))
    await driver.until("[...document.querySelectorAll('.links a')].length === 1")
    for (let sequence = Number(await page.evaluate("document.querySelector('h1').innerText.slice(6)")); sequence > 0;) {
      await page.evaluate("document.querySelector('.links a').click()")
      await driver.until(`document.querySelector('h1')?.innerText === 'Block ${--sequence}'`)
    }
    expect(await driver.text()).toContain('dataset made')
    // Programs get the bytes and the JSON as before; who has no right hears nothing.
    const path = `/acme/readings/blocks/${head}`
    expect((await open.call(path, { token: null })).headers['content-type']).toBe('application/octet-stream')
    expect((await open.call(path, { headers: { accept: 'application/json' } })).at('hash')).toBe(head)
    const html = { accept: 'text/html' }
    expect((await open.call(`/acme/readings/blocks/f1620${'0'.repeat(64)}`, { headers: html })).status).toBe(404)
    expect((await open.call(`/acme/secret/blocks/${head}`, { headers: html, token: null })).status).toBe(404)
  })

  test('follows its datasets: rows, charts and chain of a page that is seen', async () => {
    await open.ingest('acme/followed', [{ event_time: '2026-03-01T00:00:00Z', n: 1 }], '?create=true')
    await visit('/acme/followed')
    await driver.until("document.querySelector('.live')?.hidden === false")
    expect(await page.evaluate("document.querySelector('[data-part=chart]').innerText")).toContain('No chart')
    await open.ingest('acme/followed', [{ event_time: '2026-03-01T01:00:00Z', n: 2 }])
    await driver.until("document.querySelectorAll('[data-part=rows] tbody tr').length === 2")
    await driver.until("document.querySelector('[data-part=chart] svg') !== null")
    expect(await page.evaluate("document.querySelector('.figures dd').innerText")).toBe('2')
    expect(
      await page.evaluate(
        "document.querySelectorAll('.chain .copy').length === document.querySelectorAll('.chain .hash').length",
      ),
    ).toBe(true)
    // A tab that nobody sees asks nothing; seen again it shows what came meanwhile.
    const see = async (isSeen: boolean): Promise<unknown> =>
      await page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${!isSeen}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await see(false)
    const asked = "performance.getEntriesByType('resource').length"
    const before = await page.evaluate(asked)
    await open.ingest('acme/followed', [{ event_time: '2026-03-01T01:30:00Z', n: 2 }])
    expect(await page.evaluate(asked)).toBe(before)
    await see(true)
    await driver.until("document.querySelectorAll('[data-part=rows] tbody tr').length === 3")
    // What has the focus stays.
    await page.evaluate("document.querySelector('.chain a').focus()")
    await open.ingest('acme/followed', [{ event_time: '2026-03-01T02:00:00Z', n: 3 }])
    await driver.until("document.querySelectorAll('[data-part=rows] tbody tr').length === 4")
    expect(await page.evaluate("document.activeElement.closest('.chain') !== null")).toBe(true)
    await visit('/')
    await driver.until("document.querySelector('.live')?.hidden === false")
    await open.ingest('acme/followed', [{ event_time: '2026-03-01T03:00:00Z', n: 4 }])
    await driver.until(
      "[...document.querySelectorAll('.datasets tbody tr')].some(({ cells: [name, rows] }) => name.innerText.includes('followed') && rows.innerText === '5')",
    )
    await open.call('/acme/followed', { method: 'DELETE', headers: { 'if-match': '*' } })
  })

  test('looks closer at a map, moves it, and goes from a feature to its row', async () => {
    await visit('/acme/cities')
    await driver.until("document.querySelector('.map .zoom') !== null")
    const box = async (): Promise<number[]> =>
      String(await page.evaluate("document.querySelector('.map svg').getAttribute('viewBox')"))
        .split(' ')
        .map(Number)
    const whole = await box()
    await page.evaluate("document.querySelector('.zoom button').click()")
    const closer = await box()
    expect(closer[2]).toBeCloseTo((whole[2] ?? 0) / 1.6)
    await page.evaluate("document.querySelector('.zoom button').focus()")
    await press('ArrowLeft')
    expect((await box())[0]).toBeLessThan(closer[0] ?? 0)
    await press('ArrowLeft', 20)
    expect((await box())[0]).toBe(0)
    // Newer features do not take away what somebody looks at; the rest of the page goes on.
    await open.ingest('acme/cities', [cities[0] ?? {}])
    await driver.until("document.querySelector('.figures dd').innerText === '5'")
    expect((await box())[2]).toBe(closer[2])
    await page.evaluate("document.querySelectorAll('.zoom button')[2].click()")
    expect(await box()).toEqual(whole)
    expect(await driver.look()).toEqual([])
    await driver.pressDot('3')
    await driver.until("document.querySelector('h1')?.innerText.startsWith('Feature 3 of')")
    expect(await driver.text()).toContain('Berlin')
  })
})
