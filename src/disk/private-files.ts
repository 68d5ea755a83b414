// Files of a node beside its store, such as its key: for its user alone, and there whole or not at all, whatever
// interrupts their writing. A name is given to a file that is durable already, and is durable when the call resolves.

import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, nodeFileSystem } from './files.ts'

/** Text of a file, or undefined when there is none. */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Writes a file that is not there yet; `exists` when there is one, whose bytes stay. */
export async function createPrivate(path: string, text: string): Promise<'stored' | 'exists'> {
  return withTemporary(path, text, async (temporary) => {
    try {
      await link(temporary, path)
      return 'stored'
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
      return 'exists'
    } finally {
      await unlink(temporary).catch(() => {})
    }
  })
}

/** Writes a file in place of the one that may be there. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  await withTemporary(path, text, (temporary) => rename(temporary, path))
}

/** Removes a file; no error when there is none. */
export async function removePrivate(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
  await nodeFileSystem.syncDirectory(dirname(path))
}

/** Gives a durable file to `name`, which gives it its name. */
async function withTemporary<T>(path: string, text: string, name: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    const named = await name(temporary)
    await nodeFileSystem.syncDirectory(dirname(path))
    return named
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
}
