// What a user installs: `npm pack` of a copy of this checkout, installed in an empty directory, serves, takes rows,
// answers with a proof and checks it.

import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proofVectors } from '../proof/proof-vectors.ts'

const repository = new URL('../..', import.meta.url).pathname
const run = promisify(execFile)
/** npm and the package's own command run on the Node.js that runs this test. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }

let home = ''
let checkout = ''
let installed = ''

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'proofstream-package-'))
  checkout = join(home, 'checkout')
  installed = join(home, 'installed')
  mkdirSync(checkout)
  mkdirSync(installed)
  const files = ['bin', 'scripts', 'src', 'streams', 'texts', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
  for (const name of [...files, 'README.md', 'LICENSE'])
    cpSync(join(repository, name), join(checkout, name), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'))
  await run('npm', ['pack', '--silent', '--pack-destination', home], { cwd: checkout, env })
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }
  writeFileSync(join(installed, 'package.json'), '{"private":true}\n')
  const tarball = join(home, `proofstream-${version}.tgz`)
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: installed, env })
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
  test('says which Node.js it needs; the checkout is as it was', () => {
    const engines = (path: string): unknown => (JSON.parse(readFileSync(path, 'utf8')) as { engines: unknown }).engines
    expect(engines(join(installed, 'node_modules', 'proofstream', 'package.json'))).toEqual({ node: '>=22.18' })
    expect(readFileSync(join(checkout, 'package.json'), 'utf8')).toBe(
      readFileSync(join(repository, 'package.json'), 'utf8'),
    )
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

  test('serves, takes rows, answers with a proof, and checks it', async () => {
    const { url, stop } = await serve()
    const node = { PROOFSTREAM_SERVER: url }
    try {
      writeFileSync(join(installed, 'readings.csv'), 'sensor,celsius\ns1,21.5\ns2,19\n')
      expect(await proofstream(['ingest', 'me/lab', 'readings.csv'], node)).toContain('"committed"')
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
