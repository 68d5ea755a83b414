// The first rows of an output as texts, whichever JSON layout it has: what a reader sees of a checked answer.

import { jsonText } from '../base/json/json.ts'
import { cleanText } from '../base/clean-text.ts'
import type { JsonValue } from '../base/json/value.ts'

export interface FirstRows {
  /** Empty where rows are arrays and no schema came with them. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Longer cells are cut: a report is for reading, the file has the whole value. */
const cellChars = 500

/** At most `most` rows; undefined for an output that is no list of rows. */
export function firstRows(output: JsonValue | undefined, most: number): FirstRows | undefined {
  const data = output instanceof Map ? output.get('data') : undefined
  if (data instanceof Map) return ofColumns(data, most)
  if (!Array.isArray(data)) return undefined
  const rows = data.slice(0, most)
  const [first] = rows
  if (first instanceof Map) {
    const names = [...first.keys()]
    const cells = rows.map((row) => names.map((name) => (row instanceof Map ? firstCell(row.get(name)) : '')))
    return { columns: names.map((name) => cleanText(name)), rows: cells }
  }
  return {
    columns: schemaNames(output),
    rows: rows.map((row) => (Array.isArray(row) ? row.map(firstCell) : [firstCell(row)])),
  }
}

function ofColumns(data: ReadonlyMap<string, JsonValue>, most: number): FirstRows {
  const columns = [...data.values()].map((values) => (Array.isArray(values) ? values.slice(0, most) : []))
  const rows = (columns[0] ?? []).map((_, at) => columns.map((values) => firstCell(values[at])))
  return { columns: [...data.keys()].map((name) => cleanText(name)), rows }
}

function schemaNames(output: JsonValue | undefined): string[] {
  const schema = output instanceof Map ? output.get('schema') : undefined
  const fields = schema instanceof Map ? schema.get('fields') : undefined
  if (!Array.isArray(fields)) return []
  return fields.map((field) => (field instanceof Map ? firstCell(field.get('name')) : ''))
}

/** A value as the text of a cell. */
export function firstCell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : jsonText(value)
  return cleanText(text.length > cellChars ? `${text.slice(0, cellChars)}…` : text, '\n\t')
}
