// The program where the native engine is not installed: a copy of the sources beside links to every other package.

import { cp, mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from './sources.ts'

/** Makes the copy; its folder is the caller's to remove. */
export async function withoutNative(): Promise<{
  readonly dir: string
  /** Path of its program. */
  readonly program: string
}> {
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-without-'))
  for (const name of ['src', 'bin', 'texts', 'streams', 'package.json'])
    await cp(join(repository, name), join(dir, name), { recursive: true })
  const modules = join(repository, 'node_modules')
  const packages = join(dir, 'node_modules')
  await mkdir(packages)
  for (const name of await readdir(modules))
    if (name !== '@duckdb' && !name.startsWith('.')) await symlink(join(modules, name), join(packages, name))
  return { dir, program: join(dir, 'bin', 'proofstream.js') }
}
