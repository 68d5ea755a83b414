// Runs a program of the examples from the root of the repository to its end.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

const repository = new URL('../..', import.meta.url).pathname

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Rejects when there is no such program. */
export async function run(
  program: string,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const child = spawn(program, args, { cwd: repository, env: { ...process.env, ...env } })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}
