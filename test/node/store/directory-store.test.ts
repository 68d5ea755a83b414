import fs from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { nodeFileSystem, type FileSystem } from '../../../src/node/machine/disk/files.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { openDirectoryStore } from '../../../src/node/store/directory/directory-store.ts'
import { describeObjectStore } from './contract-suite.ts'

const base = await mkdtemp(join(tmpdir(), 'store-'))
let folders = 0
const folder = (): string => join(base, `${folders++}`, 'store')

afterAll(() => rm(base, { recursive: true, force: true }))

describeObjectStore('directory', async () => openDirectoryStore(folder()))

/** The real file system, writing down each call that changes something; `fail` may throw instead. */
function recording(root: string, fail: (call: string) => void = () => {}): { files: FileSystem; calls: string[] } {
  const calls: string[] = []
  const seen = (call: string): void => {
    const plain = call
      .replaceAll(`${root}/`, '')
      .replace(/\.tmp\/\S+/g, 'TMP')
      .replace(root, '.')
    calls.push(plain)
    fail(plain)
  }
  const files: FileSystem = {
    ...nodeFileSystem,
    async writeNew(path, chunks) {
      seen(`write+fsync ${path}`)
      await nodeFileSystem.writeNew(path, chunks)
    },
    async link(from, to) {
      seen(`link ${from} ${to}`)
      await nodeFileSystem.link(from, to)
    },
    async rename(from, to) {
      seen(`rename ${from} ${to}`)
      await nodeFileSystem.rename(from, to)
    },
    async unlink(path) {
      seen(`unlink ${path}`)
      await nodeFileSystem.unlink(path)
    },
    async makeDirectory(path) {
      seen(`mkdir ${path}`)
      await nodeFileSystem.makeDirectory(path)
    },
    async syncDirectory(path) {
      seen(`fsync ${path}`)
      await nodeFileSystem.syncDirectory(path)
    },
  }
  return { files, calls }
}

/** A store in a new directory, and the calls since it was opened. */
async function opened(fail?: (call: string) => void, change: (files: FileSystem) => FileSystem = (files) => files) {
  const root = folder()
  const { files, calls } = recording(root, fail)
  const store = await openDirectoryStore(root, change(files))
  calls.length = 0
  return { root, store, calls }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made by the test`), { code })
}

describe('durability of the directory store', () => {
  test('makes bytes durable before the name, and each directory durable before what is in it', async () => {
    const { store, calls } = await opened()
    await store.put('a/b/c', utf8('x'))
    expect(calls).toEqual([
      'mkdir a',
      'fsync .',
      'mkdir a/b',
      'fsync a',
      'write+fsync TMP',
      'link TMP a/b/c',
      'unlink TMP',
      'fsync a/b',
    ])
    calls.length = 0
    await store.put('a/b/d', utf8('x'))
    expect(calls).toEqual(['write+fsync TMP', 'link TMP a/b/d', 'unlink TMP', 'fsync a/b'])
  })

  test('fsyncs the directory before it says that an object exists', async () => {
    const root = folder()
    const first = await openDirectoryStore(root)
    await first.put('a/b', utf8('x'))
    const { files, calls } = recording(root)
    const store = await openDirectoryStore(root, files)
    calls.length = 0
    expect(await store.put('a/b', utf8('y'))).toBe('exists')
    expect(calls).toEqual(['mkdir a', 'fsync .', 'write+fsync TMP', 'link TMP a/b', 'unlink TMP', 'fsync a'])
    calls.length = 0
    // What is large is not written in vain.
    expect(await store.put('a/b', new Uint8Array(100_000))).toBe('exists')
    expect(calls).toEqual(['fsync a'])
  })

  test('fsyncs the directory also for the loser of a race', async () => {
    const { store: racing, calls } = await opened(undefined, (files) => ({
      ...files,
      stat: (path) => (path.endsWith('/a/b') ? Promise.reject(systemError('ENOENT')) : nodeFileSystem.stat(path)),
    }))
    await racing.put('a/b', utf8('x'))
    calls.length = 0
    expect(await racing.put('a/b', new Uint8Array(100_000))).toBe('exists')
    expect(calls).toEqual(['write+fsync TMP', 'link TMP a/b', 'unlink TMP', 'fsync a'])
    expect(await racing.get('a/b')).toEqual(utf8('x'))
  })

  test('replaces by rename and fsyncs the directory after it', async () => {
    const { store, calls } = await opened()
    await store.replace('refs/head', utf8('1'))
    calls.length = 0
    await store.replace('refs/head', utf8('2'))
    expect(calls).toEqual(['write+fsync TMP', 'rename TMP refs/head', 'fsync refs'])
  })

  test('makes a deletion durable', async () => {
    const { store, calls } = await opened()
    await store.put('a/b', utf8('x'))
    calls.length = 0
    await store.delete('a/b')
    expect(calls).toEqual(['unlink a/b', 'fsync a'])
  })

  test('fsyncs what it writes and what it says it fsyncs', async () => {
    const root = folder()
    await mkdir(root, { recursive: true })
    const fsync = vi.spyOn(fs, 'fsync')
    syncBuiltinESMExports()
    await nodeFileSystem.writeNew(join(root, 'x'), [utf8('x')])
    expect(fsync).toHaveBeenCalledTimes(1)
    await nodeFileSystem.syncDirectory(root)
    expect(fsync).toHaveBeenCalledTimes(2)
    fsync.mockRestore()
    syncBuiltinESMExports()
  })

  test('lets writers that wait for one directory share its fsyncs', async () => {
    const { store, calls } = await opened()
    await store.put('a/first', utf8('x'))
    calls.length = 0
    await Promise.all(Array.from({ length: 40 }, (_, i) => store.put(`a/${i}`, utf8('x'))))
    expect(calls.filter((call) => call.startsWith('link'))).toHaveLength(40)
    expect(calls.filter((call) => call === 'fsync a').length).toBeLessThan(40)
    expect(calls.at(-1)).toBe('fsync a')
  })

  test('keeps failing after an fsync of a directory failed, says so once, and reads go on', async () => {
    const root = folder()
    const failures: unknown[] = []
    let broken = false
    const { files } = recording(root, (call) => {
      if (broken && call === 'fsync a') throw systemError('EIO')
    })
    const store = await openDirectoryStore(root, files, (error) => failures.push(error))
    await store.put('a/b', utf8('x'))
    broken = true
    await expect(store.put('a/c', utf8('x'))).rejects.toThrow('EIO')
    broken = false
    await expect(store.put('a/c', utf8('x'))).rejects.toThrow('EIO')
    await expect(store.replace('z/d', utf8('x'))).rejects.toThrow('EIO')
    expect(failures).toEqual([expect.objectContaining({ code: 'EIO' })])
    expect(await store.get('a/b')).toEqual(utf8('x'))
  })

  test.each(['write+fsync TMP', 'link TMP a/c', 'mkdir q', 'fsync a'])(
    'says StorageFull when %j finds no space',
    async (step) => {
      let full = false
      const { root, store } = await opened((call) => {
        if (full && call === step) throw systemError(step.startsWith('mkdir') ? 'EDQUOT' : 'ENOSPC')
      })
      await store.put('a/b', utf8('x'))
      full = true
      const key = step === 'mkdir q' ? 'q/c' : 'a/c'
      const failed = store.put(key, utf8('x'))
      await expect(failed).rejects.toThrow(NodeError)
      await expect(failed).rejects.toMatchObject({ kind: 'StorageFull' })
      full = false
      expect(['stored', 'exists']).toContain(await store.put(key, utf8('x')))
      expect(await readdir(join(root, '.tmp'))).toEqual([])
    },
  )
})

describe('files of the directory store', () => {
  test('are read-only objects in private directories', async () => {
    const root = folder()
    const store = await openDirectoryStore(root)
    await store.put('a/b/c', utf8('x'))
    await store.replace('a/b/d', utf8('x'))
    const mode = async (path: string): Promise<string> => ((await stat(join(root, path))).mode & 0o777).toString(8)
    expect(await mode('.')).toBe('700')
    expect(await mode('a')).toBe('700')
    expect(await mode('a/b')).toBe('700')
    expect((Number.parseInt(await mode('a/b/c'), 8) & 0o333) === 0).toBe(true)
    expect((Number.parseInt(await mode('a/b/d'), 8) & 0o333) === 0).toBe(true)
  })

  test('lie at the path that fileOf says', async () => {
    const store = await openDirectoryStore(folder())
    await store.put('a/b', utf8('bytes'))
    expect(await readFile(store.fileOf('a/b') ?? '', 'utf8')).toBe('bytes')
  })

  test('do not include temporary files, which a later open removes once they are old', async () => {
    const root = folder()
    const store = await openDirectoryStore(root)
    await store.put('a/b', utf8('x'))
    expect(await readdir(join(root, '.tmp'))).toEqual([])
    await writeFile(join(root, '.tmp', 'old'), 'left behind')
    await utimes(join(root, '.tmp', 'old'), new Date('2020-01-01'), new Date('2020-01-01'))
    await writeFile(join(root, '.tmp', 'young'), 'being written by another process')
    await mkdir(join(root, 'a', '.hidden'))
    await openDirectoryStore(root)
    expect(await readdir(join(root, '.tmp'))).toEqual(['young'])
    expect(await store.list('a')).toEqual(['b'])
  })

  test('are shared by two stores on one directory', async () => {
    const root = folder()
    const [left, right] = await Promise.all([openDirectoryStore(root), openDirectoryStore(root)])
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? left : right).put('a/b', utf8(`${i}`))),
    )
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1)
    expect(await left.get('a/b')).toEqual(await right.get('a/b'))
  })

  test('need hard links: opening says so where there are none', async () => {
    const root = folder()
    const { files } = recording(root, (call) => {
      if (call.startsWith('link')) throw systemError('EPERM')
    })
    await expect(openDirectoryStore(root, files)).rejects.toMatchObject({ kind: 'Internal' })
  })

  test('know how much space their volume has left', async () => {
    const store = await openDirectoryStore(folder())
    expect((await store.freeSpace())?.bytes).toBeGreaterThan(0)
  })
})
