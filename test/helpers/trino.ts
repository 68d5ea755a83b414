// A Trino server for tests (https://trino.io/docs/470/installation/deployment.html), one process with the connector for Iceberg
// alone. Nothing is fetched here, it is 1 GiB: TRINO_HOME names the unpacked archive
// (mvn dependency:get -Dtransitive=false -Dartifact=io.trino:trino-server:470:tar.gz), JAVA_HOME a Java from 23 on.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export const trinoHome = process.env['TRINO_HOME']

const readyLimitMs = 180_000

export interface Trino {
  /** Rows of a statement, as Trino's JSON has them. Throws with the name of Trino's error and its message. */
  ask(sql: string): Promise<readonly (readonly unknown[])[]>
  close(): Promise<void>
}

/** Starts it with these catalogs, each the text of its file. */
export async function startTrino(home: string, catalogs: Readonly<Record<string, string>>): Promise<Trino> {
  const directory = mkdtempSync(join(tmpdir(), 'proofstream-trino-'))
  const url = `http://127.0.0.1:${await freePort()}`
  for (const folder of ['catalog', 'plugin']) mkdirSync(join(directory, folder))
  symlinkSync(join(home, 'plugin', 'iceberg'), join(directory, 'plugin', 'iceberg'))
  for (const [name, text] of Object.entries(catalogs)) {
    writeFileSync(join(directory, 'catalog', `${name}.properties`), text)
  }
  const config = join(directory, 'config.properties')
  const port = new URL(url).port
  const lines = ['coordinator=true', 'node-scheduler.include-coordinator=true', `http-server.http.port=${port}`]
  writeFileSync(config, [...lines, `discovery.uri=${url}`, 'catalog.management=static'].join('\n'))
  const properties = {
    config,
    'node.environment': 'test',
    'node.id': 'test',
    'node.data-dir': join(directory, 'data'),
    'catalog.config-dir': join(directory, 'catalog'),
    'plugin.dir': join(directory, 'plugin'),
  }
  const java = process.env['JAVA_HOME'] === undefined ? 'java' : join(process.env['JAVA_HOME'], 'bin', 'java')
  const flags = ['-Xmx1200M', '--enable-native-access=ALL-UNNAMED', '-cp', join(home, 'lib', '*')]
  const defined = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`)
  const server = spawn(java, [...flags, ...defined, 'io.trino.server.TrinoServer'], { cwd: directory })
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  let said = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000)
    })
  }
  const close = async (): Promise<void> => {
    server.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  const endMs = performance.now() + readyLimitMs
  while (!said.includes('SERVER STARTED')) {
    if (server.exitCode !== null || performance.now() > endMs) {
      await close()
      throw new Error(`Trino did not start:\n${said}`)
    }
    await sleep(200)
  }
  return { ask: (sql) => ask(url, sql), close }
}

interface Page {
  readonly data?: readonly (readonly unknown[])[]
  readonly nextUri?: string
  readonly error?: { readonly errorName: string; readonly message: string }
}

/** Source: https://trino.io/docs/470/develop/client-protocol.html. */
async function ask(url: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const headers = {
    'x-trino-user': 'test',
    'x-trino-time-zone': 'UTC',
    // Without it times are cut to milliseconds.
    'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
  }
  const rows: (readonly unknown[])[] = []
  let answer = await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql })
  for (;;) {
    const page = (await answer.json()) as Page
    if (page.error !== undefined) throw new Error(`${page.error.errorName}: ${page.error.message}`)
    rows.push(...(page.data ?? []))
    if (page.nextUri === undefined) return rows
    answer = await fetch(page.nextUri, { headers })
  }
}
