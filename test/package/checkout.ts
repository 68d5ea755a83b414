// The package as `npm pack` makes it of a copy of this checkout: what both tests of this folder begin with.

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export const repository = new URL('../..', import.meta.url).pathname
export const run = promisify(execFile)
/** npm and the package's own command run on the Node.js that runs this test. */
export const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }

/** Packs a copy, `home/checkout`, into `home`; the path of the archive. */
export async function packed(home: string): Promise<string> {
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
  await run('npm', ['pack', '--silent', '--pack-destination', home], { cwd: checkout, env })
  const [archive = ''] = readdirSync(home).filter((name) => name.endsWith('.tgz'))
  return join(home, archive)
}
