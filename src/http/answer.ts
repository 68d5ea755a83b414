// The way of an answer out of a node: who asked, room for its bytes, and pieces of it as fast as they are read.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { concatBytes } from '../lib/bytes.ts'
import type { Caller } from '../replica/pin.ts'
import { clientSignal } from './abort.ts'
import { smallAnswerBytes } from './answers-under-way.ts'
import type { ReplicaContext } from './context.ts'
import { mayRead } from './dataset-access.ts'

/** Little enough that a reader at the slowest rate takes one within the window of that rate. */
const pieceBytes = 15 * 1024

/** Who asks. The room for the answer is freed when the connection has taken it or is gone. */
export function callerOf(context: ReplicaContext, request: FastifyRequest, reply: FastifyReply): Caller {
  const { tokenId } = request.principal
  const key = tokenId === undefined ? ['anonymous', networkOf(request.ip)] : [tokenId]
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

/** Bytes in memory as a stream. */
export class PiecesStream extends Readable {
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
