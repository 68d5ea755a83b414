// Answers of a store that may be hostile or silent: each exchange has a time that grows with its bytes, and what the SDK will
// parse is read here first, no further than it may be. Objects pass as streams, which their reader bounds.

import { Readable } from 'node:stream'
import type { S3 } from '@aws-sdk/client-s3'
import { boundedPieces } from '../../libraries/base/bounded-body.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'

type Handler = S3['config']['requestHandler']
type Request = Parameters<Handler['handle']>[0]
type Answer = Awaited<ReturnType<Handler['handle']>>

/** A page has a thousand keys, of a thousand bytes each. A refusal is a few lines. */
const pageBytesMost = 4 * 1024 * 1024
const refusalBytesMost = 1024 * 1024
/** A page has some ten for each of its keys, opened and closed. */
const tagsMost = 100_000
/** The slowest connection that is good enough for a store. */
const bytesPerMs = 512

export interface Guard {
  /** Time for one exchange beside that for its bytes. */
  readonly answerMs: number
  readonly clock: Clock
}

/** `handler`, whose exchanges end in time and whose answers have an end. */
export function guarded(handler: Handler, guard: Guard): Handler {
  return Object.assign(Object.create(handler) as Handler, {
    handle: (request: Request) => exchange(handler, request, guard),
  })
}

/** The exchange took longer than it may. */
class TooSlow extends Error {
  override readonly name: string = 'TooSlow'
}

async function exchange(handler: Handler, request: Request, guard: Guard): Promise<Answer> {
  const deadline = new Deadline(guard)
  const { signal } = deadline
  const body: unknown = request.body
  // A body that cannot be read on ends the exchange.
  if (body instanceof Readable) body.once('error', (error) => deadline.stop(error))
  deadline.allow(Number(request.headers['content-length'] ?? 0))
  let isStreamed = false
  try {
    const answer = await handler.handle(request, { abortSignal: signal })
    const { response } = answer
    const { statusCode, headers } = response
    const from = response.body as Readable // of a handler of Node
    const lengthBytes = Number(headers['content-length'] ?? 0)
    isStreamed = request.method === 'GET' && statusCode < 300 && request.query['list-type'] === undefined
    if (isStreamed) {
      deadline.allow(lengthBytes)
      from.once('close', () => deadline.end())
      signal.addEventListener('abort', () => from.destroy(deadline.reason), { once: true })
      // Its reader gets it too; there may be none yet.
      from.on('error', () => {})
      return answer
    }
    const most = statusCode < 300 ? pageBytesMost : refusalBytesMost
    deadline.allow(Math.min(lengthBytes, most))
    const pieces: Uint8Array[] = []
    for await (const piece of boundedPieces(from, most)) pieces.push(piece)
    const bytes = concatBytes(pieces)
    response.body = isPlain(bytes) ? trimmed(bytes) : new Uint8Array(0)
    return answer
  } catch (cause) {
    throw deadline.reason ?? cause
  } finally {
    // What becomes of the rest of a body after the answer does not matter.
    if (body instanceof Readable && !body.readableEnded) {
      deadline.stop()
      body.destroy()
    }
    if (!isStreamed) deadline.end()
  }
}

/**
 * False for XML on which a parser may work for long: tags without number, and document types, comments and CDATA, which the
 * answers of stores do not have.
 */
function isPlain(bytes: Uint8Array): boolean {
  const [open, bang] = [0x3c, 0x21]
  let tags = 0
  for (let at = bytes.indexOf(open); at >= 0; at = bytes.indexOf(open, at + 1)) {
    if (bytes[at + 1] === bang || ++tags > tagsMost) return false
  }
  return true
}

/** Without blanks at the end: the SDK knows an error under status 200 by the last signs of its body. */
function trimmed(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte > 0x20) + 1)
}

/** Without one, a signal makes an error with its stack for each request. */
const noReason = 'ended'

/** Ends an exchange that takes longer than it may. */
class Deadline {
  readonly #guard: Guard
  readonly #ended = new AbortController()
  #running = new AbortController()
  /** Why the exchange was ended, if it was. */
  reason: Error | undefined

  constructor(guard: Guard) {
    this.#guard = guard
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** From now on, for an answer and for so many bytes. */
  allow(bytes: number): void {
    this.end()
    const { signal } = (this.#running = new AbortController())
    const ms = this.#guard.answerMs + bytes / bytesPerMs
    void this.#guard.clock.sleep(ms, signal).then(() => {
      if (!signal.aborted) this.stop(new TooSlow(`it took longer than ${Math.round(ms)} ms`))
    })
  }

  stop(reason?: Error): void {
    this.reason ??= reason
    this.#ended.abort(reason ?? noReason)
  }

  end(): void {
    this.#running.abort(noReason)
  }
}
