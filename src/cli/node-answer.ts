// What a command takes for the answer of a node: bytes and values in bounds, and the sentence for what is none.

import type { IncomingMessage } from 'node:http'
import { DecodeError, type JsonValue, parseJson } from '../index.ts'
import { BodyTooLong, boundedPieces } from '../libraries/base/bounded-body.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import type { HttpAnswer } from './problem.ts'

/** More is no text that a program can hold. */
const answerBytes = 512 * 1024 * 1024
/** More take gigabytes, however few bytes they are. */
const answerValues = 10_000_000
const refusalBytes = 1024 * 1024
/** Deeper than any answer of a node: its own limit is 64 for what it takes in. */
const answerDepth = 256

/** `origin` answers as no node does; `fault` says how: `answered 200 with something that is not JSON`. */
export function noNode(origin: string, fault: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.failed, `${origin} ${fault}.`, {
    hint: 'Is this the address of a Proofstream node?',
    cause,
  })
}

/** The whole body. Throws CommandFailure where it is too long, and what reading throws. */
export async function readBody(response: IncomingMessage, origin: string): Promise<Uint8Array> {
  const { statusCode: status = 0 } = response
  const most = status < 300 ? answerBytes : refusalBytes
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of boundedPieces(response, most)) chunks.push(chunk)
  } catch (error) {
    if (!(error instanceof BodyTooLong)) throw error
    throw noNode(origin, `answered ${status} with more than ${most} bytes`, error)
  }
  return Buffer.concat(chunks)
}

/** The body as a value; number tokens are kept. Throws CommandFailure. */
export function readJson({ bytes, status }: Pick<HttpAnswer, 'bytes' | 'status'>, origin: string): JsonValue {
  try {
    return parseJson(bytes, { maxDepth: answerDepth, maxValues: answerValues })
  } catch (cause) {
    const isLong = cause instanceof DecodeError && 'fault' in cause && cause.fault === 'values'
    if (!isLong) throw noNode(origin, `answered ${status} with something that is not JSON`, cause)
    throw new CommandFailure(exitCodes.failed, `${origin} answered with more than ${answerValues} values.`, {
      hint: 'Ask for fewer rows, or save them as a file (-o).',
      cause,
    })
  }
}
