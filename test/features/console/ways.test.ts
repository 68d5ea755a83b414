// The ways through the console in a browser: datasets are found and ordered, and the page of the interface leads back.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive, faultsOf } from './driver.ts'
import { hostileName } from './hostile.ts'

const live = await liveNode()
const info = { kind: 'SetInfo', description: 'Temperatures of three sensors on a roof.', keywords: ['demo'] }
await live.call('/acme/readings', { method: 'PUT', json: { info } })
await live.ingest('acme/readings', [{ a: 1 }, { a: 2 }])
await live.call('/acme/empty', { method: 'PUT', json: {} })

describe.skipIf(chromium === undefined)('the ways through the console', () => {
  let browser: Browser
  let page: Page
  let driver: Driver
  const visit = (path: string): Promise<string> => driver.visit(live.node.url + path)

  beforeAll(async () => {
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(async () => {
    await page.send('Emulation.setScriptExecutionDisabled', { value: false })
    await page.send('Emulation.clearDeviceMetricsOverride')
  })
  afterAll(() => browser.close())

  test('finds datasets and orders them without a script', async () => {
    await page.send('Emulation.setScriptExecutionDisabled', { value: true })
    await visit('/')
    await page.evaluate("document.querySelector('#find').focus()")
    await driver.type('ROOF sensors')
    await driver.press('Enter')
    await driver.until("location.search === '?q=ROOF+sensors&sort=name'")
    const found = "[...document.querySelectorAll('.datasets th a')].map((link) => link.getAttribute('href')).join()"
    await driver.until(`${found} === '/acme/readings'`)
    expect(await driver.text()).toContain('1 dataset\n')
    await visit('/datasets?sort=rows')
    expect(String(await page.evaluate(found)).split(',')[0]).toBe('/acme/readings')
    expect(await page.evaluate("document.querySelector('#order').value")).toBe('rows')
    expect(await visit(`/datasets?q=${encodeURIComponent(hostileName)}`)).toContain(`no dataset with ${hostileName}`)
    expect(page.faults()).toEqual([])
  })

  test('has on the page of the interface the width of a telephone, and a way back', async () => {
    await page.send('Emulation.setDeviceMetricsOverride', {
      width: 390,
      height: 800,
      deviceScaleFactor: 1,
      mobile: true,
    })
    await visit('/swagger')
    await driver.until("document.querySelectorAll('.opblock').length > 30")
    for (const operation of ['-getTail', '-getReadiness'])
      await page.evaluate(`document.querySelector('.opblock[id$="${operation}"] .opblock-summary-control')?.click()`)
    await driver.until("document.querySelectorAll('.opblock.is-open .responses-table').length > 1")
    expect(await page.evaluate('[innerWidth, document.documentElement.scrollWidth]')).toEqual([390, 390])
    await page.evaluate("document.querySelector('a.home').click()")
    await driver.until("document.querySelector('h1')?.innerText.startsWith('Datasets')")
    // The library's fields have no names.
    expect(faultsOf(page).filter((fault) => !/FormEmptyIdAndName|FormLabel|MarkedSkippable/.test(fault))).toEqual([])
  })
})
