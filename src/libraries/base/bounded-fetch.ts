// One request to a party elsewhere (a witness, a time-stamp authority, a ledger) and its answer, bounded in time and bytes. No
// redirect is followed: what is asked goes where it was sent.

import { BodyTooLong, boundedPieces } from './bounded-body.ts'
import { concatBytes } from './bytes.ts'

const answerBytesMost = 65_536
const shortestRetryMs = 1_000

export interface Answered {
  readonly status: number
  /** Why there are none: they are more than they may be, or not all came. */
  readonly bytes: Uint8Array | 'too long' | 'broken off'
  readonly retryAfter: number
}

export interface Asked extends Omit<RequestInit, 'signal'> {
  /** Ends it. */
  readonly signal?: AbortSignal
  readonly mostMs: number
  /** Default: 64 KiB. */
  readonly mostBytes?: number
}

/** Throws where no answer begins within `mostMs`. */
export async function boundedFetch(
  url: string,
  { signal, mostMs, mostBytes = answerBytesMost, ...init }: Asked,
): Promise<Answered> {
  const end = AbortSignal.any([...(signal === undefined ? [] : [signal]), AbortSignal.timeout(mostMs)])
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: end })
  const seconds = Number(answer.headers.get('retry-after'))
  return {
    status: answer.status,
    bytes: await bodyOf(answer, mostBytes),
    retryAfter: seconds > 0 ? seconds * 1000 : shortestRetryMs,
  }
}

async function bodyOf(answer: Response, mostBytes: number): Promise<Answered['bytes']> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of boundedPieces(answer.body, mostBytes)) pieces.push(piece)
  } catch (error) {
    return error instanceof BodyTooLong ? 'too long' : 'broken off'
  }
  return concatBytes(pieces)
}
