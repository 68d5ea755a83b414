// A node in a memory cgroup, and what callers of it are told.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import type { MemoryCgroup } from './memory-cgroup.ts'
import { programPath, type ServedNode, serveNode } from './run-node.ts'

export interface Body {
  readonly type: string
  readonly bytes: Uint8Array
}

/** A node in its cgroup, over the same directory when it is started again. */
export class SmallNode {
  readonly group: MemoryCgroup
  readonly #dir: string
  #node: ServedNode | undefined
  #token = ''
  #posts = 0

  constructor(group: MemoryCgroup, dir: string) {
    this.group = group
    this.#dir = dir
  }

  /** `program` is what comes before its arguments. */
  async start(program: readonly string[] = [programPath]): Promise<void> {
    const [file = '', ...before] = this.group.command
    this.#node = await serveNode(this.#dir, [], {}, [...before, process.execPath, ...program], file)
    this.#token = (await readFile(join(this.#dir, 'token'), 'utf8')).trim()
  }

  async environment(): Promise<readonly string[]> {
    return (await readFile(`/proc/${this.#node?.pid}/environ`, 'utf8')).split('\0')
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#node?.end(signal)
  }

  /** Status and kind of the error, after as many tries as Retry-After asks for where `repeats`. */
  async post(
    path: string,
    { type, bytes }: Body,
    more: { repeats?: boolean; anonymous?: boolean } = {},
  ): Promise<string> {
    for (;;) {
      const response = await fetch(this.#node?.url + path, {
        method: 'POST',
        body: gzipSync(bytes, { level: 1 }),
        headers: {
          'content-type': type,
          'content-encoding': 'gzip',
          prefer: 'respond-async',
          ...(more.anonymous === true ? {} : { authorization: `Bearer ${this.#token}` }),
        },
      })
      const text = await response.text()
      const waitSeconds = Number(response.headers.get('retry-after') ?? 0)
      const isBusy = response.status === 503 || response.status === 429
      if (isBusy && !(waitSeconds > 0)) return `${response.status} without Retry-After`
      if (!isBusy || more.repeats !== true) {
        const kind = /"kind":"(\w+)"/.exec(text)?.[1]
        return response.ok ? 'taken' : `${response.status} ${kind}`
      }
      await new Promise((resolve) => setTimeout(resolve, 1000 * waitSeconds))
    }
  }

  ingest(dataset: string, body: Body, repeats = false): Promise<string> {
    return this.post(`/a/${dataset}/ingest?create=true`, body, { repeats })
  }

  /** What a second caller is told, who sends a row and asks a query. */
  async second(): Promise<readonly string[]> {
    const bytes = utf8(`{"n":${this.#posts++}}`)
    const query = utf8('{"query":"select 1 as one"}')
    return [
      await this.ingest('second', { type: 'application/x-ndjson', bytes }),
      await this.post('/query', { type: 'application/json', bytes: query }),
    ]
  }

  /** What `GET /limits` says, by name. */
  async limits(): Promise<Readonly<Record<string, number>>> {
    const response = await fetch(`${this.#node?.url}/limits`, { headers: { authorization: `Bearer ${this.#token}` } })
    const { limits } = (await response.json()) as { limits: Readonly<Record<string, { value: number }>> }
    return Object.fromEntries(Object.entries(limits).map(([name, { value }]) => [name, value]))
  }

  /** Rows of a dataset that are in blocks. */
  async rows(dataset: string): Promise<number> {
    const response = await fetch(`${this.#node?.url}/query`, {
      method: 'POST',
      body: JSON.stringify({ query: `select count(*) as n from "a/${dataset}"` }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
    })
    return Number(/"data":\[\[(\d+)\]\]/.exec(await response.text())?.[1])
  }
}
