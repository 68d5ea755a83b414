// A node as a process of its own, to be killed and frozen at any moment: `serve` of this very program, without any
// variable of the environment, so that it knows of no data but those of its flags.

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface ServeSpec {
  /** Names the process in what is seen: a restarted one has another. */
  readonly session: string
  readonly dataDir: string
  /** Where Node.js may keep compiled sources, so that restarts are quick. */
  readonly compileCache: string
  /** Options of `serve` by name, without dashes. */
  readonly options: Readonly<Record<string, string>>
  /** File with the admin token; default: the one in the data directory. */
  readonly tokenFile?: string
}

/** Where a process answers, and with which token. */
export interface Address {
  readonly url: string
  readonly token: string
  readonly session: string
}

export interface ServedNode {
  /** Rejects, with what the process wrote to stderr, when it ends before it is ready. */
  readonly ready: Promise<Address>
  isAlive(): boolean
  /** SIGSTOP. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** SIGKILL, or SIGTERM; resolves with the exit code when the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}

const program = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../main.ts' : '../../main.js', import.meta.url),
)
/** Last characters of stderr that are kept. */
const keptErrors = 4_000

/** Starts a node on a free port. It is killed when this process exits. */
export function startServed(spec: ServeSpec): ServedNode {
  const options = { data: spec.dataDir, listen: '127.0.0.1:0', 'log-level': 'error', ...spec.options }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(process.execPath, [program, 'serve', ...flags], {
    cwd: spec.dataDir,
    env: { NODE_COMPILE_CACHE: spec.compileCache },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killNow = (): void => void child.kill('SIGKILL')
  process.on('exit', killNow)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.off('exit', killNow)
      resolve(code)
    })
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptErrors)
  })
  const line = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
  const ready = Promise.race([line, ended]).then(async (said): Promise<Address> => {
    if (typeof said !== 'string') throw new RangeError(`the node ended (${said}) before it was ready: ${errors}`)
    const { url } = JSON.parse(said) as { url: string } // the ready line of serve
    const token = (await readFile(spec.tokenFile ?? join(spec.dataDir, 'token'), 'utf8')).trim()
    return { url, token, session: spec.session }
  })
  // Who kills a node that starts does not wait for it.
  ready.catch(() => {})
  return {
    ready,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
