// `proofstream serve --roles witness` as a process of its own, for tests.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programPath } from '../../helpers/run-node.ts'

export interface Alone {
  readonly node: string
  /** Below it. */
  readonly url: string
  readonly key: string
  /** Sends `signal` and waits for the end; the exit code. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | null>
}

/** Starts one over a directory; resolves when it says that it answers. */
export async function startAlone(policy: string, data: string): Promise<Alone> {
  const own = ['--ledger-policy', policy, '--data', data, '--ledger-origin', 'w.example/w1']
  return await startAs(['serve', '--roles', 'witness', ...own])
}

/** The same with these arguments, on a free port. */
export async function startAs(args: readonly string[], cwd = process.cwd()): Promise<Alone> {
  const given = [programPath, ...args, '--listen', '127.0.0.1:0']
  const child: ChildProcess = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'inherit'], cwd })
  const ended = once(child, 'close')
  if (child.stdout === null) throw new Error('a pipe was asked for')
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
  ])) as [string] // what readline gives
  const { url, witness } = JSON.parse(line) as { url: string; witness: string }
  return {
    node: url,
    url: `${url}/ledger/witness`,
    key: witness,
    end: async (signal) => {
      child.kill(signal)
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}

/** Status and text of the answer to a request; undefined where the connection broke. */
export async function added(
  url: string,
  body: Uint8Array | string,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  try {
    const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body: Buffer.from(body) })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  }
}
