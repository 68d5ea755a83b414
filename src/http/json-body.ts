// JSON request bodies: our own parser, because fastify's takes the last of duplicate members and loses number tokens.

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { JsonError } from '../codec/json-parser.ts'
import { parseJson, toPlain } from '../codec/json.ts'
import { contentEncoding } from '../gateway/controls.ts'
import { bodyChunks } from '../gateway/read-body.ts'
import type { Limits } from '../lib/limits.ts'
import { DecodeError, NodeError } from '../model/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler wants the token-preserving value, not plain JavaScript. */
    readonly tokens?: boolean
    /** The handler reads the body as a stream, whatever its media type. */
    readonly stream?: boolean
    /** The limit of the JSON body, inflated; `requestJsonBytes` by default. */
    readonly jsonLimit?: 'verifyBytes'
  }
}

/** Takes `application/json` and `application/*+json` with any parameters; everything else is 415, except streams. */
export function registerJsonBodies(app: FastifyInstance, context: { readonly limits: Limits }): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable, done) => {
    if (request.routeOptions.config.stream === true) return done(null, payload)
    if (!isJson(request.headers['content-type'])) return done(unsupported(request))
    return readAll(payload, request, context.limits).then((bytes) => parseBody(bytes, request))
  })
}

function parseBody(bytes: Uint8Array, request: FastifyRequest): unknown {
  try {
    const value = parseJson(bytes, { duplicateKeys: 'reject' })
    return request.routeOptions.config.tokens === true ? value : toPlain(value, { largeIntegers: 'bigint' })
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('MalformedJson', `The body is not well-formed JSON: it ${reasonOf(cause)}.`, {
      ...(cause instanceof JsonError ? { position: cause.position } : {}),
      cause,
    })
  }
}

/** `DecodeError` says what, why and where in one text; the body of the answer has members for the first and the last. */
function reasonOf(error: DecodeError): string {
  return error.message.slice(`${error.what}: `.length).replace(/ \(at byte \d+\)$/, '')
}

/** The inflated body, counted while it is read. Throws NodeError `BodyTooLarge`, `MalformedBody`, `UnsupportedEncoding`. */
async function readAll(payload: Readable, request: FastifyRequest, limits: Limits): Promise<Uint8Array> {
  const name = request.routeOptions.config.jsonLimit ?? 'requestJsonBytes'
  const encoding = contentEncoding(request.headers['content-encoding'])
  if (Number(request.headers['content-length'] ?? 0) > limits[name]) throw tooLarge(name, limits[name])
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of bodyChunks(payload, encoding, limits)) {
    bytes += chunk.length
    if (bytes > limits[name]) throw tooLarge(name, limits[name])
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(name: string, value: number): NodeError {
  return new NodeError('BodyTooLarge', `The body is larger than ${value} bytes.`, {
    limit: { name, value, unit: 'bytes' },
    hint: 'GET /limits lists every limit.',
  })
}

function isJson(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === 'application/json' || /^application\/[a-z0-9!#$&^_.-]+\+json$/.test(type)
}

function unsupported(request: FastifyRequest): NodeError {
  const type = request.headers['content-type']
  return new NodeError(
    'UnsupportedMediaType',
    type === undefined
      ? 'The request has no Content-Type; this route takes JSON.'
      : `This route takes JSON, not '${type.slice(0, 100)}'.`,
    { hint: "Send -H 'Content-Type: application/json'.", candidates: ['application/json'] },
  )
}
