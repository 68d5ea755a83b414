// A dataset's schema as the readers and the log need it, computed once per schema. Pure.

import { defined } from '../../libraries/base/collections.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { must } from '../../libraries/base/assert.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import {
  type DataSchema,
  type DataType,
  defaultVocabulary,
  type Field,
  innerType,
  sameType,
  systemFields,
  timestampMs,
  type Vocabulary,
} from '../../libraries/model/schema.ts'

/** Attribute of the event-time field that says where among the user columns the dataset declares it (0-based). */
export const columnPositionKey = 'proofstream.dev/column-position'

const systemColumnsBeforeEventTime = 3

export interface Shape {
  readonly vocabulary: Vocabulary
  /** Full schema, system columns included. */
  readonly schema: DataSchema
  /** Sequence of the block that set it; -1 while no block has. */
  readonly schemaSequence: number
  readonly eventTimeType: DataType
  /** What the readers match against: user columns, with the event-time column where the schema declares it. */
  readonly fields: readonly Field[]
  /** What a message carries: event time, then user columns. */
  readonly payloadFields: readonly Field[]
}

/** What rows are read against: the shape is absent before the first schema. */
export interface Target {
  readonly vocabulary: Vocabulary
  readonly shape: Shape | undefined
  /** The dataset is yet to be made: rules of how its bodies are read can be made with it. */
  readonly isNew?: boolean
  /** The rule of the dataset which field holds the event time. */
  readonly eventTime?: string
}

/** The target of a dataset at its head; of a dataset that is yet to be made when `chain` is undefined. */
export function targetOf(chain: DatasetChain | undefined): Target {
  if (chain === undefined) return { vocabulary: defaultVocabulary, shape: undefined, isNew: true }
  const { vocabulary, schema, schemaSequence } = chain.aspects
  const { eventTime } = chain.name.ingest ?? {}
  const shape = schema === undefined ? undefined : shapeOf(schema, schemaSequence, vocabulary)
  return { vocabulary, shape, ...defined({ eventTime }) }
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

/** The event-time column of a schema to be made: its type, and its place among the user columns where it is declared. */
export interface EventTime {
  readonly type: DataType
  readonly position: number | undefined
}

/** The full schema of `userFields`, which do not hold the event-time column. */
export function fullSchema(userFields: readonly Field[], vocabulary: Vocabulary, eventTime: EventTime): DataSchema {
  const { type, position } = eventTime
  const system = systemFields(vocabulary, type)
  const last = must(system.pop(), 'an event-time column')
  const extra = position === undefined ? {} : { extra: { [columnPositionKey]: position } }
  return { fields: [...system, { ...last, ...extra }, ...userFields] }
}

/**
 * The full schema of declared columns. An event-time column among them moves to the fourth place and its place is kept;
 * it is stored in milliseconds, whatever unit was declared, and a Date stays a Date.
 */
export function declaredSchema(declared: readonly Field[], vocabulary: Vocabulary): DataSchema {
  const name = foldAscii(vocabulary.eventTimeColumn)
  const at = declared.findIndex((field) => foldAscii(field.name) === name)
  const field = declared[at]
  return fullSchema(
    declared.filter((_, index) => index !== at),
    vocabulary,
    field === undefined
      ? { type: timestampMs, position: undefined }
      : { type: innerType(field.type).kind === 'Date' ? { kind: 'Date' } : timestampMs, position: at },
  )
}

/** True when `schema` has a column of the same name and type for each of `fields`. */
export function holdsColumns(schema: DataSchema, fields: readonly Field[]): boolean {
  const byName = new Map(schema.fields.map((field) => [field.name, field]))
  return fields.every((field) => {
    const there = byName.get(field.name)
    return there !== undefined && sameType(innerType(there.type), innerType(field.type))
  })
}
