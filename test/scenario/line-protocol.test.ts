// Line protocol as clients of InfluxDB send it: both addresses, what is stored, what is told of lines that are not.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { type Answer, liveNode } from '../helpers/live-node.ts'
import { serveNode } from '../helpers/run-node.ts'

const live = await liveNode()
const { put, rowsOf, columnsOf } = datasetCalls(() => live)
const plain = { 'content-type': 'text/plain; charset=utf-8' }

async function write(target: string, body: string | Uint8Array, options: { token?: string; headers?: object } = {}) {
  const { token, headers = {} } = options
  const all = { ...plain, ...headers } as Record<string, string>
  return live.call(target, { method: 'POST', body, headers: all, ...(token === undefined ? {} : { token }) })
}

const second = (bucket: string, more = ''): string => `/api/v2/write?org=o&bucket=${encodeURIComponent(bucket)}${more}`
const tokenOf = async (scopes: readonly string[]): Promise<string> =>
  String((await live.call('/tokens', { method: 'POST', json: { name: 'one', scopes } })).at('token'))

/** What is in the block once the log has been read. */
async function rows(alias: string, count: number, columns?: string): Promise<unknown> {
  await expect.poll(async () => (await live.call(`/${alias}`)).at('rows')).toBe(count)
  return rowsOf(alias, columns)
}

describe('what is stored', () => {
  test('is a row a line, a column a tag or field, by both addresses; columns come as they are met', async () => {
    const first =
      'weather,station=s1 celsius=21.5,wet=f 1769860800000000000\ncpu,host=h usage=7,cores=8i 1769860801000000000\n'
    const answer = await write(second('lp/both'), first)
    expect([answer.status, answer.text, typeof answer.headers['receipt-id']]).toEqual([204, '', 'string'])
    expect((await live.call(`/receipts/${String(answer.headers['receipt-id'])}`)).at('records.received')).toBe(2)
    const more = await write('/write?db=lp/both&precision=s', 'weather,station=s2,site=north celsius=3i 1769860802\n')
    expect(more.status).toBe(204)
    const columns = ['_measurement', 'station', 'celsius', 'wet', 'host', 'usage', 'cores', 'site']
    expect((await columnsOf('lp/both')).map((text) => text.split(':')[0])).toEqual(columns)
    expect(await rows('lp/both', 3)).toEqual([
      ['2026-01-31T12:00:00Z', 'weather', 's1', 21.5, false, null, null, null, null],
      ['2026-01-31T12:00:01Z', 'cpu', null, null, null, 'h', 7, 8, null],
      ['2026-01-31T12:00:02Z', 'weather', 's2', 3, null, null, null, null, 'north'],
    ])
    expect((await live.call('/lp/both')).at('ingest')).toBeUndefined()
  })

  test.each([
    ['ns', '1769860800123456789'],
    ['us', '1769860800123456'],
    ['ms', '1769860800123'],
    ['s', '1769860800'],
    ['n', '1769860800123456789'],
    ['u', '1769860800123456'],
  ])('has its time by precision=%s', async (precision, time) => {
    const alias = `lp/precision-${precision}`
    const address = precision.length === 1 && precision !== 's' ? `/write?db=${alias}` : second(alias)
    expect((await write(`${address}&precision=${precision}`, `m v=1 ${time}`)).status).toBe(204)
    expect(await rows(alias, 1, 'epoch_ms(event_time)')).toEqual([[Number(time.slice(0, 13).padEnd(13, '0'))]])
  })

  test('is stored once where a body with timestamps comes again, and as often as it comes without', async () => {
    expect((await write(second('lp/twice'), 'm v=1 1\nm v=2 2')).status).toBe(204)
    const again = await write(second('lp/twice'), 'm v=1 1\nm v=2 2')
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([204, 'true'])
    for (const _ of [1, 2]) expect((await write(second('lp/twice'), 'm v=3')).status).toBe(204)
    expect(await rows('lp/twice', 4, 'v')).toEqual([[1], [2], [3], [3]])
    const key = { headers: { 'idempotency-key': 'k' } }
    expect((await write(second('lp/twice'), 'm v=4', key)).status).toBe(204)
    expect((await write(second('lp/twice'), 'm v=4', key)).headers['idempotent-replayed']).toBe('true')
  })

  test('may come with the token as password of the first interface, where there is no header', async () => {
    const user = await tokenOf(['ingest', 'create'])
    const post = (target: string, token: string | null = null) =>
      live.call(target, { method: 'POST', body: `m v=${target.length} 1769860800`, headers: plain, token })
    const address = '/write?db=lp/password&precision=s&u=any'
    expect((await post(`${address}&p=${user}`)).status).toBe(204)
    expect((await post(`${address}&p=wrong`, user)).status).toBe(204)
    expect((await post(`${address}&p=`)).refusal).toBe('401 undefined')
    expect((await post(`${address}&p=pst_wrong`)).status).toBe(401)
    expect((await post(`${address}&p=${user}&p=${user}`)).status).toBe(400)
    expect((await post(`${address}&p=%20`)).status).toBe(400)
    // Nowhere else.
    expect((await post(`${second('lp/password')}&p=${user}`)).status).toBe(401)
    expect((await post(`/lp/password/ingest?p=${user}`)).status).toBe(401)
    expect(await rows('lp/password', 2, '_measurement')).toHaveLength(2)
  })

  test('goes by POST …/ingest too, all of it or nothing', async () => {
    const send = (body: string, query = '') =>
      live.call(`/lp/ingest/ingest${query}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'text/x-line-protocol', prefer: 'wait=20' },
      })
    expect((await send('m v=1 1\nm v=2 2', '?create=true')).at('records.committed')).toBe(2)
    expect((await send('m v=3 3\nm v="x" 4')).refusal).toBe('422 RecordsDoNotFit')
    expect((await send('m v=3 3', '?eventTime=v')).refusal).toBe('400 InvalidParameter')
    await live.call('/lp/ingest', { method: 'PATCH', json: { ingest: { eventTime: 'ts', flatten: true } } })
    expect((await send('m v=5 5')).status).toBe(200)
    expect(await rowsOf('lp/ingest', 'v')).toEqual([[1], [2], [5]])
  })
})

describe('what is told', () => {
  const told = ({ status, headers, at }: Answer) => [status, String(headers['content-type']).split(';')[0], at('code')]

  test('of lines that do not fit: 422, and the others are stored; again where the body comes again', async () => {
    await put('lp/part', {
      schema: {
        fields: [
          { name: '_measurement', type: 'String' },
          { name: 'v', type: 'Int64' },
        ],
      },
    })
    const token = await tokenOf(['ingest'])
    const body = 'm v=1i 1\nm v=1.5 2\nm v="x" 3\nm w=1 4\nm v=5u 5\nm v=6,offset=1 6\n'
    for (const _ of ['first', 'again']) {
      const answer = await write(second('lp/part'), body, { token })
      expect(told(answer)).toEqual([422, 'application/json', 'unprocessable entity'])
      expect(answer.at('message')).toMatch(/^partial write: line 2: .*v.* dropped=4; all other lines are stored\.$/)
      expect(answer.at('error')).toBe(answer.at('message'))
      expect((answer.at('errors') as { line: number; kind: string }[]).map(({ line, kind }) => [line, kind])).toEqual([
        [2, 'WrongType'],
        [3, 'WrongType'],
        [4, 'UnknownField'],
        [6, 'ReservedColumn'],
      ])
    }
    expect(await rows('lp/part', 2, 'v')).toEqual([[1], [5]])
    const none = await write(second('lp/part'), 'm w=1 1', { token })
    expect(told(none)).toEqual([422, 'application/json', 'unprocessable entity'])
  })

  test('never that a line is stored which was left out when the body came before', async () => {
    await put('lp/later', {
      schema: {
        fields: [
          { name: '_measurement', type: 'String' },
          { name: 'v', type: 'Int64?' },
        ],
      },
    })
    const token = await tokenOf(['ingest'])
    const send = () => write(second('lp/later'), 'm v=1i 1\nm w=2i 2', { token })
    expect([(await send()).status, (await send()).status]).toEqual([422, 422])
    await write(second('lp/later'), 'm w=3i 3')
    const whole = await send()
    expect([whole.status, whole.headers['idempotent-replayed']]).toEqual([204, undefined])
    expect((await send()).headers['idempotent-replayed']).toBe('true')
    expect(await rows('lp/later', 4, 'v, w')).toEqual([
      [1, null],
      [null, 3],
      [1, null],
      [null, 2],
    ])
  })

  test('of lines that cannot be read: 400 with the line, and nothing is stored', async () => {
    const answer = await write(second('lp/broken'), 'm v=1 1\nm v=\n')
    expect(told(answer)).toEqual([400, 'application/json', 'invalid'])
    expect([answer.at('line'), answer.at('message')]).toEqual([2, expect.stringContaining('Nothing was stored.')])
    expect((await live.call('/lp/broken')).status).toBe(404)
    const bytes = await write(second('lp/broken'), Buffer.concat([Buffer.from('m v="'), Buffer.from([0xff, 0x22])]))
    expect(told(bytes)).toEqual([400, 'application/json', 'invalid'])
  })

  test.each([
    ['no bucket', '/api/v2/write', 400, 'invalid'],
    ['a bucket that is no name', '/api/v2/write?bucket=lp', 400, 'invalid'],
    ['a reserved account', '/write?db=query/x', 400, 'invalid'],
    ['a precision of hours', '/write?db=lp/x&precision=h', 400, 'invalid'],
    ['a precision of code', '/write?db=lp/x&precision=constructor', 400, 'invalid'],
    ['another method of unknown fields', '/write?db=lp/x&unknownFields=drop', 400, 'invalid'],
  ])('of %s', async (_, target, status, code) => {
    expect(told(await write(target, 'm v=1 1'))).toEqual([status, 'application/json', code])
  })

  test('of who may not', async () => {
    const ingest = await tokenOf(['ingest'])
    expect(told(await write(second('lp/nothing'), 'm v=1 1', { token: ingest }))).toEqual([
      404,
      'application/json',
      'not found',
    ])
    await write(second('lp/there'), 'm v=1 1')
    expect((await write(second('lp/there'), 'm v=2 2', { token: ingest })).status).toBe(204)
    const adding = await write(second('lp/there', '&unknownFields=add'), 'm v=2,w=1 3', { token: ingest })
    expect(told(adding)).toEqual([403, 'application/json', 'forbidden'])
    expect((await write(second('lp/there', '&unknownFields=ignore'), 'm v=3,w=1 3', { token: ingest })).status).toBe(
      204,
    )
    const read = await tokenOf(['read'])
    expect(told(await write(second('lp/there'), 'm v=1 1', { token: read }))).toEqual([
      403,
      'application/json',
      'forbidden',
    ])
    const wrong = await write(second('lp/there'), 'm v=1 1', { token: 'pst_wrong' })
    expect([wrong.status, wrong.at('code')]).toEqual([401, 'unauthorized'])
    const none = await live.call(second('lp/there'), { method: 'POST', body: 'm v=1 1', headers: plain, token: null })
    expect([none.status, none.at('code')]).toEqual([401, 'unauthorized'])
  })
})

test('many lines of mixed measurements arrive whole, read by a thread', async () => {
  const count = 20_000
  const start = 1_769_860_800_000
  const line = (i: number): string => `m${i % 7},tag=t${i % 5} f${i % 11}=${i}i,s="x\\"${i}" ${start + i}`
  const lines = Array.from({ length: count }, (_, i) => line(i))
  expect((await write(second('lp/many', '&precision=ms'), lines.join('\n'))).status).toBe(204)
  await expect.poll(async () => (await live.call('/lp/many')).at('rows')).toBe(count)
  const sql = 'select sum(f3), count(distinct s), max(epoch_ms(event_time)) from "lp/many"'
  const sum = lines.reduce((sofar, _, i) => sofar + (i % 11 === 3 ? i : 0), 0)
  expect((await live.query(sql)).at('output.data')).toEqual([[sum, count, start + count - 1]])
  const later = lines.map((text, i) =>
    i % 5_000 === 22 ? text.replace(/=\d+i/, '="text"') : text.replace(/\d+$/, '1769860800009'),
  )
  const part = await write(second('lp/many', '&precision=ms'), later.join('\n'))
  expect([part.status, part.at('message')]).toEqual([
    422,
    expect.stringMatching(/^partial write: line 23: .* dropped=4;/),
  ])
  await expect.poll(async () => (await live.call('/lp/many')).at('rows')).toBe(2 * count - 4)
})

test('a token in an address is in no line of the log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-password-'))
  const node = await serveNode(dataDir, ['--log-level', 'debug'])
  const token = (await readFile(join(dataDir, 'token'), 'utf8')).trim()
  const post = async (p: string, body: string): Promise<string> => {
    const answer = await fetch(`${node.url}/write?db=lp/secret&u=any&p=${p}`, { method: 'POST', body })
    return `${answer.status} ${await answer.text()}`
  }
  const told = [await post(token, 'm v=1 1'), await post(token, 'm v='), await post(`${token}x`, 'm v=1 1')]
  expect(told.map((text) => text.slice(0, 3))).toEqual(['204', '400', '401'])
  await node.end('SIGTERM')
  expect(node.log()).toContain('"level":20')
  expect(told.join('') + node.log()).not.toContain(token)
  await rm(dataDir, { recursive: true })
})

test('whoever asks first whether there is a server is told', async () => {
  const ping = await live.call('/ping?verbose=true', { token: null })
  expect([ping.status, ping.text, ping.headers['x-influxdb-version']]).toEqual([
    204,
    '',
    expect.stringMatching(/^Proofstream /),
  ])
  expect((await live.call('/ping', { method: 'HEAD', token: null })).status).toBe(204)
  const health = await live.call('/health', { token: null })
  expect([health.status, health.at('status'), health.at('name')]).toEqual([200, 'pass', 'proofstream'])
})
