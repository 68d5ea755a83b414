// Folders of a cache in bounded room: what is in use stays, what is kept for one is not given to another, and a start finds what
// is whole.

import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BoundedFolders } from '../../../src/node/files/bounded-folders.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-folders-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** A file is called by its size. */
const open = (): Promise<BoundedFolders> => BoundedFolders.open(dir, (file) => Number(/^\d+$/.exec(file)?.[0] ?? 0))

async function filled(folders: BoundedFolders, name: string, bytes: number): Promise<boolean> {
  const folder = folders.use(name)
  const isKept = await folders.reserve(folder, bytes, 100)
  if (isKept) await writeFile(join(folder.path, String(bytes)), '')
  await folders.settle(folder)
  folder.users--
  return isKept
}

test('room that is kept for one is not given to another, and what is in use stays', async () => {
  const folders = await open()
  const [a, b] = [folders.use('x/a'), folders.use('x/b')]
  expect(await Promise.all([folders.reserve(a, 60, 100), folders.reserve(b, 41, 100)])).toEqual([true, false])
  expect(await folders.reserve(b, 40, 100)).toBe(true)
  expect(await folders.removeOldest()).toBe(false)
  await folders.remove(a)
  expect((await stat(a.path)).isDirectory()).toBe(true)
  a.users--
  await folders.remove(a)
  // What comes in its place is another.
  const next = folders.use('x/a')
  expect([next === a, next.path === a.path]).toEqual([false, true])
  a.users--
  await folders.remove(a)
  expect((await stat(next.path)).isDirectory()).toBe(true)
  await folders.settle(b)
  expect(await folders.reserve(next, 100, 100)).toBe(true)
})

test('a start finds what is there, and removes what was begun and what is none of its own', async () => {
  const before = await open()
  for (const name of ['x/a', 'x/b', 'y/c']) expect(await filled(before, name, 30)).toBe(true)
  await writeFile(join(before.unfinished, 'begun'), '')
  for (const left of ['removed/left', 'folders/of/nothing']) await mkdir(join(dir, left), { recursive: true })
  await writeFile(join(dir, 'folders', 'file'), '')
  const folders = await open()
  expect(await readdir(folders.unfinished)).toEqual([])
  expect(await readdir(join(dir, 'removed'))).toEqual([])
  expect(await readdir(join(dir, 'folders', 'of'))).toEqual([])
  folders.use('x/b')
  expect(await filled(folders, 'z/d', 40)).toBe(true)
  const left = await Promise.all(
    ['x/a', 'x/b', 'y/c'].map((name) => stat(join(dir, 'folders', name)).catch(() => 'gone')),
  )
  expect(left.filter((one) => one === 'gone')).toHaveLength(1)
  expect(left[1]).not.toBe('gone')
  expect(await filled(folders, 'z/e', 71)).toBe(false)
  await folders.close()
})
