// Answers as workbooks, as openpyxl reads them: each type, hostile texts, both sides of each bound, where the rows are from.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { startLiveNode } from '../../helpers/live-node.ts'

const hasOpenpyxl = spawnSync('python3', ['-c', 'import openpyxl']).status === 0
const live = await startLiveNode({ 'anonymous-read': true }, { limits: { resultRows: 1000 } })
const dir = await mkdtemp(join(tmpdir(), 'proofstream-written-'))
afterAll(async () => {
  await live.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Cells by their kinds: b, n, s, t (a day or a time), null where there is none. */
const script = `
import datetime, json, sys, warnings, openpyxl
from openpyxl.utils.escape import unescape
warnings.simplefilter('error')
def cell(c):
    v = c.value
    if v is None: return None if c.data_type == 'n' else ['s', '']
    if isinstance(v, bool): return ['b', v]
    if isinstance(v, (int, float)): return ['n', v]
    if isinstance(v, datetime.datetime): return ['t', v.isoformat(timespec='milliseconds'), c.number_format]
    return [c.data_type, unescape(v)]
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({s.title: [[cell(c) for c in row] for row in s.iter_rows()] for s in book}))
`

type Cell = readonly [kind: 'b' | 'n' | 's' | 't', value: unknown, format?: string] | null
type Sheets = Readonly<Record<'Rows' | 'Proof', readonly (readonly Cell[])[]>>

async function sheetsOf(bytes: Uint8Array): Promise<Sheets> {
  const file = join(dir, 'read.xlsx')
  await writeFile(file, bytes)
  const { stdout } = await promisify(execFile)('python3', ['-c', script, file], { maxBuffer: 1e9 })
  return JSON.parse(stdout) as Sheets // as the script printed them
}

const path = (query: string, more: Readonly<Record<string, string>> = {}): string =>
  `/query?${new URLSearchParams({ query, format: 'Xlsx', ...more }).toString()}`

async function rowsOf(query: string): Promise<readonly (readonly Cell[])[]> {
  const { status, bytes, text } = await live.call(path(query))
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  return (await sheetsOf(bytes)).Rows.slice(1)
}

const [day, time] = ['yyyy\\-mm\\-dd', 'yyyy\\-mm\\-dd\\ hh:mm:ss.000']

describe.runIf(hasOpenpyxl)('a workbook', () => {
  it('has numbers of up to 15 digits, and texts where a cell cannot hold all of them', async () => {
    const values: readonly (readonly [sql: string, cell: Cell])[] = [
      ['true', ['b', true]],
      ['false', ['b', false]],
      ['null::integer', null],
      ['(-128)::tinyint', ['n', -128]],
      ['4294967295::uinteger', ['n', 4_294_967_295]],
      ['999999999999999::bigint', ['n', 999_999_999_999_999]],
      ['(-999999999999999)::bigint', ['n', -999_999_999_999_999]],
      ['1000000000000000::bigint', ['s', '1000000000000000']],
      ['(-1000000000000000)::bigint', ['s', '-1000000000000000']],
      ['18446744073709551615::ubigint', ['s', '18446744073709551615']],
      ["'99999999999999999999999999999999999999'::hugeint", ['s', '9'.repeat(38)]],
      ['123456789012345::hugeint', ['n', 123_456_789_012_345]],
      ['1.50::decimal(10,2)', ['n', 1.5]],
      ['1234567890123.45::decimal(20,2)', ['n', 1_234_567_890_123.45]],
      ['12345678901234.56::decimal(20,2)', ['s', '12345678901234.56']],
      ['0.00000000000000000000012345::decimal(38,26)', ['n', 1.2345e-22]],
      ['1::decimal(38,30)', ['n', 1]],
      ['0.1::float', ['n', 0.1]],
      ['0.1::double + 0.2::double', ['n', 0.300_000_000_000_000_04]],
      ['1e21::double', ['n', 1e21]],
      ['5e-324::double', ['n', 5e-324]],
      ["'-0.0'::double", ['n', -0]],
      ["'nan'::double", ['s', 'NaN']],
      ["'inf'::float", ['s', 'inf']],
      ["'-inf'::double", ['s', '-inf']],
    ]
    const [row = []] = await rowsOf(`select ${values.map(([sql], at) => `${sql} as c${at}`).join(', ')}`)
    expect(values.map(([sql], at) => [sql, row[at]])).toEqual(values)
  })

  it('has days and times from 1 March 1900 on, in UTC, and all else as text', async () => {
    const values: readonly (readonly [sql: string, cell: Cell])[] = [
      ["date '1900-03-01'", ['t', '1900-03-01T00:00:00.000', day]],
      ["date '1900-02-28'", ['s', '1900-02-28']],
      ["date '9999-12-31'", ['t', '9999-12-31T00:00:00.000', day]],
      ["date '10000-01-01'", ['s', '+10000-01-01']],
      ["timestamp '1900-03-01 00:00:00'", ['t', '1900-03-01T00:00:00.000', time]],
      ["timestamp '1900-02-28 23:59:59.999'", ['s', '1900-02-28T23:59:59.999']],
      ["timestamp '9999-12-31 23:59:59.999'", ['t', '9999-12-31T23:59:59.999', time]],
      ["timestamptz '2024-01-31 12:00:00.123+02:00'", ['t', '2024-01-31T10:00:00.123', time]],
      ["timestamp_s '2024-01-31 12:00:01'", ['t', '2024-01-31T12:00:01.000', time]],
      ["timestamp_ms '1969-12-31 23:59:59.999'", ['t', '1969-12-31T23:59:59.999', time]],
      ["timestamp_ns '1969-12-31 23:59:59.999499999'", ['t', '1969-12-31T23:59:59.999', time]],
      ["timestamp '1969-12-31 23:59:59.999500'", ['t', '1970-01-01T00:00:00.000', time]],
      ["time '21:50:00.000001'", ['s', '21:50:00.000001']],
      ["interval '1 month 2 days'", ['s', 'P1M2D']],
      ["'\\x00\\xff'::blob", ['s', '00ff']],
      ["''::blob", ['s', '']],
      ['[1.5::double, null]', ['s', '[1.5,null]']],
      ["{'a': 'x<y'}", ['s', '{"a":"x<y"}']],
      ["uuid '00000000-0000-0000-0000-00000000000a'", ['s', '00000000-0000-0000-0000-00000000000a']],
    ]
    const { bytes } = await live.call(path(`select ${values.map(([sql], at) => `${sql} as c${at}`).join(', ')}`))
    const { Rows, Proof } = await sheetsOf(bytes)
    expect(values.map(([sql], at) => [sql, Rows[1]?.[at]])).toEqual(values)
    expect(Proof).toContainEqual([
      ['s', 'Times rounded to the millisecond'],
      ['s', '2'],
    ])
  })

  it('has texts as they are, whatever they look like', async () => {
    const texts = ['=1+1', '+1', '-1', '@x', '', ' a ', 'a\nb', 'a\r\nb\r', '\t', '\u0001\u001f\u007f\u0085', '\ufffe']
    const more = [
      '_x0041_',
      '_x005F_',
      '_X0041_',
      '_x00e4_',
      '_x',
      '__x0041__',
      '<&>"\'',
      ']]>',
      '👩‍🚀',
      '\ufeffa',
      '\ufeff<',
      '007',
      'true',
    ]
    for (const hostile of ['1e5', '#N/A', '\u2028', 'a\u0000b'.replace('\u0000', '\u0002')]) more.push(hostile)
    const all = [...texts, ...more]
    const sql = all.map((text) => `(${Array.from(text, (one) => `chr(${one.codePointAt(0)})`).join(' || ') || "''"})`)
    const rows = await rowsOf(`select unnest([${sql.join(', ')}]) as t`)
    expect(rows).toEqual(all.map((text) => [['s', text]]))
  })

  it('has random tables as they were sent', { timeout: 120_000 }, async () => {
    const fields = ['Int64?', 'Float64?', 'String?', 'Bool?', 'Date?', 'Decimal(18,4)?'].map((type, at) => ({
      name: `c${at}`,
      type,
    }))
    await live.call('/acme/random', { method: 'PUT', json: { schema: { fields } } })
    const row = fc.record({
      c0: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      c1: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      c2: fc.option(fc.string({ unit: 'binary', maxLength: 20 })),
      c3: fc.option(fc.boolean()),
      c4: fc.option(fc.date({ min: new Date('1800-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
      c5: fc.option(fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n })),
    })
    const sent = fc.sample(row, { numRuns: 300, seed: 7 })
    const isoDay = (date: Date | null): string | null => date && date.toISOString().slice(0, 10)
    const decimal = (scaled: bigint | null): string | null => {
      if (scaled === null) return null
      const digits = String(scaled < 0n ? -scaled : scaled).padStart(5, '0')
      return `${scaled < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`
    }
    const lines = sent.map(({ c0, c1, c2, c3, c4, c5 }) => {
      const own = JSON.stringify({ c2: c2?.replaceAll('\u0000', ''), c3, c4: isoDay(c4), c5: decimal(c5) })
      return `${own.slice(0, -1)},"c0":${c0},"c1":${c1 === null ? null : Object.is(c1, -0) ? '-0.0' : c1.toExponential()}}`
    })
    const stored = await live.call('/acme/random/ingest', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30' },
      body: lines.join('\n'),
    })
    expect([stored.status, stored.at('detail')]).toEqual([200, undefined])
    const { bytes } = await live.call('/acme/random/export?format=Xlsx&columns=c0,c1,c2,c3,c4,c5')
    const { Rows } = await sheetsOf(bytes)
    const number = (text: string): Cell => {
      const [whole = '', part = ''] = text.replace('-', '').split('.')
      const digits = (whole + part.replace(/0+$/, '')).replace(/^0+/, '')
      return digits.length <= 15 ? ['n', Number(text)] : ['s', text]
    }
    const wanted = sent.map(({ c0, c1, c2, c3, c4, c5 }): Cell[] => [
      c0 === null ? null : number(String(c0)),
      c1 === null ? null : ['n', c1],
      c2 === null ? null : ['s', c2.replaceAll('\u0000', '')],
      c3 === null ? null : ['b', c3],
      c4 === null ? null : c4 < new Date('1900-03-01') ? ['s', isoDay(c4)] : ['t', `${isoDay(c4)}T00:00:00.000`, day],
      c5 === null ? null : number(decimal(c5) ?? ''),
    ])
    expect(Rows.slice(1)).toEqual(wanted)
  })

  it('says where its rows are from, and under which address they come with a proof', async () => {
    expect((await live.ingest('acme/lab', [{ n: 1 }, { n: 2 }, { n: 3 }], '?create=true')).status).toBe(200)
    const head = await live.head('acme/lab')
    for (const file of [path('select n from "acme/lab" order by n', { skip: '1' }), '/acme/lab/export?format=xlsx']) {
      const answer = await live.call(file)
      expect([answer.headers['content-type'], answer.headers['content-disposition']]).toEqual([
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
        'attachment; filename="lab.xlsx"',
      ])
      const { Rows, Proof } = await sheetsOf(answer.bytes)
      const facts = new Map(Proof.map(([name, value]) => [name?.[1], value?.[1]]))
      expect([facts.get('Dataset'), facts.get('Block'), facts.get('Rows')]).toEqual([
        'acme/lab',
        head,
        String(Rows.length - 1),
      ])
      const address = String(facts.get('The same rows, signed'))
      expect(address.startsWith(`${live.node.url}/query?`)).toBe(true)
      const signed = await live.call(address.slice(live.node.url.length))
      expect([signed.status, signed.at('output.data.0.0') === undefined]).toEqual([200, false])
      expect(signed.at('input.datasets.0.blockHash')).toBe(head)
      expect(Array(signed.at('output.data')).flat().length).toBe(Rows.length - 1)
      expect(signed.at('proof.type')).toBe('Ed25519Signature2020')
      const elsewhere = await live.call(file, { headers: { host: 'localhost', 'if-none-match': answer.headers.etag } })
      expect(elsewhere.status).toBe(200)
      expect((await live.call(file, { headers: { 'if-none-match': answer.headers.etag } })).status).toBe(304)
    }
    const unsigned = async (sql: string): Promise<unknown> =>
      (await sheetsOf((await live.call(path(sql))).bytes)).Proof.find(([name]) => name?.[1] === 'Not signed')?.[1]?.[1]
    expect(await unsigned('select random() as r')).toMatch(/does not answer the same again/)
    expect(await unsigned('select i from range(1001) r(i)')).toMatch(/at most 1000 rows/)
    expect(await unsigned('select i from range(1000) r(i)')).toBeUndefined()
    expect(await unsigned(`select 1 as a${' '.repeat(2000)}`)).toMatch(/fits into no address/)
  })
})

it('is read back by ingest as the same rows', async () => {
  const fields = ['String?', 'Int64?', 'Float64?', 'Bool?', 'Date?'].map((type, at) => ({ name: `c${at}`, type }))
  const rows = [
    { c0: '=a_x0041_\r\n<\u0001 ', c1: 999_999_999_999_999, c2: -0.1, c3: true, c4: '1900-03-01' },
    { c0: '007', c1: null, c2: null, c3: null, c4: null },
    { c0: '👍', c1: -1, c2: 1e300, c3: false, c4: '1899-12-31' },
  ]
  for (const alias of ['acme/there', 'acme/back'])
    await live.call(`/${alias}`, { method: 'PUT', json: { schema: { fields } } })
  await live.ingest('acme/there', rows)
  const { bytes } = await live.call('/acme/there/export?format=Xlsx&columns=c0,c1,c2,c3,c4')
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const headers = { 'content-type': type, prefer: 'wait=30' }
  const back = await live.call('/acme/back/ingest?sheet=Rows', { method: 'POST', headers, body: bytes })
  expect([back.status, back.at('detail')]).toEqual([200, undefined])
  const data = async (alias: string): Promise<unknown> =>
    (await live.query(`select c0, c1, c2, c3, c4 from "${alias}" order by offset`)).at('output.data')
  expect(await data('acme/back')).toEqual(await data('acme/there'))
})

describe('the bounds of a sheet', () => {
  it('are 32,767 characters of a cell', async () => {
    const status = async (sql: string): Promise<unknown> => {
      const answer = await live.call(path(sql))
      return answer.status === 200 ? 200 : answer.refusal
    }
    expect(await status("select repeat('x', 32767) as t")).toBe(200)
    expect(await status("select repeat('x', 32768) as t")).toBe('413 ResultTooLarge')
    expect(await status("select repeat('<', 32767) as t")).toBe(200)
    expect(await status("select repeat('👍', 16383) || 'x' as t")).toBe(200)
    expect(await status("select repeat('👍', 16384) as t")).toBe('413 ResultTooLarge')
    expect(await status(`select 1 as "${'x'.repeat(300)}"`)).toBe(200)
  })

  it(
    'are 1,048,575 rows; one more ends the connection, or is refused where it is known',
    { timeout: 300_000 },
    async () => {
      const last = await live.call(path('select i from range(1048575) r(i)'))
      expect([last.status, last.bytes.length > 1_000_000]).toEqual([200, true])
      const more = live.call(path('select i from range(1048576) r(i)')).catch((error: unknown) => error)
      expect(await more).toMatchObject({ code: 'ECONNRESET' })
      const stored = await live.call('/acme/many/ingest?create=true', {
        method: 'POST',
        headers: { 'content-type': 'text/csv', prefer: 'wait=60' },
        body: `n\n${Array.from({ length: 1_048_576 }, (_, n) => n % 10).join('\n')}\n`,
      })
      expect([200, 202]).toContain(stored.status)
      await expect.poll(async () => (await live.call('/acme/many')).at('rows'), { timeout: 60_000 }).toBe(1_048_576)
      const whole = await live.call('/acme/many/export?format=Xlsx')
      expect([whole.refusal, whole.text.includes('1048575 rows')]).toEqual(['413 ResultTooLarge', true])
      expect((await live.call('/acme/many/export?format=Xlsx&where=n%3D1&columns=n')).status).toBe(200)
    },
  )
})

it('a node without the feature has no such format, and no link to it', async () => {
  const bare = await startLiveNode({ without: 'excel' })
  try {
    const answer = await bare.call(path('select 1 as a'))
    expect([answer.refusal, answer.text.includes('Xlsx')]).toEqual(['400 InvalidParameter', true])
    expect(answer.at('candidates')).not.toContain('Xlsx')
    expect(JSON.stringify((await bare.call('/info')).at('formats.data'))).not.toContain('Xlsx')
    expect((await live.call('/info')).at('formats.data')).toContain('Xlsx')
    const links = async (node: typeof live): Promise<unknown[]> => {
      await node.ingest('acme/linked', [{ n: 1 }], '?create=true')
      const { text } = await node.call('/acme/linked', { headers: { accept: 'text/html' } })
      return Array.from(text.matchAll(/export\?format=(\w+)[^"]*" download="([^"]+)" data-save/g), ([, ...of]) => of)
    }
    const csv = ['Csv', 'linked.csv']
    expect(await links(bare)).toEqual([csv, csv, ['Parquet', 'linked.parquet']])
    expect(await links(live)).toEqual([csv, csv, ['Xlsx', 'linked.xlsx'], ['Parquet', 'linked.parquet']])
  } finally {
    await bare.stop()
  }
})
