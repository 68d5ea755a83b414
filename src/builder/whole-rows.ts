// All rows of a message, or of a large batch whose parts are read again from the log: what the fold judges. Rows that an
// operator has rejected are not looked into: whatever is wrong with them may be why.

import type { OpenAttempt } from '../chain/checkpoint.ts'
import type { EventLog } from '../log/event-log.ts'
import type { RowsHeader } from '../log/messages.gen.ts'
import { decodeMessage } from '../log/messages.ts'
import { HaltError } from '../model/errors.ts'
import type { WholeRows } from './dataset-state.ts'
import { PayloadSummariser, type PayloadSummary } from './payload.ts'

interface RowsMessage {
  readonly header: RowsHeader
  readonly payload: Uint8Array
}

/** The rows message at `position`. Throws HaltError `LogTruncated` when it is gone, `LogReplaced` when it is another. */
export async function readRowsMessage(log: EventLog, partition: number, position: number): Promise<RowsMessage> {
  const bytes = await log.get(partition, position)
  if (bytes === undefined) throw new HaltError('LogTruncated', `message ${position} is needed and gone`)
  const message = decodeMessage(bytes)
  if (message.kind !== 'message' || message.header.kind !== 'rows') {
    throw new HaltError('LogReplaced', `message ${position} has no rows`)
  }
  return { header: message.header, payload: message.payload }
}

/** The payloads of the messages at `positions`, one after another: one Arrow stream. Throws as `readRowsMessage`. */
export async function* readPayload(
  log: EventLog,
  partition: number,
  positions: readonly number[],
): AsyncGenerator<Uint8Array> {
  for (const position of positions) yield (await readRowsMessage(log, partition, position)).payload
}

const notLookedInto: PayloadSummary = { columns: [], rows: 0 }

/** A message that is whole by itself. `rejection`: why an operator has rejected it. */
export function wholeMessage(position: number, { header, payload }: RowsMessage, rejection?: string): WholeRows {
  return {
    batches: header.batches ?? [],
    schema: header.schema,
    summary: rejection === undefined ? summarise(payload) : notLookedInto,
    rejection,
    payloadBytes: payload.length,
    atMs: Date.parse(header.at),
    positions: [position],
  }
}

function summarise(payload: Uint8Array): PayloadSummary {
  const summariser = new PayloadSummariser()
  summariser.push(payload)
  return summariser.end()
}

/** A large batch whose last part is at `position`, after those of `attempt`. Throws as `readRowsMessage`. */
export async function wholeAttempt(
  log: EventLog,
  partition: number,
  at: {
    readonly position: number
    readonly attempt: OpenAttempt | undefined
    readonly last: RowsMessage
    readonly rejection?: string | undefined
  },
): Promise<WholeRows> {
  const { position, attempt, last, rejection } = at
  const positions = attempt?.positions ?? []
  const summariser = new PayloadSummariser()
  let first: RowsHeader | undefined
  let payloadBytes = 0
  let atMs = Number.NEGATIVE_INFINITY
  // Part after part: a large batch is never held as a whole.
  for (const each of [...positions, position]) {
    const { header, payload } = each === position ? last : await readRowsMessage(log, partition, each)
    first ??= header
    if (rejection === undefined) summariser.push(payload)
    payloadBytes += payload.length
    atMs = Math.max(atMs, Date.parse(header.at))
  }
  return {
    batches: first?.batches ?? [],
    schema: first?.schema,
    summary: rejection === undefined ? summariser.end() : notLookedInto,
    rejection,
    payloadBytes,
    atMs,
    positions: [...positions, position],
  }
}
