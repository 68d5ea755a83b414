// The newest rows that meet a condition are looked for among the newest first, in datasets of a million rows and more: the
// answer is that over all rows, wherever those that count are.

import { expect, onTestFinished, test, vi } from 'vitest'
import { Lane } from '../../../src/node/engine/process/lane.ts'
import { liveNode } from '../../helpers/live-node.ts'

const rows = 1_100_000
/** `late`: 40 of the last rows; `rare`: three of the last rows and two of the first; `early`: the first row alone. */
const deviceOf = (row: number): string => {
  if (row === 0) return 'early'
  if (row === 7 || row === 9 || row > rows - 4) return 'rare'
  if (row % 100 === 0 && row > rows - 4001) return 'late'
  return `d${row % 10}`
}

test('an answer over the newest rows is that over all', { timeout: 300_000 }, async () => {
  const node = await liveNode()
  const body = Array.from({ length: rows }, (_, row) => `${deviceOf(row)},${row % 977}\n`)
  const posted = await node.call('/me/many/ingest?create=true', {
    method: 'POST',
    headers: { 'content-type': 'text/csv', prefer: 'wait=120' },
    body: `device,n\n${body.join('')}`,
  })
  expect(posted.status).toBe(200)
  const ask = async (sql: string, more: Readonly<Record<string, unknown>>): Promise<unknown> =>
    (await node.query(sql, more)).at('output')
  const performed = vi.spyOn(Lane.prototype, 'perform')
  onTestFinished(() => performed.mockRestore())
  /** Runs of a statement whose text is known: one where the newest rows are enough. */
  const runsOf = async (condition: string): Promise<number> => {
    const sql = `SELECT n FROM "me/many" WHERE ${condition} ORDER BY "offset" DESC`
    await ask(sql, { limit: 1 })
    const before = performed.mock.calls.length
    await ask(sql, { limit: 2 })
    return performed.mock.calls.length - before
  }
  expect([await runsOf("device = 'late'"), await runsOf("device = 'early'")]).toEqual([1, 2])
  expect([await runsOf('1 = 1 OR n = 5'), await runsOf("device IN ('early', 'none')")]).toEqual([1, 2])
  for (const condition of [
    "device = 'late'",
    "device = 'rare'",
    "device = 'early'",
    "device = 'none'",
    "device = 'd3' AND n < 10",
    'device = \'late\' AND "offset" < 1099000',
    '"offset" < 500000',
    '"offset" >= 1099990',
    "device IN ('late', 'rare') OR n = 976",
    "device IN ('rare', 'early')",
    '1 = 1 OR n = 5',
  ]) {
    for (const [end, more] of [
      ['LIMIT 3', {}],
      ['LIMIT 4', {}],
      ['LIMIT 40', { include: ['Proof'] }],
      ['LIMIT 41', {}],
      ['LIMIT 2 OFFSET 2', {}],
      ['LIMIT 0', {}],
      ['', { limit: 3 }],
      ['', { limit: 5, skip: 2 }],
      ['LIMIT 39', { limit: 40, skip: 1 }],
    ] as const) {
      const from = 'SELECT "offset", device, n FROM "me/many" WHERE'
      const order = `ORDER BY "offset" DESC ${end}`
      // What is computed may fail: nothing is left out of such a statement.
      const whole = await ask(`${from} (${condition}) AND 1 + 1 = 2 ${order}`, more)
      expect(await ask(`${from} ${condition} ${order}`, more), `${condition} ${end}`).toEqual(whole)
    }
  }
})
