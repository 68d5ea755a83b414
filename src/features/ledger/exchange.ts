// One request to a party elsewhere (a witness, a time-stamp authority, a followed ledger) and its answer, bounded in time and bytes.
// No redirect is followed: what is asked goes where the options say.

import { boundedPieces } from '../../libraries/base/bounded-body.ts'
import { concatBytes } from '../../libraries/base/bytes.ts'

const answerBytesMost = 65_536
const shortestRetryMs = 1_000

export interface Answered {
  readonly status: number
  /** Undefined where there are too many of them, or not all came. */
  readonly bytes: Uint8Array | undefined
  readonly retryAfter: number
}

export type Exchange = typeof exchange

/** Throws where no answer begins within `mostMs`. */
export async function exchange(
  url: string,
  { signal, mostMs, ...init }: RequestInit & { readonly signal: AbortSignal; readonly mostMs: number },
): Promise<Answered> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(mostMs)])
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: end })
  const seconds = Number(answer.headers.get('retry-after'))
  return {
    status: answer.status,
    bytes: await bodyOf(answer),
    retryAfter: seconds > 0 ? seconds * 1000 : shortestRetryMs,
  }
}

async function bodyOf(answer: Response): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of boundedPieces(answer.body, answerBytesMost)) pieces.push(piece)
  } catch {
    return undefined
  }
  return concatBytes(pieces)
}
