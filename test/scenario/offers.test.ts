// Files as people have them, sent without a word: what is refused, or taken as text, comes with the parameters that read it, and those
// work as they stand.

import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { post, rowsOf } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }
const made = '?create=true'

interface Offer {
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
  readonly first: Readonly<Record<string, unknown>>
}

interface Case {
  readonly file: string
  readonly format: string
  readonly query: string | readonly string[]
}

/** The code spans of a cell. */
const parametersIn = (cell: string): string[] => [...cell.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text)

const folder = new URL('../fixtures/as-people-have-them/', import.meta.url)
const cases = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8')) as readonly Case[]

describe('files as people have them', () => {
  it.each(cases.map((one) => [one.file, one] as const))('%s', async (file, { format, query }) => {
    const headers = { 'content-type': format === 'tsv' ? 'text/tab-separated-values' : 'text/csv' }
    const body = readFileSync(new URL(file, folder))
    const alias = `files/${file.replace('.', '-')}`
    const dry = await post(alias, body, headers, `${made}&dryRun=true`)
    const offers = dry.at('offers') as readonly Offer[]
    expect(offers.map((offer) => offer.query)).toEqual([query].flat())
    for (const [at, offer] of offers.entries()) {
      expect(new URLSearchParams(offer.query)).toEqual(new URLSearchParams(offer.parameters))
      const first = await post(`${alias}-${at}`, body, headers, `${made}&${offer.query}`)
      // What is asked then is which column is the time, and its zone.
      const [way] = (first.at('candidates') ?? []) as readonly Offer[]
      const filled = `${offer.query}&${way?.query}`.replace('timeZone=', 'timeZone=Europe/Berlin')
      const isAsked = first.refusal === '422 SayHow'
      const answer = isAsked ? await post(`${alias}-${at}`, body, headers, `${made}&${filled}`) : first
      expect(answer.refusal).toBe('200 undefined')
      const [row] = (
        await live.query(`select * from "${alias}-${at}" order by "offset" limit 1`, { dataFormat: 'JsonAos' })
      ).at('output.data') as Record<string, unknown>[]
      expect(Object.keys(row ?? {})).toEqual(expect.arrayContaining(Object.keys(offer.first)))
    }
  })
})

test('the page of formats names each with what it needs', () => {
  const page = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8')
  const rows = page.split('\n').flatMap((line) => /^\| (.*?) \| ((?:`[^`]*`|or| )+) \|$/.exec(line)?.slice(1, 3) ?? [])
  const told = rows
    .filter((_, at) => at % 2 === 1)
    .map((cell) =>
      cell
        .replaceAll(String.raw`\|`, '|')
        .split(' or ')
        .map(parametersIn),
    )
  const known = cases.map(({ query }) =>
    [query].flat().map((one) => [...new URLSearchParams(one)].map((pair) => pair.join('='))),
  )
  expect(told).toEqual(expect.arrayContaining(known))
})

describe('an offer', () => {
  it('stands beside a warning where the body is stored', async () => {
    const answer = await post('beside/stored', 'n,d\n1,31.12.2025\n2,30.12.2025\n', csv, made)
    expect(answer.at('offers.0.query')).toBe('dateFormat=dd.MM.yyyy')
    expect(answer.at('warnings')).toEqual([expect.stringContaining('dateFormat=dd.MM.yyyy')])
    const later = await post('beside/stored', 'n,d\n1,31.12.2025\n', csv, '')
    expect([later.at('offers'), later.at('warnings')]).toEqual([undefined, undefined])
  })

  it('counts for a dataset that is there', async () => {
    await post('beside/there', 'a,b\n1,1.5\n', csv, made)
    const refused = await post('beside/there', 'a;b\n2;2,5\n3;3,5\n', csv, '')
    expect(refused.status).toBe(422)
    const answer = await post('beside/there', 'a;b\n2;2,5\n3;3,5\n', csv, `?${String(refused.at('offers.0.query'))}`)
    expect(answer.status).toBe(200)
    expect(await rowsOf('beside/there', 'a, b')).toEqual([
      [1, 1.5],
      [2, 2.5],
      [3, 3.5],
    ])
  })

  it('counts for a dataset whose event time has a name of its own', async () => {
    await post('beside/named', 't,v\n2025-01-01T00:00:00Z,1.5\n', csv, made)
    const body = 't;v\n2025-01-02T00:00:00Z;1,5\n2025-01-03T00:00:00Z;2,5\n'
    const refused = await post('beside/named', body, csv, '')
    expect(refused.at('offers.0.first')).toEqual({ t: '2025-01-02T00:00:00Z', v: 1.5 })
    expect((await post('beside/named', body, csv, `?${String(refused.at('offers.0.query'))}`)).status).toBe(200)
  })

  it('counts for a batch that brings a column to a dataset', async () => {
    await post('beside/wider', 'a,b\n1,1.5\n', csv, made)
    const body = 'a;b;c\n2;2,5;x\n3;3,5;y\n'
    const refused = await post('beside/wider', body, csv, '?unknownFields=add')
    const query = `?unknownFields=add&${String(refused.at('offers.0.query'))}`
    expect([refused.status, (await post('beside/wider', body, csv, query)).status]).toEqual([422, 200])
  })

  it('refuses a title above a table, which would be one column of texts', async () => {
    const body = 'Einwohner der Stadt\nJahr;Anzahl\n2024;1\n2025;2\n'
    const refused = await post('beside/title', body, csv, made)
    expect(refused.refusal).toBe('422 RecordsDoNotFit')
    const answer = await post('beside/title', body, csv, `${made}&${String(refused.at('offers.0.query'))}`)
    expect(answer.at('columns.1')).toMatchObject({ name: 'Jahr', type: 'Int64' })
    expect(answer.at('skipped')).toEqual({ rows: 1, comments: 0, first: { rows: 'Einwohner der Stadt' } })
  })

  it.each([
    ['what is read as it should be', 'a,b\n1,x\n2,y\n', csv],
    ['other formats', '{"a":"1,5"}\n', {}],
    ['a body of no table', '\u0000'.repeat(2000), csv],
  ])('is not made of %s', async (_, body, headers) => {
    expect((await post('beside/none', body, headers, `${made}&dryRun=true`)).at('offers')).toBeUndefined()
  })

  it('says nothing that the media type says, and nothing against it', async () => {
    const cells = Buffer.from('Ort;Wert\nKöln;1,5\n', 'latin1')
    const typed = { 'content-type': 'text/csv; charset=windows-1252; header=present' }
    const refused = await post('beside/typed', cells, typed, made)
    expect(refused.at('offers.0.parameters')).toEqual({ delimiter: ';', decimal: ',' })
    expect(
      (await post('beside/typed', Buffer.from('Ort,n\nKöln,1\n', 'latin1'), typed, made)).at('offers'),
    ).toBeUndefined()
    // What has an event time of its own has no arrival.
    const own = Buffer.from('event_time;n\n2026-01-01T00:00:00Z;1,5\n', 'latin1')
    expect((await post('beside/arrived', own, csv, `${made}&eventTime=received`)).at('offers')).toBeUndefined()
  })

  it('names single columns where others have times without a zone', async () => {
    const body = 'd;t\n31.12.2025;2025-12-31 14:05\n30.12.2025;2025-12-31 14:06\n'
    const query = String((await post('beside/zoneless', body, csv, made)).at('offers.0.query'))
    const asked = await post('beside/zoneless', body, csv, `${made}&${query}`)
    const way = String(asked.at('candidates.0.query')).replace('timeZone=', 'timeZone=UTC')
    expect((await post('beside/zoneless', body, csv, `${made}&${query}&${way}`)).status).toBe(200)
  })

  it('is made of the head of a long body', async () => {
    const lines = Array.from({ length: 200_000 }, (_, n) => `${n};${n},5;Köln`)
    const body = Buffer.from(`n;wert;ort\n${lines.join('\n')}\n`, 'latin1')
    const refused = await post('beside/long', body, csv, made)
    const query = 'charset=windows-1252&delimiter=%3B&decimal=%2C'
    expect(refused.at('offers.0.query')).toBe(query)
    expect((await post('beside/long', body, csv, `${made}&${query}`)).at('records.committed')).toBe(200_000)
  })
})
