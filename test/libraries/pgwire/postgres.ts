// A PostgreSQL server that judges: what it prints for the same values, and whether it takes ours. Without one on the machine the
// tests that ask it are skipped, and say so.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../helpers/until.ts'

export interface Postgres {
  /** What psql prints of a command, with `input` on its standard input. */
  run(sql: string, input?: Uint8Array): Buffer
  stop(): Promise<void>
}

const binaries = globSync('/usr/lib/postgresql/*/bin').find((place) => existsSync(join(place, 'initdb')))
const isRoot = process.getuid?.() === 0
/** PostgreSQL refuses to run as root. */
const owner = isRoot ? /^postgres:[^:]*:(\d+):(\d+)/m.exec(readFileSync('/etc/passwd', 'utf8')) : null
const canStart = binaries !== undefined && (!isRoot || (owner !== null && spawnSync('setpriv', ['-V']).status === 0))

export const hasPostgres = canStart
if (!canStart) console.error('skipped: there is no PostgreSQL on this machine that tests could start')

/** A server of its own, in UTC, on a socket in a directory that goes with it. */
export async function startPostgres(): Promise<Postgres> {
  const bin = binaries ?? ''
  const data = mkdtempSync('/tmp/pg-')
  if (owner !== null) chownSync(data, Number(owner[1]), Number(owner[2]))
  const asOwner = owner === null ? [] : ['setpriv', `--reuid=${owner[1]}`, `--regid=${owner[2]}`, '--clear-groups']
  const [program = '', ...before] = [...asOwner, join(bin, 'initdb')]
  const places = ['-D', data, '-U', 'judge', '--auth=trust', '--no-sync', '--locale=C.UTF-8', '--encoding=UTF8']
  execFileSync(program, [...before, ...places], { cwd: data, stdio: 'pipe' })
  const settings = ['listen_addresses=', 'fsync=off', 'timezone=UTC'].flatMap((one) => ['-c', one])
  const [server = '', ...rest] = [...asOwner, join(bin, 'postgres'), '-D', data, '-k', data, ...settings]
  const child = spawn(server, rest, { cwd: data, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const psql = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', data, '-U', 'judge', '-d', 'postgres', '-c']
  const run: Postgres['run'] = (sql, input = new Uint8Array(0)) =>
    execFileSync(join(bin, 'psql'), [...psql, sql], { input, maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'pipe'] })
  await until('PostgreSQL answers', () => spawnSync(join(bin, 'psql'), [...psql, 'select 1']).status === 0)
  return {
    run,
    stop: async () => {
      child.kill('SIGQUIT')
      await ended
      rmSync(data, { recursive: true, force: true })
    },
  }
}
