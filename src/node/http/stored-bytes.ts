// Bytes that lie somewhere as a whole: all of them or one range, as fast as they are read (RFC 9110 §14).

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NodeError } from '../../libraries/base/errors.ts'

export interface StoredBytes {
  /** Names the bytes. */
  readonly tag: string
  readonly sizeBytes: number
  /** In pieces of so much they are read; less is sent from memory. */
  readonly pieceBytes: number
  /** Bytes [start, end). */
  read(start: number, end: number): Promise<Uint8Array>
}

/** A part of bytes, or all of them. */
interface Part {
  readonly start: number
  readonly end: number
  readonly isRange: boolean
}

/** What the request wants of them. Throws NodeError `RangeNotSatisfiable`. */
export function wantedPart(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { tag, sizeBytes }: Pick<StoredBytes, 'tag' | 'sizeBytes'>,
): Part {
  void reply.header('accept-ranges', 'bytes')
  const held = headers['if-range']
  // If-Range that names other bytes than these: the range is of those.
  const range = held === undefined || held === `"${tag}"` ? byteRange(headers.range, sizeBytes) : undefined
  if (range !== 'outside') return { ...(range ?? { start: 0, end: sizeBytes }), isRange: range !== undefined }
  void reply.header('content-range', `bytes */${sizeBytes}`)
  throw new NodeError(
    'RangeNotSatisfiable',
    `The range '${(headers.range ?? '').slice(0, 80)}' is outside the object of ${sizeBytes} bytes.`,
  )
}

/** Sends a part, or what HEAD says of it. */
export async function sendPart(
  request: FastifyRequest,
  reply: FastifyReply,
  { start, end, isRange }: Part,
  { sizeBytes, pieceBytes, read }: StoredBytes,
): Promise<FastifyReply> {
  if (isRange) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${sizeBytes}`)
  void reply.header('content-length', end - start)
  // An empty stream: fastify would overwrite the length for no body at all.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  if (end - start <= pieceBytes) return reply.send(Buffer.from(await read(start, end)))
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; at += pieceBytes) yield await read(at, Math.min(end, at + pieceBytes))
  }
  return reply.send(Readable.from(pieces(), { objectMode: false }))
}

/** One byte range; several, or what is no range, is answered as the whole object. */
function byteRange(
  header: string | undefined,
  sizeBytes: number,
): { start: number; end: number } | 'outside' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  return start < end ? { start, end } : 'outside'
}
