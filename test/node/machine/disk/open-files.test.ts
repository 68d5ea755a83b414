// Too low a limit of open files is told before it is met, by a node when it starts.

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { programPath } from '../../../helpers/run-node.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-files-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the program in a shell that lets it open so many files, until it has written `until` or has ended. */
async function output(mostFiles: number, args: readonly string[], until: string): Promise<string> {
  const limited = ['-c', `ulimit -n ${mostFiles} && exec "$0" "$@"`, process.execPath, programPath, ...args]
  const child = spawn('sh', limited, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const ended = new Promise((resolve) => child.on('close', resolve))
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes(until)) child.kill('SIGTERM')
    })
  await ended
  return text
}

const raise = 'ulimit -n 8120 (LimitNOFILE=8120 for systemd, --ulimit nofile=8120 for Docker)'

test.skipIf(process.platform !== 'linux')(
  'few open files are warned of, with the command that raises them',
  async () => {
    const serve = ['serve', '--data', join(folder, 'few'), '--listen', '127.0.0.1:0', '--roles', 'gateway,builder']
    const started = await output(512, serve, '"event":"ready"')
    expect(started).toContain('512 files and connections may be open.')
    expect(started).toContain(raise)
  },
)

test.skipIf(process.platform !== 'linux')('a limit that lets all in is no reason to warn', async () => {
  const serve = ['serve', '--data', join(folder, 'many'), '--listen', '127.0.0.1:0', '--roles', 'gateway,builder']
  const started = await output(8120, serve, '"event":"ready"')
  expect(started).toContain('"event":"ready"')
  expect(started).not.toContain('ulimit')
})
