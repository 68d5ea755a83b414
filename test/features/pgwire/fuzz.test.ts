// What a stranger may send, in 3,000 connections to one node: messages in any order, cut, changed, and no messages at all. The node
// goes on as if nothing had been. PG_FUZZ=100000 runs as many; a case that hangs is named by its number (fuzz-cases.ts).

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { serveNode } from '../../helpers/run-node.ts'
import { seed } from '../../helpers/seed.ts'
import { until } from '../../helpers/until.ts'
import { connected } from './pg.ts'
import { fuzzCase } from './fuzz-cases.ts'
import * as raw from './raw-client.ts'

const cases = Number(process.env['PG_FUZZ'] ?? 3_000)
const warmUp = 500
const atOnce = 12
const patienceMs = 120_000
const mostBytes = 64 * 1024 * 1024

const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-fuzz-'))
const port = await freePort()
const node = await serveNode(dataDir, ['--pg-listen', `127.0.0.1:${port}`, '--log-level', 'error'])
afterAll(async () => {
  await node.end('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})
const token = (await readFile(join(dataDir, 'token'), 'utf8')).trim()
const posted = await fetch(`${node.url}/demo/fuzz/ingest?create=true`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=30' },
  body: Array.from({ length: 500 }, (_, n) => `{"n":${n},"word":"${n === 400 ? 'x' : n}"}\n`).join(''),
})
if (posted.status !== 200) throw new Error(await posted.text())

/** Resolves once the connection is closed: true, or false where it hangs. */
async function run(number: number): Promise<boolean> {
  const { chunks, leaves } = fuzzCase(number)
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const closed = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      resolve(false)
      socket.destroy()
    }, patienceMs)
    socket.on('error', () => {}).on('data', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  for (const chunk of chunks) {
    socket.write(chunk)
    await new Promise(setImmediate)
  }
  if (leaves === 'gone') socket.destroy()
  else if (leaves === 'half') socket.end()
  else socket.write(raw.terminate)
  return await closed
}

/** Runs the cases from `from` on; those that hang. */
async function runMany(from: number, count: number): Promise<number[]> {
  const hung: number[] = []
  let next = from
  const runner = async (): Promise<void> => {
    while (next < from + count) {
      const number = next++
      if (!(await run(number))) hung.push(number)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runner))
  return hung
}

/** Bytes of memory that the node has. */
async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${node.pid}/status`, 'utf8')
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
}

/** Connections that the node has at its door. */
async function openConnections(): Promise<number> {
  const table = await readFile('/proc/net/tcp', 'utf8')
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const isOpen = (line: string): boolean => {
    const [, at = '', , state] = line.trim().split(/\s+/)
    // Neither listening nor long gone: TIME_WAIT is the kernel's.
    return at.endsWith(local) && state !== '0A' && state !== '06'
  }
  return table.split('\n').filter(isOpen).length
}

async function rest(): Promise<void> {
  await until('the end of all connections', async () => (await openConnections()) === 0)
  const metrics = async (): Promise<string> => await (await fetch(`${node.url}/metrics`)).text()
  await until('the end of all portals', async () => /^proofstream_query_running 0$/m.test(await metrics()))
  expect(await metrics()).toMatch(/^proofstream_query_waiting 0$/m)
  await until('the end of all connections', async () => /^proofstream_postgres_connections 0$/m.test(await metrics()))
}

test.skipIf(process.platform !== 'linux')(
  'whatever comes, the node answers, holds nothing and has not failed',
  async () => {
    expect(await runMany(seed * 1_000_000, warmUp)).toEqual([])
    await rest()
    const before = await residentBytes()
    expect(await runMany(seed * 1_000_000 + warmUp, cases)).toEqual([])
    await rest()
    const client = await connected({ port })
    expect((await client.query('select 1 as a')).rows).toEqual([{ a: 1 }])
    await client.end()
    // Memory at rest is given back a while later.
    await until(
      async () => `memory as before: ${before}, now ${await residentBytes()}`,
      async () => (await residentBytes()) - before < mostBytes,
    )
    expect(node.log()).not.toMatch(/A (?:connection|statement) of a PostgreSQL client failed/)
  },
  14_400_000,
)
