// Errors on their way out: from what was thrown, by us or by fastify, to the one error body of the node (RFC 9457 problem
// details with the members that clients of deployed nodes know), sent by fastify or, where it never came so far, on the
// socket.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorKind, errorTable, isRetryable, kindSlug } from '../../libraries/base/error-table.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { hasArrived, lingeringAnswer } from './connections.ts'
import type { HttpContext, Told } from './context.ts'
import { wantsHtml } from './html.ts'
import { addVary } from './origin-rules.ts'

/** A body ready to be sent. */
export interface Problem extends Told {
  readonly headers: Readonly<Record<string, string>>
}

const maxErrors = 100

/** The problem of `error`; anything else but damage of a dataset becomes `Internal` without a word of its text. */
export function problemOf(error: unknown, requestId: string): Problem {
  const known =
    error instanceof NodeError
      ? (unreachable(error) ?? error)
      : (damage(error) ?? noDescriptors(error) ?? internal(error))
  const { kind, message, details } = known
  const row = errorTable[kind]
  const retryAfter = details.retryAfterSeconds ?? (row.status === 429 || row.status === 503 ? 1 : undefined)
  return {
    status: row.status,
    mediaType: isVerifyKind(kind) ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8',
    headers: {
      'cache-control': 'no-store',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }),
    },
    body: {
      type: `/errors/${kindSlug(kind)}`,
      title: row.title,
      status: row.status,
      detail: message,
      instance: `urn:uuid:${requestId}`,
      ok: false,
      error: { kind, message, ...details.extra },
      message,
      hint: details.hint,
      position: details.position,
      candidates: details.candidates ?? details.ways,
      offers: details.offers,
      errors: details.errors?.slice(0, maxErrors),
      errorsTotal: details.errorsTotal ?? details.errors?.length,
      limit: details.limit,
      refusal: details.refusal,
      retryable: isRetryable(kind),
    },
  }
}

/** Kinds of a failed `/verify` go out as plain JSON. */
function isVerifyKind(kind: ErrorKind): boolean {
  return /^(?:InvalidRequest|VerificationFailed|VerificationInconclusive)::/.test(kind)
}

/** What is damaged of a dataset that the caller may read is told to him; nothing of it is served. */
function damage(error: unknown): NodeError | undefined {
  if (!(error instanceof HaltError) || error.reason !== 'ChainBroken') return undefined
  return new NodeError('Internal', `Stored data of the dataset is damaged: ${error.what}.`, {
    hint: 'An operator runs `proofstream fsck`, which lists all that is damaged, and puts it back from a copy; `proofstream restore` makes a store of a backup. Other datasets are not concerned.',
    extra: { reason: error.reason },
    cause: error,
  })
}

/** What a bucket said names places inside, which are for the log of the node. */
function unreachable({ kind, details }: NodeError): NodeError | undefined {
  if (kind !== 'StoreUnavailable') return undefined
  return new NodeError(kind, 'The store of this node cannot be reached; the log of the node says why.', {
    hint: 'Repeat later.',
    retryAfterSeconds: details.retryAfterSeconds ?? 5,
  })
}

/** The process has as many files and connections open as the system lets it. */
function noDescriptors(error: unknown): NodeError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!('code' in cause) || (cause.code !== 'EMFILE' && cause.code !== 'ENFILE')) continue
    return new NodeError('Saturated', 'The node has as many files and connections open as its system allows.', {
      hint: 'Send it again in a moment. An operator raises the limit of open files (ulimit -n, LimitNOFILE).',
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  return undefined
}

function internal(cause: unknown): NodeError {
  return new NodeError('Internal', 'The node failed to handle this request; the log of the node says why.', {
    hint: 'Report it with the request id if it happens again.',
    cause,
  })
}

/** The NodeError for an error that fastify or a plugin of it raised, or undefined when it is none. */
function frameworkError(error: unknown, request: FastifyRequest): NodeError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code, statusCode = 500 } = error as FastifyError // has a code
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedType(request)
  const kind = frameworkKind(code, statusCode)
  return kind === undefined ? undefined : new NodeError(kind, sentence(error.message), { cause: error })
}

function frameworkKind(code: string, statusCode: number): ErrorKind | undefined {
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return 'InvalidName'
  if (statusCode >= 500) return undefined
  // What a plugin refuses is a path that is none, or a request that it does not understand.
  return statusCode === 403 || statusCode === 404 ? 'RouteNotFound' : 'InvalidParameter'
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text.slice(0, 300)}.`
}

interface SchemaFault {
  readonly instancePath: string
  readonly keyword?: string
  readonly message?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const places = {
  body: { kind: 'InvalidRequest', whole: 'The body', one: 'The member' },
  params: { kind: 'InvalidName', whole: 'The path', one: 'The part' },
  querystring: { kind: 'InvalidParameter', whole: 'The query string', one: 'The parameter' },
} as const satisfies Record<string, { kind: ErrorKind; whole: string; one: string }>

/** The first fault that the validator found in `where` (`body`, `params`, `querystring`) as a NodeError. */
export function schemaError(fault: SchemaFault | undefined, where: string): NodeError {
  const place = where === 'body' || where === 'params' ? places[where] : places.querystring
  const path = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const subject = path === '' ? place.whole : `${place.one} '${path}'`
  return new NodeError(place.kind, reason(fault, { place, subject, inParameters: place === places.querystring }), {
    hint: 'GET /openapi.json describes every parameter.',
  })
}

/** The pattern of parameters that are switched. */
export const trueOrFalse = '^(?:true|false)$'

function reason(
  fault: SchemaFault | undefined,
  { place, subject, inParameters }: { place: { readonly one: string }; subject: string; inParameters: boolean },
): string {
  const { keyword, params = {} } = fault ?? {}
  switch (keyword) {
    case 'additionalProperties':
      return `${place.one} '${String(params['additionalProperty']).slice(0, 100)}' is not known here.`
    case 'required':
      return `${place.one} '${String(params['missingProperty'])}' is missing.`
    case 'type':
      return inParameters
        ? `${subject} is given more than once.`
        : `${subject} is not of type ${String(params['type'])}.`
    case 'pattern':
      return `${subject} ${patternReason(String(params['pattern']))}.`
    case 'maxLength':
      return `${subject} is longer than ${String(params['limit'])} characters.`
    case 'minimum':
      return `${subject} is below ${String(params['limit'])}.`
    default:
      return `${subject} ${fault?.message ?? 'is not valid'}.`
  }
}

function patternReason(pattern: string): string {
  if (pattern === trueOrFalse) return 'is neither true nor false'
  if (/^\^\(\?:[a-z|-]+\)\$$/.test(pattern)) return `is not one of ${pattern.slice(4, -2).split('|').join(', ')}`
  const [, digits] = /^\^\[0-9\]\{1,(\d+)\}\$$/.exec(pattern) ?? []
  return digits === undefined
    ? 'is not of the form that is described'
    : `is not a whole number of at most ${digits} digits`
}

/** Answers with the problem of `error`; what is the node's own fault is logged. */
export function sendProblem(
  context: Pick<HttpContext, 'logger' | 'clock'>,
  error: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const known = error instanceof NodeError ? error : frameworkError(error, request)
  const location = known && placeNow(known, request)
  if (location !== undefined) return sendMoved(context, location, { request, reply })
  const own = problemOf(known ?? error, request.id)
  const { tell = request.tell, page } = request.routeOptions.config
  const problem = { ...own, ...tell?.(own) }
  if (problem.status === 500 || known?.kind === 'StoreUnavailable') {
    context.logger.error(
      {
        requestId: request.id,
        route: request.routeOptions.url,
        err: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      },
      'A request failed',
    )
  }
  // Of the answer that was begun, nothing holds for an error.
  for (const name of ['etag', 'accept-ranges', 'dataset-head']) void reply.removeHeader(name)
  // An address that leads nowhere has a way on for the person who typed it.
  const isNowhere = known?.kind === 'RouteNotFound'
  if (isNowhere) addVary(reply, 'Accept')
  const pages = (page === true || isNowhere) && wantsHtml(request) ? reply.server.pages : undefined
  // A browser without a token is shown where to give one, the same at every address.
  const hasNoToken = problem.status === 401 && request.headers.authorization === undefined
  if (pages !== undefined && hasNoToken) return pages.sendTokenForm(reply)
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="proofstream"')
  const text = JSON.stringify(problem.body)
  void reply.code(problem.status).headers({ ...problem.headers, 'request-id': request.id })
  if (pages !== undefined) return pages.sendProblem(reply, problem)
  void reply.type(problem.mediaType)
  return sendAtOnce(context, text, { request, reply })
}

/** Sends an answer that does not wait for the rest of the body. */
function sendAtOnce(
  { clock }: Pick<HttpContext, 'clock'>,
  text: string,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (hasArrived(request.raw)) return reply.send(text)
  void reply.header('connection', 'close').header('content-length', Buffer.byteLength(text))
  return reply.send(lingeringAnswer(text, request.raw, clock))
}

/** The same address with the name now of the dataset in its path; undefined where it has no name of a renamed one. */
function placeNow({ details: { moved } }: NodeError, { url, params }: FastifyRequest): string | undefined {
  if (moved === undefined) return undefined
  const { account, dataset, collection } = Object(params)
  const [path = '', ...query] = url.split('?')
  const isCollection = collection === moved.from.replace('/', ':')
  if (!isCollection && `${account}/${dataset}` !== moved.from) return undefined
  const segments = path.split('/')
  // `/ogc/collections/account:dataset` or `/account/dataset`.
  const place = isCollection ? { at: 3, names: [moved.to.replace('/', ':')] } : { at: 1, names: moved.to.split('/') }
  segments.splice(place.at, place.names.length, ...place.names)
  return [segments.join('/'), ...query].join('?')
}

/** A former name of a dataset: where it is now, until the name is another's. */
function sendMoved(
  context: Pick<HttpContext, 'clock'>,
  location: string,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const headers = { location, 'cache-control': 'no-store', 'request-id': request.id }
  void reply.code(308).headers(headers).type('text/plain; charset=utf-8')
  return sendAtOnce(context, `The dataset has another name now: ${location}\n`, { request, reply })
}

/**
 * Answers on the socket a request that is no HTTP, or comes too late, and never reaches fastify; then closes the
 * connection. Nothing of it was stored.
 */
export function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // What has not been read because others have their turn first is not the client's delay.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.isPaused()) return
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const { status, mediaType, headers, body } = problemOf(brokenRequest(error.code ?? ''), requestId)
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries({
      ...headers,
      'content-type': mediaType,
      'content-length': String(Buffer.byteLength(text)),
      'request-id': requestId,
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}

function brokenRequest(code: string): NodeError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const hint = 'GET /limits lists requestHeaderMs.'
    return new NodeError('RequestTimeout', 'The request did not arrive in time.', { hint })
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const hint = 'Send long statements with POST.'
    return new NodeError('InvalidParameter', 'The header of the request is too large.', { hint })
  }
  if (/CHUNK|EOF|CONTENT_LENGTH|TRANSFER_ENCODING/.test(code)) {
    return new NodeError('MalformedBody', 'The body does not follow its Content-Length or Transfer-Encoding.')
  }
  return new NodeError('InvalidParameter', 'The request is not well-formed HTTP.')
}

export function unsupportedType(request: FastifyRequest): NodeError {
  const type = request.headers['content-type']
  const { stream, describes } = request.routeOptions.config
  const taken = stream === true && describes?.consumes !== undefined ? describes.consumes : ['application/json']
  const what = stream === true ? 'one of the types below' : 'JSON'
  return new NodeError(
    'UnsupportedMediaType',
    type === undefined
      ? `The request has no Content-Type; this route takes ${what}.`
      : `This route takes ${what}, not '${type.slice(0, 100)}'.`,
    { hint: `Send -H 'Content-Type: ${taken[0] ?? ''}'.`, candidates: taken },
  )
}
