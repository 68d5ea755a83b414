// The source state that each data block carries: where in the log the chain has read to. A chain is tied to its log
// by this alone. Text: canonical JSON `{"anchor","log","next","partition"}`, and `"adopted"` in the first block of
// another log.

import { canonicalText } from '../json/canonical.ts'
import { fromPlain, parseJson, type PlainJson, toPlain } from '../json/json.ts'
import { DecodeError } from '../model/errors.ts'
import type { Hash, SourceState } from '../model/events.ts'
import type { LeftLog } from './records.ts'

/** Kind of the source state. */
export const logPositionKind = 'proofstream.dev/log-position'

export interface LogPosition {
  readonly log: string
  readonly partition: number
  /** Position after the last message that the chain consumed. */
  readonly next: number
  /** sha3-256 multihash of the message at `next - 1`. */
  readonly anchor: Hash
  /** The logs that were given up since the block before, oldest first; absent in a block of the same log. */
  readonly adopted?: readonly LeftLog[]
}

/** The `value` of the source state. */
export function logPositionText({ anchor, log, next, partition, adopted }: LogPosition): string {
  return canonicalText(fromPlain({ anchor, log, next, partition, ...(adopted === undefined ? {} : { adopted }) }))
}

/** What a source state says about the log; undefined when it is of another kind. Throws `DecodeError`. */
export function logPositionOf(state: SourceState | undefined): LogPosition | undefined {
  if (state?.kind !== logPositionKind) return undefined
  const plain = toPlain(parseJson(state.value))
  if (!isObject(plain)) throw fault('is no object')
  const { anchor, log, next, partition, adopted } = plain
  if (typeof anchor !== 'string' || typeof log !== 'string') throw fault('anchor and log are no texts')
  if (!isPosition(next) || !isPosition(partition)) throw fault('next and partition are no natural numbers')
  const left = adopted === undefined ? {} : { adopted: leftLogs(adopted) }
  const position: LogPosition = { anchor, log, next, partition, ...left }
  if (logPositionText(position) !== state.value) throw fault('is not in the canonical form')
  return position
}

function leftLogs(value: PlainJson): readonly LeftLog[] {
  if (!Array.isArray(value) || value.length === 0) throw fault('adopted is no list of logs')
  return value.map((item: PlainJson) => {
    const { log, partition, givenUp } = isObject(item) ? item : {}
    if (typeof log !== 'string' || !isPosition(partition)) throw fault('adopted names no log')
    return { log, partition, ...(givenUp === undefined ? {} : { givenUp: givenUpOf(givenUp) }) }
  })
}

function givenUpOf(value: PlainJson): NonNullable<LeftLog['givenUp']> {
  const { from, to } = isObject(value) ? value : {}
  if (!isPosition(from)) throw fault('givenUp has no beginning')
  if (to === undefined) return { from }
  if (!isPosition(to)) throw fault('the end of givenUp is no natural number')
  return { from, to }
}

function isObject(value: PlainJson): value is { readonly [name: string]: PlainJson } {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function fault(reason: string): DecodeError {
  return new DecodeError('log position', reason)
}
