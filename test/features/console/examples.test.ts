// Questions to begin with run on any dataset, whatever its columns are called.

import { expect, test } from 'vitest'
import { examplesOf } from '../../../src/features/console/examples.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

test.each([
  ['acme/plain', [{ sensor: 's1', celsius: 21.5 }], 3],
  ['acme/order-by', [{ select: 'x', 'group by': 1, 'a"b': 'y', ÄÖ: 2 }], 3],
  ['acme/texts', [{ only: 'text' }], 3],
  ['acme/numbers', [{ n: 1 }], 2],
  ['acme/flags', [{ ok: true }], 2],
  ['acme/upper', [{ Sensor: 'A', sensor2: 'b', Count: 3 }], 3],
])('all of %s run', async (alias, rows, count) => {
  expect((await live.ingest(alias, rows, '?create=true')).status).toBe(200)
  const schema = (await live.call(`/${alias}/metadata?include=schema,vocab&schemaFormat=OdfJson`)).at('output.schema')
  const fields = (schema as { fields: Parameters<typeof examplesOf>[0]['fields'] }).fields
  const own = new Set(['offset', 'op', 'system_time', 'event_time'])
  const examples = examplesOf({ alias, fields: fields.filter(({ name }) => !own.has(name)), eventTime: 'event_time' })
  expect(examples).toHaveLength(count)
  for (const { sql } of examples) expect([sql, (await live.query(sql)).status]).toEqual([sql, 200])
})
