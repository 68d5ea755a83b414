// A dataset's schema as the readers and the log need it, computed once per schema. Pure.

import { must } from '../lib/assert.ts'
import {
  type DataSchema,
  type DataType,
  type Field,
  type Vocabulary,
  defaultVocabulary,
  innerType,
  systemFields,
} from '../model/schema.ts'

/** Attribute of the event-time field that says where among the user columns the dataset declares it (0-based). */
export const columnPositionKey = 'proofstream.dev/column-position'

const systemColumnsBeforeEventTime = 3

export interface Shape {
  readonly vocabulary: Vocabulary
  /** Full schema, system columns included; undefined before the first. */
  readonly schema: DataSchema | undefined
  /** Sequence of the block that set it; -1 when there is none. */
  readonly schemaSequence: number
  readonly eventTimeType: DataType
  /** What the readers match against: user columns, with the event-time column where the schema declares it. */
  readonly fields: readonly Field[]
  /** What a message carries: event time, then user columns. */
  readonly payloadFields: readonly Field[]
}

const shapes = new WeakMap<DataSchema, Map<number, Shape>>()

/** The shape of a full schema (system columns first). One object per schema and sequence, so that caches hold. */
export function shapeOf(schema: DataSchema, schemaSequence: number, vocabulary: Vocabulary): Shape {
  const bySequence = shapes.get(schema) ?? new Map<number, Shape>()
  shapes.set(schema, bySequence)
  const held = bySequence.get(schemaSequence)
  if (held !== undefined) return held
  const payloadFields = schema.fields.slice(systemColumnsBeforeEventTime)
  const eventTime = must(payloadFields[0], 'a schema has its system columns')
  const fields = payloadFields.slice(1)
  const position = eventTime.extra?.[columnPositionKey]
  if (typeof position === 'number') fields.splice(position, 0, eventTime)
  const shape = { vocabulary, schema, schemaSequence, eventTimeType: innerType(eventTime.type), fields, payloadFields }
  bySequence.set(schemaSequence, shape)
  return shape
}

/** The full schema of user columns; an event-time column among them moves to the fourth place and its place is kept. */
export function fullSchema(
  userFields: readonly Field[],
  options: { vocabulary?: Vocabulary; eventTimeType?: DataType } = {},
): DataSchema {
  const vocabulary = options.vocabulary ?? defaultVocabulary
  const at = userFields.findIndex((field) => field.name === vocabulary.eventTimeColumn)
  const declared = userFields[at]
  const eventTimeType =
    options.eventTimeType ?? (declared === undefined ? undefined : storedEventTimeType(declared.type))
  const [offset, op, systemTime, eventTime] = systemFields(vocabulary, eventTimeType)
  const system = [
    offset,
    op,
    systemTime,
    declared === undefined ? eventTime : { ...must(eventTime, 'event time'), extra: { [columnPositionKey]: at } },
  ]
  return {
    fields: [
      ...system.map((field) => must(field, 'a system column')),
      ...userFields.filter((_, index) => index !== at),
    ],
  }
}

/** Event time is stored in milliseconds, whatever unit was declared; a Date stays a Date. */
function storedEventTimeType(type: DataType): DataType {
  const inner = innerType(type)
  return inner.kind === 'Date' ? inner : { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' }
}
