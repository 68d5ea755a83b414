// Files of a node beside its store, such as its key: for its user alone, and there whole or not at all, whatever
// interrupts their writing. A name is given to a file that is durable already, and is durable when the call resolves.

import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { utf8 } from '../lib/bytes.ts'
import { ifThere, linkOnce, nodeFileSystem as files } from './files.ts'

/** Writes a file that is not there yet; `exists` when there is one, whose bytes stay. */
export async function createPrivate(path: string, text: string): Promise<'stored' | 'exists'> {
  return withTemporary(path, text, async (temporary) => {
    try {
      return await linkOnce(files, temporary, path)
    } finally {
      await files.unlink(temporary).catch(() => {})
    }
  })
}

/** Writes a file in place of the one that may be there. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  await withTemporary(path, text, (temporary) => files.rename(temporary, path))
}

/** Removes a file; no error when there is none. */
export async function removePrivate(path: string): Promise<void> {
  await ifThere(files.unlink(path))
  await files.syncDirectory(dirname(path))
}

/** Hands a durable file to `name`, which gives it its name. */
async function withTemporary<T>(path: string, text: string, name: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    await files.writeNew(temporary, [utf8(text)], 0o600)
    const named = await name(temporary)
    await files.syncDirectory(dirname(path))
    return named
  } catch (error) {
    await files.unlink(temporary).catch(() => {})
    throw error
  }
}
