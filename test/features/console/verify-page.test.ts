// verify.html as a person meets it, in a real browser and from a file: it turns green and red where the verifier says so,
// asks nobody, breaks no rule of its own policy, and shows what files hold as text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { verifyPage } from '../../../scripts/build-pages.ts'
import { fromPlain, jsonText } from '../../../src/libraries/base/json/json.ts'
import { proofJsonText } from '../../../src/libraries/ledger/proof-document.ts'
import { commit } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'
import { type OfflineVerdict, verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { signedHead, twoOfThree } from '../../libraries/ledger/keys.ts'
import { SmallLedger } from '../../libraries/ledger/proofs.ts'
import { nodeKey, signedReceipt, signedRefusal } from '../../libraries/ledger/receipts.ts'
import { forgeries } from '../../libraries/proof/forgeries.ts'
import { proofVectors, verifyVectors } from '../../libraries/proof/proof-vectors.ts'
import { drive, type PageVerdict, verdictOn } from './driver.ts'

const key = nodeKeyFromSeed(new Uint8Array(32).fill(7))
const live = proofVectors.find(({ name }) => name === 'float-2537.07')!

/** A genuine saved answer. */
function signed(input: object, output: object): string {
  const { commitment, proof } = signProof(commit({ input: fromPlain(input), output: fromPlain(output) }), key)
  return JSON.stringify({ input, output, subQueries: [], commitment, proof })
}

describe.skipIf(chromium === undefined)('verify.html in Chromium', () => {
  let browser: Browser
  let page: Page
  let home = ''
  let url = ''
  let files = 0

  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(home, `${files++}-${name}`) // a name of its own: the field hears of no change otherwise
    writeFileSync(path, content)
    return path
  }
  const clear = (): Promise<unknown> => page.evaluate("document.querySelector('#result').replaceChildren()")
  const choose = async (...files: readonly string[]): Promise<PageVerdict> => {
    await clear()
    await page.choose(
      '#file',
      files.map((path) => resolve(path)),
    )
    return await verdictOn(page)
  }
  const paste = async (text: string, signer = ''): Promise<PageVerdict> => {
    await clear()
    await page.evaluate(`document.querySelector('#text').value = ${JSON.stringify(text)};
      document.querySelector('#signer').value = ${JSON.stringify(signer)};
      document.querySelector('button').click()`)
    return await verdictOn(page)
  }

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'proofstream-page-'))
    url = pathToFileURL(file('verify.html', await verifyPage())).href
    browser = await startChromium()
    page = await browser.page()
    await page.open(url)
  })
  afterEach(() => {
    const faults = page.faults()
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser.close()
    rmSync(home, { recursive: true, force: true })
  })

  test('finds every live proof unchanged, and is not green where nobody names its key', async () => {
    const said: string[] = []
    for (const { responseBodyBytes } of proofVectors) {
      const { tone, headline } = await choose(file('answer.json', responseBodyBytes))
      said.push(`${tone}: ${headline}`)
    }
    const unchanged = 'unjudged: ? Unchanged since it was signed by a key that nobody here knows'
    expect(said).toEqual(proofVectors.map(() => unchanged))
  })

  test('says question, dataset, block, rows, signer, and what it has not checked', async () => {
    const { responseBodyBytes, did } = proofVectors.find(({ name }) => name === 'ds-aoa')!
    const { text, headline } = await choose(file('answer.json', responseBodyBytes))
    const { input } = JSON.parse(responseBodyBytes)
    expect(headline).toBe('? Unchanged since it was signed by a key that nobody here knows')
    for (const part of [input.query, input.datasets[0].alias, did, 'none left out']) expect(text).toContain(part)
    expect(text).toContain('a node that holds them must run the question again')
    expect(text).toMatch(/Data of \S+ as of\s+not in the file/)
    expect(await page.evaluate("document.querySelector('#details details').textContent")).toContain(
      input.datasets[0].blockHash,
    )
  })

  test('shows the rows first, then what is known of them, and prints all of it on one sheet', async () => {
    const fields = ['state', 'flights', 'delay', 'share'].map((name) => ({ name, data_type: 'Utf8', nullable: true }))
    const rows = Array.from({ length: 40 }, (_, at) => [`State number ${at}`, at * 1_000, at / 8, 'of all'])
    const { input } = JSON.parse(proofVectors.find(({ name }) => name === 'ds-aoa')!.responseBodyBytes)
    const output = { data: rows, dataFormat: 'JsonAoa', schema: { fields }, schemaFormat: 'ArrowJson' }
    const { text } = await choose(file('answer.json', signed({ ...input, limit: 100 }, output)))
    expect(text).toContain('State number 3')
    expect(text.indexOf('State number 3')).toBeLessThan(text.indexOf(input.query))
    const { data } = await page.send('Page.printToPDF', { paperWidth: 8.27, paperHeight: 11.69 })
    const printed = Buffer.from(String(data), 'base64').toString('latin1')
    expect(printed.match(/\/Type \/Page\b/g)).toHaveLength(1)
  })

  test.each(forgeries)('says of $name what it is, and nothing that it claims', async ({ text, kind }) => {
    const found = await paste(text)
    const isUnjudged = /^(?:UnsupportedProofType|InvalidRequest::RewrittenOutput)$/.test(kind)
    expect(found.tone).toBe(kind === 'ok' || isUnjudged ? 'unjudged' : 'bad')
    expect(found.text.includes('select 1')).toBe(kind === 'ok')
  })

  test('turns red for another key than the one that was named', async () => {
    expect(await paste(live.responseBodyBytes, key.did)).toMatchObject({ tone: 'bad' })
    expect(await paste(live.responseBodyBytes, live.did)).toMatchObject({
      tone: 'good',
      headline: '✓ Unchanged since it was signed by the key that you named',
    })
  })

  test('says of every case that a live node was sent what the verifier says', async () => {
    const toneOf = (verdict: OfflineVerdict): string =>
      !verdict.ok && verdict.outcome === 'failed' ? 'bad' : 'unjudged'
    const tones: string[] = []
    for (const { requestBody } of verifyVectors) tones.push((await paste(requestBody)).tone)
    expect(tones).toEqual(verifyVectors.map(({ requestBody }) => toneOf(verifyOffline(requestBody))))
  })

  test('takes the rows from a second file, in either order', async () => {
    const { output, ...proof } = JSON.parse(live.responseBodyBytes) as { output: object }
    // Tokens as they came: the text of the member, not a number printed anew.
    const outputText = live.outputCanonical
    expect(output).toEqual(JSON.parse(outputText))
    const parts = [file('proof.json', JSON.stringify(proof)), file('output.json', outputText)]
    expect((await choose(parts[0]!)).text).toContain('The rows: they are not in this file.')
    for (const order of [parts, parts.toReversed()]) {
      const found = await choose(...order)
      expect(found).toMatchObject({ tone: 'unjudged' })
      expect(found.text).toContain('to the last digit')
    }
    const changed = file('output.json', outputText.replace('2537.07', '2537.08'))
    expect(await choose(parts[0]!, changed)).toMatchObject({ tone: 'bad' })
  })

  test.each<[string, string | Uint8Array, string]>([
    ['a picture', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), 'The file is a picture'],
    ['UTF-16', Buffer.from(`\ufeff${live.responseBodyBytes}`, 'utf16le'), 'it is text in UTF-16'],
    ['a byte order mark', `\ufeff${live.responseBodyBytes}`, 'byte order mark'],
    ['a truncated answer', live.responseBodyBytes.slice(0, -200), 'ends inside a string'],
    ['nothing', '', 'The file is empty'],
    ['an answer without proof', '{"output":{"data":[]}}', 'This answer has no proof'],
    ['a page', '<html><script>alert(1)</script>', 'a page in HTML'],
    ['deep nesting', '['.repeat(100_000), 'nests deeper than 128'],
  ])('says what %s is', async (_what, content, sentence) => {
    const found = await choose(file('other', content))
    expect(found.tone).toBe('unjudged')
    expect(found.text).toContain(sentence)
  })

  test('judges proofs of a ledger, signed receipts and heads by the policy that is given, and by none without', async () => {
    const ledger = new SmallLedger(9)
    const proof = ledger.text(5, 9, 'row')
    const by = (year: number): string => `${year}-01-01T00:00:00.000Z`
    const receipt = (year: number): string => jsonText(signedReceipt(ledger, 5, { by: by(year) }))
    const files: Readonly<Record<string, string | Uint8Array>> = {
      text: proof,
      json: proofJsonText(ledger.blocks[5]!.documents.row, ledger.proof(5, 9, 'row')),
      few: ledger.text(5, 9, 'row', { witnesses: [2] }),
      changed: Buffer.from(proof).toString().replace('index 5', 'index 4'),
      head: signedHead({ size: 9, root: ledger.root(9) }),
      'forged head': signedHead({ size: 9, root: ledger.root(8) }).slice(0, -3),
      promised: receipt(2099),
      'was due': receipt(2026),
      'changed receipt': receipt(2099).replace('me/lab', 'me/lob'),
      refusal: jsonText(signedRefusal()),
    }
    const judged = async (policy: string, signer = ''): Promise<Record<string, string>> => {
      await page.evaluate(`document.querySelector('#policy').value = ${JSON.stringify(policy)}
        document.querySelector('#signer').value = ${JSON.stringify(signer)}`)
      const found: Record<string, string> = {}
      for (const [name, content] of Object.entries(files)) {
        found[name] = (await choose(file(name, content))).headline
      }
      return found
    }
    const [unchanged, notJudged, bad] = [
      '? Unchanged since it was signed by a key that nobody here knows',
      '? Signed, and not judged',
      '✗ Do not trust this file',
    ]
    const included = '✓ Included in the ledger, as its witnesses saw it'
    const byPolicy = {
      text: included,
      json: included,
      few: '? Witness quorum not met',
      changed: bad,
      head: '✓ A head that is signed, as its witnesses saw it',
      'forged head': bad,
      promised: notJudged,
      'was due': notJudged,
      'changed receipt': bad,
      refusal: unchanged,
    }
    expect(await judged(twoOfThree)).toEqual(byPolicy)
    const both = await choose(file('row.tlog-proof', proof), file('head', files['head'] ?? ''))
    expect([both.headline, both.text]).toEqual([
      expect.stringMatching(/row\.tlog-proof: ✓ Included/),
      expect.stringContaining('✓ A head that is signed'),
    ])
    // What is printed says what was judged, when, and by whom its reader trusts.
    expect(both.text).toMatch(/Files: \d+-row\.tlog-proof, \d+-head\./)
    expect(both.text).toMatch(/Judged at 20\d\d-\d\d-\d\dT[\d:.]+Z\./)
    expect(both.text).toContain('Ledgers of the policy: node.example/ledger')
    // A forged file is told first, wherever it stands.
    const mixed = await choose(file('row.tlog-proof', proof), file('changed', files['changed'] ?? ''))
    expect(mixed.headline).toMatch(/changed: ✗ Do not trust this file/)
    const { text } = await choose(file('row.tlog-proof', proof))
    expect(text).toContain('Zürich "1" \u{1f30d} \\u0000')
    expect(text).toContain('the 6th of 9 entries of node.example/ledger')
    expect(text).toMatch(/Witness W3\s+2026-05-28T20:26:43\.000Z/)
    const receipts = { promised: bad, 'was due': bad, refusal: bad }
    expect(await judged(twoOfThree, live.did)).toEqual({ ...byPolicy, ...receipts })
    const due = '? Not judged: the promise is due, and nothing here shows whether it was kept'
    const named = {
      promised: '✓ Promised, not yet due',
      'was due': due,
      refusal: '✓ Unchanged since it was signed by the key that you named',
    }
    expect(await judged(twoOfThree, nodeKey.did)).toEqual({ ...byPolicy, ...named })
    const yours = '? Not judged: whom to trust is yours to say'
    const none = Object.fromEntries(Object.keys(files).map((name) => [name, yours]))
    const alone = { ...none, changed: bad, 'forged head': bad, 'changed receipt': bad, refusal: unchanged }
    expect(await judged('')).toEqual(alone)
    expect(await judged('log nonsense')).toEqual(alone)
  })

  test('shows hostile texts as text', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0007&amp;"'
    const datasets = [{ id: hostile, alias: hostile, blockHash: hostile }]
    const input = { query: hostile, parameters: [hostile], queryDialect: hostile, datasets, limit: 5 }
    const schema = { fields: [{ name: hostile }] }
    for (const data of [[[hostile]], [{ [hostile]: hostile }], { [hostile]: [hostile] }]) {
      const found = await paste(signed(input, { data, schema }))
      expect(found.tone).toBe('unjudged')
      expect(found.text.split('<img src=x onerror=alert(1)><script>').length).toBeGreaterThanOrEqual(8)
      expect(found.text).toContain('\\u202e\\u0007&amp;"')
    }
    const elements = await page.evaluate("document.querySelectorAll('#verdict img, #verdict script').length")
    expect(elements).toBe(0)
    const name = JSON.stringify(hostile)
    expect((await paste(`{${name}:1,${name}:2}`)).text).toContain('has the member "<img src=x')
  })

  test('checks an answer of a million cells, and shows the first of them', async () => {
    const data = Array.from({ length: 100_000 }, (_, row) => Array.from({ length: 10 }, (_, at) => row * at))
    const found = await choose(file('large.json', signed({ query: 'select *', limit: 100_000 }, { data })))
    expect(found.tone).toBe('unjudged')
    expect(found.text).toContain('Rows (the first 20 of 100000)')
  })

  test('tells a screen reader the verdict, and leaves the rest to be read', async () => {
    await choose(file('answer.json', live.responseBodyBytes))
    expect(await page.evaluate("document.querySelector('[role=status]').innerText")).toBe(
      '? Unchanged since it was signed by a key that nobody here knows',
    )
  })

  test('is dropped on, and reached by keyboard', async () => {
    await clear()
    const path = file('answer.json', live.responseBodyBytes)
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await page.send('Input.dispatchDragEvent', {
        type,
        x: 100,
        y: 100,
        data: { items: [], files: [path], dragOperationsMask: 1 },
      })
    expect(await verdictOn(page)).toMatchObject({ tone: 'unjudged' })
    await page.evaluate("document.activeElement.blur(); document.querySelector('#text').value = ''")
    const reached: unknown[] = []
    for (let i = 0; i < 5; i++) {
      for (const type of ['keyDown', 'keyUp'])
        await page.send('Input.dispatchKeyEvent', { type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 })
      reached.push(await page.evaluate('document.activeElement.id || document.activeElement.tagName'))
    }
    expect(reached).toEqual(['file', 'text', 'signer', 'policy', 'BUTTON'])
  })

  test('has no fault that axe-core finds, and is no wider than the window, a telephone included', async () => {
    const folder = process.env['SCREENSHOTS']
    for (const text of [live.responseBodyBytes, live.responseBodyBytes.replace('[[2537.07', '[[2537.08'), 'x']) {
      await paste(text)
      const { tone } = await verdictOn(page)
      const keep = async (name: string): Promise<void> => {
        if (folder !== undefined) writeFileSync(join(folder, `verify-${tone}-${name}`), await page.screenshot())
      }
      expect([tone, await drive(page).look(keep)]).toEqual([tone, []])
    }
  })
})
