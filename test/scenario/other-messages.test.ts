// Messages of a producer that are no rows: each is answered with success and a word, so that its queue goes on. And events
// whose attributes are headers.

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { type Answer, liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const { post, rowsOf } = datasetCalls(() => live)

describe('OwnTracks', () => {
  const location = (n: number): string =>
    `{"_type":"location","tid":"ab","lat":48.${n},"lon":2.2,"tst":${1767225600 + n},"topic":"owntracks/a/b"}`
  const others = [
    '{"_type":"status","_id":"1","android":{"hib":0,"bo":0}}',
    '{"_type":"waypoints","_creator":"OwnTracks","waypoints":[{"_type":"waypoint","desc":"home","tst":1767225000}]}',
    '{"_type":"waypoint","desc":"home","lat":48.1,"lon":2.2,"rad":50,"tst":1767225000}',
    '{"_type":"card","name":"Ann","tid":"ab"}',
    '{ "tid": 7, "_type" : "encr\\u0079pted", "data":"AAAA"}',
  ]
  const send = (alias: string, body: string, type = 'application/json', more = ''): Promise<Answer> =>
    post(`own/${alias}`, body, { 'content-type': type }, `?create=true&preset=owntracks${more}`)
  const leftOut = (type: string, many = '(record 0)'): string =>
    `A message of the type '${type}' is no row of this preset, and is left out ${many}.`

  test.each(others)('leaves out %s, before there is a dataset and after', async (other) => {
    const type = String(Object(JSON.parse(other))._type)
    const alias = `one-${type}`
    for (const isThere of [false, true]) {
      const answer = await send(alias, other)
      expect([answer.status, answer.at('warnings')]).toEqual([200, [leftOut(type)]])
      expect((await live.call(`/own/${alias}`)).status).toBe(isThere ? 200 : 404)
      expect((await send(alias, location(isThere ? 2 : 1))).at('records.committed')).toBe(1)
    }
    expect(await rowsOf(`own/${alias}`, '_type, lat')).toEqual([
      ['location', 48.1],
      ['location', 48.2],
    ])
  })

  test.each([
    ['application/json', (lines: readonly string[]) => `[${lines.join(',\n')}]`],
    ['application/x-ndjson', (lines: readonly string[]) => lines.join('\n')],
  ])('in a batch of all kinds, of any size: %s', async (type, joined) => {
    const alias = `batch-${type.slice(-4)}`
    const answer = await send(alias, joined([location(1), ...others, location(2)]), type)
    expect([answer.status, answer.at('records.received')]).toEqual([200, 2])
    expect(answer.at('warnings')).toHaveLength(5)
    const many = Array.from({ length: 20_000 }, (_, n) => [location(n + 10), others[n % 5] ?? '']).flat()
    const large = await send(alias, joined(many), type)
    expect([large.status, large.at('records.received')]).toEqual([200, 20_000])
    expect(large.at('warnings.0')).toContain('4000 times')
    expect((await send(alias, joined(many), type)).headers['idempotent-replayed']).toBe('true')
  })

  test('and refuses what is none of them, and a place without a time', async () => {
    expect((await send('bad', '{"_type":"location","lat":1}')).refusal).toBe('422 RecordsDoNotFit')
    expect((await send('bad', '{"_type":"status"')).status).toBe(422)
    expect((await send('bad', '{"tid":"ab"}')).refusal).toBe('422 RecordsDoNotFit')
  })

  test('leaves out nothing without the preset', async () => {
    const answer = await post('own/plain', others[0] ?? '', { 'content-type': 'application/json' }, '?create=true')
    expect([answer.status, answer.at('records.committed')]).toEqual([200, 1])
  })
})

describe('CloudEvents whose attributes are headers', () => {
  const attributes = {
    'ce-specversion': '1.0',
    'ce-type': 'com.example.someevent',
    'ce-source': '/mycontext',
    'ce-id': 'A1',
    'ce-time': '2018-04-05T17:31:00Z',
    'ce-comexampleplace': 'Z%C3%BCrich%20%22West%22',
  }
  const send = (alias: string, body: string | Uint8Array, headers: object): Promise<Answer> =>
    post(
      `ce/${alias}`,
      body,
      { ...attributes, ...headers } as Record<string, string>,
      '?create=true&preset=cloudevents',
    )

  test('are rows with the columns of those that have them in the body, once', async () => {
    const body = '{"celsius":21.5,"large":9007199254740993}'
    const answer = await send('binary', body, { 'content-type': 'application/json; charset=utf-8' })
    expect([answer.status, answer.at('idempotencyKey')]).toEqual([200, '["/mycontext","A1"]'])
    const zipped = { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' }
    expect((await send('binary', gzipSync(body), zipped)).headers['idempotent-replayed']).toBe('true')
    const columns =
      'epoch_ms("time"), id, type, source, comexampleplace, datacontenttype, data_celsius, data_large::text'
    expect(await rowsOf('ce/binary', columns)).toEqual([
      [
        Date.parse(attributes['ce-time']),
        'A1',
        'com.example.someevent',
        '/mycontext',
        'Zürich "West"',
        'application/json; charset=utf-8',
        21.5,
        '9007199254740993',
      ],
    ])
  })

  test('of text, of bytes, of nothing', async () => {
    expect((await send('text', 'on "x"', { 'content-type': 'text/plain' })).status).toBe(200)
    expect((await send('bytes', Uint8Array.of(255, 0), { 'content-type': 'image/png' })).status).toBe(200)
    expect((await send('nothing', '', {})).status).toBe(200)
    expect(await rowsOf('ce/text', 'id, data')).toEqual([['A1', 'on "x"']])
    expect(await rowsOf('ce/bytes', 'id, data_base64')).toEqual([['A1', '/wA=']])
    expect(await rowsOf('ce/nothing', 'id')).toEqual([['A1']])
  })

  test('are refused where the body is not what it is said to be', async () => {
    const json = { 'content-type': 'application/json' }
    expect((await send('bad', '{}, "id": "B2"', json)).refusal).toBe('400 MalformedJson')
    expect((await send('bad', `"${'x'.repeat(70_000)}"`, json)).refusal).toBe('413 BodyTooLarge')
    const digest = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    expect((await send('bad', '{}', { ...json, ...digest })).refusal).toBe('400 DigestMismatch')
  })

  test('count for nothing beside an event in the body', async () => {
    const event = '{"specversion":"1.0","type":"t","source":"s","id":"7","time":"2018-04-05T17:31:00Z"}'
    await send('structured', event, { 'content-type': 'application/cloudevents+json' })
    expect(await rowsOf('ce/structured', 'id, source')).toEqual([['7', 's']])
  })
})
