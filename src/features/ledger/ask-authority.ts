// One request to a time-stamp authority for the text of a head, and what came of it. Nothing of the library for such stamps is loaded
// before. Source: https://www.rfc-editor.org/rfc/rfc3161

import { DecodeError } from '../../libraries/base/errors.ts'
import { randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { type Answered, exchange } from './exchange.ts'
import type { TsaOptions } from './options.ts'

const answerMsMost = 10_000
const nonceBytes = 16

/** `reason` is for operators, and has nothing of the address in it. `retryMs`: how long the authority wants to be left alone. */
export type Stamping =
  | { readonly kind: 'stamped'; readonly atMs: number; readonly response: Uint8Array }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryMs?: number }

/** Asks once. An answer that breaks a rule is a failure as none is. */
export async function askAuthority(
  { url, authorization }: Pick<TsaOptions, 'url' | 'authorization'>,
  text: string,
  signal: AbortSignal,
): Promise<Stamping> {
  const { openTimestamp, timestampRequest } = await import('../../libraries/ledger/timestamp-token.ts')
  const nonce = randomBytes(nonceBytes)
  const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' }
  let answer: Answered
  try {
    answer = await exchange(url, {
      signal,
      mostMs: answerMsMost,
      method: 'POST',
      headers: authorization === undefined ? headers : { ...headers, authorization },
      body: timestampRequest(text, nonce),
    })
  } catch {
    return { kind: 'failed', reason: 'it gave no answer in time' }
  }
  const { status, bytes, retryAfter: retryMs } = answer
  // Some say that they have created it.
  if (status !== 200 && status !== 201) return { kind: 'failed', reason: `it answered ${status}`, retryMs }
  if (bytes === undefined) return { kind: 'failed', reason: 'its answer is too long, or broke off' }
  try {
    return { kind: 'stamped', atMs: openTimestamp(bytes, text, nonce).atMs, response: bytes }
  } catch (error) {
    if (error instanceof DecodeError) return { kind: 'failed', reason: error.message }
    throw error
  }
}
