// The page that runs questions again, in a headless Chromium: one saved answer after the other is given to it, as by its field for
// files. All of it is the page's own, but that its worker and the module in it stay: a new one takes two seconds, a new database none.

import { type Browser, type Page, startChromium } from '../../helpers/chromium.ts'

/** Makes every worker of the page the first one, in which the module runs already; OPEN gives it an empty database. */
const keepWorker = `{
  const Own = Worker
  let kept
  window.Worker = function (script) {
    if (kept !== undefined) return kept
    kept = new Own(script)
    const send = kept.postMessage.bind(kept)
    let isStarted = false
    kept.postMessage = (message) => {
      const isKnown = message.type === 'INSTANTIATE' && isStarted
      isStarted = true
      if (isKnown) kept.onmessage({ data: { requestId: message.messageId, type: 'OK', data: null } })
      else send(message)
    }
    kept.terminate = () => {}
    return kept
  }
}`

/** Gives a file to the page; its headline and the first line below, once there is a verdict. */
const judgeFile = `(text) => {
  const field = document.querySelector('#file')
  const result = document.querySelector('#result')
  const given = new DataTransfer()
  given.items.add(new File([text], 'answer.json'))
  field.files = given.files
  result.replaceChildren()
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      const headline = result.querySelector('h2')
      if (!headline?.className) return
      observer.disconnect()
      resolve([headline.textContent, document.querySelector('#details p')?.textContent])
    })
    observer.observe(result, { childList: true })
    field.dispatchEvent(new Event('change'))
  })
}`

const outcomes: ReadonlyMap<string | undefined, string> = new Map([
  ['✓ Run again here: the same rows', 'same'],
  ['✗ Run again here: other rows than those that were signed', 'other'],
  ['? Inconclusive here', 'unknown'],
])

export class PageBench {
  readonly #browser: Browser
  readonly page: Page

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser
    this.page = page
  }

  /** Opens the page of the node at `url`. */
  static async open(url: string): Promise<PageBench> {
    const browser = await startChromium()
    const page = await browser.page()
    await page.open(`${url}/assets/rerun/page.html`)
    await page.evaluate(keepWorker)
    return new PageBench(browser, page)
  }

  /** What the page says of a saved answer: `outcome` is the headline where that is none of an engine. */
  async judge(text: string): Promise<{ readonly outcome: string; readonly why: string }> {
    const said = await this.page.evaluate(`(${judgeFile})(${JSON.stringify(text)})`)
    const [headline = '', why = ''] = said as string[] // of judgeFile
    return { outcome: outcomes.get(headline) ?? headline, why }
  }

  async close(): Promise<void> {
    await this.#browser.close()
  }
}
