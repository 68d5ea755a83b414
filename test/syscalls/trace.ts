// Runs the workload under strace, and reads what strace wrote.

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { randomOf } from '../history/load.ts'
import type { TracedCall } from './order.ts'
import type { Line } from './posts.ts'

export type Fault = 'kill' | 'EIO' | 'ENOSPC'

export interface Injection {
  /** One call, or several names that the kernel has for one thing. */
  readonly call: string
  readonly fault: Fault
  /** The n-th call of a thread, from 1. */
  readonly nth: number
}

const faults = ['kill', 'EIO', 'ENOSPC'] as const

/** Every fault of every traced call on files of the node, in an order that the seed gives; all, or as many as wanted. */
export function injectionsOf(
  made: readonly TracedCall[],
  calls: readonly string[],
  { wanted, seed }: { readonly wanted: string; readonly seed: number },
): { readonly all: number; readonly chosen: readonly Injection[] } {
  const all: Injection[] = []
  for (const call of calls) {
    const names = call.split(',')
    const nths = new Set(made.filter(({ name, ours }) => ours && names.includes(name)).map(({ nth }) => nth))
    for (const nth of nths) for (const fault of faults) all.push({ call, fault, nth })
  }
  const random = randomOf(seed)
  const order = all.map((injection) => ({ injection, key: random.next() })).sort((a, b) => a.key - b.key)
  const chosen = wanted === 'all' ? order : order.slice(0, Number(wanted))
  return { all: all.length, chosen: chosen.map(({ injection }) => injection) }
}

export interface TracedRun {
  /** What the process said before it ended. */
  readonly lines: readonly Line[]
  /** The calls that were made to fail, as strace writes them. */
  readonly injected: readonly string[]
  readonly trace: readonly string[]
  readonly ended: string
}

const ordinaryWorkload = fileURLToPath(new URL('workload.ts', import.meta.url))
/** A run that hangs this long is killed: its answers count as unknown. */
const mostMs = 30_000

/** Why system calls cannot be traced here, or undefined. */
export function whyNoStrace(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (error !== undefined) return 'strace is not installed (apt-get install strace)'
  return status === 0 ? undefined : `strace may not trace here: ${stderr.trim()}`
}

/** Runs the workload on `dir`, tracing `calls` into `output`. */
export function runTraced(
  dir: string,
  trace: {
    readonly calls: string
    readonly output: string
    readonly inject?: Injection
    /** The program; default: the one of the workload. */
    readonly workload?: string
  },
): Promise<TracedRun> {
  const { calls, output, inject, workload = ordinaryWorkload } = trace
  const action = inject?.fault === 'kill' ? 'signal=KILL' : `error=${inject?.fault ?? ''}`
  const args = ['-f', '-y', '-s', '0', '-o', output, '-e', `trace=${calls}`]
  // Stops for the traced calls alone: much faster, but signals cannot be sent that way.
  if (inject?.fault !== 'kill') args.push('--seccomp-bpf')
  if (inject !== undefined) args.push('-e', `inject=${inject.call}:${action}:when=${inject.nth}`)
  args.push(process.execPath, workload, dir)
  // Counts are per thread: with one thread for file work they mean something.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1', NODE_OPTIONS: '' }
  const child = spawn('strace', args, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: true })
  let said = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), mostMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const text = readFileSync(output, 'utf8').split('\n')
      const lines = said
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line)
      const injected = text.filter((line) => line.includes('(INJECTED)') || line.includes('killed by SIGKILL'))
      resolve({
        lines,
        injected,
        trace: text,
        ended: `${code ?? signal}${errors === '' ? '' : `: ${errors.slice(0, 300)}`}`,
      })
    })
  })
}
