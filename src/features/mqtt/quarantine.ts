// Messages that can never be stored where they belong: rows of the dataset `<account>/quarantine`, private, which is made
// with the first of them (docs/decisions/streams.md#mqtt). Pure.

import { isUtf8 } from 'node:buffer'
import { type IngestControls, readControls } from '../../node/gateway/controls.ts'
import { declaredSchema } from '../../node/gateway/shape.ts'
import { timeText } from '../../libraries/base/clock.ts'
import type { NodeError } from '../../libraries/base/errors.ts'
import { type Alias, parseAlias } from '../../libraries/model/names.ts'
import { type DataSchema, type DataType, defaultVocabulary, optional } from '../../libraries/model/schema.ts'
import type { Route } from './route.ts'
import type { Publish } from './window.ts'

const text: DataType = { kind: 'String' }

/** The event time is when the message came. */
export const quarantineSchema: DataSchema = declaredSchema(
  [
    { name: 'topic', type: text },
    { name: 'dataset', type: text },
    { name: 'kind', type: text },
    { name: 'reason', type: text },
    { name: 'payload', type: optional(text) },
    { name: 'payload_base64', type: optional(text) },
    { name: 'payload_bytes', type: { kind: 'Int64' } },
  ],
  defaultVocabulary,
)

export const quarantineControls: IngestControls = readControls(
  { 'content-type': 'application/json', prefer: 'respond-async' },
  {},
)

/** Where the messages of a dataset's account go. */
export function quarantineOf({ account }: Alias): Alias {
  return parseAlias(account, 'quarantine')
}

/** A character of a text takes up to six bytes as JSON; what stands beside it is small. */
const growth = 8

interface Refused {
  readonly route: Route
  readonly refusal: NodeError
  readonly receivedMs: number
  /** A payload that would make a longer record is cut. */
  readonly recordBytes: number
}

/** The row of a message. */
export function quarantineRow(message: Publish, { route, refusal, receivedMs, recordBytes }: Refused): object {
  const { topic, payload, lostBytes } = message
  const kept = payload.subarray(0, Math.floor(recordBytes / growth))
  // A text that was cut may end within a character.
  const isText = isUtf8(kept)
  const { errors, hint } = refusal.details
  const first = errors?.[0]?.message ?? (refusal.kind === 'Internal' ? String(refusal.cause) : hint)
  return {
    event_time: timeText(receivedMs),
    topic,
    dataset: route.alias.text,
    kind: errors?.[0]?.kind ?? refusal.kind,
    reason: first === undefined ? refusal.message : `${refusal.message} ${first}`,
    ...(isText ? { payload: kept.toString('utf8') } : { payload_base64: kept.toString('base64') }),
    payload_bytes: payload.length + lostBytes,
  }
}
