// Charts and maps of answers and datasets in a real browser: points of coordinates, other charts chosen and kept, values read off
// by keyboard and pointer, the same pictures with and without scripts.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive } from './driver.ts'
import { until } from '../../helpers/until.ts'

const open = await liveNode()
const places = [
  { name: 'Lisbon', latitude: 38.72, longitude: -9.14 },
  { name: 'nowhere', latitude: null, longitude: 13.4 },
  { name: 'Oslo', latitude: 59.91, longitude: 10.75 },
  { name: 'beyond', latitude: 59.91, longitude: 190 },
]
const devices = Array.from({ length: 60 }, (_, i) => ({
  event_time: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 3) * 3_600_000).toISOString(),
  id: i,
  version: 3,
  device: `d${i % 3}`,
  temp_c: (i % 3) * 10 + Math.floor(i / 3) / 2,
}))

describe.skipIf(chromium === undefined)('charts and maps of the console', () => {
  let browser: Browser
  let page: Page
  let driver: Driver

  const run = async (sql: string): Promise<void> => {
    await driver.until("document.querySelector('#state').textContent !== ''")
    await page.evaluate(
      `document.querySelector('#answer').ariaBusy = null; document.querySelector('#statement').value = ${JSON.stringify(sql)}; document.querySelector('#ask').requestSubmit()`,
    )
    await driver.until("document.querySelector('#answer').ariaBusy === 'false'")
  }
  const pictures = (): Promise<unknown> =>
    page.evaluate(
      "[...document.querySelectorAll('main figure')].filter(({ hidden }) => !hidden).map((figure) => figure.querySelector('[role=img]').getAttribute('aria-label'))",
    )
  const choose = (name: string, value: string): Promise<unknown> =>
    page.evaluate(
      `(() => { const select = document.querySelector('.choose [name=${name}]'); select.value = ${JSON.stringify(value)}; select.dispatchEvent(new Event('change', { bubbles: true })) })()`,
    )
  const options = (name: string): Promise<unknown> =>
    page.evaluate(`[...document.querySelector('.choose [name=${name}]').options].map(({ value }) => value)`)

  beforeAll(async () => {
    await open.ingest('acme/places', places, '?create=true')
    await open.ingest('acme/devices', devices, '?create=true')
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    const faults = page.faults().filter((fault) => !fault.includes('NavigationEntryMarkedSkippable'))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(() => browser.close())

  test('draws a pair of coordinates as points, counts the rows without a place, and has no chart of them', async () => {
    const words = '2 features, 9.14° W to 10.75° E, 38.72° N to 59.91° N'
    await driver.visit(`${open.node.url}/query`)
    await run('select name, latitude, longitude from "acme/places" order by name')
    expect(await pictures()).toEqual([words])
    expect(await driver.text()).toContain(`${words}. 2 rows have no place on Earth in these columns.`)
    await driver.until("document.querySelector('.zoom') !== null")
    await page.evaluate(`(() => {
      const dots = document.querySelector('.map .points')
      const [, x, y] = /M([0-9.]+) ([0-9.]+)/.exec(dots.getAttribute('d'))
      const at = new DOMPoint(Number(x), Number(y)).matrixTransform(dots.getScreenCTM())
      dots.ownerSVGElement.dispatchEvent(new PointerEvent('pointermove', { clientX: at.x, clientY: at.y }))
    })()`)
    expect(await page.evaluate("document.querySelector('.zoom output').textContent")).toBe(
      'name Lisbon · latitude 38.72 · longitude -9.14',
    )
    await page.evaluate('document.querySelector(\'.zoom [aria-label="The next feature"]\').click()')
    await page.evaluate('document.querySelector(\'.zoom [aria-label="The next feature"]\').click()')
    expect(await page.evaluate("document.querySelector('.zoom output').textContent")).toContain('name Oslo')
    await driver.pressDot('1')
    expect(await page.evaluate("document.querySelector('tr:target').cells[0].innerText")).toBe('Oslo')
    await driver.visit(`${open.node.url}/acme/places`)
    expect(await pictures()).toEqual([words])
  })

  test('draws of a dataset what varies, a line for each device, without scripts too', async () => {
    await page.send('Emulation.setScriptExecutionDisabled', { value: true })
    // A busy machine leaves out what takes long, and is asked again.
    await until('a picture', async () => {
      await driver.visit(`${open.node.url}/acme/devices`)
      return await page.evaluate("document.querySelector('main figure') !== null")
    })
    const words = 'temp_c from 2026-03-01 00:00 to 2026-03-01 19:00: least 0, greatest 29.5; a line each for d0, d1, d2'
    expect(await pictures()).toEqual([words])
    expect(await driver.text()).toContain('in °C, over event_time')
    await page.send('Emulation.setScriptExecutionDisabled', { value: false })
    expect(await driver.look()).toEqual([])
  })

  test('draws another chart that a reader chooses, which holds when the statement runs again', async () => {
    await driver.visit(`${open.node.url}/query`)
    await run('select device, count(*) as n, max(temp_c) as most from "acme/devices" group by device order by device')
    const automatic = ['n for each device: d0 20, d1 20, d2 20', 'most for each device: d0 9.5, d1 19.5, d2 29.5']
    expect(await pictures()).toEqual(automatic)
    expect(await options('chart')).toEqual(['automatic', 'line', 'bars', 'dots', 'none'])
    await choose('chart', 'bars')
    expect(await options('y')).toEqual(['all', 'n', 'most'])
    await choose('y', 'most')
    expect(await pictures()).toEqual(automatic.slice(1))
    expect(await page.evaluate('location.hash')).toBe('#chart=bars&x=device&y=most')
    await run(
      'select device, max(temp_c) as most, min(temp_c) as least from "acme/devices" group by device order by device',
    )
    expect(await pictures()).toEqual(automatic.slice(1))
    await choose('chart', 'none')
    expect(await pictures()).toEqual([])
    await choose('chart', 'automatic')
    expect(await pictures()).toHaveLength(2)
    expect(await page.evaluate('location.hash')).toBe('')
    expect(await driver.look()).toEqual([])
  })

  test('says of a point where it is and what, by keyboard and by pointer, and moves nothing', async () => {
    await driver.visit(`${open.node.url}/query`)
    await run('select event_time, device, temp_c from "acme/devices" order by event_time, device')
    const height = 'document.documentElement.scrollHeight'
    const before = await page.evaluate(height)
    const note = "document.querySelector('.area.read output')?.textContent ?? ''"
    await page.evaluate("document.querySelector('.area svg').focus()")
    const press = (key: string): Promise<unknown> =>
      page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
      )
    await press('ArrowRight')
    expect(await page.evaluate(note)).toBe('d0 · event_time 2026-03-01 00:00 · temp_c 0.0 °C')
    await press('End')
    expect(await page.evaluate(note)).toBe('d2 · event_time 2026-03-01 19:00 · temp_c 29.5 °C')
    expect(await page.evaluate(height)).toBe(before)
    expect(await driver.look()).toEqual([])
    await page.evaluate('document.activeElement.blur()')
    expect(await page.evaluate(note)).toBe('')
    await page.evaluate(`(() => {
      const svg = document.querySelector('.area svg')
      const { x, y, width, height } = svg.getBoundingClientRect()
      svg.dispatchEvent(new PointerEvent('pointermove', { clientX: x + width - 1, clientY: y + height - 1 }))
    })()`)
    expect(await page.evaluate(note)).toBe('d0 · event_time 2026-03-01 19:00 · temp_c 9.5 °C')
  })
})
