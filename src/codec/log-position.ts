// The source state that each data block carries: where in the log the chain has read to. A chain is tied to its log
// by this alone. Text: canonical JSON `{"anchor","log","next","partition"}`.

import { DecodeError } from '../model/errors.ts'
import type { Hash, SourceState } from '../model/events.ts'
import { canonicalText } from './canonical-json.ts'
import { fromPlain, parseJson, toPlain } from './json.ts'

/** Kind of the source state. */
export const logPositionKind = 'proofstream.dev/log-position'

export interface LogPosition {
  readonly log: string
  readonly partition: number
  /** Position after the last message that the chain consumed. */
  readonly next: number
  /** sha3-256 multihash of the message at `next - 1`. */
  readonly anchor: Hash
}

/** The `value` of the source state. */
export function logPositionText({ anchor, log, next, partition }: LogPosition): string {
  return canonicalText(fromPlain({ anchor, log, next, partition }))
}

/** What a source state says about the log; undefined when it is of another kind. Throws `DecodeError`. */
export function logPositionOf(state: SourceState | undefined): LogPosition | undefined {
  if (state?.kind !== logPositionKind) return undefined
  const plain = toPlain(parseJson(state.value))
  if (plain === null || typeof plain !== 'object' || Array.isArray(plain)) throw fault('is no object')
  const { anchor, log, next, partition } = plain
  if (typeof anchor !== 'string' || typeof log !== 'string') throw fault('anchor and log are no texts')
  if (!isPosition(next) || !isPosition(partition)) throw fault('next and partition are no natural numbers')
  const position: LogPosition = { anchor, log, next, partition }
  if (logPositionText(position) !== state.value) throw fault('is not in the canonical form')
  return position
}

function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function fault(reason: string): DecodeError {
  return new DecodeError('log position', reason)
}
