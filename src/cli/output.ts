// Data to stdout in the form that was asked for, and one status line on stderr. Number tokens go through as the node
// wrote them: a 64-bit integer arrives whole, 1.0 stays 1.0. Text from outside is made harmless for terminals: no
// control character of a row reaches one.

import { JsonNumber, type JsonObject, jsonText, type JsonValue, systemClock } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import type { OutputForm } from './context.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'
import { print, rewriteLine } from './terminal.ts'

export interface Rows {
  readonly columns: readonly string[]
  /** One value per column. */
  readonly rows: readonly (readonly JsonValue[])[]
}

/**
 * Prints rows; a table on a terminal no wider than it. Throws CommandFailure when two columns have one name and the form is
 * keyed.
 */
export function printRows(form: OutputForm, data: Rows): void {
  if (form !== 'table') return print(rowsText(form, data))
  const { lines, leftOut } = tableLines(tableColumns(data), tableRows(data), process.stdout.columns)
  print(linesText(lines))
  if (leftOut > 0) note(`${leftOut === 1 ? '1 column does' : `${leftOut} columns do`} not fit; -o json shows all`)
}

/** The printer of rows that come in parts: it prints the names of columns first, and again when there are others. */
export function rowPrinter(form: OutputForm): (data: Rows) => void {
  let shown: Rows = { columns: [], rows: [] }
  return (data) => {
    if (data.rows.length === 0) return
    const isNew = data.columns.join('\0') !== shown.columns.join('\0')
    const before = isNew ? [] : shown.rows
    if (form === 'ndjson' || form === 'json') print(keyedText('ndjson', keyedRows(data)))
    else if (form === 'csv') {
      const text = csvText(data)
      print(isNew ? text : text.slice(text.indexOf('\n') + 1))
    } else {
      // Rows that stand above make columns as wide as theirs.
      const all = { columns: data.columns, rows: [...before, ...data.rows] }
      const { lines } = tableLines(tableColumns(all), tableRows(all), process.stdout.columns || undefined)
      print(linesText(isNew ? lines : lines.slice(headLines + before.length)))
    }
    shown = { columns: data.columns, rows: [...before, ...data.rows].slice(-rowsAbove) }
  }
}

/** Lines of a table above its rows. */
const headLines = 2
const rowsAbove = 20

/** Prints one object: members as lines in a table, nested ones as `a.b`. */
export function printObject(form: OutputForm, object: JsonObject): void {
  print(objectText(form, object))
}

/** Prints objects as rows over `columns`; members are looked up by name. */
export function printObjects(form: OutputForm, columns: readonly string[], objects: readonly JsonValue[]): void {
  const cell = (object: JsonValue, name: string): JsonValue =>
    object instanceof Map ? (object.get(name) ?? null) : null
  if (form === 'json' || form === 'ndjson') print(keyedText(form, objects.map(jsonText)))
  else printRows(form, { columns, rows: objects.map((object) => columns.map((name) => cell(object, name))) })
}

/** The whole text of rows, ending in a line end. */
export function rowsText(form: OutputForm, data: Rows): string {
  switch (form) {
    case 'table':
      return linesText(tableLines(tableColumns(data), tableRows(data)).lines)
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
      hint: 'Give each column its own name, or use -o csv or -o table.',
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

export function cellText(value: JsonValue): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : jsonText(value)
}

/** As in the other forms, but a list of words reads as one. */
function tableCell(value: JsonValue): string {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(', ') : cellText(value)
}

function tableColumns({ columns, rows }: Rows): Column[] {
  return columns.map((name, at) => ({ name, alignRight: rows.some((row) => row[at] instanceof JsonNumber) }))
}

function tableRows({ rows }: Rows): string[][] {
  return rows.map((row) => row.map(tableCell))
}

/** The whole text of one object. */
export function objectText(form: OutputForm, object: JsonObject): string {
  if (form === 'ndjson') return `${jsonText(object)}\n`
  if (form === 'json') return `${prettyText(object, '')}\n`
  const pairs = flatten(object, '')
  if (form === 'csv') return csvText({ columns: pairs.map(([name]) => name), rows: [pairs.map(([, value]) => value)] })
  return linesText(pairLines(pairs.map(([name, value]) => [name, tableCell(value)])))
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
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

/** Wider cells are cut: a table is for reading, the other forms have the whole value. */
const widestCell = 80

export interface Column {
  readonly name: string
  readonly alignRight: boolean
}

/** Columns that a terminal gives the text: marks take none, wide East Asian characters and emoji take two. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text.match(/\P{ASCII}|\p{ASCII}+/gu) ?? []) width += widthOf(character)
  return width
}

const noWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u

function widthOf(run: string): number {
  if (run.charCodeAt(0) < 0x80) return run.length
  if (noWidth.test(run)) return 0
  return wide.test(run) ? 2 : 1
}

/**
 * Lines of a table: header, rule, rows. Cells are cleaned and cut here. Where it is given how wide the table may be, wide
 * columns are made narrower, and last ones that have no room even so are left out.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  mostWidth = Number.POSITIVE_INFINITY,
): { readonly lines: string[]; readonly leftOut: number } {
  const cells = [columns.map(({ name }) => cleanText(name)), ...rows.map((row) => row.map((cell) => cleanText(cell)))]
  const wanted = columns.map((_, at) =>
    cells.reduce((width, row) => Math.max(width, Math.min(widestCell, displayWidth(row[at] ?? ''))), 0),
  )
  const widths = fitWidths(wanted, mostWidth)
  const line = (row: readonly string[]): string =>
    widths
      .map((width, at) => pad(cut(row[at] ?? '', width), { width, right: columns[at]?.alignRight ?? false }))
      .join(separator)
      .trimEnd()
  const [head = [], ...body] = cells
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─')
  return { lines: [line(head), rule, ...body.map(line)], leftOut: columns.length - widths.length }
}

const separator = ' │ '
/** A cell that was cut shows at least so much. */
const narrowest = 12

function fitWidths(wanted: readonly number[], room: number): readonly number[] {
  const capped = (most: number): number[] => wanted.map((width) => Math.min(width, most))
  const sum = (all: readonly number[]): number => all.reduce((total, width) => total + width + separator.length, 0)
  let most = widestCell
  while (most > narrowest && sum(capped(most)) - separator.length > room) most--
  const widths = capped(most)
  let free = room + separator.length - sum(widths)
  while (free < 0 && widths.length > 1) free += (widths.pop() ?? 0) + separator.length
  // What columns that were left out had taken goes to the others.
  for (const [at, width] of widths.entries()) {
    const more = Math.min((wanted[at] ?? 0) - width, Math.max(0, free))
    widths[at] = width + more
    free -= more
  }
  return widths
}

/** Columns with two spaces between them and no rule; for what goes under an error. */
export function plainTable(names: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [names, ...rows.map((row) => row.map((cell) => cleanText(cell)))]
  const widths = names.map((_, at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))))
  return cells.map((row) =>
    widths
      .map((width, at) => pad(row[at] ?? '', { width, right: false }))
      .join('  ')
      .trimEnd(),
  )
}

/** Lines `name  value`, names padded to one width. */
export function pairLines(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => displayWidth(name)))
  return pairs.map(([name, value]) => `${pad(name, { width, right: false })}  ${cleanText(value)}`.trimEnd())
}

function cut(text: string, most: number): string {
  if (displayWidth(text) <= most) return text
  let out = ''
  let width = 0
  for (const character of text) {
    width += displayWidth(character)
    if (width >= most) break
    out += character
  }
  return `${out}…`
}

function pad(text: string, { width, right }: { readonly width: number; readonly right: boolean }): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return right ? spaces + text : text + spaces
}

export interface StatusLine {
  /** Shows `text` in place of what stands there, at most ten times a second unless `now`. */
  readonly show: (text: string, now?: boolean) => void
  /** Removes the line. */
  readonly clear: () => void
}

const betweenMs = 100

export function createStatusLine(): StatusLine {
  if (!process.stderr.isTTY) return { show() {}, clear() {} }
  let shownAtMs = Number.NEGATIVE_INFINITY
  let visible = false
  return {
    show(text, now = false) {
      if (!now && systemClock.monotonicMs() - shownAtMs < betweenMs) return
      shownAtMs = systemClock.monotonicMs()
      visible = true
      rewriteLine(fit(text, (process.stderr.columns || 80) - 1))
    },
    clear() {
      if (visible) rewriteLine('')
      visible = false
      shownAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

/** A line that wraps could not be written over. */
function fit(text: string, width: number): string {
  let out = text
  while (displayWidth(out) > width) out = out.slice(0, -1)
  return out
}

const barCells = 20

/** `file  ████░░░░  63%  12.3/19.5 MB  8.1 MB/s  0:03 left`; without a total: what was sent so far. */
export function progressText(
  label: string,
  state: { readonly doneBytes: number; readonly totalBytes: number | undefined; readonly elapsedMs: number },
): string {
  const { doneBytes, totalBytes, elapsedMs } = state
  const perSecond = elapsedMs > 0 ? (doneBytes * 1000) / elapsedMs : 0
  const rate = `${megabytes(perSecond)} MB/s`
  if (totalBytes === undefined) return `${label}  ${megabytes(doneBytes)} MB  ${rate}`
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes)
  const full = Math.round(share * barCells)
  const bar = '█'.repeat(full) + '░'.repeat(barCells - full)
  const left = perSecond > 0 ? `  ${minutes((totalBytes - doneBytes) / perSecond)} left` : ''
  return `${label}  ${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${megabytes(doneBytes)}/${megabytes(totalBytes)} MB  ${rate}${left}`
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

function minutes(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
