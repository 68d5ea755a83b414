// Answers in br or gzip for who accepts them. Stored objects are never compressed: their bytes are their identity.

import { type Transform, pipeline } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { PiecesStream } from './answer.ts'
import { addVary } from './origin-rules.ts'

/** Below this a header costs more than compression saves. */
const leastBytes = 1024
/** Quality 4 is as fast as gzip and smaller; 11, the default of zlib, takes a hundred times as long. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

type Encoded = (error: Error | null, bytes: Buffer) => void

const encoders = {
  br: (bytes: Uint8Array, done: Encoded): void => brotliCompress(bytes, brotliOptions, done),
  gzip: (bytes: Uint8Array, done: Encoded): void => gzip(bytes, done),
} as const
type Encoding = keyof typeof encoders

/** The tag of the compressed form ends in this: it is another representation (RFC 9110 §8.8.3). */
const tagSuffix: Readonly<Record<Encoding, string>> = { br: '-br', gzip: '-gz' }

const streamEncoders = {
  br: (): Transform => createBrotliCompress(brotliOptions),
  gzip: (): Transform => createGzip(),
} as const

/** Compresses JSON and text that is in memory and large enough; what leaves as a stream, piece by piece. */
export function registerCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const inMemory = typeof payload === 'string' || payload instanceof Uint8Array
    const isStream = payload instanceof PiecesStream
    if (!(isStream || (inMemory && payload.length >= leastBytes)) || !isText(reply)) return done(null, payload)
    addVary(reply, 'Accept-Encoding')
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding === undefined) return done(null, payload)
    if (isStream) {
      announce(reply, encoding)
      // Whoever reads the encoded stream sees why it ends early.
      return done(
        null,
        pipeline(payload, streamEncoders[encoding](), () => {}),
      )
    }
    encoders[encoding](typeof payload === 'string' ? Buffer.from(payload) : payload, (error, bytes) => {
      if (error !== null) return done(error)
      announce(reply, encoding)
      done(null, bytes)
    })
  })
}

function announce(reply: FastifyReply, encoding: Encoding): void {
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') void reply.header('etag', tag.replace(/"$/, `${tagSuffix[encoding]}"`))
  void reply.header('content-encoding', encoding).removeHeader('content-length')
}

function isText(reply: FastifyReply): boolean {
  return /^(?:application\/(?:problem\+)?json|text\/)/.test(String(reply.getHeader('content-type') ?? ''))
}

/** br before gzip, unless the client says that it wants neither (RFC 9110 §12.5.3). */
function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const refused = new Set<string>()
  const named = new Set<string>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) refused.add(name)
    else named.add(name)
  }
  const accepts = (name: string): boolean => !refused.has(name) && (named.has(name) || named.has('*'))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined
}
