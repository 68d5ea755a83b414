// Over many rows an answer is the same whether its caller is alone on the machine or one of several: with a proof, which
// verifies, and without one, where rows then have one order too.

import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const rows = 300_000

test('a caller alone and several at once get the same bytes', { timeout: 120_000 }, async () => {
  const node = await liveNode({}, { limits: { keptAnswerBytes: 0 } })
  const body = Array.from({ length: rows }, (_, row) => `d${(row * 7919) % 500},${row % 977}\n`)
  const posted = await node.call('/me/many/ingest?create=true', {
    method: 'POST',
    headers: { 'content-type': 'text/csv', prefer: 'wait=60' },
    body: `device,n\n${body.join('')}`,
  })
  expect(posted.status).toBe(200)
  for (const sql of [
    'SELECT device, count(*) AS c, sum(n) AS s FROM "me/many" GROUP BY device',
    'SELECT DISTINCT n FROM "me/many" WHERE n > 900',
    'SELECT "offset", n FROM "me/many" WHERE n = 5',
    'SELECT count(*), sum(n), max(device) FROM "me/many"',
    'SELECT count(*) FROM "me/many" WHERE device::integer = 3',
  ]) {
    const ask = async (more: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const answer = await node.query(sql, { limit: 1000, dataFormat: 'JsonAoa', ...more })
      return answer.status === 200 ? answer.at('output.data') : answer.refusal
    }
    const alone = await ask({})
    const several = await Promise.all([ask({}), ask({ include: ['Proof'] }), ask({}), ask({ include: ['Proof'] })])
    expect([sql, ...several]).toEqual([sql, alone, alone, alone, alone])
    const proof = await node.query(sql, { include: ['Proof'] })
    if (proof.status !== 200) continue
    const verified = await node.call('/verify', { method: 'POST', json: proof.json })
    expect([verified.status, verified.at('ok')]).toEqual([200, true])
  }
})
