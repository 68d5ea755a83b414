// A PostgreSQL server of this machine, over a cluster that is thrown away: what it answers is what PostgreSQL programs expect. Needs
// initdb, postgres and psql, as Debian's package `postgresql` has them.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { until } from './until.ts'

export interface Postgres {
  /** The rows of a statement: cells as text, null as `\N`. Throws what psql says. */
  rows(sql: string): string[][]
  names(sql: string): string[]
}

/** Cells and rows are parted by these. */
const [cellEnd, rowEnd] = ['\u001f', '\u001e']
const user = 'reader'

/** Directory of the programs, or undefined. */
const home = globSync('/usr/lib/postgresql/*/bin').find((bin) => existsSync(join(bin, 'initdb')))
const isRoot = process.getuid?.() === 0
const owner = isRoot ? spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' }).stdout.trim() : ''

export const hasPostgres = home !== undefined && (!isRoot || owner !== '')

/** A server for all tests of a file, after `setup` has run there. Only where `hasPostgres`. */
export function usePostgres(setup: string): Postgres {
  let psql: ((sql: string, more?: readonly string[]) => string) | undefined
  let stop = async (): Promise<void> => {}
  beforeAll(async () => {
    if (!hasPostgres) return
    const server = await start(must(home, 'there are programs'))
    psql = server.psql
    stop = server.stop
    psql(setup)
  })
  afterAll(async () => await stop())
  const ask = (sql: string, more: readonly string[]): string => must(psql, 'the server has started')(sql, more)
  const cells = ['-F', cellEnd, '-R', rowEnd, '-P', 'null=\\N']
  const split = (text: string): string[][] =>
    text === '' ? [] : text.split(rowEnd).map((row) => row.replace(/\n$/, '').split(cellEnd))
  return {
    rows: (sql) => split(ask(sql, ['-At', ...cells]).replace(/\n$/, '')),
    names: (sql) => split(ask(sql, ['-A', '-P', 'footer=off', ...cells]))[0] ?? [],
  }
}

async function start(
  bin: string,
): Promise<{ psql: (sql: string, more?: readonly string[]) => string; stop: () => Promise<void> }> {
  const data = mkdtempSync(join(tmpdir(), 'proofstream-postgres-'))
  if (isRoot) chownSync(data, Number(owner), Number(owner))
  const asOwner = isRoot ? ['setpriv', `--reuid=${owner}`, '--clear-groups'] : []
  const run = (...command: string[]): string => {
    const [program = '', ...rest] = [...asOwner, ...command]
    return execFileSync(program, rest, { cwd: data, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  run(join(bin, 'initdb'), '-D', data, '-U', user, '--auth=trust', '--no-sync', '--locale=C', '-E', 'UTF8')
  const options = ['-D', data, '-k', data, '-c', 'listen_addresses=']
  const [program, ...rest] = [...asOwner, join(bin, 'postgres'), ...options]
  const child = spawn(program ?? '', rest, { stdio: 'ignore', cwd: data })
  const psql = (sql: string, more: readonly string[] = []): string =>
    run(join(bin, 'psql'), '-h', data, '-U', user, '-d', 'postgres', '-qX', '-v', 'ON_ERROR_STOP=1', ...more, '-c', sql)
  await until('the server answers', () => {
    try {
      return psql('select 1')
    } catch {
      return undefined
    }
  })
  return {
    psql,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGQUIT')
      await ended
      rmSync(data, { recursive: true, force: true })
    },
  }
}
