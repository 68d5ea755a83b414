// The way of an answer out of a node: its caller, room for its bytes, how long it may be kept (RFC 9110 §13), compressed
// for callers that accept it, and in pieces as fast as they are read.

import { pipeline, Readable, type Transform } from 'node:stream'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { type Limits, limitTable } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { Caller } from '../answers/pin.ts'
import type { Scan } from '../files/files.ts'
import { mayRead } from './access.ts'
import { clientSignal } from './connections.ts'
import type { HttpContext, OpenRoom, ReplicaContext } from './context.ts'
import { addVary } from './origin-rules.ts'

/** Little enough that a reader at the slowest rate takes one within the window of that rate. */
const pieceBytes = 15 * 1024

/** By which callers take turns: those without a token are one, and their networks take turns. */
export function callerKey({ principal: { tokenId }, ip }: FastifyRequest): readonly string[] {
  return tokenId === undefined ? ['anonymous', networkOf(ip)] : [tokenId]
}

/** The caller. The room for the answer is freed when the connection has taken it or is gone. */
export function callerOf(context: ReplicaContext, request: FastifyRequest, reply: FastifyReply): Caller {
  const key = callerKey(request)
  const room = context.answers.open(key[0] ?? '')
  reply.raw.once('close', () => room.close())
  if (reply.raw.closed) room.close()
  return { key, mayRead: mayRead(request), signal: clientSignal(reply), room }
}

/** Sends an answer that is bytes already; a large one as a stream of known length. */
export function sendAnswer(
  context: ReplicaContext,
  reply: FastifyReply,
  { body: parts, mediaType }: { readonly body: readonly Uint8Array[]; readonly mediaType: string },
): FastifyReply {
  context.watchReader(reply.raw)
  void reply.type(mediaType)
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  if (bytes <= smallAnswerBytes) return reply.send(concatBytes(parts))
  return reply.header('content-length', bytes).send(new PiecesStream(parts))
}

/** Says what was read, as a dictionary of RFC 9651. */
export function tellScan(reply: FastifyReply, scan: Scan): void {
  const members = [
    `files-read=${scan.filesRead}, files=${scan.files}`,
    `row-groups-read=${scan.rowGroupsRead}, row-groups=${scan.rowGroups}`,
    `rows-read=${scan.rowsRead}, rows=${scan.rows}`,
    ...(scan.mergedRead > 0 ? [`merged-files-read=${scan.mergedRead}`] : []),
  ]
  void reply.header('query-scan', members.join(', '))
}

/** Bytes in memory as a stream. */
class PiecesStream extends Readable {
  readonly #pieces: Iterator<Uint8Array>

  constructor(parts: readonly Uint8Array[]) {
    super({ highWaterMark: pieceBytes })
    this.#pieces = piecesOf(parts)
  }

  override _read(): void {
    const next = this.#pieces.next()
    this.push(next.done === true ? null : next.value)
  }
}

function* piecesOf(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes)
  }
}

/** The address of a caller; of IPv6 the network, because everyone has as many addresses in it as he likes. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = '', tail = ''] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return [...front, ...zeros, ...back].slice(0, 4).join(':')
}

/** An answer of up to so many bytes needs room in the node, not in its caller's share: a connection holds as much. */
export const smallAnswerBytes = 64 * 1024

/** Bounds the bytes of answers in flight, in all and by caller. */
export class AnswerBudget {
  readonly #limits: Pick<Limits, 'answerBytes' | 'callerAnswerShare'>
  readonly #heldBy = new Map<string, number>()
  #heldBytes = 0

  constructor(limits: Pick<Limits, 'answerBytes' | 'callerAnswerShare'>) {
    this.#limits = limits
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Room for an answer to `caller`. Its `take` throws NodeError `Saturated`; an answer that is alone, or the only one of
   * its caller where the node has room, may have any size.
   */
  open(caller: string): OpenRoom {
    let own = 0
    let isOpen = true
    const change = (bytes: number): void => {
      own += bytes
      this.#heldBytes += bytes
      const held = (this.#heldBy.get(caller) ?? 0) + bytes
      if (held === 0) this.#heldBy.delete(caller)
      else this.#heldBy.set(caller, held)
    }
    return {
      take: (bytes) => {
        // A client that has left gets nothing.
        if (!isOpen) return
        this.#check(caller, bytes)
        change(bytes)
      },
      close: () => {
        isOpen = false
        change(-own)
      },
    }
  }

  #check(caller: string, bytes: number): void {
    const { answerBytes, callerAnswerShare } = this.#limits
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > answerBytes) throw this.#refusal('answerBytes')
    const held = this.#heldBy.get(caller) ?? 0
    if (bytes <= smallAnswerBytes || held === 0) return
    if (held + bytes > (answerBytes * callerAnswerShare) / 100) throw this.#refusal('callerAnswerShare')
  }

  #refusal(name: 'answerBytes' | 'callerAnswerShare'): NodeError {
    return new NodeError('Saturated', messages[name], {
      hint: 'Read the answers that are on their way, or ask for fewer rows.',
      limit: { name, value: this.#limits[name], unit: limitTable[name].unit },
      retryAfterSeconds: 1,
    })
  }
}

const messages = {
  answerBytes: 'The node has as many answers on their way as it can hold.',
  callerAnswerShare: 'This caller has as many answers on their way as its share allows.',
} as const

/** For answers that no block to come can change. Only what anyone may read is for shared caches. */
export function keepForEver(
  reply: FastifyReply,
  context: Pick<HttpContext, 'anonymousRead'>,
  name: Pick<NameRecord, 'visibility'>,
): void {
  const scope = name.visibility === 'public' && context.anonymousRead ? 'public' : 'private'
  void reply.header('cache-control', `${scope}, max-age=31536000, immutable`)
}

/** The tag of a compressed answer ends in this: it is another representation (RFC 9110 §8.8.3). */
const compressedForm = /-(?:gz|br)"$/

/** Sets the ETag of the answer; true when the client holds that very one and 304 is due. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  const etag = `"${tag}"`
  void reply.header('etag', etag)
  const held = request.headers['if-none-match']
  if (held === undefined) return false
  const found = held
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .find((one) => one === '*' || one === etag || one.replace(compressedForm, '"') === etag)
  if (found !== undefined && found !== '*') void reply.header('etag', found)
  return found !== undefined
}

/** Below this a header costs more than compression saves. */
const leastBytes = 1024
/** Up to here compressing takes less time, tens of microseconds, than handing it to a thread. */
const smallBytes = 8 * 1024
/** Quality 4 is as fast as gzip and smaller; 11, the default of zlib, takes a hundred times as long. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

type Encoded = (error: Error | null, bytes: Buffer) => void

const encoders = {
  br: {
    tagSuffix: '-br',
    whole: (bytes: Uint8Array, done: Encoded): void => brotliCompress(bytes, brotliOptions, done),
    small: (bytes: Uint8Array): Buffer => brotliCompressSync(bytes, brotliOptions),
    stream: (isLive: boolean): Transform =>
      createBrotliCompress({ ...brotliOptions, ...(isLive && { flush: constants.BROTLI_OPERATION_FLUSH }) }),
  },
  gzip: {
    tagSuffix: '-gz',
    whole: (bytes: Uint8Array, done: Encoded): void => gzip(bytes, done),
    small: (bytes: Uint8Array): Buffer => gzipSync(bytes),
    stream: (isLive: boolean): Transform => createGzip(isLive ? { flush: constants.Z_SYNC_FLUSH } : {}),
  },
} as const

/**
 * Compresses JSON and text that is in memory and large enough; what leaves as a stream, piece by piece, and what is found
 * while it leaves waits for no other. Stored objects are never compressed: their bytes are their identity.
 */
export function registerCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const inMemory = typeof payload === 'string' || payload instanceof Uint8Array
    const isStream = payload instanceof Readable
    if (!(isStream || (inMemory && payload.length >= leastBytes)) || !isText(reply)) return done(null, payload)
    addVary(reply, 'Accept-Encoding')
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding === undefined) return done(null, payload)
    const { tagSuffix, whole, small, stream } = encoders[encoding]
    const announce = (): void => {
      const tag = reply.getHeader('etag')
      if (typeof tag === 'string') void reply.header('etag', tag.replace(/"$/, `${tagSuffix}"`))
      void reply.header('content-encoding', encoding).removeHeader('content-length')
    }
    if (isStream) {
      announce()
      // The reader of the encoded stream sees why it ends early.
      const encoded = pipeline(payload, stream(!(payload instanceof PiecesStream)), () => {})
      return done(null, encoded)
    }
    const plain = typeof payload === 'string' ? Buffer.from(payload) : payload
    if (plain.length <= smallBytes) {
      announce()
      return done(null, small(plain))
    }
    whole(plain, (error, bytes) => {
      if (error !== null) return done(error)
      announce()
      done(null, bytes)
    })
  })
}

function isText(reply: FastifyReply): boolean {
  // Events leave one by one: what an encoder keeps back comes late.
  return /^(?:application\/(?:(?:x-nd|[\w.-]+\+)?json|vnd\.mapbox-vector-tile)|text\/(?!event-stream))/.test(
    String(reply.getHeader('content-type') ?? ''),
  )
}

/** br before gzip, unless the client says that it wants neither (RFC 9110 §12.5.3). */
function acceptedEncoding(header: string | undefined): keyof typeof encoders | undefined {
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
