// Pictures of every page of the console, light, dark and at a phone's width, of a node with data of its own: to be looked
// at after a change of its looks. Usage: node scripts/screenshots.ts FOLDER

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Page, startChromium } from '../test/helpers/chromium.ts'
import { serveNode } from '../test/helpers/run-node.ts'
import { buildPages } from './build-pages.ts'

const folder = process.argv[2] ?? ''
if (folder === '') throw new Error('usage: node scripts/screenshots.ts FOLDER')

const pages = {
  datasets: '/',
  readings: '/acme/readings',
  stations: '/city/stations',
  empty: '/acme/empty',
  sql: '/query?query=select+*+from+%22acme/readings%22',
  saved: '/q',
  'saved-query': '/q/by-sensor?sensor=roof-2',
  send: '/ingest',
  verify: '/verify',
  'verify-file': '/assets/verify.html',
  rerun: '/assets/rerun/page.html',
  node: '/info',
  errors: '/errors',
  error: '/errors/saturated',
  missing: '/acme/nothing',
  // With the token:
  tokens: '/tokens',
  change: '/city/stations',
}
/** Asked for on the SQL page. */
const statement =
  'select date_trunc(\'hour\', event_time) as hour, avg(celsius) as celsius, max(humidity) as humidity from "acme/readings" group by all order by hour'
const looks = [
  { name: 'light', scheme: 'light', width: 1280 },
  { name: 'dark', scheme: 'dark', width: 1280 },
  { name: 'phone', scheme: 'light', width: 390 },
  { name: 'phone-dark', scheme: 'dark', width: 390 },
]

const readings = Array.from({ length: 5_000 }, (_, i) => ({
  event_time: new Date(Date.UTC(2026, 2, 1) + i * 60_000).toISOString(),
  sensor: `roof-${i % 4}`,
  celsius: Math.round(150 + 60 * Math.sin(i / 230) + 25 * Math.sin(i / 7)) / 10,
  humidity: Math.round(60 + 20 * Math.cos(i / 400) + (i % 5)),
  note: i % 400 === 0 ? 'calibrated' : null,
}))
const stations = Array.from({ length: 300 }, (_, i) => ({
  name: `Station ${i}`,
  bikes: (i * 7) % 24,
  geometry: { type: 'Point', coordinates: [10 + 8 * Math.sin(i * 1.7) * Math.cos(i), 50 + 5 * Math.cos(i * 1.3)] },
}))

await buildPages()
mkdirSync(folder, { recursive: true })
const data = mkdtempSync(join(tmpdir(), 'proofstream-screenshots-'))
const node = await serveNode(data)
const browser = await startChromium()
try {
  const token = readFileSync(join(data, 'token'), 'utf8').trim()
  const send = async (method: string, path: string, body: string, type = 'application/json'): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, prefer: 'wait=20' }
    const answer = await fetch(node.url + path, { method, headers, body })
    if (!answer.ok) throw new Error(await answer.text())
  }
  const rows = (path: string, list: readonly object[]): Promise<void> =>
    send(
      'POST',
      `${path}/ingest?create=true`,
      list.map((row) => JSON.stringify(row)).join('\n'),
      'application/x-ndjson',
    )
  const description = 'Temperature and humidity on the roof, a reading a minute.'
  await send('PUT', '/acme/readings', JSON.stringify({ info: { kind: 'SetInfo', description, keywords: ['roof'] } }))
  await send('PUT', '/acme/empty', '{}')
  for (let at = 0; at < readings.length; at += 1_000) await rows('/acme/readings', readings.slice(at, at + 1_000))
  await rows('/city/stations', stations)
  const query =
    'select event_time, celsius from acme.readings where sensor = $sensor order by event_time desc limit 100'
  const about = 'The newest readings of a sensor'
  await send('PUT', '/q/by-sensor', JSON.stringify({ query, about, parameters: { sensor: 'roof-1' } }))
  const head = await (await fetch(`${node.url}/acme/readings/refs/head`)).text()
  const page = await browser.page()
  for (const { name, scheme, width } of looks) {
    await page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: width < 500,
    })
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
    for (const [of, path] of Object.entries({ block: `/acme/readings/blocks/${head}`, ...pages })) {
      await page.open(node.url + path)
      if (of === 'tokens' || of === 'change') await giveToken(page, token)
      writeFileSync(join(folder, `${of}-${name}.png`), await page.screenshot())
      if (of === 'readings' && name === 'light') await small(page, 'dataset')
    }
    await page.open(`${node.url}/query?query=${encodeURIComponent(statement)}`)
    await page.evaluate("document.querySelector('#ask button').click()")
    while ((await page.evaluate("document.querySelector('#answer svg') !== null")) !== true);
    writeFileSync(join(folder, `answer-${name}.png`), await page.screenshot())
    if (name === 'light') await small(page, 'sql')
  }
} finally {
  await browser.close()
  await node.end('SIGTERM')
  rmSync(data, { recursive: true, force: true })
}

/** The top of the page. */
async function small(page: Page, name: string): Promise<void> {
  const clip = { x: 0, y: 0, width: 1265, height: 720, scale: 0.6 }
  const { data } = await page.send('Page.captureScreenshot', { clip })
  writeFileSync(join(folder, `small-${name}.png`), Buffer.from(String(data), 'base64'))
}

/** As a person does, and takes it back for the next page. */
async function giveToken(page: Page, token: string): Promise<void> {
  await page.evaluate(`(() => {
    const form = document.querySelector('main form[data-token]') ?? document.querySelector('form[data-token]')
    form.querySelector('input').value = ${JSON.stringify(token)}
    form.requestSubmit()
  })()`)
  const shown = "document.querySelector('#make-token:not([hidden]), #changes:not([hidden])') !== null"
  while ((await page.evaluate(shown)) !== true);
  await page.evaluate('sessionStorage.clear()')
}
