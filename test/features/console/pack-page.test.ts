// Evidence packs in a real browser: the page makes the very bytes that the command makes, of what links to it propose, with the token
// of the tab; and verify.html judges a pack and each of its parts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { verifyPage } from '../../../scripts/build-pages.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { type JudgedPack, judgePack } from '../../../src/libraries/evidence/pack/judge-pack.ts'
import { parsePolicy } from '../../../src/libraries/ledger/policy.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { runsWith } from '../../helpers/features.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { command, stranger } from '../../node/bundle/support.ts'
import { chosenOn, type Driver, drive, faultsOf, type PageVerdict } from './driver.ts'

const live = await liveNode({ 'anonymous-read': false, 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })
const folder = mkdtempSync(join(tmpdir(), 'proofstream-packs-'))
const made = join(folder, 'made.zip')
const policy = { text: '' }

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function judged(bytes: Uint8Array): Promise<JudgedPack> {
  return await judgePack(piecesOf(bytes), { policy: parsePolicy(utf8(policy.text)), nowMs: Date.now() })
}

describe.skipIf(chromium === undefined || !runsWith('ledger'))('evidence packs in Chromium', () => {
  let browser: Browser | undefined
  let page: Page
  let driver: Driver
  let receipt = ''

  const click = (selector: string): Promise<unknown> => page.evaluate(`document.querySelector('${selector}').click()`)
  const valueOf = (selector: string): Promise<unknown> => page.evaluate(`document.querySelector('${selector}').value`)
  const fill = (selector: string, text: string): Promise<unknown> =>
    page.evaluate(`document.querySelector('${selector}').value = ${JSON.stringify(text)}`)
  const ready = (): Promise<void> => driver.until("document.querySelector('#pack button')?.disabled === false")
  const say = async (): Promise<string> => {
    await page.evaluate(`(() => {
      const { createObjectURL } = URL
      URL.createObjectURL = (file) => {
        globalThis.madeBytes = file.size
        return createObjectURL(file)
      }
    })()`)
    await click('#pack button')
    await driver.until("document.querySelector('#made p, #pack [role=alert]:not(:empty)') !== null")
    return String(
      await page.evaluate(
        "document.querySelector('#made').innerText + document.querySelector('#pack [role=alert]').innerText",
      ),
    )
  }
  /** The file that the browser saves, once all of it is on the disk. */
  const saved = async (name: string): Promise<Uint8Array> => {
    const madeBytes = await page.evaluate('globalThis.madeBytes')
    return await until('the saved file', async () => {
      const bytes = await readFile(join(folder, name)).catch(() => undefined)
      return bytes?.length === madeBytes && bytes
    })
  }

  beforeAll(async () => {
    await live.call('/acme/tides', { method: 'PUT', json: { proofs: 'rows' } })
    for (const level of [4.25, 4.5]) {
      const posted = await live.ingest('acme/tides', [{ event_time: '2026-01-01T00:00:00Z', harbour: 'Ostend', level }])
      receipt = String(posted.at('receiptId'))
    }
    const query = 'select harbour, level from acme.tides where level > $least'
    await live.call('/q/high', { method: 'PUT', json: { query } })
    await until('a proof', async () =>
      (await live.call(`/receipts/${receipt}/proof`)).status === 200 ? true : undefined,
    )
    policy.text = (await live.call('/ledger/policy')).text
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
    await page.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder })
  })
  afterEach(() => {
    const faults = faultsOf(page).filter((fault) => !fault.includes('NavigationEntryMarkedSkippable'))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('says why there is no pack, and asks for nothing until it is told to', async () => {
    await driver.visit(`${live.node.url}/evidence-pack?dataset=acme/tides&sql=select%201`)
    await ready()
    expect([await valueOf('#datasets'), await valueOf('#statements')]).toEqual(['acme/tides', 'select 1'])
    const asked =
      "performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'fetch').length"
    expect(await page.evaluate(asked)).toBe(0)
    await fill('#statements', '')
    expect(await say()).toContain('token')
    await fill('#datasets', '')
    expect(await say()).toBe('Name a dataset.')
    await fill('#from', 'yesterday')
    expect(await page.evaluate("document.querySelector('#pack').checkValidity()")).toBe(false)
  })

  test('makes of a dataset, from its page, the very bytes that the command makes', async () => {
    await driver.visit(`${live.node.url}/acme/tides`)
    await driver.giveToken(live.adminToken)
    await driver.until('document.querySelector(\'.files a[href^="/evidence-pack"]\') !== null')
    await click('.files a[href^="/evidence-pack"]')
    await ready()
    expect(await valueOf('#datasets')).toBe('acme/tides')
    expect(await say()).toMatch(
      /^Saved tides-evidence\.zip, [\d.]+ kB\. Anyone who has the file can read all rows of acme\/tides\./,
    )
    const bytes = await saved('tides-evidence.zip')
    expect((await judged(bytes)).report).toMatchObject({ verdict: 'verified', why: [] })
    const { code, stderr } = await command(live, ['pack-evidence', 'acme/tides', '-o', made])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(Buffer.compare(bytes, readFileSync(made))).toBe(0)
    expect(await driver.look()).toEqual([])
  })

  test('puts answers of statements and of saved queries, receipts and proofs of all blocks into it', async () => {
    await driver.visit(`${live.node.url}/q/high?least=4.3`)
    await driver.until('document.querySelector(\'#answer a[href^="/evidence-pack"]\') !== null')
    await click('#answer a[href^="/evidence-pack"]')
    await ready()
    expect([await valueOf('#datasets'), await valueOf('#statements')]).toEqual(['acme/tides', '/q/high?least=4.3'])
    await fill('#statements', `/q/high?least=4.3; select ';' as sign, max(level) from "acme/tides";\n`)
    await fill('#receipts', receipt)
    await fill('#from', '0')
    rmSync(join(folder, 'tides-evidence.zip'))
    expect(await say()).toContain('Saved')
    const { report, parts } = await judged(await saved('tides-evidence.zip'))
    const paths = ['answers/001.json', 'answers/002.json', 'receipts/001.json', 'statement.json', 'bundles/001.tar']
    expect([report.why, parts.map(({ path }) => path)]).toEqual([[], paths])
    expect(
      parts.flatMap(({ report: { about } }) => about.filter(([name]) => name === 'question').map(([, text]) => text)),
    ).toEqual(expect.arrayContaining([`select ';' as sign, max(level) from "acme/tides"`]))
    expect(report.verdict).toBe('verified')
    expect(report.about.find(([name]) => name === 'ledger')?.[1]).toMatch(/^\d+ proofs of blocks, sequence 0 to \d+ of/)
  })

  test('is proposed beside an answer that is signed, with its statement and its datasets', async () => {
    await driver.visit(`${live.node.url}/query`)
    await driver.until("document.querySelector('#ask #state')?.textContent.startsWith('Press')")
    const offered = async (sql: string): Promise<unknown> => {
      await fill('#statement', sql)
      await page.evaluate("document.querySelector('#answer').replaceChildren()")
      await click('#ask button')
      await driver.until("document.querySelector('#answer .ways-out') !== null")
      return await page.evaluate(
        "document.querySelector('#answer a[href^=\"/evidence-pack\"]')?.getAttribute('href') ?? null",
      )
    }
    expect(await offered('select level from acme.tides')).toBe(
      '/evidence-pack?dataset=acme%2Ftides&sql=select+level+from+acme.tides',
    )
    expect(await offered('select random() from acme.tides')).toBe(null)
  })

  describe('on verify.html', () => {
    const choose = async (bytes: Uint8Array, by = '', signer = ''): Promise<PageVerdict> => {
      await fill('#policy', by)
      await fill('#signer', signer)
      const path = join(folder, 'chosen.zip')
      writeFileSync(path, bytes)
      return await chosenOn(page, path)
    }

    beforeAll(async () => {
      const path = join(folder, 'verify.html')
      writeFileSync(path, await verifyPage())
      await page.open(pathToFileURL(path).href)
    })

    test('a good one is good by a policy, and not judged without; its parts follow by their paths', async () => {
      const good = readFileSync(made)
      const by = await choose(good, policy.text)
      expect(by).toMatchObject({ tone: 'good', headline: '✓ Whole, and each file is as it was signed' })
      expect(by.text).toContain('bundles/001.tar: ✓ Unchanged since it was signed')
      const without = await choose(good)
      expect(without).toMatchObject({ tone: 'unjudged', headline: expect.stringContaining('? Whole, but not judged') })
      expect((await choose(good, 'log nonsense')).text).toContain('The policy cannot be read')
      expect((await choose(good, policy.text, live.node.did)).tone).toBe('good')
      expect((await choose(good, policy.text, stranger.did)).tone).toBe('bad')
    })

    test('one with another byte is bad, wherever that is', async () => {
      const { length } = readFileSync(made)
      for (const at of [200, Math.floor(length / 2), length - 30, length - 1]) {
        const bytes = readFileSync(made)
        bytes[at] = (bytes[at] ?? 0) ^ 1
        const found = await choose(bytes, policy.text)
        expect([at, found.tone, found.headline]).toEqual([at, 'bad', '✗ Do not trust this pack'])
      }
    })

    test('a signer that is no key is refused beside its field', async () => {
      const found = await choose(readFileSync(made), policy.text, 'did:web:data.example')
      expect(found.headline).toBe('? Nothing is checked: what you named is no key')
      expect(await page.evaluate("document.querySelector('#signer-fault').innerText")).toContain(
        'This is no key such as',
      )
      expect((await choose(readFileSync(made), policy.text)).tone).toBe('good')
      expect(await page.evaluate("document.querySelector('#signer-fault').innerText")).toBe('')
    })
  })
})
