// One message of a dataset on its way into the fold: reads from the log what the fold needs beside the message (the
// parts of a large batch), and looks whether an operator has rejected it.

import type { EventLog, LogEntry } from '../log/event-log.ts'
import type { CreateHeader, CutHeader, MessageHeader, RowsHeader } from '../log/messages.gen.ts'
import { type DecodedMessage, decodeMessage } from '../log/messages.ts'
import { HaltError } from '../model/errors.ts'
import { rejectionOf, type Rejects } from '../store/records.ts'
import { attemptKey, type DatasetState } from './dataset-state.ts'
import { completesAttempt, foldAbort, type FoldResult, foldRows } from './fold.ts'
import { wholeAttempt, wholeMessage } from './whole-rows.ts'

/** Where messages are read from, and what was rejected there. */
export interface MessageSource {
  readonly log: EventLog
  readonly partition: number
  readonly rejects: Rejects
}

/**
 * Reads a message; one that cannot be read and that an operator has rejected is nobody's.
 * Throws HaltErrors `NewerLog`, `LogDamaged`.
 */
export function decodeEntry(rejects: Rejects, { position, bytes }: LogEntry): DecodedMessage {
  try {
    return decodeMessage(bytes)
  } catch (error) {
    if (!(error instanceof HaltError) || error.reason !== 'LogDamaged' || !rejects.has(position)) throw error
    return { kind: 'foreign' }
  }
}

/** A message of a dataset that there is. */
export interface DatasetMessage {
  readonly position: number
  readonly header: Exclude<MessageHeader, CutHeader | CreateHeader>
  readonly payload: Uint8Array
}

/**
 * Folds a message into its dataset. A rejection of a message covers all its batches; of a part, the whole large batch,
 * whose outcome stands at its last part. Throws HaltErrors `LogTruncated`, `LogReplaced` for parts that are gone.
 */
export async function foldMessage(
  from: MessageSource,
  state: DatasetState,
  { position, header, payload }: DatasetMessage,
): Promise<FoldResult> {
  if (header.kind === 'abort') return foldAbort(state, header, position)
  const last: { readonly header: RowsHeader; readonly payload: Uint8Array } = { header, payload }
  if (header.part === undefined) {
    const rejection = rejectionOf(from.rejects, state.id, [position])
    return foldRows(state, { position, header, whole: wholeMessage(position, last, rejection) })
  }
  if (!completesAttempt(state, header)) return foldRows(state, { position, header, whole: undefined })
  const attempt = state.attempts.get(attemptKey(header.part.attempt))
  const rejection = rejectionOf(from.rejects, state.id, [...(attempt?.positions ?? []), position])
  const whole = await wholeAttempt(from.log, from.partition, { position, attempt, last, rejection })
  return foldRows(state, { position, header, whole })
}
