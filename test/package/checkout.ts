// The packages as `npm pack` makes them of a copy of this checkout, and what the tests of this folder do with one that is
// installed.

import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { proofVectors } from '../libraries/proof/proof-vectors.ts'

export const repository = new URL('../..', import.meta.url).pathname
export const run = promisify(execFile)
/** npm and the package's own command run on the Node.js that runs this test. */
export const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }

/** Copies what packages are made of; the path of the copy, `home/checkout`. */
export function copied(home: string): string {
  const checkout = join(home, 'checkout')
  mkdirSync(checkout)
  const files = [
    'bin',
    'demo',
    'scripts',
    'src',
    'streams',
    'texts',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ]
  for (const name of [...files, 'README.md', 'LICENSE'])
    cpSync(join(repository, name), join(checkout, name), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'))
  return checkout
}

/** Packs a copy into `home`; the path of the archive. */
export async function packed(home: string): Promise<string> {
  await run('npm', ['pack', '--silent', '--pack-destination', home], { cwd: copied(home), env })
  const [archive = ''] = readdirSync(home).filter((name) => name.endsWith('.tgz'))
  return join(home, archive)
}

/** Installs archives into `folder`, which is made for it. */
export async function installIn(
  folder: string,
  archives: readonly string[],
  ...more: readonly string[]
): Promise<void> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...more, ...archives]
  await run('npm', install, { cwd: folder, env })
}

/** Starts a node by the command `program`, with its data in `cwd`. */
export async function serve(
  program: string,
  cwd: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const node = spawn(process.execPath, [program, 'serve', '--listen', '127.0.0.1:0'], {
    cwd,
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

/** What an installed verifier finds when a bundler has put it into a page: true for a good answer. */
export async function verifiedInPage(folder: string, specifier: string): Promise<unknown> {
  const code = await bundled(folder, `export { verifyOffline } from '${specifier}'`)
  const context = createContext({ TextEncoder, TextDecoder, saved: proofVectors[0]?.responseBodyBytes })
  return runInContext(`${code}; page.verifyOffline(saved).ok`, context)
}

/** Who signed, as an installed client says that a bundler has put into a page. */
export async function signerInPage(folder: string, specifier: string): Promise<unknown> {
  const code = await bundled(folder, `export { ProofstreamClient } from '${specifier}'`)
  const platform = { TextEncoder, TextDecoder, URL, URLSearchParams, fetch, crypto, setTimeout, clearTimeout, Blob }
  const saved = proofVectors[0]?.responseBodyBytes
  const context = createContext({ ...platform, AbortController, saved })
  return runInContext(`${code}; new page.ProofstreamClient('http://127.0.0.1:1').verify(saved).signer`, context)
}

/** A classic script that imports nothing, whose `page` has what `statement` exports. */
async function bundled(folder: string, statement: string): Promise<string> {
  const input = join(folder, 'page.js')
  writeFileSync(input, `${statement}\n`)
  const bundle = await rolldown({ input, platform: 'browser', tsconfig: false })
  const { output } = await bundle.generate({ format: 'iife', name: 'page' })
  await bundle.close()
  if (output[0].imports.length > 0) throw new Error(`the bundle imports ${output[0].imports.join(', ')}`)
  return output[0].code
}

/** What a program prints that writes, asks with a proof and listens by an installed client; `1` and `1 true`, each a line. */
export async function clientPrints(folder: string, specifier: string, url: string, tokenFile: string): Promise<string> {
  const program = `
    import { readFileSync } from 'node:fs'
    import { ProofstreamClient } from '${specifier}'
    const token = readFileSync('${tokenFile}', 'utf8').trim()
    const node = new ProofstreamClient('${url}', { token })
    const first = await node.ingest('me/js', [{ n: 1n }], { create: true, waitSeconds: 20 })
    const lastEventId = first.dataset.id + ':0'
    for await (const event of node.events('me/js', { rows: true, lastEventId })) {
      if (event.rows.length > 0) { console.log(event.rows[0].n); break }
    }
    const { rows, checked } = await node.query('select count(*) as rows from me.js', { proof: true })
    console.log(rows[0].rows, checked.ok)`
  writeFileSync(join(folder, 'app.mjs'), program)
  return (await run(process.execPath, ['app.mjs'], { cwd: folder, env })).stdout
}
