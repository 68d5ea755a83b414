// A PostgreSQL cluster that is thrown away, to measure a node beside: each INSERT is on the disk before it is answered
// (`fsync` and `synchronous_commit` on), over a Unix socket. pgbench is its load: a prepared INSERT of one row, over and over.
// Needs initdb, postgres, psql and pgbench, as Debian's package `postgresql` has them.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { canPin, fail, makeDataDir, pinned, pinnedToLoad, treeMicros } from './machine.ts'
import { median } from './measure.ts'

export interface PostgresLoad {
  readonly perSecond: number
  readonly p50Ms: number
  /** Of all its processes, for an INSERT. */
  readonly microsPerRow: number
}

export interface Postgres {
  load(connections: number, seconds: number): PostgresLoad
  stop(): Promise<void>
}

const tools = ['initdb', 'postgres', 'psql', 'pgbench']
const user = 'bench'
const startMs = 30_000
const table =
  'create table t (system_time timestamptz default now(), device text, temp float8, k bigint, at timestamptz)'
const insert = "insert into t (device, temp, k, at) values ('d-17', 21.5, 12345, '2026-03-01T10:00:00Z')"

/** Directory of the newest version that has all tools. */
function home(): string | undefined {
  const debian = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]))
  const places = [...debian, ...(process.env['PATH'] ?? '').split(':')]
  return places.find((place) => tools.every((tool) => existsSync(join(place, tool))))
}

/** What is missing on this machine, or undefined. */
export function missingPostgres(): string | undefined {
  if (home() === undefined) return tools.join(', ')
  return isRoot && owner() === undefined ? 'a user `postgres` or `nobody`, or setpriv' : undefined
}

const isRoot = process.getuid?.() === 0

/** PostgreSQL refuses to run as root. */
function owner(): { readonly uid: number; readonly gid: number } | undefined {
  if (spawnSync('setpriv', ['--version']).status !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = ['postgres:', 'nobody:'].map((name) => users.find((one) => one.startsWith(name))).find(Boolean)
  const [, , uid, gid] = line?.split(':') ?? []
  return line === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

function asOwner(command: readonly string[]): string[] {
  const other = isRoot ? owner() : undefined
  if (other === undefined) return [...command]
  return ['setpriv', `--reuid=${other.uid}`, `--regid=${other.gid}`, '--clear-groups', ...command]
}

function run(command: readonly string[], cwd: string): string {
  const [program = '', ...args] = command
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** A server on the servers' core; `pgbench` runs on the core of the load. */
export async function startPostgres(): Promise<Postgres> {
  const bin = home() ?? fail('PostgreSQL', 'not found')
  const [data, work] = [makeDataDir(), makeDataDir()]
  const other = isRoot ? owner() : undefined
  if (other !== undefined) chownSync(data, other.uid, other.gid)
  run(asOwner([join(bin, 'initdb'), '-D', data, '-U', user, '--auth=trust', '--no-sync', '--locale=C']), data)
  const settings = ['listen_addresses=', 'fsync=on', 'synchronous_commit=on'].flatMap((one) => ['-c', one])
  const server = asOwner([join(bin, 'postgres'), '-D', data, '-k', data, ...settings])
  const [command = '', ...args] = canPin ? pinned(server) : server
  const child = spawn(command, args, { stdio: 'ignore', cwd: data })
  const ended = once(child, 'exit')
  // At once, and without what SIGKILL would leave behind.
  const kill = (): void => void child.kill('SIGQUIT')
  process.once('exit', kill)
  const psql = [join(bin, 'psql'), '-h', data, '-U', user, '-d', 'postgres', '-qc']
  await untilReady(() => run([...psql, 'select 1'], work))
  run([...psql, table], work)
  return {
    load: (connections, seconds) => {
      const before = allMicros(child.pid ?? 0)
      const { rows, ...result } = pgbench(bin, data, work, connections, seconds)
      return { ...result, microsPerRow: (allMicros(child.pid ?? 0) - before) / rows }
    },
    stop: async () => {
      process.off('exit', kill)
      kill()
      await ended
      for (const directory of [data, work]) rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function untilReady(ask: () => unknown): Promise<void> {
  for (const beganMs = performance.now(); ; await sleep(100)) {
    try {
      ask()
      return
    } catch (error) {
      if (performance.now() - beganMs > startMs) throw error
    }
  }
}

function pgbench(
  bin: string,
  socket: string,
  work: string,
  connections: number,
  seconds: number,
): { readonly perSecond: number; readonly p50Ms: number; readonly rows: number } {
  const script = join(work, 'insert.sql')
  writeFileSync(script, `${insert};\n`)
  const options = ['-n', '-M', 'prepared', '-j', '1', '-l', '-c', String(connections), '-T', String(seconds)]
  const command = [join(bin, 'pgbench'), '-h', socket, '-U', user, ...options, '-f', script, 'postgres']
  const text = run(canPin ? pinnedToLoad(command) : command, work)
  const logs = readdirSync(work).filter((name) => name.startsWith('pgbench_log'))
  // client, transaction, microseconds, and more
  const lines = logs.flatMap((name) => readFileSync(join(work, name), 'utf8').trimEnd().split('\n'))
  for (const name of logs) rmSync(join(work, name))
  const perSecond = Number(/^tps = (\S+)/m.exec(text)?.[1] ?? fail('pgbench', text))
  return { perSecond, p50Ms: median(lines.map((line) => Number(line.split(' ')[2]))) / 1000, rows: lines.length }
}

/** CPU of the server and of all its processes, also of those that have ended: each connection is one. */
function allMicros(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [userTicks = 0, systemTicks = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number)
  return treeMicros(pid) + (userTicks + systemTicks) * 10_000
}
