// InfluxDB's own Python client as the oracle of line protocol: what it writes of any point is read as that point, and against
// a node it writes, repeats and is refused as it is with InfluxDB. Skipped, loudly, where python3 has it not
// (pip install influxdb-client).

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldAscii } from '../../src/libraries/model/names.ts'
import { run } from '../examples/run.ts'
import { infer, readBytes, readerOptions, rowsOf } from '../libraries/formats/reading.ts'
import { liveNode } from '../helpers/live-node.ts'

const isThere = spawnSync('python3', ['-c', 'import influxdb_client']).status === 0
if (!isThere && process.env['CI'] === 'true')
  throw new Error('python3 has no influxdb_client: pip install influxdb-client')
if (!isThere) console.warn('NOT RUN: line protocol of the official client needs python3 with influxdb-client')

/** Each point on stdin, in JSON, as the line that the client makes of it. */
const serialise = `
import json, sys
from influxdb_client import Point, WritePrecision
for text in sys.stdin:
    given = json.loads(text)
    point = Point(given['measurement'])
    for key, value in given['tags']: point.tag(key, value)
    for key, kind, value in given['fields']: point.field(key, {'float': float, 'integer': int}.get(kind, lambda v: v)(value))
    point.time(int(given['time']), WritePrecision.MS)
    print(json.dumps(point.to_line_protocol()))
`

interface Point {
  readonly measurement: string
  readonly tags: readonly (readonly [string, string])[]
  readonly fields: readonly (readonly [string, 'float' | 'integer' | 'boolean' | 'text', string | boolean])[]
  readonly time: number
}

/** Separators, escapes and characters of one to four bytes; a backslash at the end is what the protocol cannot say. */
const name = fc
  .string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...', =\\"#abnté€😀'.split(/(?:)/u)) })
  .filter((text) => !text.endsWith('\\') && !text.startsWith('#'))
const text = fc.string({ maxLength: 20, unit: fc.constantFrom(...', =\\"#ab\n\té😀'.split(/(?:)/u)) })
const value = fc.oneof(
  fc.tuple(fc.constant('float' as const), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
  fc.tuple(fc.constant('integer' as const), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  fc.tuple(fc.constant('boolean' as const), fc.boolean()),
  fc.tuple(fc.constant('text' as const), text),
)
const point: fc.Arbitrary<Point> = fc
  .record({
    measurement: name,
    keys: fc.uniqueArray(name, { minLength: 2, maxLength: 8, selector: foldAscii }),
    texts: fc.array(name, { minLength: 8, maxLength: 8 }),
    values: fc.array(value, { minLength: 8, maxLength: 8 }),
    split: fc.double({ min: 0, max: 0.99, noNaN: true }),
    time: fc.integer({ min: -(2 ** 40), max: 2 ** 42 }),
  })
  .map(({ measurement, keys, texts, values, split, time }) => {
    const tags = Math.floor(split * keys.length)
    return {
      measurement,
      time,
      tags: keys.slice(0, tags).map((key, i) => [key, texts[i] ?? ''] as const),
      fields: keys.slice(tags).map((key, i) => [key, ...(values[i] ?? (['boolean', true] as const))] as const),
    }
  })

/** What a reader makes of a line of its own: columns by name. */
function readLine(line: string): Map<string, unknown> {
  const bytes = Buffer.from(line)
  const { fields, eventTimeType } = infer('line-protocol', bytes)
  const options = readerOptions(fields, { eventTimeType, eventTimeUnit: 'ms' })
  const [row = []] = rowsOf(readBytes('line-protocol', bytes, options, 3))
  return new Map(['time', ...fields.map((field) => field.name)].map((column, at) => [column, row[at]]))
}

function expected({ measurement, tags, fields, time }: Point): Map<string, unknown> {
  const valueOf = (kind: string, sent: string | boolean): unknown =>
    kind === 'float' ? Number(sent) : kind === 'integer' ? BigInt(String(sent)) : sent
  return new Map<string, unknown>([
    ['time', BigInt(time)],
    ['_measurement', measurement],
    ...tags,
    ...fields.map(([key, kind, sent]) => [key, valueOf(kind, sent)] as const),
  ])
}

test.skipIf(!isThere)('what the client writes of any point is read as that point', async () => {
  const points = fc.sample(point, { numRuns: 5_000, seed: 20_260_131 })
  const input = points.map((one) => `${JSON.stringify(one)}\n`).join('')
  const { code, stdout, stderr } = await run('python3', ['-c', serialise], { input })
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(points.length)
  for (const [i, one] of points.entries()) {
    const line = String(JSON.parse(lines[i] ?? ''))
    const sorted = (row: Map<string, unknown>) => [...row].sort(([a], [b]) => (a < b ? -1 : 1))
    expect([line, sorted(readLine(line))]).toEqual([line, sorted(expected(one))])
  }
})

describe.skipIf(!isThere)('against a node', async () => {
  const live = await liveNode()
  const python = async (code: string): Promise<string[]> => {
    const head = `
from influxdb_client import InfluxDBClient, Point, WritePrecision
from influxdb_client.client.exceptions import InfluxDBError
from influxdb_client.client.write_api import SYNCHRONOUS, WriteOptions
client = InfluxDBClient(url='${live.node.url}', token='${live.adminToken}', org='any', enable_gzip=True)
`
    const { stdout, stderr } = await run('python3', ['-c', head + code])
    expect(stderr).toBe('')
    return stdout.trimEnd().split('\n')
  }

  test('it writes points, in batches too, and a repeat stores nothing', async () => {
    await python(`
with client.write_api(write_options=SYNCHRONOUS) as api:
    points = [Point('m').tag('host', 'a b').field('n', i).field('x', i / 2).time(i, WritePrecision.S) for i in range(500)]
    for _ in range(2): api.write('client/points', record=points, write_precision=WritePrecision.S)
with client.write_api(write_options=WriteOptions(batch_size=100, flush_interval=50)) as api:
    for i in range(500, 1000): api.write('client/points', record=Point('m').tag('host', 'c').field('n', i).time(i, WritePrecision.S))
`)
    await expect.poll(async () => (await live.call('/client/points')).at('rows')).toBe(1000)
    const sql = 'select sum(n), count(distinct epoch_ms(event_time)), count(x), min(host) from "client/points"'
    expect((await live.query(sql)).at('output.data')).toEqual([[499_500, 1000, 500, 'a b']])
  })

  test('it finds the node by its ping', async () => {
    const { version } = JSON.parse((await live.call('/info')).text) as { version: string }
    expect(await python('print(client.ping(), client.version())')).toEqual([`True Proofstream ${version}`])
  })

  test('it raises what is wrong, with the message of the node', async () => {
    const told = await python(`
def tried(bucket, record):
    try:
        client.write_api(write_options=SYNCHRONOUS).write(bucket, record=record)
        print('stored')
    except InfluxDBError as error:
        print(error.response.status, error.message)
tried('client/types', 'm v=1i 1')
tried('client/types', 'm v="text" 2\\nm v=3i 3')
tried('client/types', 'm v=')
tried('nothing', 'm v=1i 1')
`)
    expect(told).toEqual([
      'stored',
      expect.stringMatching(/^422 partial write: line 1: .*dropped=1; all other lines are stored\.$/),
      expect.stringMatching(/^400 Record 0: .*Nothing was stored\.$/),
      expect.stringMatching(/^400 /),
    ])
    await expect.poll(async () => (await live.call('/client/types')).at('rows')).toBe(2)
  })
})
