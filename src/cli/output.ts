// Data to stdout in the form that was asked for. Number tokens go through as the node wrote them: a 64-bit integer
// arrives whole, 1.0 stays 1.0.

import { JsonNumber, type JsonObject, type JsonValue, jsonText } from '../index.ts'
import type { OutputForm } from './context.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { pairLines, tableLines } from './table.ts'

export interface Rows {
  readonly columns: readonly string[]
  /** One value per column. */
  readonly rows: readonly (readonly JsonValue[])[]
}

/** Prints rows. Throws CommandFailure when two columns have one name and the form is keyed. */
export function printRows(form: OutputForm, data: Rows): void {
  write(rowsText(form, data))
}

/** Prints one object: members as lines in a table, nested ones as `a.b`. */
export function printObject(form: OutputForm, object: JsonObject): void {
  write(objectText(form, object))
}

/** Prints objects as rows over `columns`; members are looked up by name. */
export function printObjects(form: OutputForm, columns: readonly string[], objects: readonly JsonValue[]): void {
  const cell = (object: JsonValue, name: string): JsonValue =>
    object instanceof Map ? (object.get(name) ?? null) : null
  if (form === 'json' || form === 'ndjson') write(keyedText(form, objects.map(jsonText)))
  else printRows(form, { columns, rows: objects.map((object) => columns.map((name) => cell(object, name))) })
}

function write(text: string): void {
  process.stdout.write(text)
}

/** The whole text of rows, ending in a line end. */
export function rowsText(form: OutputForm, data: Rows): string {
  switch (form) {
    case 'table':
      return tableText(data)
    case 'csv':
      return csvText(data)
    default:
      return keyedText(form, keyedRows(data))
  }
}

function keyedText(form: 'json' | 'ndjson', objects: readonly string[]): string {
  if (form === 'ndjson') return objects.map((object) => `${object}\n`).join('')
  return objects.length === 0 ? '[]\n' : `[\n${objects.join(',\n')}\n]\n`
}

function keyedRows({ columns, rows }: Rows): string[] {
  const twice = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twice !== undefined) {
    throw new CommandFailure(exitCodes.refused, `Two columns are named '${twice}', so rows cannot be objects.`, {
      hint: 'Give the columns names of their own, or ask for -o csv or -o table.',
    })
  }
  const names = columns.map((name) => `${JSON.stringify(name)}:`)
  return rows.map((row) => `{${names.map((name, at) => name + jsonText(row[at] ?? null)).join(',')}}`)
}

/** RFC 4180 with LF, so that what is printed can be ingested again: null is an empty cell, empty text is `""`. */
function csvText({ columns, rows }: Rows): string {
  const lines = [columns.map(csvCell), ...rows.map((row) => row.map(csvCell))].map((cells) => cells.join(','))
  return lines.map((line) => `${line}\n`).join('')
}

function csvCell(value: JsonValue): string {
  if (value === null) return ''
  const text = cellText(value)
  return text === '' || /[",\r\n]|^[\s\ufeff]|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function cellText(value: JsonValue): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : jsonText(value)
}

/** As in the other forms, but a list of words reads as one. */
function tableCell(value: JsonValue): string {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(', ') : cellText(value)
}

function tableText({ columns, rows }: Rows): string {
  const numeric = (at: number): boolean => rows.some((row) => row[at] instanceof JsonNumber)
  const lines = tableLines(
    columns.map((name, at) => ({ name, alignRight: numeric(at) })),
    rows.map((row) => row.map(tableCell)),
  )
  return lines.map((line) => `${line}\n`).join('')
}

/** The whole text of one object. */
export function objectText(form: OutputForm, object: JsonObject): string {
  if (form === 'ndjson') return `${jsonText(object)}\n`
  if (form === 'json') return `${prettyText(object, '')}\n`
  const pairs = flatten(object, '')
  if (form === 'csv') return csvText({ columns: pairs.map(([name]) => name), rows: [pairs.map(([, value]) => value)] })
  return pairLines(pairs.map(([name, value]) => [name, tableCell(value)]))
    .map((line) => `${line}\n`)
    .join('')
}

/** Leaves of an object with dotted names; arrays are leaves. */
function flatten(object: JsonObject, prefix: string): [string, JsonValue][] {
  return [...object].flatMap(([name, value]): [string, JsonValue][] =>
    value instanceof Map && value.size > 0 ? flatten(value, `${prefix}${name}.`) : [[prefix + name, value]],
  )
}

/** JSON indented by two spaces. */
function prettyText(value: JsonValue, indent: string): string {
  const inner = `${indent}  `
  if (Array.isArray(value) && value.length > 0) {
    return `[\n${value.map((item) => inner + prettyText(item, inner)).join(',\n')}\n${indent}]`
  }
  if (value instanceof Map && value.size > 0) {
    const members = [...value].map(([name, member]) => `${inner}${JSON.stringify(name)}: ${prettyText(member, inner)}`)
    return `{\n${members.join(',\n')}\n${indent}}`
  }
  return jsonText(value)
}
