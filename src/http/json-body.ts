// JSON request bodies: our own parser, because fastify's takes the last of duplicate members and loses number tokens.

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { JsonError } from '../codec/json-parser.ts'
import { parseJson, toPlain } from '../codec/json.ts'
import { DecodeError, NodeError } from '../model/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler wants the token-preserving value, not plain JavaScript. */
    readonly tokens?: boolean
    /** The handler reads the body as a stream, whatever its media type. */
    readonly stream?: boolean
  }
}

/** Takes `application/json` and `application/*+json` with any parameters; everything else is 415, except streams. */
export function registerJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.config.stream === true) return payload
    if (!isJson(request.headers['content-type'])) throw unsupported(request)
    return parseBody(await readAll(payload, request.routeOptions.bodyLimit), request)
  })
}

function parseBody(bytes: Uint8Array, request: FastifyRequest): unknown {
  try {
    const value = parseJson(bytes, { duplicateKeys: 'reject' })
    return request.routeOptions.config.tokens === true ? value : toPlain(value, { largeIntegers: 'bigint' })
  } catch (cause) {
    if (cause instanceof JsonError) {
      throw new NodeError('MalformedJson', `The body is not well-formed JSON: ${cause.message}.`, {
        position: cause.position,
        cause,
      })
    }
    if (cause instanceof DecodeError)
      throw new NodeError('MalformedJson', `The body is not well-formed JSON: ${cause.message}.`, { cause })
    throw cause
  }
}

async function readAll(payload: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of payload) {
    bytes += chunk.length
    if (bytes > limitBytes) {
      throw new NodeError('BodyTooLarge', `The body is larger than ${limitBytes} bytes.`, {
        limit: { name: 'requestJsonBytes', value: limitBytes, unit: 'bytes' },
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isJson(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === 'application/json' || /^application\/[a-z0-9!#$&^_.-]+\+json$/.test(type)
}

function unsupported(request: FastifyRequest): NodeError {
  return new NodeError(
    'UnsupportedMediaType',
    `This route takes JSON, not '${request.headers['content-type'] ?? 'nothing'}'.`,
    {
      hint: "Send -H 'Content-Type: application/json'.",
      candidates: ['application/json'],
    },
  )
}
