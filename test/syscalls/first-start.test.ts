// Each system call of a node's first start that makes something durable fails in turn: killed at, EIO, ENOSPC. Then the
// node starts again on what is there: it must start, with a token that opens it, and keep key and token that were told.
// FIRST_START_RUNS says how many of all these runs to make (default 24, `all` for each), SEED which ones.

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { startNode } from '../../src/app/node.ts'
import { orderFaults, parseTrace } from './order.ts'
import { type Injection, injectionsOf, runTraced, type TracedRun, whyNoStrace } from './trace.ts'
import { seed } from '../helpers/seed.ts'

const workload = fileURLToPath(new URL('first-start-workload.ts', import.meta.url))
const calls = [
  'openat',
  'write',
  'pwrite64',
  'fsync',
  'fdatasync',
  'link,linkat',
  'rename,renameat,renameat2',
  'unlink,unlinkat',
  'mkdir,mkdirat',
] as const
const wanted = process.env['FIRST_START_RUNS'] ?? '24'

const missing = whyNoStrace()

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proofstream-syscalls-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

let count = 0
async function runIn(inject?: Injection): Promise<{ dir: string; run: TracedRun }> {
  const dir = join(root, `${++count}`)
  await mkdir(dir)
  const output = join(root, `${count}.trace`)
  const traced = inject?.call ?? calls.join(',')
  return { dir, run: await runTraced(dir, { calls: traced, output, workload, ...(inject && { inject }) }) }
}

/** Starts again and says what is wrong with what it finds. */
async function faultsAfter(dir: string, run: TracedRun): Promise<string[]> {
  const options = { listen: '127.0.0.1:0', 'log-level': 'silent', roles: 'gateway,builder' }
  const data = join(dir, 'data')
  const node = await startNode(loadConfig({ ...options, data }))
  const found: string[] = []
  try {
    const token = (await readFile(node.tokenFile, 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}` }
    const listed = await fetch(`${node.url}/tokens`, { headers })
    if (listed.status !== 200) found.push(`the token does not open the node: ${listed.status}`)
    const body: unknown = await listed.json()
    const { tokens = [] } = body as { tokens?: unknown[] }
    if (tokens.length !== 1) found.push(`there are ${tokens.length} admin tokens`)
    const [told] = run.lines
    if (told !== undefined && told.id !== 'stopped') {
      if (told.id !== token) found.push('the token that was told is not the one that is there')
      if (!JSON.stringify(told).includes(node.did)) found.push('the node has another key than before')
    }
    const posted = await fetch(`${node.url}/acme/first/ingest?create=true`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson', 'idempotency-key': 'first' },
      body: '{"n":1}\n',
    })
    if (posted.status >= 300) found.push(`rows are not taken: ${posted.status} ${await posted.text()}`)
  } finally {
    await node.stop()
  }
  const left = (await readdir(data)).filter((name) => name.startsWith('token.') && !/\.[0-9a-f]{16}\.new$/.test(name))
  if (left.length > 0) found.push(`left behind: ${left.join(' ')}`)
  return found
}

describe.skipIf(missing !== undefined)('a first start', () => {
  test('names nothing before it is durable', async () => {
    const { run } = await runIn()
    expect({ ended: run.ended, said: run.lines.at(-1)?.id }).toEqual({ ended: '0', said: 'stopped' })
    expect(orderFaults(parseTrace(run.trace))).toEqual([])
  })

  test(`interrupted anywhere is finished by the next one (FIRST_START_RUNS=${wanted} SEED=${seed})`, async () => {
    const { run } = await runIn()
    const { all, chosen } = injectionsOf(parseTrace(run.trace), calls, { wanted, seed })
    const bad: object[] = []
    let reached = 0
    for (const injection of chosen) {
      const { dir, run: disturbed } = await runIn(injection)
      if (disturbed.injected.length > 0 || disturbed.ended.startsWith('SIGKILL')) reached++
      const found = await faultsAfter(dir, disturbed).catch((error: unknown) => [String(error)])
      if (found.length > 0) bad.push({ injection, found, injected: disturbed.injected, ended: disturbed.ended })
      await rm(dir, { recursive: true, force: true })
    }
    console.log(`first starts: ${chosen.length} of ${all} runs, ${reached} reached`)
    expect(bad).toEqual([])
    expect(reached * 2).toBeGreaterThan(chosen.length)
  })
})
