// The folders of a cache that processes of one machine share: how large each is, which of them uses it, and which was not used
// for longest. SQLite, which Node ships, keeps the index: what is decided together is one transaction, and what a process that
// was killed had begun is undone. Each process holds a lock that ends with it, however that ends (`directory-lock.ts`), so
// that what a dead one used is free again. Clocks decide nothing.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { lockDirectory, lockOwner } from '../machine/disk/directory-lock.ts'

const schema = `
  PRAGMA busy_timeout = 10000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS folders (
    name TEXT PRIMARY KEY, generation INTEGER NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS users (
    process TEXT NOT NULL, name TEXT NOT NULL, reserved INTEGER NOT NULL, PRIMARY KEY (process, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS turn (next INTEGER NOT NULL) STRICT;
  INSERT INTO turn SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM turn);
`

/** A folder in use. */
export interface SharedFolder {
  readonly path: string
  /** Another one than before when the folder was removed meanwhile. */
  readonly generation: number
}

export class SharedFolders {
  readonly #dir: string
  readonly #db: DatabaseSync
  readonly #process = randomName()
  readonly #unlock: () => void
  readonly #statements = new Map<string, StatementSync>()
  #removing: Promise<unknown> = Promise.resolve()

  /** Opens those under `dir`, which is made where it is missing. What is there and in no index is removed. */
  constructor(dir: string) {
    this.#dir = dir
    for (const folder of ['folders', 'removed', 'processes']) {
      mkdirSync(join(dir, folder), { recursive: true, mode: 0o700 })
    }
    this.#db = new DatabaseSync(join(dir, 'index'))
    this.#db.exec(schema)
    this.#unlock = this.#together(() => {
      // Nobody looks for the dead meanwhile, so that one without a lock is none that is just starting.
      mkdirSync(this.unfinished, { mode: 0o700 })
      const unlock = lockDirectory(this.unfinished, 'cache')
      this.#forgetDead()
      const known = new Set(
        this.#db
          .prepare('SELECT name FROM folders')
          .all()
          .map((row) => String(row['name'])),
      )
      for (const above of readdirSync(join(dir, 'folders'))) {
        if (isFile(join(dir, 'folders', above))) rmSync(join(dir, 'folders', above))
        else
          for (const name of readdirSync(join(dir, 'folders', above))) {
            if (!known.has(`${above}/${name}`)) this.#moveAway(`${above}/${name}`)
          }
      }
      return unlock
    })
    // Left by a process that was killed while it removed it; another that is at it finds it gone.
    for (const name of readdirSync(join(dir, 'removed'))) this.#removeLater(join(dir, 'removed', name))
  }

  /** Where files are written that get their place in a folder by their name. Removed once this process has ended. */
  get unfinished(): string {
    return join(this.#dir, 'processes', this.#process)
  }

  /** False once somebody has removed what processes use together: another one is to be opened. */
  isThere(): boolean {
    return existsSync(this.unfinished)
  }

  pathOf(name: string): string {
    return join(this.#dir, 'folders', name)
  }

  /** Uses the folder `name` (two segments), which is made where it is missing: nobody removes it until `release`. */
  use(name: string): SharedFolder {
    const path = this.pathOf(name)
    return this.#together(() => {
      const turn = this.#nextTurn()
      // What is no folder is not of this cache.
      for (const place of [dirname(path), path]) if (isFile(place)) rmSync(place)
      // One that a process was killed while removing has its line still.
      if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) {
        this.#sql('INSERT OR REPLACE INTO folders VALUES (?, ?, 0, ?)').run(name, turn, turn)
      }
      this.#sql('INSERT OR IGNORE INTO users VALUES (?, ?, 0)').run(this.#process, name)
      const row = this.#sql('UPDATE folders SET used = ? WHERE name = ? RETURNING generation').get(turn, name)
      return { path, generation: Number(row?.['generation']) }
    })
  }

  release(name: string): void {
    this.#sql('DELETE FROM users WHERE process = ? AND name = ?').run(this.#process, name)
  }

  /**
   * Keeps room for `bytes` more in a folder that this process uses; folders that nobody uses go for it. False where all of the
   * folders together would have more than `mostBytes`.
   */
  async reserve(name: string, bytes: number, mostBytes: number): Promise<boolean> {
    const isKept = this.#together(() => {
      this.#forgetDead()
      const fits = (): boolean => this.#bytes() + bytes <= mostBytes
      while (!fits() && this.#dropOldest()) {}
      if (!fits()) return false
      this.#sql('UPDATE users SET reserved = reserved + ? WHERE process = ? AND name = ?').run(
        bytes,
        this.#process,
        name,
      )
      return true
    })
    await this.#removing
    return isKept
  }

  /** Removes the folder that was not used for longest; false where all are in use. */
  async removeOldest(): Promise<boolean> {
    const isDone = this.#together(() => this.#dropOldest())
    await this.#removing
    return isDone
  }

  /** Says how large a folder is that this process uses, and gives back what it kept for it. */
  settle(name: string, bytes: number): void {
    this.#together(() => {
      this.#sql('UPDATE folders SET bytes = ? WHERE name = ?').run(bytes, name)
      this.#sql('UPDATE users SET reserved = 0 WHERE process = ? AND name = ?').run(this.#process, name)
    })
  }

  /** Removes a folder unless somebody uses it. */
  async remove(name: string): Promise<void> {
    this.#together(() => {
      const user = this.#sql('SELECT 1 FROM users WHERE name = ?').get(name)
      if (user === undefined) this.#drop(name)
    })
    await this.#removing
  }

  async close(): Promise<void> {
    await this.#removing
    this.#sql('DELETE FROM users WHERE process = ?').run(this.#process)
    this.#db.close()
    this.#unlock()
    await rm(this.unfinished, { recursive: true, force: true })
  }

  #sql(text: string): StatementSync {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  #nextTurn(): number {
    return Number(this.#sql('UPDATE turn SET next = next + 1 RETURNING next').get()?.['next'])
  }

  #bytes(): number {
    const sum = 'SELECT (SELECT total(bytes) FROM folders) + (SELECT total(reserved) FROM users) AS bytes'
    return Number(this.#sql(sum).get()?.['bytes'])
  }

  #dropOldest(): boolean {
    const oldest = 'SELECT name FROM folders WHERE name NOT IN (SELECT name FROM users) ORDER BY used LIMIT 1'
    const row = this.#sql(oldest).get()
    if (row === undefined) return false
    this.#drop(String(row['name']))
    return true
  }

  #drop(name: string): void {
    this.#moveAway(name)
    this.#sql('DELETE FROM folders WHERE name = ?').run(name)
  }

  /** From its place at once, so that the next of this name is another; from the disk later. */
  #moveAway(name: string): void {
    const away = join(this.#dir, 'removed', randomName())
    try {
      renameSync(this.pathOf(name), away)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
    this.#removeLater(away)
  }

  #removeLater(path: string): void {
    // What cannot be removed, such as what two are at, goes at the next start.
    const gone = rm(path, { recursive: true, force: true }).catch(() => {})
    this.#removing = Promise.all([this.#removing, gone])
  }

  /** What processes used that are no more. */
  #forgetDead(): void {
    for (const process of readdirSync(join(this.#dir, 'processes'))) {
      const place = join(this.#dir, 'processes', process)
      if (process === this.#process || lockOwner(place) !== undefined) continue
      this.#sql('DELETE FROM users WHERE process = ?').run(process)
      rmSync(place, { recursive: true, force: true })
    }
  }

  #together<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const done = work()
      this.#db.exec('COMMIT')
      return done
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function randomName(): string {
  return randomBytes(8).toString('hex')
}
