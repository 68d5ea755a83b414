// The container image: an OCI layout whose hashes hold; and what is in it runs by itself, as its user, with nothing but its
// own files around it.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/run-node.ts'
import { env, packed, repository, run } from './checkout.ts'

const home = mkdtempSync(join(tmpdir(), 'proofstream-image-test-'))
const root = join(home, 'root')
/** What a runtime of containers brings: a device, and processes to look at. */
const makeDevice = (folder: string) =>
  spawnSync('mknod', ['-m', '666', join(folder, 'null'), 'c', '1', '3']).status === 0
const mountProcesses = (folder: string) => spawnSync('mount', ['-t', 'proc', 'proc', folder]).status === 0
const mayRun = process.getuid?.() === 0 && makeDevice(home) && mountProcesses(home)
if (mayRun) spawnSync('umount', [home])
else console.warn('NOT RUN: the container image is started only by root with the right to make devices and to mount')

interface Described {
  readonly digest: string
  readonly size: number
}

function json<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T
}

function blob(layout: string, { digest }: Described): string {
  return join(layout, 'blobs', ...digest.split(':'))
}

beforeAll(async () => {
  const archive = await packed(home)
  await run(process.execPath, ['scripts/image.ts', archive, join(home, 'image')], { cwd: repository, env })
})
afterAll(() => {
  spawnSync('umount', [join(root, 'proc')])
  rmSync(home, { recursive: true, force: true })
})

describe('the container image', () => {
  test('is a layout whose hashes hold', () => {
    const layout = join(home, 'image')
    const { manifests } = json<{ manifests: Described[] }>(join(layout, 'index.json'))
    const [described = { digest: '', size: 0 }] = manifests
    const manifest = json<{ config: Described; layers: Described[] }>(blob(layout, described))
    const all = [described, manifest.config, ...manifest.layers]
    for (const one of all) {
      const bytes = readFileSync(blob(layout, one))
      expect([`sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes.length]).toEqual([
        one.digest,
        one.size,
      ])
    }
    expect(readdirSync(join(layout, 'blobs', 'sha256'))).toHaveLength(all.length)
    const config = json<{ config: { User: string }; rootfs: { diff_ids: string[] } }>(blob(layout, manifest.config))
    expect([config.config.User, config.rootfs.diff_ids.length]).toEqual(['65532', 2])
    mkdirSync(root)
    for (const layer of manifest.layers) spawnSync('tar', ['-xzpf', blob(layout, layer), '-C', root])
    // A store in a bucket needs nothing more.
    expect(readdirSync(join(root, 'app', 'node_modules', '@aws-sdk'))).toContain('client-s3')
  })

  test.runIf(mayRun)('runs alone, as its user: it serves, takes rows and proves', async () => {
    for (const name of ['dev', 'proc']) mkdirSync(join(root, name))
    makeDevice(join(root, 'dev'))
    mountProcesses(join(root, 'proc'))
    const inside = ['--userspec=65532:65532', root, '/usr/local/bin/node']
    const program = '/app/node_modules/proofstream/bin/proofstream.js'
    const own = { PROOFSTREAM_DATA: '/data', PROOFSTREAM_LISTEN: '127.0.0.1:0' }
    const node = spawn('/usr/sbin/chroot', [...inside, program, 'serve'], {
      env: own,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => node.once('exit', resolve))
    try {
      const url = await new Promise<string>((resolve, reject) => {
        node.once('error', reject)
        node.once('exit', (code) => reject(new Error(`serve ended with ${code}`)))
        node.stdout.on('data', (chunk: Buffer) => {
          const ready = /"url":"([^"]+)"/.exec(chunk.toString())?.[1]
          if (ready !== undefined) resolve(ready)
        })
      })
      const token = readFileSync(join(root, 'data', 'token'), 'utf8').trim()
      const client = { env: { PROOFSTREAM_SERVER: url, PROOFSTREAM_TOKEN: token } }
      // As `docker exec`, by the name that is on its path.
      const named = ['--userspec=65532:65532', root, '/usr/local/bin/proofstream', '--server', url]
      await run('/usr/sbin/chroot', [...named, 'demo'], { env: own })
      const answer = join(home, 'answer.json')
      const asked = await runCommand(['query', 'select sum(count) as n from us.flights', '--proof', answer], client)
      expect(asked).toMatchObject({ code: 0, stdout: '{"n":7009728}\n' })
      expect(await runCommand(['verify', answer], client)).toMatchObject({ code: 0 })
      expect(await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text()).toContain('us/')
      const listed = await run('/usr/sbin/chroot', [...named, 'dataset', 'list'], { env: own })
      expect(listed.stdout).toContain('us/flights')
    } finally {
      node.kill('SIGTERM')
    }
    expect(await ended).toBe(0)
  })
})
