// One process owns the directory of a file log, or the cache of a data directory. The lock is the operating system's
// (on a file, taken through SQLite, which Node ships; Node itself has no file locks): it ends with its process, however
// that ends, and holds between containers that share a volume. The note beside it only names the owner.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { NodeError } from '../../../libraries/base/errors.ts'

const busy = 5
/** Keeps locks from the garbage collector, which would give them back. */
const held = new Set<DatabaseSync>()

/** Takes the lock of `directory`, which is the place of a log or cache, and returns what gives it back. Throws NodeError `LogUnavailable` if it is taken. */
export function lockDirectory(directory: string, what: 'log' | 'cache' = 'log'): () => void {
  const notePath = join(directory, 'owner')
  const lock = new DatabaseSync(join(directory, 'lock'))
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw noLock(directory, what, error)
    throw new NodeError('LogUnavailable', `The ${what} in ${directory} is in use by ${ownerOf(notePath)}.`, {
      hint: 'Stop that process, or give this one another data directory.',
    })
  }
  writeFileSync(notePath, `process ${process.pid}\n`, { mode: 0o600 })
  held.add(lock)
  return () => {
    if (held.delete(lock)) lock.close()
  }
}

function noLock(directory: string, what: string, cause: unknown): NodeError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new NodeError('LogUnavailable', `The ${what} in ${directory} cannot be locked: ${reason}.`, {
    hint: `Where no other process uses the directory, remove ${join(directory, 'lock')}; nothing is stored in it.`,
    cause,
  })
}

/** The owner of the lock of `directory`, or undefined when it is free. Takes nothing. */
export function lockOwner(directory: string): string | undefined {
  const path = join(directory, 'lock')
  if (!existsSync(path)) return undefined
  const lock = new DatabaseSync(path, { readOnly: true })
  try {
    lock.exec('SELECT count(*) FROM sqlite_schema')
    return undefined
  } catch (error) {
    if (!isBusy(error)) throw error
    return ownerOf(join(directory, 'owner'))
  } finally {
    lock.close()
  }
}

function ownerOf(notePath: string): string {
  try {
    return readFileSync(notePath, 'utf8').trim() || 'another process'
  } catch {
    return 'another process'
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === busy
}
