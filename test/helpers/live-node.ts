// A real node inside the test's process, on a free port, with a client for it. One node per test file.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { type OpenApiDocument, undocumented } from './openapi-check.ts'
import { type Tuning, tuned } from './tuning.ts'
import { until } from './until.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly trailers: IncomingMessage['trailers']
  readonly bytes: Uint8Array
  readonly text: string
  /** The body read as JSON; undefined when it is none. */
  readonly json: unknown
  /** `404 DatasetNotFound`: status and kind of an error. */
  readonly refusal: string
  /** A member of the JSON body by its path, `errors.0.kind`; undefined where there is none. */
  at(path: string): unknown
}

export interface Call {
  readonly method?: string
  /** Text of a token; `null` sends none. Default: the admin token. */
  readonly token?: string | null
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** Sent as JSON. */
  readonly json?: unknown
  /** Send the body in chunks without Content-Length. */
  readonly chunked?: boolean
}

export interface LiveNode {
  readonly node: RunningNode
  readonly adminToken: string
  readonly dataDir: string
  /** Rejects when the answer is none that the node's own OpenAPI document describes. */
  call(path: string, call?: Call): Promise<Answer>
  /** Posts NDJSON of `rows` and waits for the block. */
  ingest(alias: string, rows: readonly object[], query?: string): Promise<Answer>
  query(sql: string, more?: Readonly<Record<string, unknown>>, call?: Call): Promise<Answer>
  /** Hash of the head, or undefined when there is no such dataset. */
  head(alias: string): Promise<string | undefined>
  /** Sends bytes as they are and returns what comes back until the connection closes. */
  raw(bytes: string): Promise<string>
  stop(): Promise<void>
}

/** As `startLiveNode`, for all tests of a file: stopped after them. */
export async function liveNode(
  options: Readonly<Record<string, unknown>> = {},
  tuning: Tuning = {},
): Promise<LiveNode> {
  const live = await startLiveNode(options, tuning)
  afterAll(() => live.stop())
  return live
}

/** Starts a node with `options` (flags without dashes) over a data directory of its own. Its blocks are never paced. */
export async function startLiveNode(
  options: Readonly<Record<string, unknown>> = {},
  { cut, ...tuning }: Tuning = {},
): Promise<LiveNode> {
  const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-live-'))
  const config = loadConfig({ data: dataDir, listen: '127.0.0.1:0', 'log-level': 'silent', ...options })
  const node = await startNode(tuned(config, { ...tuning, cut: { burstBlocks: 10_000, ...cut } }))
  const adminToken = (await readFile(node.tokenFile, 'utf8')).trim()
  const document = (await send(node.url, '/openapi.json', {})).json as OpenApiDocument
  const call = async (path: string, asked: Call = {}): Promise<Answer> => {
    const answer = await send(node.url, path, withToken(asked, adminToken))
    const fault = undocumented(document, { ...answer, path, method: asked.method ?? 'GET' })
    if (fault !== undefined) throw new Error(fault)
    return answer
  }
  return {
    node,
    adminToken,
    dataDir,
    call,
    ingest: async (alias, rows, query = '') => {
      const answer = await call(`/${alias}/ingest${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30' },
        body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      })
      if (answer.status !== 202) return answer
      return await until('a block', async () => {
        const receipt = await call(String(answer.headers.location))
        return receipt.at('status') === 'accepted' ? undefined : receipt
      })
    },
    query: (sql, more = {}, asked = {}) => call('/query', { method: 'POST', json: { query: sql, ...more }, ...asked }),
    head: async (alias) => {
      const answer = await call(`/${alias}/refs/head`)
      return answer.status === 200 ? answer.text : undefined
    },
    raw: (bytes) => sendRaw(node.url, bytes),
    stop: async () => {
      await node.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function withToken(asked: Call, adminToken: string): Call & { headers: OutgoingHttpHeaders } {
  const token = asked.token === undefined ? adminToken : asked.token
  return {
    ...asked,
    ...(asked.json === undefined ? {} : { body: JSON.stringify(asked.json) }),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(asked.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...asked.headers,
    },
  }
}

/** One HTTP exchange; nothing is added to `call.headers` but what Node must add. */
export function send(url: string, path: string, call: Call): Promise<Answer> {
  const body = typeof call.body === 'string' ? Buffer.from(call.body) : call.body
  const headers: OutgoingHttpHeaders = { ...call.headers }
  if (body !== undefined && call.chunked !== true) headers['content-length'] ??= body.length
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const request = httpRequest(
      { hostname, port, path, method: call.method ?? 'GET', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve(answerOf(response, Buffer.concat(chunks)))
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

function answerOf(response: IncomingMessage, bytes: Buffer): Answer {
  const text = bytes.toString('utf8')
  const json = jsonOf(text)
  const at = (path: string): unknown => path.split('.').reduce<unknown>((value, name) => memberOf(value, name), json)
  const status = response.statusCode ?? 0
  const { headers, trailers } = response
  return { status, headers, trailers, bytes, text, json, at, refusal: `${status} ${String(at('error.kind'))}` }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends bytes over a socket of its own and resolves with all that came back when the peer closes. */
function sendRaw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
}
