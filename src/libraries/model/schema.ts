// ODF schemas: data types, fields, the vocabulary of system columns, and the pure rules over them: the short text of a
// type, when two types are the same, which columns a dataset can store, which changes of a schema a chain admits. Record
// batches too: typed columns in Arrow buffer layout (little-endian), what readers make, the log carries, slices hold.
// Sources: Open Data Fabric specification, DataSchema and DatasetVocabulary; for the changes also the reference
// implementation's checks of SetDataSchema, as observed.

import { utf8 } from '../base/bytes.ts'
import { sameValue } from '../base/compare.ts'
import { NodeError } from '../base/errors.ts'
import { foldAscii } from './names.ts'

export type TimeUnit = 'Second' | 'Millisecond' | 'Microsecond' | 'Nanosecond'

/** By their numbers in the blocks of Open Data Fabric, which are also those of Arrow and of its logical hash. */
export const timeUnits: readonly TimeUnit[] = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond']

export const unitsPerSecond: Readonly<Record<TimeUnit, number>> = {
  Second: 1,
  Millisecond: 1e3,
  Microsecond: 1e6,
  Nanosecond: 1e9,
}

/** Nanoseconds of a unit; the default is that of types that name none. */
export function unitNanos(unit: TimeUnit = 'Millisecond'): bigint {
  return BigInt(1e9 / unitsPerSecond[unit])
}

/** ODF data types, and `More` beside them at any place. Absent `unit`/`timezone` of Timestamp mean millisecond, UTC. */
type TypeWith<More> =
  | { readonly kind: 'Bool' | 'Date' | 'Float16' | 'Float32' | 'Float64' | 'Null' | 'String' }
  | { readonly kind: 'Int8' | 'Int16' | 'Int32' | 'Int64' | 'UInt8' | 'UInt16' | 'UInt32' | 'UInt64' }
  | { readonly kind: 'Binary'; readonly fixedLength?: number }
  | { readonly kind: 'Decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'Duration' | 'Time'; readonly unit?: TimeUnit }
  | { readonly kind: 'Timestamp'; readonly unit?: TimeUnit; readonly timezone?: string }
  | { readonly kind: 'List'; readonly itemType: TypeWith<More>; readonly fixedLength?: number }
  | {
      readonly kind: 'Map'
      readonly keyType: TypeWith<More>
      readonly valueType: TypeWith<More>
      readonly keysSorted?: boolean
    }
  | { readonly kind: 'Option'; readonly inner: TypeWith<More> }
  | { readonly kind: 'Struct'; readonly fields: readonly FieldOf<TypeWith<More>>[] }
  | More

/** `extra` holds ODF extra attributes, whatever JSON they are; keys sorted when encoded. */
interface FieldOf<Type> {
  readonly name: string
  readonly type: Type
  readonly extra?: Readonly<Record<string, unknown>>
}

interface SchemaOf<Type> {
  readonly fields: readonly FieldOf<Type>[]
  readonly extra?: Readonly<Record<string, unknown>>
}

export type DataType = TypeWith<never>
export type Field = FieldOf<DataType>
export type DataSchema = SchemaOf<DataType>

/** What expressions can make and ODF has no word for; prints as `{"tag","value"}`. */
interface UnionType {
  readonly kind: 'Union'
  readonly members: readonly OutputField[]
}

/** The `timezone` of timestamps that have none: columns of answers do, those of datasets never. */
export const noZone = ''

/** The columns of an answer; every DataSchema is one. libraries/odf/schema-formats.ts spells them. */
export type OutputType = TypeWith<UnionType>
export type OutputField = FieldOf<OutputType>
export type OutputSchema = SchemaOf<OutputType>

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

/** Integers, floats and decimals, optional or not. */
export function isNumeric(type: DataType): boolean {
  return /^(?:U?Int|Float|Decimal)/.test(innerType(type).kind)
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

/** Of the name of a column. */
export const maxNameBytes = 255

/**
 * The short text of a type: `Float64`, `Decimal(18,4)`, `Timestamp(Microsecond)`, `List(String?)?`; `?` means optional.
 * Unset units mean millisecond, unset zones UTC, so two types with the same text are the same type.
 */
export function typeText(type: DataType): string {
  switch (type.kind) {
    case 'Option':
      return `${typeText(type.inner)}?`
    case 'Decimal':
      return `Decimal(${type.precision},${type.scale})`
    case 'Binary':
      return withArguments('Binary', type.fixedLength)
    case 'Time':
    case 'Duration':
      return withArguments(type.kind, unitText(type.unit))
    case 'Timestamp': {
      const zone = type.timezone === undefined || type.timezone === 'UTC' ? undefined : JSON.stringify(type.timezone)
      return withArguments('Timestamp', zone === undefined ? unitText(type.unit) : (type.unit ?? 'Millisecond'), zone)
    }
    case 'List':
      return withArguments('List', typeText(type.itemType), type.fixedLength)
    case 'Map':
      return withArguments(
        'Map',
        typeText(type.keyType),
        typeText(type.valueType),
        type.keysSorted === true ? 'sorted' : undefined,
      )
    case 'Struct':
      return `Struct(${type.fields.map((field) => `${JSON.stringify(field.name)}: ${typeText(field.type)}`).join(', ')})`
    default:
      return type.kind
  }
}

function unitText(unit: string | undefined): string | undefined {
  return unit === 'Millisecond' ? undefined : unit
}

function withArguments(kind: string, ...parts: (string | number | undefined)[]): string {
  const given = parts.filter((part) => part !== undefined)
  return given.length === 0 ? kind : `${kind}(${given.join(', ')})`
}

/** True when both types hold the same values. Extra attributes of struct fields do not count. */
export function sameType(a: DataType, b: DataType): boolean {
  return typeText(a) === typeText(b)
}

/** True when both schemas have the same fields in the same order with the same attributes. */
export function schemaEquals(a: DataSchema, b: DataSchema): boolean {
  if (a.fields.length !== b.fields.length || !sameValue(a.extra ?? {}, b.extra ?? {})) return false
  return a.fields.every((field, index) => {
    const other = b.fields[index]
    if (other === undefined || field.name !== other.name || !sameType(field.type, other.type)) return false
    return sameValue(field.extra ?? {}, other.extra ?? {})
  })
}

export type SchemaChange =
  | { readonly kind: 'identical' }
  | { readonly kind: 'compatible' }
  | { readonly kind: 'incompatible'; readonly reason: string }

/**
 * What a SetDataSchema with `next` would be in a chain whose schema is `old`. Compatible: other attributes, another
 * order, added optional columns. Incompatible: a column removed, retyped, or changed between required and optional; a
 * required column added. Identical: an event that changes nothing, which a chain does not admit either.
 */
export function checkEvolution(old: DataSchema, next: DataSchema): SchemaChange {
  if (schemaEquals(old, next)) return { kind: 'identical' }
  const before = new Map(old.fields.map((field) => [field.name, field]))
  const after = new Map(next.fields.map((field) => [field.name, field]))
  for (const name of before.keys()) {
    if (!after.has(name)) return incompatible(name, 'is removed')
  }
  for (const [name, field] of after) {
    const known = before.get(name)
    if (known === undefined) {
      if (!isOptional(field.type)) return incompatible(name, 'is new and not optional')
    } else if (!sameType(known.type, field.type)) {
      return incompatible(name, `changes from ${typeText(known.type)} to ${typeText(field.type)}`)
    }
  }
  if (after.size !== next.fields.length) return { kind: 'incompatible', reason: 'a column name occurs twice' }
  return { kind: 'compatible' }
}

function incompatible(name: string, how: string): SchemaChange {
  return { kind: 'incompatible', reason: `column ${JSON.stringify(name)} ${how}` }
}

/**
 * Why `name` cannot name a column, or undefined when it can: 1 to 255 bytes of UTF-8 without control characters and not
 * with a byte order mark first, which readers drop.
 */
export function columnNameFault(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (/\p{Surrogate}/u.test(name)) return 'is not well-formed Unicode'
  if (utf8(name).length > maxNameBytes) return `is longer than ${maxNameBytes} bytes`
  if (/\p{Cc}/u.test(name)) return 'contains a control character'
  if (name.startsWith('\ufeff')) return 'begins with a byte order mark (U+FEFF)'
  return undefined
}

/**
 * True for the types that a slice can hold and every reader can query: String, Bool, Int8 to UInt64, Float32, Float64,
 * Date, Timestamp (ms or us, UTC), Decimal(1..38, 0..precision), Binary of any length, and List of those; each optional
 * or not.
 */
export function isStorable(type: DataType): boolean {
  const inner = innerType(type)
  return inner.kind === 'List'
    ? inner.fixedLength === undefined && isScalar(innerType(inner.itemType))
    : isScalar(inner)
}

const scalarKinds: ReadonlySet<string> = new Set(
  'String Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Date'.split(' '),
)

function isScalar(type: DataType): boolean {
  switch (type.kind) {
    case 'Decimal':
      return type.precision >= 1 && type.precision <= 38 && type.scale >= 0 && type.scale <= type.precision
    case 'Timestamp':
      return ['Millisecond', 'Microsecond'].includes(type.unit ?? 'Millisecond') && (type.timezone ?? 'UTC') === 'UTC'
    case 'Binary':
      return type.fixedLength === undefined
    default:
      return scalarKinds.has(type.kind)
  }
}

/**
 * Throws NodeError unless `fields` can be the columns of a dataset: `InvalidColumnName` for a name that is not allowed
 * or occurs twice when ASCII case is ignored, `InvalidRequest` for a type that cannot be stored.
 */
export function checkColumns(fields: readonly Field[]): void {
  const seen = new Map<string, string>()
  for (const { name, type } of fields) {
    const fault = columnNameFault(name)
    if (fault !== undefined) throw badName(name, fault)
    const folded = foldAscii(name)
    const other = seen.get(folded)
    if (other !== undefined) {
      throw new NodeError(
        'InvalidColumnName',
        `The column names ${excerpt(other)} and ${excerpt(name)} differ at most in case.`,
        { hint: 'Names of columns must differ in more than upper and lower case; the system columns count too.' },
      )
    }
    seen.set(folded, name)
    if (!isStorable(type)) {
      throw new NodeError(
        'InvalidRequest',
        `The column ${excerpt(name)} has the type ${typeText(type)}, which cannot be stored.`,
        {
          hint:
            'Use String, Bool, Int8 to Int64, UInt8 to UInt64, Float32, Float64, Date, Timestamp, Timestamp(Microsecond),' +
            ' Decimal up to 38 digits, Binary, or a List of one of them.',
        },
      )
    }
  }
}

/** The error for a name that no column may have; `fault` is why. */
export function badName(name: string, fault: string): NodeError {
  return new NodeError('InvalidColumnName', `The column name ${excerpt(name)} ${fault}. Nothing was stored.`, {
    hint: `Column names have 1 to ${maxNameBytes} bytes of UTF-8 without control characters, and no byte order mark at the start.`,
  })
}

/** Short, and with what cannot be seen written as an escape. */
function excerpt(name: string): string {
  return visible(name.length <= 80 ? name : `${name.slice(0, 80)}…`)
}

function visible(name: string): string {
  return JSON.stringify(name).replaceAll(/[\u007f-\u009f\ufeff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/**
 * One column. `type` never is Option: `nullable` says it.
 * `values` by type: fixed width little-endian (Int8…UInt64, Float32/64, Date = int32 days, Timestamp = int64 in its
 * unit, Time = int32 (s, ms) or int64 (us, ns), Decimal = int128); Bool = bitmap, LSB first; String, Binary = bytes
 * that `offsets` cuts; List = empty (see `child`).
 */
export interface Column {
  readonly name: string
  readonly type: DataType
  readonly nullable: boolean
  readonly rows: number
  readonly nullCount: number
  /** Bitmap, LSB first, 1 = present. Absent when nullCount is 0. At least ceil(rows/8) bytes. */
  readonly validity?: Uint8Array
  readonly values: Uint8Array
  /** rows + 1 entries starting at 0, for String, Binary, List. */
  readonly offsets?: Int32Array
  /** Items of a List column. */
  readonly child?: Column
}

/** Columns of equal length. */
export interface RecordBatch {
  readonly rows: number
  readonly columns: readonly Column[]
}
