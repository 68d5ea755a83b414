// The program as a node: ready line, graceful end, and what commands find of a node on this machine.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  compiledFolder,
  type Finished,
  programPath,
  runCommand,
  runFile,
  runProgram,
  serveNode,
} from '../helpers/run-node.ts'
import { startStub } from './stub-node.ts'

describe('serve', () => {
  test('runs a node whose records outlive it, and that commands use without being told a token', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-serve-'))
    const node = await serveNode(dataDir)
    const run = (args: readonly string[], input = ''): Promise<Finished> =>
      runCommand(args, { input, env: { PROOFSTREAM_SERVER: node.url, PROOFSTREAM_DATA: dataDir } })

    const ingested = await run(['ingest', 'me/lab', '-o', 'table'], '{"temp":21.5}\n{"temp":null}\n')
    expect(ingested.stdout).toMatch(/^stdin: 2 rows committed in block \d+ \(f1620/)
    expect(ingested.stderr).toMatch(/^created dataset me\/lab: event_time Timestamp.*, temp Float64\n$/)
    const proof = join(dataDir, 'proof.json')
    const asked = await run(['query', 'select temp from "me/lab"', '--proof', proof])
    expect(asked.stdout).toBe('{"temp":21.5}\n{"temp":null}\n')
    const verified = await run(['verify', proof, '--signer', node.did])
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: true,
      relation: 'self',
      checks: { reproduction: 'passed' },
    })

    const second = await runCommand(['serve', '--data', dataDir, '--listen', '127.0.0.1:0'])
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 9, stdout: '' })
    expect(second.stderr).toContain(`in use by process ${node.pid}`)

    expect(await node.end('SIGTERM')).toEqual({ code: 0, signal: null })
    const checked = await runCommand(['fsck', dataDir])
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(checked.stdout)).toMatchObject({ dataset: 'me/lab', rows: 2, ok: true })
    expect((await runCommand(['fsck', join(dataDir, 'store')])).stdout).toBe(checked.stdout)
  })

  test.skipIf(process.platform !== 'linux')(
    'gives its memory back, as one process from its start to its end',
    async () => {
      const node = await serveNode(await mkdtemp(join(tmpdir(), 'proofstream-serve-')), [], {
        NODE_COMPILE_CACHE: undefined,
        MALLOC_ARENA_MAX: '7',
      })
      const environment = (await readFile(`/proc/${node.pid}/environ`, 'utf8')).split('\0')
      expect(environment).toContain('MALLOC_MMAP_THRESHOLD_=65536')
      // What the operator sets stays; in a small memory test/scenario/small-memory.test.ts looks at it.
      expect(environment).toContain('MALLOC_ARENA_MAX=7')
      // Nobody but the owner of the program may write what is run of it.
      expect(environment).toContain(`NODE_COMPILE_CACHE=${compiledFolder}`)
      expect(await node.end('SIGTERM')).toEqual({ code: 0, signal: null })
    },
  )
})

/** What npm needs to reach a registry behind a proxy. */
const npmEnv = { NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] ?? '' }

describe('the command', () => {
  test('starts the sources with a Node.js that can, wherever it is called from', async () => {
    const { code, stdout } = await runProgram([programPath, '--version'], {
      cwd: tmpdir(),
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^proofstream \d+\.\d+\.\d+ \(Node\.js \d/)
  })

  test('hands over to a Node.js that can, with arguments, input, signals and exit code as they are', async ({
    skip,
  }) => {
    const old = await oldNode()
    if (old === undefined) return skip('npm fetches no Node.js 20.20.2')
    await using stub = await startStub({ 'POST /query': { body: {} } })
    const sql = `select 'it''s' as "a  b", '$HOME' as \\`
    const asked = await runFile(old, [programPath, 'query', '-', '--server', stub.url], { input: sql, env: npmEnv })
    expect(asked.stderr).toMatch(
      /^note: Proofstream needs Node\.js 22\.18 or newer; this is 20\.\S+: npm runs it on node@24/,
    )
    const told = await runFile(old, [programPath, 'query', sql, '--server', stub.url], { env: npmEnv })
    expect(stub.of('POST', '/query').map(({ body }) => JSON.parse(body).query)).toEqual([sql, sql])
    expect(told.code).not.toBe(9)
    const node = await serveNode(await mkdtemp(join(tmpdir(), 'proofstream-serve-')), [], npmEnv, [programPath], old)
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
    expect(await node.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await expect(fetch(`${node.url}/readyz`)).rejects.toThrow('fetch failed')
  })

  test('tells an old Node.js in a sentence, with 9, where there is no npm', async () => {
    const pretend = join(await mkdtemp(join(tmpdir(), 'proofstream-old-')), 'old.mjs')
    await writeFile(
      pretend,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.0' } })",
    )
    const env = { PATH: '/nowhere' }
    const { code, stderr } = await runProgram(['--import', pretend, programPath, 'serve'], { env })
    expect(code).toBe(9)
    expect(stderr).toMatch(/^error: Proofstream needs Node\.js 22\.18 or newer; this is 22\.17\.0/m)
    expect(stderr).toMatch(/^hint: Install a newer Node\.js/m)
  })
})

/** The path of a Node.js 20, as npm fetches it; undefined where it does not. */
async function oldNode(): Promise<string | undefined> {
  const asked = ['exec', '--yes', '--package=node@20.20.2', '--', 'node', '-p', 'process.execPath']
  const { code, stdout } = await runFile('npm', asked, { env: npmEnv })
  if (code === 0) return stdout.trim()
  if (process.env['CI'] === 'true') throw new Error('npm fetches no Node.js 20.20.2')
  console.warn('NOT RUN: nothing is run on a Node.js that is too old: npm fetches none')
  return undefined
}
