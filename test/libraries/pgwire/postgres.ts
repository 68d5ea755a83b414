// A PostgreSQL server that judges: what it prints for the same values, and whether it takes ours. Without one on the machine the
// tests that ask it are skipped, and say so.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { until } from '../../helpers/until.ts'

export interface Postgres {
  /** What psql prints of a command, with `input` on its standard input. */
  run(sql: string, input?: Uint8Array): Buffer
  /** The messages RowDescription and DataRow that it answers a statement with, as they are. */
  messages(sql: string, form: 'text' | 'binary'): Promise<Buffer>
  stop(): Promise<void>
}

const binaries = globSync('/usr/lib/postgresql/*/bin').find((place) => existsSync(join(place, 'initdb')))
const isRoot = process.getuid?.() === 0
/** PostgreSQL refuses to run as root. */
const owner = isRoot ? /^postgres:[^:]*:(\d+):(\d+)/m.exec(readFileSync('/etc/passwd', 'utf8')) : null
const canStart = binaries !== undefined && (!isRoot || (owner !== null && spawnSync('setpriv', ['-V']).status === 0))

export const hasPostgres = canStart
export const psqlPath = join(binaries ?? '', 'psql')
if (!canStart) console.error('skipped: there is no PostgreSQL on this machine that tests could start')

/** A server of its own, in UTC, on a socket in a directory that goes with it. */
export async function startPostgres(): Promise<Postgres> {
  const bin = binaries ?? ''
  const data = mkdtempSync('/tmp/pg-')
  if (owner !== null) chownSync(data, Number(owner[1]), Number(owner[2]))
  const asOwner = (program: string, args: readonly string[]): [string, string[]] =>
    owner === null
      ? [program, [...args]]
      : ['setpriv', [`--reuid=${owner[1]}`, `--regid=${owner[2]}`, '--clear-groups', program, ...args]]
  const places = ['-D', data, '-U', 'judge', '--auth=trust', '--no-sync', '--locale=C.UTF-8', '--encoding=UTF8']
  execFileSync(...asOwner(join(bin, 'initdb'), places), { cwd: data, stdio: 'pipe' })
  const settings = ['listen_addresses=', 'fsync=off', 'timezone=UTC'].flatMap((one) => ['-c', one])
  const server = asOwner(join(bin, 'postgres'), ['-D', data, '-k', data, ...settings])
  const child = spawn(...server, { cwd: data, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const psql = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', data, '-U', 'judge', '-d', 'postgres', '-c']
  const run: Postgres['run'] = (sql, input = new Uint8Array(0)) =>
    execFileSync(psqlPath, [...psql, sql], { input, maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'pipe'] })
  await until('PostgreSQL answers', () => spawnSync(psqlPath, [...psql, 'select 1']).status === 0)
  return {
    run,
    messages: (sql, form) => messagesOf(join(data, '.s.PGSQL.5432'), sql, form),
    stop: async () => {
      child.kill('SIGQUIT')
      await ended
      rmSync(data, { recursive: true, force: true })
    },
  }
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`)
const int16 = (value: number): Buffer => Buffer.of(value >> 8, value)
const int32 = (value: number): Buffer => Buffer.of(value >> 24, value >> 16, value >> 8, value)

function message(kind: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body])
}

async function messagesOf(path: string, sql: string, form: 'text' | 'binary'): Promise<Buffer> {
  const socket = connect(path)
  socket.write(message('', int32(196_608), text('user'), text('judge'), text('database'), text('postgres'), text('')))
  socket.write(message('P', text(''), text(sql), int16(0)))
  const formats = Buffer.concat([int16(1), int16(form === 'binary' ? 1 : 0)])
  socket.write(message('B', text(''), text(''), int16(0), int16(0), formats))
  socket.write(message('D', Buffer.from('P'), text('')))
  socket.write(message('E', text(''), int32(0)))
  socket.write(message('S'))
  socket.write(message('X'))
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  const all = Buffer.concat(chunks)
  const wanted: Buffer[] = []
  for (let at = 0; at < all.length;) {
    const kind = all.toString('latin1', at, at + 1)
    const end = at + 1 + all.readInt32BE(at + 1)
    if (kind === 'E') throw new Error(all.toString('utf8', at + 5, end))
    if (kind === 'T' || kind === 'D') wanted.push(all.subarray(at, end))
    at = end
  }
  return Buffer.concat(wanted)
}
