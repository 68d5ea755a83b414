// `proofstream doctor` over installations that are new, well, running, stopped, damaged and open to others.

import { readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { crc32c } from '../../src/libraries/base/crc32c.ts'
import { keepBreach } from '../../src/features/follow/evidence.ts'
import { type Finished, runCommand, type ServedNode, serveNode } from '../helpers/run-node.ts'

interface Row {
  readonly check: string
  readonly status: string
  readonly found: string
  readonly hint?: string
}

async function doctor(
  data: string,
  args: readonly string[] = [],
): Promise<Finished & { readonly rows: readonly Row[] }> {
  const done = await runCommand(['doctor', '--data', data, '--listen', '127.0.0.1:0', ...args])
  const lines = done.stdout.split('\n').filter((line) => line !== '')
  return { ...done, rows: lines.map((line) => JSON.parse(line) as Row) } // printed so
}

function row(rows: readonly Row[], check: string): Row | undefined {
  return rows.find((one) => one.check === check)
}

function failed(rows: readonly Row[]): string[] {
  return rows.filter(({ status }) => status === 'fail').map(({ check }) => check)
}

async function freshFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'proofstream-doctor-'))
}

/** Every file under a folder with its size and time. */
async function listing(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).sort()
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name))
      return `${name} ${size} ${mtimeMs}`
    }),
  )
}

async function post(node: ServedNode, data: string, path: string): Promise<void> {
  const token = (await readFile(join(data, 'token'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
  const answer = await fetch(`${node.url}${path}`, { method: 'POST', headers, body: '{"n":1}\n' })
  expect([path, answer.status]).toEqual([path, 200])
}

/** A data directory with two datasets, of which no node runs; it stays as it is. */
let whole: string
beforeAll(async () => {
  whole = await freshFolder()
  const node = await serveNode(whole)
  await post(node, whole, '/acme/one/ingest?create=true')
  await post(node, whole, '/acme/two/ingest?create=true')
  await node.end('SIGTERM')
})
afterAll(() => rm(whole, { recursive: true, force: true }))

async function filled(): Promise<string> {
  const data = await freshFolder()
  await cp(whole, data, { recursive: true })
  return data
}

/** The identity of another log whose frames are written in the same way. */
function otherIdentity(data: string): string {
  const text = `${'0'.repeat(32)} ${readFileSync(join(data, 'log', 'id'), 'utf8').slice(33, 49)}`
  return `${text} ${crc32c(Buffer.from(text)).toString(16).padStart(8, '0')}\n`
}

describe('before the first start', () => {
  test('all is well and nothing is made; options that are wrong are refused as serve refuses them', async () => {
    const parent = await freshFolder()
    const { code, rows } = await doctor(join(parent, 'data'))
    expect([code, failed(rows)]).toEqual([0, []])
    expect(row(rows, 'log')?.found).toContain('the first start makes it')
    expect(row(rows, 'data writes')?.found).toContain('link(2) and fdatasync work')
    expect(row(rows, 'data space')?.found).toMatch(/MiB are free/)
    expect(row(rows, 'engine')).toMatchObject({ status: 'ok', found: expect.stringContaining('is here') })
    expect(row((await doctor(parent, ['--roles', 'gateway,builder'])).rows, 'engine')).toBeUndefined()
    expect(await readdir(parent)).toEqual([])
    for (const [args, code, words] of [
      [['--limit-query-ms', '-1'], 2, "'limit-query-ms' is '-1'"],
      [['--roles', 'builder'], 2, 'gateway and builder go together'],
      [['--s3-endpoint', 'http://127.0.0.1:1'], 2, "Option 's3-endpoint' is gone"],
      [['--config', join(parent, 'none.json')], 3, 'none.json'],
    ] as const) {
      const wrong = await doctor(parent, args)
      expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([code, '', expect.stringContaining(words)])
    }
  })

  test('each option that is set is told once, and where; no password is shown', async () => {
    const folder = await freshFolder()
    const file = join(folder, 'options.json')
    await writeFile(file, '{"limit-query-ms": 3, "log-level": "warn", "delete-grace": "2s"}')
    const env = { PROOFSTREAM_LOG_LEVEL: 'debug', PROOFSTREAM_NODE_KEY: join(folder, 'key') }
    const args = ['--data', folder, '--config', file, '--limit-query-ms', '8', '--allowed-hosts', 'a.example,b.example']
    const { stdout } = await runCommand(['doctor', '-o', 'json', ...args], { env })
    const set = (JSON.parse(stdout) as Row[]).filter(({ check }) => check === 'option').map(({ found }) => found)
    expect(set.sort()).toEqual([
      'allowed-hosts is a.example,b.example (flag)',
      `data is ${folder} (flag)`,
      `delete-grace is 2000 (${file})`,
      'limit-query-ms is 8 (flag)',
      'log-level is debug (PROOFSTREAM_LOG_LEVEL)',
      `node-key is ${join(folder, 'key')} (PROOFSTREAM_NODE_KEY)`,
    ])
    const secret = { PROOFSTREAM_LOG_PASSWORD: 'hunter2', PROOFSTREAM_TSA: 'http://me:hunter2@127.0.0.1:1' }
    const hidden = await runCommand(['doctor', '--data', folder, '--log', 'kafka://me@127.0.0.1:1'], { env: secret })
    expect(hidden.stdout).toContain('log is kafka://me@127.0.0.1:1 (flag)')
    expect(hidden.stdout).toContain('tsa is ******** (PROOFSTREAM_TSA)')
    expect(hidden.stdout).not.toContain('hunter2')
  })

  test('a path that is no directory is told', async () => {
    const folder = await freshFolder()
    await writeFile(join(folder, 'file'), '')
    const { code, rows } = await doctor(join(folder, 'file'))
    expect([code, failed(rows)[0]]).toEqual([9, 'data'])
  })

  test('a table has one line for each check, and one for what to do', async () => {
    const folder = await freshFolder()
    await chmod(folder, 0o755)
    const { stdout } = await runCommand(['doctor', '--data', folder, '--roles', 'replica', '-o', 'table'])
    expect(stdout).toContain(`warn  data         ${folder} is open to other users (mode 0755).\n`)
    expect(stdout).toContain(`                   → chmod 700 ${folder}\n`)
    expect(stdout).toMatch(/\nfail {2}store .* is not there\.\n +→ Name with --store/)
  })
})

describe('a stopped node', () => {
  let data: string
  beforeAll(async () => {
    data = await filled()
  })
  afterAll(() => rm(data, { recursive: true, force: true }))

  test('that is well stays as it is', async () => {
    const before = await listing(data)
    const { code, rows } = await doctor(data)
    expect([code, rows.filter(({ status }) => status === 'fail')]).toEqual([0, []])
    expect(row(rows, 'process')?.found).toBe('No node runs here.')
    expect(row(rows, 'log')?.found).toMatch(/^Messages 0 to below \d+, in 1 segment, are whole\.$/)
    expect(row(rows, 'store')?.found).toContain('2 datasets')
    expect(row(rows, 'floors')?.found).toContain('The log goes on from the store')
    expect(await listing(data)).toEqual(before)
  })

  test('with a key and a token that others can read, or that are none', async () => {
    const [key, token] = [join(data, 'keys', 'node.json'), join(data, 'token')]
    await chmod(key, 0o644)
    await chmod(token, 0o640)
    const open = await doctor(data)
    expect([open.code, failed(open.rows)]).toEqual([9, ['key', 'token']])
    expect(row(open.rows, 'key')?.hint).toBe(`chmod 600 ${key}`)
    const [keyText, tokenText] = [await readFile(key), await readFile(token)]
    await writeFile(key, '{}')
    await writeFile(token, 'pst_x\n')
    const torn = await doctor(data)
    expect(row(torn.rows, 'key')?.found).toBe(`${key} does not hold a key.`)
    expect(row(torn.rows, 'token')?.found).toBe(`${token} does not hold a token.`)
    await writeFile(key, keyText)
    await writeFile(token, tokenText)
    await chmod(key, 0o600)
    await chmod(token, 0o600)
    expect((await doctor(data)).code).toBe(0)
  })

  test('whose brokers do not answer: 6, for nothing here is wrong', async () => {
    const { code, rows } = await doctor(data, ['--log', 'kafka://127.0.0.1:1'])
    expect([code, failed(rows)]).toEqual([6, ['kafka']])
    expect(row(rows, 'kafka')?.found).toContain('127.0.0.1:1')
  })

  test('that followed a node whose chain became another', async () => {
    const points = { ours: { sequence: 3, hash: hashOf('a') }, theirs: { sequence: 3, hash: hashOf('b') } }
    const seen = { kind: 'fork', dataset: `did:odf:fed01${'0'.repeat(64)}`, alias: 'acme/one', blocks: [], ...points }
    const origin = { origin: 'https://node.example', at: '2026-01-01T00:00:00Z', reason: 'another block' }
    await keepBreach(join(data, 'evidence'), { ...seen, ...origin, kind: 'fork' })
    const { code, rows } = await doctor(data)
    expect(code).toBe(0)
    expect(row(rows, 'evidence')?.found).toContain(`here 3 ${hashOf('a')}, there 3 ${hashOf('b')}`)
    expect(row(rows, 'evidence')?.hint).toContain(join(data, 'evidence'))
  })
})

const hashOf = (letter: string): string => `f1620${letter.repeat(64)}`

describe('a damaged directory', () => {
  test.each([
    ['a flipped bit in the log', 'log', /^LogDamaged: the frame of position \d+/, flipLog],
    ['a head that is gone', 'store', /^Damaged: acme\/one: /, dropHead],
    [
      'a name that is torn',
      'store',
      /^Damaged: the name acme\/one\.$/,
      (data: string) => writeFile(join(data, 'store', 'names', 'acme', 'one'), '{'),
    ],
    [
      'another log',
      'logs',
      /^Datasets of another log .*acme\/one; acme\/two/,
      (data: string) => writeFile(join(data, 'log', 'id'), otherIdentity(data)),
    ],
    ['a log that ends too early', 'floors', /^LogRegressed: the log ends at 0/, emptyLog],
  ])('is told and left as it is: %s', async (_, check, found, damage) => {
    const data = await filled()
    await damage(data)
    const before = await listing(data)
    const { code, rows } = await doctor(data)
    expect([code, failed(rows)]).toEqual([9, [check]])
    expect(row(rows, check)?.found).toMatch(found)
    // The command that is suggested looks at the same directory.
    const hint = must(row(rows, check)?.hint, 'a hint')
    const [command] = /proofstream (?:fsck|log [a-z]+)/.exec(hint) ?? []
    const place = command?.endsWith('fsck') === true ? data : `--data ${data}`
    expect(hint).toContain(command === undefined ? '' : `${command} ${place}`)
    expect(await listing(data)).toEqual(before)
    await rm(data, { recursive: true, force: true })
  })
})

/** One bit of the first frame's message. */
async function flipLog(data: string): Promise<void> {
  const path = join(data, 'log', '0.segment')
  const bytes = await readFile(path)
  bytes[100] = (bytes[100] ?? 0) ^ 1
  await writeFile(path, bytes)
}

async function emptyLog(data: string): Promise<void> {
  const path = join(data, 'log', '0.segment')
  await writeFile(path, new Uint8Array((await stat(path)).size))
}

async function dropHead(data: string): Promise<void> {
  const name = await readFile(join(data, 'store', 'names', 'acme', 'one'), 'utf8')
  const folder = must(/did:odf:(fed01[0-9a-f]{64})/.exec(name)?.[1], 'a name holds its dataset')
  const dataset = join(data, 'store', 'datasets', folder)
  const head = (await readFile(join(dataset, 'refs', 'head'), 'utf8')).trim()
  await rm(join(dataset, 'blocks', head))
}

describe('a running node', () => {
  let data: string
  let node: ServedNode
  beforeAll(async () => {
    data = join(await freshFolder(), 'data')
    await mkdir(data, { mode: 0o700 })
    node = await serveNode(data)
    await post(node, data, '/acme/one/ingest?create=true')
  })
  afterAll(async () => {
    await node.end('SIGTERM')
    await rm(data, { recursive: true, force: true })
  })

  test('is found by its lock', async () => {
    const { code, rows } = await doctor(data)
    expect([code, failed(rows)]).toEqual([0, []])
    expect(row(rows, 'process')?.found).toBe(`A node runs here (process ${node.pid}).`)
  })

  test('that stands still is not waited for', async () => {
    process.kill(node.pid, 'SIGSTOP')
    const { code } = await doctor(data).finally(() => process.kill(node.pid, 'SIGCONT'))
    expect(code).toBe(0)
  })
})
