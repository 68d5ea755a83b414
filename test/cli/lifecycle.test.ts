// The commands that change, rename, delete and restore a dataset, as a person runs them against a node.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

let home = ''
let live: LiveNode
const files: Record<string, string> = {
  'license.json': '{"shortName": "CC0", "name": "Public domain", "websiteUrl": "https://example.com/cc0"}',
  'README.md': '# Readings\n',
}
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-lifecycle-'))
  live = await startLiveNode()
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text)
})
afterAll(async () => {
  await live.stop()
  await rm(home, { recursive: true })
})

/** `proofstream dataset <args>` for the admin of the node. */
const dataset = (...args: readonly string[]): Promise<Finished> => run('dataset', ...args)
const run = (...args: readonly string[]): Promise<Finished> =>
  runCommand([...args, '--server', live.node.url], { env: { PROOFSTREAM_TOKEN: live.adminToken }, cwd: home })
const about = async (name: string): Promise<unknown> => JSON.parse((await dataset('show', name, '-o', 'json')).stdout)
const make = async (name: string): Promise<string> => {
  expect((await dataset('create', name, '--column', 'city:String')).code).toBe(0)
  return String((await live.call(`/${name}`)).at('id'))
}

test('set changes what is given and leaves the rest', async () => {
  await make('acme/set')
  const described = await dataset('set', 'acme/set', '--description', 'Readings', '--keyword', 'a', '--keyword', 'b')
  expect([described.code, described.stderr]).toEqual([0, 'changed dataset acme/set\n'])
  const kept = ['--visibility', 'private', '--freshness', '5s']
  const told = await dataset(
    'set',
    'acme/set',
    ...kept,
    '--license',
    'license.json',
    '--attach',
    'README.md',
    '-o',
    'json',
  )
  expect(JSON.parse(told.stdout)).toMatchObject({
    visibility: 'private',
    freshness: '5s',
  })
  expect((await dataset('set', 'acme/set', '--keyword', 'c')).code).toBe(0)
  expect(await about('acme/set')).toMatchObject({
    info: { description: 'Readings', keywords: ['c'] },
    license: { shortName: 'CC0' },
    attachments: { attachments: { items: [{ path: 'README.md', content: files['README.md'] }] } },
    visibility: 'private',
  })
  expect((await dataset('set', 'acme/set', '--freshness', 'default')).code).toBe(0)
  expect(await about('acme/set')).not.toHaveProperty('freshness')
  expect((await dataset('set', 'acme/set')).code).toBe(2)
  expect((await dataset('set', 'acme/set', '--visibility', 'hidden')).code).toBe(5)
  expect((await dataset('set', 'acme/none', '--visibility', 'private')).code).toBe(3)
})

test('create and set say what can be proved alone, and whether the ledger has the blocks', async () => {
  const kept = ['acme/kept', '--private', '--proofs', 'rows', '--ledger', 'true']
  expect((await dataset('create', ...kept)).code).toBe(0)
  expect(await about('acme/kept')).toMatchObject({ proofs: 'rows', ledger: true })
  expect((await dataset('create', 'acme/apart', '--ledger', 'false')).code).toBe(0)
  expect(await about('acme/apart')).toMatchObject({ ledger: false })
  expect((await dataset('set', 'acme/apart', '--ledger', 'true', '--proofs', 'rows')).code).toBe(0)
  expect(await about('acme/apart')).toMatchObject({ proofs: 'rows', ledger: true })
  expect((await dataset('set', 'acme/apart', '--proofs', 'batches')).code).toBe(0)
  expect(await about('acme/apart')).not.toHaveProperty('proofs')
  expect((await dataset('set', 'acme/apart', '--ledger', 'false')).code).toBe(8)
  expect((await dataset('set', 'acme/apart', '--ledger', 'perhaps')).code).toBe(2)
})

test('set gives another name, under which it is read by the old one, and changed by the new one alone', async () => {
  const id = await make('acme/old')
  await make('acme/taken')
  const renamed = await dataset('set', 'acme/old', '--name', 'acme/new')
  expect([renamed.code, renamed.stderr]).toEqual([0, 'changed dataset acme/old: it is acme/new now\n'])
  expect(JSON.parse(renamed.stdout)).toMatchObject({ id, alias: 'acme/new' })
  const log = await dataset('log', 'acme/old')
  expect([log.code, log.stderr]).toEqual([0, 'The dataset has another name now: acme/new.\n'])
  expect(log.stdout).toBe((await dataset('log', 'acme/new')).stdout)
  const exported = await run('export', 'acme/old', '--format', 'csv')
  expect([exported.code, exported.stdout]).toEqual([0, (await run('export', 'acme/new', '--format', 'csv')).stdout])
  await writeFile(join(home, 'rows.ndjson'), '{"city": "Oslo"}\n')
  for (const args of [
    ['ingest', 'acme/old', 'rows.ndjson'],
    ['dataset', 'set', 'acme/old', '--visibility', 'private'],
    ['dataset', 'set', 'acme/old', '--name', 'acme/other'],
    ['dataset', 'delete', 'acme/old', '--yes'],
  ]) {
    const refused = await run(...args)
    expect([args[0], refused.code, refused.stdout]).toEqual([args[0], 3, ''])
    expect(refused.stderr).toContain('acme/new')
  }
  expect((await run('query', 'select * from "acme/old"')).stderr).toContain('acme/new')
  expect((await dataset('set', 'acme/new', '--name', 'acme/taken')).code).toBe(8)
  expect((await dataset('set', 'acme/new', '--name', 'no name')).code).toBe(5)
  expect((await dataset('set', 'acme/nothing', '--name', 'acme/other')).code).toBe(3)
  expect((await dataset('set', 'acme/new', '--name')).code).toBe(2)
})

test('delete asks for --yes where nobody can be asked, and tells how to restore', async () => {
  const id = await make('acme/gone')
  const head = (await live.head('acme/gone')) ?? ''
  expect(await dataset('delete', 'acme/gone')).toMatchObject({ code: 2, stdout: '' })
  const other = head.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  expect((await dataset('delete', 'acme/gone', '--yes', '--if-match', other)).code).toBe(8)
  expect((await dataset('delete', 'acme/gone', '--yes', '--grace', 'soon')).code).toBe(5)
  const deleted = await dataset('delete', 'acme/gone', '--yes', '--grace', '2h', '--if-match', head)
  expect(deleted.code).toBe(0)
  expect(deleted.stderr).toContain(`proofstream dataset restore ${id}`)
  const { deletedAt, removedAfter } = JSON.parse(deleted.stdout)
  expect(Date.parse(removedAfter) - Date.parse(deletedAt)).toBe(2 * 3_600_000)
  expect((await dataset('show', 'acme/gone')).code).toBe(3)

  await make('acme/gone')
  expect((await dataset('restore', id)).code).toBe(8)
  const restored = await dataset('restore', id, '--as', 'acme/back')
  expect([restored.code, restored.stderr]).toEqual([0, 'restored dataset acme/back\n'])
  expect(await about('acme/back')).toMatchObject({ id })
  expect((await dataset('restore', id)).code).toBe(8)
  expect((await dataset('restore', 'did:odf:none')).code).toBe(3)
})
