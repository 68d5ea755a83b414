// InfluxDB's own JavaScript client, as docs/devices.md shows it: its batches, in gzip, over a line that loses answers, once each.

import { InfluxDB, Point } from '@influxdata/influxdb-client'
import { expect, test } from 'vitest'
import { BadLine } from '../helpers/bad-line.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()
const fates = ['lost', 'refused', 'passed'] as const
const startMs = 1_769_860_800_000

test('stores each of its batches once, whatever becomes of answers', async () => {
  const line = await BadLine.open(live.node.url, (before) => fates[before % 3] ?? 'passed')
  const client = new InfluxDB({ url: line.url, token: live.adminToken })
  const settings = { batchSize: 100, gzipThreshold: 1000, minRetryDelay: 10, maxRetryDelay: 50, maxRetries: 20 }
  const api = client.getWriteApi('any', 'client/javascript', 'ms', settings)
  api.useDefaultTags({ site: 'north, "quoted" = site' })
  for (let n = 0; n < 1000; n++) {
    api.writePoint(
      new Point('pump room')
        .tag('pump', `p ${n % 7}`)
        .intField('n', n)
        .floatField('bar', n / 8)
        .timestamp(startMs + n),
    )
  }
  // Its close waits for nothing that is on its way.
  await expect.poll(async () => (await live.call('/client/javascript')).at('rows')).toBe(1000)
  await api.close()
  line.close()
  expect(line.requests).toBeGreaterThan(20)
  const sql = `select sum(n), sum(bar), count(distinct pump), min(site), min(_measurement), min(epoch_ms(event_time) - n)
    from "client/javascript"`
  expect((await live.query(sql)).at('output.data')).toEqual([
    [499_500, 62_437.5, 7, 'north, "quoted" = site', 'pump room', startMs],
  ])
})

test('is told what does not fit, and does not send it again', async () => {
  const line = await BadLine.open(live.node.url, () => 'passed')
  const api = new InfluxDB({ url: line.url, token: live.adminToken }).getWriteApi('any', 'client/types', 'ms')
  api.writeRecord('m v=1i 1')
  await api.flush()
  api.writeRecord('m v="text" 2\nm v=3i 3')
  await expect(api.close()).rejects.toMatchObject({ statusCode: 422, code: 'unprocessable entity' })
  line.close()
  expect(line.requests).toBe(2)
})
