// docs/you-were-sent-a-file.md, as a reader follows it: each of the seven files, made by a node, is judged by each command of the page.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { liveNode } from '../helpers/live-node.ts'
import { blocksOf } from '../helpers/page-blocks.ts'
import { runsWith } from '../helpers/features.ts'
import { type Finished, runShell } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { until } from '../helpers/until.ts'

const page = 'docs/you-were-sent-a-file.md'
const folder = await mkdtemp(join(tmpdir(), 'proofstream-sent-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

/** Runs commands of the page; `npx` and the address of the node are those of this machine. */
async function shell(script: string): Promise<Finished> {
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  const here = script
    .replaceAll('npx proofstream-verify', `node ${join(repository, 'src/cli/evidence.ts')}`)
    .replaceAll('http://localhost:8080', live.node.url)
    .replace(/^proofstream verify .*/, '$& -o table')
  return await runShell(here, { cwd: folder, env })
}

const scripts = blocksOf(page).flatMap(({ language, text }) => (language === 'sh' ? text.trim().split('\n') : []))

beforeAll(async () => {
  if (!runsWith('ledger')) return
  await copyFile(join(repository, 'examples/reader/ask.py'), join(folder, 'ask.py'))
  await live.call('/acme/tides', {
    method: 'PUT',
    body: '{"proofs": "rows"}',
    headers: { 'content-type': 'application/json' },
  })
  const posted = await live.ingest('acme/tides', [
    { event_time: '2026-01-01T00:00:00Z', harbour: 'Ostend', level: 4.25 },
  ])
  const id = String(posted.at('receiptId'))
  await until('a proof', async () => ((await live.call(`/receipts/${id}/proof`)).status === 200 ? true : undefined))
  const saved = await shell(
    [
      `proofstream query 'select harbour, level from acme.tides' --proof answer.json`,
      'proofstream bundle answer.json -o answer.tar',
      `proofstream receipt ${id} --signed -o receipt.json`,
      'proofstream ledger prove acme/tides@0 -o row.tlog-proof',
      'curl -fsS http://localhost:8080/ledger/checkpoint > checkpoint',
      'proofstream pack-evidence acme/tides --query answer.json --receipt receipt.json --from 0 -o pack.zip',
    ].join(' && '),
  )
  if (saved.code !== 0) throw new Error(saved.stderr)
  const refused = await live.call('/acme/tides/ingest', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'receipt=signed' },
    body: '{"event_time":"2026-01-01T00:00:00Z","harbour":7,"level":"high"}\n',
  })
  await writeFile(join(folder, 'refusal.json'), refused.text)
})

test.runIf(runsWith('ledger'))(
  'each command judges its file, and says what it shows',
  async () => {
    const files = [
      'answer.json',
      'answer.tar',
      'receipt.json',
      'row.tlog-proof',
      'checkpoint',
      'refusal.json',
      'pack.zip',
    ]
    expect(files.filter((file) => !scripts.some((line) => line.includes(file)))).toEqual([])
    const said: [string, number | null, string][] = []
    for (const line of scripts) {
      const { code, stdout } = await shell(line)
      if (!line.startsWith('curl')) said.push([line, code, stdout.split('\n')[0] ?? ''])
    }
    // Without --signer nobody names the key of an answer or a refusal.
    const isGood = /^✓|^\? Unchanged since it was signed by a key that nobody here knows/
    expect(said.filter(([, code, first]) => code !== 0 || !isGood.test(first))).toEqual([])
    expect(said.length).toBeGreaterThanOrEqual(16)
  },
  600_000,
)

test.runIf(runsWith('ledger'))(
  'all six at once, in any order, have the same verdicts, and without a policy none is a fault',
  async () => {
    const all = 'refusal.json checkpoint receipt.json row.tlog-proof answer.json'
    const by = [`npx proofstream-verify ${all}`, `python3 ask.py --check ${all}`, `proofstream verify ${all} --offline`]
    const said = await Promise.all(by.map(async (line) => await shell(line)))
    expect(said.map(({ code }) => code)).toEqual([14, 14, 14])
    const [first, ...others] = said.map(({ stdout }) => stdout)
    for (const other of others) expect(other).toBe(first)
    expect(first).not.toContain('✗')
  },
)
