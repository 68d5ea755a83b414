// A node that cannot start says why and ends, with its exit code, whatever it had opened by then.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockDirectory } from '../../src/node/machine/disk/directory-lock.ts'
import { type Finished, runCommand } from '../helpers/run-node.ts'

/** One that has not ended by itself after so long is ended, and then has no exit code. */
const patienceMs = 120_000

/** Takes connections and says nothing. */
let silent: Server
let silentPort = 0
/** Answers 403, as a bucket to those without a right. */
let refusing: HttpServer
let refusingPort = 0

beforeAll(async () => {
  silent = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve))
  silentPort = (silent.address() as { port: number }).port // a TCP address
  refusing = createHttpServer((_request, response) => response.writeHead(403).end())
  await new Promise<void>((resolve) => void refusing.listen(0, '127.0.0.1', resolve))
  refusingPort = (refusing.address() as { port: number }).port // a TCP address
})

afterAll(() => {
  silent.close()
  refusing.closeAllConnections()
  refusing.close()
})

interface Fault {
  /** Breaks the data directory; more arguments. */
  readonly make: (dataDir: string) => Promise<readonly string[]>
  readonly env?: Readonly<Record<string, string>>
  readonly code: number
  readonly says: RegExp
}

const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
const bucket = (port: number): readonly string[] => [`--store=s3://rows/here?endpoint=http://127.0.0.1:${port}`]

/** Node where the package for buckets is not installed. */
const hidden = `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    next(name === '@aws-sdk/client-s3' ? '@aws-sdk/client-that-is-not-here' : name, context),
})`

async function withFile(path: string, text: string): Promise<readonly string[]> {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  return []
}

const faults: Readonly<Record<string, Fault>> = {
  'a port that is taken': {
    make: async () => ['--listen', `127.0.0.1:${silentPort}`],
    code: 9,
    says: /in use/i,
  },
  'an address of another machine': {
    make: async () => ['--listen', '203.0.113.7:0'],
    code: 9,
    says: /203\.0\.113\.7/,
  },
  'a name that nobody has': {
    make: async () => ['--listen', 'nobody.invalid:0'],
    code: 9,
    says: /nobody\.invalid/,
  },
  'a key file that holds no key': {
    make: (dataDir) => withFile(join(dataDir, 'keys', 'node.json'), '{"kty":"OKP"}'),
    code: 2,
    says: /holds no node key/,
  },
  'a directory in place of the key file': {
    make: async (dataDir) => {
      await mkdir(join(dataDir, 'keys', 'node.json'), { recursive: true })
      return []
    },
    code: 9,
    says: /directory/i,
  },
  'a log that another process has': {
    make: async (dataDir) => {
      await mkdir(join(dataDir, 'log'), { recursive: true })
      afterAll(lockDirectory(join(dataDir, 'log')))
      return []
    },
    code: 9,
    says: /in use by process/,
  },
  'a cache that another process has': {
    make: async (dataDir) => {
      await mkdir(join(dataDir, 'cache'), { recursive: true })
      afterAll(lockDirectory(join(dataDir, 'cache'), 'cache'))
      return []
    },
    code: 9,
    says: /in use by process/,
  },
  'a file in place of the log': {
    make: (dataDir) => withFile(join(dataDir, 'log'), 'no directory'),
    code: 9,
    says: /log/,
  },
  'a lock that is no database': {
    make: (dataDir) => withFile(join(dataDir, 'log', 'lock'), 'x'.repeat(8_192)),
    code: 9,
    says: /log/,
  },
  'a file in place of the store': {
    make: (dataDir) => withFile(join(dataDir, 'store'), 'no directory'),
    code: 9,
    says: /store/,
  },
  'a bucket that is not open to this node': {
    make: async () => bucket(refusingPort),
    code: 6,
    says: /403|credentials/i,
  },
  'a bucket without the package for it': {
    make: async () => bucket(refusingPort),
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hidden)}` },
    code: 2,
    says: /^error: A store in a bucket needs the package @aws-sdk\/client-s3.*\n.*npm install @aws-sdk\/client-s3/,
  },
  'a route that means nothing': {
    make: async () => ['--mqtt', `tcp://127.0.0.1:${silentPort}`, '--mqtt-route', 't=a/b?dryRun=true'],
    code: 2,
    says: /dryRun/,
  },
}

test.each(Object.entries(faults))('%s', async (_name, { make, env, code, says }) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-fault-'))
  const more = await make(dataDir)
  const listen = more.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']
  const ended: Finished = await runCommand(['serve', '--data', dataDir, ...listen, ...more], {
    env: { ...keys, ...env },
    onStart: (child) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      child.once('exit', () => clearTimeout(timer))
    },
  })
  expect({ code: ended.code, signal: ended.signal, stdout: ended.stdout }).toEqual({ code, signal: null, stdout: '' })
  expect(ended.stderr).toMatch(/^error: /m)
  expect(ended.stderr).toMatch(says)
})
