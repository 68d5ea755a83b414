// A replica of a node in the test's process, and a proxy between the two that cuts, delays, damages and replays.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../src/app/config.ts'
import { type RunningNode, startNode } from '../../../src/app/node.ts'
import { type Answer, type Call, send } from '../../helpers/live-node.ts'
import { type Tuning, tuned } from '../../helpers/tuning.ts'

export interface Replica {
  readonly node: RunningNode
  readonly dataDir: string
  call(path: string, call?: Call): Promise<Answer>
  query(sql: string, more?: object): Promise<Answer>
  /** The head of a dataset; undefined while there is none. */
  head(alias: string): Promise<string | undefined>
  /** Stops it; the directory stays. */
  stop(): Promise<void>
  remove(): Promise<void>
}

/** Starts a replica of the node at `url`; over the directory of an earlier one, if that is named. */
export async function startReplica(
  url: string,
  options: Readonly<Record<string, unknown>> = {},
  dataDir?: string,
  tuning: Tuning = {},
): Promise<Replica> {
  const data = dataDir ?? (await mkdtemp(join(tmpdir(), 'proofstream-follower-')))
  const config = { data, store: url, roles: 'replica', follow: '*', listen: '127.0.0.1:0', 'log-level': 'silent' }
  const node = await startNode(tuned(loadConfig({ ...config, ...options }), tuning))
  const token = (await readFile(node.tokenFile, 'utf8')).trim()
  const call = (path: string, asked: Call = {}): Promise<Answer> =>
    send(node.url, path, {
      ...asked,
      headers: {
        ...(asked.token === null ? {} : { authorization: `Bearer ${asked.token ?? token}` }),
        ...asked.headers,
      },
    })
  return {
    node,
    dataDir: data,
    call,
    query: (query, more = {}) =>
      call('/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, ...more }),
      }),
    head: async (alias) => {
      const answer = await call(`/${alias}/refs/head`)
      return answer.status === 200 ? answer.text : undefined
    },
    stop: () => node.stop(),
    remove: async () => {
      await node.stop()
      await rm(data, { recursive: true, force: true })
    },
  }
}

/** What a proxy does with one request; undefined passes it on. */
export type Interference = (
  asked: IncomingMessage,
  answer: ServerResponse,
) => 'cut' | 'damage' | { readonly status: number; readonly body: string } | { readonly delayMs: number } | undefined

export interface Proxy {
  readonly url: string
  readonly paths: string[]
  interfere: Interference
  /** Passes on to another node from now on; connections are cut. */
  turnTo(url: string): Promise<void>
  close(): Promise<void>
}

/** A proxy to the node at `target`. */
export async function startProxy(target: string): Promise<Proxy> {
  const state: { interfere: Interference; target: string } = { interfere: () => undefined, target }
  const paths: string[] = []
  const server = createServer((asked, answer) => {
    paths.push(asked.url ?? '')
    const done = state.interfere(asked, answer)
    if (typeof done === 'object' && 'status' in done) {
      answer.writeHead(done.status, { 'content-type': 'text/plain' }).end(done.body)
      return
    }
    const forward = (): void => {
      const onward = request(
        new URL(asked.url ?? '/', state.target),
        { method: asked.method ?? 'GET', headers: { ...asked.headers, host: new URL(state.target).host } },
        (from) => {
          const chunks: Buffer[] = []
          from.on('data', (chunk: Buffer) => chunks.push(chunk))
          from.on('end', () => {
            const body = Buffer.concat(chunks)
            if (done === 'damage') body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1)
            const { 'transfer-encoding': _, ...headers } = from.headers
            answer.writeHead(from.statusCode ?? 502, { ...headers, 'content-length': body.length })
            if (done !== 'cut') answer.end(body)
            else answer.write(body.subarray(0, body.length >> 1), () => answer.destroy())
          })
          from.on('error', () => answer.destroy())
        },
      )
      onward.on('error', () => answer.destroy())
      answer.on('close', () => onward.destroy())
      asked.pipe(onward)
    }
    if (typeof done === 'object') setTimeout(forward, done.delayMs)
    else forward()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    get interfere() {
      return state.interfere
    },
    set interfere(next) {
      state.interfere = next
    },
    turnTo: async (url) => {
      state.target = url
      server.closeAllConnections()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
