// A QuestDB server as a process of its own, from Maven Central, to measure a node beside. Rows go in as line protocol over
// HTTP (https://questdb.com/docs/reference/api/ilp/overview/), and are readable when its writer has applied them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../test/helpers/kafka-broker.ts'
import { mavenJars, missingJava, missingMaven } from '../test/helpers/maven-jars.ts'
import type { LoadOrder } from './load.ts'
import { canPin, fail, makeDataDir, pinned } from './machine.ts'

/** `nosync`, its default: what it has answered to lies in the page cache; `sync`: on the disk, as with a node. */
export type CommitMode = 'nosync' | 'sync'

export interface QuestDb {
  readonly pid: number
  /** One row a request, or several. */
  write(lines: string): LoadOrder
  /** Sends a file of lines in one request; resolves when that is answered. */
  upload(path: string): Promise<void>
  /** Resolves with the rows of `table` when all that was answered can be read. */
  readable(table: string): Promise<number>
  stop(): Promise<void>
}

/** What is missing on this machine, or undefined. */
export function missingQuestDbTools(): string | undefined {
  return missingJava() ?? missingMaven()
}

const startMs = 60_000
const readableMs = 120_000
const pollMs = 20
const pom = fileURLToPath(new URL('./questdb/pom.xml', import.meta.url))

export async function startQuestDb(mode: CommitMode, options: { readonly pinned: boolean }): Promise<QuestDb> {
  const directory = makeDataDir()
  const [port = 0] = await freePorts(1)
  const java = [
    'java',
    '-cp',
    join(await mavenJars(pom, 'questdb'), '*'),
    'io.questdb.ServerMain',
    '-d',
    directory,
    '-n',
  ]
  // From its start: the threads that it has are those of the cores that it finds.
  const [command = '', ...args] = options.pinned && canPin ? pinned(java) : java
  const child = spawn(command, args, {
    stdio: 'ignore',
    env: {
      ...process.env,
      QDB_HTTP_BIND_TO: `127.0.0.1:${port}`,
      QDB_HTTP_MIN_ENABLED: 'false',
      QDB_PG_ENABLED: 'false',
      QDB_LINE_TCP_ENABLED: 'false',
      QDB_TELEMETRY_ENABLED: 'false',
      QDB_CAIRO_COMMIT_MODE: mode,
    },
  })
  const ended = once(child, 'exit')
  // Also where a benchmark fails.
  process.once('exit', () => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const ask = async (sql: string): Promise<unknown> => {
    const answer = await fetch(`${url}/exec?query=${encodeURIComponent(sql)}`)
    const text = await answer.text()
    return answer.status === 200 ? (JSON.parse(text) as { dataset: unknown[][] }).dataset[0]?.[0] : undefined // its answer
  }
  const until = async (what: string, isSo: () => Promise<boolean>, mostMs: number): Promise<void> => {
    for (const beganMs = performance.now(); ; await sleep(pollMs)) {
      if (await isSo().catch(() => false)) return
      if (performance.now() - beganMs > mostMs) fail('QuestDB', `${what} took more than ${mostMs} ms`)
    }
  }
  await until('its start', async () => (await ask('select 1')) === 1, startMs)
  return {
    pid: child.pid ?? 0,
    write: (lines) => ({
      host: '127.0.0.1',
      port,
      request: `POST /write?precision=ms HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${Buffer.byteLength(lines)}\r\n\r\n${lines}`,
      connections: 64,
      warmMs: 2_000,
      measureMs: 3_000,
    }),
    upload: (path) => uploadLines(`${url}/write?precision=ms`, path),
    readable: async (table) => {
      const applied = `select count() from wal_tables() where name = '${table}' and writerTxn = sequencerTxn`
      await until('applying what it has logged', async () => (await ask(applied)) === 1, readableMs)
      return Number(await ask(`select count() from ${table}`))
    },
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function uploadLines(url: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': statSync(path).size }
    const call = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      answer.on('end', () =>
        answer.statusCode === 204 ? resolve() : reject(new Error(`QuestDB answered ${answer.statusCode}`)),
      )
    })
    call.on('error', reject)
    createReadStream(path, { highWaterMark: 256 * 1024 }).pipe(call)
  })
}
