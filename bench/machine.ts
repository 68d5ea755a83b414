// Processes of a benchmark: a node, a bare fastify server to measure it against, and the load generator. Where the
// machine has `taskset`, servers have the first core to themselves and the generator the second.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadOrder, LoadResult } from './load.ts'
import { type NodeProcess, startNodeProcess } from './node-process.ts'
import type { Tuning } from '../test/helpers/tuning.ts'

export const canPin = availableParallelism() >= 2 && spawnSync('taskset', ['-V']).status === 0
const serverCore = 0
const loadCore = 1

/** A node over a data directory that is removed with it. */
export interface BenchNode extends NodeProcess {
  readonly data: string
  call(path: string, init?: CallInit): Promise<Response>
  /** Posts NDJSON; fails on any answer but 200 and 202. */
  post(alias: string, body: string, options?: { readonly query?: string; readonly prefer?: string }): Promise<Response>
  query(sql: string, more?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Stops it and removes what it stored. */
  remove(): Promise<void>
}

interface CallInit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** Microseconds of CPU that a process has used, all its threads together; NaN where there is no /proc. */
export function cpuMicros(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [user, system] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    // Ticks are hundredths of a second everywhere.
    return (Number(user) + Number(system)) * 10_000
  } catch {
    return Number.NaN
  }
}

/** A process and those that it started; itself alone where there is no /proc. */
function treeOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return [pid, ...children.split(' ').filter(Boolean).map(Number)]
  } catch {
    return [pid]
  }
}

/** Microseconds of CPU that a process and those that it started have used; those that have ended are left out. */
export function treeMicros(pid: number): number {
  return treeOf(pid).reduce((sum, one) => sum + cpuMicros(one), 0)
}

/** Memory of a process and those that it started, what they share counted once (PSS); NaN where there is no /proc. */
export function treeMiB(pid: number): number {
  try {
    const texts = treeOf(pid).map((one) => readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))
    return texts.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]), 0) / 1024
  } catch {
    return Number.NaN
  }
}

/** Most memory that the process has had resident, in MiB; NaN where there is no /proc. */
export function peakMiB(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

/** Memory of a process; NaN where there is no /proc. */
export function residentMiB(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 2 ** 20
  } catch {
    return Number.NaN
  }
}

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'proofstream-bench-'))
}

export async function startBenchNode(
  options: Readonly<Record<string, unknown>> = {},
  launch: {
    readonly data?: string
    readonly pinned?: boolean
    readonly execArgv?: readonly string[]
    readonly tuning?: Tuning
  } = {},
): Promise<BenchNode> {
  const data = launch.data ?? makeDataDir()
  // What runs again is measured again.
  const { execArgv = [], tuning = {} } = launch
  const limits = { keptAnswerBytes: 0, ...tuning.limits }
  const node = await startNodeProcess({ data, ...options }, { execArgv, tuning: { ...tuning, limits } })
  if (launch.pinned === true) pin(node.pid)
  const call = (path: string, init: CallInit = {}): Promise<Response> =>
    fetch(node.url + path, { ...init, headers: { authorization: `Bearer ${node.token}`, ...init.headers } })
  return {
    ...node,
    data,
    call,
    post: async (alias, body, { query = '', prefer } = {}) => {
      const headers = { 'content-type': 'application/x-ndjson', ...(prefer === undefined ? {} : { prefer }) }
      const answer = await call(`/${alias}/ingest${query}`, { method: 'POST', headers, body })
      if (answer.status !== 200 && answer.status !== 202) fail(`posting to ${alias}`, await answer.text())
      return answer
    },
    query: async (sql, more = {}) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ query: sql, ...more })
      const answer = await call('/query', { method: 'POST', headers, body })
      const text = await answer.text()
      return answer.status === 200 ? JSON.parse(text) : fail(sql, text)
    },
    remove: async () => {
      await node.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

export function fail(what: string, text: string): never {
  throw new Error(`${what}: ${text.slice(0, 500)}`)
}

/** A command that runs on the servers' core from its start. */
export function pinned(command: readonly string[]): string[] {
  return ['taskset', '-c', String(serverCore), ...command]
}

/** A command that runs on the load generator's core. */
export function pinnedToLoad(command: readonly string[]): string[] {
  return ['taskset', '-c', String(loadCore), ...command]
}

/** All threads of a process on the servers' core. */
function pin(pid: number): void {
  if (canPin) spawnSync('taskset', ['-apc', String(serverCore), String(pid)])
}

const bareHandlers = {
  /** Answers at once. */
  prompt: `async (request, reply) => reply.code(202).send({ status: 'accepted', bytes: request.body.length })`,
  /** Answers a millisecond later, with all others that came meanwhile, as many bytes as a receipt has. */
  late: `(_request, reply) => {
    if (late.length === 0) setTimeout(() => late.splice(0).forEach((answer) => answer()), 1)
    late.push(() => reply.code(202).header('location', '/receipts/' + 'x'.repeat(330)).send({ receipt: 'x'.repeat(850) }))
  }`,
} as const

const bareProgram = (handler: keyof typeof bareHandlers): string => `
  import { fastify } from 'fastify'
  const app = fastify({ logger: false })
  const late = []
  app.addContentTypeParser('application/x-ndjson', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/:account/:dataset/ingest', ${bareHandlers[handler]})
  await app.listen({ host: '127.0.0.1', port: 0 })
  console.log(app.server.address().port)`

/** A fastify server that reads the same body and answers, and does nothing else. */
export async function startBareServer(
  handler: keyof typeof bareHandlers,
): Promise<{ readonly url: string; readonly pid: number; stop(): void }> {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', bareProgram(handler)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: new URL('..', import.meta.url),
  })
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer] // the port, in one line
  pin(child.pid ?? 0)
  return { url: `http://127.0.0.1:${Number(line.toString())}`, pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') }
}

/** Runs the load generator as a process of its own against a server, and counts what that costs the server. */
export async function runLoad(
  pid: number,
  order: LoadOrder,
): Promise<LoadResult & { readonly microsPerAnswer: number }> {
  const before = cpuMicros(pid)
  const result = await generate(order)
  return { ...result, microsPerAnswer: (cpuMicros(pid) - before) / result.answers }
}

async function generate(order: LoadOrder): Promise<LoadResult> {
  const own = [process.execPath, new URL('./load.ts', import.meta.url).pathname]
  const [command = '', ...args] = canPin ? pinnedToLoad(own) : own
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(order))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(child, 'close')
  return JSON.parse(text) as LoadResult // what bench/load.ts prints
}

/** The bytes of one POST of NDJSON to `path`. */
export function rawPost(url: string, path: string, parts: { token: string; prefer: string; body: string }): LoadOrder {
  const { hostname, host, port } = new URL(url)
  const request =
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${parts.token}\r\n` +
    `Content-Type: application/x-ndjson\r\nPrefer: ${parts.prefer}\r\n` +
    `Content-Length: ${Buffer.byteLength(parts.body)}\r\n\r\n${parts.body}`
  return { host: hostname, port: Number(port), request, connections: 64, warmMs: 2_000, measureMs: 3_000 }
}

/** Highest values of a node while `work` runs, asked 5 times a second: growth of memory, time that the loop was held. */
export async function watch(
  node: BenchNode,
  work: () => Promise<unknown>,
): Promise<{ readonly grownMiB: number; readonly heldMs: number }> {
  const ask = async (): Promise<{ rss: number; heldMs: number }> => {
    const text = await (await node.call('/metrics')).text()
    const of = (name: string): number => Number(new RegExp(`^proofstream_${name} (\\S+)$`, 'm').exec(text)?.[1])
    return { rss: of('process_resident_memory_bytes'), heldMs: of('nodejs_eventloop_lag_max_seconds') * 1000 }
  }
  const before = await ask()
  let [rss, heldMs, over] = [before.rss, 0, false]
  const asking = (async () => {
    while (!over) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      const now = await ask()
      rss = Math.max(rss, now.rss)
      heldMs = Math.max(heldMs, now.heldMs)
    }
  })()
  await work()
  over = true
  await asking
  return { grownMiB: (rss - before.rss) / 2 ** 20, heldMs }
}
