// Whether rows fit a dataset whose schema may have moved on since their writer saw it, and what schema they bring.
// Pure: every builder judges the same.

import { foldAscii } from '../../libraries/model/names.ts'
import {
  columnNameFault,
  type DataSchema,
  type DataType,
  type Field,
  innerType,
  isOptional,
  isStorable,
  sameType,
  systemFields,
  timestampMs,
  typeText,
  type Vocabulary,
} from '../../libraries/model/schema.ts'
import { addedColumns, type PayloadColumn } from './dataset-state.ts'

/** The schema that holds after the rows, or why they do not fit. */
export type Fit =
  | { readonly kind: 'fits'; readonly schema: DataSchema; readonly changed: boolean }
  | { readonly kind: 'conflict'; readonly reason: string }

export interface FitInput {
  readonly current: DataSchema | undefined
  /** Schema that the rows' writer asks for. */
  readonly proposed: DataSchema | undefined
  readonly columns: readonly PayloadColumn[]
  readonly vocabulary: Vocabulary
}

/**
 * Columns must exist with the same type, those left out must be optional. A proposed schema adds the columns that are
 * not there yet (optional ones only, once there is a schema), at the end; it takes nothing away.
 */
export function fitSchema({ current, proposed, columns, vocabulary }: FitInput): Fit {
  const target = extend(current, proposed, vocabulary)
  if (target.kind === 'conflict') return target
  const reason = columnsFault(target.schema, columns)
  return reason === undefined ? target : conflict(reason)
}

function extend(current: DataSchema | undefined, proposed: DataSchema | undefined, vocabulary: Vocabulary): Fit {
  if (current === undefined) {
    if (proposed === undefined) return conflict('the dataset has no schema')
    const reason = schemaFault(proposed, vocabulary)
    return reason === undefined ? { kind: 'fits', schema: proposed, changed: true } : conflict(reason)
  }
  if (proposed === undefined) return { kind: 'fits', schema: current, changed: false }
  const byName = new Map(current.fields.map((field) => [field.name, field]))
  const added: Field[] = []
  for (const field of proposed.fields) {
    const there = byName.get(field.name)
    if (there === undefined) added.push(field)
    else if (!sameType(innerType(there.type), innerType(field.type)))
      return conflict(typeConflict(field.name, there.type))
  }
  if (added.length === 0) return { kind: 'fits', schema: current, changed: false }
  const required = added.find((field) => !isOptional(field.type))
  if (required !== undefined) return conflict(`the new column '${required.name}' is not optional`)
  const schema: DataSchema = { ...current, fields: [...current.fields, ...added] }
  const reason = namesFault(schema)
  return reason === undefined ? { kind: 'fits', schema, changed: true } : conflict(reason)
}

/** Why no dataset with this vocabulary can have `schema`, or undefined. */
export function schemaFault(schema: DataSchema, vocabulary: Vocabulary): string | undefined {
  const eventTime = schema.fields[addedColumns]?.type
  const expected = systemFields(vocabulary, eventTime?.kind === 'Date' ? { kind: 'Date' } : timestampMs)
  for (const [index, field] of expected.entries()) {
    const there = schema.fields[index]
    if (there?.name !== field.name || !sameType(there.type, field.type)) {
      return `column ${index + 1} of the schema is not the system column '${field.name}'`
    }
  }
  return namesFault(schema)
}

function namesFault(schema: DataSchema): string | undefined {
  const names = new Set<string>()
  for (const field of schema.fields) {
    const folded = foldAscii(field.name)
    if (names.has(folded)) return `two columns are named '${field.name}'`
    names.add(folded)
    const fault = columnNameFault(field.name)
    if (fault !== undefined) return `the column name '${field.name}' ${fault}`
    if (!isStorable(field.type))
      return `the column '${field.name}' is of type ${typeText(field.type)}, which cannot be stored`
  }
  return undefined
}

function columnsFault(schema: DataSchema, columns: readonly PayloadColumn[]): string | undefined {
  const eventTime = schema.fields[addedColumns]
  if (columns[0]?.name !== eventTime?.name) return `the first column is not '${eventTime?.name ?? ''}'`
  const byName = new Map(columns.map((column) => [column.name, column]))
  if (byName.size < columns.length) return 'two columns have one name'
  let found = 0
  for (const field of schema.fields.slice(addedColumns)) {
    const column = byName.get(field.name)
    if (column === undefined) {
      if (!isOptional(field.type)) return `the required column '${field.name}' is missing`
      continue
    }
    found++
    if (!sameType(column.type, innerType(field.type))) return typeConflict(field.name, field.type)
    if (column.hasNulls && !isOptional(field.type)) return `the required column '${field.name}' has nulls`
  }
  if (found === columns.length) return undefined
  const known = new Set(schema.fields.map((field) => field.name))
  const unknown = columns.find((column, index) => index > 0 && !known.has(column.name))
  return `the dataset has no column '${unknown?.name ?? columns[0]?.name ?? ''}'`
}

function typeConflict(name: string, type: DataType): string {
  return `the column '${name}' is of type ${typeText(innerType(type))} now, which these rows do not have`
}

function conflict(reason: string): Fit {
  return { kind: 'conflict', reason }
}
