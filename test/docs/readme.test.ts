// Runs every shell block of the README, in order, as one script against a node started by the first block's command.

import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const repository = new URL('../..', import.meta.url).pathname
const readme = readFileSync(join(repository, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
/** Installing and testing are what runs this test. */
const [start, ...rest] = blocks
const script = rest.filter((block) => block.trim() !== 'npm cit').join('\n')

let dir = ''
let url = ''
let stop: () => Promise<void> = async () => {}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'proofstream-readme-'))
  for (const name of ['node_modules', 'bin', 'src', 'streams', 'package.json'])
    symlinkSync(join(repository, name), join(dir, name))
  const env = { ...process.env, PROOFSTREAM_LISTEN: '127.0.0.1:0' }
  const child = spawn('npm', ['start', '--silent'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  stop = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      const ready = /"url":"http:\/\/([^"]+)"/.exec(chunk.toString())
      if (ready?.[1] !== undefined) resolve(ready[1])
    })
  })
})

afterAll(async () => {
  await stop()
  rmSync(dir, { recursive: true, force: true })
})

describe('the README', () => {
  test('begins with the two commands that install and start a node', () => {
    expect(start?.trim()).toBe('npm ci && npm start')
  })

  test('has blocks that all run as they stand', async () => {
    const text = `set -euo pipefail\n${script.replaceAll('localhost:8080', url)}`
    const { stdout } = await promisify(execFile)('bash', ['-c', text], {
      cwd: dir,
      env: { ...process.env, PROOFSTREAM_SERVER: `http://${url}` },
      maxBuffer: 64 * 1024 * 1024,
    })
    const hash = /SHA3-256\(stdin\)= ([0-9a-f]{64})/.exec(stdout)?.[1]
    expect(hash, 'openssl prints a hash').toBeDefined()
    expect(stdout).toContain(`"outputHash":"f1620${hash}"`)
    expect(stdout).toContain('"kind":"InvalidRequest::')
    expect(stdout).toContain('"ok":true')
  })
})
