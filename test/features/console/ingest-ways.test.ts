// The ingest page in a real browser: how a file is read is shown beside its lines and changes with the fields, what is in doubt is
// asked, the event time before the first block, and what the node says of parameters is said of fields.

import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromium } from '../../helpers/chromium.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { bookOf } from '../excel/reading.ts'
import { ingestPageIn } from './ingest-driver.ts'

const live = await liveNode()
const { page, driver, visit, choose, type, press, pressText, said, cells, rows, valueOf, signIn } =
  await ingestPageIn(live)

describe.skipIf(chromium === undefined)('the ingest page in Chromium', () => {
  beforeAll(async () => {
    await visit()
    await signIn(live.adminToken)
  })

  test('reads a file of another country once it is asked how, with what is missing filled in by a person', async () => {
    await visit('acme/office-excel')
    const german = Buffer.from(
      'Tag;Wert;Ort\r\n31.12.2025 14:05;1,5;M\xfcnchen\r\n31.12.2025 14:10;2,5;K\xf6ln\r\n',
      'latin1',
    )
    await choose('Messwerte.csv', german)
    expect(await said(/✗/)).toContain('31.12.2025 14:05;1,5;M\ufffdnchen')
    // What the node says of a parameter of its address is a button of its field.
    await pressText('Charset: windows-1252')
    await driver.until("document.querySelector('#details pre').innerText.includes('München')")
    await type('#p-delimiter', ';')
    await type('#p-decimal', ',')
    await said(/\? The first batch has to say/)
    expect(await page.evaluate("document.querySelector('#details').innerText")).not.toMatch(
      /eventTime|timeZone|dateFormat/,
    )
    expect(await driver.look()).toEqual([])
    await page.evaluate("document.querySelector('.way input').click()")
    await pressText('Read it so')
    expect(await valueOf('[name="p-dateFormat.Tag"]')).toBe('dd.MM.yyyy HH:mm')
    expect(await page.evaluate('document.activeElement.id')).toBe('p-timeZone')
    // Named, never filled in.
    expect(await page.evaluate("document.activeElement.value + '|' + document.activeElement.placeholder")).toMatch(
      /^\|\w/,
    )
    expect(await page.evaluate("document.querySelectorAll('#zones option').length > 300")).toBe(true)
    await said(/✗/)
    await type('#p-timeZone', 'Europe/Berlin')
    await said(/It fits: 2 records/)
    const [, read, , first] = await cells()
    expect(first).toEqual(['0', '2025-12-31T13:05:00Z', '1.5', 'München'])
    expect(read?.join()).toContain('Europe/Berlin')
    expect(await driver.look()).toEqual([])
    await press('#send button')
    await said(/✓ Stored/)
    expect(await rows('acme/office-excel', true)).toEqual([
      ['2025-12-31T13:05:00Z', 1.5, 'München'],
      ['2025-12-31T13:10:00Z', 2.5, 'Köln'],
    ])
  })

  test('asks which time is the event time before the first block, and takes none by itself', async () => {
    await visit('acme/us')
    await choose('us.csv', 'when,amount,due\n01/02/2025 09:00 AM,1.5,2025-03-01\n01/03/2025 10:00 AM,2.5,2025-03-02\n')
    await said(/\? The first batch has to say/)
    const choices = "[...document.querySelectorAll('.way label')].map((one) => one.innerText)"
    const shown = (await page.evaluate(choices)) as string[]
    expect(shown.map((one) => /dd\/MM|MM\/dd|arrival/.exec(one)?.[0])).toEqual(['dd/MM', 'MM/dd', 'arrival'])
    await page.evaluate("document.querySelectorAll('.way input')[2].click()")
    await pressText('Read it so')
    await said(/It fits/)
    expect(await page.evaluate("[...document.querySelector('#event-time').options].map((one) => one.value)")).toEqual([
      'due',
      'received',
    ])
    await type('#event-time', 'due')
    await driver.until("document.querySelector('#details tbody td')?.innerText === 'Date'")
    expect(await valueOf('#p-eventTime')).toBe('due')

    await visit('acme/days')
    await choose('days.csv', 'due,n\n2025-03-01,1\n')
    await said(/It fits/)
    expect(await valueOf('#event-time')).toBe('')
    await press('#send button')
    expect(await page.evaluate("document.activeElement.id + document.querySelector('#result').innerText")).toContain(
      'event-timeIt fits',
    )
    expect(await live.head('acme/days')).toBe(undefined)
    await pressText('Event time: due')
    await driver.until("document.querySelector('#event-time').value === 'due'")
    await said(/It fits/)
    await press('#send button')
    await said(/✓ Stored/)
    expect(await rows('acme/days', true)).toEqual([['2025-03-01', 1]])
    // Of a dataset that is there it is settled.
    await visit('acme/days')
    await choose('more.csv', 'due,n\n2025-03-02,2\n')
    await said(/It fits/)
    expect(await page.evaluate("document.querySelector('#time').hidden")).toBe(true)
  })

  test('shows what the node offers as buttons, each with the first record as it would be read', async () => {
    await visit('acme/offered')
    // An answer as nodes give it that try dialects.
    await page.evaluate(`(() => {
      const parse = JSON.parse
      JSON.parse = (text) => {
        const value = parse(text)
        if (value?.dryRun !== true || document.querySelector('#p-decimal').value !== '') return value
        const offer = (parameters, first) => ({ parameters, query: '', first })
        return { ...value, offers: [offer({ decimal: ',' }, { v: 1.5 }), offer({ decimal: ',', group: '.' }, { v: 15 })] }
      }
    })()`)
    await choose('v.csv', 'v\n"1,5"\n')
    expect(await said(/It fits/)).toContain('Decimal: , · Group: .')
    expect(
      await page.evaluate("[...document.querySelectorAll('.way td, .way tbody th')].map((one) => one.innerText)"),
    ).toEqual(['1.5', '15'])
    expect(await driver.look()).toEqual([])
    await pressText('Read it so')
    await driver.until("document.querySelector('#details tbody td:last-child')?.innerText === 'Float64'")
    expect(await valueOf('#p-group')).toBe('')
    expect(await page.evaluate('document.activeElement.id')).toBe('result')
  })

  test('takes a file that is dropped anywhere, and reads it again as its fields change', async () => {
    await visit('')
    await page.evaluate(`(() => {
      const dropped = new DataTransfer()
      dropped.items.add(new File(['a;b\\n1;2\\n2;3\\n'], 'Wärme_2026.csv'))
      document.querySelector('footer, h1').dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, bubbles: true, cancelable: true }))
    })()`)
    await driver.until("document.querySelector('#dataset').value === 'me/warme-2026'")
    await type('#p-delimiter', ';')
    await said(/It fits: 2 records/)
    expect((await cells())[0]).toEqual(['Type', 'Timestamp', 'Int64', 'Int64'])
    // A column has fields of its own.
    await type('#of-column', 'b')
    await type('[name="p-nulls.b"]', '2')
    await driver.until("document.querySelector('#details tbody tr:nth-child(3) td:last-child')?.innerText === '1'")
    expect(await driver.look()).toEqual([])
  })

  test('shows a workbook as rows, and a file of columns, which are no text', async () => {
    const book = bookOf({
      rows: '<row r="1"><c r="A1" t="inlineStr"><is><t>n</t></is></c></row><row r="2"><c r="A2"><v>7</v></c></row>',
    })
    const parquet = readFileSync(new URL('../../fixtures/parquet/geo-wkb.parquet', import.meta.url))
    for (const [name, file] of [
      ['book.xlsx', book],
      ['rows.parquet', parquet],
    ] as const) {
      await visit('acme/files')
      await choose(name, file)
      expect(await said(/It fits/)).toContain('Files of this format are no text.')
      expect((await cells()).length).toBeGreaterThan(3)
    }
  })

  test('proposes a name in the one account that the token covers', async () => {
    const made = await live.call('/tokens', {
      method: 'POST',
      json: { name: 'lab', scopes: ['ingest', 'create', 'read'], datasets: ['lab/*'] },
    })
    await signIn(String(made.at('token')))
    await visit('')
    await choose('x.csv', 'a\n1\n')
    await said(/It fits/)
    expect(await valueOf('#dataset')).toMatch(/^lab\/\d+-x$/)
    await signIn(live.adminToken)
  })
})
