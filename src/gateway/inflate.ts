// A compressed body as inflated chunks, to its last byte: every gzip member and every zstd frame is read, and what lies
// after the end of a stream is an error, because zlib's own streams drop it without a word.

import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { NodeError } from '../model/errors.ts'
import type { ContentEncoding } from './controls.ts'

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
      for (let rest = chunk; rest.length > 0; ) {
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
