// The map of a page in the colours of a value, in a real browser: classes of numbers, most frequent texts, the legend, what the
// pointer reads, in light and dark; and classes of columns that have few values, or none.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { classesOf } from '../../../src/features/console/charts/classes.ts'
import { type Browser, chromium, type Page, startChromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'
import { type Driver, drive } from './driver.ts'

const mag = { name: 'mag', type: 'Float64', isNumber: true }
const kind = { name: 'kind', type: 'String', isNumber: false }

describe('the classes of a column', () => {
  const told = (cells: readonly (string | undefined)[], column = mag): unknown =>
    classesOf(cells, column).map((one) => one && `${one.name} ${one.text}`)

  test.each([
    ['nothing', [], []],
    ['nulls alone', [undefined, undefined], [undefined, undefined]],
    ['one value', ['2', '2'], ['step-0 2', 'step-0 2']],
    ['two values', ['1', '-1', '1'], ['step-5 1', 'step-0 -1', 'step-5 1']],
    ['what is no number', ['NaN', '1', 'Infinity', '2'], [undefined, 'step-0 1', undefined, 'step-5 2']],
    [
      'seven numbers',
      ['7', '1', '6', '2', '5', '3', '4'],
      ['step-5 6 to 7', 'step-0 1', 'step-5 6 to 7', 'step-1 2', 'step-4 5', 'step-2 3', 'step-3 4'],
    ],
  ])('%s', (_, cells, expected) => {
    expect(told(cells)).toEqual(expected)
  })

  test('are of about as many rows each, whatever one of them is', () => {
    const numbers = Array.from({ length: 600 }, (_, i) => (i === 0 ? 1e9 : i / 10))
    const names = classesOf(numbers.map(String), mag).map((one) => one?.name)
    const counts = Array.from({ length: 6 }, (_, at) => names.filter((name) => name === `step-${at}`).length)
    expect(counts).toEqual([100, 100, 100, 100, 100, 100])
  })

  test('of texts are the eight that are met most; of days their order', () => {
    const cells = Array.from({ length: 9 }, (_, at) => Array.from({ length: 9 - at }, () => `t${at}`)).flat()
    const classes = classesOf([...cells, undefined], kind)
    expect(new Set(classes.map((one) => one && `${one.name} ${one.text}`))).toEqual(
      new Set([...Array.from({ length: 8 }, (_, at) => `name-${at} t${at}`), undefined]),
    )
    const days = classesOf(['2026-01-02', '2025-12-31'], { name: 'day', type: 'Date', isNumber: false })
    expect(days.map((one) => one?.text)).toEqual(['2026-01-02', '2025-12-31'])
  })
})

const hostile = '<b>"&amp;\' 東京'
const quakes = Array.from({ length: 1_200 }, (_, i) => ({
  longitude: (i % 40) * 4 - 78,
  latitude: ((i / 40) | 0) * 3 - 45,
  big: String(9_007_199_254_740_993n + BigInt(i)),
  mag: i % 13 === 12 ? null : i / 100,
  // Ten kinds; the first is met most.
  kind: `k${Math.min(9, Math.floor(Math.log2((i % 1023) + 1)))}`,
  [hostile]: i % 2 === 0 ? hostile : 'plain',
}))
const areas = [0, 10, 20].map((at) => ({
  geometry: JSON.stringify({
    type: 'Polygon',
    coordinates: [
      [
        [at, at],
        [at + 8, at],
        [at, at + 8],
        [at, at],
      ],
    ],
  }),
  share: at / 3,
}))

describe.skipIf(chromium === undefined)('a map by a value', async () => {
  const open = await liveNode()
  let browser: Browser
  let page: Page
  let driver: Driver

  beforeAll(async () => {
    const lines = quakes.map((row) => JSON.stringify(row).replace(/"big":"(\d+)"/, '"big":$1'))
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    await open.call('/acme/quakes/ingest?create=true', { method: 'POST', headers, body: lines.join('\n') })
    await open.ingest('acme/areas', areas, '?create=true')
    browser = await startChromium()
    page = await browser.page()
    driver = drive(page)
  })
  afterEach(() => {
    const faults = page.faults().filter((fault) => !fault.includes('NavigationEntryMarkedSkippable'))
    if (faults.length > 0) throw new Error(`the page did what it must not do: ${faults.join('\n')}`)
  })
  afterAll(() => browser.close())

  /** A page whose map was not drawn in time has none: it is asked for again. */
  const visitMap = async (path: string): Promise<void> => {
    await until('a page with its map', async () => {
      await driver.visit(open.node.url + path)
      return (await page.evaluate("document.querySelector('.map svg') !== null")) === true
    })
  }
  const colourBy = async (column: string): Promise<void> => {
    await driver.until("document.querySelector('.zoom select') !== null")
    await page.evaluate(`(() => {
      const select = document.querySelector('.zoom select')
      select.value = ${JSON.stringify(column)}
      select.dispatchEvent(new Event('change', { bubbles: true }))
    })()`)
  }
  const legend = async (): Promise<unknown> => {
    await driver.until("document.querySelector('.map .legend li') !== null")
    return await page.evaluate(
      "[...document.querySelectorAll('.map .legend li')].map(({ textContent }) => textContent)",
    )
  }
  const dots = async (): Promise<unknown> =>
    await page.evaluate(
      "Object.fromEntries([...document.querySelectorAll('.values .points')].map((path) => [path.classList[1], path.getAttribute('d').split('M').length - 1]))",
    )

  test('of a dataset asks the node for what it shows, and tells the classes', async () => {
    await visitMap('/acme/quakes')
    await colourBy('mag')
    const told = (await legend()) as string[]
    expect([told.length, told[0]?.startsWith('0 to '), told.at(-1)]).toEqual([7, true, 'other or no value'])
    const found = (await dots()) as Record<string, number>
    const nulls = quakes.filter((row) => row.mag === null).length
    expect(found['rest']).toBe(nulls)
    for (let step = 0; step < 6; step++)
      expect(Math.abs((found[`step-${step}`] ?? 0) - (1_200 - nulls) / 6)).toBeLessThan(3)
    await colourBy('kind')
    await driver.until("document.querySelector('.values .name-0') !== null")
    expect(await legend()).toHaveLength(9)
    await colourBy(hostile)
    await driver.until(
      `[...document.querySelectorAll('.legend li')].some(({ textContent }) => textContent === ${JSON.stringify(hostile)})`,
    )
    await colourBy('one colour')
    await driver.until("document.querySelector('.values') === null")
  })

  test('reads the values of a feature off, to the last digit', async () => {
    await visitMap('/acme/quakes')
    await driver.until("document.querySelector('.zoom select') !== null")
    await page.evaluate("document.querySelector('.zoom button').focus()")
    const next = 'document.querySelector(\'.zoom [aria-label="The next feature"]\')'
    await driver.until(`(${next}.click(), document.querySelector('.zoom output').textContent.includes('mag'))`)
    const text = String(await page.evaluate("document.querySelector('.zoom output').textContent"))
    const row = quakes[Number(/^offset (\d+)/.exec(text)?.[1])]
    expect(Number(/ mag (\S+) · /.exec(text)?.[1])).toBe(row?.mag ?? Number.NaN)
    expect(text).toContain(`big ${row?.big} · `)
    expect(text).toContain(`kind ${row?.kind}`)
  })

  test('of an answer takes what its table shows; areas have colours too', async () => {
    await driver.visit(`${open.node.url}/query`)
    await page.evaluate(
      "document.querySelector('#statement').value = 'select geometry, share, big from \"acme/areas\", (select max(big) as big from \"acme/quakes\")'; document.querySelector('#ask').requestSubmit()",
    )
    await driver.until("document.querySelector('#answer .zoom select') !== null")
    expect(
      await page.evaluate("[...document.querySelector('.zoom select').options].map(({ value }) => value)"),
    ).toEqual(['one colour', 'share', 'big'])
    await colourBy('share')
    expect(await legend()).toEqual(['0', '3.3333', '6.6667'])
    expect(
      await page.evaluate("[...document.querySelectorAll('.areas path')].map((path) => path.getAttribute('class'))"),
    ).toEqual(['step-0', 'step-3', 'step-5'])
    expect(await driver.look()).toEqual([])
  })

  test('can be told apart on its paper, in light and in dark', async () => {
    await visitMap('/acme/areas')
    await colourBy('share')
    await legend()
    for (const scheme of ['light', 'dark']) {
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
      const colours = (await page.evaluate(`(() => {
        const colourOf = (name) => {
          const at = document.createElement('span')
          at.className = 'swatch ' + name
          document.querySelector('.legend').append(at)
          const text = getComputedStyle(at).backgroundColor
          at.remove()
          return text.match(/[\\d.]+/g).map(Number)
        }
        const paper = getComputedStyle(document.querySelector('.map svg')).backgroundColor.match(/[\\d.]+/g).map(Number)
        const names = [...Array.from({ length: 6 }, (_, i) => 'step-' + i), ...Array.from({ length: 8 }, (_, i) => 'name-' + i), 'rest']
        return [paper, ...names.map(colourOf)]
      })()`)) as number[][]
      const [paper = 0, ...lights] = colours.map(luminance)
      const contrasts = lights.map((light) => (Math.max(light, paper) + 0.05) / (Math.min(light, paper) + 0.05))
      for (const contrast of contrasts) expect(contrast).toBeGreaterThan(3)
      // From little to much, step by step further from the paper: without any colour, too.
      expect(contrasts.slice(0, 6)).toEqual(contrasts.slice(0, 6).sort((a, b) => a - b))
      expect(new Set(colours.map(String)).size).toBe(16)
    }
    await page.send('Emulation.setEmulatedMedia', { features: [] })
  })
})

/** Of WCAG 2. */
function luminance([red = 0, green = 0, blue = 0]: readonly number[]): number {
  const linear = (part: number): number =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}
