// The columns of a dataset as tables that the readers run over: made once per schema, shared by all its bodies.

import { defined, firstIndex } from '../base/collections.ts'
import { assert } from '../base/assert.ts'
import { sameValue } from '../base/compare.ts'
import { foldAscii } from '../model/names.ts'
import { type DataType, type Field, innerType, isOptional, unitsPerSecond } from '../model/schema.ts'
import type { FormatOptions } from './format.ts'

/** How a value gets into a column: the switch of `typed-columns.ts`. */
export const valueCode = {
  bool: 1,
  small: 2,
  int64: 3,
  uint64: 4,
  float: 5,
  decimal: 6,
  string: 7,
  date: 8,
  timestamp: 9,
  time: 10,
  binary: 11,
  list: 12,
} as const

export interface ColumnPlan {
  readonly name: string
  /** Field of the column that is made; the event time is optional here. */
  readonly field: Field
  readonly code: number
  readonly required: boolean
  /** Text of the type for messages: `Int64`, `Decimal(18,4)`. */
  readonly typeText: string
  /** Range of small integers; of floats, the greatest magnitude. */
  readonly min: number
  readonly max: number
  /** A float of 32 bits. */
  readonly isSingle: boolean
  /** Units per second of timestamps and times. */
  readonly perSecond: number
  readonly precision: number
  readonly scale: number
  /** Item of a list. */
  readonly item: ColumnPlan | undefined
}

/** What to do with a name of the input that is no column. */
export const reservedName = -2
export const unknownName = -1

/** All columns of a dataset, event time first. */
export interface TablePlan {
  readonly columns: readonly ColumnPlan[]
  /** Folded name → index in `columns`, or `reservedName`. */
  readonly byName: ReadonlyMap<string, number>
  /** Folded names whose columns have the name with `propertyPrefix` before it; none but in GeoJSON. */
  readonly prefixed: ReadonlySet<string>
  /** Columns of a CSV without header: indexes by position. */
  readonly positions: readonly number[]
  /** Columns that need a value in each row, by index. */
  readonly required: readonly number[]
  /** Members of a record. */
  readonly root: MemberPlan
}

/** Members of a JSON record, or of an object inside whose members are columns too. */
export interface MemberPlan {
  /** What stands before the names of members in those of columns. */
  readonly prefix: string
  /**
   * Keys as last met, by their place in the object: bytes, and column, or `firstInner` less the place in `inner`. A hint
   * that any reader may overwrite.
   */
  readonly keyBytes: Uint8Array[]
  readonly keyColumns: number[]
  /** Objects inside of which there are columns. */
  readonly inner: MemberPlan[]
}

/** From here downwards: objects whose members are columns. */
export const firstInner = -16

export function memberPlan(prefix: string): MemberPlan {
  return { prefix, keyBytes: [], keyColumns: [], inner: [] }
}

const sortedNames = new WeakMap<TablePlan['byName'], readonly string[]>()

/** Whether a name of the table begins with `prefix`, folded. Objects by the million may ask. */
export function hasNameWith(prefix: string, { byName }: Pick<TablePlan, 'byName'>): boolean {
  const known = sortedNames.get(byName)
  const names = known ?? [...byName.keys()].sort()
  if (known === undefined) sortedNames.set(byName, names)
  return names[firstIndex(0, names.length, (at) => (names[at] ?? '') >= prefix)]?.startsWith(prefix) === true
}

export const propertyPrefix = 'property_'
const noNames: ReadonlySet<string> = new Set()

/** The name of the column that a key of the input would have. */
export function columnNameOf(plan: Pick<TablePlan, 'prefixed'>, key: string): string {
  return plan.prefixed.has(foldAscii(key)) ? propertyPrefix + key : key
}

const smallRanges: Readonly<Record<string, readonly [number, number]>> = {
  Int8: [-128, 127],
  Int16: [-32_768, 32_767],
  Int32: [-2_147_483_648, 2_147_483_647],
  UInt8: [0, 255],
  UInt16: [0, 65_535],
  UInt32: [0, 4_294_967_295],
}

/** Greatest decimal that still rounds to a finite single: 2^128 - 2^103 exclusive. */
const float32Limit = 2 ** 128 - 2 ** 103

function codeOf(type: DataType): number {
  switch (type.kind) {
    case 'Bool':
      return valueCode.bool
    case 'Int64':
      return valueCode.int64
    case 'UInt64':
      return valueCode.uint64
    case 'Float32':
    case 'Float64':
      return valueCode.float
    case 'Decimal':
      return valueCode.decimal
    case 'String':
      return valueCode.string
    case 'Date':
      return valueCode.date
    case 'Timestamp':
      return valueCode.timestamp
    case 'Time':
      return valueCode.time
    case 'Binary':
      return valueCode.binary
    case 'List':
      return valueCode.list
    default:
      assert(smallRanges[type.kind] !== undefined, `no text can be read into a column of type ${type.kind}`)
      return valueCode.small
  }
}

function typeText(type: DataType): string {
  if (type.kind === 'Decimal') return `Decimal(${type.precision},${type.scale})`
  if (type.kind === 'List') return `List(${typeText(innerType(type.itemType))})`
  if (type.kind === 'Timestamp') return type.unit === 'Microsecond' ? 'Timestamp(Microsecond)' : 'Timestamp'
  return type.kind
}

function planColumn(field: Field): ColumnPlan {
  const type = innerType(field.type)
  const [min, max] = smallRanges[type.kind] ?? [0, type.kind === 'Float32' ? float32Limit : Number.POSITIVE_INFINITY]
  const unit = type.kind === 'Timestamp' || type.kind === 'Time' ? (type.unit ?? 'Millisecond') : 'Second'
  return {
    name: field.name,
    field,
    code: codeOf(type),
    required: !isOptional(field.type),
    typeText: typeText(type),
    min,
    max,
    isSingle: type.kind === 'Float32',
    perSecond: unitsPerSecond[unit],
    precision: type.kind === 'Decimal' ? type.precision : 0,
    scale: type.kind === 'Decimal' ? type.scale : 0,
    item: type.kind === 'List' ? planColumn({ name: field.name, type: type.itemType }) : undefined,
  }
}

/** Of a column that has no value where it needs one: of the event time, which a batch without a key of its own needs. */
export function missingReason({ name, field }: ColumnPlan): string {
  const why = isOptional(field.type) ? ', because dedupe=body tells equal readings apart by their times' : ''
  return `Column '${name}' is required and has no value${why}.`
}

/** How the input names what is no user column. */
export type InputNames = Pick<FormatOptions, 'vocabulary' | 'eventTime'>

interface TableInput extends InputNames, Pick<FormatOptions, 'flatten' | 'demandsEventTime'> {
  readonly fields: readonly Field[]
  readonly eventTimeType: DataType
}

function makePlan(input: TableInput): TablePlan {
  const { fields, eventTimeType, vocabulary } = input
  const eventTimeName = vocabulary.eventTimeColumn
  const eventTimeField: Field = { name: eventTimeName, type: { kind: 'Option', inner: innerType(eventTimeType) } }
  const columns = [{ ...planColumn(eventTimeField), required: input.demandsEventTime === true }]
  const byName = new Map<string, number>()
  const positions: number[] = []
  for (const field of fields) {
    const folded = foldAscii(field.name)
    if (folded === foldAscii(eventTimeName)) {
      positions.push(0)
      continue
    }
    positions.push(columns.length)
    byName.set(folded, columns.length)
    columns.push(planColumn(field))
  }
  for (const name of systemNames(input)) byName.set(foldAscii(name), reservedName)
  const bringsEventTime = eventTimeNameOf(input)
  if (bringsEventTime !== undefined) byName.set(foldAscii(bringsEventTime), 0)
  const required = columns.flatMap((column, index) => (column.required ? index : []))
  return { columns, byName, prefixed: noNames, positions, required, root: memberPlan('') }
}

/** The name under which the input brings event times; undefined where that is a path. */
export function eventTimeNameOf({ vocabulary, eventTime }: InputNames): string | undefined {
  if (eventTime === undefined) return vocabulary.eventTimeColumn
  return eventTime.kind === 'name' ? eventTime.name : undefined
}

/** Names in the input that mean something whatever columns the dataset has. */
export function inputNames(input: InputNames): readonly string[] {
  const eventTime = eventTimeNameOf(input)
  return eventTime === undefined ? systemNames(input) : [eventTime, ...systemNames(input)]
}

/** The system columns that never stand in the input: the event time among them where it comes under another name. */
export function systemNames({ vocabulary, eventTime }: InputNames): readonly string[] {
  const { offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn } = vocabulary
  const names = [offsetColumn, operationTypeColumn, systemTimeColumn]
  return eventTime === undefined ? names : [...names, eventTimeColumn]
}

const cache = new WeakMap<readonly Field[], { readonly input: TableInput; readonly plan: TablePlan }>()

/** The tables of a schema; the last ones made for the same `fields` array are used again. */
export function tablePlan(input: TableInput): TablePlan {
  const cached = cache.get(input.fields)
  if (cached !== undefined && isSame(cached.input, input)) return cached.plan
  const plan = makePlan(input)
  const { fields, eventTimeType, vocabulary, eventTime, flatten = false, demandsEventTime = false } = input
  const key = {
    fields,
    eventTimeType,
    vocabulary,
    flatten,
    demandsEventTime,
    ...defined({ eventTime }),
  }
  cache.set(fields, { input: key, plan })
  return plan
}

function isSame(a: TableInput, b: TableInput): boolean {
  const isSameVocabulary = a.vocabulary === b.vocabulary || sameValue(a.vocabulary, b.vocabulary)
  if (
    !isSameVocabulary ||
    a.flatten !== (b.flatten ?? false) ||
    a.demandsEventTime !== (b.demandsEventTime ?? false) ||
    !sameValue(a.eventTime, b.eventTime)
  )
    return false
  return a.eventTimeType === b.eventTimeType || sameValue(a.eventTimeType, b.eventTimeType)
}
