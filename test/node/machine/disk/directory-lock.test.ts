// One process per log directory: the second one is refused and told who has it; a killed owner leaves nothing behind.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDirectory } from '../../../../src/node/machine/disk/directory-lock.ts'

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proofstream-lock-'))
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

test('refuses a second owner in the same process until the first has given the directory back', () => {
  const unlock = lockDirectory(root)
  expect(() => lockDirectory(root)).toThrow(`in use by process ${process.pid}`)
  unlock()
  lockDirectory(root)()
})

test('refuses while another process has the directory, names it, and takes over at once when it was killed', async () => {
  const module = new URL('../../../../src/node/machine/disk/directory-lock.ts', import.meta.url).href
  const script = `import { lockDirectory } from ${JSON.stringify(module)}
    lockDirectory(${JSON.stringify(root)}); process.stdout.write('locked'); setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(owner.stdout, 'data')
    expect(() => lockDirectory(root)).toThrow(expect.objectContaining({ kind: 'LogUnavailable' }))
    expect(() => lockDirectory(root)).toThrow(`process ${owner.pid}`)
  } finally {
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  }
  lockDirectory(root)()
})
