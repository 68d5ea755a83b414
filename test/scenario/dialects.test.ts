// Tables as offices and loggers write them, on a real node: by parameters, by the rules of a dataset, whole and as a stream; small ones,
// and ones that threads read.

import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'
import { programPath } from '../helpers/run-node.ts'

const live = await liveNode()
const { put, post } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }

const german = {
  delimiter: ';',
  decimal: ',',
  group: '.',
  charset: 'windows-1252',
  dateFormat: 'dd.MM.yyyy HH:mm',
  timeZone: 'Europe/Berlin',
  trueFalse: 'ja,nein',
  nulls: 'k. A.',
  eventTime: 'Zeit',
}
const query = `?create=true&${new URLSearchParams(german)}`

/** A table of so many rows, in Windows-1252. */
function table(rows: number, first = 0): Buffer {
  const lines = Array.from({ length: rows }, (_, i) => {
    const n = first + i
    const day = String(1 + (n % 28)).padStart(2, '0')
    return `${day}.07.2025 14:05;Straße ${n};1.234,${n % 10}5;${n % 2 === 0 ? 'ja' : 'nein'};k. A.`
  })
  return Buffer.from(`Zeit;Ort;Wert;aktiv;Rest\r\n${lines.join('\r\n')}\r\n`, 'latin1')
}

/** What SQL finds of it: rows, sum, first time and place. */
const asked = async (alias: string, columns: string) =>
  (await live.query(`select ${columns} from "${alias}"`)).at('output.data')
const found = async (alias: string) =>
  await asked(alias, `count(*), sum("Wert"), min(event_time), min("Ort"), count(*) filter ("aktiv"), count("Rest")`)

test.each([
  ['a small body', 3],
  ['a long body, which a thread reads', 40_000],
])('%s in the dialect of an office', async (_, rows) => {
  const alias = `office/t${rows}`
  await put(alias, { schema: { fields: ['Ort:String?', 'Wert:Float64?', 'aktiv:Bool?', 'Rest:String?'].map(field) } })
  expect((await post(alias, table(rows), csv, query)).status).toBe(200)
  const sum = Array.from({ length: rows }, (_, n) => 1234.05 + (n % 10) / 10).reduce((a, b) => a + b, 0)
  expect(await found(alias)).toEqual([
    [rows, expect.closeTo(sum, 3), '2025-07-01T12:05:00Z', 'Straße 0', Math.ceil(rows / 2), 0],
  ])
})

function field(text: string): { name: string; type: string } {
  const [name = '', type = ''] = text.split(':')
  return { name, type }
}

test('a dataset keeps the dialect of the batch that made it, and a request undoes it', async () => {
  expect((await post('kept/made', table(2), csv, query)).status).toBe(200)
  expect((await live.call('/kept/made')).at('ingest')).toEqual(german)
  expect((await post('kept/made', table(2, 2), csv, '?unknownFields=ignore')).status).toBe(200)
  const plain = 'Zeit,Ort,Wert\n2025-07-09T00:00:00Z,Öland,2.5\n'
  const usual = '?delimiter=,&decimal=.&group=none&charset=utf-8&dateFormat=iso'
  expect((await post('kept/made', plain, csv, usual)).status).toBe(200)
  expect(await asked('kept/made', 'count(*), max("Ort")')).toEqual([[5, 'Öland']])
  const again = await post('kept/made', plain, csv)
  expect([again.status, again.at('error.kind')]).toEqual([422, 'RecordsDoNotFit'])
})

test('PATCH sets and ends it', async () => {
  await put('kept/patched', { schema: { fields: [field('a:Int64?')] } })
  const patch = async (ingest: unknown) =>
    (await live.call('/kept/patched', { method: 'PATCH', json: { ingest } })).status
  expect(await patch({ delimiter: '|', nulls: ['-', 'x'], trim: true, 'dateFormat.d': 'dd.MM.yyyy' })).toBe(200)
  const rules = { delimiter: '|', nulls: ['-', 'x'], trim: true, 'dateFormat.d': 'dd.MM.yyyy' }
  expect((await live.call('/kept/patched')).at('ingest')).toEqual(rules)
  expect(await patch(null)).toBe(200)
  expect((await live.call('/kept/patched')).at('ingest')).toBeUndefined()
})

test('a stream takes it, but for lines that are no records', async () => {
  const answer = await live.call(`/kept/streamed/stream${query}`, { method: 'POST', body: table(50), headers: csv })
  expect(answer.status).toBe(200)
  expect(await asked('kept/streamed', 'count(*), sum("Wert") > 61000')).toEqual([[50, true]])
  for (const more of ['skipRows=1', 'comment=%23', 'charset=utf-16le']) {
    const refused = await live.call(`/kept/streamed/stream?${more}`, { method: 'POST', body: 'a\n', headers: csv })
    expect([refused.status, refused.at('error.kind')]).toEqual([400, 'InvalidParameter'])
  }
})

test('the command sends it with --set, and its hints say so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dialects-'))
  const file = join(folder, 'table.csv')
  writeFileSync(file, 'Tag;Wert\n31.12.2025;1,5\n')
  const env = { ...process.env, PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  const run = async (...args: string[]): Promise<string> =>
    await promisify(execFile)(process.execPath, [programPath, 'ingest', 'cmd/table', file, ...args], { env }).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(Object(error).stderr),
    )
  expect(await run()).toContain("--set 'delimiter=;' --set decimal=, --set dateFormat=dd.MM.yyyy")
  expect(await run('--set', 'delimiter=;', '--set', 'decimal=,', '--set', 'dateFormat=dd.mm.yyyy')).toContain(
    'dd.MM.yyyy',
  )
  expect(await run('--set', 'delimiter=;', '--set', 'decimal=,', '--set', 'dateFormat=dd.MM.yyyy')).toMatch(
    /committed|"rows":1|1 /,
  )
})
