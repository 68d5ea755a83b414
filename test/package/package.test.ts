// What a user installs: `npm pack` of a copy of this checkout, installed in an empty directory, serves, takes rows,
// answers with a proof and checks it.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proofVectors } from '../libraries/proof/proof-vectors.ts'
import { env, packed, run } from './checkout.ts'

let home = ''
let installed = ''

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'proofstream-package-'))
  installed = join(home, 'installed')
  mkdirSync(installed)
  const archive = await packed(home)
  writeFileSync(join(installed, 'package.json'), '{"private":true}\n')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', archive], { cwd: installed, env })
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Runs the installed command; resolves with what it prints. */
async function proofstream(args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const program = join(installed, 'node_modules', 'proofstream', 'bin', 'proofstream.js')
  const { stdout } = await run(process.execPath, [program, ...args], { cwd: installed, env: { ...env, ...more } })
  return stdout
}

async function serve(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const program = join(installed, 'node_modules', 'proofstream', 'bin', 'proofstream.js')
  const node = spawn(process.execPath, [program, 'serve', '--listen', '127.0.0.1:0'], {
    cwd: installed,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => node.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    node.kill('SIGTERM')
    await ended
  }
  const url = await new Promise<string>((resolve, reject) => {
    node.once('exit', (code) => reject(new Error(`serve ended with ${code}`)))
    node.stdout.on('data', (chunk: Buffer) => {
      const ready = /"url":"([^"]+)"/.exec(chunk.toString())?.[1]
      if (ready !== undefined) resolve(ready)
    })
  })
  return { url, stop }
}

describe('the package', () => {
  test('says which Node.js it needs', () => {
    const { engines } = JSON.parse(readFileSync(join(installed, 'node_modules', 'proofstream', 'package.json'), 'utf8'))
    expect(engines).toEqual({ node: '>=22.18' })
  })

  test('brings a verifier that a bundler puts into a browser', async () => {
    writeFileSync(join(installed, 'page.js'), "export { verifyOffline } from 'proofstream/verify'\n")
    const bundle = await rolldown({ input: join(installed, 'page.js'), platform: 'browser', tsconfig: false })
    const { output } = await bundle.generate({ format: 'iife', name: 'page' })
    await bundle.close()
    expect(output[0].imports).toEqual([])
    const context = createContext({ TextEncoder, TextDecoder, saved: proofVectors[0]?.responseBodyBytes })
    expect(runInContext(`${output[0].code}; page.verifyOffline(saved).ok`, context)).toBe(true)
  })

  test('brings a client that a bundler puts into a browser', async () => {
    writeFileSync(join(installed, 'app.js'), "export { ProofstreamClient } from 'proofstream/client'\n")
    const bundle = await rolldown({ input: join(installed, 'app.js'), platform: 'browser', tsconfig: false })
    const { output } = await bundle.generate({ format: 'iife', name: 'app' })
    await bundle.close()
    expect(output[0].imports).toEqual([])
    const platform = { TextEncoder, TextDecoder, URL, URLSearchParams, fetch, crypto, setTimeout, clearTimeout, Blob }
    const saved = proofVectors[0]?.responseBodyBytes
    const context = createContext({ ...platform, AbortController, saved })
    const program = `${output[0].code}; new app.ProofstreamClient('http://127.0.0.1:1').verify(saved).signer`
    expect(runInContext(program, context)).toBe(proofVectors[0]?.did)
  })

  test('brings a client that writes, asks, checks and listens', async () => {
    const { url, stop } = await serve()
    try {
      const program = `
        import { readFileSync } from 'node:fs'
        import { ProofstreamClient } from 'proofstream/client'
        const token = readFileSync('proofstream-data/token', 'utf8').trim()
        const node = new ProofstreamClient('${url}', { token })
        const first = await node.ingest('me/js', [{ n: 1n }], { create: true, waitSeconds: 20 })
        const lastEventId = first.dataset.id + ':0'
        for await (const event of node.events('me/js', { rows: true, lastEventId })) {
          if (event.rows.length > 0) { console.log(event.rows[0].n); break }
        }
        const { rows, checked } = await node.query('select count(*) as rows from me.js', { proof: true })
        console.log(rows[0].rows, checked.ok)`
      writeFileSync(join(installed, 'app.mjs'), program)
      const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: installed, env })
      expect(stdout).toBe('1\n1 true\n')
    } finally {
      await stop()
    }
  })

  test('serves, takes rows, answers with a proof, and checks it', async () => {
    const { url, stop } = await serve()
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
