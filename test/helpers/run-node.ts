// Starts the program as a process of its own: a command that runs to its end, or a node that serves until it is
// stopped.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { repository } from './sources.ts'
import type { Tuning } from './tuning.ts'

export const programPath = join(repository, 'bin', 'proofstream.js')
/** Where the program keeps its compiled code. */
export const compiledFolder = join(repository, '.cache')

/** The program with a tuning: what comes before its arguments. */
export function tunedProgram(tuning: Tuning): readonly string[] {
  return [join(repository, 'test', 'helpers', 'tuned-main.ts'), JSON.stringify(tuning)]
}

export interface RunOptions {
  /** Added to an environment without any variable of Proofstream. */
  readonly env?: Readonly<Record<string, string>>
  /** Written to stdin, which then ends; default: nothing. */
  readonly input?: string | Uint8Array | Readable
  readonly cwd?: string
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void
}

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `proofstream <args>` to its end. */
export function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return runProgram([programPath, ...args], options)
}

/** Runs this Node.js with `args` to its end. */
export function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return runFile(process.execPath, args, options)
}

/** Runs a script in bash as a reader of the pages types it: `proofstream` is this program. It ends with what fails first. */
export async function runShell(script: string, options: RunOptions = {}): Promise<Finished> {
  const programs = await mkdtemp(join(tmpdir(), 'proofstream-programs-'))
  await symlink(programPath, join(programs, 'proofstream'))
  const PATH = `${programs}:${dirname(process.execPath)}:${process.env['PATH']}`
  const lines = `npx() { "$@"; }\n${script}`
  try {
    return await runFile('bash', ['--norc', '-euo', 'pipefail', '-c', lines], {
      ...options,
      env: { ...options.env, PATH },
    })
  } finally {
    await rm(programs, { recursive: true })
  }
}

/** Runs `file` to its end. */
export async function runFile(file: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  const child = spawn(file, args, {
    cwd: options.cwd ?? repository,
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  options.onStart?.(child)
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {})
  if (options.input instanceof Readable) options.input.pipe(child.stdin)
  else child.stdin.end(options.input ?? '')
  const ended = new Promise<Pick<Finished, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { ...end, stdout, stderr }
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:PROOFSTREAM_|FORCE_COLOR|NODE_|VITEST)/.test(name))
  // What bin/proofstream.js says, for programs that begin without it.
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: compiledFolder }
}

export interface ServedNode {
  readonly url: string
  readonly did: string
  readonly pid: number
  /** What it wrote to stderr so far. */
  readonly log: () => string
  /** Sends `signal` and waits for the end. */
  readonly end: (signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL') => Promise<Pick<Finished, 'code' | 'signal'>>
}

/** Runs `proofstream serve` on a free port over `dataDir`, as `program` of `file`; resolves when it says that it is ready. */
export async function serveNode(
  dataDir: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
  program: readonly string[] = [programPath],
  file = process.execPath,
): Promise<ServedNode> {
  const serve = ['serve', '--data', dataDir, '--listen', '127.0.0.1:0', ...args]
  const child = spawn(file, [...program, ...serve], {
    cwd: repository,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  const ended = new Promise<Pick<Finished, 'code' | 'signal'>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    void ended.then(({ code }) => reject(new Error(`the node ended with ${code} before it was ready:\n${log}`)))
  })
  const ready = JSON.parse(line) as { event: string; url: string; did: string; pid: number }
  return {
    url: ready.url,
    did: ready.did,
    pid: ready.pid,
    log: () => log,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
