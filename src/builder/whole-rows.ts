// All rows of a message, or of a large batch whose parts are read again from the log: what the fold judges.

import { concatBytes } from '../lib/bytes.ts'
import type { EventLog } from '../log/event-log.ts'
import { decodeMessage } from '../log/message-codec.ts'
import type { RowsHeader } from '../log/messages.gen.ts'
import { HaltError } from '../model/errors.ts'
import type { OpenAttempt } from '../model/checkpoint.ts'
import type { WholeRows } from './dataset-state.ts'
import { summarisePayload } from './payload.ts'

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

/** The payloads of the messages at `positions`, joined. Throws as `readRowsMessage`. */
export async function readPayload(log: EventLog, partition: number, positions: readonly number[]): Promise<Uint8Array> {
  const payloads: Uint8Array[] = []
  for (const position of positions) payloads.push((await readRowsMessage(log, partition, position)).payload)
  const [only] = payloads
  return only !== undefined && payloads.length === 1 ? only : concatBytes(payloads)
}

/** A message that is whole by itself. */
export function wholeMessage(position: number, { header, payload }: RowsMessage): WholeRows {
  return {
    batches: header.batches ?? [],
    schema: header.schema,
    summary: summarisePayload(payload),
    payloadBytes: payload.length,
    atMs: Date.parse(header.at),
    positions: [position],
  }
}

/** A large batch whose last part is at `position`, after those of `attempt`. Throws as `readRowsMessage`. */
export async function wholeAttempt(
  log: EventLog,
  partition: number,
  at: { readonly position: number; readonly attempt: OpenAttempt | undefined; readonly last: RowsMessage },
): Promise<WholeRows> {
  const { position, attempt, last } = at
  const messages: RowsMessage[] = []
  for (const earlier of attempt?.positions ?? []) messages.push(await readRowsMessage(log, partition, earlier))
  messages.push(last)
  const first = messages[0]?.header ?? last.header
  const payload = concatBytes(messages.map((message) => message.payload))
  return {
    batches: first.batches ?? [],
    schema: first.schema,
    summary: summarisePayload(payload),
    payloadBytes: payload.length,
    atMs: Math.max(...messages.map(({ header }) => Date.parse(header.at))),
    positions: [...(attempt?.positions ?? []), position],
  }
}
