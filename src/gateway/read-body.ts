// The body of a request as inflated chunks, counted while they are read: nothing is buffered beyond its cap.

import type { Readable } from 'node:stream'
import type { Limits } from '../lib/limits.ts'
import { NodeError } from '../model/errors.ts'
import type { ContentEncoding } from './controls.ts'
import { inflated } from './inflate.ts'

/** Inflated chunks of `stream`. Throws NodeError `BodyTooLarge`, `MalformedBody`. */
export async function* bodyChunks(
  stream: Readable,
  encoding: ContentEncoding | undefined,
  limits: Limits,
): AsyncGenerator<Uint8Array> {
  const sent = { bytes: 0 }
  const counted = countSent(stream, sent, limits)
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

async function* countSent(stream: Readable, sent: { bytes: number }, limits: Limits): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) {
      sent.bytes += (chunk as Uint8Array).length // request bodies are Buffers
      if (sent.bytes > limits.bodyBytes) throw tooLarge('bodyBytes', limits.bodyBytes)
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
