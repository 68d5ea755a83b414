// Saved queries in a real browser: saved from the SQL page with a token that is given there, opened at their address, asked
// with other values, deleted; what an address brings is text.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive } from './driver.ts'

const live = await liveNode()
const rows = [
  { device: 's1', celsius: 20.5 },
  { device: 's2', celsius: 21.5 },
]
await live.ingest('acme/readings', rows, '?create=true')
await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
await live.ingest('acme/secret', rows)
const hostile = '"><img src=x onerror=alert(1)>'

describe.skipIf(chromium === undefined)('saved queries in Chromium', () => {
  let browser: Browser
  let page: Page
  let driver: Driver

  const cells = (): Promise<unknown> =>
    page.evaluate(
      "[...document.querySelectorAll('#answer tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))",
    )
  const fill = async (selector: string, text: string): Promise<void> => {
    await page.evaluate(
      `document.querySelector('${selector}').value = ''; document.querySelector('${selector}').focus()`,
    )
    await driver.type(text)
  }
  const click = (selector: string): Promise<unknown> => page.evaluate(`document.querySelector('${selector}').click()`)

  beforeAll(async () => {
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    const faults = page.faults().filter((fault) => !/NavigationEntryMarkedSkippable|Failed to load/.test(fault))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(() => browser.close())

  test('are saved, opened, asked with other values, replaced after a second click, and deleted', async () => {
    await driver.visit(`${live.node.url}/query`)
    await fill('#statement', 'select device, celsius from acme.readings where device = $device')
    await click('#save summary')
    await fill('#save-name', 'by-device')
    await fill('#save-about', 'What a device says')
    await click('#save button')
    await driver.until("document.querySelector('#save #token-here') !== null")
    await fill('#token-here', live.adminToken)
    await click('#save form.token button')
    await driver.until("document.querySelector('#save [role=status]').innerText === 'Saved: /q/by-device'")

    await fill('#save-about', 'What a device says now')
    await click('#save button')
    await driver.until("document.querySelector('#save button').innerText === 'Replace the query by-device?'")
    await click('#save button')
    await driver.until("document.querySelector('#save [role=status]').innerText === 'Saved: /q/by-device'")

    await driver.visit(`${live.node.url}/q/by-device`)
    await driver.until("document.querySelector('#answer').innerText.includes('Give it its values')")
    await fill('#value-device', 's2')
    await click('main form button')
    await driver.until("location.search.includes('device=s2') && document.querySelector('#answer tbody') !== null")
    expect(await cells()).toEqual([['s2', '21.5']])
    // Proof and files are at hand without a scroll over the rows.
    const above = `[...document.querySelectorAll('#answer [data-save]')].filter((link) =>
      link.compareDocumentPosition(document.querySelector('#answer table')) & Node.DOCUMENT_POSITION_FOLLOWING)
      .map((link) => link.innerText)`
    expect(await page.evaluate(above)).toEqual(expect.arrayContaining(['Save these rows with their proof', 'CSV']))
    expect(await driver.text()).toContain('What a device says now')

    await driver.visit(`${live.node.url}/q`)
    await driver.until("document.querySelector('main table') !== null")
    expect(await driver.text()).toContain('What a device says now')
    await driver.visit(`${live.node.url}/q/by-device?device=s1`)
    await driver.until("document.querySelector('[data-delete]')?.hidden === false")
    await click('[data-delete]')
    await click('[data-delete]')
    await driver.until("location.pathname === '/q' && document.querySelector('main .note') !== null")
  })

  test('show values of an address as text, and a wrong one beside the form, the token kept', async () => {
    const json = {
      query: 'select $a as said, celsius from acme.secret where celsius > $least',
      parameters: { a: 'x', least: 0 },
    }
    await live.call('/q/said', { method: 'PUT', json })
    await driver.visit(`${live.node.url}/q/said?a=${encodeURIComponent(hostile)}`)
    await driver.giveToken(live.adminToken)
    await driver.until("document.querySelector('#answer tbody') !== null")
    expect(await cells()).toEqual([
      [hostile, '20.5'],
      [hostile, '21.5'],
    ])
    await driver.visit(`${live.node.url}/q/said?least=warm`)
    await driver.until("document.querySelector('#answer .bad') !== null")
    expect(await driver.text()).toContain('which is no number')
    await driver.visit(`${live.node.url}/q/said`)
    await driver.until("document.querySelector('#answer tbody') !== null")
  })
})
