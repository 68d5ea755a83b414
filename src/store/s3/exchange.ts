// One exchange over HTTP: a request with its body, and all of its answer, in a time that grows with their bytes.

import { once } from 'node:events'
import {
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { boundedPieces } from '../../lib/bounded-body.ts'
import { concatBytes } from '../../lib/bytes.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Body } from './body.ts'
import { type S3Answer, Unanswered } from './faults.ts'

/** Takes the body of a 200 in place of the answer. */
export type Sink = (piece: Uint8Array) => void

export interface Exchange {
  /** How errors name it. */
  readonly what: string
  readonly options: RequestOptions & { readonly agent: HttpAgent | HttpsAgent }
  readonly body: Body
  /** Time for it beside that for its bytes. */
  readonly answerMs: number
  readonly clock: Clock
  readonly sink?: Sink | undefined
  /** Bytes of the body that a success may have. */
  readonly mostBytes: number
}

/** A refusal is a few lines. */
const refusalBytes = 1024 * 1024

/** The slowest connection that is good enough for a store. */
const bytesPerMs = 512

/** The answer, whatever it says. Throws `Unanswered` where there is none in time, or not all of it. */
export async function exchange({ what, options, body, sink, answerMs, clock, mostBytes }: Exchange): Promise<S3Answer> {
  const request = options.protocol === 'https:' ? httpsRequest(options) : httpRequest(options)
  const deadline = new Deadline(request, { answerMs, clock })
  deadline.allow(body.sizeBytes)
  try {
    const answered = responseTo(request)
    // An answer may come before all of the body is sent; what becomes of the rest does not matter then.
    const response = await Promise.race([answered, sendBody(request, body).then(() => answered)])
    const { statusCode: status = 0, headers } = response
    const most = status < 300 ? mostBytes : refusalBytes
    deadline.allow(Math.min(most, Number(headers['content-length'] ?? 0)))
    return { status, headers, body: await readBody(response, most, status === 200 ? sink : undefined) }
  } catch (cause) {
    throw new Unanswered(what, deadline.reason ?? cause)
  } finally {
    deadline.end()
    if (!request.writableFinished) request.destroy()
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
  })
}

async function sendBody(request: ClientRequest, body: Body): Promise<void> {
  for await (const piece of body.pieces()) if (!request.write(piece)) await once(request, 'drain')
  request.end()
}

async function readBody(response: AsyncIterable<Uint8Array>, most: number, sink?: Sink): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  const take: Sink = sink ?? ((piece) => pieces.push(piece))
  for await (const piece of boundedPieces(response, most)) take(piece)
  return concatBytes(pieces)
}

/** Ends a request that takes longer than it may. */
class Deadline {
  readonly #request: ClientRequest
  readonly #exchange: Pick<Exchange, 'answerMs' | 'clock'>
  #running = new AbortController()
  /** Why the request was ended, if it was. */
  reason: string | undefined

  constructor(request: ClientRequest, exchange: Pick<Exchange, 'answerMs' | 'clock'>) {
    this.#request = request
    this.#exchange = exchange
  }

  /** From now on, for an answer and for so many bytes. */
  allow(bytes: number): void {
    this.end()
    const { signal } = (this.#running = new AbortController())
    const ms = this.#exchange.answerMs + bytes / bytesPerMs
    void this.#exchange.clock.sleep(ms, signal).then(() => {
      if (signal.aborted) return
      this.reason = `it took longer than ${Math.round(ms)} ms`
      this.#request.destroy()
    })
  }

  end(): void {
    this.#running.abort()
  }
}
