// What tests of pages do in a browser: open an address of a node, wait for what scripts bring, press keys, give a token,
// look with axe-core.

import axe from 'axe-core'
import type { Page } from '../../helpers/chromium.ts'
import { patienceMs, until as untilThere } from '../../helpers/until.ts'

export interface Driver {
  /** Opens an address; its visible text. */
  readonly visit: (url: string) => Promise<string>
  readonly text: () => Promise<string>
  /** Waits until the expression is true. */
  readonly until: (expression: string) => Promise<void>
  readonly press: (key: string, modifier?: 'ctrl') => Promise<void>
  readonly type: (text: string) => Promise<void>
  /** Presses the dot of a map that is of this row, by the pointer. */
  readonly pressDot: (row: string) => Promise<void>
  readonly giveToken: (token: string) => Promise<void>
  /** Faults that axe-core finds, and whether the page is wider than the window, in both schemes and at a phone's width. */
  readonly look: (screenshot?: (name: string) => Promise<void>) => Promise<readonly string[]>
}

/** What a page that checks files says of them. */
export interface PageVerdict {
  readonly tone: string
  readonly headline: string
  readonly text: string
}

/** The verdict on a file that is chosen on the page. */
export async function chosenOn(page: Page, path: string): Promise<PageVerdict> {
  await page.evaluate("document.querySelector('#result').replaceChildren(); document.querySelector('#file').value = ''")
  await page.choose('#file', [path])
  return await verdictOn(page)
}

/** The verdict, once it is there. */
export async function verdictOn(page: Page): Promise<PageVerdict> {
  const found = await untilThere('a verdict on the page', () =>
    page.evaluate(`(() => {
      const { className: tone, textContent: headline } = document.querySelector('#result h2') ?? {}
      return tone ? { tone, headline, text: document.querySelector('#verdict').innerText } : null
    })()`),
  )
  return found as PageVerdict // of these members
}

const keyCodes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, Escape: 27, ArrowDown: 40, ArrowUp: 38 }

/** What the page did that none may do: a violation of its policy, an error of a script. An answer that is no success is none. */
export function faultsOf(page: Page): readonly string[] {
  return page.faults().filter((fault) => !(fault.startsWith('Log.entryAdded') && fault.includes('Failed to load')))
}

/** A page that is being left answers nothing: the one that comes is asked again. */
function notYet(error: unknown): undefined {
  if (!(error instanceof Error) || !/navigated|context/.test(error.message)) throw error
}

export function drive(page: Page): Driver {
  const text = async (): Promise<string> => String(await page.evaluate('document.body.innerText'))
  const until = async (expression: string): Promise<void> => {
    const deadline = Date.now() + patienceMs
    while ((await page.evaluate(expression).catch(notYet)) !== true)
      if (Date.now() > deadline) throw new Error(`never came true: ${expression}\n${await text()}`)
  }
  return {
    text,
    until,
    async visit(url) {
      await page.open(url)
      return await text()
    },
    async press(key, modifier) {
      for (const type of ['keyDown', 'keyUp'])
        await page.send('Input.dispatchKeyEvent', {
          type,
          key,
          code: key,
          windowsVirtualKeyCode: keyCodes[key] ?? 0,
          modifiers: modifier === 'ctrl' ? 2 : 0,
          ...(key === 'Enter' && modifier === undefined && type === 'keyDown' ? { text: '\r' } : {}),
        })
    },
    async type(typed) {
      await page.send('Input.insertText', { text: typed })
    },
    async pressDot(row) {
      const [x, y] = (await page.evaluate(`(() => {
        const dots = document.querySelector('.map .points')
        dots.ownerSVGElement.scrollIntoView({ block: 'center' })
        const at = dots.dataset.dots.split(' ').indexOf('${row}')
        const [, x, y] = [...dots.getAttribute('d').matchAll(/M([0-9.]+) ([0-9.]+)/g)][at]
        const place = new DOMPoint(Number(x), Number(y)).matrixTransform(dots.getScreenCTM())
        return [place.x, place.y]
      })()`)) as number[]
      for (const type of ['mousePressed', 'mouseReleased'])
        await page.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: 1, clickCount: 1 })
    },
    async giveToken(token) {
      await page.evaluate(`(() => {
        const form = document.querySelector('main form[data-token]') ?? document.querySelector('form[data-token]')
        form.querySelector('input').value = ${JSON.stringify(token)}
        form.requestSubmit()
      })()`)
    },
    async look(screenshot) {
      const found: string[] = []
      const resize = async (width: number): Promise<void> => {
        const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: width < 500 }
        await page.send('Emulation.setDeviceMetricsOverride', metrics)
        if (Number(await page.evaluate('document.documentElement.scrollWidth')) > width)
          found.push(`wider than ${width}`)
      }
      for (const width of [1920, 768, 390]) await resize(width)
      for (const scheme of ['light', 'dark'])
        for (const width of [1280, 360]) {
          await resize(width)
          await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
          await page.evaluate(`${axe.source};0`)
          const violations = await page.evaluate(
            'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))',
          )
          found.push(...(violations as string[]))
          await screenshot?.(`${scheme}-${width}.png`)
        }
      await page.send('Emulation.clearDeviceMetricsOverride')
      return found
    },
  }
}
