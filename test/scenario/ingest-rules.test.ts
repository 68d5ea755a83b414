// Rules of ingest that stay with a dataset: of the batch that made it, of PUT and PATCH; what counts in their place.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { put, post, rowsOf, columnsOf } = datasetCalls(() => live)
const patch = (alias: string, json: unknown) => live.call(`/${alias}`, { method: 'PATCH', json })
const rulesOf = async (alias: string) => (await live.call(`/${alias}`)).at('ingest')
const json = { 'content-type': 'application/json' }
const csv = { 'content-type': 'text/csv' }
const seconds = (tst: number): string => new Date(tst * 1000).toISOString().replace('.000', '')
const tst = 1_769_860_800

describe('the rules of the batch that makes a dataset', () => {
  test('hold for the batches after it, and are told', async () => {
    const rules = '&eventTime=tst&eventTimeUnit=s&records=/metrics&flatten=true&dedupe=body'
    const body = (n: number): string => `{"metrics":[{"tst":${tst + n},"up":{"x":${n}}}]}`
    expect((await post('kept/all', body(1), json, `?create=true${rules}`)).status).toBe(200)
    const second = await post('kept/all', body(2), json)
    expect([second.status, second.at('eventTime')]).toEqual([200, { from: 'field', name: 'tst' }])
    expect((await post('kept/all', body(2), json)).headers['idempotent-replayed']).toBe('true')
    expect(await rowsOf('kept/all')).toEqual([
      [seconds(tst + 1), 1],
      [seconds(tst + 2), 2],
    ])
    const told = { eventTime: 'tst', eventTimeUnit: 's', records: '/metrics', flatten: true, dedupe: 'body' }
    expect(await rulesOf('kept/all')).toEqual(told)
    expect((await live.call('/datasets?account=kept')).at('datasets.0.ingest')).toEqual(told)
  })

  test('are those that its preset stood for, also of a batch with a key', async () => {
    const body = (n: number): string => `{"_type":"location","lat":${n},"tst":${tst + n}}`
    const made = await post(
      'kept/preset',
      body(1),
      { ...json, 'idempotency-key': 'k' },
      '?create=true&preset=owntracks',
    )
    expect(made.at('idempotencyKey')).toBe('k')
    expect(await rulesOf('kept/preset')).toEqual({
      flatten: true,
      eventTime: 'tst',
      eventTimeUnit: 's',
      dedupe: 'body',
    })
    await post('kept/preset', body(2), json)
    expect((await post('kept/preset', body(2), json)).headers['idempotent-replayed']).toBe('true')
    expect(await rowsOf('kept/preset', 'tst, lat')).toEqual([
      [seconds(tst + 1), 1],
      [seconds(tst + 2), 2],
    ])
  })

  test('are none where it says none, or is a dry run', async () => {
    await post('kept/none', '{"n":1}', json, '?create=true')
    expect(await rulesOf('kept/none')).toBeUndefined()
    await post('kept/none', '{"n":2,"tst":1}', json, '?create=true&eventTime=tst&eventTimeUnit=s')
    expect(await rulesOf('kept/none')).toBeUndefined()
    expect((await post('kept/dry', '{"n":2,"tst":1}', json, '?create=true&dryRun=true&eventTime=tst')).status).toBe(422)
    expect((await live.call('/kept/dry')).status).toBe(404)
  })
})

describe('what a request says counts for it', () => {
  test('a parameter, a preset, a key, and the empty pointer', async () => {
    const ingest = { eventTime: 'ts', eventTimeUnit: 'ms', records: '/rows', flatten: true, dedupe: 'id' }
    await put('kept/over', { ingest })
    const send = async (body: string, query = '', headers = {}) => {
      const answer = await post('kept/over', body, { ...json, ...headers }, `?unknownFields=add${query}`)
      return [answer.status, answer.at('idempotencyKey'), answer.at('eventTime')]
    }
    const field = (name: string) => ({ from: 'field', name })
    expect(await send('{"rows":[{"id":"a","ts":1}]}')).toEqual([200, 'a', field('ts')])
    expect(await send('{"rows":[{"id":"b","tst":1}]}', '&eventTime=tst&eventTimeUnit=s')).toEqual([
      200,
      'b',
      field('tst'),
    ])
    // The unit is of the field of the rules, not of the one that is named.
    expect((await send('{"rows":[{"id":"c","tst":1}]}', '&eventTime=tst'))[0]).toBe(422)
    expect(await send('{"id":"d","ts":2}', '&records=')).toEqual([200, 'd', field('ts')])
    expect(await send('{"rows":[{"id":"e","ts":3}]}', '', { 'idempotency-key': 'mine' })).toEqual([
      200,
      'mine',
      field('ts'),
    ])
    expect(await send('{"rows":[{"id":"f","o":{"x":1},"ts":3}]}', '&flatten=false')).toEqual([200, 'f', field('ts')])
    // A preset stands in the place of all of them: its records are no array of the body.
    const owntracks = await post('kept/over', `{"id":"g","tst":${tst}}`, json, '?preset=owntracks')
    expect([owntracks.status, owntracks.at('eventTime')]).toEqual([200, field('tst')])
    expect(await columnsOf('kept/over')).toEqual(['id: String?', 'o: String?'])
  })

  test('what a format has no place for is left out; what it would have to find elsewhere is refused, and says whose rule it is', async () => {
    await put('kept/formats', { ingest: { eventTime: 'ts', records: '/rows', flatten: true } })
    expect((await post('kept/formats', 'n,ts\n1,2026-01-31T12:00:00Z\n', csv)).at('eventTime.from')).toBe('field')
    expect((await post('kept/formats', '{"n":2,"ts":"2026-01-31T12:00:01Z"}')).status).toBe(200)
    expect(await rowsOf('kept/formats', 'n')).toEqual([[1], [2]])
    await put('kept/deep', { ingest: { eventTime: '/up/ts' } })
    const deep = await post('kept/deep', 'n,ts\n1,2\n', csv)
    expect([deep.refusal, deep.at('hint')]).toEqual([
      '400 InvalidParameter',
      expect.stringContaining('rules for eventTime'),
    ])
    expect((await post('kept/deep', 'n\n1\n', csv, '?eventTime=event_time')).status).toBe(200)
  })
})

describe('PUT and PATCH', () => {
  test('set, compare, replace as a whole and take away', async () => {
    const dedupe = 'id'
    expect((await put('kept/put', { ingest: { preset: 'ttn', dedupe } })).status).toBe(201)
    const ttn = { eventTime: 'received_at', flatten: true, dedupe }
    expect(await rulesOf('kept/put')).toEqual(ttn)
    expect((await put('kept/put', { ingest: ttn })).status).toBe(200)
    expect((await put('kept/put', {})).refusal).toBe('409 DatasetExists')
    expect((await patch('kept/put', { ingest: { eventTime: 'ts' } })).at('ingest')).toEqual({ eventTime: 'ts' })
    const head = await live.head('kept/put')
    await patch('kept/put', { ingest: { eventTime: 'ts' } })
    expect(await live.head('kept/put')).toBe(head)
    expect((await post('kept/put', '{"ts":"2026-01-31T12:00:00Z","n":1}')).at('eventTime.name')).toBe('ts')
    expect((await patch('kept/put', { ingest: null })).at('ingest')).toBeUndefined()
    expect((await post('kept/put', '{"ts":"2026-01-31T12:00:00Z","n":1}')).refusal).toBe('422 RecordsDoNotFit')
  })

  test.each([
    ['an empty one', {}],
    ['no object', 'ttn'],
    ['flatten alone that says nothing', { flatten: false }],
    ['flatten as a text', { flatten: 'true' }],
    ['another member', { zone: 'UTC' }],
    ['a zone that is none', { timeZone: 'Mars/Base' }],
    ['a delimiter that is none', { delimiter: 'ab' }],
    ['a pattern that is none', { 'dateFormat.day': 'dd.mm.yyyy' }],
    ['a preset that is none', { preset: 'ttnn' }],
    ['a unit that is none', { eventTime: 'ts', eventTimeUnit: 'min' }],
    ['no pointer', { records: 'metrics' }],
    ['a bad pointer', { eventTime: '/a//b' }],
    ['an empty text', { dedupe: '' }],
    ['a number', { eventTime: 1 }],
    ['a long text', { dedupe: 'x'.repeat(1001) }],
    ['the event time from a column', { eventTime: 'CITY' }],
  ])('refuse %s', async (_, ingest) => {
    const schema = { fields: [{ name: 'city', type: 'String?' }] }
    await put('kept/refused', { schema })
    expect((await patch('kept/refused', { ingest })).refusal).toBe('422 InvalidRequest')
    expect((await put('kept/never', { schema, ingest })).refusal).toBe('422 InvalidRequest')
    expect((await live.call('/kept/never')).status).toBe(404)
  })

  test('a parameter that is too long to be kept is refused before anything is stored', async () => {
    const long = await post('kept/long', '{"n":1}', json, `?create=true&eventTime=${'x'.repeat(1001)}`)
    expect(long.refusal).toBe('400 InvalidParameter')
    expect((await live.call('/kept/long')).status).toBe(404)
  })
})
