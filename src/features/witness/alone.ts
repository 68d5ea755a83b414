// A witness alone: one process over one directory, without a node. Its submission prefix and its monitoring prefix are `/`. What
// it holds for others is bounded: connections, requests, bytes and the time of each. Source: https://c2sp.org/tlog-witness

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { systemClock as clock } from '../../libraries/base/clock.ts'
import { assert } from '../../libraries/base/assert.ts'
import { errorTable } from '../../libraries/base/error-table.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { hostAndPort } from '../../libraries/base/loopback.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { isKeyName } from '../../libraries/ledger/verifier-key.ts'
import { lockDirectory } from '../../node/machine/disk/directory-lock.ts'
import { makeDurableDirectory } from '../../node/machine/disk/files.ts'
import { createLogger } from '../../node/machine/ops/logger.ts'
import { openDirectoryStore } from '../../node/store/directory/directory-store.ts'
import { dataPaths } from '../../node/store/layout.ts'
import { readPolicy } from '../ledger/policy-file.ts'
import { demandLength, notCosigned, readBody, Witness } from './witness.ts'
import { ensureWitnessKey } from './witness-key.ts'

/** A request is short: a client that takes longer, or keeps still for as long, loses its connection. */
const requestMs = 15_000
const connectionsMost = 512
/** Requests that have arrived and are answered at once. */
const requestsMost = 64

export interface AloneOptions {
  /** File of a policy: its `log` lines are the ledgers. */
  readonly policy: string
  readonly data: string
  /** Name of its key. */
  readonly name: string
  /** `host:port`. */
  readonly listen: string
}

export interface RunningWitness {
  readonly url: string
  /** Its public key, as a policy has it. */
  readonly key: string
  readonly ledgers: number
  /** Resolves when nothing can be stored any more; the error says why. */
  readonly failed: Promise<unknown>
  /** Finishes what is in flight and closes everything. */
  stop(): Promise<void>
}

/** Starts a witness; it answers when this resolves. Throws NodeErrors `InvalidParameter`, `LogUnavailable`. */
export async function startWitness({ policy, data, name, listen }: AloneOptions): Promise<RunningWitness> {
  const address = hostAndPort(listen)
  if (address === undefined) throw invalid(`The address to listen on is '${listen}'; expected host:port.`)
  if (!isKeyName(name)) throw invalid(`The name is '${name}'; it has no white space and no plus.`)
  const keys = (await readPolicy(policy)).logs.map(({ key }) => key)
  if (keys.length === 0) throw invalid(`The policy ${policy} names no ledger: it has no log line.`)
  const logger = createLogger('info')
  const paths = dataPaths(data)
  for (const directory of [data, paths.keys, paths.cache]) await makeDurableDirectory(directory)
  const unlock = lockDirectory(paths.cache, 'cache')
  let onFailure: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    onFailure = resolve
  })
  const store = await openDirectoryStore(paths.store, undefined, (error) => onFailure(error))
  const signer = await ensureWitnessKey(paths.witnessKey, store)
  const witness = new Witness({ store, clock, logger, name, signer, logs: keys })
  const server = serverOf(new Answers(witness, logger))
  server.listen(address.port, address.host)
  await once(server, 'listening')
  const bound = server.address()
  assert(typeof bound === 'object' && bound !== null, 'the server listens on a port')
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${bound.port}`,
    key: witness.key,
    ledgers: keys.length,
    failed,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      await closed
      await store.close()
      unlock()
    },
  }
}

function invalid(message: string): NodeError {
  return new NodeError('InvalidParameter', message, { hint: 'proofstream ledger witness --help' })
}

function serverOf(answers: Answers): Server {
  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      keepAliveTimeout: requestMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 8_192,
    },
    (request, response) => void answers.send(request, response),
  )
  boundConnections(server, connectionsMost)
  // Of a connection on which nothing moves, also of one that takes no answer.
  server.timeout = requestMs
  return server
}

/** Where more than `most` are open, the oldest goes of the address that has most of them, so that it keeps nobody else out. */
export function boundConnections(server: Server, most: number): void {
  const byAddress = new Map<string, Set<Socket>>()
  let count = 0
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    const own = byAddress.get(remoteAddress) ?? new Set<Socket>()
    byAddress.set(remoteAddress, own.add(socket))
    count++
    socket.once('close', () => {
      count--
      own.delete(socket)
      if (own.size === 0) byAddress.delete(remoteAddress)
    })
    if (count <= most) return
    const [oldest] = [...byAddress.values()].reduce((one, other) => (other.size > one.size ? other : one))
    oldest?.destroy()
  })
}

class Answers {
  readonly #witness: Witness
  readonly #logger: Logger
  #open = 0

  constructor(witness: Witness, logger: Logger) {
    this.#witness = witness
    this.#logger = logger
  }

  async send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { status, mediaType, body } = await this.#answer(request)
      response.writeHead(status, headers(mediaType, body)).end(request.method === 'HEAD' ? undefined : body)
    } catch (error) {
      this.#refuse(error, request, response)
    }
  }

  /** Bodies that are still coming count as connections only, so that slow ones keep nobody out. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#open >= requestsMost) throw new NodeError('Saturated', 'This witness is busy.')
    this.#open++
    try {
      return await work()
    } finally {
      this.#open--
    }
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; mediaType: string; body: Uint8Array }> {
    const { method = '', url = '' } = request
    const isReading = method === 'GET' || method === 'HEAD'
    if (url === '/add-checkpoint') {
      if (method !== 'POST') throw new NodeError('MethodNotAllowed', 'Heads are sent with POST.')
      demandLength(request.headers['content-length'])
      const body = await readBody(request.iterator({ destroyOnReturn: false }))
      return await this.#inTurn(() => this.#witness.addCheckpoint(body))
    }
    const [, origin] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(url) ?? []
    if (origin === undefined || !isReading) {
      throw new NodeError('RouteNotFound', 'A witness has /add-checkpoint and /<hash of an origin>/checkpoint.')
    }
    const body = await this.#inTurn(() => this.#witness.head(origin))
    if (body === undefined) throw notCosigned(origin)
    return { status: 200, mediaType: 'text/plain; charset=utf-8', body }
  }

  #refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent || response.destroyed) return void response.destroy()
    if (!(error instanceof NodeError)) this.#logger.error({ err: error }, 'A request could not be answered')
    const kind = error instanceof NodeError ? error.kind : 'Internal'
    // Others are not told what lies where here.
    const isOurs = kind === 'Internal' || kind === 'StoreUnavailable'
    const { status, title } = errorTable[kind]
    const body = utf8(`${isOurs || !(error instanceof Error) ? `${title}.` : error.message}\n`)
    const more = status === 503 ? { 'retry-after': '1' } : {}
    response.writeHead(status, { ...headers('text/plain; charset=utf-8', body), ...more }).end(body)
    // What still comes of it is thrown away: a connection that is closed before might lose the answer.
    request.resume()
  }
}

function headers(mediaType: string, body: Uint8Array): Record<string, string | number> {
  return {
    'content-type': mediaType,
    'content-length': body.length,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    // Heads are for everybody, pages of others too.
    'access-control-allow-origin': '*',
  }
}
