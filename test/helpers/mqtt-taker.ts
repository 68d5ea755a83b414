// A node that takes messages of an MQTT broker, in a process of its own: it can be killed and started again.

import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'
import { hasMosquitto, Mosquitto } from './mosquitto.ts'
import { type ServedNode, serveNode } from './run-node.ts'

if (!hasMosquitto) {
  if (process.env['CI'] === 'true') throw new Error('The MQTT tests need mosquitto: apt-get install mosquitto.')
  console.warn('THE MQTT TESTS DID NOT RUN: they need mosquitto (apt-get install mosquitto).')
}

/** A broker for the test that runs. */
export async function brokerOf(settings: readonly string[] = [], listener: readonly string[] = []): Promise<Mosquitto> {
  const broker = await Mosquitto.start(settings, listener)
  onTestFinished(() => broker.stop('SIGKILL'))
  return broker
}

/** A node over a directory that stays when it ends. */
export class Taker {
  readonly dataDir: string
  readonly #args: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  #node: ServedNode | undefined

  private constructor(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.dataDir = dataDir
    this.#args = args
    this.#env = env
  }

  /** Starts it; it has its subscriptions when this resolves. */
  static async start(url: string, routes: readonly string[], args: readonly string[] = [], env = {}): Promise<Taker> {
    const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-mqtt-'))
    const options = ['--mqtt', url, '--mqtt-route', routes.join(','), '--cut-interval', '1ms', ...args]
    const taker = new Taker(dataDir, options, env)
    onTestFinished(() => taker.end('SIGKILL'))
    await taker.restart()
    await until('all routes are connected', async () => (await taker.metric('connected_routes')) === routes.length)
    return taker
  }

  async restart(): Promise<void> {
    this.#node = await serveNode(this.dataDir, this.#args, this.#env)
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#node?.end(signal)
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.#fetch('/metrics')).text()
    return Number(new RegExp(`^proofstream_mqtt_${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  async query(sql: string): Promise<unknown[][]> {
    const answer = await this.#fetch('/query', { method: 'POST', body: JSON.stringify({ query: sql }) })
    const body = (await answer.json()) as { output?: { data: unknown[][] } }
    return body.output?.data ?? []
  }

  /** Waits until a statement gives this. */
  async becomes(sql: string, rows: unknown): Promise<void> {
    let last: unknown
    await until(`${sql} gives ${JSON.stringify(rows)}`, async () => {
      last = await this.query(sql)
      return JSON.stringify(last) === JSON.stringify(rows)
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it gave ${JSON.stringify(last)}`)
    })
  }

  async #fetch(path: string, more: RequestInit = {}): Promise<Response> {
    const token = (await readFile(join(this.dataDir, 'token'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return fetch(`${this.#node?.url}${path}`, { headers, ...more })
  }
}
