// The examples over the demo data, run as they stand: the fleet, the notebook, the dashboard's statements, the audit.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startLiveNode, type LiveNode } from '../helpers/live-node.ts'
import { programPath, runCommand } from '../helpers/run-node.ts'
import { run } from './run.ts'

const repository = new URL('../..', import.meta.url).pathname
const dir = mkdtempSync(join(tmpdir(), 'proofstream-examples-'))
const python = { PYTHONPATH: 'clients/python/src', PYTHONDONTWRITEBYTECODE: '1' }
const hasPandas = spawnSync('python3', ['-c', 'import pandas']).status === 0
if (!hasPandas) console.warn('NOT RUN: the notebook of the examples needs pandas')

let live: LiveNode
let loaded: unknown
beforeAll(async () => {
  live = await startLiveNode({ data: join(dir, 'data') })
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  // Once more does no harm.
  for (let time = 0; time < 2; time++) loaded = await runCommand(['demo'], { env })
})
afterAll(async () => {
  await live.stop()
  rmSync(dir, { recursive: true, force: true })
})

it('the demo data is there, once', async () => {
  expect(loaded).toMatchObject({ code: 0, stderr: expect.stringContaining('Try, for instance:') })
  const sql =
    'select (select count(*) from us.airports), (select count(*) from us.flights), (select count(*) from us.earthquakes)'
  expect((await live.query(sql)).at('output.data.0')).toEqual([3376, 5366, 1707])
})

it('the fleet stores every reading once, through outages and restarts', async () => {
  const args = ['examples/fleet/fleet.py', '--server', live.node.url, '--outage', '2']
  const { code, stdout, stderr } = await run('python3', args, { env: { ...python, TOKEN: live.adminToken } })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^ci\t386\t2\.96\n[\s\S]*\n1707 readings of 12 devices, signed by did:key:z6Mk/)
})

interface Cell {
  readonly cell_type: string
  readonly source: readonly string[]
}

it.runIf(hasPandas)('the notebook runs from top to bottom', async () => {
  const { cells } = JSON.parse(readFileSync('examples/notebook/earthquakes.ipynb', 'utf8')) as {
    cells: readonly Cell[]
  }
  const code = cells.filter((cell) => cell.cell_type === 'code').map((cell) => cell.source.join(''))
  // Jupyter shows the value of a cell's last line.
  const program = code.map((cell) => cell.replace(/^(\w[^\n=:#]*)$(?![\s\S])/m, 'print($1)')).join('\n')
  const script = `import os\nos.chdir(${JSON.stringify(dir)})\n${program}\n`
  const env = { ...python, PYTHONPATH: join(repository, 'clients/python/src'), PROOFSTREAM_SERVER: live.node.url }
  const { code: exitCode, stdout, stderr } = await run('python3', ['-c', script], { env })
  expect([exitCode, stderr]).toEqual([0, ''])
  for (const text of [
    '2018-01-31',
    live.node.did,
    'us/earthquakes f1620',
    'whole',
    'InvalidRequest::OutputHash',
    'True',
  ])
    expect(stdout).toContain(text)
})

interface Panel {
  readonly title: string
  readonly targets: readonly {
    readonly url: string
    readonly url_options: { readonly params: readonly { readonly key: string; readonly value: string }[] }
    readonly columns: readonly { readonly selector: string }[]
  }[]
}

it('each panel of the dashboard gets rows with the columns that it shows', async () => {
  const file = 'examples/dashboard/provisioning/dashboards/earthquakes.json'
  const { panels, time } = JSON.parse(readFileSync(file, 'utf8')) as {
    panels: readonly Panel[]
    time: { from: string; to: string }
  }
  expect(panels.length).toBeGreaterThan(3)
  for (const { targets } of panels) {
    for (const { url, url_options: options, columns } of targets) {
      const query = new URLSearchParams(
        options.params.map(({ key, value }): [string, string] => [
          key,
          value.replace('${__from:date:iso}', time.from).replace('${__to:date:iso}', time.to),
        ]),
      )
      const answer = await live.call(`${url}?${query}`, { token: null })
      const [head = '', ...rows] = answer.text.trimEnd().split('\r\n')
      expect([answer.status, head.split(',')]).toEqual([200, columns.map(({ selector }) => selector)])
      expect(rows.length).toBeGreaterThan(0)
    }
  }
})

it('the audit finds a proof good, and a forgery bad', async () => {
  const page = readFileSync('examples/audit/README.md', 'utf8')
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block)
  const script = `set -e\nnpx() { shift; "${process.execPath}" "${programPath}" "$@"; }\ncd "${dir}"\n${blocks('sh').join('\n')}`
  const env = { PROOFSTREAM_SERVER: live.node.url }
  const { code, stdout, stderr } = await run('bash', ['-c', script], { env })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  for (const text of blocks('text')) expect(stdout).toContain(text)
  expect(stdout).not.toContain('it was believed')
})
