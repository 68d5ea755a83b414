// The verify page in a real browser: a proof turns green or red in the page itself, with nothing sent; the node runs it again
// only when it is told to, and what it says is shown for what it is.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleOf } from '../../node/bundle/support.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { type Driver, drive, faultsOf } from './driver.ts'
import { hostileRows } from './hostile.ts'

const open = await liveNode()
const closed = await liveNode({ 'anonymous-read': false })
const keeper = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

describe.skipIf(chromium === undefined)('the verify page in Chromium', () => {
  let browser: Browser
  let page: Page
  let driver: Driver
  let files = 0
  const home = mkdtempSync(join(tmpdir(), 'proofstream-proofs-'))
  const proofs = { open: '', closed: '', hostile: '' }

  const proofOf = async (node: typeof open, query: string): Promise<string> => {
    const answer = await node.query(query, { include: ['Proof'] })
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.text
  }
  const visit = async (node: typeof open): Promise<void> => {
    await driver.visit(`${node.node.url}/verify`)
    await driver.until("document.querySelector('#form button').disabled === false")
  }
  /** Tone and headline of what the page says of a file. */
  const choose = async (text: string): Promise<string> => {
    const path = join(home, `${files++}.json`)
    writeFileSync(path, text)
    await page.evaluate("document.querySelector('#result').replaceChildren()")
    await page.choose('#file', [path])
    await driver.until("/^[✓✗?]/.test(document.querySelector('#result h2')?.textContent)")
    return await headline('#result')
  }
  const headline = async (place: string): Promise<string> =>
    String(
      await page.evaluate(
        `(() => { const head = document.querySelector('${place} h2'); return head.className + ': ' + head.textContent })()`,
      ),
    )
  const again = async (): Promise<string> => {
    await page.evaluate("document.querySelector('#again button').click()")
    await driver.until("/^[✓✗?]/.test(document.querySelector('#again h2')?.textContent)")
    return await headline('#again')
  }
  /** Tone of the page that runs the question again in the browser, opened by the link as a person does. */
  const againHere = async (): Promise<unknown> => {
    const click = `(() => {
      const link = document.querySelector('#again a')
      link.target = 'again${files++}'
      link.click()
      window.rerun = open('', link.target)
    })()`
    await page.send('Runtime.evaluate', { expression: click, userGesture: true })
    const head = "rerun.document.querySelector('#result h2')"
    await driver.until(`/good|bad|unjudged/.test(${head}?.className)`)
    const found = await page.evaluate(`${head}.className + ': ' + ${head}.textContent`)
    await page.evaluate('rerun.close()')
    return found
  }
  const asked = (): Promise<unknown> =>
    page.evaluate("performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/verify')).length")

  beforeAll(async () => {
    for (const node of [open, closed])
      await node.ingest('acme/readings', [{ sensor: 's1', celsius: 21.5 }], '?create=true')
    await open.ingest('evil/data', [hostileRows[1] ?? {}], '?create=true')
    proofs.open = await proofOf(open, 'select sensor, celsius from "acme/readings"')
    proofs.closed = await proofOf(closed, 'select sensor, celsius from "acme/readings"')
    proofs.hostile = await proofOf(
      open,
      `select '<img src=x onerror=alert(1)>' as "<script>alert(2)</script>", '</table></main><h1>owned</h1>', nested from "evil/data"`,
    )
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    const faults = faultsOf(page)
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser.close()
    rmSync(home, { recursive: true, force: true })
  })

  test('turns a proof green by itself, then runs it again at the node when told to', async () => {
    await visit(open)
    expect(await choose(proofs.open)).toBe('good: ✓ Unchanged since it was signed')
    expect(await driver.text()).toContain('21.5')
    expect(await asked()).toBe(0)
    const { host } = new URL(open.node.url)
    expect(await driver.text()).toContain(`a key of ${host}, by its did.json`)
    expect(await again()).toBe('good: ✓ This node got the same rows again')
    expect(await asked()).toBe(1)
    expect(await driver.text()).toContain('a key of the node that was asked')
    expect(await driver.look()).toEqual([])
  })

  test('runs it again in the browser, from a proof and from a bundle, and a bundle at the node', async () => {
    await visit(open)
    expect(await choose(proofs.open)).toContain('good: ')
    expect(await againHere()).toBe('good: ✓ Run again here: the same rows')
    await page.choose('#file', [await bundleOf(open, proofs.open)])
    await driver.until("document.querySelector('#result h2')?.textContent.endsWith('in a bundle that is whole')")
    expect(await asked()).toBe(0)
    expect(await againHere()).toBe('good: ✓ Run again here: the same rows')
    expect(await again()).toBe('good: ✓ This node got the same rows again')
    expect(await driver.look()).toEqual([])
  })

  test('turns a forged one red, shows nothing of it, and offers no button', async () => {
    await visit(open)
    await choose(proofs.open)
    expect(await choose(proofs.open.replace('21.5', '99.5'))).toBe('bad: ✗ Do not trust this file')
    expect(await driver.text()).not.toContain('99.5')
    expect(await page.evaluate("document.querySelector('#again').childElementCount")).toBe(0)
    expect(await choose('{"no": "proof"}')).toContain('unjudged: ')
    expect(await driver.look()).toEqual([])
  })

  test('accuses nobody where the node cannot judge: blocks that it has not, a token that it wants', async () => {
    await visit(open)
    expect(await choose(proofs.closed)).toBe(
      'unjudged: ? Unchanged since it was signed by a key that nobody here knows',
    )
    expect(await again()).toMatch(/^unjudged: \? /)
    await visit(closed)
    expect(await choose(proofs.closed)).toContain('good: ')
    expect(await again()).toMatch(/^unjudged: \? /)
    await driver.giveToken(closed.adminToken)
    await driver.until("document.querySelector('.session').classList.contains('held')")
    await driver.until("document.querySelector('#again').childElementCount === 0")
    await driver.until("document.querySelector('#form button').disabled === false")
    expect(await choose(proofs.closed)).toContain('good: ')
    expect(await again()).toContain('good: ')
    // The token goes with the file.
    expect(await againHere()).toBe('good: ✓ Run again here: the same rows')
    await page.evaluate('sessionStorage.clear()')
  })

  test('shows hostile questions, names and cells as text; a paste is checked by keyboard', async () => {
    await visit(open)
    await page.evaluate("document.querySelector('#text').focus()")
    await driver.type(proofs.hostile)
    for (let field = 0; field < 3; field++) await driver.press('Tab')
    await driver.press('Enter')
    await driver.until("/^✓/.test(document.querySelector('#result h2')?.textContent)")
    expect(await again()).toContain('good: ')
    const shown = await driver.text()
    expect(shown).toContain('<img src=x onerror=alert(1)>')
    expect(shown).toContain('</table></main><h1>owned</h1>')
    expect(await page.evaluate("document.querySelectorAll('main img, main script, main h1').length")).toBe(1)
  })

  test('judges a head of the ledger by the policy of the node, which is named as such', async () => {
    await visit(keeper)
    await driver.until("document.querySelector('#policy').value.startsWith('log data.example/ledger+')")
    const hint = await page.evaluate("document.querySelector('#policy-hint').textContent")
    expect(hint).toContain(`the policy that ${new URL(keeper.node.url).host} gives of itself`)
    await expect.poll(async () => (await keeper.call('/ledger', { token: null })).at('size')).toBe(1)
    const { text } = await keeper.call('/ledger/checkpoint', { token: null })
    expect(await choose(text)).toBe('good: ✓ A head that is signed, by the word of its node alone')
    await page.evaluate("document.querySelector('#policy').value = ''")
    expect(await choose(text)).toBe('unjudged: ? Not judged: whom to trust is yours to say')
  })

  test('asks the node for what settles a promise that is due', async () => {
    const posted = await keeper.ingest('acme/readings', [{ sensor: 's1', celsius: 21.5 }], '?create=true')
    const path = `/receipts/${encodeURIComponent(String(posted.at('receiptId')))}`
    const { text: receipt } = await keeper.call(`${path}?include=signature`)
    await until('a proof', async () => ((await keeper.call(`${path}/proof`)).status === 200 ? true : undefined))
    await visit(keeper)
    await driver.until("document.querySelector('#policy').value.startsWith('log data.example/ledger+')")
    await page.evaluate('Date.now = () => Date.UTC(2099, 0, 1)')
    expect(await choose(receipt)).toBe('good: ✓ The promised block is in the ledger')
    expect(await driver.text()).toContain('acme/readings (did:odf:')
    // Without the node the file cannot tell.
    await page.send('Network.setBlockedURLs', { urls: ['*/receipts/*'] })
    expect(await choose(receipt)).toBe('unjudged: ? Signed, and not judged')
    expect(await driver.text()).toContain('The proof of its batch settles it')
    await page.send('Network.setBlockedURLs', { urls: [] })
  })

  test('says without scripts how proofs are checked', async () => {
    const shown = await open.call('/verify', { token: null, headers: { accept: 'text/html' } })
    expect(shown.text).toContain('proofstream verify --offline FILE')
    expect((await open.call('/verify', { token: null })).at('page')).toBe('/assets/verify.html')
  })
})
