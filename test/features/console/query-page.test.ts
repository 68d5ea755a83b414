// The SQL page in a real browser: runs what a person asks for and nothing that a link brings, with and without scripts and
// tokens; shows hostile answers as text; says where a statement is wrong; saves.

import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { type Driver, drive } from './driver.ts'
import { hostileName, hostileRows } from './hostile.ts'
import { until } from '../../helpers/until.ts'

const open = await liveNode()
const closed = await liveNode({ 'anonymous-read': false })
const statement = 'select sensor, count(*) as n, max(big) as big from "acme/readings" group by sensor order by sensor'
const address = (sql: string, more = ''): string => `${open.node.url}/query?query=${encodeURIComponent(sql)}${more}`

describe.skipIf(chromium === undefined)('the SQL page in Chromium', () => {
  let browser: Browser
  let page: Page
  let driver: Driver
  let downloads: string

  const withoutScripts = async (act: () => Promise<void>): Promise<void> => {
    await page.send('Emulation.setScriptExecutionDisabled', { value: true })
    try {
      await act()
    } finally {
      await page.send('Emulation.setScriptExecutionDisabled', { value: false })
    }
  }
  const write = async (sql: string): Promise<void> => {
    await page.evaluate("document.querySelector('#statement').value = ''; document.querySelector('#statement').focus()")
    await driver.type(sql)
  }
  const run = async (sql: string): Promise<void> => {
    await write(sql)
    await driver.press('Enter', 'ctrl')
    await driver.until("document.querySelector('#answer').ariaBusy === 'false'")
  }
  const cells = (): Promise<unknown> =>
    page.evaluate(
      "[...document.querySelectorAll('#answer tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))",
    )
  const downloaded = (name: string): Promise<string> =>
    until(`the download ${name}`, async () => (await readFile(join(downloads, name), 'utf8').catch(() => '')) || null)
  /** A browser says that an answer was an error, and that a page was left without a gesture. */
  const ofNetwork = (fault: string): boolean =>
    (fault.startsWith('Log.entryAdded') && fault.includes('Failed to load')) ||
    fault.includes('NavigationEntryMarkedSkippable')
  const expected = [
    ['s0', '2', '9007199254740993'],
    ['s1', '1', 'null'],
  ]

  beforeAll(async () => {
    for (const node of [open, closed]) {
      await node.ingest('acme/readings', [{ sensor: 's0', big: 1 }, { sensor: 's1' }], '?create=true&integers=int64')
      const stored = await node.call('/acme/readings/ingest', {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
        body: '{"sensor":"s0","big":9007199254740993}\n',
      })
      if (stored.status !== 200) throw new Error(stored.text)
    }
    await open.ingest('evil/data', hostileRows, '?create=true')
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
    downloads = await mkdtemp(join(tmpdir(), 'proofstream-downloads-'))
    await page.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads })
  })
  afterEach(() => {
    const faults = page.faults()
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser.close()
    await rm(downloads, { recursive: true, force: true })
  })

  test('runs a statement by keyboard and shows rows with types, exact to the digit, and how sure they are', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    await run(statement)
    expect(await cells()).toEqual(expected)
    const shown = await driver.text()
    for (const part of ['Answer 2 rows,', ' ms', 'Int64', 'String', 'exact', 'acme/readings, at block'])
      expect(shown).toContain(part)
    expect(shown).not.toContain('cut')
    expect(await page.evaluate('new URLSearchParams(location.search).get("query")')).toBe(statement)
    await page.evaluate("document.querySelector('#limit').value = '1'")
    await run(statement)
    expect(await driver.text()).toContain('Answer 1 row, cut: there are more')
  })

  test('shows what there is to ask, runs an example at a click, and keeps what was asked in this browser', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    await page.evaluate('localStorage.clear()')
    expect(await driver.text()).toContain('acme/readings 3 rows')
    await page.evaluate("document.querySelectorAll('.tree details').forEach((one) => { one.open = true })")
    expect(await driver.text()).toContain('sensor String')
    const links =
      "[...document.querySelectorAll('.tree details')].find((one) => one.innerText.includes('acme/readings'))"
    const count = Number(await page.evaluate(`${links}.querySelectorAll('a[data-fill]').length`))
    expect(count).toBe(3)
    for (let at = 0; at < count; at++) {
      await page.evaluate("document.querySelector('#answer').replaceChildren()")
      await page.evaluate(`${links}.querySelectorAll('a[data-fill]')[${at}].click()`)
      await driver.until("document.querySelector('#answer table, #answer .bad') !== null")
      expect(await page.evaluate("document.querySelector('#answer .bad')?.innerText ?? ''")).toBe('')
    }
    await driver.until("document.querySelectorAll('#history li').length === 3")
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelectorAll('#history li').length === 3")
    expect(await driver.look()).toEqual([])
    await page.evaluate('localStorage.clear()')
  })

  test('sorts the rows that are shown by a head, nulls last, and leaves out those without a text', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    await run("select * from (values ('b', 10), ('a', 9), ('c', null)) v(name, n)")
    const names = (): Promise<unknown> =>
      page.evaluate(
        "[...document.querySelectorAll('#answer tbody tr:not([hidden])')].map((row) => row.cells[0].innerText).join('')",
      )
    const sort = (at: number): Promise<unknown> =>
      page.evaluate(`document.querySelectorAll('#answer thead button')[${at}].click()`)
    expect(await names()).toBe('bac')
    await sort(0)
    expect(await names()).toBe('abc')
    await sort(1)
    expect(await names()).toBe('abc')
    await sort(1)
    expect(await names()).toBe('bac')
    await page.evaluate(
      "(() => { const field = document.querySelector('[data-filter]'); field.value = '10'; field.dispatchEvent(new Event('input', { bubbles: true })) })()",
    )
    expect(await names()).toBe('b')
    expect(await driver.look()).toEqual([])
  })

  test('completes names of datasets and their columns, by keyboard and by pointer, and can be undone', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#suggestions') !== null")
    const value = (): Promise<unknown> => page.evaluate("document.querySelector('#statement').value")
    const options =
      "[...document.querySelectorAll('#suggestions li')].map((item) => item.firstChild.data.trim()).join()"
    await write('select * from rea')
    await driver.until(`${options} === 'acme/readings'`)
    expect(await driver.look()).toEqual([])
    await driver.press('ArrowDown')
    expect(
      await page.evaluate(
        "document.getElementById(document.querySelector('#statement').getAttribute('aria-activedescendant')).ariaSelected",
      ),
    ).toBe('true')
    await driver.press('Enter')
    expect(await value()).toBe('select * from "acme/readings"')
    await page.evaluate("document.execCommand('undo')")
    expect(await value()).toBe('select * from rea')
    await write('from "acme/readings" select s')
    await driver.until(`${options} === 'system_time,sensor'`)
    await page.evaluate(
      "document.querySelectorAll('#suggestions li')[1].dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))",
    )
    expect(await value()).toBe('from "acme/readings" select sensor')
    await write('from "evil/data" select "<b')
    await driver.until(`${options}.startsWith('<b onclick')`)
    await driver.press('Escape')
    expect(await page.evaluate("document.querySelector('#suggestions').hidden")).toBe(true)
    expect(await page.evaluate('document.activeElement.id')).toBe('statement')
  })

  test('only fills its editor from a link, whatever the link says, until a person runs it', async () => {
    for (const more of ['', '&run=1', '&limit=5&run=1']) {
      expect(await driver.visit(address(statement, more))).toContain('Not run yet')
      await driver.until("document.querySelector('#state').textContent !== ''")
      expect(await page.evaluate("document.querySelector('#statement').value")).toBe(statement)
      expect(await page.evaluate("document.querySelector('#answer table')")).toBe(null)
    }
    await page.evaluate("document.querySelector('#ask button').click()")
    await driver.until("document.querySelector('#answer table') !== null")
  })

  test('works without scripts: the form of the page runs, a link in any other page does not', async () => {
    await withoutScripts(async () => {
      await driver.visit(address(statement))
      await page.evaluate("document.querySelector('#ask button').click()")
      await driver.until("document.querySelector('#answer table') !== null")
      expect(await cells()).toEqual(expected)
      await page.evaluate("document.querySelector('#statement').value = 'select 1 +\\nsenso from \"acme/readings\"'")
      await page.evaluate("document.querySelector('#ask button').click()")
      await driver.until("document.querySelector('#answer mark') !== null")
      expect(await page.evaluate("document.querySelector('#answer mark').textContent")).toBe('senso')
    })
    expect(page.faults().filter((fault) => !ofNetwork(fault))).toEqual([])
    // A link that data brought into a page of the node itself, and one of another origin.
    const link = `(() => { const link = document.createElement('a'); link.href = ${JSON.stringify(address(statement, '&run=1'))}; document.body.append(link); setTimeout(() => link.click()) })()`
    const elsewhere = `${closed.node.url}/errors`
    for (const from of [`${open.node.url}/errors`, elsewhere]) {
      await driver.visit(from)
      await page.evaluate(link)
      await driver.until("document.querySelector('#answer') !== null")
      expect(await driver.text()).toContain('Not run yet')
    }
    // That the other node was asked first is no request of the page.
    page.faults()
  })

  test('shows numbers over time or another number as charts, and geometries as a map whose features lead to rows', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    const labels = (): Promise<unknown> =>
      page.evaluate("[...document.querySelectorAll('#answer svg')].map((svg) => svg.getAttribute('aria-label'))")
    await page.evaluate("document.querySelector('#limit').value = '1000'")
    await run(
      "select 'x' as s, timestamp '2026-03-01 00:00:00' + interval (i) hour as t, i as n, (i / 4)::decimal(9, 2) as q from range(0, 1000) r(i)",
    )
    expect(await labels()).toEqual([
      'n from 2026-03-01 00:00 to 2026-04-11 15:00: least 0, greatest 999',
      'q from 2026-03-01 00:00 to 2026-04-11 15:00: least 0, greatest 249.75',
    ])
    await run('select i as k, i * i as square from range(3) r(i) order by k desc')
    expect(await labels()).toEqual(['square from 0 to 2: least 0, greatest 4'])
    expect(await page.evaluate("document.querySelector('#answer .line').getAttribute('d')")).toBe(
      'M0.0 106.0L300.0 80.5L600.0 4.0',
    )
    for (const plain of ["select 'a' as a, 1 as b", 'select 1 as a, 2 as b', "select 1 as a, 'no place' as geometry"]) {
      await run(plain)
      expect([plain, await labels()]).toEqual([plain, []])
    }
    const point = (x: number): string => `'{"type":"Point","coordinates":[${x},50]}'`
    await run(
      `select * from (values ('a', ${point(1)}), ('b', null), ('c', ${point(7)})) v(name, geometry) order by name`,
    )
    expect(await labels()).toEqual(['2 features, 1.00° E to 7.00° E, 50.00° N to 50.00° N'])
    await driver.until("document.querySelector('#answer .zoom') !== null")
    expect(await driver.look()).toEqual([])
    await driver.pressDot('2')
    expect(await page.evaluate("document.querySelector('tr:target').cells[0].innerText")).toBe('c')
  })

  test('says where a statement is wrong and what it may have meant, and goes there', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    await run('select\n  "🙂" as x, sensr\nfrom "acme/readings"')
    const shown = await driver.text()
    expect(shown).toMatch(/Line 2, column \d+/)
    await run('select sensr from "acme/readings"')
    expect(await driver.text()).toContain('Line 1, column 8')
    expect(await driver.text()).toContain('Similar names: sensor')
    const editor = "document.querySelector('#statement')"
    expect(await page.evaluate(`${editor}.value.slice(${editor}.selectionStart, ${editor}.selectionEnd)`)).toBe('sensr')
    expect(await page.evaluate('document.activeElement.id')).toBe('statement')
    await run('drop table x')
    expect(await driver.text()).toContain('QueryNotAllowed')
    await run('select * from "acme/nothing"')
    expect(await driver.text()).toContain('404 DatasetNotFound')
    expect(page.faults().filter((fault) => !ofNetwork(fault))).toEqual([])
  })

  test('shows hostile statements, names, cells and errors as text, and of an answer that is too large its size', async () => {
    const evil = `select '</textarea><script>alert(1)</script>' as "${hostileName.replaceAll('"', '""')}", '<img src=x onerror=alert(2)>'`
    expect(await driver.visit(address(evil))).toContain('Not run yet')
    expect(await page.evaluate("document.querySelector('#statement').value")).toBe(evil)
    await run(evil)
    expect(await cells()).toEqual([['</textarea><script>alert(1)</script>', '<img src=x onerror=alert(2)>']])
    await run('select "<script>alert(3)</script>" from "acme/readings"')
    expect(await driver.text()).toContain('<script>alert(3)</script>')
    await run('select * from "evil/data"')
    expect(await driver.text()).toContain('too much for a page')
    await run(
      `select left("${hostileName.replaceAll('"', '""')}", 300) as a, nested from "evil/data" order by "offset"`,
    )
    expect(JSON.stringify(await cells())).toContain('</table></main><h1>owned</h1>')
    expect(await page.evaluate("document.querySelectorAll('main img, main script, main h1').length")).toBe(1)
    expect(page.faults().filter((fault) => !ofNetwork(fault))).toEqual([])
  })

  test('saves the rows of the very blocks as every format, and a proof that is good', async () => {
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    await run(statement)
    const links = (await page.evaluate(
      "[...document.querySelectorAll('a[data-save]')].map((link) => link.getAttribute('href'))",
    )) as string[]
    expect(links.length).toBe(runsWith('excel') ? 10 : 9)
    for (const path of links) {
      const saved = await open.call(path, { token: null })
      expect([path, saved.status]).toEqual([path, 200])
      expect(path).toContain('&pin=acme%2Freadings@f1620')
    }
    const csv = await open.call(links.find((path) => path.includes('format=Csv')) ?? '', { token: null })
    expect(csv.text).toContain('s0,2,9007199254740993')
    await page.evaluate('document.querySelector(\'a[download="proof.json"]\').click()')
    expect(verifyOffline(await downloaded('proof.json'), {}).ok).toBe(true)
    await run('select random()')
    expect(await driver.text()).toContain('No proof: it does not answer the same again, or not on every machine.')
    // A download that the browser takes from a page is a navigation that it gives up.
    page.faults()
  })

  test('needs the token of the tab where reads need one, runs nothing with it unasked, and saves with it', async () => {
    const target = `${closed.node.url}/query?query=${encodeURIComponent(statement)}&run=1`
    expect(await driver.visit(target)).toContain('You need a token to read here')
    await driver.giveToken(closed.adminToken)
    await driver.until("document.querySelector('#state')?.textContent !== undefined")
    expect(await driver.text()).toContain('Not run yet')
    await driver.until("document.querySelector('#state').textContent !== ''")
    await driver.press('Enter')
    await page.evaluate("document.querySelector('#ask').requestSubmit()")
    await driver.until("document.querySelector('#answer table') !== null")
    expect(await cells()).toEqual(expected)
    await page.evaluate('document.querySelector(\'a[download="answer.csv"]\').click()')
    expect(await downloaded('answer.csv')).toContain('s0,2,9007199254740993')
    await page.evaluate('sessionStorage.clear()')
    page.faults()
  })

  test('runs at once what a page of the node links to, with the token of the tab', async () => {
    await driver.visit(`${closed.node.url}/acme/readings?column=sensor&is=eq&value=s0`)
    await driver.giveToken(closed.adminToken)
    await driver.until('document.querySelector(\'.files a[href^="/query?query=select"]\') !== null')
    await page.evaluate('document.querySelector(\'.files a[href^="/query?query=select"]\').click()')
    await driver.until("document.querySelector('#answer table') !== null")
    expect(await page.evaluate("document.querySelector('#statement').value")).toContain(`"sensor" = 's0'`)
    await page.evaluate('sessionStorage.clear()')
    page.faults()
  })

  test('has no fault that axe-core finds: empty, with an answer, with an error', async () => {
    const folder = process.env['SCREENSHOTS']
    const picture =
      (name: string) =>
      async (variant: string): Promise<void> => {
        if (folder !== undefined) await writeFile(join(folder, `${name}-${variant}`), await page.screenshot())
      }
    await driver.visit(`${open.node.url}/query`)
    await driver.until("document.querySelector('#state').textContent !== ''")
    expect(await driver.look(picture('query'))).toEqual([])
    await run('select * from "acme/readings"')
    expect(await driver.look(picture('query-answer'))).toEqual([])
    await run('select sensr from "acme/readings"')
    expect(await driver.look(picture('query-error'))).toEqual([])
    expect(page.faults().filter((fault) => !ofNetwork(fault))).toEqual([])
  })
})
