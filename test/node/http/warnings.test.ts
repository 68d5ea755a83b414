// What a node takes although it changes or doubts it is told in the answer to the batch, wherever it came in.

import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { HttpStream } from '../../helpers/http-stream.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { stream: { ageMs: 20 } })

const post = (path: string, body: string, contentType = 'application/x-ndjson'): Promise<Answer> =>
  live.call(path, { method: 'POST', headers: { 'content-type': contentType, prefer: 'wait=20' }, body })

/** The event time column holds milliseconds. */
const fine = '2026-01-31T12:00:00.123456Z'
const whole = '2026-01-31T12:00:00.123Z'
const cut = (places: string): string =>
  `Times of 'event_time' are kept in milliseconds; finer digits were cut off (${places}).`
const row = (time: string, n = 1): string => `{"event_time":"${time}","n":${n}}\n`

it('each kind once, with how often and where first', async () => {
  const body = row(whole) + row(fine) + row(fine)
  const made = await post('/w/batch/ingest?create=true', body)
  expect(made.at('warnings')).toEqual([cut('2 times, first in record 1')])
  expect((await post('/w/batch/ingest', row(whole))).at('warnings')).toBeUndefined()
  expect((await post('/w/batch/ingest', row(whole) + row(fine))).at('warnings')).toEqual([cut('record 1')])
})

it('in a dry run', async () => {
  const dry = await post('/w/dry/ingest?create=true&dryRun=true', row(fine))
  expect([dry.status, dry.at('warnings')]).toEqual([200, [cut('record 0')]])
})

it('of a body that threads read, too', async () => {
  await post('/w/large/ingest?create=true', row(whole))
  const lines = Array.from({ length: 60_000 }, (_, n) => row(n < 59_000 ? whole : fine, n))
  const answer = await post('/w/large/ingest', lines.join(''))
  expect([answer.at('records.received'), answer.at('warnings')]).toEqual([
    60_000,
    [cut('1000 times, first in record 59000')],
  ])
})

it.runIf(runsWith('line-protocol'))('of line protocol and of numbers', async () => {
  const lines = await post('/w/lp/ingest?create=true', 'm a=1 1769860800000000001\n', 'text/x-line-protocol')
  expect(lines.at('warnings')).toEqual([cut('record 0')])
  const numbers = '{"t":1769860800.0001}\n{"t":1769860800.5}\n'
  const epochs = await post('/w/epochs/ingest?create=true&eventTime=t&eventTimeUnit=s', numbers)
  expect(epochs.at('warnings.0')).toBe(cut('record 0').replace('event_time', 't'))
})

it('in the receipts of a stream', async () => {
  await post('/w/stream/ingest?create=true', row(whole))
  const stream = new HttpStream('/w/stream/stream', {}, live)
  stream.request.write(row(whole) + row(fine))
  await stream.told(1)
  await stream.end()
  const told = stream.lines.flatMap((line) => Object(line).warnings ?? [])
  expect(told).toEqual([expect.stringContaining(`Times of 'event_time' are kept in milliseconds`)])
})

it('twenty kinds at most', async () => {
  const columns = Array.from({ length: 30 }, (_, n) => `c${n}`)
  const schema = { fields: columns.map((name) => ({ name, type: 'Timestamp' })) }
  await live.call('/w/kinds', { method: 'PUT', json: { schema } })
  const record = Object.fromEntries(columns.map((name) => [name, fine]))
  const told = (await post('/w/kinds/ingest', JSON.stringify(record))).at('warnings') as string[]
  expect(told).toHaveLength(21)
  expect(told.at(-1)).toBe('There are warnings of more kinds, which are left out.')
})

it.runIf(runsWith('line-protocol'))(
  'of epochs in a unit that is too fine; a batch of nothing else is refused where the dataset has later times',
  async () => {
    const about = (unit: string): string =>
      `Event times are in January 1970: eventTimeUnit=${unit} may be the wrong unit`
    const line = 'text/x-line-protocol'
    const made = await post('/w/lines/ingest?create=true', 'm a=1 1704067200\n', line)
    expect(made.at('warnings')).toContain(`${about('ns')} (record 0).`)
    const right = 'm a=1 1704067200000000000\n'
    expect((await post('/w/lines/ingest', right, line)).at('warnings')).toBeUndefined()
    const wrong = await post('/w/lines/ingest', 'm a=2 1704067200\nm a=3 1704067201\n', line)
    expect([wrong.status, wrong.at('error.kind'), wrong.at('hint')]).toEqual([
      422,
      'RecordsDoNotFit',
      expect.stringContaining('eventTimeUnit'),
    ])
    const some = await post('/w/lines/ingest', `m a=2 1704067200\n${right}`, line)
    expect(some.at('warnings')).toContain(`${about('ns')} (record 0).`)
    const epochs = '?create=true&eventTime=t&eventTimeUnit='
    await post(`/w/units/ingest${epochs}s`, '{"t":1704067200}\n')
    for (const unit of ['ms', 'us', 'ns']) {
      expect((await post(`/w/units/ingest${epochs}${unit}`, '{"t":1704067200}\n')).status).toBe(422)
    }
    expect((await post(`/w/units/ingest${epochs}ms`, '{"t":"1970-01-02T00:00:00Z"}\n')).status).toBe(200)
  },
)

it.each([
  [
    'numbers',
    '{"ts":1704067200}\n',
    '',
    "'ts'",
    'delete the dataset and send its rows again with eventTime=ts and eventTimeUnit=s, ms, us or ns.',
  ],
  [
    'texts',
    '{"date":"Jun 1 2009"}\n',
    '',
    "'date'",
    'with eventTime=date, if its texts are times such as 2026-01-31T12:00:00Z, and with timeZone=UTC if they lack a zone.',
  ],
  ['dry', '{"ts":1}\n', '&dryRun=true', "'ts'", 'received. Send the rows with eventTime=ts and'],
])('of a column that may be the event time, with the way to start over: %s', async (name, body, query, column, way) => {
  const answer = await post(`/unnamed/${name}/ingest?create=true${query}`, body)
  expect(answer.at('eventTime')).toEqual({ from: 'received' })
  expect(answer.at('warnings')).toEqual([expect.stringContaining(column)])
  expect(answer.at('warnings.0')).toContain(way)
})

describe('in a header, where the answer has no body for them', () => {
  const told = ({ headers }: Answer): unknown => headers['ingest-warnings']
  const send = (path: string, body: string, type: string, prefer = 'respond-async'): Promise<Answer> =>
    live.call(path, { method: 'POST', headers: { 'content-type': type, prefer }, body })

  it('of a caller who wants none', async () => {
    const answer = await send('/w/minimal/ingest?create=true', row(fine), 'application/x-ndjson', 'return=minimal')
    expect([answer.text, told(answer)]).toEqual(['', `%"${cut('record 0')}"`])
    expect(told(await post('/w/minimal/ingest', row(fine)))).toBeUndefined()
  })

  it.runIf(runsWith('line-protocol')).each(['/api/v2/write?bucket=w/influx2', '/write?db=w/influx1'])(
    'of InfluxDB: %s',
    async (address) => {
      const wrongUnit = await send(`${address}&precision=us`, 'm v=1 1769860800', 'text/plain')
      expect([wrongUnit.status, told(wrongUnit)]).toEqual([204, expect.stringContaining('January 1970')])
      const cutOff = await send(address, 'm v=1 1769860800000000001', 'text/plain')
      expect([cutOff.status, told(cutOff)]).toEqual([204, `%"${cut('record 0')}"`])
      const partial = await send(address, 'm v=2 1769860800000000001\nm v="x" 1769860800000000001', 'text/plain')
      expect([partial.status, told(partial)]).toEqual([422, expect.stringContaining('finer digits')])
      const plain = await send(address, 'm v=3 1769860800000000000', 'text/plain')
      expect([plain.status, told(plain)]).toEqual([204, undefined])
    },
  )

  it.runIf(runsWith('otlp'))('of OpenTelemetry', async () => {
    const body = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1769860800000000001"}]}]}]}'
    const answer = await send('/w/otlp/v1/logs', body, 'application/json')
    expect([answer.status, told(answer)]).toEqual([200, expect.stringContaining('finer digits')])
  })

  it('in ASCII, as much as fits, whatever columns are called', async () => {
    const names = Array.from({ length: 18 }, (_, n) => `zeit ü"%${n}${'ß'.repeat(90)}`)
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, '9007199254740993'])))
    const numbers = body.replaceAll('"9007199254740993"', '900719925474099312345')
    const answer = await send(
      '/w/names/ingest?create=true',
      numbers,
      'application/x-ndjson',
      'respond-async, return=minimal',
    )
    expect([answer.status, String(told(answer)).length < 4200]).toEqual([202, true])
    expect(told(answer)).toMatch(/^%"[ !#-~]*zeit %c3%bc%22%250[ !#-~]*"(?:, %"[ !#-~]*")*$/)
  })
})
