// The process of a portable engine, from its parent: one for each proof, which may read its own files alone. It is handed slices
// in pieces, and is killed where a statement takes too long or the process too much memory. That is no verdict against a proof.

import { type ChildProcess, fork } from 'node:child_process'
import { lstatSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { cancelled } from './cancelled.ts'
import { endsFirst, startMs } from './child-handle.ts'
import type { FromPortable, PortableJob, ToPortable } from './portable-messages.ts'
import type { PortableVerdict } from '../../libraries/proof/rerun/verdict.ts'

const watchEveryMs = 50
/** All that a proof runs takes no more than so many statements at their limit. */
const statementsMost = 5

export interface ProcessLimits {
  readonly queryMs: number
  /** The process ends that takes more. */
  readonly killBytes: number
  readonly clock: Clock
  /** Ends the process. */
  readonly signal: AbortSignal
}

/** The bytes of a slice of a table, in pieces. */
export type ReadSlice = (table: number, slice: number) => AsyncIterable<Uint8Array>

/** Runs a job in a process that is gone when this is over. Throws what `read` throws; NodeError `Draining`, `QueryTimeout` where the signal aborts. */
export async function judgeApart(job: PortableJob, read: ReadSlice, limits: ProcessLimits): Promise<PortableVerdict> {
  if (limits.signal.aborted) throw endedBy(limits.signal)
  const apart = new PortableProcess(job, read, limits)
  try {
    return await apart.verdict
  } finally {
    await apart.end()
  }
}

class PortableProcess {
  /** Rejects with what `read` throws, and where the signal aborts. */
  readonly verdict: Promise<PortableVerdict>
  readonly #process: ChildProcess
  readonly #exited: Promise<void>
  readonly #read: ReadSlice
  readonly #limits: ProcessLimits
  readonly #over = new AbortController()
  #settle:
    | { readonly resolve: (verdict: PortableVerdict) => void; readonly reject: (error: unknown) => void }
    | undefined
  /** When it was heard of last, and how long it may be silent from then on. */
  #heardMs: number
  #silentMs: number = startMs

  constructor(job: PortableJob, read: ReadSlice, limits: ProcessLimits) {
    this.#read = read
    this.#limits = limits
    this.#heardMs = limits.clock.monotonicMs()
    this.verdict = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
    this.#process = startProcess(job)
    endsFirst(this.#process.pid)
    this.#exited = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.#unknown(`its process ended with ${signal ?? code}`)
        resolve()
      })
      this.#process.on('error', ({ message }) => {
        this.#unknown(message)
        if (this.#process.pid === undefined) resolve()
      })
    })
    this.#process.on('message', (message: FromPortable) => this.#receive(message))
    limits.signal.addEventListener('abort', this.#abort)
    this.#send({ kind: 'job', job })
    void this.#watch()
  }

  /** Resolves when the process is gone. */
  async end(): Promise<void> {
    this.#over.abort()
    this.#limits.signal.removeEventListener('abort', this.#abort)
    this.#process.kill('SIGKILL')
    await this.#exited
  }

  readonly #abort = (): void => this.#settle?.reject(endedBy(this.#limits.signal))

  #receive(message: FromPortable): void {
    this.#heardMs = this.#limits.clock.monotonicMs()
    if (message.kind === 'verdict') return this.#settle?.resolve(message.verdict)
    if (message.kind === 'ready') this.#silentMs = this.#limits.queryMs
    if (message.kind === 'wanted') void this.#hand(message).catch((error: unknown) => this.#settle?.reject(error))
  }

  async #hand({ table, slice }: Extract<FromPortable, { kind: 'wanted' }>): Promise<void> {
    for await (const bytes of this.#read(table, slice)) {
      await this.#sent({ kind: 'piece', bytes, isLast: false })
      this.#heardMs = this.#limits.clock.monotonicMs()
    }
    await this.#sent({ kind: 'piece', bytes: new Uint8Array(), isLast: true })
  }

  #unknown(why: string): void {
    this.#settle?.resolve({ outcome: 'unknown', why: `The engine failed: ${why}.` })
  }

  #send(message: ToPortable): void {
    void this.#sent(message)
  }

  /** Resolves when the message is out of this process; the end of the other is heard of elsewhere. */
  async #sent(message: ToPortable): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#process.connected) this.#process.send(message, () => resolve())
      else resolve()
    })
  }

  /** Nothing in the process can be relied on to end it. */
  async #watch(): Promise<void> {
    const { clock, killBytes, queryMs } = this.#limits
    const startedMs = clock.monotonicMs()
    while (!this.#over.signal.aborted) {
      await clock.sleep(watchEveryMs, this.#over.signal)
      const nowMs = clock.monotonicMs()
      if (nowMs - this.#heardMs > this.#silentMs) this.#unknown(`it took longer than ${this.#silentMs} ms`)
      if (nowMs - startedMs > startMs + statementsMost * queryMs) this.#unknown('all of it took too long')
      if ((await residentBytes(this.#process.pid)) > killBytes) this.#unknown(`it took more than ${killBytes} bytes`)
    }
  }
}

/** The node closes, or the caller has gone. */
function endedBy({ reason }: AbortSignal): NodeError {
  return reason instanceof NodeError ? reason : cancelled()
}

/** Memory of a process; 0 where the system does not say, and only its own bounds hold. */
async function residentBytes(pid: number | undefined): Promise<number> {
  if (process.platform !== 'linux' || pid === undefined) return 0
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

/** It may read its code and the files of the engine; it has no environment, and starts nothing. */
function startProcess({ module, driver, memoryBytes }: PortableJob): ChildProcess {
  const entry = new URL(
    import.meta.url.endsWith('.ts') ? './portable-child.ts' : './portable-child.js',
    import.meta.url,
  )
  const readable = [fileURLToPath(new URL('../../', import.meta.url)), ...packageFiles(), module.path, driver.path]
  return fork(entry, {
    execArgv: [
      '--permission',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      `--max-old-space-size=${Math.ceil(memoryBytes / (1024 * 1024))}`,
    ],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}

/** What says that our code is of modules, and the one package that it needs, with the links that lead there. */
function packageFiles(): string[] {
  const own = findPackageJSON(import.meta.url)
  const needed = findPackageJSON('multiformats', import.meta.url)
  if (own === undefined || needed === undefined) return []
  const links: string[] = []
  for (let at = dirname(needed); at !== dirname(at); at = dirname(at))
    if (lstatSync(at).isSymbolicLink()) links.push(at)
  // Links come first: Node.js does not find them behind what they lead to.
  return [own, ...links, ...[dirname(needed), dirname(realpathSync(needed))].map((path) => path + sep)]
}
