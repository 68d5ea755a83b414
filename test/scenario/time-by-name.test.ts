// A first batch whose records have one field that is called like a time and holds times: it is their event time.

import { describe, expect, it } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { HttpStream } from '../helpers/http-stream.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode({}, { stream: { ageMs: 20 } })

const { post, rowsOf, columnsOf } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }
const made = '?create=true'

describe('one field with the name of a time', () => {
  it.each([
    ['timestamp', '{"timestamp":"2024-01-01T00:00:00Z","n":1}\n', {}],
    ['Time', '{"Time":"2024-01-01T01:00:00+01:00","n":1}\n', {}],
    ['ts', 'ts,n\n2024-01-01T00:00:00Z,1\n', csv],
    ['date', 'n,date\n1,2024-01-01\n', csv],
  ])('is the event time, and told: %s', async (name, body, headers) => {
    const alias = `times/${name}`
    const answer = await post(alias, body, headers, made)
    expect(answer.at('eventTime')).toEqual({ from: 'field', name })
    expect(answer.at('warnings')).toEqual([expect.stringContaining(`'${name}' is used as the event time`)])
    const later = await post(alias, body.replace(/2024/, '2025'), headers, made)
    expect([later.at('eventTime'), later.at('warnings')]).toEqual([{ from: 'field', name }, undefined])
    expect(await columnsOf(alias)).toEqual([expect.stringMatching(/^n: /)])
    expect(await rowsOf(alias, 'year(event_time), n')).toEqual([
      [2024, 1],
      [2025, 1],
    ])
    expect((await live.call(`/${alias}`)).at('ingest.eventTime')).toBe(name)
  })

  it.each([
    ['numbers', '{"ts":1704067200}\n', ''],
    ['texts', '{"time":"noon"}\n', ''],
    ['two', '{"date":"2024-01-01","time":"2024-01-01T00:00:00Z"}\n', ''],
    ['other-words', '{"created_at":"2024-01-01T00:00:00Z"}\n', ''],
    ['said', '{"time":"2024-01-01T00:00:00Z"}\n', '&eventTime=event_time'],
  ])('is a column where that may be wrong: %s', async (name, body, query) => {
    const answer = await post(`columns/${name}`, body, {}, made + query)
    expect(answer.at('eventTime')).toEqual({ from: 'received' })
    expect((await columnsOf(`columns/${name}`)).length).toBe(name === 'two' ? 2 : 1)
  })

  it('is so for all first posts that come at once', async () => {
    const bodies = Array.from({ length: 8 }, (_, n) => `{"time":"2024-01-01T00:00:0${n}Z","c${n % 3}":${n}}\n`)
    const answers = await Promise.all(bodies.map((body) => post('times/race', body, {}, made)))
    expect(answers.map((answer) => answer.status)).toEqual(bodies.map(() => 200))
    expect(await columnsOf('times/race')).toEqual(expect.not.arrayContaining([expect.stringMatching(/^time/)]))
    const rows = (await rowsOf('times/race', 'epoch(event_time)::int - 1704067200')) as number[][]
    expect(rows.flat().toSorted((one, other) => one - other)).toEqual(bodies.map((_, n) => n))
  })

  it('is so for each batch of a stream that makes the dataset', async () => {
    for (const query of ['?create=true', '?create=true&unknownFields=reject']) {
      const alias = `times/stream-${query.length}`
      const stream = new HttpStream(`/${alias}/stream${query}`, {}, live)
      for (const n of [0, 1, 2]) {
        stream.request.write(`{"time":"2024-01-01T00:00:0${n}Z","n":${n}}\n`)
        await stream.told(n)
      }
      expect(await stream.end()).toEqual({ ended: true, last: 2 })
      await expect
        .poll(() => rowsOf(alias, 'year(event_time), n'), { timeout: 20_000 })
        .toEqual([
          [2024, 0],
          [2024, 1],
          [2024, 2],
        ])
    }
  })
})
