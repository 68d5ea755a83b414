// Emulators of S3 on which chains would fork are refused by the trial. Each is tried where its program is on PATH:
// moto_server (pip install 'moto[server]'), s3rver (npm install --global s3rver).

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testBucket, testTrial } from '../../helpers/buckets.ts'
import { freePort } from '../../helpers/free-port.ts'
import { until } from '../../helpers/until.ts'

/** The keys that s3rver knows; moto takes all. */
const keys = async () => ({ accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' })

const emulators = [
  ['moto_server', (port: number) => ['-p', String(port)], /neither signatures nor|let \d+ of 16/],
  ['s3rver', (port: number, folder: string) => ['-p', String(port), '-d', folder], /ignores the condition/],
] as const

for (const [program, flags, message] of emulators) {
  const isThere = spawnSync(program, ['--help']).status === 0
  if (!isThere) console.warn(`${program} is not on PATH: whether it is refused is not tried`)
  test.skipIf(!isThere)(`${program} is refused`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proofstream-emulator-'))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const server = spawn(program, flags(port, folder), { stdio: 'ignore' })
    try {
      await until(`${program} answers`, () => fetch(url).catch(() => undefined))
      await (await testBucket({ url, keys })).s3.createBucket({ Bucket: 'tests' })
      await expect(testTrial({ url, keys })).rejects.toMatchObject({ kind: 'StoreUnavailable', message })
    } finally {
      server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
