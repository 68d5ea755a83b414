// ODF schemas: data types, fields, the vocabulary of system columns. Pure values; their JSON form is OdfJson.
// Source: Open Data Fabric specification, DataSchema and DatasetVocabulary.

export type TimeUnit = 'Second' | 'Millisecond' | 'Microsecond' | 'Nanosecond'

/** An ODF data type. Absent `unit`/`timezone` of Timestamp mean millisecond, UTC. */
export type DataType =
  | { readonly kind: 'Bool' | 'Date' | 'Float16' | 'Float32' | 'Float64' | 'Null' | 'String' }
  | { readonly kind: 'Int8' | 'Int16' | 'Int32' | 'Int64' | 'UInt8' | 'UInt16' | 'UInt32' | 'UInt64' }
  | { readonly kind: 'Binary'; readonly fixedLength?: number }
  | { readonly kind: 'Decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'Duration' | 'Time'; readonly unit?: TimeUnit }
  | { readonly kind: 'Timestamp'; readonly unit?: TimeUnit; readonly timezone?: string }
  | { readonly kind: 'List'; readonly itemType: DataType; readonly fixedLength?: number }
  | { readonly kind: 'Map'; readonly keyType: DataType; readonly valueType: DataType; readonly keysSorted?: boolean }
  | { readonly kind: 'Option'; readonly inner: DataType }
  | { readonly kind: 'Struct'; readonly fields: readonly Field[] }

/** `extra` holds ODF extra attributes, whatever JSON they are; keys sorted when encoded. */
export interface Field {
  readonly name: string
  readonly type: DataType
  readonly extra?: Readonly<Record<string, unknown>>
}

export interface DataSchema {
  readonly fields: readonly Field[]
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Names of the system columns (ODF DatasetVocabulary, complete). */
export interface Vocabulary {
  readonly offsetColumn: string
  readonly operationTypeColumn: string
  readonly systemTimeColumn: string
  readonly eventTimeColumn: string
}

export const defaultVocabulary: Vocabulary = {
  offsetColumn: 'offset',
  operationTypeColumn: 'op',
  systemTimeColumn: 'system_time',
  eventTimeColumn: 'event_time',
}

export const timestampMs: DataType = { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' }

/** True when the type admits null. */
export function isOptional(type: DataType): boolean {
  return type.kind === 'Option'
}

/** The type without its outer Option. */
export function innerType(type: DataType): DataType {
  return type.kind === 'Option' ? type.inner : type
}

/** `type` made optional; unchanged when it already is. */
export function optional(type: DataType): DataType {
  return type.kind === 'Option' ? type : { kind: 'Option', inner: type }
}

/** The first four fields of every dataset: offset Int64, op Int32, system_time, event time (all required). */
export function systemFields(vocabulary: Vocabulary, eventTimeType: DataType = timestampMs): Field[] {
  return [
    { name: vocabulary.offsetColumn, type: { kind: 'Int64' } },
    { name: vocabulary.operationTypeColumn, type: { kind: 'Int32' } },
    { name: vocabulary.systemTimeColumn, type: timestampMs },
    { name: vocabulary.eventTimeColumn, type: eventTimeType },
  ]
}
