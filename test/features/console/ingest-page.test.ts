// The ingest page in a real browser: a file is looked at before anything is stored, its faults are shown with their places,
// it is stored once however often it is sent, and what it holds is shown as text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive, faultsOf } from './driver.ts'
import { hostileName, hostileText } from './hostile.ts'

const live = await liveNode()

describe.skipIf(chromium === undefined)('the ingest page in Chromium', () => {
  let browser: Browser
  let page: Page
  let driver: Driver
  let files = 0
  const home = mkdtempSync(join(tmpdir(), 'proofstream-files-'))

  const visit = async (dataset = ''): Promise<void> => {
    await driver.visit(`${live.node.url}/ingest?dataset=${dataset}`)
    await driver.until("document.querySelector('form.check button').disabled === false")
  }
  const choose = async (name: string, content: string): Promise<void> => {
    const path = join(home, `${files++}-${name}`)
    writeFileSync(path, content)
    await page.choose('#file', [path])
  }
  const said = async (pattern: RegExp): Promise<string> => {
    await driver.until(`${String(pattern)}.test(document.querySelector('#result').textContent)`)
    return String(await page.evaluate("document.querySelector('main').innerText"))
  }
  const press = (button: string): Promise<unknown> => page.evaluate(`document.querySelector('${button}').click()`)
  const cells = (): Promise<unknown> =>
    page.evaluate(
      "[...document.querySelectorAll('#details tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))",
    )
  const rows = async (alias: string): Promise<unknown> =>
    (await live.query(`select * exclude ("offset", op, system_time, event_time) from "${alias}" order by all`)).at(
      'output.data',
    )

  beforeAll(async () => {
    await live.ingest('acme/readings', [{ sensor: 's1', celsius: 21.5 }], '?create=true')
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
    await visit()
    await choose('rows.csv', 'a\n1\n')
    await press('form.check button')
    await said(/Sending needs a token/)
    await page.evaluate(`document.querySelector('#token-here').value = ${JSON.stringify(live.adminToken)}`)
    await press('#details form button')
    // A name is proposed after that of the file.
    await driver.until("document.querySelector('#dataset').value === 'me/0-rows'")
    await said(/It fits: 1 record/)
    await driver.until("document.querySelector('.session').classList.contains('held')")
    // What was chosen is chosen still.
    await driver.until("document.querySelector('#file').files.length === 1")
  })
  afterEach(() => {
    const faults = faultsOf(page)
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser.close()
    rmSync(home, { recursive: true, force: true })
  })

  test('looks at a file for a new dataset, stores nothing, then stores it', async () => {
    await visit('acme/fresh')
    await press('[name=create]')
    await choose('rows.csv', 'site,celsius,day\nroof,21.5,2026-03-01\ncellar,8,2026-03-02\n')
    await press('form.check button')
    expect(await said(/✗/)).toContain('create')
    expect(await driver.look()).toEqual([])
    await press('[name=create]')
    await page.evaluate("document.querySelector('#visibility').value = 'private'")
    await press('form.check button')
    expect(await said(/It fits: 2 records/)).toContain('Nothing is stored yet')
    expect(JSON.stringify(await cells())).toContain('["site","String"],["celsius","Float64"],["day","Date"]')
    expect(await live.head('acme/fresh')).toBe(undefined)
    expect(await driver.look()).toEqual([])
    await press('#details button')
    expect(await said(/✓ Stored/)).toContain(String(await live.head('acme/fresh')))
    expect(await rows('acme/fresh')).toEqual([
      ['cellar', 8, '2026-03-02'],
      ['roof', 21.5, '2026-03-01'],
    ])
    expect((await live.call('/acme/fresh')).at('visibility')).toBe('private')
    expect(await page.evaluate("document.querySelector('#details a').getAttribute('href')")).toBe('/acme/fresh')
    expect(await driver.look()).toEqual([])
  })

  test('reads a table as its fields say, those of its format alone', async () => {
    await visit('acme/office')
    const shown = (name: string): Promise<unknown> =>
      page.evaluate(`!document.querySelector('#p-${name}').closest('.parameter').hidden`)
    await choose('rows.json', '[{"a":1}]')
    expect([await shown('delimiter'), await shown('charset'), await shown('timeZone')]).toEqual([false, true, true])
    await choose('rows.csv', 'Tag;Wert\n31.12.2025 14:05;1.234,5\n')
    expect([await shown('delimiter'), await shown('layer')]).toEqual([true, false])
    const fields = {
      delimiter: ';',
      decimal: ',',
      group: '.',
      dateFormat: 'dd.MM.yyyy HH:mm',
      timeZone: 'Europe/Berlin',
    }
    for (const [name, value] of Object.entries(fields)) {
      await page.evaluate(`document.querySelector('#p-${name}').value = ${JSON.stringify(value)}`)
    }
    await press('form.check button')
    await said(/It fits: 1 record/)
    expect(await driver.look()).toEqual([])
    await press('#details button')
    await said(/✓ Stored/)
    expect(await rows('acme/office')).toEqual([['2025-12-31T13:05:00Z', 1234.5]])
  })

  test('sends a large file once, after a look at its first records', async () => {
    await visit('acme/large')
    // Bodies that the page sends, by their size.
    await page.evaluate(`(() => {
      window.sent = []
      const send = XMLHttpRequest.prototype.send
      XMLHttpRequest.prototype.send = function (body) {
        sent.push(body.size)
        return send.call(this, body)
      }
    })()`)
    const lines = Array.from({ length: 100_000 }, (_, n) => `${n},"${'x'.repeat(80)}\n${n}"\n`).join('')
    const content = `n,text\n${lines}`
    await choose('rows.csv', content)
    await press('form.check button')
    expect(await said(/It begins well: [\d,]+ records/)).toContain('sent once')
    expect(JSON.stringify(await cells())).toContain('["n","Int64"],["text","String"]')
    await press('#details button')
    await said(/✓ Stored/)
    const [look = 0, ...whole] = (await page.evaluate('sent')) as number[]
    expect(look).toBeLessThan(1024 * 1024)
    expect(whole).toEqual([content.length])
    expect((await live.call('/acme/large')).at('rows')).toBe(100_000)
    await visit('acme/large')
    await choose('rows.json', `[${' '.repeat(9_000_000)}{"n":1,"text":"a"}]`)
    await press('form.check button')
    await said(/Too large for a preview/)
    expect(await driver.look()).toEqual([])
    await press('#details button')
    await said(/✓ Stored/)
  })

  test('shows the faults of a file with their places, hostile cells as text, and stores nothing', async () => {
    const before = await live.head('acme/readings')
    await visit('acme/readings')
    await choose('rows.csv', 'sensor,celsius\ns1,1\ns2,<img src=x onerror=alert(1)>\ns3,x\n')
    await press('form.check button')
    const shown = await said(/✗/)
    expect(shown).toContain('2 faults; records count from 0.')
    expect(shown).toContain('Nothing is stored')
    const [first = []] = (await cells()) as string[][]
    expect(first.slice(0, 3)).toEqual(['1', '3', 'celsius'])
    expect(first.join()).toContain('<img src=x onerror=alert(1)>')
    expect(await driver.look()).toEqual([])
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0)
    await page.evaluate("document.querySelector('#dataset').dispatchEvent(new Event('input', { bubbles: true }))")
    expect(await page.evaluate("document.querySelector('#result').textContent")).toBe('')
    expect(await live.head('acme/readings')).toBe(before)
  })

  test('shows hostile columns as text, and asks for the format where a name does not tell it', async () => {
    await visit('evil/file')
    await choose('rows.bin', JSON.stringify([{ [hostileName]: hostileText }]))
    await press('form.check button')
    await said(/Choose one/)
    await page.evaluate("document.querySelector('#format').value = 'application/json'")
    await press('form.check button')
    expect(await said(/It fits: 1 record/)).toContain(hostileName)
    await press('#details button')
    await said(/✓ Stored/)
  })

  test('stores a batch once, though it is sent again after an answer that never came', async () => {
    await visit('acme/once')
    await choose('rows.ndjson', '{"a":"x"}\n')
    await press('form.check button')
    await said(/It fits/)
    const offline = (is: boolean): Promise<unknown> =>
      page.send('Network.emulateNetworkConditions', {
        offline: is,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      })
    // Its answer is lost: the page is told of a failure once the node has the batch.
    await page.evaluate(`(() => {
      const send = XMLHttpRequest.prototype.send
      XMLHttpRequest.prototype.send = function (body) {
        XMLHttpRequest.prototype.send = send
        Object.defineProperty(this, 'status', { value: 0 })
        return send.call(this, body)
      }
    })()`)
    await press('#details button')
    await said(/has not said/)
    await offline(true)
    await press('#details button')
    await said(/has not said/)
    await offline(false)
    await press('#details button')
    await said(/✓ Stored/)
    expect(await rows('acme/once')).toEqual([['x']])
    page.faults()
  })
})
