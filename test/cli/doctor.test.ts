// `proofstream doctor` over installations that are new, well, running, stopped, damaged and open to others.

import { readFileSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.ts'
import { crc32c } from '../../src/lib/crc32c.ts'
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
  test('all is well, nothing is made, and what is wrong with the options is told', async () => {
    const parent = await freshFolder()
    const { code, rows } = await doctor(join(parent, 'data'))
    expect([code, failed(rows)]).toEqual([0, []])
    expect(row(rows, 'node')?.found).toContain(process.versions.node)
    expect(row(rows, 'data')?.found).toContain('the first start makes it')
    expect(row(rows, 'data writes')?.found).toContain('link(2) and fdatasync work')
    expect(row(rows, 'engine')?.status).toBe('ok')
    expect(await readdir(parent)).toEqual([])
    const wrong = await doctor(parent, ['--partitions', '-1'])
    expect([wrong.code, failed(wrong.rows)]).toEqual([9, ['options']])
    expect(row(wrong.rows, 'options')?.found).toContain("'partitions' is '-1'")
  })

  test('an address that is taken and a path that is no directory are told', async () => {
    const folder = await freshFolder()
    await writeFile(join(folder, 'file'), '')
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const { code, rows } = await doctor(join(folder, 'file'), ['--listen', `127.0.0.1:${port}`])
    taken.close()
    expect([code, failed(rows)]).toEqual([9, ['data', 'address']])
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

  test('whose server does not answer: 6, for nothing here is wrong', async () => {
    const { code, rows } = await doctor(data, ['--server', 'http://127.0.0.1:1'])
    expect([code, failed(rows)]).toEqual([6, ['server']])
    const kafka = await doctor(data, ['--log', 'kafka', '--kafka-brokers', '127.0.0.1:1'])
    expect([kafka.code, failed(kafka.rows)]).toEqual([6, ['kafka']])
    expect(row(kafka.rows, 'kafka')?.found).toContain('127.0.0.1:1')
  })
})

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
    expect(row(rows, check)?.hint).toBeDefined()
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

  test('is found by its lock, and asked', async () => {
    const { code, rows } = await doctor(data, ['--server', node.url])
    expect([code, failed(rows)]).toEqual([0, []])
    expect(row(rows, 'process')?.found).toBe(`A node runs here (process ${node.pid}).`)
    expect(row(rows, 'server')?.found).toContain(node.did)
    expect(row(rows, 'ready')?.status).toBe('ok')
    expect(row(rows, 'clock')?.status).toBe('ok')
    expect(row(rows, 'token of client')?.found).toBe("The node takes the token 'admin' (admin).")
    // Without --server it is asked at the address of the options.
    expect(row((await doctor(data)).rows, 'server')?.hint).toBe('Name its address with --server.')
    const port = new URL(node.url).port
    const found = await doctor(data, ['--listen', `0.0.0.0:${port}`])
    expect([found.code, row(found.rows, 'server')?.found]).toEqual([0, expect.stringContaining(node.did)])
  })

  test('refuses a token that it does not know', async () => {
    const file = join(data, '..', 'other-token')
    await writeFile(file, `pst_${'a'.repeat(38)}\n`)
    const { code, rows } = await doctor(data, ['--server', node.url, '--token-file', file])
    expect([code, failed(rows)]).toEqual([9, ['token of client']])
  })

  test('that stands still is not waited for', async () => {
    process.kill(node.pid, 'SIGSTOP')
    const { code, rows } = await doctor(data, ['--server', node.url]).finally(() => process.kill(node.pid, 'SIGCONT'))
    expect([code, failed(rows)]).toEqual([6, ['server']])
    expect(row(rows, 'server')?.found).toContain('does not answer')
  })
})
