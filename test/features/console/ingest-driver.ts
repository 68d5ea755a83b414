// The ingest page in a real browser, as tests use it: files are chosen, fields typed into, buttons pressed, and what is shown is read.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import { chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { type Driver, drive, faultsOf } from './driver.ts'

export interface IngestPage {
  readonly page: Page
  readonly driver: Driver
  /** Opens the page for a dataset; waits for its script. */
  readonly visit: (dataset?: string) => Promise<void>
  readonly choose: (name: string, content: string | Uint8Array) => Promise<void>
  /** Changes the file that was chosen last. */
  readonly rewrite: (content: string) => Promise<void>
  /** As a person types: the page hears of it. */
  readonly type: (field: string, value: string) => Promise<unknown>
  readonly valueOf: (field: string) => Promise<unknown>
  /** Presses what the selector finds. */
  readonly press: (button: string) => Promise<unknown>
  /** Presses the button of this text. */
  readonly pressText: (text: string) => Promise<unknown>
  /** The text of the page, once its outcome is this. */
  readonly said: (pattern: RegExp) => Promise<string>
  /** Of the table that is shown. */
  readonly cells: () => Promise<string[][]>
  /** Of a dataset; without the time of arrival, where it has no other. */
  readonly rows: (alias: string, isDated?: boolean) => Promise<unknown>
  /** Gives the tab a token. */
  readonly signIn: (token: string) => Promise<unknown>
}

/** For all tests of a file: closed after them. Where there is no browser they are skipped. */
export async function ingestPageIn(live: LiveNode): Promise<IngestPage> {
  const browser = chromium === undefined ? undefined : await startChromium()
  const page = (await browser?.page()) as Page
  const driver = drive(page)
  let files = 0
  let chosen = ''
  const home = mkdtempSync(join(tmpdir(), 'proofstream-files-'))
  afterEach(() => {
    const faults = faultsOf(page)
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(home, { recursive: true, force: true })
  })
  return {
    page,
    driver,
    visit: async (dataset = '') => {
      await driver.visit(`${live.node.url}/ingest?dataset=${dataset}`)
      await driver.until("document.querySelector('form.check button').disabled === false")
    },
    choose: async (name, content) => {
      chosen = join(home, `${files++}-${name}`)
      writeFileSync(chosen, content)
      await page.choose('#file', [chosen])
    },
    rewrite: async (content) => writeFileSync(chosen, content),
    type: (field, value) =>
      page.evaluate(`(() => {
        const field = document.querySelector(${JSON.stringify(field)})
        field.value = ${JSON.stringify(value)}
        field.dispatchEvent(new Event('input', { bubbles: true }))
      })()`),
    valueOf: (field) => page.evaluate(`document.querySelector('${field}').value`),
    press: (button) => page.evaluate(`document.querySelector('${button}').click()`),
    pressText: (text) =>
      page.evaluate(
        `[...document.querySelectorAll('button')].find((one) => one.innerText === ${JSON.stringify(text)}).click()`,
      ),
    said: async (pattern) => {
      await driver.until(`${String(pattern)}.test(document.querySelector('#result').textContent)`)
      return String(await page.evaluate("document.querySelector('main').innerText"))
    },
    cells: async () => {
      const rows = "[...document.querySelectorAll('#details tbody tr')]"
      return (await page.evaluate(`${rows}.map((row) => [...row.cells].map((cell) => cell.innerText))`)) as string[][]
    },
    rows: async (alias, isDated = false) => {
      const system = isDated ? '"offset", op, system_time' : '"offset", op, system_time, event_time'
      return (await live.query(`select * exclude (${system}) from "${alias}" order by all`)).at('output.data')
    },
    signIn: (token) => page.evaluate(`sessionStorage.setItem('proofstream-token', ${JSON.stringify(token)})`),
  }
}
