// The body of a request as inflated chunks, counted while they are read: nothing is buffered beyond its cap. Every gzip
// member and every zstd frame is read, and what lies after the end of a stream is an error: zlib's own streams drop it.

import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { copyBytes } from '../../libraries/base/bytes.ts'
import type { Limits } from '../../libraries/base/limits.ts'
import { NodeError } from '../../libraries/base/errors.ts'

export type ContentEncoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/**
 * Bytes as the body of a request. They are copied: chunks of a body are freed once they are read, and the owner of these may
 * have to send them again. (`Readable.from` costs as much as all else of a small body.)
 */
export function bodyOf(bytes: Uint8Array): Readable {
  const body = new Readable({ read: () => {} })
  if (bytes.length > 0) body.push(copyBytes(bytes))
  body.push(null)
  return body
}

/** Takes the bytes of a body as they are sent. */
export interface SentBytes {
  update(bytes: Uint8Array): void
}

/**
 * Inflated chunks of `stream`; `seen` is told the bytes as sent, and where it is given the stream can be read on when
 * this ends before it. Throws NodeError `BodyTooLarge`, `MalformedBody`.
 */
export async function* bodyChunks(
  stream: Readable,
  encoding: ContentEncoding | undefined,
  limits: Limits,
  seen?: SentBytes,
): AsyncGenerator<Uint8Array> {
  const sent = { bytes: 0 }
  const counted = countSent(stream, sent, limits, seen)
  if (encoding === undefined) {
    yield* counted
    return
  }
  let inflatedBytes = 0
  try {
    for await (const chunk of inflated(counted, encoding)) {
      inflatedBytes += chunk.length
      if (inflatedBytes > limits.inflatedBytes) throw tooLarge('inflatedBytes', limits.inflatedBytes)
      if (inflatedBytes > 1024 * 1024 && inflatedBytes > sent.bytes * limits.inflatedRatio) {
        throw new NodeError('BodyTooLarge', `The body inflates to more than ${limits.inflatedRatio} times its size.`, {
          limit: { name: 'inflatedRatio', value: limits.inflatedRatio, unit: 'times' },
          hint: 'Send it in smaller batches, or less compressed.',
        })
      }
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof NodeError) throw cause
    throw new NodeError('MalformedBody', `The body is not valid ${encoding}.`, {
      hint: 'Check Content-Encoding against what was sent; a cut-off upload looks like this too.',
      cause,
    })
  }
}

async function* countSent(
  stream: Readable,
  sent: { bytes: number },
  limits: Limits,
  seen: SentBytes | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: seen === undefined })) {
      sent.bytes += (chunk as Uint8Array).length // request bodies are Buffers
      if (sent.bytes > limits.bodyBytes) throw tooLarge('bodyBytes', limits.bodyBytes)
      seen?.update(chunk as Uint8Array) // request bodies are Buffers
      yield chunk as Uint8Array // request bodies are Buffers
    }
  } catch (cause) {
    throw cutOff(cause)
  }
}

/** All bytes of a small body, without the cost of an async iterator. Throws NodeError `MalformedBody`. */
export function wholeBody(stream: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed) return reject(cutOff(undefined))
    const chunks: Uint8Array[] = []
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    stream.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)))
    stream.on('error', (cause) => reject(cutOff(cause)))
    stream.on('close', () => {
      if (!stream.readableEnded) reject(cutOff(undefined))
    })
  })
}

/** Reads the rest of `stream`, up to the largest body, after what failed in it. Throws NodeError as `bodyChunks`. */
export async function readRest(stream: Readable, limits: Limits, seen: SentBytes): Promise<void> {
  for await (const chunk of countSent(stream, { bytes: 0 }, limits, seen)) void chunk
}

function cutOff(cause: unknown): NodeError {
  if (cause instanceof NodeError) return cause
  return new NodeError('MalformedBody', 'The body ended before its end.', {
    hint: 'Send it again; nothing was stored.',
    cause,
  })
}

/** The error for a declared Content-Length over the cap, or a body that grew over it. */
export function tooLarge(name: 'bodyBytes' | 'inflatedBytes', value: number): NodeError {
  return new NodeError('BodyTooLarge', `The body is larger than ${value} bytes.`, {
    limit: { name, value, unit: 'bytes' },
    hint: 'Split it into several batches.',
  })
}

/** Frames that follow one another within chunks of one body: each costs an inflater, whatever its size. */
const mostFrames = 16_384

/** Inflates `chunks`. Throws NodeError `MalformedBody` for what is left over, and what zlib throws. */
export async function* inflated(
  chunks: AsyncIterable<Uint8Array>,
  encoding: ContentEncoding,
): AsyncGenerator<Uint8Array> {
  let frame = new Frame(encoding)
  let frames = 1
  try {
    for await (const chunk of chunks) {
      for (let rest = chunk; rest.length > 0;) {
        if (frame.isOver) {
          // gzip pads with zeros, up to the block size of a tape for instance.
          if (encoding === 'gzip' && rest.every((byte) => byte === 0)) break
          if (encoding !== 'zstd') throw leftOver(encoding)
          if (++frames > mostFrames) throw tooManyFrames()
          frame.close()
          frame = new Frame(encoding)
        }
        yield* frame.push(rest)
        // mutant: a frame is dropped
        rest = rest.subarray(frame.taken)
      }
    }
    if (!frame.isOver) yield* frame.end()
  } finally {
    frame.close()
  }
}

/** One run of zlib: a stream of br or deflate, any number of gzip members, or zstd frames that end where chunks end. */
class Frame {
  /** Bytes that the last `push` took. */
  taken = 0
  /** Bytes were left over: what comes next is not of this frame. */
  isOver = false
  readonly #inflater: ReturnType<typeof createInflater>
  #error: Error | undefined
  #wake = (): void => {}

  constructor(encoding: ContentEncoding) {
    this.#inflater = createInflater(encoding)
    this.#inflater.on('readable', () => this.#wake())
    this.#inflater.on('error', (error) => {
      this.#error = error
      this.#wake()
    })
  }

  async *push(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    const before = this.#inflater.bytesWritten
    yield* this.#outputs((done) => this.#inflater.write(bytes, done))
    this.taken = this.#inflater.bytesWritten - before
    this.isOver = this.taken < bytes.length
  }

  /** The last of it. Throws what zlib throws when the stream is not complete. */
  async *end(): AsyncGenerator<Uint8Array> {
    yield* this.#outputs((done) => this.#inflater.once('end', done).end())
  }

  close(): void {
    this.#inflater.destroy()
  }

  /** What comes out until `work` is done; zlib waits while nobody reads. */
  async *#outputs(work: (done: (error?: Error | null) => void) => void): AsyncGenerator<Uint8Array> {
    let isDone = false
    work((error) => {
      isDone = true
      this.#error ??= error ?? undefined
      this.#wake()
    })
    for (;;) {
      const piece: Uint8Array | null = this.#inflater.read() // no encoding is set
      if (piece !== null) {
        yield piece
        continue
      }
      if (this.#error !== undefined) throw this.#error
      if (isDone) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

function leftOver(encoding: ContentEncoding): NodeError {
  return new NodeError('MalformedBody', `Bytes are left over after the end of the ${encoding} stream.`, {
    hint: 'Compress the whole body as one stream; only gzip and zstd may be several, one after the other.',
  })
}

function tooManyFrames(): NodeError {
  return new NodeError('MalformedBody', `The body has more than ${mostFrames} zstd frames.`, {
    hint: 'Compress the whole body as one frame.',
  })
}

function createInflater(encoding: ContentEncoding): ReturnType<typeof createGunzip> {
  switch (encoding) {
    case 'gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
  }
}
