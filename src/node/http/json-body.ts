// JSON request bodies: our own parser, because fastify's takes the last of duplicate members and loses number tokens. A
// body over 64 KiB is let in by turns, as batches are, and read by a thread: none of them holds the others up.

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AdmissionQueue, type Admitted, ofJson } from '../gateway/admission.ts'
import { contentEncoding } from '../gateway/controls.ts'
import { bodyChunks } from '../gateway/read-body.ts'
import type { LimitName, Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { inlineBytes } from '../machine/work/thread-pool.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { HttpContext } from './context.ts'
import { unsupportedType } from './problem.ts'

type BodyContext = Pick<HttpContext, 'limits' | 'clock' | 'work'> & {
  readonly gateway?: Pick<Gateway, 'bodyMemory'> | undefined
}

/** Takes `application/json` and `application/*+json` with any parameters; everything else is 415, except streams. */
export function registerJsonBodies(app: FastifyInstance, context: BodyContext): void {
  const memory = context.gateway?.bodyMemory
  const admission = new AdmissionQueue(context.limits, context.clock, { kind: ofJson, memory })
  app.removeAllContentTypeParsers()
  // Of any type: fastify looks a pattern up once for each type, and `*` at each request.
  app.addContentTypeParser(/^/, (request: FastifyRequest, payload: Readable, done) => {
    if (request.routeOptions.config.stream === true) return done(null, payload)
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
    if (length === '0' && coding === undefined && isOptional(request)) return done(null)
    if (!isJson(request.headers['content-type'])) return done(unsupportedType(request))
    return readBody(context, request, { payload, admission })
  })
}

async function readBody(
  context: BodyContext,
  request: FastifyRequest,
  { payload, admission }: { readonly payload: Readable; readonly admission: AdmissionQueue },
): Promise<unknown> {
  const reads = request.routeOptions.config.reads ?? 'plain'
  const body = new Body(context.limits, reads === 'proof' ? 'verifyBytes' : 'requestJsonBytes')
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  // A body that is refused loses its connection.
  const { socket } = request.raw
  socket.once('close', leave)
  try {
    await body.read(request, payload, admission)
    const pieces = body.take()
    if (pieces.every(({ length }) => length === 0) && isOptional(request)) return undefined
    if (reads === 'proof') {
      const settings = { values: valuesLimit('jsonValues', context.limits), sqlBytes: context.limits.sqlBytes }
      return await context.work.run('proof', pieces, { settings, signal: gone.signal })
    }
    const settings = valuesLimit('requestJsonValues', context.limits)
    const kind = reads === 'tokens' ? 'tokens' : 'json'
    return await context.work.run(kind, pieces, { settings, signal: gone.signal })
  } finally {
    socket.off('close', leave)
    body.leave()
  }
}

/** Whether an empty body is none, of whatever type it is said to be: many clients name one on a request without a body. */
function isOptional({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.schema?.body === undefined
}

function valuesLimit(name: LimitName, limits: Limits): { readonly name: string; readonly value: number } {
  return { name, value: limits[name] }
}

/** Bytes are gathered in pieces of this size, which threads are handed without a copy. */
const pieceBytes = 1024 * 1024
/** What a value of JSON takes at most. */
export const valueBytes = 256

/** The inflated bytes of one body, counted while they are read. */
class Body {
  readonly #limits: Limits
  readonly #limit: 'verifyBytes' | 'requestJsonBytes'
  readonly #pieces: Uint8Array[] = []
  #last = new Uint8Array()
  /** Bytes of the last piece that are taken. */
  #filled = 0
  #bytes = 0
  #admitted: Admitted | undefined

  constructor(limits: Limits, limit: 'verifyBytes' | 'requestJsonBytes') {
    this.#limits = limits
    this.#limit = limit
  }

  /** Throws NodeErrors `BodyTooLarge`, `MalformedBody`, `UnsupportedEncoding`; `Saturated`, `QuotaExceeded` for a large one. */
  async read(request: FastifyRequest, payload: Readable, admission: AdmissionQueue): Promise<void> {
    const encoding = contentEncoding(request.headers['content-encoding'])
    const announcedBytes = Number(request.headers['content-length'] ?? 0)
    if (announcedBytes > this.#limits[this.#limit]) throw tooLarge(this.#limit, this.#limits)
    const isExact = announcedBytes > 0 && encoding === undefined
    this.#last = new Uint8Array(isExact ? Math.min(announcedBytes, inlineBytes) : inlineBytes)
    for await (const chunk of bodyChunks(payload, encoding, this.#limits)) {
      this.#bytes += chunk.length
      if (this.#bytes > this.#limits[this.#limit]) throw tooLarge(this.#limit, this.#limits)
      if (this.#bytes > inlineBytes) {
        // Until now it held no more than a connection may.
        const bytes = Math.max(announcedBytes, this.#bytes)
        this.#admitted ??= await admission.enter(callerOf(request), bytes, (most) => this.#memoryOf(most))
        this.#admitted.grow(this.#bytes)
      }
      this.#add(chunk)
    }
  }

  /** The bytes twice, their text, and values of two bytes or more. */
  #memoryOf(bytes: number): number {
    const values = this.#limits[this.#limit === 'verifyBytes' ? 'jsonValues' : 'requestJsonValues']
    return 5 * bytes + valueBytes * Math.min(bytes / 2, values)
  }

  /** The bytes, which are no longer held here. */
  take(): readonly Uint8Array[] {
    const last = this.#last.subarray(0, this.#filled)
    return [...this.#pieces.splice(0), last]
  }

  leave(): void {
    this.#admitted?.leave()
  }

  #add(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#filled === this.#last.length) {
        this.#pieces.push(this.#last)
        this.#last = new Uint8Array(pieceBytes)
        this.#filled = 0
      }
      const part = chunk.subarray(at, at + this.#last.length - this.#filled)
      this.#last.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
  }
}

/** Shares are by token; anonymous callers are told apart by address. */
export function callerOf(request: FastifyRequest): string {
  return request.principal.tokenId ?? `address ${request.raw.socket.remoteAddress ?? ''}`
}

function tooLarge(name: LimitName, limits: Limits): NodeError {
  return new NodeError('BodyTooLarge', `The body is larger than ${limits[name]} bytes.`, {
    limit: { name, value: limits[name], unit: 'bytes' },
    hint:
      name === 'verifyBytes'
        ? 'Send the saved answer without its output: the query is run again all the same.'
        : 'GET /limits lists every limit.',
  })
}

function isJson(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === 'application/json' || /^application\/[a-z0-9!#$&^_.-]+\+json$/.test(type)
}
