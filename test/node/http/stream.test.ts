// Records without end over HTTP: what is told when, what a resumed stream stores, and how a stream ends.

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HttpStream, type Line, producer } from '../../helpers/http-stream.ts'
import { type Answer, liveNode, startLiveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { limits: { recordBytes: 2_000, bodyMs: 400 }, stream: { ageMs: 20, rows: 50 } })
await live.call('/acme/log', {
  method: 'PUT',
  json: { schema: { fields: [{ name: 'n', type: { kind: 'Option', inner: { kind: 'Int64' } } }] } },
})

const openStream = (path: string, headers: Readonly<Record<string, string>> = {}, at = live): HttpStream =>
  new HttpStream(path, headers, at)

/** The values of `n` in the order of their offsets, once all of the log is in blocks. */
async function values(alias: string): Promise<unknown[]> {
  await live.ingest(alias, [{ n: -1 }])
  const answer = await live.query(`select n from "${alias}" where n >= 0 order by "offset"`, { limit: 1000 })
  return (answer.at('output.data') as unknown[][]).map(([n]) => n)
}

let made = 0
async function dataset(): Promise<string> {
  const alias = `acme/s${++made}`
  await live.call(`/${alias}`, {
    method: 'PUT',
    json: { schema: { fields: [{ name: 'n', type: { kind: 'Option', inner: { kind: 'Int64' } } }] } },
  })
  return alias
}

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
  live.call(path, { method: 'POST', headers: { 'content-type': 'application/x-ndjson', ...headers }, body })

describe('a stream', () => {
  it('tells what is durable while it goes on, longer than a body may take', async () => {
    const alias = await dataset()
    const stream = openStream(`/${alias}/stream`)
    for (let n = 0; n < 6; n++) {
      stream.send(n)
      await stream.told(n)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(stream.lines[0]).toMatchObject({ status: 'accepted', numbers: { first: 0, last: 0 } })
    const receipt = await live.call(`/receipts/${stream.lines[0]?.receiptId}`)
    expect(receipt.at('records.received')).toBe(1)
    stream.request.write('{"n":6}')
    expect(await stream.end()).toEqual({ ended: true, last: 6 })
    expect(await values(alias)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  it('is cut by rows as well as by age, wherever its chunks end', async () => {
    const alias = await dataset()
    const text = Array.from({ length: 230 }, (_, n) => `{"n":${n}}\n`).join('')
    const stream = openStream(`/${alias}/stream`)
    for (let at = 0; at < text.length; at += 97) stream.request.write(text.slice(at, at + 97))
    expect(await stream.end()).toEqual({ ended: true, last: 229 })
    const received = stream.lines.flatMap(({ records }) => records?.received ?? [])
    expect(Math.max(...received)).toBeLessThanOrEqual(50)
    expect(await values(alias)).toEqual(Array.from({ length: 230 }, (_, n) => n))
  })

  it('makes a dataset that is missing, and takes a compressed body', async () => {
    const answer = await post('/acme/made/stream?create=true', gzipSync('{"n":1}\n\n{"n":2}\n'), {
      'content-encoding': 'gzip',
    })
    expect(answer.status).toBe(200)
    expect(answer.text.trim().split('\n').at(-1)).toBe('{"ended":true,"last":2}')
    expect(await values('acme/made')).toEqual([1, 2])
  })

  it('without records ends at once', async () => {
    expect((await post('/acme/log/stream', '')).text).toBe('{"ended":true}\n')
  })

  it('ends with the number of a record that does not fit, and stores those before it', async () => {
    const alias = await dataset()
    const stream = openStream(`/${alias}/stream`, producer('p', 10)).send(0, 1, '{"n":"x"}\n', 3)
    await expect.poll(() => stream.lines.at(-1)?.ended).toBe(true)
    expect(stream.lines.at(-1)).toMatchObject({
      last: 11,
      problem: { error: { kind: 'RecordsDoNotFit' }, errors: [{ record: 12 }] },
    })
    // A blank line stands for it.
    const again = openStream(`/${alias}/stream`, producer('p', 12)).send('\n', 3)
    expect(await again.end()).toMatchObject({ last: 13 })
    expect(await values(alias)).toEqual([0, 1, 3])
    const first = await post('/acme/log/stream', '{"n":"x"}\n')
    expect([first.refusal, first.at('errors.0.record')]).toEqual(['422 RecordsDoNotFit', 0])
    expect((await post('/acme/log/stream', `{"n":${'1'.repeat(3_000)}}\n`)).refusal).toBe('422 RecordsDoNotFit')
  })

  it('has numbers where its dataset, or a preset, knows repeats by a key', async () => {
    const path = `/acme/kept${++made}`
    const first = { method: 'POST', json: [{ at: '2026-01-01T00:00:00Z', n: 0 }] }
    expect((await live.call(`${path}/ingest?create=true&eventTime=at&dedupe=body`, first)).status).toBe(200)
    const text = '{"at":"2026-01-01T00:00:01Z","n":1}\n'
    const type = { 'content-type': 'application/x-ndjson' }
    const bare = await live.call(`${path}/stream`, { method: 'POST', body: text, headers: type })
    expect([bare.status, bare.at('error.kind')]).toEqual([400, 'InvalidParameter'])
    for (let time = 0; time < 2; time++) {
      const answer = await live.call(`${path}/stream`, {
        method: 'POST',
        body: text,
        headers: { ...type, ...producer('p', 0) },
      })
      expect([answer.status, answer.text.trim().split('\n').at(-1)]).toEqual([200, '{"ended":true,"last":0}'])
    }
    const rows = await live.query(`select n from "${path.slice(1)}" order by n`)
    expect(rows.at('output.data')).toEqual([[0], [1]])
    const asked = await live.call(`${path}/stream?dedupe=body`, {
      method: 'POST',
      body: text,
      headers: { ...type, ...producer('p', 1) },
    })
    expect(asked.status).toBe(400)
  })

  it('says what it does not take', async () => {
    const refusals = [
      await post('/acme/log/stream', '[{"n":1}]', { 'content-type': 'application/json' }),
      await post('/acme/log/stream', '1\n', { 'content-type': 'text/csv; header=absent' }),
      await post('/acme/log/stream?dryRun=true', '{"n":1}\n'),
      await post('/acme/log/stream', '{"n":1}\n', { 'idempotency-key': 'k' }),
      await post('/acme/log/stream', '{"n":1}\n', { 'producer-sequence': '1' }),
      await post('/acme/log/stream', '{"n":1}\n', { 'producer-id': 'p', 'producer-sequence': '-1' }),
      await post('/acme/none/stream', '{"n":1}\n'),
    ]
    expect(refusals.map(({ refusal }) => refusal)).toEqual([
      '415 UnsupportedMediaType',
      ...Array.from({ length: 5 }, () => '400 InvalidParameter'),
      '404 DatasetNotFound',
    ])
  })
})

describe('a producer', () => {
  it('that was cut off goes on where it was told, and nothing is stored twice', async () => {
    const alias = await dataset()
    const cut = openStream(`/${alias}/stream`, producer('p', 0)).send(0, 1, 2)
    await cut.told(2)
    cut.send(3, 4, '{"n":')
    await cut.told(4)
    cut.request.destroy()
    const again = openStream(`/${alias}/stream`, producer('p', 3)).send(3, 4, 5, 6)
    await again.told(6)
    expect(again.lines.map(({ numbers, records }) => [numbers, records])).toEqual([
      [
        { first: 3, last: 4 },
        { received: 2, committed: 0, duplicates: 2 },
      ],
      [{ first: 5, last: 6 }, expect.objectContaining({ received: 2 })],
    ])
    expect(await again.end()).toEqual({ ended: true, last: 6 })
    expect(await values(alias)).toEqual([0, 1, 2, 3, 4, 5, 6])
    const repeat = (await post(`/${alias}/stream`, '{"n":3}\n{"n":4}\n', producer('p', 3))).text
    expect(repeat).toContain('"records":{"received":2')
    expect(await values(alias)).toEqual([0, 1, 2, 3, 4, 5, 6])
    const { receiptId } = JSON.parse(repeat.split('\n')[0] ?? '') as Line
    await expect
      .poll(async () => (await live.call(`/receipts/${receiptId}`)).at('records'))
      .toEqual({ received: 2, committed: 0, duplicates: 2 })
  })

  it('is refused for a gap, a lower epoch and other bytes', async () => {
    const alias = await dataset()
    const path = `/${alias}/stream`
    expect((await post(path, '{"n":1}\n{"n":2}\n', producer('p', 5, 1))).status).toBe(200)
    const gap = await post(path, '{"n":4}\n', producer('p', 8, 1))
    expect([gap.refusal, gap.at('error.expected')]).toEqual(['409 SequenceGap', 7])
    await values(alias)
    expect((await post(path, '{"n":1}\n', producer('p', 7, 0))).refusal).toBe('409 ProducerFenced')
    expect((await post(path, '{"n":8}\n{"n":9}\n', producer('p', 5, 1))).refusal).toBe('409 IdempotencyKeyReused')
    expect(await values(alias)).toEqual([1, 2])
    expect((await post(path, '{"n":0}\n', producer('p', 0, 2))).status).toBe(200)
    expect(await values(alias)).toEqual([1, 2, 0])
  })
})

it('receipts that nobody reads give way to the latest, and the records go on', async () => {
  const alias = await dataset()
  const stream = openStream(`/${alias}/stream`)
  const row = `{"n":1${' '.repeat(1_000)}}\n`
  stream.send(row)
  const response = await stream.response
  response.pause()
  response.socket.pause()
  // Receipts of some 700 bytes each: more than sockets hold.
  for (let sent = 0; sent < 12_000; sent++) {
    stream.request.write(row)
    if (sent % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await expect
    .poll(async () => (await live.query(`select count(*) from "${alias}"`)).at('output.data.0.0'))
    .toBe(12_001)
  response.socket.resume()
  response.resume()
  expect((await stream.end()).last).toBe(12_000)
})

it('a node that shuts down ends its streams with the last number that is durable', async () => {
  const own = await startLiveNode({}, { stream: { ageMs: 3_600_000 } })
  await own.ingest('acme/log', [{ n: 1 }], '?create=true')
  const stream = openStream('/acme/log/stream', producer('p', 7), own).send(1, 2, 3, '{"n":')
  await new Promise((resolve) => setTimeout(resolve, 200))
  await own.node.stop()
  await expect
    .poll(() => stream.lines.at(-1))
    .toMatchObject({ ended: true, last: 9, problem: { error: { kind: 'Draining' } } })
  await own.stop()
})

it('the first records of a producer get a block at once, where the pace of the dataset is an hour', async () => {
  const own = await startLiveNode({ 'cut-interval': '1h' }, { cut: { burstBlocks: 1 }, stream: { ageMs: 10 } })
  await own.ingest('acme/log', [{ n: 1 }], '?create=true')
  for (const id of ['p', 'q']) {
    const stream = openStream('/acme/log/stream', producer(id, 0), own).send(1)
    await stream.told(0)
    expect(stream.lines[0]).toMatchObject({ status: 'committed', records: { committed: 1 } })
    // What follows is durable in the log, and waits for its block.
    await stream.send(2).told(1)
    expect(stream.lines[1]).toMatchObject({ status: 'accepted' })
    await stream.end()
  }
  await own.stop()
})

it('a stream on which nothing comes is ended', async () => {
  const own = await startLiveNode({}, { limits: { streamIdleMs: 800, streamsPerCaller: 1 }, stream: { ageMs: 10 } })
  await own.ingest('acme/log', [{ n: 1 }], '?create=true')
  const stream = openStream('/acme/log/stream', {}, own).send(1)
  await expect
    .poll(() => stream.lines.at(-1))
    .toMatchObject({ ended: true, last: 0, problem: { error: { kind: 'RequestTimeout' } } })
  const one = openStream('/acme/log/stream', {}, own).send(1)
  await one.told(0)
  const two = await own.call('/acme/log/stream', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: '',
  })
  expect(two.refusal).toBe('429 QuotaExceeded')
  await own.stop()
})
