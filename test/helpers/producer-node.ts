// A node of its own process for a real producer: behind a line that may be bad, over a directory that stays while the node is
// stopped and started, with the configuration that docs/devices.md shows.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'
import { BadLine, type Fate } from './bad-line.ts'
import { type ServedNode, serveNode } from './run-node.ts'

export class ProducerNode {
  /** A directory for the producer, and the node's in it. */
  readonly directory: string
  readonly line: BadLine
  readonly token: string
  #node: ServedNode

  private constructor(directory: string, line: BadLine, { node, token }: { node: ServedNode; token: string }) {
    this.directory = directory
    this.line = line
    this.token = token
    this.#node = node
  }

  /** For the test that runs; `fateOf` is told how many requests came before. */
  static async start(fateOf: (before: number) => Fate = () => 'passed'): Promise<ProducerNode> {
    const directory = await mkdtemp(join(tmpdir(), 'proofstream-producer-'))
    const node = await serveNode(join(directory, 'data'))
    const line = await BadLine.open(node.url, fateOf)
    const token = (await readFile(join(directory, 'data', 'token'), 'utf8')).trim()
    const producerNode = new ProducerNode(directory, line, { node, token })
    onTestFinished(async () => {
      line.close()
      await producerNode.stop('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    })
    return producerNode
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#node.end(signal)
  }

  async restart(): Promise<void> {
    this.#node = await serveNode(join(this.directory, 'data'))
    this.line.target = this.#node.url
  }

  /** A configuration as users are shown it, for this node. */
  configuration(text: string): string {
    return text.replaceAll('http://localhost:8080', this.line.url).replaceAll('TOKEN', this.token)
  }

  async query(sql: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${this.#node.url}/query`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: sql, limit: 10_000 }),
    })
    return ((await answer.json()) as { output?: { data: unknown } }).output?.data
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
}

/** Runs a producer until the test ends; the function that ends it before. What it says is shown where it fails. */
export function runProducer(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): () => Promise<void> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const hear = (chunk: Buffer): string => (said += chunk.toString('utf8'))
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  child.once('error', (error) => (said += String(error)))
  const ended = once(child, 'close').catch(() => {})
  const end = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  onTestFinished(async ({ task }) => {
    await end()
    if (task.result?.state === 'fail') console.error(said.slice(-10_000))
  })
  return end
}
