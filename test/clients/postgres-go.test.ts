// pgx, the driver of Go, in its five modes at the PostgreSQL door: rows beside what HTTP answers, values of each kind, arrays, batches,
// transactions, refusals. Skipped, loudly, where Go or its modules are missing (apt-get install golang-go); not in CI.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../examples/run.ts'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'

const directory = mkdtempSync(join(tmpdir(), 'proofstream-pgx-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const program = join(directory, 'pgx')
const built = spawnSync('go', ['build', '-o', program, '.'], {
  cwd: join(import.meta.dirname, 'postgres/pgx'),
  env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' },
  encoding: 'utf8',
  timeout: 300_000,
})
const why = built.error?.message ?? built.stderr
if (built.status !== 0 && process.env['CI'] === 'true') throw new Error(`pgx cannot be built: ${why}`)
if (built.status !== 0) console.warn(`NOT RUN: the PostgreSQL door with pgx, which cannot be built: ${why}`)

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const count = 1_000
const begin = Date.UTC(2026, 0, 1)
const given = Array.from({ length: count }, (_, i) => ({
  n: i + 1,
  word: i % 10 === 0 && i > 0 ? null : `w${i + 1}`,
  f: i / 8,
  moment: new Date(begin + i * 60_000).toISOString(),
  flag: i % 3 === 0,
}))
await live.ingest('demo/all', given, '?create=true')
const whole = 'select n, word, f, moment::timestamptz as moment, flag from "demo/all" order by n'

/** What the program says, by name. */
async function told(mode: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(program, [`postgres://anonymous@127.0.0.1:${port}/all`, mode, whole])
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  return Object.fromEntries(
    lines.map((line) => [line.split(': ', 1)[0], JSON.parse(line.slice(line.indexOf(': ') + 2))]),
  )
}

describe.skipIf(built.status !== 0)('pgx in the mode', () => {
  test.each(['cache_statement', 'cache_describe', 'describe_exec', 'exec', 'simple_protocol'])('%s', async (mode) => {
    const { whole: rows, ...others } = await told(mode)
    const answer = await live.query(whole, { limit: count })
    expect(answer.status).toBe(200)
    expect(rows).toEqual(answer.at('output.data'))
    expect(rows).toHaveLength(count)
    expect(others).toEqual({
      values: [
        [5, 'w5'],
        [7, 'w7'],
      ],
      times: [
        [2, 'w2'],
        [3, 'w3'],
      ],
      doubles: [[8, 'w8']],
      nothing: [[11, null]],
      texts: [
        [1, 'w1'],
        [3, 'w3'],
      ],
      numbers: [
        [2, 'w2'],
        [4, 'w4'],
      ],
      'a list': [[[1, 2]]],
      'column of a value': [['x', 1]],
      batch: [1, 9],
      savepoint: 'refused 42703',
      transaction: [[count]],
      write: 'refused 25006',
      'copy in': 'refused 25006',
      after: [[1]],
    })
  })
})
