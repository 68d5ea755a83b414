// What is changed of a dataset on its own page, in a real browser: described, hidden, made public, deleted after its name was
// typed, restored; by who has the right, and nothing of it for anyone else.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive } from './driver.ts'
import { hostileText } from './hostile.ts'

const live = await liveNode()

describe.skipIf(chromium === undefined)('changes on the page of a dataset', () => {
  let browser: Browser
  let page: Page
  let driver: Driver

  const visit = async (path: string, token: string | undefined = live.adminToken): Promise<void> => {
    await driver.visit(live.node.url)
    await page.evaluate(
      token === undefined
        ? 'sessionStorage.clear()'
        : `sessionStorage.setItem('proofstream-token', ${JSON.stringify(token)})`,
    )
    await driver.visit(live.node.url + path)
  }
  const shown = (): Promise<void> => driver.until("document.querySelector('#changes')?.hidden === false")
  const submit = async (form: string, values: Readonly<Record<string, string>>): Promise<unknown> => {
    await driver.until(`document.querySelector('${form}') !== null`)
    return await page.evaluate(`(() => {
      const form = document.querySelector('${form}')
      for (const [name, value] of Object.entries(${JSON.stringify(values)})) form.elements[name].value = value
      form.requestSubmit()
    })()`)
  }
  const refusal = "document.querySelector('#refused').textContent"
  const tokenWith = async (...scopes: readonly string[]): Promise<string> =>
    String((await live.call('/tokens', { method: 'POST', json: { name: 'x', scopes } })).at('token'))

  beforeAll(async () => {
    await live.ingest('acme/readings', [{ celsius: 21.5 }], '?create=true')
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    // A browser says in its console that a request was refused; Chromium notes that nobody touched a page.
    const faults = page
      .faults()
      .filter((fault) => !/^Log.entryAdded.*Failed to load/.test(fault) && !fault.includes('MarkedSkippable'))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(() => browser.close())

  test('offers each caller what he may do', async () => {
    for (const token of [undefined, await tokenWith('read', 'ingest')]) {
      const { text } = await live.call('/acme/readings', {
        token: token ?? null,
        headers: { accept: 'text/html' },
      })
      expect(text).not.toContain('id="changes"')
    }
    await visit('/acme/readings', await tokenWith('read', 'create'))
    await shown()
    expect(await page.evaluate("[...document.querySelectorAll('#changes form')].map(({ id }) => id)")).toEqual([
      'describe',
      'licence',
      'publish',
    ])
  })

  test('describes it, as text whatever it says', async () => {
    await visit('/acme/readings')
    await shown()
    expect(await driver.look()).toEqual([])
    const description = `${hostileText.slice(0, 60)}</textarea><script>alert(1)</script>`
    await submit('#describe', { description, keywords: ' roof, demo ,' })
    await driver.until("document.querySelector('.lead')?.innerText.includes('</textarea>') === true")
    await shown()
    expect(await page.evaluate("document.querySelector('#description').value")).toContain('</textarea><script>')
    expect(await page.evaluate("document.querySelector('#keywords').value")).toBe('roof, demo')
    expect(await page.evaluate("document.querySelectorAll('main script').length")).toBe(0)
  })

  test('licenses it, by a common licence or another', async () => {
    await visit('/acme/readings')
    await shown()
    await page.evaluate(`(() => {
      const common = document.querySelector('#common')
      common.value = 'CC-BY-4.0'
      common.dispatchEvent(new Event('change', { bubbles: true }))
    })()`)
    await submit('#licence', {})
    await driver.until("document.querySelector('dl.facts')?.innerText.includes('Attribution 4.0') === true")
    const held = async (): Promise<unknown> =>
      (await live.call('/acme/readings/metadata?include=license')).at('output.license')
    expect(await held()).toMatchObject({
      shortName: 'CC-BY-4.0',
      name: 'Creative Commons Attribution 4.0 International',
      spdxId: 'CC-BY-4.0',
      websiteUrl: 'https://creativecommons.org/licenses/by/4.0/',
    })
    await shown()
    expect(await page.evaluate("document.querySelector('#common').value")).toBe('CC-BY-4.0')
    const own = { shortName: 'ours', fullName: hostileText.slice(0, 60), spdxId: '', websiteUrl: 'https://a.example/l' }
    await submit('#licence', own)
    await driver.until("document.querySelector('dl.facts')?.innerText.includes('onerror') === true")
    expect(await held()).toMatchObject({ shortName: 'ours', name: own.fullName })
    expect(Object.keys(Object(await held()))).not.toContain('spdxId')
  })

  test('says who publishes it, and leaves its other attachments as they are', async () => {
    const other = { path: 'units.txt', content: 'celsius' }
    const attachments = { kind: 'Embedded', items: [other] }
    await live.call('/acme/readings', { method: 'PATCH', json: { attachments } })
    await visit('/acme/readings')
    await shown()
    const text = 'Sensors on a roof.\n\n<b>Calibrated</b> in March.'
    await submit('#publish', { publisher: 'Office of Roofs', contact: 'data@roofs.example', text })
    await driver.until("document.querySelector('.readme')?.innerText.includes('<b>Calibrated</b>') === true")
    expect(await page.evaluate("document.querySelector('dl.facts').innerText")).toContain('Office of Roofs')
    const held = async (): Promise<unknown> =>
      (await live.call('/acme/readings/metadata?include=attachments')).at('output.attachments.attachments.items')
    const lines = 'Publisher: Office of Roofs\nContact: data@roofs.example'
    expect(await held()).toEqual([other, { path: 'README.md', content: `${lines}\n\n${text}` }])
    await shown()
    expect(await page.evaluate("document.querySelector('#contact').value")).toBe('data@roofs.example')
    await submit('#publish', { publisher: '', contact: '', text: '' })
    await driver.until(
      "document.querySelector('.readme') === null && document.querySelector('#changes')?.hidden === false",
    )
    expect(await held()).toEqual([other])
  })

  test('hides it and makes it public', async () => {
    for (const [is, was] of [
      ['private', 'public'],
      ['public', 'private'],
    ]) {
      await visit('/acme/readings')
      await shown()
      await page.evaluate(`document.querySelector('[data-visibility=${is}]').click()`)
      await driver.until(`document.querySelector('[data-visibility=${was}]') !== null`)
      expect((await live.call('/acme/readings')).at('visibility')).toBe(is)
    }
  })

  test('renames it; the old name leads to it', async () => {
    await live.ingest('acme/drafts', [{ a: 1 }], '?create=true')
    await visit('/acme/drafts')
    await shown()
    await submit('#rename', { alias: 'acme/readings' })
    await driver.until(`/already/.test(${refusal})`)
    await submit('#rename', { alias: 'acme/finals' })
    await driver.until("document.querySelector('h1')?.innerText.startsWith('finals')")
    expect(await page.evaluate('location.pathname')).toBe('/acme/finals')
    await visit('/acme/drafts')
    await driver.until("document.querySelector('h1')?.innerText.startsWith('finals')")
  })

  test('deletes it when its name was typed and nothing came meanwhile, and restores it', async () => {
    await visit('/acme/readings')
    await shown()
    await submit('#delete', { typed: 'acme/reading' })
    expect(await page.evaluate(refusal)).toBe('The name does not match. Nothing was deleted.')
    // Rows that the page has not shown yet.
    await page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    )
    await live.ingest('acme/readings', [{ celsius: 22 }])
    await submit('#delete', { typed: 'acme/readings' })
    await driver.until(`/head/i.test(${refusal}) && !/another name/.test(${refusal})`)
    expect(await live.head('acme/readings')).not.toBe(undefined)
    const kept = async (): Promise<unknown[]> => {
      const now = await live.call('/acme/readings')
      return ['id', 'rows', 'bytes', 'visibility', 'columns'].map((name) => now.at(name))
    }
    const before = await kept()
    const id = String((await live.call('/acme/readings')).at('id'))
    await visit('/acme/readings')
    await shown()
    await submit('#delete', { typed: 'acme/readings' })
    await driver.until("document.querySelector('h1').innerText === 'Deleted'")
    expect(await driver.look()).toEqual([])
    expect(await live.head('acme/readings')).toBe(undefined)
    // Later, too, at the address of its identity.
    expect(await page.evaluate("document.querySelector('main a').getAttribute('href')")).toBe(`/datasets/${id}`)
    await visit(`/datasets/${id}`)
    await driver.until("document.querySelector('main > button') !== null")
    expect(await driver.text()).toContain('410')
    expect(await driver.look()).toEqual([])
    await page.evaluate("document.querySelector('main > button').click()")
    await driver.until("document.querySelector('h1')?.innerText.startsWith('readings')")
    expect(await kept()).toEqual(before)
    await visit(`/datasets/${id}`)
    await driver.until("document.querySelector('h1')?.innerText.startsWith('readings')")
    expect((await live.call(`/datasets/${id}`)).at('alias')).toBe('acme/readings')
  })
})
