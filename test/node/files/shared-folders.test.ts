// Folders of a cache that processes share: real processes, one of which is killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SharedFolders } from '../../../src/node/files/shared-folders.ts'

let dir = ''
const children: ChildProcess[] = []
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-folders-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(dir, { recursive: true, force: true })
})

const source = new URL('../../../src/node/files/shared-folders.ts', import.meta.url).href

/** Runs `body`, in which `folders` are those of the test, in a process of its own; its first line of output resolves this. */
async function inProcess(body: string): Promise<{ readonly said: string; readonly child: ChildProcess }> {
  const program = `
    const { rename, stat, writeFile } = await import('node:fs/promises')
    const { SharedFolders } = await import(${JSON.stringify(source)})
    const folders = new SharedFolders(${JSON.stringify(dir)})
    ${body}
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const said = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', () => resolve(''))
  })
  return { said, child }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await end
}

test('a folder that another process uses stays until that process ends, however it ends', async () => {
  const fill = `
    const { path } = folders.use('a/1')
    if (!(await folders.reserve('a/1', 80, 100))) throw new Error('no room')
    await writeFile(path + '/file', 'of the other')
    folders.settle('a/1', 60)
    folders.use('a/2')
    if (!(await folders.reserve('a/2', 20, 100))) throw new Error('no room')
    await writeFile(folders.unfinished + '/begun', 'half of it')
    console.log(path)
    setInterval(() => {}, 1000)
  `
  const { said: path, child } = await inProcess(fill)
  const folders = new SharedFolders(dir)
  folders.use('b/1')
  expect(await folders.reserve('b/1', 20, 100)).toBe(true)
  expect(await folders.reserve('b/1', 1, 100)).toBe(false)
  expect(await folders.removeOldest()).toBe(false)
  await folders.remove('a/1')
  expect(await readFile(join(path, 'file'), 'utf8')).toBe('of the other')
  await ended(child)
  expect(await folders.reserve('b/1', 20, 100)).toBe(true)
  // What it kept is free, what it wrote is counted until its room is needed.
  expect(await readFile(join(path, 'file'), 'utf8')).toBe('of the other')
  expect(await folders.reserve('b/1', 60, 100)).toBe(true)
  await expect(readdir(path)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readdir(join(dir, 'processes'))).toHaveLength(1)
  expect(await readdir(join(dir, 'removed'))).toEqual([])
  await folders.close()
  expect(await readdir(join(dir, 'processes'))).toEqual([])
})

test('a folder that was removed meanwhile is told from the one before', async () => {
  const [one, other] = [new SharedFolders(dir), new SharedFolders(dir)]
  const first = one.use('a/1')
  expect(other.use('a/1')).toEqual(first)
  one.release('a/1')
  await one.remove('a/1')
  expect(one.use('a/1')).toEqual(first)
  for (const each of [one, other]) each.release('a/1')
  await other.remove('a/1')
  const next = one.use('a/1')
  expect([next.path, next.generation === first.generation]).toEqual([first.path, false])
  expect(await readdir(next.path)).toEqual([])
  // A process may be killed between the folder's end and that of its line.
  one.release('a/1')
  await rm(next.path, { recursive: true })
  expect(other.use('a/1').generation).not.toBe(next.generation)
  for (const each of [one, other]) await each.close()
})

test('many processes at once keep to the bound', async () => {
  const work = `
    const most = 10_000
    for (let n = 0; n < 150; n++) {
      const name = 'x/' + Math.floor(Math.random() * 20)
      const { path } = folders.use(name)
      if (await folders.reserve(name, 900, most)) {
        await writeFile(folders.unfinished + '/' + n, 'x'.repeat(900))
        await rename(folders.unfinished + '/' + n, path + '/file')
        folders.settle(name, 900)
        const { size } = await stat(path + '/file')
        if (size !== 900) throw new Error('lost what it uses')
      }
      folders.release(name)
    }
    await folders.close()
    console.log('done')
  `
  const all = await Promise.all(Array.from({ length: 4 }, () => inProcess(work)))
  expect(all.map(({ said }) => said)).toEqual(['done', 'done', 'done', 'done'])
  const names = (await readdir(join(dir, 'folders'), { recursive: true })).filter((name) => name.endsWith('file'))
  expect(names.length).toBeGreaterThan(5)
  expect(names.length).toBeLessThanOrEqual(11)
  expect(await readdir(join(dir, 'processes'))).toEqual([])
})

test('what a killed process had moved away, and what no index knows, goes at the next start', async () => {
  const { child } = await inProcess(`folders.use('a/1'); console.log('ready'); setInterval(() => {}, 1000)`)
  await ended(child)
  for (const left of ['removed/left', 'folders/of/no index']) await mkdir(join(dir, left), { recursive: true })
  const folders = new SharedFolders(dir)
  await folders.close()
  expect(await readdir(join(dir, 'removed'))).toEqual([])
  expect(await readdir(join(dir, 'folders', 'of'))).toEqual([])
  expect(await readdir(join(dir, 'folders', 'a'))).toEqual(['1'])
})
