// Where the rows of a block came from, for log lines and metrics: never part of state, plan or block.

import type { MessageHeader } from '../log/messages.gen.ts'

/** Traces remembered of one block. */
const tracesMost = 64

/** Of the messages whose rows are in one block. */
export interface Cause {
  /** Accept time of the first of them, milliseconds since 1970 UTC; undefined while there is none. */
  readonly acceptedMs: number | undefined
  /** `traceparent` of those that have one, each once; at most 64. */
  readonly traceparents: readonly string[]
}

export const noCause: Cause = { acceptedMs: undefined, traceparents: [] }

/** `cause` and one message more. Of a large batch the last part counts: before it nothing is logged. */
export function withMessage(cause: Cause, header: MessageHeader): Cause {
  if (header.kind !== 'create' && header.kind !== 'rows') return cause
  if (header.kind === 'rows' && header.part !== undefined && header.part.number < header.part.count) return cause
  const { at, traceparent } = header
  const { acceptedMs = Date.parse(at), traceparents } = cause
  const isNew = traceparent !== undefined && traceparents.length < tracesMost && !traceparents.includes(traceparent)
  return { acceptedMs, traceparents: isNew ? [...traceparents, traceparent] : traceparents }
}
