// A PostgreSQL of its own for a test file, as the judge of what a server says: started from the programs that are installed, over a
// directory that is removed after the tests.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../helpers/free-port.ts'
import { until } from '../../helpers/until.ts'
import * as raw from './raw-client.ts'

interface Programs {
  readonly directory: string
  /** Whose process it is: PostgreSQL does not run as root. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
}

/** Where its programs are; undefined where there are none that may run here. */
export function postgresPrograms(): Programs | undefined {
  const found = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  const directory = found.status === 0 ? found.stdout.trim() : ''
  if (directory === '' || spawnSync(join(directory, 'postgres'), ['--version']).status !== 0) return undefined
  if (process.getuid?.() !== 0) return { directory, user: undefined }
  const idOf = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || Number.NaN)
  const user = { uid: idOf('-u'), gid: idOf('-g') }
  return Number.isNaN(user.uid) ? undefined : { directory, user }
}

export interface PostgresServer {
  readonly port: number
  readonly end: () => Promise<void>
}

/** Starts one that trusts everybody on this computer; its user and its database are `postgres`. */
export async function startPostgres({ directory, user }: Programs): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), 'proofstream-postgres-'))
  if (user !== undefined) chownSync(home, user.uid, user.gid)
  const options = { cwd: home, ...user, env: { ...process.env, LC_ALL: 'C.UTF-8' } }
  const data = join(home, 'data')
  const make = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8']
  execFileSync(join(directory, 'initdb'), make, { ...options, stdio: 'pipe' })
  const port = await freePort()
  const settings = ['fsync=off', 'timezone=UTC', 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  const server = spawn(
    join(directory, 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])],
    {
      ...options,
      stdio: 'ignore',
    },
  )
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()))
  await until(
    'PostgreSQL',
    async () =>
      await raw.RawClient.session(port, { user: 'postgres', database: 'postgres' }).then(
        (client) => client.isOpen,
        () => false,
      ),
  )
  return {
    port,
    end: async () => {
      server.kill('SIGINT')
      await ended
      rmSync(home, { recursive: true, force: true })
    },
  }
}
