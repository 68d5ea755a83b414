// CSV that goes out in other dialects: Python reads the same table from each, and so does ingest; what no dialect has is refused.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const dir = await mkdtemp(join(tmpdir(), 'proofstream-dialects-'))
afterAll(async () => await rm(dir, { recursive: true, force: true }))

type Choices = Readonly<Record<string, string>>
const path = (query: string, more: Choices): string =>
  `/query?${new URLSearchParams({ query, format: 'Csv', ...more }).toString()}`

const script = `
import csv, io, json, sys
for line in open(sys.argv[1]):
    of = json.loads(line)
    text = bytes.fromhex(of['hex']).decode(of['charset'])
    rows = list(csv.reader(io.StringIO(text, newline=''), delimiter=of['delimiter'], strict=True))
    print(json.dumps(rows))
`

interface Written {
  readonly bytes: Uint8Array
  readonly charset: string
  readonly delimiter: string
}

/** The cells of each file, as Python reads them. */
async function cellsOf(files: readonly Written[]): Promise<string[][][]> {
  const file = join(dir, 'files.jsonl')
  const lines = files.map(({ bytes, ...of }) => JSON.stringify({ ...of, hex: Buffer.from(bytes).toString('hex') }))
  await writeFile(file, lines.join('\n'))
  const { stdout } = await promisify(execFile)('python3', ['-c', script, file], { maxBuffer: 1e9 })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as string[][]) // as the script printed them
}

const fields = ['String?', 'Float64?', 'Int64?', 'Decimal(9,3)?', 'Timestamp(Microsecond)?', 'Bool?', 'String?'].map(
  (type, at) => ({ name: at === 6 ? 'a;b|c' : `c${at}`, type }),
)
const columns = fields.map(({ name }) => `"${name}"`).join(', ')
/** Letters that each of the character sets has. */
const letters = fc.constantFrom(...Array.from(`ab1.,;|:'"# \t\r\n_-=\\é`))
const row = fc.record({
  c0: fc.option(fc.string({ unit: letters, maxLength: 8 })),
  c1: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential())),
  c2: fc.option(fc.integer()),
  c3: fc.option(fc.integer({ min: -999_999, max: 999_999 }).map((value) => (value / 1000).toFixed(3))),
  c4: fc.option(fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })),
  c5: fc.option(fc.boolean()),
  'a;b|c': fc.option(fc.string({ unit: letters, maxLength: 3 })),
})
const rows = fc.sample(row, { numRuns: 60, seed: 11 })
await live.call('/acme/mixed', { method: 'PUT', json: { schema: { fields } } })
const body = rows.map(({ c1, ...row }, at) => {
  const time = new Date(1_700_000_000_000 + at).toISOString()
  return `${JSON.stringify({ ...row, event_time: time }).slice(0, -1)},"c1":${c1}}`
})
const sent = { method: 'POST', headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30' } }
const stored = await live.call('/acme/mixed/ingest', { ...sent, body: body.join('\n') })
const select = `select ${columns} from "acme/mixed" order by offset`

/** By their names here and in Python. */
const charsets: Readonly<Record<string, string>> = {
  'utf-8': 'utf-8',
  'windows-1252': 'cp1252',
  latin1: 'cp1252',
  'iso-8859-15': 'iso-8859-15',
  'windows-1250': 'cp1250',
  macintosh: 'mac-roman',
  'utf-16': 'utf-16-le',
  'utf-16be': 'utf-16-be',
  gbk: 'gbk',
  gb18030: 'gb18030',
}
const dialect = fc.record({
  delimiter: fc.constantFrom(',', ';', 'tab', '|', ':', '.', ' ', '#', '_'),
  decimal: fc.constantFrom('.', ','),
  charset: fc.constantFrom(...Object.keys(charsets)),
})

describe('CSV in another dialect', () => {
  it('is read by Python as the same table', { timeout: 60_000 }, async () => {
    expect([stored.status, stored.at('detail')]).toEqual([200, undefined])
    const plain = await live.call(path(select, {}))
    const said = fc.sample(dialect, { numRuns: 40, seed: 5 })
    const files: Written[] = [{ bytes: plain.bytes, charset: 'utf-8', delimiter: ',' }]
    for (const one of said) {
      const answer = await live.call(path(select, one))
      expect([one, answer.status]).toEqual([one, 200])
      expect(answer.headers['content-type']).toBe(
        `text/csv; charset=${new TextDecoder(one.charset).encoding}; header=present`,
      )
      const delimiter = one.delimiter === 'tab' ? '\t' : one.delimiter
      files.push({ bytes: answer.bytes, charset: charsets[one.charset] ?? '', delimiter })
    }
    const [wanted = [], ...found] = await cellsOf(files)
    expect(wanted).toHaveLength(rows.length + 1)
    for (const [at, cells] of found.entries()) {
      const comma = (cell: string, column: number): string =>
        /[13]/.test(String(column)) ? cell.replace('.', ',') : cell
      const shown = said[at]?.decimal === ',' ? wanted.map((row, n) => (n === 0 ? row : row.map(comma))) : wanted
      expect([said[at], cells]).toEqual([said[at], shown])
    }
  })

  it('is read back by ingest in that dialect as the same rows', { timeout: 60_000 }, async () => {
    const before = await live.query(select, { dataFormat: 'JsonAoa', include: [] })
    for (const [at, said] of fc.sample(dialect, { numRuns: 12, seed: 3 }).entries()) {
      const alias = `acme/back-${at}`
      await live.call(`/${alias}`, { method: 'PUT', json: { schema: { fields } } })
      const { bytes } = await live.call(path(select.replace('select', 'select event_time,'), said))
      const back = await live.call(
        `/${alias}/ingest?${new URLSearchParams({ header: 'present', ...said }).toString()}`,
        {
          ...sent,
          headers: { ...sent.headers, 'content-type': 'text/csv' },
          body: bytes,
        },
      )
      expect([said, back.status, back.status === 200 ? '' : back.text]).toEqual([said, 200, ''])
      const after = await live.query(select.replace('acme/mixed', alias), { dataFormat: 'JsonAoa', include: [] })
      expect([said, after.at('output.data')]).toEqual([said, before.at('output.data')])
    }
  })

  it('quotes what holds the delimiter, begins with a mark, and is otherwise as it always was', async () => {
    const sql = `select 1.5::double as a, 'x;y' as "b;", time '10:00:00.5' as c, -2.25::decimal(5,2) as d, null as e, '' as f`
    const text = async (more: Choices): Promise<string> => (await live.call(path(sql, more))).text
    expect(await text({})).toBe('a,b;,c,d,e,f\r\n1.5,x;y,10:00:00.500,-2.25,,""\r\n')
    expect(await text({ delimiter: ',', decimal: '.', charset: 'UTF8', bom: 'false' })).toBe(await text({}))
    expect(await text({ delimiter: ';', decimal: ',' })).toBe('a;"b;";c;d;e;f\r\n1,5;"x;y";10:00:00.500;-2,25;;""\r\n')
    expect(await text({ decimal: ',' })).toBe('a,b;,c,d,e,f\r\n"1,5",x;y,10:00:00.500,"-2,25",,""\r\n')
    expect(await text({ delimiter: '.' })).toBe(
      'a.b;.c.d.e.f\r\n"1.5".x;y."10:00:00.500"."-2.25".."""\r\n'.replace('"""', '""'),
    )
    expect((await text({ delimiter: ':' })).split('\r\n')[1]).toBe('1.5:x;y:"10:00:00.500":-2.25::""')
    const marked = await live.call(path(sql, { bom: 'true' }))
    expect(Buffer.from(marked.bytes)).toEqual(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from(await text({}))]))
    const wide = await live.call(path(sql, { bom: 'true', charset: 'utf-16' }))
    expect(Buffer.from(wide.bytes).toString('utf16le')).toBe(`\ufeff${await text({})}`)
    expect(await text({ escapeFormulas: 'true', delimiter: ';', decimal: ',' })).toContain('\r\n1,5;')
    const posted = await live.query(sql, { dataFormat: 'Csv', delimiter: 'tab', decimal: ',', charset: 'latin1' })
    expect(posted.text).toBe('a\tb;\tc\td\te\tf\r\n1,5\tx;y\t10:00:00.500\t-2,25\t\t""\r\n')
  })

  it('is had of every route that gives CSV', async () => {
    await live.call('/q/mixed', { method: 'PUT', json: { query: select } })
    const more = 'format=Csv&delimiter=%3B&decimal=%2C&bom=true'
    const [, head = ''] = (await live.call(`/q/mixed?${more}&limit=1`)).text.split('\ufeff')
    expect(head.startsWith('c0;c1;c2;c3;c4;c5;"a;b|c"\r\n')).toBe(true)
    for (const place of ['export', 'tail']) {
      const { text } = await live.call(`/acme/mixed/${place}?${more}`)
      expect(text.startsWith('\ufeffoffset;op;system_time;event_time;c0;')).toBe(true)
    }
  })

  it('has another tag for other bytes', async () => {
    const tags = await Promise.all(
      [{}, { delimiter: ';' }, { decimal: ',' }, { charset: 'latin1' }, { bom: 'true' }].map(
        async (more) => (await live.call(path('select 1 as a', more as Choices))).headers.etag, // of texts
      ),
    )
    expect(new Set(tags).size).toBe(5)
  })
})

describe('a dialect that no CSV has', () => {
  it.each<Choices>([
    { delimiter: 'ab' },
    { delimiter: '' },
    { delimiter: 'a' },
    { delimiter: '"' },
    { delimiter: '-' },
    { delimiter: '§' },
    { decimal: ';' },
    { charset: 'klingon' },
    { charset: 'x-user-defined' },
    { charset: 'windows-1252', bom: 'true' },
    { bom: 'yes' },
    { delimeter: ';' },
    { format: 'Parquet', delimiter: ';' },
    { format: 'NdJson', decimal: '.' },
    { format: 'JsonAoa', charset: 'utf-8' },
    { format: 'JsonAos', bom: 'false' },
  ])('is refused: %o', async (more) => {
    expect((await live.call(path('select 1 as a', more))).refusal).toBe('400 InvalidParameter')
    const file = new URLSearchParams({ format: 'Csv', ...more }).toString()
    expect((await live.call(`/acme/mixed/export?${file}`)).refusal).toBe('400 InvalidParameter')
    expect((await live.call(`/acme/mixed/tail?${file}`)).refusal).toBe('400 InvalidParameter')
    const { format = 'Csv', ...members } = more
    expect((await live.query('select 1 as a', { dataFormat: format, ...members })).refusal).toBe('422 InvalidRequest')
  })

  it('has a letter that its character set lacks: refused before the first byte, the connection ends after it', async () => {
    const answer = await live.call(path("select 'naïve ł' as t", { charset: 'windows-1252' }))
    expect([answer.refusal, answer.at('detail')]).toEqual([
      '400 InvalidParameter',
      "charset: windows-1252 has no 'ł' (U+0142).",
    ])
    for (const [charset, letter] of [
      ['windows-1252', '\u0081'],
      ['iso-8859-1', '\u0100'],
      ['shift_jis', '€'],
      ['euc-kr', '👍'],
      ['windows-1252', '\ufffd'],
    ] as const) {
      const refused = await live.call(path(`select chr(${letter.codePointAt(0)}) as t`, { charset }))
      expect([charset, letter, refused.refusal]).toEqual([charset, letter, '400 InvalidParameter'])
    }
    expect((await live.call(path("select '?' as t", { charset: 'windows-1252' }))).text).toBe('t\r\n?\r\n')
    const late = "select case when i = 900000 then 'ł' else 'some text' end as t from range(1000000) r(i)"
    const cut = await live.call(path(late, { charset: 'windows-1252' })).catch((error: unknown) => error)
    expect(cut).toMatchObject({ code: 'ECONNRESET' })
  })
})
