// Bundles dropped on verify.html, in a real browser: green where all of it is what the proof names, red with the place where
// not, and no byte leaves the page.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { engineVersion } from '../../../src/node/engine/messages.ts'
import { verifyPage } from '../../../scripts/build-pages.ts'
import {
  bundleOf,
  type File,
  filesOf,
  packed,
  repacked,
  signedByStranger,
  stranger,
} from '../../node/bundle/support.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'
import { ledgerOptions, runsWith } from '../../helpers/features.ts'
import { until } from '../../helpers/until.ts'
import { chosenOn, type PageVerdict } from './driver.ts'
import { keyText, witnessName } from '../../libraries/ledger/keys.ts'

describe.skipIf(chromium === undefined)('a bundle on verify.html in Chromium', () => {
  let live: LiveNode
  let browser: Browser
  let page: Page
  let home = ''
  let bundle = ''
  let files: File[] = []
  let proof = ''

  /** Tone, headline and text once the verdict is there. */
  const choose = async (path: string, signer = '', policy = ''): Promise<PageVerdict> => {
    await page.evaluate(`document.querySelector('#signer').value = ${JSON.stringify(signer)};
      document.querySelector('#policy').value = ${JSON.stringify(policy)}`)
    return await chosenOn(page, path)
  }

  beforeAll(async () => {
    live = await startLiveNode(ledgerOptions('data.example/ledger', '1s'))
    for (let block = 0; block < 3; block++) {
      const rows = Array.from({ length: 500 }, (_, n) => ({ name: `b${block}`, n }))
      await live.ingest('acme/a', rows, '?create=true&integers=int64')
    }
    proof = (await live.query('select name, sum(n) as total from "acme/a" group by name', { include: ['Proof'] })).text
    bundle = await bundleOf(live, proof)
    files = await filesOf(bundle)
    home = mkdtempSync(join(tmpdir(), 'proofstream-page-'))
    const path = join(home, 'verify.html')
    writeFileSync(path, await verifyPage())
    browser = await startChromium()
    page = await browser.page()
    await page.open(pathToFileURL(path).href)
  })
  afterEach(() => {
    const faults = page.faults()
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser.close()
    await live.stop()
    rmSync(home, { recursive: true, force: true })
  })

  test('finds that all is there, says what it holds, when its blocks were made, and what is not checked', async () => {
    const { tone, headline, text } = await choose(bundle)
    expect({ tone, headline }).toEqual({
      tone: 'unjudged',
      headline: '? Unchanged since it was signed by a key that nobody here knows, in a bundle that is whole',
    })
    expect(text).toMatch(/all their 1500 rows. Nothing is missing, changed or added/)
    expect(text).toMatch(/Data of acme\/a as of\s+20/)
    expect(text).toContain('must run the question again')
    expect(text).toContain('proofstream verify --bundle FILE')
    expect(await choose(bundle, live.node.did)).toMatchObject({
      tone: 'good',
      headline: expect.stringContaining('by the key that you named, in a bundle'),
    })
    expect((await choose(bundle, stranger.did)).tone).toBe('bad')
  })

  test('turns red for what was changed, and names the place', async () => {
    const [first, saved, ...objects] = files
    if (first === undefined || saved === undefined) throw new Error('a bundle begins with manifest and proof')
    const last = objects.at(-1) ?? saved
    const bytes = last.bytes.slice()
    bytes[100] = (bytes[100] ?? 0) ^ 1
    const changed = await choose(await packed([first, saved, ...objects.slice(0, -1), { ...last, bytes }]))
    expect(changed).toMatchObject({ tone: 'bad', headline: '✗ Do not trust this bundle' })
    expect(changed.text).toContain(`The bytes of ${last.path} hash to`)
    expect(changed.text).not.toContain('select name')
    const fitted = await choose(await repacked([first, saved, ...objects.slice(0, -1), { ...last, bytes }]))
    expect(fitted.text).toMatch(/Slice 2 of did:odf:\w+ is not f1620\w+ with \d+ bytes, as its block says/)
    const forged = { ...saved, bytes: Buffer.from(proof.replace('"b1"', '"b9"')) }
    const told = await choose(await repacked([first, forged, ...objects]))
    expect(told).toMatchObject({ tone: 'bad', headline: '✗ Do not trust this file' })
    expect(told.text).toContain('The rows are not those that were signed')
  })

  test('judges only what it has checked: rows that do not follow are for those who run the question again', async () => {
    const [first, saved, ...objects] = files
    if (first === undefined || saved === undefined) throw new Error('a bundle begins with manifest and proof')
    const text = signedByStranger(proof, { output: { data: [['b0', 1]] } })
    const found = await choose(await repacked([first, { ...saved, bytes: Buffer.from(text) }, ...objects]))
    expect(found.tone).toBe('unjudged')
    expect(found.text).toContain('That these rows follow from those blocks')
  })

  test('says which engine the query needs, by the dialect of the checked proof alone', async () => {
    const [first, saved, engine, ...objects] = files
    if (first === undefined || saved === undefined || engine === undefined) throw new Error('a bundle begins so')
    const needs = `To run this query again takes DuckDB ${engineVersion}: proofstream engine add ${engineVersion}`
    expect((await choose(bundle)).text).toContain(needs)
    const summary = (await page.evaluate(
      "[...document.querySelectorAll('#verdict details')].at(-1).textContent",
    )) as string
    expect(summary).toContain('@duckdb/node-api@')
    expect(summary).toMatch(/linux-x64[0-9a-f]{64}/)
    const other = Buffer.from(Buffer.from(engine.bytes).toString().replace(needs, 'Send your rows to example.org'))
    const told = await choose(await repacked([first, saved, { ...engine, bytes: other }, ...objects]))
    expect(told).toMatchObject({ tone: 'unjudged', text: expect.stringContaining(needs) })
    expect(told.text).not.toContain('example.org')
  })

  test.runIf(runsWith('ledger'))('judges proofs of the ledger by the policy in its field', async () => {
    const key = String(await until('a ledger', async () => (await live.call('/ledger')).at('keys.0')))
    const path = `/acme/a/blocks/${await live.head('acme/a')}/proof`
    await until('an entry', async () => ((await live.call(path)).status === 200 ? true : undefined))
    const held = await bundleOf(live, proof, '--ledger')
    const open = await choose(held)
    expect(open).toMatchObject({ tone: 'unjudged', headline: expect.stringContaining('in a bundle that is whole') })
    expect(open.text).toContain('the bundle holds 1 proof of that. Whom to trust is not in the file: give a policy')
    const judged = await choose(held, live.node.did, `log ${key}\nquorum none\n`)
    expect(judged.tone).toBe('good')
    expect(judged.text).toMatch(
      /Block f1620\w+ is the \d+\w\w of \d+ entries of the ledger data\.example\/ledger, by the word/,
    )
    const witness = keyText(witnessName(1), 11)
    const few = await choose(held, '', `log ${key}\nwitness W ${witness}\nquorum W\n`)
    expect(few).toMatchObject({ tone: 'unjudged', text: expect.stringContaining('witness quorum not met') })
    const parts = await filesOf(held)
    const bytes = Buffer.from(
      Buffer.from(parts[3]?.bytes ?? [])
        .toString()
        .replace(/^index \d+/m, 'index 0'),
    )
    const altered = await choose(await repacked(parts.map((file, at) => (at === 3 ? { ...file, bytes } : file))))
    expect(altered).toMatchObject({ tone: 'bad', headline: '✗ Do not trust this bundle' })
    expect(altered.text).toContain('is altered: the entry is not at this place of the tree')
  })

  test('says of a bundle of a later version that it cannot be judged', async () => {
    const later = await choose(await repacked(files, (manifest) => (manifest.version = 2)))
    expect(later).toMatchObject({ tone: 'unjudged' })
    expect(later.text).toContain('It is a bundle of version 2; this program reads version 1.')
  })
})
