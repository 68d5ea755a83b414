// The blocks of docs/bi.md, as they stand there, against a node of this machine: psql and psycopg where they are.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { freePort } from '../helpers/free-port.ts'
import { liveNode } from '../helpers/live-node.ts'
import { blockOf, shown } from '../helpers/page-blocks.ts'
import { runFile } from '../helpers/run-node.ts'

const page = 'docs/bi.md'
const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = [
  { station: 'Oslo', celsius: 4.5, event_time: '2026-03-01T10:00:00Z' },
  { station: 'Oslo', celsius: 5.5, event_time: '2026-03-01T10:02:00Z' },
  { station: 'Bergen', celsius: 7, event_time: '2026-03-01T10:07:00Z' },
]
await live.ingest('acme/weather', rows, '?create=true')

const here = (text: string): string => text.replaceAll('5432', String(port))
const hasPsql = spawnSync('psql', ['--version']).status === 0
const hasPsycopg = spawnSync('python3', ['-c', 'import psycopg']).status === 0
for (const [name, has] of [
  ['psql', hasPsql],
  ['psycopg', hasPsycopg],
] as const) {
  if (!has) console.warn(`NOT RUN: ${name} is not here, with which docs/bi.md reads rows`)
}

test('the options of the page are those of the node', () => {
  expect(blockOf(page, 'proofstream serve')).toBe('proofstream serve --pg-listen 127.0.0.1:5432\n')
})

test.runIf(hasPsql)('psql counts rows, and is told where they come signed', async () => {
  const { code, stdout, stderr } = await runFile('bash', ['-c', here(blockOf(page, 'psql'))], {})
  expect([code, stdout]).toEqual([0, expect.stringMatching(/\n +3\n/)])
  const address = /http:\S+/.exec(stderr)?.[0] ?? ''
  const told = shown(blockOf(page, 'NOTICE:').trim()).source.replace('http://localhost:8080', 'http://[^/]+')
  expect(stderr).toMatch(new RegExp(told.replaceAll(/localhost:8080/g, '[^/]+')))
  const signed = (await (await fetch(address)).json()) as Record<string, unknown>
  expect(signed).toMatchObject({ output: { data: [[3]] }, proof: expect.anything() })
})

test.runIf(hasPsql)('a panel of Grafana has its averages', async () => {
  const sql = blockOf(page, 'SELECT time_bucket').replace(
    '$__timeFilter(event_time)',
    "event_time BETWEEN '2026-03-01T00:00:00Z' AND '2026-03-02T00:00:00Z'",
  )
  const of = ['-At', `host=127.0.0.1 port=${port} user=anonymous dbname=all`, '-c', sql]
  const { stdout } = await runFile('psql', of, { env: { PGOPTIONS: '-c client_min_messages=warning' } })
  expect(stdout).toBe('2026-03-01 10:00:00+00|5\n2026-03-01 10:05:00+00|7\n')
})

test.runIf(hasPsycopg)('Python reads rows by the bare name of a dataset', async () => {
  const { code, stdout } = await runFile('python3', ['-c', here(blockOf(page, 'import psycopg'))], {})
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^proofstream: weather@|acme\/weather@/)])
  expect(stdout).toContain("('Oslo', 5.5)")
})
