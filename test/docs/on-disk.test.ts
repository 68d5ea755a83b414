// The page on the data directory: every file that a node leaves is in its table, with the mode it says.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Branch, foreignPolicy } from '../features/witness/ledgers.ts'
import { liveNode } from '../helpers/live-node.ts'

const page = readFileSync(new URL('../../docs/spec/on-disk.md', import.meta.url), 'utf8')
const parts: Readonly<Record<string, string>> = {
  generation: '\\d+',
  origin: '[0-9a-f]{64}',
  head: '[0-9a-f]{64}',
  public: '[0-9a-f]{64}',
  hash: 'f1620[0-9a-f]{64}',
  did: 'fed01[0-9a-f]{64}',
  log: '[0-9a-f]{32}',
  position: '\\d+',
  number: '\\d+',
  token: '[0-9a-f]{16}',
}

const rows = [...page.matchAll(/^\| (`.*?) \| (\d{4})? ?\|/gm)].flatMap(([, paths = '', mode]) =>
  [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => ({ path, mode, pattern: patternOf(path) })),
)

function patternOf(path: string): RegExp {
  const source = path.replaceAll('.', '\\.').replace(/<(\w+)>/g, (_, name: string) => parts[name] ?? '[^/]+')
  return new RegExp(`^${source}${path.endsWith('/') ? '.*' : ''}$`)
}

const folder = mkdtempSync(join(tmpdir(), 'proofstream-policy-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'policy'), foreignPolicy)
const live = await liveNode({
  'ledger-delay': '1s',
  'ledger-policy': join(folder, 'policy'),
})
const add = '/ledger/witness/add-checkpoint'
await live.call(add, { method: 'POST', body: new Branch('a', 64).body(0, 5) })
await live.call(add, { method: 'POST', body: new Branch('b', 1).body(5, 5) })
await live.ingest('acme/goods', [{ n: 1 }], '?create=true')
await live.query('select n from acme.goods', { include: ['Proof'] })
await live.call('/q/goods', { method: 'PUT', json: { query: 'select n from acme.goods' } })
await live.call('/acme/gone', { method: 'PUT', json: {} })
await live.call('/acme/gone', { method: 'DELETE', headers: { 'if-match': '*' } })

function filesOf(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
}

describe('the page on the data directory', () => {
  it('has every file that a node leaves, with its mode', () => {
    for (const file of filesOf(live.dataDir)) {
      const row = rows.find(({ pattern }) => pattern.test(file))
      const mode = (statSync(join(live.dataDir, file)).mode & 0o777).toString(8).padStart(4, '0')
      expect([file, row?.mode ?? mode]).toEqual([file, row === undefined ? 'in the table' : mode])
    }
  })

  it('has no file that a node does not leave', async () => {
    await expect.poll(() => filesOf(live.dataDir).some((file) => file.startsWith('store/progress/'))).toBe(true)
    await expect.poll(() => filesOf(live.dataDir)).toContain('store/ledger/checkpoint')
    const files = filesOf(live.dataDir)
    // A cache is made when it is needed, the clock is asked a quarter of an hour after a deletion, and a state of the ledger
    // follows 64 batches, places 64 blocks. Heads and evidence come of witnesses, time stamps
    // of an authority. Engines of other versions are added by a command.
    const ofLedger = ['left/', 'places/', 'states/', 'heads/<n>/met', 'evidence/<n>/'].map(
      (name) => `store/ledger-${name}`,
    )
    const ofFollower = ['keys/follower.json', 'store/ledger/witness/<origin>/checked']
    const stamps = ['-heads/<n>/timestamps', '/timestamps/<size>.tsr', '/timestamps/<size>.head'].map(
      (name) => `store/ledger${name}`,
    )
    const later = new Set([
      'cache/',
      'engines/<version>/',
      'store/deletions/<did>/clock',
      ...ofLedger,
      ...ofFollower,
      ...stamps,
    ])
    const absent = rows.filter(({ path, pattern }) => !later.has(path) && !files.some((file) => pattern.test(file)))
    expect(absent.map(({ path }) => path)).toEqual([])
  })

  it('is right that directories are for the user alone', () => {
    const directories = readdirSync(live.dataDir, { withFileTypes: true, recursive: true }).filter((entry) =>
      entry.isDirectory(),
    )
    const open = directories.filter((entry) => (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
    expect(open.map((entry) => entry.name)).toEqual([])
  })
})
