// The first hour of eight kinds of users: what each types until the first thing works, run as it stands. Steps and typed
// characters are held, so that no change makes the beginning longer unseen. What is pasted from a page costs a step alone.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

/** Of a person who types commands: about 40 words a minute. */
const charactersPerSecond = 3.5

let live: LiveNode
let home = ''
/** What was typed, by user. */
const typed = new Map<string, string[]>()

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'proofstream-first-'))
  live = await startLiveNode({ data: join(home, 'data') })
})
afterAll(async () => {
  await live.stop()
  rmSync(home, { recursive: true, force: true })
})

function note(who: string, text: string): void {
  typed.set(who, [...(typed.get(who) ?? []), text])
}

/** A command as the user types it, in the folder of the node: its token is found. */
async function type(who: string, args: readonly string[]): Promise<Finished> {
  note(who, `npx proofstream ${args.map((arg) => (/[\s*]/.test(arg) ? `'${arg}'` : arg)).join(' ')}`)
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken }
  const done = await runCommand([...args], { env, cwd: home })
  expect([args, done.code, done.stderr]).toEqual([args, 0, expect.anything()])
  return done
}

/** A request that is pasted from a page. */
async function paste(
  who: string,
  path: string,
  call: Parameters<LiveNode['call']>[1] = {},
): ReturnType<LiveNode['call']> {
  note(who, '')
  return await live.call(path, call)
}

describe('the first hour', () => {
  it('of a newcomer: two commands that README has, then rows', async () => {
    note('newcomer', '') // npm ci && npm start, from README
    await type('newcomer', ['demo'])
    const { stdout } = await type('newcomer', ['query', 'select count(*) as n from us.flights'])
    expect(stdout).toContain('5366')
    expect(typed.get('newcomer')).toHaveLength(3)
  })

  it('of somebody with a file: one command stores it', async () => {
    writeFileSync(
      join(home, 'readings.csv'),
      'sensor,celsius,time\ns1,21.5,2026-01-31T12:00:00Z\ns2,19,2026-01-31T12:00:00Z\n',
    )
    const { stdout } = await type('file', ['ingest', 'me/lab', 'readings.csv'])
    expect(stdout).toContain('committed')
    expect(typed.get('file')).toHaveLength(1)
  })

  it('of an auditor: a proof is made, sent away, and checked where no node is', async () => {
    await type('auditor', ['query', 'select max(celsius) as warmest from me.lab', '--proof', 'answer.json'])
    const away = mkdtempSync(join(tmpdir(), 'proofstream-away-'))
    copyFileSync(join(home, 'answer.json'), join(away, 'answer.json'))
    note('auditor', 'npx proofstream verify --offline answer.json')
    const checked = await runCommand(['verify', '--offline', 'answer.json'], { cwd: away })
    expect([checked.code, checked.stdout + checked.stderr]).toEqual([0, expect.stringContaining('"ok":true')])
    expect(readFileSync(join(away, 'answer.json'), 'utf8')).toContain('"name":"warmest"')
    rmSync(away, { recursive: true, force: true })
    expect(typed.get('auditor')).toHaveLength(2)
  })

  it('of an analyst: who forgets the account is told the name, and a LIMIT counts', async () => {
    const forgotten = await paste('analyst', '/query', { method: 'POST', json: { query: 'select * from flights' } })
    expect(forgotten.at('candidates')).toEqual(['us/flights'])
    const sql = 'select * from us.flights limit 400'
    const rows = await paste('analyst', '/query', { method: 'POST', json: { query: sql } })
    expect(rows.at('output.data')).toHaveLength(400)
  })

  it('of somebody with maps: a file with latitude and longitude is a layer', async () => {
    const items = await paste('maps', '/ogc/collections/us:airports/items?bbox=-90,30,-80,40&limit=3')
    expect(items.at('features.0.geometry.type')).toBe('Point')
  })

  it('of a maker of devices: one record by one line, twice with one key is once', async () => {
    const record = {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'r1', prefer: 'wait=20' },
      body: '{"sensor":"s1","celsius":21.5}\n',
    }
    expect((await paste('devices', '/me/device/ingest?create=true', record)).status).toBe(200)
    expect((await paste('devices', '/me/device/ingest?create=true', record)).at('replayed')).toBe(true)
  })

  it('of an operator: a backup, and that it is whole', async () => {
    await type('operator', ['backup', 'copy', '--data', join(home, 'data')])
    await type('operator', ['fsck', 'copy'])
    expect(typed.get('operator')).toHaveLength(2)
  })

  it('of a person with a browser: every address that is tried is a page with a way on', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml' }
    for (const path of ['/', '/us/airports', '/query', '/ingest', '/verify', '/nowhere', '/us/nothing']) {
      const page = await paste('browser', path, { headers })
      expect([path, page.headers['content-type']]).toEqual([path, 'text/html; charset=utf-8'])
      expect(page.text).toContain('href="/"')
    }
  })

  it('takes at most three minutes of typing for all of them', () => {
    const characters = [...typed.values()].flat().reduce((sum, text) => sum + text.replace(home, '').length, 0)
    expect(characters).toBeGreaterThan(100)
    expect(characters / charactersPerSecond).toBeLessThanOrEqual(180)
    expect([...typed.values()].flat().length).toBeLessThanOrEqual(24)
  })
})
