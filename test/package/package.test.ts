// What a user installs: `npm pack` of a copy of this checkout, installed in an empty directory, serves, takes rows,
// answers with a proof and checks it.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockOf } from '../helpers/page-blocks.ts'
import { proofVectors } from '../libraries/proof/proof-vectors.ts'
import { clientPrints, env, installIn, packed, run, serve, signerInPage, verifiedInPage } from './checkout.ts'

let home = ''
let installed = ''
let archive = ''
let program = ''

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'proofstream-package-'))
  installed = join(home, 'installed')
  archive = await packed(home)
  program = join(installed, 'node_modules', 'proofstream', 'bin', 'proofstream.js')
  await installIn(installed, [archive])
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Runs the installed command; resolves with what it prints. */
async function proofstream(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [program, ...args], { cwd: installed, env: { ...env, ...more } })
  return stdout
}

const serving = (): ReturnType<typeof serve> => serve(program, installed)

describe('the package', () => {
  test('is installed under the name that the pages give it', () => {
    const readme = blockOf('README.md', 'docker build').split(' && ')
    expect(readme).toEqual(expect.arrayContaining(['npm pack', `npm install ./${basename(archive)}`]))
    const service = blockOf('docs/operations.md', 'useradd')
    expect(service).toContain(`npm install --prefix /opt/proofstream ./${basename(archive)}\n`)
  })

  test('says which Node.js it needs', () => {
    const { engines } = JSON.parse(readFileSync(join(installed, 'node_modules', 'proofstream', 'package.json'), 'utf8'))
    expect(engines).toEqual({ node: '>=22.18' })
  })

  test('brings a verifier and a client that a bundler puts into a browser', async () => {
    expect(await verifiedInPage(installed, 'proofstream/verify')).toBe(true)
    expect(await signerInPage(installed, 'proofstream/client')).toBe(proofVectors[0]?.did)
  })

  test('brings a client that writes, asks, checks and listens', async () => {
    const { url, stop } = await serving()
    try {
      expect(await clientPrints(installed, 'proofstream/client', url, 'proofstream-data/token')).toBe('1\n1 true\n')
    } finally {
      await stop()
    }
  })

  test('serves, takes rows, answers with a proof, and checks it', async () => {
    const { url, stop } = await serving()
    const node = { PROOFSTREAM_SERVER: url }
    try {
      writeFileSync(join(installed, 'readings.csv'), 'sensor,celsius\ns1,21.5\ns2,19\n')
      expect(await proofstream(['ingest', 'me/lab', 'readings.csv'], node)).toContain('"committed"')
      expect((await proofstream(['demo'], node)).match(/ committed in block /g)).toHaveLength(3)
      const sql = 'select count(*) as readings, max(celsius) as most from me.lab'
      expect(await proofstream(['query', sql, '--proof', 'answer.json'], node)).toContain('21.5')
      await proofstream(['verify', 'answer.json'], node)
      await proofstream(['verify', '--offline', 'answer.json'])
      expect(await (await fetch(`${url}/assets/verify.html`)).text()).toContain('<h1>Check a proof</h1>')
    } finally {
      await stop()
    }
  })
})

describe('the package without its native engine', () => {
  const folder = (): string => join(home, 'bare')
  const program = (): string => join(folder(), 'node_modules/proofstream/bin/proofstream.js')
  const command = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<{ readonly stdout: string }> =>
    run(process.execPath, [program(), ...args], { cwd: folder(), env: { ...env, ...more } })

  test('serves, takes rows, and says what is missing; the engine can be added', async () => {
    await installIn(folder(), [archive], '--omit=optional')
    expect(existsSync(join(folder(), 'node_modules/@duckdb/node-api'))).toBe(false)
    const bare = await serve(program(), folder())
    const node = { PROOFSTREAM_SERVER: bare.url }
    try {
      writeFileSync(join(folder(), 'readings.csv'), 'sensor,celsius\ns1,21.5\ns2,19\n')
      expect((await command(['ingest', 'me/lab', 'readings.csv'], node)).stdout).toContain('"committed"')
      const asked = command(['query', 'select count(*) as n from me.lab'], node)
      await expect(asked).rejects.toMatchObject({
        stderr: expect.stringMatching(/DuckDB 1\.5\.6 is not on this machine[^]*proofstream engine add 1\.5\.6/),
      })
      expect(await (await fetch(`${bare.url}/info`)).json()).toMatchObject({ engines: [] })
      expect((await fetch(`${bare.url}/readyz`)).status).toBe(200)
      // Proofs are read and checked all the same; what takes a run is told as undecided.
      expect((await command(['verify', '--offline', join(installed, 'answer.json')])).stdout).toContain('did:key:')
      await expect(command(['verify', join(installed, 'answer.json')], node)).rejects.toMatchObject({ code: 11 })
      await command(['engine', 'add', '1.5.6'])
    } finally {
      await bare.stop()
    }
    const whole = await serve(program(), folder())
    try {
      const { stdout } = await command(['query', 'select count(*) as n from me.lab'], { PROOFSTREAM_SERVER: whole.url })
      expect(JSON.parse(stdout)).toEqual({ n: 2 })
    } finally {
      await whole.stop()
    }
  })
})
