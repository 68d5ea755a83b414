// The device example against a node behind a line that loses answers and refuses for a while.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BadLine } from '../helpers/bad-line.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { run } from './run.ts'

let live: LiveNode
let line: BadLine
let dir: string
const fates = ['lost', 'refused', 'passed'] as const

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-device-'))
  live = await startLiveNode()
  line = await BadLine.open(live.node.url, (before) => fates[before % 3] ?? 'passed')
})
afterAll(async () => {
  line.close()
  await live.stop()
  await rm(dir, { recursive: true })
})

describe('the device example', () => {
  it('stores every reading once over a bad line, and keeps a refused one with the reason', async () => {
    const good = Array.from({ length: 5 }, (_, n) =>
      JSON.stringify({ event_time: `2026-01-31T12:00:0${n}Z`, sensor: 's1', celsius: 20 + n }),
    )
    const bad = JSON.stringify({ event_time: '2026-01-31T12:01:00Z', sensor: 's1', celsius: 'warm' })
    const { code, stderr } = await run('bash', [join('examples', 'device', 'send-readings.sh')], {
      input: [...good, bad, ''].join('\n'),
      env: {
        SERVER: line.url,
        TOKEN: live.adminToken,
        DATASET: 'acme/readings',
        REJECTED: join(dir, 'rejected.ndjson'),
        FIRST_WAIT_S: '0',
      },
    })
    expect([code, stderr]).toEqual([0, expect.stringMatching(/status 000[\s\S]*status 503/)])
    const rows = await live.query('select celsius from acme.readings order by celsius')
    expect(rows.at('output.data')).toEqual([[20], [21], [22], [23], [24]])
    const rejected: unknown = JSON.parse(await readFile(join(dir, 'rejected.ndjson'), 'utf8'))
    expect(rejected).toMatchObject({
      status: 422,
      reading: { celsius: 'warm' },
      answer: { error: { kind: 'RecordsDoNotFit' } },
    })
    expect(line.requests).toBeGreaterThan(6 * 2)
  })

  it('stops and says why where the node refuses the device itself', async () => {
    const send = (token: string, dataset: string): ReturnType<typeof run> =>
      run('bash', [join('examples', 'device', 'send-readings.sh')], {
        input: '{"sensor":"s1","celsius":20}\n{"sensor":"s1","celsius":21}\n',
        env: { SERVER: live.node.url, TOKEN: token, DATASET: dataset, REJECTED: join(dir, 'none.ndjson') },
      })
    const unknown = await send(`${live.adminToken.slice(0, -1)}0`, 'acme/others')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/^status 40[01]: .+\nstopped before/s)])
    const made = await fetch(`${live.node.url}/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${live.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'device', scopes: ['ingest'] }),
    })
    const { token } = (await made.json()) as { token: string }
    const refused = await send(token, 'acme/others')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^status 403: .*create.*\nstopped before/s),
    ])
  })

  it('makes the dataset with the first reading alone: a misspelled field is no new column', async () => {
    const { code } = await run('bash', [join('examples', 'device', 'send-readings.sh')], {
      input: '{"sensor":"s1","celsius":20}\n{"sensor":"s1","celcius":21}\n{"sensor":"s1","celsius":22}\n',
      env: {
        SERVER: live.node.url,
        TOKEN: live.adminToken,
        DATASET: 'acme/spelled',
        REJECTED: join(dir, 'spelled.ndjson'),
      },
    })
    expect(code).toBe(0)
    const rows = await live.query('select celsius from acme.spelled order by celsius')
    expect(rows.at('output.data')).toEqual([[20], [22]])
    expect(await readFile(join(dir, 'spelled.ndjson'), 'utf8')).toContain('"celcius"')
  })
})
