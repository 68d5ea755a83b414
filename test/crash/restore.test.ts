// An older backup is put back: the store alone, the log alone, or both. What can be made again is made again at the same
// place; what cannot is said, and nothing is skipped, repeated or reset.

import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { checkStore } from '../../src/index.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { type Answer, send } from '../helpers/live-node.ts'
import { tuned } from '../helpers/tuning.ts'

let home = ''
const dirOf = (name: string): string => join(home, name)
/** Heads of the dataset when the backup was made, and in the end. */
const heads = { backup: '', end: '' }
const inOneBlock = 5

async function started(dir: string): Promise<RunningNode> {
  const config = loadConfig({ data: dir, listen: '127.0.0.1:0', 'log-level': 'silent' })
  return startNode(tuned(config, { cut: { burstBlocks: 10_000 } }))
}

async function call(node: RunningNode, path: string, body?: string): Promise<Answer> {
  const token = (await readFile(node.tokenFile, 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=10' }
  return send(node.url, path, body === undefined ? { headers } : { method: 'POST', headers, body })
}

async function post(node: RunningNode, n: number): Promise<Answer> {
  const rows = Array.from({ length: inOneBlock }, (_, i) => `{"n":${n},"i":${i}}\n`)
  return call(node, '/acme/rows/ingest?create=true', rows.join(''))
}

const head = async (node: RunningNode): Promise<string> => (await call(node, '/acme/rows/refs/head')).text

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-restore-'))
  let node = await started(dirOf('now'))
  for (let n = 0; n < 3; n++) await post(node, n)
  heads.backup = await head(node)
  await node.stop()
  await cp(dirOf('now'), dirOf('backup'), { recursive: true })
  node = await started(dirOf('now'))
  for (let n = 3; n < 6; n++) await post(node, n)
  heads.end = await head(node)
  await node.stop()
})
afterAll(() => rm(home, { recursive: true, force: true }))

/** A directory with the parts of `backup` put over those of `now`. */
async function restored(name: string, ...parts: readonly string[]): Promise<string> {
  const dir = dirOf(name)
  await cp(dirOf('now'), dir, { recursive: true })
  for (const part of parts) {
    await rm(join(dir, part), { recursive: true })
    await cp(join(dirOf('backup'), part), join(dir, part), { recursive: true })
  }
  return dir
}

test('a store older than the log gets the very blocks again that it had', async () => {
  const node = await started(await restored('old-store', 'store'))
  await expect.poll(() => head(node)).toBe(heads.end)
  expect((await post(node, 6)).at('offsets.start')).toBe(6 * inOneBlock)
  await node.stop()
  expect((await checkStore(dirOf('old-store'))).ok).toBe(true)
})

test('a log older than the store halts, says why, takes nothing more, and the chain stays as it is', async () => {
  const node = await started(await restored('old-log', 'log'))
  await expect.poll(async () => (await call(node, '/readyz')).text).toContain('LogRegressed')
  expect(await head(node)).toBe(heads.end)
  expect((await post(node, 6)).status).toBeGreaterThanOrEqual(400)
  expect(await head(node)).toBe(heads.end)
  await node.stop()
  expect((await checkStore(dirOf('old-log'))).ok).toBe(true)
})

test('both from one backup are the node as it was', async () => {
  const node = await started(await restored('old-both', 'store', 'log'))
  expect(await head(node)).toBe(heads.backup)
  expect((await post(node, 3)).at('offsets.start')).toBe(3 * inOneBlock)
  await node.stop()
  expect((await checkStore(dirOf('old-both'))).ok).toBe(true)
})
