// A node as a process of its own, to be killed at any moment. The same data directory can be started again and again.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Tuning } from '../test/helpers/tuning.ts'

export interface NodeProcess {
  readonly pid: number
  readonly url: string
  readonly token: string
  /** From spawning the process to its being ready. */
  readonly readyMs: number
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Stops it in order (its standard input is closed); resolves with the exit code. */
  stop(): Promise<number | null>
}

export type NodeOptions = Readonly<Record<string, unknown>> & { readonly data: string }

const sources = new URL('../src/', import.meta.url)
const tuningSource = new URL('../test/helpers/tuning.ts', import.meta.url).href

/** Starts a node with `options` (flags without dashes). Rejects with what it wrote to standard error if it ends before it is ready. */
export async function startNodeProcess(
  options: NodeOptions,
  launch: { readonly execArgv?: readonly string[]; readonly tuning?: Tuning } = {},
): Promise<NodeProcess> {
  const startedMs = performance.now()
  const child = spawn(
    process.execPath,
    [
      // As `npm start` and the command.
      '--v8-pool-size=1',
      '--external-memory-accounted-in-global-limit',
      ...(launch.execArgv ?? []),
      '--input-type=module',
      '-e',
      programOf({ listen: '127.0.0.1:0', 'log-level': 'warn', ...options }, launch.tuning ?? {}),
    ],
    // As bin/proofstream.js begins a node.
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, MALLOC_MMAP_THRESHOLD_: '65536' } },
  )
  const ended = once(child, 'exit')
  const errors: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors.push(text)
    if (errors.length > 200) errors.shift()
  })
  child.stdin.on('error', () => {})
  const ready = await new Promise<{ url: string; token: string }>((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end >= 0) resolve(JSON.parse(text.slice(0, end)) as { url: string; token: string })
    })
    child.on('error', reject)
    child.on('exit', (code, signal) =>
      reject(new Error(`the node ended (${code ?? signal}) before it was ready: ${errors.join('')}`)),
    )
  })
  return {
    ...ready,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedMs,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    stop: async () => {
      child.stdin.end()
      await ended
      return child.exitCode
    },
  }
}

/** What the process runs: a node that stops when its standard input ends, so that none outlives the one who started it. */
function programOf(options: Readonly<Record<string, unknown>>, tuning: Tuning): string {
  const source = (path: string): string => JSON.stringify(new URL(path, sources).href)
  return `
    import { readFileSync, writeSync } from 'node:fs'
    import { loadConfig } from ${source('app/config.ts')}
    import { startNode } from ${source('app/node.ts')}
    import { tuned } from ${JSON.stringify(tuningSource)}
    const config = tuned(loadConfig(${JSON.stringify(options)}), ${JSON.stringify(tuning)})
    const node = await startNode(config)
    const token = readFileSync(node.tokenFile, 'utf8').trim()
    writeSync(1, JSON.stringify({ url: node.url, token }) + '\\n')
    void node.failed.then((error) => { console.error(error); process.exit(3) })
    process.stdin.on('end', () => void node.stop().then(() => process.exit(0)))
    process.stdin.resume()`
}
