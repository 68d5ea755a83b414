// The node as a client sees it: where it is, with which token, and its answers as values or failures. Below that, one
// HTTP exchange over node:http, which streams a body and takes an answer that comes before the body was sent in full;
// and trying again, a bounded number of times and with growing pauses, what may succeed later.

import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { addressText, jsonText, type JsonValue, systemClock } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import { defined, ownValue } from '../libraries/base/collections.ts'
import { isLoopback } from '../libraries/base/loopback.ts'
import type { CommandContext } from './context.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'
import { noNode, readBody, readJson } from './node-answer.ts'
import { ownNodeCheck } from './own-node.ts'
import { type BodyPlace, type HttpAnswer, problemFailure } from './problem.ts'

const defaultServer = 'http://127.0.0.1:8080'

export interface Call {
  readonly method?: string
  /** Absolute path, segments escaped. */
  readonly path: string
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** A value is sent as JSON. */
  readonly json?: JsonValue | Uint8Array
  readonly stream?: Readable
  /** Text of a query, so that a failure can point into it. */
  readonly sql?: string
  /** Where the body begins in what it was cut from. */
  readonly place?: BodyPlace
  /** Send no token. */
  readonly isAnonymous?: boolean
  /** Ends the call. */
  readonly signal?: AbortSignal
  /** Statuses from 300 that are answers like any other. */
  readonly accepts?: readonly number[]
  /** Takes the body of an answer below 400 while it comes; `bytes` of the answer are then none. */
  readonly sink?: Sink
}

/** Resolves when the body was taken whole. What it throws but CommandFailures counts as a lost connection. */
export type Sink = (body: Readable, headers: IncomingHttpHeaders) => Promise<void>

export interface Answer extends HttpAnswer {
  /** The address that answered, `127.0.0.1:8080`. */
  readonly peer: string
  /** The body as a value; number tokens are kept. */
  readonly json: () => JsonValue
}

export interface NodeClient {
  readonly server: string
  /** The token that requests carry. */
  readonly token: string | undefined
  /** Throws CommandFailure for every status from 300 that the call does not accept, and for a node that does not answer. */
  readonly call: (call: Call) => Promise<Answer>
}

/** The node that options and environment name. Throws CommandFailure (usage; a token file that is missing). */
export async function openClient(context: CommandContext): Promise<NodeClient> {
  const text = context.server ?? context.environment.server ?? defaultServer
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (base === undefined || !/^https?:$/.test(base.protocol)) {
    throw new CommandFailure(exitCodes.usage, `'${text}' is not the address of a node.`, {
      hint: `An address is like ${defaultServer}.`,
    })
  }
  const token = await findToken(context, base)
  const authorize = async (call: Call): Promise<Readonly<Record<string, string>>> => {
    if (token === undefined || call.isAnonymous === true) return {}
    await token.check?.()
    return { authorization: `Bearer ${token.text}` }
  }
  return {
    server: base.origin,
    token: token?.text,
    call: async (call) => await callNode(base, await authorize(call), call),
  }
}

interface FoundToken {
  readonly text: string
  /** Throws CommandFailure where the node at the address is not the one whose token this is. */
  readonly check?: () => Promise<void>
}

/** `--token-file`, the environment, and for a node on this machine the token that it left in its data directory. */
async function findToken(context: CommandContext, base: URL): Promise<FoundToken | undefined> {
  const { environment, tokenFile } = context
  if (tokenFile !== undefined) return { text: checkToken((await readFile(tokenFile, 'utf8')).trim(), tokenFile) }
  if (environment.token !== undefined) return { text: checkToken(environment.token.trim(), 'PROOFSTREAM_TOKEN') }
  if (!isLoopback(base.hostname.replace(/^\[(.*)\]$/, '$1'))) return undefined
  const path = join(environment.dataDir, 'token')
  const local = await readFile(path, 'utf8').catch(() => undefined)
  if (local === undefined) return undefined
  const check = ownNodeCheck(base.origin, environment, async (route, query) => {
    const answer = await callNode(base, {}, { path: route, query, accepts: [404] })
    return { body: answer.status === 404 ? undefined : answer.json(), peer: answer.peer }
  })
  return { text: checkToken(local.trim(), path), check }
}

/** A token goes into a header: anything but visible ASCII would be refused there with a worse message. */
function checkToken(token: string, place: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new CommandFailure(exitCodes.usage, `There is no token in ${place}.`)
}

async function callNode(
  base: URL,
  authorization: Readonly<Record<string, string>>,
  call: Call,
  renames = 0,
): Promise<Answer> {
  const url = new URL(base.href.replace(/\/$/, '') + call.path)
  for (const [name, value = []] of Object.entries(call.query ?? {}))
    for (const one of [value].flat()) url.searchParams.append(name, one)
  const bytes =
    call.json === undefined || call.json instanceof Uint8Array ? call.json : Buffer.from(jsonText(call.json))
  const headers = {
    accept: 'application/json',
    'user-agent': 'proofstream-cli',
    ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    ...authorization,
    ...call.headers,
  }
  const options = {
    method: call.method ?? 'GET',
    headers,
    agent: false as const,
    timeout: connectMs,
    ...defined({ signal: call.signal }),
  }
  const answer = await exchange(url, options, { body: call.stream ?? bytes, sink: call.sink })
  if (answer.status === 308) {
    const { location = '' } = answer.headers
    return await callNode(base, authorization, renamedCall(call, { location, renames }), renames + 1)
  }
  // Where another server sends the caller on to, its token does not go.
  const isAnswer = answer.status < 300 || call.accepts?.includes(answer.status) === true
  if (!isAnswer) throw problemFailure(answer, { ...call, server: url.origin })
  return { ...answer, json: () => readJson(answer, url.origin) }
}

/** A node leads to the name of now at once; one more stands for a renaming meanwhile. */
const renamesMost = 2

/** A dataset that has another name now is read under it; what changes something has to say the name that it means. */
function renamedCall(call: Call, { location, renames }: { readonly location: string; readonly renames: number }): Call {
  const [, name] = /^\/([\w.-]+\/[\w.-]+)/.exec(location) ?? []
  const message = `The dataset has another name now: ${cleanText(name ?? location)}.`
  if (name === undefined || renames >= renamesMost || (call.method ?? 'GET') !== 'GET') {
    throw new CommandFailure(exitCodes.notFound, message, { hint: 'Use that name.' })
  }
  note(message)
  return { ...call, path: location, query: {} }
}

/** `/account/dataset` of a name as a person writes it. Throws CommandFailure (usage). */
export function datasetPath(name: string): string {
  const match = /^"?([^/"]+)\/([^/"]+)"?$/.exec(name)
  const [, account = '', dataset = ''] = match ?? []
  if (match === null) {
    throw new CommandFailure(exitCodes.usage, `'${name}' is not a dataset name.`, {
      hint: 'A name is account/dataset, for instance me/lab.',
    })
  }
  return `/${encodeURIComponent(account)}/${encodeURIComponent(dataset)}`
}

const connectMs = 10_000
const idleMs = 300_000

/**
 * Sends a request over a connection of its own. Rejects with a retryable CommandFailure (unreachable) when no answer
 * came; the node may have acted on it unless details.neverConnected. A fault of reading the body's source rejects as it is.
 */
function exchange(
  url: URL,
  options: RequestOptions,
  { body, sink }: { readonly body: Uint8Array | Readable | undefined; readonly sink: Sink | undefined },
): Promise<HttpAnswer & Pick<Answer, 'peer'>> {
  const isSecure = url.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, options)
    let connected = false
    let answered = false
    let peer = ''
    request.on('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        connected = true
        peer = addressText(socket.remoteAddress, socket.remotePort)
        request.setTimeout(idleMs)
      })
    })
    request.on('timeout', () => request.destroy(connectionFailure(url, connected, 'it does not answer')))
    request.on('error', (error) => reject(connectionFailure(url, connected, error)))
    request.on('response', (response) => {
      answered = true
      readAnswer(response, { sink, origin: url.origin })
        .then(
          (answer) => resolve({ ...answer, peer }),
          (error: unknown) => reject(connectionFailure(url, true, error)),
        )
        .finally(() => request.destroy())
    })
    if (body === undefined || body instanceof Uint8Array) {
      request.end(body)
      return
    }
    body.once('error', (error) => {
      // Once an answer came, the rest of the body is of no interest.
      if (!request.destroyed && !answered) reject(error)
    })
    // Where the answer is taken while it comes, the body may go on beside it.
    if (sink === undefined) request.once('response', () => body.unpipe(request))
    pipeline(body, request, () => {})
  })
}

async function readAnswer(
  response: IncomingMessage,
  { sink, origin }: { readonly sink: Sink | undefined; readonly origin: string },
): Promise<HttpAnswer> {
  const { statusCode: status = 0, headers } = response
  if (sink !== undefined && status < 300) {
    await sink(response, headers)
    return { status, headers: { ...headers, ...response.trailers }, bytes: new Uint8Array() }
  }
  return { status, headers, bytes: await readBody(response, origin) }
}

function connectionFailure(url: URL, connected: boolean, error: unknown): CommandFailure {
  // What came says of itself what is wrong, or could not be kept here.
  if (error instanceof CommandFailure) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('HPE_')) return noNode(url.origin, 'answered with something that is not HTTP', error)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return noNode(url.origin, 'answered with something that is not TLS', error)
  const reason = error instanceof Error ? reasonOf(error) : String(error)
  const message = connected
    ? `The connection to ${url.origin} was lost: ${reason}.`
    : `${url.origin} cannot be reached: ${reason}.`
  const hint = 'Start a node with: proofstream serve. Another one is named by --server or PROOFSTREAM_SERVER.'
  const details = connected ? {} : { neverConnected: true, hint }
  return new CommandFailure(exitCodes.unreachable, message, { retryable: true, cause: error, ...details })
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host cannot be looked up',
  ECONNRESET: 'the other side closed it',
  EPIPE: 'the other side closed it',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
}

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return ownValue(reasons, code) ?? (error.message || code)
}

interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number
  /** False: a node that was not reached at all is not tried again. */
  readonly reconnect: boolean
  /** Told before each pause. */
  readonly onRetry: (failure: CommandFailure, pauseMs: number) => void
  /** Aborts: what fails is not tried again. */
  readonly signal?: AbortSignal
}

const firstPauseMs = 250
const longestPauseMs = 8_000

/** Runs `attempt` until it succeeds, fails for good, or the tries are used up; then throws its last failure. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (tried >= options.retries || !mayRetry(error, options)) throw error
      const pauseMs = error.details.retryAfterMs ?? backoffMs(tried)
      options.onRetry(error, pauseMs)
      await systemClock.sleep(pauseMs, options.signal)
      if (options.signal?.aborted === true) throw error
    }
  }
}

function mayRetry(error: unknown, { reconnect, signal }: RetryOptions): error is CommandFailure {
  if (!(error instanceof CommandFailure) || error.details.retryable !== true || signal?.aborted === true) return false
  return reconnect || error.details.neverConnected !== true
}

/** Doubles from try to try; the random quarter keeps many clients from coming back at once. */
function backoffMs(tried: number): number {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** tried)
  return pauseMs - randomInt(Math.ceil(pauseMs / 4))
}
