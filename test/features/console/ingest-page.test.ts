// The ingest page in a real browser: a file is looked at before anything is stored, its faults are shown with their places,
// it is stored once however often it is sent, and what it holds is shown as text.

import { describe, expect, test } from 'vitest'
import { chromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { hostileName, hostileText } from './hostile.ts'
import { ingestPageIn } from './ingest-driver.ts'

const live = await liveNode()
const { page, driver, visit, choose, rewrite, press, pressText, said, cells, rows, valueOf } = await ingestPageIn(live)

describe.skipIf(chromium === undefined)('the ingest page in Chromium', () => {
  test('asks for a token where it is needed, and keeps the file', async () => {
    await visit()
    await choose('Raum_2. Stock.csv', 'a\n1\n')
    // Its lines are shown to its owner, whom the node does not know yet.
    expect(await said(/Sending needs a token/)).toContain('In the file')
    await page.evaluate(`document.querySelector('#token-here').value = ${JSON.stringify(live.adminToken)}`)
    await press('#details form button')
    await said(/It fits: 1 record/)
    // A name is proposed after that of the file.
    expect(await valueOf('#dataset')).toBe('me/0-raum-2.stock')
    await driver.until("document.querySelector('.session').classList.contains('held')")
    // What was chosen is chosen still.
    await driver.until("document.querySelector('#file').files.length === 1")
  })

  test('looks at a file for a new dataset, stores nothing, then stores it', async () => {
    await visit('acme/fresh')
    await press('[name=create]')
    await choose('rows.csv', 'site,celsius,day\nroof,21.5,2026-03-01\ncellar,8,2026-03-02\n')
    await press('form.check button')
    expect(await said(/✗/)).toContain('send records with Create it if it is missing.')
    expect(await driver.look()).toEqual([])
    await press('[name=create]')
    await page.evaluate("document.querySelector('#visibility').value = 'private'")
    await press('form.check button')
    expect(await said(/It fits: 2 records/)).toContain('Nothing is stored yet')
    const [type = [], read, nulls, ...values] = await cells()
    expect([type, nulls]).toEqual([
      ['Type', 'Date', 'String', 'Float64'],
      ['Nulls', '0', '0', '0'],
    ])
    expect(read?.[0]).toBe('Read as')
    expect(values).toEqual([
      ['0', '2026-03-01', 'roof', '21.5'],
      ['1', '2026-03-02', 'cellar', '8'],
    ])
    expect(await page.evaluate("document.querySelector('#details pre').innerText")).toContain('roof,21.5,2026-03-01')
    expect(await valueOf('#event-time')).toBe('day')
    expect(await live.head('acme/fresh')).toBe(undefined)
    expect(await driver.look()).toEqual([])
    await press('#send button')
    expect(await said(/✓ Stored/)).toContain(String(await live.head('acme/fresh')))
    expect(await rows('acme/fresh', true)).toEqual([
      ['2026-03-01', 'roof', 21.5],
      ['2026-03-02', 'cellar', 8],
    ])
    expect((await live.call('/acme/fresh')).at('visibility')).toBe('private')
    expect(await page.evaluate("document.querySelector('#details a').getAttribute('href')")).toBe('/acme/fresh')
    expect(await driver.look()).toEqual([])
    // A private dataset is in no ledger: the receipt alone is saved.
    await pressText('Save the signed receipt')
    await driver.until("document.querySelector('#details').innerText.includes('The proof')")
  })

  test('reads a table as its fields say, those of its format alone', async () => {
    await visit('acme/office')
    const shown = (name: string): Promise<unknown> =>
      page.evaluate(`!document.querySelector('#p-${name}').closest('.parameter').hidden`)
    await choose('rows.json', '[{"a":1}]')
    expect([await shown('delimiter'), await shown('charset'), await shown('timeZone')]).toEqual([false, true, true])
    await choose('rows.csv', 'Tag;Wert\n31.12.2025 14:05;1.234,5\n')
    expect([await shown('delimiter'), await shown('layer')]).toEqual([true, false])
    const fields = {
      delimiter: ';',
      decimal: ',',
      group: '.',
      dateFormat: 'dd.MM.yyyy HH:mm',
      timeZone: 'Europe/Berlin',
    }
    for (const [name, value] of Object.entries(fields)) {
      await page.evaluate(`document.querySelector('#p-${name}').value = ${JSON.stringify(value)}`)
    }
    await press('form.check button')
    await said(/It fits: 1 record/)
    expect(await driver.look()).toEqual([])
    await press('#send button')
    await said(/✓ Stored/)
    expect(await rows('acme/office', true)).toEqual([['2025-12-31T13:05:00Z', 1234.5]])
  })

  test('sends a large file once, after a look at its first records', async () => {
    await visit('acme/large')
    // Bodies that the page sends, by their size.
    await page.evaluate(`(() => {
      window.sent = []
      const send = XMLHttpRequest.prototype.send
      XMLHttpRequest.prototype.send = function (body) {
        sent.push(body.size)
        return send.call(this, body)
      }
    })()`)
    const lines = Array.from({ length: 100_000 }, (_, n) => `${n},"${'x'.repeat(80)}\n${n}"\n`).join('')
    const content = `n,text\n${lines}`
    await choose('rows.csv', content)
    expect(await said(/It begins well: [\d,]+ records/)).toContain('stored whole or not at all')
    expect(JSON.stringify(await cells())).toContain('["Type","Timestamp","Int64","String"]')
    await press('#send button')
    await said(/✓ Stored/)
    const [look = 0, ...whole] = (await page.evaluate('sent')) as number[]
    expect(look).toBeLessThanOrEqual(256 * 1024)
    expect(whole).toEqual([content.length])
    expect((await live.call('/acme/large')).at('rows')).toBe(100_000)
    await visit('acme/large')
    await choose('rows.json', `[${' '.repeat(9_000_000)}{"n":1,"text":"a"}]`)
    await press('form.check button')
    await said(/Too large for a preview/)
    expect(await driver.look()).toEqual([])
    await press('#send button')
    await said(/✓ Stored/)
  })

  test('shows the faults of a file with their places, hostile cells as text, and stores nothing', async () => {
    await live.ingest('acme/readings', [{ sensor: 's1', celsius: 21.5 }], '?create=true')
    const before = await live.head('acme/readings')
    await visit('acme/readings')
    await choose('rows.csv', 'sensor,celsius\ns1,1\ns2,<img src=x onerror=alert(1)>\ns3,x\n')
    await press('form.check button')
    const shown = await said(/✗/)
    expect(shown).toContain('2 faults; records count from 0.')
    expect(shown).toContain('Nothing is stored')
    const [first = []] = await cells()
    expect(first.slice(0, 3)).toEqual(['1', '3', 'celsius'])
    expect(first.join()).toContain('<img src=x onerror=alert(1)>')
    expect(await driver.look()).toEqual([])
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0)
    await page.evaluate("document.querySelector('#dataset').dispatchEvent(new Event('input', { bubbles: true }))")
    expect(await page.evaluate("document.querySelector('#result').textContent")).toBe('')
    expect(await live.head('acme/readings')).toBe(before)
  })

  test('shows hostile columns as text, and asks for the format where a name does not tell it', async () => {
    await visit('evil/file')
    await choose('rows.bin', JSON.stringify([{ [hostileName]: hostileText }]))
    await press('form.check button')
    await said(/Choose one/)
    await page.evaluate("document.querySelector('#format').value = 'application/json'")
    await press('form.check button')
    expect(await said(/It fits: 1 record/)).toContain(hostileName)
    await press('#send button')
    await said(/✓ Stored/)
  })

  test.each([
    ['places.gpkg', 'SQLite format 3\0', /GeoPackage.*ogr2ogr/],
    ['places.fgb', 'fgb\u0003fgb', /FlatGeobuf.*ogr2ogr/],
    ['places.kml', '<?xml version="1.0"?><kml>', /KML.*ogr2ogr/],
    ['places.shp', Buffer.from('0000270a00', 'hex'), /zip it with its \.dbf/],
    ['book.xls', Buffer.from('d0cf11e0a1b11ae100', 'hex'), /save it as \.xlsx/],
  ])('says of a file of another program what to do: %s', async (name, content, hint) => {
    await visit('acme/other')
    await choose(name, content)
    expect((await said(/Nothing is stored/)).replaceAll('\n', ' ')).toMatch(hint)
  })

  test('says of a file that was changed since that it is to be chosen again, and sends nothing of it', async () => {
    await visit('acme/changed')
    await choose('rows.csv', 'a\n1\n')
    await said(/It fits/)
    await rewrite('a\n1\n2\n')
    await press('#send button')
    await said(/Choose it again/)
    expect(await live.head('acme/changed')).toBe(undefined)
    await press('form.check button')
    await said(/Choose it again/)
  })

  test('stores a batch once, though it is sent again after an answer that never came', async () => {
    await visit('acme/once')
    await choose('rows.ndjson', '{"a":"x"}\n')
    await press('form.check button')
    await said(/It fits/)
    const offline = (is: boolean): Promise<unknown> =>
      page.send('Network.emulateNetworkConditions', {
        offline: is,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      })
    // Its answer is lost: the page is told of a failure once the node has the batch.
    await page.evaluate(`(() => {
      const send = XMLHttpRequest.prototype.send
      XMLHttpRequest.prototype.send = function (body) {
        XMLHttpRequest.prototype.send = send
        Object.defineProperty(this, 'status', { value: 0 })
        return send.call(this, body)
      }
    })()`)
    await press('#send button')
    await said(/has not said/)
    await offline(true)
    await press('#details button')
    await said(/has not said/)
    await offline(false)
    await press('#details button')
    await said(/✓ It was there/)
    expect(await rows('acme/once')).toEqual([['x']])
    page.faults()
  })

  test('says of a body that it is there before it is sent, and stores it once more only when told', async () => {
    const body = 'n\n1\n'
    await visit('acme/twice')
    await choose('a.csv', body)
    await said(/It fits/)
    await press('#send button')
    await said(/✓ Stored/)
    const head = await live.head('acme/twice')
    await visit('acme/twice')
    await choose('b.csv', body)
    expect(await said(/already/)).toContain(`This very body is in acme/twice already, in block ${head}`)
    expect(await page.evaluate("document.querySelector('#send')")).toBe(null)
    expect(await driver.look()).toEqual([])
    expect(await live.head('acme/twice')).toBe(head)
    await pressText('Store it once more')
    await said(/✓ Stored/)
    expect(await rows('acme/twice')).toEqual([[1], [1]])
    // And by another program with this token, which had the node make the key.
    const dated = 'event_time,n\n2026-03-01T00:00:00Z,1\n'
    const headers = { 'content-type': 'text/csv', prefer: 'wait=20' }
    const path = '/acme/kept-once/ingest?create=true&dedupe=body'
    const stored = await live.call(path, { method: 'POST', headers, body: dated })
    await visit('acme/kept-once')
    await choose('dated.csv', dated)
    expect(await said(/already/)).toContain(`already, in block ${String(stored.at('block.hash'))}`)
    // Of lines that are many, the node is asked by the first of them.
    const many = `n\n${'1234567\n'.repeat(50_000)}`
    await visit('acme/twice')
    await choose('c.csv', many)
    await said(/It begins well/)
    await press('#send button')
    await said(/✓ Stored/)
    await visit('acme/twice')
    await choose('d.csv', many)
    await said(/This very body is in acme\/twice already\./)
  })
})
