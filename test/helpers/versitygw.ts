// A real S3 server on this machine: versitygw 1.8.0 (https://github.com/versity/versitygw), whose `link(2)` creates objects
// atomically and which checks signatures and hashes. Nothing is built here: `go install
// github.com/versity/versitygw/cmd/versitygw@v1.8.0` takes minutes.

import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { testKeys } from './buckets.ts'
import { freePort } from './free-port.ts'

/** Path of the program, or undefined: on PATH, or where `go install` puts it. */
export const versitygw = [...(process.env['PATH'] ?? '').split(delimiter), join(homedir(), 'go', 'bin')]
  .map((folder) => join(folder, 'versitygw'))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })

if (versitygw === undefined) console.warn('versitygw is not on PATH: what it would judge is skipped')

export interface VersityServer {
  readonly url: string
  /** `bucket.<virtualHost>` is a bucket. */
  readonly virtualHost: string
  close(): Promise<void>
}

/** Starts it with the bucket `tests` in a directory that is removed at the end, and more of its flags. */
export async function startVersitygw(...more: readonly string[]): Promise<VersityServer> {
  const directory = mkdtempSync(join(tmpdir(), 'proofstream-s3-'))
  mkdirSync(join(directory, 'tests'))
  const port = await freePort()
  const virtualHost = `localhost:${port}`
  const flags = ['--port', `127.0.0.1:${port}`, '--access', testKeys.accessKeyId, '--secret', testKeys.secretAccessKey]
  const server = spawn(
    versitygw ?? '',
    [...flags, ...more, '--virtual-domain', virtualHost, '--quiet', 'posix', directory],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const url = `http://127.0.0.1:${port}`
  await untilAnswers(server, url)
  return {
    url,
    virtualHost,
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill()
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function untilAnswers(server: ChildProcess, url: string): Promise<void> {
  const complaints: Buffer[] = []
  server.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk))
  while (server.exitCode === null) {
    if (await fetch(url).catch(() => undefined)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`versitygw ended: ${Buffer.concat(complaints).toString()}`)
}
